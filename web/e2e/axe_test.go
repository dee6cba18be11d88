package e2e

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"glassbox/web/e2e/browser"
)

// text is true when a page that the server wrote whole has arrived, and is no error page.
const text = `document.readyState === 'complete' && document.querySelector('h1') && !document.querySelector('.fault')`

// axePages are the pages that axe-core looks at, and what is true when each is drawn.
var axePages = []struct{ path, ready string }{
	{"/", browser.HeroReady}, {"/stages", text}, {"/traces", text}, {"/docs/", text}, {"/docs/serving", text}, {"/modules", text}, {"/bench", text},
	{"/walk", text}, {"/film", browser.TracerReady}, {"/stages/compute/glassbox/vllm", text},
	{"/trace/" + sky + "?view=request", browser.TracerReady}, {"/trace/" + sky + "?view=timeline", browser.TracerReady},
	{"/trace/inside-the-pass?view=pass&step=ffn_gate", browser.TracerReady}, {"/trace/inside-the-pass?view=tape&step=ffn_gate", browser.TracerReady},
	{"/trace/inside-the-pass?view=attention", browser.TracerReady}, {"/trace/inside-the-pass?view=lens", browser.TracerReady},
	{"/trace/one-of-four?view=memory", browser.TracerReady}, {"/trace/" + sky + "?view=compare&with=one-of-four", browser.TracerReady},
	{"/modules/vllm", browser.TracerReady}, {"/trace/chat-in-vllm?step=core_step", browser.TracerReady},
}

const axeRun = `axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa'], resultTypes: ['violations']}).then(r => r.violations.flatMap(v => v.nodes.map(n => v.id + ' ' + n.target.flat().join(' >>> ') + ': ' + (n.any[0]?.message ?? v.help))))`

// No page breaks a rule of WCAG 2.1 A or AA that axe-core can tell, in either theme.
func TestAxeFindsNothing(t *testing.T) {
	axe, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	require.NoError(t, err, "axe-core is not here: make deps")
	base, chromium := server(), browser.Start(t)
	for _, theme := range []string{"light", "dark"} {
		p := browser.Open(t, chromium, base, browser.Desk, theme)
		for _, page := range axePages {
			p.GoTo(page.path)
			if page.ready != "" {
				p.Until(page.ready)
			}
			p.Quiet()
			browser.Eval[any](p, string(axe)+";0")
			for _, found := range browser.Await[[]string](p, axeRun) {
				assert.Fail(t, "axe", "%s (%s): %s", page.path, theme, found)
			}
		}
		// A text of little contrast inside the tracer and a picture without words are seen: the check can fail.
		browser.Eval[any](p, `document.querySelector('glassbox-tracer').shadowRoot.querySelector('.card').insertAdjacentHTML('afterbegin', '<p id="faint">faint</p>');
			document.querySelector('glassbox-tracer').shadowRoot.querySelector('#faint').style.setProperty('color', 'rgb(128 128 128 / 10%)'); document.body.append(new Image()); 0`)
		seen := strings.Join(browser.Await[[]string](p, axeRun), "\n")
		require.Contains(t, seen, "color-contrast")
		require.Contains(t, seen, "image-alt")
		p.Close()
	}
}
