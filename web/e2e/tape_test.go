package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"glassbox/web/e2e/browser"
)

const (
	tracer  = `document.querySelector('glassbox-tracer')`
	viewOn  = tracer + `.stage.current`
	drawing = tracer + `.shadowRoot.querySelector('.vbody svg')`
)

// The pass is walked with arrows alone: every op is a stop, the dial and both switches have keys, the table says the same.
func TestPassByKeyboard(t *testing.T) {
	base := browser.StartServer(t)
	p := browser.Open(t, browser.Start(t), base, browser.Desk, "light")
	p.GoTo("/trace/why-is-the-sky-blue?view=pass&step=embed&pass=6")
	p.Until(browser.TracerReady)
	stops := map[string]bool{}
	for range 24 {
		step := browser.Eval[string](p, tracer+`.state.step`)
		stops[step] = true
		require.Equal(t, 1, browser.Eval[int](p, drawing+`.querySelectorAll('[data-step="`+step+`"]').length`), step)
		p.Press(kb.ArrowRight)
	}
	require.GreaterOrEqual(t, len(stops), 17)
	require.Equal(t, "lm_head", browser.Eval[string](p, tracer+`.state.step`)) // the pass ends there, and so do its arrows

	p.Press("]]a")
	p.Until(tracer + `.state.layer === 2 && ` + tracer + `.state.opts === 'layers:one'`)
	p.Until(`/layer 2 and what is outside the layers/.test(` + drawing + `.textContent)`)
	p.Press("ad")
	p.Until(tracer + `.state.pass === 0`)
	p.Until(`/prefill, 36 tokens/.test(` + drawing + `.textContent)`)
	p.Press("r")
	twin := tracer + `.shadowRoot.querySelector('.twin')`
	p.Until(`!` + twin + `.hidden && ` + twin + `.querySelector('tr.now')`)
	require.Contains(t, browser.Eval[string](p, twin+`.textContent`), "no op: before the first")
	p.Press(kb.Escape)
	require.Contains(t, browser.Eval[string](p, viewOn+`.svg()`), "data-step=\"ffn_gate\"")
	p.Quiet()
}

// valued asks the engine for an answer with its vectors captured and returns the id of the finished recording: of one that
// still runs, the page plays along.
func valued(t testing.TB, base string) string {
	body, err := json.Marshal(map[string]any{"messages": []any{map[string]string{"role": "user", "content": "Why is the sky blue?"}}, "max_tokens": 4, "temperature": 0,
		"glassbox": map[string]any{"trace": true, "capture": []string{"values"}}})
	require.NoError(t, err)
	resp, err := http.Post(base+"/v1/chat/completions", "application/json", bytes.NewReader(body))
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	id := resp.Header.Get("X-Glassbox-Trace-Id")
	done, err := http.Get(base + "/api/traces/" + id + ".json?wait=30")
	require.NoError(t, err)
	defer done.Body.Close()
	require.Equal(t, http.StatusOK, done.StatusCode)
	return id
}

// worked is the number under the playhead three times: as the page says it came out, from the recording, and worked out
// here from the file's row and the recorded input as they are (the kernel rounds its input, so this one is only near).
const worked = `(async () => { const d = ` + viewOn + `.d, api = location.pathname.replace('/trace/', '/api/traces/') + '/arrays/';
	const npy = async (n) => { const b = await (await fetch(api + n)).arrayBuffer(); return new Float32Array(b.slice(10 + new DataView(b).getUint16(8, true))); };
	const x = await npy('tape_in/' + d.x.layer + '/' + d.x.op), out = await npy('tape_out/' + d.x.layer + '/' + d.x.op);
	const w = new Float32Array(await (await fetch('/api/weights/' + d.x.name + '/row?r=' + d.row)).arrayBuffer());
	const said = /came out ([−\d.e-]+) (.)/.exec(` + drawing + `.textContent);
	return {Said: Number(said[1].replace('−', '-')), Sign: said[2], File: out[d.row], Plain: w.reduce((a, v, i) => a + v * x[i], 0), Size: w.reduce((a, v, i) => a + Math.abs(v * x[i]), 0)}; })()`

type numbers struct {
	Said, File, Plain, Size float64
	Sign                    string
}

// The number that came out is on the page, is the recording's, and is what the page works out from the stored row; the
// arrows go on into row, block and weight, and the playhead moves by itself.
func TestTapeShowsTheNumbersThatCameOut(t *testing.T) {
	base := browser.StartServer(t)
	p := browser.Open(t, browser.Start(t), base, browser.Laptop, "dark")
	p.GoTo("/trace/" + valued(t, base) + "?view=tape&step=ffn_gate&pass=1&layer=17")
	p.Until(browser.TracerReady)
	for _, step := range []string{"ffn_gate", "ffn_up", "ffn_down"} {
		p.Until(viewOn + `.d?.x.op === '` + step + `' && /came out [−\d]/.test(` + drawing + `.textContent)`)
		got := browser.Await[numbers](p, worked)
		require.Equal(t, "=", got.Sign, step)
		require.InDelta(t, got.File, got.Said, 1e-5*max(1, got.Size), step)
		require.InDelta(t, got.Plain, got.File, 0.02*got.Size, step)
		p.Press(kb.ArrowRight)
	}
	require.Equal(t, 18, browser.Eval[int](p, tracer+`.state.layer`))
	p.Press(kb.PageUp)
	p.Until(viewOn + `.d?.block && ` + viewOn + `.d.x.layer === 17`)

	p.Press(kb.ArrowRight + kb.ArrowDown + kb.ArrowDown + kb.ArrowDown) // from the norm to q, and into it
	p.Until(tracer + `.shadowRoot.querySelector('.own').textContent === 'weights'`)
	p.Press(kb.ArrowRight + kb.ArrowRight)
	p.Until(viewOn + `.d.wt === 2 && /w\[\d+, \d+\] = .* × \d+ [−+] .*w × x = /.test(` + drawing + `.textContent)`)
	p.Press("h")
	p.Until(`/the same to float rounding/.test(` + drawing + `.textContent)`)
	require.Contains(t, browser.Eval[string](p, viewOn+`.svg()`), "data:image/png")
	p.Press(kb.Escape + kb.Escape + kb.Home + " ")
	p.Until(tracer + `.state.step !== 'embed' && ` + tracer + `.state.layer === 0`)
	p.Press(" ")
	p.Quiet()
}

// Without captured vectors the view says so, names the command, and makes the recording when asked to.
func TestTapeOffersToRecord(t *testing.T) {
	base := browser.StartServer(t)
	p := browser.Open(t, browser.Start(t), base, browser.Desk, "light")
	p.GoTo("/trace/why-is-the-sky-blue?view=tape&step=attn_q&pass=2&layer=4")
	p.Until(browser.TracerReady)
	miss := tracer + `.shadowRoot.querySelector('.tp-miss')`
	p.Until(miss + `?.querySelector('[data-own="record"]')`)
	require.Contains(t, browser.Eval[string](p, miss+`.textContent`), "--capture values")
	browser.Eval[any](p, miss+`.querySelector('[data-own="record"]').click()`)
	p.Until(`location.pathname !== '/trace/why-is-the-sky-blue' && /came out [−\d]/.test(` + tracer + `?.shadowRoot?.querySelector('.vbody svg')?.textContent ?? '')`)
	require.Equal(t, "tape", browser.Eval[string](p, tracer+`.state.view`))
	p.Quiet()
}
