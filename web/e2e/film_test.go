package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"glassbox/web/e2e/browser"
)

const filmTime = `document.querySelector('.fm-t').textContent.split(' / ')[0]`

// A link to a moment shows that moment, at rest where motion is reduced; from there it plays, pauses into stepping, and every
// chapter shows a view of a recording.
func TestFilm(t *testing.T) {
	base := server()
	p := browser.Open(t, browser.Start(t), base, browser.Desk, "dark")
	p.GoTo("/film?t=0:25")
	p.Until(browser.TracerReady)
	require.Equal(t, "0:25", browser.Eval[string](p, filmTime))
	require.Equal(t, "Play", browser.Eval[string](p, `document.querySelector('[data-do="play"]').textContent`), "it does not begin by itself where motion is reduced")
	at := step(p)
	require.Equal(t, "schedule", browser.Eval[string](p, `(() => { const t = document.querySelector('glassbox-tracer'); return t.recording.steps[t.recording.stepIndex.get(t.state.step)].stage })()`))

	p.Press(" ")
	p.Until(`document.querySelector('[data-do="play"]').textContent === 'Pause' && ` + filmTime + ` !== '0:25'`)
	p.Press(kb.ArrowRight)
	p.Until(`document.querySelector('[data-do="play"]').textContent === 'Play'`)
	p.Until(`location.search.startsWith('?t=0:')`)
	stood := step(p)
	p.Press(kb.ArrowRight)
	p.Until(`document.querySelector('glassbox-tracer').state.step !== '` + stood + `'`)
	require.NotEqual(t, at, step(p))

	seen := map[string]bool{}
	for _, mark := range browser.Eval[[]string](p, `[...document.querySelectorAll('[data-seek]')].map(b => b.getAttribute('data-seek'))`) {
		browser.Eval[any](p, `document.querySelector('[data-seek="`+mark+`"]').click()`)
		p.Until(`(() => { const s = document.querySelector('.scenes li[data-at="` + mark + `"]').dataset, t = document.querySelector('glassbox-tracer');
			return t.dataset.ready === s.view && t.getAttribute('src') === s.src && t.state.step === s.steps.split(' ')[0] })()`)
		require.Equal(t, browser.Eval[string](p, `document.querySelector('.scenes li[data-at="`+mark+`"] p span').textContent`), browser.Eval[string](p, `document.querySelector('.fm-say p').textContent`))
		seen[browser.Eval[string](p, `document.querySelector('glassbox-tracer').dataset.ready`)] = true
	}
	require.Len(t, seen, 6, "views: %v", seen)
	p.Quiet()
}

// The voice says each caption when it is turned on, and the film waits for it.
func TestFilmIsNarrated(t *testing.T) {
	base := server()
	p := browser.Open(t, browser.Start(t), base, browser.Laptop, "light")
	p.GoTo("/film?t=0:06")
	p.Until(browser.TracerReady)
	browser.Eval[any](p, `(() => { globalThis.said = []; speechSynthesis.speak = (u) => { said.push(u); }; speechSynthesis.cancel = () => {}; })()`)
	browser.Eval[any](p, `document.querySelector('[data-do="voice"]').click()`)
	require.Empty(t, browser.Eval[[]string](p, `said.map(u => u.text)`), "a film at rest says nothing")
	browser.Eval[any](p, `document.querySelector('[data-do="play"]').click()`)
	p.Until(`said.length === 1 && ` + filmTime + ` === '0:07'`)
	browser.Eval[any](p, `new Promise(r => setTimeout(r, 1500))`)
	require.Equal(t, "0:07", browser.Eval[string](p, filmTime), "the scene ends at 0:08, and the voice has not")
	browser.Eval[any](p, `said[0].onend()`)
	p.Until(`said.length === 2`)
	texts := browser.Eval[[]string](p, `said.map(u => u.text)`)
	require.Equal(t, browser.Eval[[]string](p, `[...document.querySelectorAll('.scenes li p span')].slice(0, 2).map(s => s.textContent)`), texts)
	p.Quiet()
}

// Without scripts the film is its text, with links into the walk.
func TestFilmWithoutScripts(t *testing.T) {
	base := server()
	p := browser.Open(t, browser.Start(t), base, browser.Phone, "light")
	browser.Call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	p.GoTo("/film")
	require.Greater(t, strings.Count(browser.Eval[string](p, `document.body.innerText`), "step through it"), 8)
}
