package e2e

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"glassbox/web/e2e/browser"
)

// The whole site as files, on a plain file server, below a path of somebody else's host: it is walked, its arrays arrive, its
// film plays, two of its recordings are compared, and nothing is asked for that is not there.
func TestSiteAsFiles(t *testing.T) {
	base := server()
	rec := fetch(t, base, sky)
	dir := filepath.Join(t.TempDir(), "public")
	out, err := exec.Command(browser.Binary(t), "export", "--to", "site", "-o", dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
	var missed []string
	files := http.StripPrefix("/some/where", http.FileServer(http.Dir(dir)))
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || !strings.HasPrefix(r.URL.Path, "/some/where/") {
			missed = append(missed, r.Method+" "+r.URL.Path)
			http.NotFound(w, r)
			return
		}
		files.ServeHTTP(w, r)
	}))
	defer host.Close()
	p := browser.Open(t, browser.Start(t), host.URL, browser.Desk, "light")
	p.GoTo("/some/where/")
	p.Until(browser.HeroReady)
	require.True(t, browser.Eval[bool](p, `document.querySelector('glassbox-hero').shadowRoot.querySelector('form').hidden`), "there is no engine to ask")
	require.NotContains(t, browser.Eval[string](p, `document.querySelector('nav').innerText`), "Live")
	p.Press(kb.ArrowRight)
	p.Press(kb.Enter)
	p.Until(browser.TracerReady)
	require.Contains(t, browser.Eval[string](p, `location.pathname`), "/some/where/trace/"+sky)
	p.Press(kb.Home)
	for _, s := range rec.Walk[1:6] {
		p.Press(kb.ArrowRight)
		require.Equal(t, s.ID, step(p))
	}

	for _, view := range []string{"attention", "lens", "tape"} {
		p.GoTo("/some/where/trace/inside-the-pass/?view=" + view)
		p.Until(`document.querySelector('glassbox-tracer').dataset.ready === '` + view + `' && !document.querySelector('glassbox-tracer').shadowRoot.querySelector('[data-wait]')`)
	}
	p.GoTo("/some/where/trace/" + sky + "/?view=compare&with=one-of-four")
	p.Until(`document.querySelector('glassbox-tracer').shadowRoot.querySelectorAll('.cp-s tr[data-row], tr[data-row]').length > 20`)
	p.GoTo("/some/where/trace/" + sky + "/?view=compare")
	p.Until(`document.querySelector('glassbox-tracer').shadowRoot.querySelector('[data-with="chat-in-vllm"]')`)

	p.GoTo("/some/where/film/?t=0:30")
	p.Until(browser.TracerReady)
	p.Press(" ")
	p.Until(filmTime + ` === '0:32'`)
	p.GoTo("/some/where/walk/")
	p.Until(`document.querySelector('.try')?.innerText.includes('no engine')`)
	p.GoTo("/some/where/docs/keys/")
	p.Until(`document.querySelectorAll('[data-keys] tbody tr').length > 20`)
	require.Empty(t, missed)
	p.Quiet()
}
