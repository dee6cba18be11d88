package e2e

import (
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"glassbox/web/e2e/browser"
)

// htmlBlocks are the plain examples of docs/embedding.md: the element, then the frame.
func htmlBlocks(t *testing.T) (element, frame string) {
	raw, err := os.ReadFile(filepath.Join(browser.Checkout(), "docs", "embedding.md"))
	require.NoError(t, err)
	found := regexp.MustCompile("(?s)```html\n(.*?)```").FindAllStringSubmatch(string(raw), -1)
	require.GreaterOrEqual(t, len(found), 2)
	return found[0][1], found[1][1]
}

// A page of another origin holds both examples of docs/embedding.md, with the script from our server: both draw, and each
// takes keys only while it has the focus. The recordings of the server itself stay its own.
func TestEmbeddingInAnotherOrigin(t *testing.T) {
	element, frame := htmlBlocks(t)
	doc := filepath.Join(t.TempDir(), "trace.json")
	out, err := exec.Command(browser.Binary(t), "export", filepath.Join(browser.Checkout(), "static", "recordings", sky+".gbx"), "--to", "doc", "-o", doc).CombinedOutput()
	require.NoError(t, err, "%s", out)
	base := ""
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/trace.json" {
			http.ServeFile(w, r, doc)
			return
		}
		tracer := strings.ReplaceAll(element, `src="glassbox.js"`, `src="`+base+`/static/js/glassbox.js"`)
		if from := r.URL.Query().Get("from"); from != "" {
			tracer = strings.ReplaceAll(tracer, `src="trace.json"`, `src="`+html.EscapeString(from)+`/api/traces/`+sky+`.json"`)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(`<!doctype html><title>docs</title><link rel="icon" href="data:,"><p><input id="own"></p>` + tracer +
			strings.ReplaceAll(frame, "http://127.0.0.1:8080", base)))
	}))
	defer host.Close()
	base = server()
	p := browser.Open(t, browser.Start(t), host.URL, browser.Window{W: 1440, H: 1400}, "light")

	p.GoTo("/")
	p.Until(browser.TracerReady)
	require.Equal(t, "draw", step(p))
	require.Equal(t, "dark", browser.Eval[string](p, `document.querySelector('glassbox-tracer').dataset.theme`))
	require.Equal(t, host.URL+"/", browser.Eval[string](p, `location.href`), "the address is the page's own")
	p.Press(kb.ArrowRight) // nothing has the focus
	require.Equal(t, "draw", step(p), "a key of the page moved the tracer")
	browser.Eval[bool](p, `(document.querySelector('#own').focus(), true)`)
	p.Press("j/?")
	require.Equal(t, "draw", step(p))
	require.Equal(t, "j/?", browser.Eval[string](p, `document.querySelector('#own').value`), "the page's own field takes its keys")
	browser.Eval[bool](p, `(document.querySelector('glassbox-tracer').focus(), true)`)
	p.Press(kb.ArrowLeft)
	moved := browser.Eval[string](p, `document.querySelector('glassbox-tracer').state.step`)
	require.NotEqual(t, "draw", moved, "the tracer has the focus")

	box := `(b => (b.top + b.height / 2))(document.querySelector('iframe').getBoundingClientRect())`
	p.Do(chromedp.MouseClickXY(700, browser.Eval[float64](p, box)))
	p.Until(`document.activeElement.tagName === 'IFRAME'`)
	p.Press(kb.ArrowLeft)
	require.Equal(t, moved, step(p), "the frame's keys are the frame's")
	require.Empty(t, p.Said())

	p.GoTo("/?from=" + base)
	p.Until(`document.querySelector('glassbox-tracer').shadowRoot.textContent.includes('no answer from the server')`)
	require.Contains(t, strings.Join(p.Said(), "\n"), "CORS", "a recording has prompts in it: a page of another origin cannot read it")
}

// Without scripts the element shows what the page put inside it, and the frame a link to the walk as text.
func TestEmbeddingWithoutScripts(t *testing.T) {
	element, _ := htmlBlocks(t)
	require.Regexp(t, `(?s)<glassbox-tracer[^>]*>.*<a href="trace.json">`, element)
	resp, err := http.Get(server() + "/embed/" + sky)
	require.NoError(t, err)
	defer resp.Body.Close()
	var b strings.Builder
	require.NoError(t, resp.Write(&b))
	require.Regexp(t, `(?s)<glassbox-tracer[^>]*>.*href="/trace/`+sky+`/print"`, b.String())
}
