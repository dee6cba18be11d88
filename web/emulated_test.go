package web

import (
	"bytes"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"glassbox/steps"
	"glassbox/trace"
	"glassbox/trace/file"
	"glassbox/web/testrec"
)

var (
	tags      = regexp.MustCompile(`(?s)<pre.*?</pre>|<script.*?</script>|<[^>]*>`)
	spokenOf  = regexp.MustCompile(`(?:title|aria-label)="([^"]*)"`)
	timeTexts = regexp.MustCompile(`[\d.,]*\d\s?(?:ns|µs|ms|s|GB/s|tokens/s)\b`)
)

// siteOf serves a site all of whose recordings were made on a device of a kind, and returns the id of one.
func siteOf(t *testing.T, kind string) (*rig, string) {
	walk := steps.Glassbox(nil)
	device := file.Device{Kind: kind, Name: "a device", Threads: 1}
	store, err := file.NewStore(file.StoreOptions{Head: file.Head{Engine: file.Engine{Name: "glassbox"}, Model: file.Model{Name: "tiny", Layers: 2, SHA256: "00"}, Device: device}, Finish: walk.Apply})
	require.NoError(t, err)
	t.Cleanup(func() { store.Close() })
	r := newRig(t, func(c *Config) {
		c.Store = store
		rec, err := store.Start(trace.Now(), trace.CaptureSpec{})
		require.NoError(t, err)
		testrec.Whole(rec, "Why?")
		rec.End()
		whole, err := store.Wait(t.Context(), rec.ID)
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, file.WriteGBX(&b, whole))
		files := c.Static.(fstest.MapFS)
		for name := range files {
			if strings.HasPrefix(name, "recordings/") {
				files[name] = &fstest.MapFile{Data: b.Bytes()}
			}
			if strings.HasPrefix(name, "pictures/") { // drawn from the recordings that ship, when the site is built; the client's tests hold them
				delete(files, name)
			}
		}
	})
	r.store = store
	return r, r.record("Why else?")
}

// timesOn lists what looks like a time or a rate on a page: its text, and what is said of its parts.
func timesOn(r *rig, path string) []string {
	a := r.get(path)
	require.Equal(r.t, http.StatusOK, a.StatusCode, path)
	text := tags.ReplaceAllStringFunc(a.body, func(s string) string {
		said := " "
		if !strings.HasPrefix(s, "<pre") && !strings.HasPrefix(s, "<script") {
			for _, m := range spokenOf.FindAllStringSubmatch(s, -1) {
				said += m[1] + " "
			}
		}
		return said
	})
	return timeTexts.FindAllString(text, -1)
}

// What an emulated device takes measures nothing: no page shows it, and the list of recordings does not have it.
func TestNoPageShowsATimeOfAnEmulatedDevice(t *testing.T) {
	real, id := siteOf(t, "cuda")
	pretended, other := siteOf(t, "emulated")
	for _, path := range []string{"/", "/traces", "/trace/ID", "/trace/ID/print", "/embed/ID", "/walk", "/stages", "/film", "/modules"} {
		have := timesOn(real, strings.ReplaceAll(path, "ID", id))
		found := timesOn(pretended, strings.ReplaceAll(path, "ID", other))
		if !strings.HasPrefix(path, "/trace/ID") && !slices.Contains([]string{"/embed/ID", "/stages", "/film", "/modules"}, path) || path == "/trace/ID/print" { // the tracer's own is tested with it
			require.Greater(t, len(have), 10, path)
			require.Contains(t, pretended.get(strings.ReplaceAll(path, "ID", other)).body, "not measured", path)
		}
		require.Empty(t, found, path)
	}
	require.Contains(t, real.get("/api/traces").body, `"ttft_ns"`)
	require.NotRegexp(t, `"(ttft_ns|tpot_ns|e2e_ns|decode_tokens_per_s|queue_ns)":[1-9]`, pretended.get("/api/traces").body)
}
