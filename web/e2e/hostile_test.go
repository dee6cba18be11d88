package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/web/e2e/browser"
)

const evil = `"'><img src=x onerror="globalThis.pwned=1"><script>globalThis.pwned=1</script><svg onload="globalThis.pwned=1"></svg><a href="javascript:globalThis.pwned=1">x</a> {{1}} ${1} \u003cb\u003e`

// markup counts what only markup in a text could have made: anywhere on the page, shadow roots included.
const markup = `(() => { let n = globalThis.pwned ? 1000 : 0; const look = (root) => { for (const e of root.querySelectorAll('*')) {
	if (e.matches('img[src="x"], iframe, object, embed, [onerror], [onload], [onclick], a[href^="javascript"]') || (e.localName === 'script' && e.textContent.includes('pwned') && e.type !== 'application/json')) n++;
	if (e.shadowRoot) look(e.shadowRoot); } }; look(document); return n; })()`

// hostile puts markup into every text of a recording that is not one of a fixed set.
func hostile(v any, key string) any {
	switch x := v.(type) {
	case map[string]any:
		for k, e := range x {
			if k != "schema" && k != "clock" {
				x[k] = hostile(e, k)
			}
		}
	case []any:
		for i := range x {
			x[i] = hostile(x[i], key)
		}
	case string:
		switch key {
		case "stage", "prov", "kind", "role", "form", "lane", "step", "parent", "started", "loop", "first", "last", "over", "data", "dtype":
			return x
		case "id":
			return x // what other texts refer to; another test has hostile ids
		case "link", "repo":
			return "javascript:globalThis.pwned=1//" + evil
		case "commit":
			return strings.Repeat("a", 40) + evil
		}
		return evil + x
	}
	return v
}

// hostileFile writes a small recording whose every text is markup, and returns it.
func hostileFile(t *testing.T, dir string) []byte {
	plain := filepath.Join(t.TempDir(), "plain.json")
	out, err := exec.Command(browser.Binary(t), "export", filepath.Join(browser.Checkout(), "static", "recordings", sky+".gbx"), "--to", "doc", "-o", plain).CombinedOutput()
	require.NoError(t, err, "%s", out)
	raw, err := os.ReadFile(plain)
	require.NoError(t, err)
	var v any
	require.NoError(t, json.Unmarshal(raw, &v))
	raw, err = json.Marshal(hostile(v, ""))
	require.NoError(t, err)
	require.Greater(t, strings.Count(string(raw), "onerror"), 400)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hostile1.json"), raw, 0o600))
	return raw
}

// views shows every view that the tracer on the page offers, and looks for markup in each, its table, the palette and the sheet.
func views(t *testing.T, p *browser.Tab) {
	for n := 1; n <= 9; n++ {
		p.Press(fmt.Sprint(n))
		p.Until(browser.TracerReady)
		p.Press("r")
		require.Zero(t, browser.Eval[int](p, markup), "view %d", n)
		p.Press("r")
	}
	p.Press("1")
	p.Press("/")
	p.Until(`document.querySelector('glassbox-tracer').shadowRoot.querySelector('dialog[open]')`)
	require.Zero(t, browser.Eval[int](p, markup), "the palette")
}

// A recording whose every text is markup is shown as text: from the server, in its list, as a document, and dropped on a page.
func TestHostileRecordingIsText(t *testing.T) {
	dir := t.TempDir()
	raw := hostileFile(t, dir)
	base := browser.StartServer(t, "--traces", dir)
	p := browser.Open(t, browser.Start(t), base, browser.Desk, "light")
	for _, path := range []string{"/", "/traces", "/trace/hostile1/print"} {
		p.GoTo(path)
		require.Contains(t, browser.Eval[string](p, `document.documentElement.innerText`), "onerror", "%s shows the text", path)
		require.Zero(t, browser.Eval[int](p, markup), path)
	}
	p.GoTo("/trace/hostile1")
	p.Until(browser.TracerReady)
	require.Contains(t, browser.Eval[string](p, `document.querySelector('glassbox-tracer').shadowRoot.querySelector('.card').innerText`), "onerror")
	views(t, p)

	p.GoTo("/docs/")
	browser.Eval[any](p, `(() => { const d = new DataTransfer(); d.items.add(new File([`+string(quoted(t, raw))+`], 'evil<img src=x>.json')); document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: d, bubbles: true, cancelable: true})); })()`)
	p.Until(browser.TracerReady)
	require.Contains(t, browser.Eval[string](p, `document.querySelector('glassbox-tracer').shadowRoot.querySelector('.card').innerText`), "onerror")
	require.Zero(t, browser.Eval[int](p, markup), "dropped")
	p.Press("2")
	p.Until(`document.querySelector('glassbox-tracer').dataset.ready === 'pass'`)
	browser.Eval[any](p, `history.back()`)
	p.Until(`location.pathname === '/docs/' && document.querySelector('.docs h1')`)

	// the one file that opens from disk carries the text inside a script element
	file := filepath.Join(t.TempDir(), "evil.html")
	out, err := exec.Command(browser.Binary(t), "export", filepath.Join(dir, "hostile1.json"), "--to", "html", "-o", file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotContains(t, string(page), "<script>globalThis")
	require.NotContains(t, string(page), "<img src=x")
}

func quoted(t *testing.T, raw []byte) []byte {
	q, err := json.Marshal(string(raw))
	require.NoError(t, err)
	return q
}

// What is no recording is told of, and the page can be gone back to.
func TestDroppedFileThatIsNoRecording(t *testing.T) {
	base := server()
	p := browser.Open(t, browser.Start(t), base, browser.Phone, "dark")
	for _, text := range []string{`not json`, `{"schema":{"name":"other","version":"1.0"}}`, `[]`, `PK\x03\x04 and then nothing that is a zip file`} {
		p.GoTo("/docs/")
		browser.Eval[any](p, `(() => { const d = new DataTransfer(); d.items.add(new File(["`+strings.ReplaceAll(text, `"`, `\"`)+`"], 'x.gbx')); document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: d, bubbles: true, cancelable: true})); })()`)
		p.Until(`document.querySelector('glassbox-tracer')?.shadowRoot.querySelector('.state[role="alert"] h2')`)
	}
}

// A prompt full of tags, asked, answered and watched, is text everywhere.
func TestPromptFullOfTagsIsText(t *testing.T) {
	base := browser.StartServer(t)
	body, err := json.Marshal(map[string]any{"messages": []any{map[string]string{"role": "user", "content": evil}}, "max_tokens": 8, "temperature": 0, "glassbox": map[string]any{"trace": true}})
	require.NoError(t, err)
	resp, err := http.Post(base+"/v1/chat/completions", "application/json", strings.NewReader(string(body)))
	require.NoError(t, err)
	resp.Body.Close()
	id := resp.Header.Get("X-Glassbox-Trace-Id")
	require.NotEmpty(t, id)
	p := browser.Open(t, browser.Start(t), base, browser.Laptop, "dark")
	p.GoTo("/trace/" + id + "?step=render")
	p.Until(browser.TracerReady)
	require.Contains(t, browser.Eval[string](p, `document.querySelector('glassbox-tracer').shadowRoot.textContent`), "onerror")
	views(t, p)
	for _, path := range []string{"/", "/traces", "/trace/" + id + "/print"} {
		p.GoTo(path)
		require.Zero(t, browser.Eval[int](p, markup), path)
	}
}
