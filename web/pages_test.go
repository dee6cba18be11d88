package web

import (
	"context"
	"log"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/static"
	"glassbox/trace"
	"glassbox/trace/file"
	"glassbox/web/testrec"
)

var (
	inline   = regexp.MustCompile(`(?i)<style|<[^<>]*\sstyle\s*=|<[^<>]*\son[a-z]+\s*=|<script(?:[^>]*)>[^<]|\bjavascript:`)
	scripts  = regexp.MustCompile(`<script[^>]*>`)
	link     = regexp.MustCompile(`(?:href|src|action|open)="([^"]*)"`)
	external = regexp.MustCompile(`(?:src|action)="(?:https?:)?//|<link[^>]+href="(?:https?:)?//`)
)

func pagePaths(id string) []string {
	return []string{"/", "/traces", "/trace/" + id, "/trace/" + id + "/print", "/trace/" + firstShipped, "/trace/" + firstShipped + "/print",
		"/embed/" + id, "/live", "/walk", "/film", "/stages", "/docs/", "/docs/keys", "/docs/trace-format", "/docs/architecture"}
}

// What the content security policy forbids must not be on a page, and nothing comes from another host.
func TestPagesObeyTheirPolicy(t *testing.T) {
	r := newRig(t, nil)
	id := r.record("Why?")
	for _, path := range append(pagePaths(id), "/nothing", "/trace/nothing") {
		a := r.get(path)
		want := http.StatusOK
		if strings.Contains(path, "nothing") {
			want = http.StatusNotFound
		}
		require.Equal(t, want, a.StatusCode, path)
		require.Equal(t, "text/html; charset=utf-8", a.Header.Get("Content-Type"), path)
		require.NotRegexp(t, inline, a.body, path)
		require.NotRegexp(t, external, a.body, path)
		for _, s := range scripts.FindAllString(a.body, -1) {
			require.Contains(t, s, ` src="/static/`, path)
		}
		csp := a.Header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "form-action 'self'", "base-uri 'none'", "connect-src 'self' ws://" + a.Request.URL.Host} {
			require.Contains(t, csp, part, path)
		}
		require.NotContains(t, csp, "unsafe", path)
		require.Equal(t, "same-origin", a.Header.Get("Referrer-Policy"), path)
		require.Equal(t, "nosniff", a.Header.Get("X-Content-Type-Options"), path)
		if strings.HasPrefix(path, "/embed/") {
			require.Contains(t, csp, "frame-ancestors *")
			require.Empty(t, a.Header.Get("X-Frame-Options"))
		} else {
			require.Contains(t, csp, "frame-ancestors 'none'", path)
			require.Equal(t, "DENY", a.Header.Get("X-Frame-Options"), path)
		}
	}
}

// Every link of every page leads somewhere, found by following all of them from the first page.
func TestEveryLinkLeadsSomewhere(t *testing.T) {
	r := newRig(t, nil)
	id := r.record("Why?")
	seen := map[string]bool{}
	queue := pagePaths(id)
	ids := map[string]string{} // pages with their bodies, for anchors
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if seen[at] {
			continue
		}
		seen[at] = true
		a := r.get(at)
		require.Equal(t, http.StatusOK, a.StatusCode, at)
		if !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") || a.Header.Get("Content-Disposition") != "" {
			continue
		}
		ids[at] = a.body
		for _, m := range link.FindAllStringSubmatch(a.body, -1) {
			u, err := url.Parse(strings.ReplaceAll(m[1], "&amp;", "&"))
			require.NoError(t, err, "%s: %s", at, m[1])
			if u.Host != "" || strings.HasSuffix(u.Path, "/delete") {
				continue // the deeper reading of a step; a button that deletes
			}
			base, _ := url.Parse(at)
			to := base.ResolveReference(u)
			anchor := to.Fragment
			to.Fragment = ""
			queue = append(queue, to.String())
			if anchor != "" {
				body, ok := ids[to.String()]
				if !ok {
					body = r.get(to.String()).body
				}
				require.Contains(t, body, `id="`+anchor+`"`, "%s links to %s", at, m[1])
			}
		}
	}
	require.Greater(t, len(seen), 18)
}

func TestTextsOfAPromptAreEscaped(t *testing.T) {
	r := newRig(t, nil)
	evil := `<script>alert(1)</script><img src=x onerror=alert(1)>`
	id := r.record(evil)
	for _, path := range []string{"/", "/traces", "/trace/" + id, "/trace/" + id + "/print"} {
		a := r.get(path)
		require.NotContains(t, a.body, "<script>alert", path)
		require.NotContains(t, a.body, "<img src=x", path)
		require.Contains(t, a.body, "&lt;script&gt;alert", path)
	}
}

// A step's link comes from a file that somebody else may have made.
func TestLinkOfAStepCannotBeAScript(t *testing.T) {
	r := newRig(t, nil)
	r.walk.Step("queue").Link = "javascript:alert(1)"
	id := r.record("Why?")
	require.NotContains(t, r.get("/trace/"+id+"/print").body, "javascript:")
}

func TestHomeShowsTheShippedRecording(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Builtin, c.ModelID = true, "tiny-1" })
	a := r.get("/")
	require.Contains(t, a.body, `src="/api/traces/why-is-the-sky-blue.json"`)
	require.Contains(t, a.body, `open="/trace/why-is-the-sky-blue"`)
	require.Contains(t, a.body, `model="tiny-1"`)
	require.Contains(t, a.body, " builtin")
	require.Contains(t, a.body, `data-card="request"`)
	require.NotContains(t, a.body, `data-card="vllm"`, "its recording is not here")
	require.Contains(t, a.body, "1 recording")

	empty := newRig(t, func(c *Config) { c.Static = static.Files; c.Builtin = false })
	empty.site.shipped.fs = fsWithout{}
	b := empty.get("/")
	require.Equal(t, http.StatusOK, b.StatusCode)
	require.Contains(t, b.body, "No recording yet")
	id := empty.record("Why?")
	require.Contains(t, empty.get("/").body, `src="/api/traces/`+id+`.json"`, "the newest is drawn when none ships")
}

func TestTracerFollowsARunningRequest(t *testing.T) {
	r := newRig(t, nil)
	rec, err := r.store.Start(trace.Now(), trace.CaptureSpec{})
	require.NoError(t, err)
	testrec.Head(rec, "Why?")
	a := r.get("/trace/" + rec.ID)
	require.Contains(t, a.body, ` live="`+rec.ID+`"`)
	require.NotContains(t, a.body, ` src="/api/traces`)
	walk := r.get("/trace/" + rec.ID + "/print")
	require.Equal(t, http.StatusConflict, walk.StatusCode)
	require.Contains(t, walk.body, "Watch it")
	require.Contains(t, r.get("/traces").body, "running now")
	rec.End()
	_, err = r.store.Wait(t.Context(), rec.ID)
	require.NoError(t, err)
	require.Contains(t, r.get("/trace/"+rec.ID).body, ` src="/api/traces/`+rec.ID+`.json"`)
}

func TestWalkAsTextHasEverything(t *testing.T) {
	r := newRig(t, nil)
	id := r.record("Why?")
	rec, err := r.store.Get(id)
	require.NoError(t, err)
	a := r.get("/trace/" + id + "/print")
	for i := range rec.Walk {
		w := &rec.Walk[i]
		require.Contains(t, a.body, `id="`+w.ID+`"`)
		require.Contains(t, a.body, w.Source.Symbol)
	}
	require.Contains(t, a.body, "3.00 ms", "the time of the op on the paper of the request")
	require.Contains(t, a.body, "Not reached.")
}

func TestListDeletes(t *testing.T) {
	r := newRig(t, nil)
	id := r.record("Why?")
	require.Contains(t, r.get("/traces").body, "/traces/"+id+"/delete")
	require.NotContains(t, r.get("/traces").body, "/traces/"+firstShipped+"/delete")
	a := r.do(http.MethodPost, "/traces/"+id+"/delete")
	require.Equal(t, http.StatusSeeOther, a.StatusCode)
	_, err := r.store.Get(id)
	require.ErrorIs(t, err, file.ErrUnknown)
	require.Equal(t, http.StatusNotFound, r.do(http.MethodPost, "/traces/"+id+"/delete").StatusCode)
	require.Equal(t, http.StatusForbidden, r.do(http.MethodPost, "/traces/"+firstShipped+"/delete").StatusCode)
}

func TestPanicBecomesAPageWithoutGoText(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Store = broken{c.Store} })
	var said strings.Builder
	log.SetOutput(&said)
	defer log.SetOutput(os.Stderr)
	for _, path := range []string{"/traces", "/api/traces"} {
		a := r.get(path)
		require.Equal(t, http.StatusInternalServerError, a.StatusCode, path)
		require.NotContains(t, a.body, "goroutine")
		require.NotContains(t, a.body, "secret")
		require.Contains(t, a.body, "Something broke on our side")
	}
	require.Contains(t, said.String(), "secret", "the log has what the reader has not")
}

// broken is a store that panics.
type broken struct{ Store }

func (broken) List() []file.Summary { panic("secret") }

// A list of a thousand recordings on disk must not read them all.
func TestListsReadNoRecording(t *testing.T) {
	gets := 0
	r := newRig(t, func(c *Config) { c.Store = counting{c.Store, &gets} })
	id := r.record("Why?")
	for _, path := range []string{"/", "/traces", "/api/traces", "/trace/" + id, "/trace/" + firstShipped} {
		require.Equal(t, http.StatusOK, r.get(path).StatusCode)
	}
	require.Zero(t, gets)
	r.get("/api/traces/" + id)
	require.Equal(t, 1, gets)
}

// counting is a store that counts how often a recording is read.
type counting struct {
	Store
	gets *int
}

func (c counting) Get(id string) (*file.Recording, error) {
	*c.gets++
	return c.Store.Get(id)
}

func (c counting) Wait(ctx context.Context, id string) (*file.Recording, error) {
	*c.gets++
	return c.Store.Wait(ctx, id)
}
