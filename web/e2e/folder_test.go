package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"glassbox/web/e2e/browser"
)

// A folder that the reader picks gives the code that a recording of another engine does not hold.
func TestCodeFromTheReadersFolder(t *testing.T) {
	base := server()
	rec := fetch(t, base, "chat-in-vllm")
	stop := rec.Walk[5]
	require.NotEmpty(t, stop.Source.Path)
	checkout := filepath.Join(t.TempDir(), "checkout")
	file := filepath.Join(checkout, filepath.FromSlash(stop.Source.Path))
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	name := stop.Source.Symbol[strings.LastIndex(stop.Source.Symbol, ".")+1:]
	text := strings.Repeat("# above <b>\n", stop.Source.Line-1) + "def " + name + "(self):  # mine\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))

	p := browser.Open(t, browser.Start(t), base, browser.Desk, "light")
	p.GoTo("/trace/chat-in-vllm?step=" + stop.ID)
	p.Until(browser.TracerReady)
	const root = `document.querySelector('glassbox-tracer').shadowRoot`
	require.Contains(t, browser.Eval[string](p, root+`.querySelector('.src').textContent`), "not in this recording")
	asked := make(chan cdp.BackendNodeID, 1)
	require.NoError(t, chromedp.Listen(p.Ctx, func(ev any) {
		if e, ok := ev.(*page.EventFileChooserOpened); ok {
			asked <- e.BackendNodeID
		}
	}))
	browser.Call(p, page.Enable, page.EnableParams{})
	browser.Call(p, page.SetInterceptFileChooserDialog, page.SetInterceptFileChooserDialogParams{Enabled: true})
	browser.Eval[any](p, root+`.querySelector('[data-cmd="source.folder"]').focus(); 0`)
	p.Press(kb.Enter)
	browser.Call(p, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: []string{checkout}, BackendNodeID: <-asked})
	p.Until(root + `.querySelector('.src .lit span')?.textContent.includes('# mine')`)
	require.Contains(t, browser.Eval[string](p, root+`.querySelector('.src').textContent`), "from your folder")
	require.EqualValues(t, stop.Source.Line, browser.Eval[float64](p, `Number(`+root+`.querySelector('.src .lit i').textContent)`))
}
