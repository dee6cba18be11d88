package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"glassbox/web/e2e/browser"
)

// Pictures of every page in every size and theme, to be looked at, in out/screenshots. What can be told without eyes is
// tested: nothing is wider than the window, and nothing is said on the console.
func TestPicturesOfThePages(t *testing.T) {
	base := server()
	chromium := browser.Start(t)
	dir := filepath.Join("..", "..", "out", "screenshots")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for _, theme := range []string{"light", "dark"} {
		for name, size := range map[string]browser.Window{"1440x900": browser.Desk, "1280x720": browser.Laptop, "390x844": browser.Phone} {
			p := browser.Open(t, chromium, base, size, theme)
			for page, path := range map[string]string{
				"home": "/", "request": "/trace/" + sky + "?view=request&step=attn_scores&pass=6&layer=15",
				"timeline": "/trace/" + sky + "?view=timeline&step=draw&pass=6",
				"traces":   "/traces", "docs": "/docs/architecture", "keys": "/docs/keys", "print": "/trace/" + sky + "/print#attn_scores", "contents": "/docs/",
			} {
				picture(t, p, path, filepath.Join(dir, page+"-"+name+"-"+theme+".png"))
			}
			p.Quiet()
			p = browser.Open(t, chromium, base, size, theme)
			picture(t, p, "/trace/nothing", filepath.Join(dir, "missing-"+name+"-"+theme+".png"))
		}
	}
}

func picture(t *testing.T, p *browser.Tab, path, out string) {
	p.GoTo(path)
	switch {
	case path == "/":
		p.Until(browser.HeroReady)
	case strings.Contains(path, "?view="):
		p.Until(browser.TracerReady)
		time.Sleep(100 * time.Millisecond) // a frame for the canvas
	}
	wide := browser.Eval[int](p, `document.documentElement.scrollWidth - innerWidth`)
	assert.LessOrEqual(t, wide, 0, "%s is wider than its window", out)
	png, err := chromedp.Run(p.Ctx, chromedp.CaptureScreenshot())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(out, png, 0o644))
}
