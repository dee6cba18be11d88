package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"glassbox/static"
	"glassbox/steps"
	"glassbox/trace"
	"glassbox/trace/file"
	"glassbox/web/live"
	"glassbox/web/testrec"
)

// rig is a site over a store, with one recording that ships.
type rig struct {
	t     *testing.T
	site  *Server
	store *file.Store
	srv   *httptest.Server
	walk  *steps.Catalogue
}

// newRig serves a site. change, if not nil, changes its configuration first.
func newRig(t *testing.T, change func(*Config)) *rig {
	walk := steps.Glassbox(nil)
	hub := live.New(live.Config{Lay: walk.Apply})
	head := file.Head{Engine: file.Engine{Name: "glassbox", Version: "test"}, Model: file.Model{Name: "tiny", Layers: 2, Heads: 4, Width: 8, SHA256: "00"}, Device: file.Device{Name: "a processor", Threads: 2}}
	store, err := file.NewStore(file.StoreOptions{Head: head, Finish: walk.Apply, Sink: hub})
	require.NoError(t, err)
	c := Config{Store: store, Hub: hub, Catalogue: walk, Engine: head.Engine, Model: head.Model, Device: head.Device, Static: staticWith(t, walk)}
	if change != nil {
		change(&c)
	}
	r := &rig{t: t, site: New(c), store: store, walk: walk}
	r.srv = httptest.NewServer(r.site)
	t.Cleanup(func() {
		store.Close()
		r.site.Close()
		r.srv.Close()
	})
	return r
}

// staticWith is package static with a small recording in place of those that ship.
func staticWith(t *testing.T, walk *steps.Catalogue) fs.FS {
	out := fstest.MapFS{}
	require.NoError(t, fs.WalkDir(static.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(name, "recordings/") {
			return err
		}
		raw, err := fs.ReadFile(static.Files, name)
		out[name] = &fstest.MapFile{Data: raw}
		return err
	}))
	rec := trace.NewRecorder("shipped", trace.Now(), trace.CaptureSpec{})
	c, err := file.Collect(rec, file.Options{Head: file.Head{Engine: file.Engine{Name: "glassbox"}, Model: file.Model{Name: "tiny", SHA256: "00"}}, Finish: walk.Apply})
	require.NoError(t, err)
	testrec.Whole(rec, "Why is the sky blue?")
	rec.End()
	whole, err := c.Wait()
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, file.WriteGBX(&b, whole))
	out["recordings/"+firstShipped+".gbx"] = &fstest.MapFile{Data: b.Bytes()}
	return out
}

// record keeps a finished recording and returns its id.
func (r *rig) record(prompt string) string {
	rec, err := r.store.Start(trace.Now(), trace.CaptureSpec{})
	require.NoError(r.t, err)
	testrec.Whole(rec, prompt)
	rec.End()
	_, err = r.store.Wait(r.t.Context(), rec.ID)
	require.NoError(r.t, err)
	return rec.ID
}

// answer is what came back, the body unpacked.
type answer struct {
	*http.Response
	body string
}

// do sends a request. Headers are given as "Name: value"; redirects are not followed.
func (r *rig) do(method, path string, headers ...string) answer {
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.srv.URL+path, nil)
	require.NoError(r.t, err)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			req.Host = value
		}
		req.Header.Set(name, value)
	}
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	resp, err := c.Do(req)
	require.NoError(r.t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(r.t, err)
	if resp.Header.Get("Content-Encoding") == "gzip" && len(raw) > 0 {
		z, err := gzip.NewReader(bytes.NewReader(raw))
		require.NoError(r.t, err)
		raw, err = io.ReadAll(z) // checks length and checksum
		require.NoError(r.t, err)
	}
	return answer{resp, string(raw)}
}

func (r *rig) get(path string, headers ...string) answer {
	return r.do(http.MethodGet, path, headers...)
}
