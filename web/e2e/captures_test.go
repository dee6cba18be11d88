package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"glassbox/web/e2e/browser"
	"glassbox/web/e2e/large"
)

// capture asks the engine with captures and returns the recording's id.
func capture(t testing.TB, base string, kinds ...string) string {
	body, err := json.Marshal(map[string]any{"messages": []any{map[string]string{"role": "user", "content": "Why is the sky blue?"}}, "max_tokens": 5, "temperature": 0,
		"glassbox": map[string]any{"trace": true, "capture": kinds}})
	require.NoError(t, err)
	resp, err := http.Post(base+"/v1/chat/completions", "application/json", bytes.NewReader(body))
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	id := resp.Header.Get("X-Glassbox-Trace-Id")
	require.NotEmpty(t, id)
	return id
}

// cell is the value that the server's array holds where the playhead is, beside what the page says.
const cell = `(async () => { const t = document.querySelector('glassbox-tracer'), r = t.shadowRoot, s = t.state, rec = t.recording;
	const b = await (await fetch(location.pathname.replace('/trace/', '/api/traces/') + '/arrays/attention')).arrayBuffer(), v = new DataView(b), at = 10 + v.getUint16(8, true);
	const [L, H, n] = rec.file.arrays.attention.shape, row = s.token >= 0 ? s.token : rec.prompt.length - 1 + Math.max(0, rec.tokenOfPass(s.pass)), key = Number(/key:(\d+)/.exec(s.opts)?.[1]);
	const value = v.getFloat32(at + 4 * (((s.layer * H + s.head) * n + row) * n + key), true);
	return {Row: row, Key: key, File: value.toFixed(4), Page: r.querySelector('.vw-room svg .big').textContent, Own: r.querySelector('.own').textContent}; })()`

type read struct {
	Row, Key        int
	File, Page, Own string
}

func view(p *browser.Tab, id string) {
	p.Until(`document.querySelector('glassbox-tracer')?.getAttribute('data-ready') === '` + id + `' && document.querySelector('glassbox-tracer').shadowRoot.querySelector('.hs')`)
}

// By keyboard alone: the number under the cursor is the one in the file, and the place is kept from view to view.
func TestAttentionAndLensByKeyboard(t *testing.T) {
	base := browser.StartServer(t)
	p := browser.Open(t, browser.Start(t), base, browser.Laptop, "light")
	p.GoTo("/trace/" + capture(t, base, "attention", "lens") + "?view=request&step=attn_softmax")
	p.Until(browser.TracerReady)
	p.Press("4")
	view(p, "attention")
	p.Until(`document.querySelector('glassbox-tracer').shadowRoot.querySelector('.own').textContent === 'heads'`)
	p.Press(kb.ArrowDown + kb.ArrowDown + kb.ArrowRight + kb.Enter + kb.ArrowUp + kb.ArrowUp + kb.Home + kb.ArrowRight + kb.ArrowRight)
	p.Until(`/key:2/.test(document.querySelector('glassbox-tracer').state.opts)`)
	p.Until(`document.querySelector('glassbox-tracer').shadowRoot.querySelector('.own').textContent === 'map cell'`)
	got := browser.Await[read](p, cell)
	require.Equal(t, read{33, 2, got.File, got.File, "map cell"}, got)
	require.Contains(t, browser.Eval[string](p, `document.querySelector('glassbox-tracer').shadowRoot.querySelector('.card').innerText`), "Layer 2, head 1")

	p.Press("5")
	view(p, "lens")
	p.Until(`document.querySelector('glassbox-tracer').shadowRoot.querySelector('td.now')`)
	place := browser.Eval[map[string]any](p, `(() => { const s = document.querySelector('glassbox-tracer').state; return {token: s.token, layer: s.layer, head: s.head}; })()`)
	require.Equal(t, map[string]any{"token": 33.0, "layer": 2.0, "head": 1.0}, place)
	require.Equal(t, "c2-33", browser.Eval[string](p, `document.querySelector('glassbox-tracer').shadowRoot.querySelector('td.now').id`))

	p.Press("i" + kb.End) // why this token; End goes to the last position
	p.Until(`document.querySelector('glassbox-tracer').shadowRoot.querySelector('td.now')?.id.startsWith('c29-')`)
	p.Press("n")
	require.Contains(t, browser.Eval[string](p, `document.querySelector('glassbox-tracer').shadowRoot.querySelector('.vw-room svg.ov').textContent`), "sum = logit")
	p.Press(kb.Escape)
	p.Until(`document.querySelector('glassbox-tracer').shadowRoot.querySelector('.own').textContent === 'steps'`)
	p.Quiet()
}

// The last row of the lens is the answer, and the writers of each word add up to its logit.
func TestLensEndsInTheAnswer(t *testing.T) {
	base := browser.StartServer(t)
	id := capture(t, base, "lens")
	p := browser.Open(t, browser.Start(t), base, browser.Desk, "dark")
	p.GoTo("/trace/" + id + "?view=lens&layer=29")
	p.Until(`document.querySelector('glassbox-tracer')?.shadowRoot?.querySelector('td.now')`)
	for k, tok := range fetch(t, base, id).Request.Tokens {
		if k > 0 {
			p.Press("n")
		}
		sums := `(() => { const t = [...document.querySelector('glassbox-tracer').shadowRoot.querySelectorAll('svg.ov text')], i = t.findIndex(e => e.textContent === 'sum = logit');
			return [Number(t[i + 1].firstChild.data), Number(t[i + 3].firstChild.data)]; })()`
		p.Until(`document.querySelector('glassbox-tracer').shadowRoot.querySelector('.card h2 .wd').textContent.replace('·', ' ') === ` + quote(tok.Text))
		both := browser.Eval[[]float64](p, sums)
		require.Len(t, both, 2)
		require.InEpsilon(t, both[1], both[0], 0.01, "word %d", k)
	}
	p.Quiet()
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// A recording without captures names the command that makes one, and makes one.
func TestMissingCaptureIsRecordedOnThePage(t *testing.T) {
	base := browser.StartServer(t)
	id := capture(t, base)
	p := browser.Open(t, browser.Start(t), base, browser.Laptop, "light")
	p.GoTo("/trace/" + id + "?view=attention")
	root := `document.querySelector('glassbox-tracer').shadowRoot`
	p.Until(`document.querySelector('glassbox-tracer')?.shadowRoot?.querySelector('[data-own="record"]')`)
	require.Contains(t, browser.Eval[string](p, root+`.querySelector('.state').innerText`), `glassbox trace "Why is the sky blue?" --capture attention,lens --max-tokens 5`)
	browser.Eval[any](p, root+`.querySelector('[data-own="record"]').click()`)
	p.Until(`location.pathname.startsWith('/trace/') && !location.pathname.endsWith('` + id + `')`)
	p.Until(`document.querySelector('glassbox-tracer')?.shadowRoot?.querySelector('.vw-room svg .big')`)
	p.Quiet()
}

// 1,024 heads are drawn, each where its label says, and found by their scores.
func TestThousandHeads(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, large.WriteHeads(browser.Checkout(), dir))
	base := browser.StartServer(t, "--traces", dir)
	p := browser.Open(t, browser.Start(t), base, browser.Desk, "light")
	p.GoTo("/trace/" + large.Heads + "?view=attention&layer=31&head=31&opts=sort:entropy")
	p.Until(`document.querySelector('glassbox-tracer')?.shadowRoot?.querySelector('.vw-room svg .big')`)
	require.Contains(t, browser.Eval[string](p, `document.querySelector('glassbox-tracer').shadowRoot.querySelector('.card').innerText`), "rank of 1024")
	p.Press(kb.Home + ",,,") // before the first there is nothing
	browser.Eval[any](p, `document.querySelector('glassbox-tracer').shadowRoot.querySelector('.vw-hit').dispatchEvent(new KeyboardEvent('keydown', {key: 'Home', ctrlKey: true, bubbles: true, composed: true, cancelable: true}))`)
	p.Until(`[...document.querySelector('glassbox-tracer').shadowRoot.querySelectorAll('.hs tr')].some(r => /^entropy/.test(r.innerText) && r.lastElementChild.innerText === '1')`)
	ink := browser.Eval[int](p, `(() => { const c = document.querySelector('glassbox-tracer').shadowRoot.querySelector('.vw-room canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; const seen = new Set(); for (let i = 0; i < d.length; i += 4) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); return seen.size; })()`)
	require.Greater(t, ink, 100, "colours in the grid")
	p.Quiet()
}
