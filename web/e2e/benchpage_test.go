package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"glassbox/web/e2e/browser"
)

// A run is started from the page, watched, stopped, listed and compared, as a reader does it. Pictures of it are made on
// the way; what can be told without eyes is tested.
func TestRunIsStartedWatchedAndComparedOnTheBenchPage(t *testing.T) {
	kept := t.TempDir()
	base := browser.StartServer(t, "--bench-dir", kept)
	chromium := browser.Start(t)
	p := browser.Open(t, chromium, base, browser.Desk, "light")
	shots := filepath.Join("..", "..", "out", "screenshots")
	require.NoError(t, os.MkdirAll(shots, 0o755))
	shoot := func(name string) {
		assert.LessOrEqual(t, browser.Eval[int](p, `document.documentElement.scrollWidth - innerWidth`), 0, "%s is wider than its window", name)
		png, err := chromedp.Run(p.Ctx, chromedp.CaptureScreenshot())
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(shots, "bench-"+name+".png"), png, 0o644))
	}
	start := func(fields string) {
		browser.Eval[any](p, `for (const [k, v] of Object.entries(`+fields+`)) document.forms[0].elements[k].value = v;
			document.forms[0].elements.prefill.checked = false; document.forms[0].querySelector('button').click()`)
		p.Until(`document.querySelector('[data-bench-live]')`)
	}
	p.GoTo("/bench")
	require.Equal(t, base, browser.Eval[string](p, `document.forms[0].elements.url.value`), "the server's own address stands there")
	shoot("first-1440x900-light")

	start(`{concurrency: '1,2', prompt: '16', output: '4', seconds: '20'}`)
	browser.Eval[any](p, `window.same = true`)
	p.Until(`document.querySelectorAll('.steps tbody tr').length > 1 && document.querySelector('.dots .good')?.getAttribute('d')`)
	require.True(t, browser.Eval[bool](p, `window.same && document.querySelector('.ask button').disabled`), "the part that moves is replaced, not the page")
	shoot("live-1440x900-light")
	p.Until(`!document.querySelector('[data-bench-live]') && document.querySelectorAll('.traces tbody tr').length === 1`)
	require.Equal(t, "", browser.Eval[string](p, `document.querySelector('.bench .warn')?.textContent ?? ''`))

	start(`{concurrency: '1', prompt: '16', output: '16', seconds: '300'}`)
	p.Until(`Number(document.querySelectorAll('.steps tbody tr')[1]?.cells[1].textContent.split(' ')[0]) > 2`)
	desk := p
	p = browser.Open(t, chromium, base, browser.Phone, "dark")
	p.GoTo("/bench")
	require.True(t, browser.Eval[bool](p, `document.querySelector('.live').getBoundingClientRect().top < document.querySelector('.ask').getBoundingClientRect().top`), "on a phone the run comes first")
	shoot("live-390x844-dark")
	p.Quiet()
	p = desk
	browser.Eval[any](p, `document.forms[1].querySelector('button').click()`)
	p.Until(`document.querySelectorAll('.traces tbody tr').length === 2`)
	require.Contains(t, browser.Eval[string](p, `document.querySelector('.live').textContent`), "What was measured until then is kept")
	for theme, size := range map[string]browser.Window{"light": browser.Desk, "dark": browser.Phone} {
		p.Quiet()
		p = browser.Open(t, chromium, base, size, theme)
		p.GoTo("/bench")
		shoot("ended-" + map[string]string{"light": "1440x900", "dark": "390x844"}[theme] + "-" + theme)
	}
	browser.Eval[any](p, `document.querySelector('.traces').scrollIntoView()`)
	shoot("list-390x844-dark")

	browser.Eval[any](p, `document.querySelector('form[action="/bench/runs/compare"] button').click()`)
	p.Until(`location.pathname === '/bench/runs/compare' && document.title === 'Two runs compared'`)
	browser.Eval[any](p, `document.querySelector('.lede a').click()`)
	p.Until(`location.pathname.startsWith('/bench/runs/run/bench-') && document.getElementById('save')?.hidden === false`)
	require.Equal(t, "null", browser.Eval[string](p, `self.origin`), "a report is an origin of its own")
	browser.Eval[any](p, `document.querySelector('.bar a').click()`)
	p.Until(`location.pathname === '/bench' && document.readyState === 'complete'`)
	files, err := filepath.Glob(filepath.Join(kept, "*.html"))
	require.NoError(t, err)
	require.Len(t, files, 2)

	// Deleting asks first; the way back has the focus, and the keyboard alone gets there.
	browser.Eval[any](p, `document.querySelector('.acts a[href*="delete="]').focus()`)
	p.Press("\r")
	p.Until(`document.activeElement?.textContent === 'Keep it'`)
	shoot("delete-390x844-dark")
	p.Press("\r")
	p.Until(`location.search === '' && !document.getElementById('b-delete') && document.querySelectorAll('.traces tbody tr').length === 2`)
	browser.Eval[any](p, `document.querySelector('.acts a[href*="delete="]').focus()`)
	p.Press("\r")
	p.Until(`document.activeElement?.textContent === 'Keep it'`)
	p.Press("\t")
	p.Press("\r")
	p.Until(`location.hash === '#b-kept' && location.search === '' && document.querySelectorAll('.traces tbody tr').length === 1`)
	files, err = filepath.Glob(filepath.Join(kept, "*"))
	require.NoError(t, err)
	require.Len(t, files, 4, "the other run's")

	// An open loop with a limit of the reader's own: typing how much chooses the load.
	browser.Eval[any](p, `document.forms[0].elements.rates.focus()`)
	p.Press("9")
	require.Equal(t, "open", browser.Eval[string](p, `document.forms[0].elements.load.value`))
	start(`{rates: '4', prompt: '16', output: '4', seconds: '12', slo: 'own', e2e: '60000'}`)
	p.Until(`!document.querySelector('[data-bench-live]') && document.querySelectorAll('.traces tbody tr').length === 2`)
	require.Contains(t, browser.Eval[string](p, `document.querySelector('.live').textContent`), "open loop, 4 requests/s")
	require.Regexp(t, `e2e=60000.*req/s.*100 %.*4 requests/s`, browser.Eval[string](p, `document.querySelectorAll('.steps')[1].tBodies[0].textContent.replace(/\s+/g, ' ')`))
	browser.Eval[any](p, `document.querySelectorAll('.steps')[1].scrollIntoView({block: 'center'})`)
	shoot("goodput-390x844-dark")
	p.Quiet()
}
