package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"glassbox/web/e2e/browser"
)

const (
	vllmMap = "/trace/chat-in-vllm?view=modules"
	mapCard = tracer + `.shadowRoot.querySelector('.card').innerText`
	onMap   = tracer + `.shadowRoot.activeElement?.matches('.mm-hit')`
	infoBar = tracer + `.shadowRoot.querySelector('.mm-info').innerText`
)

// The way of the request is walked with arrows alone; what is on the canvas is in the table too.
func TestModulesAreWalked(t *testing.T) {
	base := server()
	p := browser.Open(t, browser.Start(t), base, browser.Laptop, "light")
	p.GoTo("/modules")
	p.Until(`document.querySelectorAll('.mmp-one svg').length >= 2`)
	p.GoTo("/modules/vllm?step=gate")
	p.Until(browser.TracerReady)
	require.Equal(t, "modules", browser.Eval[string](p, tracer+`.getAttribute('data-ready')`))
	seen := map[string]bool{}
	for range 40 {
		seen[strings.Fields(browser.Eval[string](p, infoBar))[0]] = true
		was := step(p)
		p.Press(kb.ArrowRight)
		p.Until(tracer + `.state.step !== '` + was + `'`)
		settled(p, step(p))
	}
	require.GreaterOrEqual(t, len(seen), 18, "stops in different modules")
	p.Press("r")
	p.Until(tracer + `.shadowRoot.querySelectorAll('.twin tbody tr').length >= 164`)
	row := browser.Eval[string](p, tracer+`.shadowRoot.querySelector('.twin tr.now').innerText`)
	require.Contains(t, row, strings.Fields(browser.Eval[string](p, infoBar))[0])
	p.Quiet()
}

// Search, the map's own arrows, who imports, a path, the window: by keys alone, and a link brings all of it back.
func TestModulesByKeyboardAndLink(t *testing.T) {
	base := server()
	p := browser.Open(t, browser.Start(t), base, browser.Desk, "dark")
	p.GoTo(vllmMap + "&step=schedule")
	p.Until(browser.TracerReady)

	p.Press("/")
	p.Press("gpu_worker")
	p.Until(`/gpu_worker/.test(` + tracer + `.shadowRoot.querySelector('#hit0')?.textContent ?? '')`)
	p.Press(kb.Enter)
	p.Until(`/picked it by its name/.test(` + mapCard + `)`)

	p.Press(kb.Escape) // back to the step's own module
	p.Until(`/Scheduler.schedule/.test(` + mapCard + `)`)
	p.Press("m")
	p.Until(`/path from A v1.core.sched.scheduler/.test(` + infoBar + `)`)
	p.Press("/")
	p.Press("vllm.config.vllm")
	p.Until(`/config.vllm/.test(` + tracer + `.shadowRoot.querySelector('#hit0')?.textContent ?? '')`)
	p.Press(kb.Enter)
	p.Until(`/Path from v1.core.sched.scheduler\n/i.test(` + mapCard + `)`)

	p.Press(kb.Enter) // the map takes the arrows
	p.Until(onMap)
	was := browser.Eval[string](p, tracer+`.state.opts`)
	p.Press(kb.ArrowRight)
	p.Until(tracer + `.state.opts !== '` + was + `'`)
	require.Equal(t, "schedule", step(p), "the walk stands still")
	p.Press("++f")
	p.Until(`/^m\d/.test(` + tracer + `.state.win) && new URLSearchParams(location.search).get('win') === ` + tracer + `.state.win`)

	card, state := browser.Eval[string](p, mapCard), browser.Eval[string](p, `location.href`)
	p.GoTo(strings.TrimPrefix(state, base))
	p.Until(browser.TracerReady)
	require.Equal(t, card, browser.Eval[string](p, mapCard), "a link brings back module, path and window")
	require.Equal(t, state, browser.Eval[string](p, `location.href`))

	p.Press("0")
	p.Until(tracer + `.state.win === ''`)
	p.Press(kb.ArrowRight) // a move of the walk takes the mark along
	p.Until(`/^\s*S\s*Schedule|^Schedule/.test(` + mapCard + `) && ` + tracer + `.state.step !== 'schedule'`)
	p.Quiet()
}

// A click marks a module; what is in the card leads on; a click on a stop there walks.
func TestModulesByPointer(t *testing.T) {
	base := server()
	p := browser.Open(t, browser.Start(t), base, browser.Desk, "light")
	p.GoTo(vllmMap + "&step=gate")
	p.Until(browser.TracerReady)
	at := browser.Eval[struct{ X, Y float64 }](p, `(() => { const v = `+viewOn+`, m = v.m, b = m.list[m.by.get('vllm.v1.core.sched.scheduler')].box, q = `+tracer+`.shadowRoot.querySelector('.mm-hit').getBoundingClientRect();
		return {X: q.x + (b[0] + b[2] / 2) / m.file.width * q.width, Y: q.y + (b[1] + b[3] / 2) / m.file.height * q.height}; })()`)
	p.Do(chromedp.MouseClickXY(at.X, at.Y))
	p.Until(`/v1\/core\/sched\/scheduler.py/.test(` + mapCard + `)`)
	clickOn(p, `.card .mm-l [data-step=schedule]`)
	settled(p, "schedule")
	clickOn(p, `.card .mm-l [data-mod]`)
	p.Until(`/Module, /.test(` + mapCard + `)`)
	p.Quiet()
}
