package web

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"glassbox/static"
	"glassbox/steps"
	"glassbox/trace"
	"glassbox/trace/file"
	"glassbox/web/testrec"
)

// fsWithout is a file system with nothing in it.
type fsWithout struct{}

func (fsWithout) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func TestStaticFilesAreCachedAndCompressed(t *testing.T) {
	r := newRig(t, nil)
	url := r.site.assets.url("js/glassbox.js")
	require.Regexp(t, `^/static/js/glassbox\.js\?v=[0-9a-f]{16}$`, url)
	want, err := fs.ReadFile(static.Files, "js/glassbox.js")
	require.NoError(t, err)

	plain := r.get(url)
	require.Equal(t, string(want), plain.body)
	require.Empty(t, plain.Header.Get("Content-Encoding"))
	require.Equal(t, "public, max-age=31536000, immutable", plain.Header.Get("Cache-Control"))
	require.Equal(t, "text/javascript; charset=utf-8", plain.Header.Get("Content-Type"))

	packed := r.get(url, "Accept-Encoding: br, gzip;q=0.8")
	require.Equal(t, "gzip", packed.Header.Get("Content-Encoding"))
	require.Equal(t, string(want), packed.body)
	require.Equal(t, "Accept-Encoding", packed.Header.Get("Vary"))
	require.NotEqual(t, plain.Header.Get("ETag"), packed.Header.Get("ETag"), "two representations, two tags")
	require.Empty(t, r.get(url, "Accept-Encoding: gzip;q=0").Header.Get("Content-Encoding"))

	for _, a := range []answer{
		r.get(url, "If-None-Match: "+plain.Header.Get("ETag")),
		r.get(url, "Accept-Encoding: gzip", `If-None-Match: "x", W/`+packed.Header.Get("ETag")),
	} {
		require.Equal(t, http.StatusNotModified, a.StatusCode)
		require.Empty(t, a.body)
		require.NotEmpty(t, a.Header.Get("ETag"))
	}
	require.Equal(t, http.StatusOK, r.get(url, `If-None-Match: "x"`).StatusCode)
	require.Equal(t, "no-cache", r.get("/static/js/glassbox.js").Header.Get("Cache-Control"), "without its hash it may change")
	require.Equal(t, "no-cache", r.get("/static/js/glassbox.js?v=0").Header.Get("Cache-Control"))
	head := r.do(http.MethodHead, url)
	require.Equal(t, int64(len(want)), head.ContentLength)
	require.Empty(t, head.body)
	require.Equal(t, "image/svg+xml", r.get("/favicon.ico").Header.Get("Content-Type"))
}

// The names of the client's parts hold a hash, so that they may be kept without one in the address; a page names all that
// its module needs.
func TestPartsOfTheClientAreNamedByThePageAndKept(t *testing.T) {
	r := newRig(t, nil)
	page := r.get("/trace/why-is-the-sky-blue").body
	found := regexp.MustCompile(`<link rel="modulepreload" href="(/static/js/parts/[^"]+)"`).FindAllStringSubmatch(page, -1)
	require.NotEmpty(t, found)
	require.Contains(t, page, `<script type="module" src="`+r.site.assets.url("js/tracer.js")+`">`)
	direct, err := fs.ReadFile(static.Files, "js/tracer.js")
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, m := range found {
		require.False(t, seen[m[1]], "named twice")
		seen[m[1]] = true
		a := r.get(m[1])
		require.Equal(t, http.StatusOK, a.StatusCode)
		require.Equal(t, "public, max-age=31536000, immutable", a.Header.Get("Cache-Control"))
	}
	for _, m := range regexp.MustCompile(`from"\./([^"]+)"`).FindAllStringSubmatch(string(direct), -1) {
		require.True(t, seen["/static/js/"+m[1]], m[1])
	}
	require.NotContains(t, r.get("/traces").body, "<script type=", "a page without a tracer runs none of it")
}

func TestPagesAreRevalidated(t *testing.T) {
	r := newRig(t, nil)
	a := r.get("/docs/keys")
	require.Equal(t, "no-cache", a.Header.Get("Cache-Control"))
	require.Equal(t, http.StatusNotModified, r.get("/docs/keys", "If-None-Match: "+a.Header.Get("ETag")).StatusCode)
	require.Equal(t, a.body, r.get("/docs/keys", "Accept-Encoding: gzip").body)
}

func TestNothingOutsideIsServed(t *testing.T) {
	r := newRig(t, nil)
	for _, path := range []string{
		"/static/../web.go", "/static/..%2f..%2fgo.mod", "/static/%2e%2e/go.mod", "/static/css/../../go.mod", "/static//etc/passwd", "/static/embed.go",
		"/static/css", "/static/", "/docs/../go.mod", "/docs/..%2fgo.mod", "/docs/embed.go", "/docs/a%2fb.json", "/docs/nothing.json",
		"/api/traces/..%2f..%2fgo.mod", "/api/traces/.gbx", "/trace/..%2fx", "/embed/%00", "/trace/a%2fb/print", "/api/catalogue/..", "/api/live?id=..%2fx",
	} {
		a := r.get(path)
		require.Contains(t, []int{http.StatusNotFound, http.StatusMovedPermanently, http.StatusTemporaryRedirect, http.StatusPermanentRedirect}, a.StatusCode, path)
		require.NotContains(t, a.body, "module glassbox", path)
		require.NotContains(t, a.body, "go:embed", path)
	}
}

func TestForeignNamesAndPagesAreRefused(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Hosts = []string{"box.lan"} })
	id := r.record("Why?")
	own := strings.TrimPrefix(r.srv.URL, "http://")
	for _, host := range []string{"evil.example", "localhost.evil.example:80", "127.0.0.1.evil.example", "[evil]", ""} {
		if host != "" {
			for _, path := range []string{"/", "/traces", "/api/traces", "/api/traces/" + id, "/static/page.js", "/api/live"} {
				require.Equal(t, http.StatusForbidden, r.get(path, "Host: "+host).StatusCode, "%s as %s", path, host)
			}
		}
	}
	for _, host := range []string{"localhost:1", "LOCALHOST", "a.localhost:8080", "127.0.0.1", "127.9.9.9:80", "[::1]:8080", "10.1.2.3", "box.lan", "BOX.LAN:8080"} {
		require.Equal(t, http.StatusOK, r.get("/api/traces", "Host: "+host).StatusCode, host)
	}
	for _, h := range []string{"Origin: http://evil.example", "Origin: null", "Origin: http://" + own + ".evil.example", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site"} {
		require.Equal(t, http.StatusForbidden, r.do(http.MethodDelete, "/api/traces/"+id, h).StatusCode, h)
		require.Equal(t, http.StatusForbidden, r.do(http.MethodPost, "/traces/"+id+"/delete", h).StatusCode, h)
	}
	_, err := r.store.Get(id)
	require.NoError(t, err, "nothing was deleted")
	require.Equal(t, http.StatusNoContent, r.do(http.MethodDelete, "/api/traces/"+id, "Origin: http://"+own, "Sec-Fetch-Site: same-origin").StatusCode)
	any := newRig(t, func(c *Config) { c.Hosts = []string{"*"} })
	require.Equal(t, http.StatusOK, any.get("/", "Host: whatever.example").StatusCode)
}

func TestListAndRecordingsOverTheAPI(t *testing.T) {
	r := newRig(t, nil)
	id := r.record("Why?")
	var list []file.Summary
	require.NoError(t, json.Unmarshal([]byte(r.get("/api/traces").body), &list))
	require.Equal(t, []string{id, firstShipped}, []string{list[0].ID, list[1].ID})
	require.Equal(t, 3, list[1].Numbers.OutputTokens)

	rec, err := r.store.Get(id)
	require.NoError(t, err)
	var want bytes.Buffer
	require.NoError(t, file.WriteJSON(&want, rec))
	for _, path := range []string{"/api/traces/" + id, "/api/traces/" + id + ".json"} {
		a := r.get(path)
		require.Equal(t, want.String(), a.body)
		require.Equal(t, "application/json", a.Header.Get("Content-Type"))
		packed := r.get(path, "Accept-Encoding: gzip")
		require.Equal(t, "gzip", packed.Header.Get("Content-Encoding"))
		require.Equal(t, want.String(), packed.body)
		require.Equal(t, http.StatusNotModified, r.get(path, "If-None-Match: "+a.Header.Get("ETag")).StatusCode)
	}
	gbx := r.get("/api/traces/" + id + ".gbx")
	back, err := file.ReadFrom(strings.NewReader(gbx.body), int64(len(gbx.body)), file.DefaultLimits)
	require.NoError(t, err)
	require.Len(t, back.Spans, len(rec.Spans))
	require.Equal(t, `attachment; filename="`+id+`.gbx"`, gbx.Header.Get("Content-Disposition"))

	page := r.get("/api/traces/"+id+".html", "Accept-Encoding: gzip")
	require.Equal(t, `attachment; filename="`+id+`.html"`, page.Header.Get("Content-Disposition"))
	require.Contains(t, page.body, `<script type="application/json">`)
	require.Equal(t, http.StatusOK, r.get("/api/traces/"+firstShipped+".html").StatusCode)
	require.Equal(t, http.StatusNoContent, r.do(http.MethodDelete, "/api/traces/"+id).StatusCode)
	for _, a := range []answer{r.get("/api/traces/" + id), r.do(http.MethodDelete, "/api/traces/"+id), r.get("/api/nothing")} {
		require.Equal(t, http.StatusNotFound, a.StatusCode)
		fourKeys(t, a.body)
	}
	shipped := r.do(http.MethodDelete, "/api/traces/"+firstShipped)
	require.Equal(t, http.StatusForbidden, shipped.StatusCode)
	fourKeys(t, shipped.body)
}

// fourKeys checks for OpenAI's error object.
func fourKeys(t *testing.T, body string) {
	var e map[string]map[string]any
	require.NoError(t, json.Unmarshal([]byte(body), &e), body)
	require.Len(t, e["error"], 4)
	for _, key := range []string{"message", "type", "param", "code"} {
		require.Contains(t, e["error"], key)
	}
	require.NotEmpty(t, e["error"]["message"])
}

// A recording is asked for the moment its request's answer is there: it is waited for.
func TestRunningRecordingIsWaitedFor(t *testing.T) {
	r := newRig(t, nil)
	rec, err := r.store.Start(trace.Now(), trace.CaptureSpec{})
	require.NoError(t, err)
	testrec.Whole(rec, "Why?")
	a := r.get("/api/traces/" + rec.ID + "?wait=0")
	require.Equal(t, http.StatusConflict, a.StatusCode)
	require.Equal(t, "1", a.Header.Get("Retry-After"))
	fourKeys(t, a.body)
	require.Equal(t, http.StatusConflict, r.do(http.MethodDelete, "/api/traces/"+rec.ID).StatusCode)
	go func() {
		time.Sleep(50 * time.Millisecond)
		rec.End()
	}()
	require.Equal(t, http.StatusOK, r.get("/api/traces/"+rec.ID).StatusCode)
}

// What ships is served out of the zip without being packed again; its gzip form must be whole.
func TestShippedRecordingIsServedAsItLies(t *testing.T) {
	r := newRig(t, nil)
	raw, err := fs.ReadFile(r.site.c.Static, "recordings/"+firstShipped+".gbx")
	require.NoError(t, err)
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)
	m, err := z.Open("trace.json")
	require.NoError(t, err)
	want, err := io.ReadAll(m)
	require.NoError(t, err)
	packed := r.get("/api/traces/"+firstShipped+".json", "Accept-Encoding: gzip")
	require.Equal(t, "gzip", packed.Header.Get("Content-Encoding"))
	require.Equal(t, string(want), packed.body)
	plain := r.get("/api/traces/" + firstShipped)
	require.Equal(t, string(want), plain.body)
	require.Equal(t, http.StatusNotModified, r.get("/api/traces/"+firstShipped, "If-None-Match: "+plain.Header.Get("ETag")).StatusCode)
	require.Equal(t, string(raw), r.get("/api/traces/"+firstShipped+".gbx").body)
	require.NotEqual(t, plain.Header.Get("ETag"), r.get("/api/traces/"+firstShipped+".gbx").Header.Get("ETag"))
}

// Those that really ship can be read, and are of the catalogue as it is.
func TestWhatShipsFitsTheCatalogue(t *testing.T) {
	s := shipped{fs: static.Files}
	require.NotEmpty(t, s.names())
	require.Equal(t, firstShipped, s.names()[0])
	for _, id := range s.names() {
		rec, err := s.get(id).decode()
		require.NoError(t, err)
		sum, err := s.get(id).summary()
		require.NoError(t, err)
		want := file.Summarize(rec)
		want.Bytes = sum.Bytes
		require.Equal(t, want, sum, "%s: its head alone says what the whole says", id)
		require.False(t, rec.Partial)
		require.Zero(t, rec.Dropped.Spans)
		if rec.Engine.Name != "glassbox" { // package steps holds other engines' recordings to their catalogues
			_, err := steps.EngineOf(rec.Engine.Name)
			require.NoError(t, err, id)
			continue
		}
		// Steps that came after the recording may be missing; those it has are in the catalogue's order.
		all := trace.Steps()
		for _, w := range rec.Walk {
			i := slices.IndexFunc(all, func(s trace.StepID) bool { return s.String() == w.ID })
			require.GreaterOrEqual(t, i, 0, "%s: there is no step %s any more, or it has moved: make the recording again, static/recordings/README.md says how", id, w.ID)
			all = all[i+1:]
			require.NotNil(t, w.Source.Code, w.ID)
		}
		require.Greater(t, len(rec.Walk), 50)
	}
}

func TestOtherEnginesHaveAnAddress(t *testing.T) {
	for _, e := range steps.Engines() {
		require.NotNil(t, (&shipped{fs: static.Files}).get("chat-in-"+e.Name), e.Name)
		r := newRig(t, nil)
		res := r.get("/" + e.Name + "?step=schedule&view=timeline")
		require.Equal(t, http.StatusFound, res.StatusCode)
		require.Equal(t, "/trace/chat-in-"+e.Name+"?step=schedule&view=timeline", res.Header.Get("Location"))
	}
}

func TestBrokenShippedRecordingIsNotThere(t *testing.T) {
	bad := fstest.MapFS{"recordings/cut.gbx": {Data: []byte("PK\x03\x04 cut")}, "recordings/a b.gbx": {Data: []byte("x")}}
	s := shipped{fs: bad}
	require.Equal(t, []string{"cut"}, s.names())
	require.Nil(t, s.get("cut"))
	require.Nil(t, s.get("../x"))
}

func TestCatalogueOverTheAPI(t *testing.T) {
	r := newRig(t, nil)
	var c struct {
		Engine file.Engine
		Steps  []file.Step
		Loops  []file.Loop
	}
	require.NoError(t, json.Unmarshal([]byte(r.get("/api/catalogue/glassbox").body), &c))
	rec, err := r.store.Get(r.record("Why?"))
	require.NoError(t, err)
	require.Len(t, c.Steps, len(rec.Walk))
	require.Equal(t, "test", c.Engine.Version)
	require.Len(t, c.Loops, 2)
	for _, s := range c.Steps {
		require.NotContains(t, s.Text, "Not reached")
	}
	require.Equal(t, http.StatusNotFound, r.get("/api/catalogue/other").StatusCode)
}

func TestLiveChannelIsForOwnPages(t *testing.T) {
	r := newRig(t, nil)
	url := "ws" + strings.TrimPrefix(r.srv.URL, "http") + "/api/live"
	_, resp, err := websocket.DefaultDialer.Dial(url, http.Header{"Origin": {"http://evil.example"}})
	require.Error(t, err)
	require.Equal(t, http.StatusForbidden, resp.StatusCode)
	_, resp, err = websocket.DefaultDialer.Dial(url, http.Header{"Host": {"evil.example"}})
	require.Error(t, err)
	require.Equal(t, http.StatusForbidden, resp.StatusCode)

	ws, _, err := websocket.DefaultDialer.Dial(url, http.Header{"Origin": {r.srv.URL}})
	require.NoError(t, err)
	defer ws.Close()
	id := r.record("Why?")
	var types []string
	for {
		var m struct{ Type, ID string }
		require.NoError(t, ws.SetReadDeadline(time.Now().Add(10*time.Second)))
		require.NoError(t, ws.ReadJSON(&m))
		require.Equal(t, id, m.ID)
		if types = append(types, m.Type); m.Type == "end" {
			break
		}
	}
	require.Equal(t, "start", types[0])
	require.Contains(t, types, "spans")
	require.Contains(t, types, "tokens")
}

func TestDocumentationIsRendered(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.Docs = fstest.MapFS{
			"one.md":      {Data: []byte("# The *one*\n\nAbout\nit.\n\n<b onclick=x>raw</b>\n\n[two](two.md#part) [far](https://example.org/) [code](../engine/x.go) [js](javascript:alert(1))\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")},
			"two.md":      {Data: []byte("# Two\n\n## Part\n")},
			"schema.json": {Data: []byte(`{"a":1}`)},
			"embed.go":    {Data: []byte("package docs")},
		}
	})
	a := r.get("/docs/one")
	require.Contains(t, a.body, "<table>")
	require.Contains(t, a.body, `href="/docs/two#part"`)
	require.Contains(t, a.body, `href="https://example.org/"`)
	require.Contains(t, a.body, " code ", "a link that leads nowhere here is plain text")
	require.NotContains(t, a.body, "x.go")
	require.NotContains(t, a.body, "onclick")
	require.NotContains(t, a.body, "javascript:")
	require.Contains(t, a.body, "<title>The one - Glassbox</title>")
	index := r.get("/docs/")
	require.Contains(t, index.body, "About it.")
	require.Contains(t, index.body, `href="/docs/two"`)
	require.Contains(t, r.get("/docs/two").body, `id="part"`)
	require.Equal(t, `{"a":1}`, r.get("/docs/schema.json").body)
	require.Equal(t, http.StatusNotFound, r.get("/docs/three").StatusCode)
	require.Equal(t, "/docs/", r.get("/docs").Header.Get("Location"))
}
