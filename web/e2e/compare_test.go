package e2e

import (
	"encoding/json"
	"math"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"glassbox/web/e2e/browser"
)

// sides is what the Compare view says: the state, the frame around the first token that differs, the numbers of the
// leading words, the steps in their order.
const sides = `(() => { const t = document.querySelector('glassbox-tracer'), r = t.shadowRoot, q = s => [...r.querySelectorAll(s)];
	return {View: t.state.view, With: t.state.with, Step: t.state.step, First: q('.cp-t button.first').map(e => Number(e.getAttribute('data-word'))), A: q('[data-side=a] button').length, B: q('[data-side=b] button').length,
	Name: q('.cp-ans h2 span').map(e => e.textContent), Word: Number(q('.cp-w text.m.end')[0]?.textContent ?? -1), WordB: Number(q('.cp-w text.m.end')[1]?.textContent ?? -1), Changed: Number(/^, ([\d,]+) of/.exec(r.querySelector('.cp-lt .s')?.textContent ?? '')?.[1].replace(/,/g, '') ?? -1),
	Rows: q('.cp-s tr[data-row]').map(e => e.getAttribute('data-row')), Card: r.querySelector('.card').innerText}; })()`

type compared struct {
	View, With, Step, Card string
	First                  []int
	A, B, Changed          int
	Name, Rows             []string
	Word, WordB            float64
}

// lensOf is a recording with its lens as the API gives it.
type lensRecording struct {
	Request struct {
		Params struct {
			Ablate []string `json:"ablate"`
			Seed   int64    `json:"seed"`
		} `json:"params"`
		Prompt []struct{}         `json:"prompt_tokens"`
		Output []struct{ ID int } `json:"output_tokens"`
	} `json:"request"`
	Arrays map[string]struct {
		Shape []int  `json:"shape"`
		Data  []byte `json:"data"`
	} `json:"arrays"`
}

func fetchLens(t *testing.T, base, id string) (r lensRecording) {
	resp, err := http.Get(base + "/api/traces/" + id + ".json?wait=30")
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&r))
	require.NotEmpty(t, r.Arrays["lens_ids"].Data)
	return r
}

// at reads a 32-bit element (layer, position, rank) of an array.
func (r lensRecording) at(name string, layer, pos, rank int) uint32 {
	a := r.Arrays[name]
	b := a.Data[4*((layer*a.Shape[1]+pos)*a.Shape[2]+rank):]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// The chosen head is switched off by one key and Enter, the same request runs again, and both recordings stand side by
// side with the numbers of their files.
func TestSwitchOffAndCompare(t *testing.T) {
	base := browser.StartServer(t)
	p := browser.Open(t, browser.Start(t), base, browser.Laptop, "light")
	id := capture(t, base, "attention", "lens")
	p.GoTo("/trace/" + id + "?view=attention&layer=10&head=3")
	view(p, "attention")
	const dialog = `document.querySelector('glassbox-tracer').shadowRoot.querySelector('dialog[open] form')`
	p.Press("K")
	p.Until(dialog + `?.querySelector('[data-run]:enabled')`)
	require.Equal(t, "L10.H3", browser.Eval[string](p, dialog+`.querySelector('[name=parts]').value`))
	p.Press(kb.Enter)
	p.Until(`document.querySelector('glassbox-tracer').shadowRoot.querySelector('.cp-lt .s')`)
	got := browser.Eval[compared](p, sides)
	require.Equal(t, "compare", got.View)
	require.Equal(t, []string{"with every part on", "without head 3 of layer 10"}, got.Name)
	p.Until(`location.search.includes("with=` + got.With + `")`)

	a, b := fetchLens(t, base, id), fetchLens(t, base, got.With)
	require.Equal(t, []string{"L10.H3"}, b.Request.Params.Ablate)
	require.Equal(t, a.Request.Params.Seed, b.Request.Params.Seed)
	require.Equal(t, len(a.Request.Output), got.A)
	require.Equal(t, len(b.Request.Output), got.B)
	first := 0
	for first < got.A && first < got.B && a.Request.Output[first].ID == b.Request.Output[first].ID {
		first++
	}
	if first < got.A && first < got.B {
		require.Equal(t, []int{first, first}, got.First)
	} else {
		require.Equal(t, got.A == got.B, len(got.First) == 0)
	}

	last, layers := len(a.Request.Prompt)-1, a.Arrays["lens_ids"].Shape[0]
	p1, p2 := math.Exp(float64(math.Float32frombits(a.at("lens_logprob", layers-1, last, 0)))), math.Exp(float64(math.Float32frombits(b.at("lens_logprob", layers-1, last, 0))))
	require.Equal(t, a.at("lens_ids", layers-1, last, 0), b.at("lens_ids", layers-1, last, 0))
	require.InDelta(t, p1, got.Word, 6e-4)
	require.InDelta(t, p2, got.WordB, 6e-4)
	require.NotEqual(t, p1, p2)
	changed := 0
	alike := min(last+1+first, a.Arrays["lens_ids"].Shape[1], b.Arrays["lens_ids"].Shape[1])
	for layer := range layers {
		for pos := range alike {
			if a.at("lens_ids", layer, pos, 0) != b.at("lens_ids", layer, pos, 0) {
				changed++
				require.GreaterOrEqual(t, layer, 10, "nothing changes above the part that is off")
			}
		}
	}
	require.Positive(t, changed)
	require.Equal(t, changed, got.Changed)

	// Arrows walk the differences; w lets go of the second recording; the link brings it back; a name that is none says so.
	p.Press(kb.Home + kb.ArrowRight)
	got = browser.Eval[compared](p, sides)
	require.Equal(t, got.Rows[2], got.Step, "the row after the first step of the list")
	p.Until(`location.search.includes("step=` + got.Step + `")`)
	link := browser.Eval[string](p, `location.pathname + location.search`)
	p.Press("w")
	p.Until(`document.querySelector('glassbox-tracer').shadowRoot.querySelector('[data-with="` + got.With + `"]')`)
	p.GoTo(link)
	p.Until(`document.querySelector('glassbox-tracer')?.shadowRoot?.querySelector('.cp-lt .s')`)
	require.Equal(t, changed, browser.Eval[compared](p, sides).Changed)
	p.Quiet()
}

// Names of no part are refused before anything runs, and Esc leaves everything as it was.
func TestSwitchOffRefusesWrongNames(t *testing.T) {
	base := browser.StartServer(t)
	p := browser.Open(t, browser.Start(t), base, browser.Laptop, "dark")
	p.GoTo("/trace/why-is-the-sky-blue?view=pass&step=ffn_up&layer=4")
	p.Until(`document.querySelector('glassbox-tracer')?.shadowRoot?.querySelector('svg.pv')`)
	p.Press("K")
	const form = `document.querySelector('glassbox-tracer').shadowRoot.querySelector('dialog[open] form')`
	p.Until(form + `?.querySelector('[data-run]:enabled')`)
	require.Equal(t, "L4.ffn", browser.Eval[string](p, form+`.querySelector('[name=parts]').value`))
	p.Press("L99" + kb.Enter)
	p.Until(form + `.querySelector('[role=status]').textContent.startsWith('L99: wanted a layer from L0 to L29')`)
	p.Press(kb.Escape)
	p.Until(`!` + form)
	require.Equal(t, "pass", browser.Eval[string](p, `document.querySelector('glassbox-tracer').state.view`))
	p.Quiet()
}
