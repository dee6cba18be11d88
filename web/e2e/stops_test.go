package e2e

import (
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"glassbox/web/e2e/browser"
)

const shadow = `document.querySelector('glassbox-tracer').shadowRoot`

// A stop is set by key, the request stands still there, a head is zeroed by keyboard, and the recording says so.
func TestStopAndTouch(t *testing.T) {
	base := browser.StartServer(t) // of its own: all its requests wait meanwhile
	for _, theme := range []string{"light", "dark"} {
		p := browser.Open(t, browser.Start(t), base, browser.Laptop, theme)
		p.GoTo("/trace/" + sky + "?step=attn_mix&layer=17&pass=3")
		p.Until(browser.TracerReady)
		p.Press("b")
		p.Until(shadow + `.querySelector('.outline [aria-label="a stop is set"]') && ` + shadow + `.querySelector('.c-stops').innerText.includes('layer 17')`)
		shot(t, p, "stop-set-"+theme)
		p.GoTo("/")
		p.Until(browser.HeroReady)
		require.Contains(t, browser.Eval[string](p, `document.querySelector('glassbox-hero').shadowRoot.querySelector('.under').innerText`), "It will stand still at mix, layer 17, token 38")
		shot(t, p, "stop-home-"+theme)
		p.GoTo("/trace/" + sky + "?step=attn_mix&layer=17&pass=3")
		p.Until(browser.TracerReady)
		p.Press("B")
		p.Until(shadow + `?.querySelector('.hs-bars')`)
		require.Contains(t, browser.Eval[string](p, shadow+`.querySelector('.card').innerText`), "layer 17")
		p.Press("U") // the whole head
		p.Until(shadow + `.querySelector('.hs-bars').getAttribute('aria-label').includes('values 0 to 63 are chosen')`)
		p.Press("N")
		p.Until(shadow + `.querySelector('.hs-log')?.innerText.includes('are zero')`)
		require.Regexp(t, `^(\S+\n?0\s*)+$`, browser.Eval[string](p, shadow+`.querySelector('.hs-nums').innerText`))
		p.Press("e")
		require.Equal(t, "value", browser.Eval[string](p, shadow+`.activeElement.getAttribute('data-stopin')`))
		p.Press("2.5")
		p.Press(kb.Enter)
		p.Until(shadow + `.querySelector('.hs-nums').innerText.includes('2.500')`)
		shot(t, p, "stop-paused-"+theme)
		p.Press(kb.Escape)
		p.Press("j")
		p.Until(shadow + `.querySelector('.card')?.innerText.includes('wrote attn_out')`)
		p.Until(shadow + `.querySelector('.hs-nums')`)
		p.Press("O")
		p.Until(`!document.querySelector('glassbox-tracer').recording.live`)
		id := strings.TrimPrefix(browser.Eval[string](p, `location.pathname`), "/trace/")
		require.NotEqual(t, sky, id)
		edits := browser.Eval[[]struct {
			Op, How             string
			Layer, Index, Count int
		}](p, `document.querySelector('glassbox-tracer').recording.file.request.edits`)
		require.Len(t, edits, 2)
		require.Equal(t, "attn_mix", edits[0].Op)
		require.Equal(t, []int{17, 0, 64}, []int{edits[0].Layer, edits[0].Index, edits[0].Count})
		p.Until(shadow + `.querySelector('.note').innerText.includes('Touched.')`)
		shot(t, p, "stop-touched-"+theme)
		p.Press("I")
		p.Until(shadow + `.querySelector('.why-t')`)
		require.Contains(t, browser.Eval[string](p, shadow+`.querySelector('.card .lede').innerText`), "stood still at stops")
		shot(t, p, "why-slow-"+theme)
		browser.Eval[any](p, shadow+`.querySelector('.why-l[data-k="y0"]').click()`)
		p.Until(`document.querySelector('glassbox-tracer').state.step === ` + shadow + `.querySelector('.why-l[data-k="y0"]').getAttribute('data-step')`)
		p.Press(kb.Escape)
		p.Until(shadow + `.querySelector('.c-words [data-why="2"]')`)
		browser.Eval[any](p, shadow+`.querySelector('.c-words [data-why="2"]').click()`)
		p.Until(`document.querySelector('glassbox-tracer').state.view === 'lens'`)
		p.Quiet()
	}
}

// shot keeps a picture where GLASSBOX_SHOTS names a folder.
func shot(t *testing.T, p *browser.Tab, name string) {
	if dir := os.Getenv("GLASSBOX_SHOTS"); dir != "" {
		png, err := chromedp.Run(p.Ctx, chromedp.CaptureScreenshot())
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(dir+"/"+name+".png", png, 0o644))
	}
}
