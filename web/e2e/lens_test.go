package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"glassbox/web/e2e/browser"
)

// difference is what the page says of the chosen two words: the choice in the state, its title, the sum of the bars,
// and the difference of the engine's logits.
const difference = `(() => { const t = document.querySelector('glassbox-tracer'), r = t.shadowRoot, all = [...r.querySelectorAll('svg.ov text')], i = all.findIndex(e => e.textContent === 'sum = difference of logits');
	const number = k => i < 0 ? 0 : Number(all[i + k].firstChild.data.replace('−', '-').replace('+', '')), on = [...r.querySelectorAll('svg.ov [aria-pressed=true]')].map(e => e.getAttribute('data-k'));
	return {Opts: t.state.opts, Title: all.find(e => e.textContent.startsWith('Who wrote')).textContent, Sum: number(1), Engine: number(3), On: on.join(' '), Focus: r.activeElement?.getAttribute('data-k') ?? ''}; })()`

type chosen struct {
	Opts, Title, On, Focus string
	Sum, Engine            float64
}

// Any two of the leading words are chosen by press and by key, in the link too; the bars add up to the difference.
func TestLensAgainstAnyWord(t *testing.T) {
	base := browser.StartServer(t)
	p := browser.Open(t, browser.Start(t), base, browser.Laptop, "light")
	id := capture(t, base, "lens")
	p.GoTo("/trace/" + id + "?view=lens&layer=29&opts=second:3")
	p.Until(`document.querySelector('glassbox-tracer')?.shadowRoot?.querySelector('td.now')`)
	shows := func(title string) chosen {
		p.Until(difference + `.Title === ` + quote("Who wrote "+title))
		got := browser.Eval[chosen](p, difference)
		require.InDelta(t, got.Engine, got.Sum, 0.01*max(1, max(got.Engine, -got.Engine)))
		return got
	}
	require.Positive(t, shows("The against Blue").Sum)
	p.Press("w") // of the second, against the third still
	second := shows("the against Blue")
	p.Press("w") // of the third, which was on the other side: the two change places
	turned := shows("Blue against the")
	require.InDelta(t, -second.Sum, turned.Sum, 1e-9)
	require.NotZero(t, turned.Sum)
	p.Press("hh") // the fourth, the fifth
	require.Equal(t, "second:5,word:3", shows("Blue against There").Opts)
	p.Press("hh") // none, the first
	require.Negative(t, shows("Blue against The").Sum, "the word that was said leads")

	// By press, with Enter or the mouse: the focus stays on the button.
	const fourth = `document.querySelector('glassbox-tracer').shadowRoot.querySelector('svg.ov [data-opt="word"][data-val="4"]')`
	browser.Eval[any](p, fourth+`.focus()`)
	p.Press(kb.Enter)
	four := shows("That against The")
	require.Contains(t, four.Focus, "word")
	require.Contains(t, four.On, four.Focus)
	click := func(what string) {
		at := browser.Eval[struct{ X, Y float64 }](p, `(() => { const q = document.querySelector('glassbox-tracer').shadowRoot.querySelector('svg.ov `+what+` rect').getBoundingClientRect(); return {X: q.x + q.width / 2, Y: q.y + q.height / 2}; })()`)
		p.Do(chromedp.MouseClickXY(at.X, at.Y))
	}
	click(`[data-opt="second"][data-val="3"]`)
	require.Equal(t, "word:4,second:3", shows("That against Blue").Opts)
	click(`[data-opt="word"][data-val="5"]:not([role])`) // on the word
	require.Equal(t, "word:5,second:3", shows("There against Blue").Opts)
	p.Quiet()
}
