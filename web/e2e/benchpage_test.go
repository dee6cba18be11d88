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

	start(`{concurrency: '1,2', prompt: '16', output: '4', seconds: '8'}`)
	browser.Eval[any](p, `window.same = true`)
	p.Until(`document.querySelectorAll('.steps tbody tr').length > 1 && document.querySelector('.dots .good')?.getAttribute('d')`)
	require.True(t, browser.Eval[bool](p, `window.same && document.querySelector('.ask button').disabled`), "the part that moves is replaced, not the page")
	shoot("live-1440x900-light")
	p.Until(`!document.querySelector('[data-bench-live]') && document.querySelectorAll('.traces tbody tr').length === 1`)
	require.Equal(t, "", browser.Eval[string](p, `document.querySelector('.bench .warn')?.textContent ?? ''`))

	start(`{concurrency: '1', prompt: '16', output: '64', seconds: '300'}`)
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
	p.Quiet()
	files, err := filepath.Glob(filepath.Join(kept, "*.html"))
	require.NoError(t, err)
	require.Len(t, files, 2)
}
