package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"glassbox/web/e2e/browser"
)

// suite holds the server that all tests share: each has a browser of its own, and so its own settings.
var suite = &browser.Program{Name: "e2e"}

var server = sync.OnceValue(func() string { return browser.StartServer(suite) })

func TestMain(m *testing.M) {
	code := m.Run()
	suite.End()
	os.Exit(code)
}

// A prompt is typed, and its request is watched while it runs: what is drawn only grows, and ends as the recording.
func TestTypedPromptIsWatchedLive(t *testing.T) {
	base := server()
	p := browser.Open(t, browser.Start(t), base, browser.Desk, "light")
	p.GoTo("/")
	p.Until(browser.HeroReady)
	box := `document.querySelector('glassbox-hero').shadowRoot.querySelector('input')`
	browser.Eval[any](p, box+`.select()`)
	browser.Eval[any](p, box+`.focus()`)
	const prompt = "Name three rivers of Europe."
	p.Press(prompt)
	p.Press(kb.Enter)
	p.Until(`location.pathname.startsWith('/trace/')`)
	id := strings.TrimPrefix(browser.Eval[string](p, `location.pathname`), "/trace/")

	last := watch(t, p)
	rec := fetch(t, base, id)
	require.Len(t, rec.Spans, last.Spans)
	require.Len(t, rec.Request.Tokens, last.Tokens)
	require.NotEmpty(t, rec.Request.Text)
	p.Quiet()

	// the address opens the same recording again; the list has it, and lets it go
	p.GoTo("/trace/" + id)
	p.Until(browser.TracerReady)
	require.Equal(t, last.Spans, browser.Eval[int](p, `document.querySelector('glassbox-tracer').recording.spans.length`))
	p.GoTo("/traces")
	row := fmt.Sprintf(`document.querySelector('[data-recording="%s"]')`, id)
	require.Contains(t, browser.Eval[string](p, row+`.innerText`), prompt)
	browser.Eval[any](p, row+`.querySelector('form button').click()`)
	p.Until(`document.querySelector('.traces') && !` + row)
	resp, err := http.Get(base + "/api/traces/" + id)
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, http.StatusNotFound, resp.StatusCode)
	p.Quiet()
}

// seen is what the tracer knows of a running request.
type seen struct {
	Spans, Tokens int
	Live          bool
	Old           bool // all spans seen before are still there, and while it runs at their places
}

// watch looks on until the recording is finished, and returns the last look.
func watch(t *testing.T, p *browser.Tab) seen {
	const look = `(() => { const r = document.querySelector('glassbox-tracer')?.recording; if (!r) return {Spans: 0, Tokens: 0, Live: true, Old: true};
		const ids = r.spans.map(s => s.id), before = globalThis.before ?? [], live = r.live, have = new Set(ids);
		const old = before.every((id, i) => live ? ids[i] === id : have.has(id)); globalThis.before = ids;
		return {Spans: ids.length, Tokens: r.output.length, Live: live, Old: old}; })()`
	var last seen
	grew := 0
	for end := time.Now().Add(60 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		now := browser.Eval[seen](p, look)
		require.True(t, now.Old, "spans went away or changed places: %+v after %+v", now, last)
		require.GreaterOrEqual(t, now.Spans, last.Spans)
		require.GreaterOrEqual(t, now.Tokens, last.Tokens)
		if now.Spans > last.Spans {
			grew++
		}
		last = now
		if now.Spans > 0 && !now.Live {
			break
		}
		require.True(t, time.Now().Before(end), "it never ended: %+v", now)
	}
	require.Greater(t, grew, 2, "it was drawn while it ran")
	return last
}

// A link to a running request, opened after it began, shows all of it in the end.
func TestLateWatcher(t *testing.T) {
	base := server()
	body := `{"messages":[{"role":"user","content":"Tell a long story."}],"max_tokens":200,"temperature":0,"stream":true,"glassbox":{"trace":true}}`
	resp, err := http.Post(base+"/v1/chat/completions", "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer resp.Body.Close()
	id := resp.Header.Get("X-Glassbox-Trace-Id")
	require.NotEmpty(t, id)
	p := browser.Open(t, browser.Start(t), base, browser.Laptop, "light")
	p.GoTo("/trace/" + id)
	p.Until(`document.querySelector('glassbox-tracer').recording && !document.querySelector('glassbox-tracer').recording.live`)
	rec := fetch(t, base, id)
	require.Equal(t, len(rec.Spans), browser.Eval[int](p, `document.querySelector('glassbox-tracer').recording.spans.length`))
	p.Quiet()
}

func TestFirstPageStepsOnTheFirstKey(t *testing.T) {
	base := server()
	rec := fetch(t, base, sky)
	p := browser.Open(t, browser.Start(t), base, browser.Desk, "light")
	p.GoTo("/")
	p.Until(browser.HeroReady)
	browser.Eval[any](p, `globalThis.drawn = document.querySelector('glassbox-hero').shadowRoot.querySelector('.h-map svg').innerHTML`)
	p.Press(kb.ArrowRight)
	p.Until(`document.querySelector('glassbox-hero').shadowRoot.querySelector('.h-map svg').innerHTML !== globalThis.drawn`)
	// the map has the focus now, and Enter opens the tracer at the step that is shown: the one after attn_scores
	p.Until(`document.querySelector('glassbox-hero').shadowRoot.activeElement?.className === 'h-map'`)
	p.Press(kb.Enter)
	p.Until(browser.TracerReady)
	for i, s := range rec.Walk {
		if s.ID == "attn_scores" {
			settled(p, rec.Walk[i+1].ID)
		}
	}
	p.GoTo("/")
	p.Until(browser.HeroReady)
	p.Press("?")
	p.Until(`location.pathname === '/docs/keys' && document.querySelectorAll('[data-keys] tbody tr').length > 20`)
	p.Quiet()
}

// Cards lead where they say.
func TestCardsOfTheFirstPage(t *testing.T) {
	base := server()
	p := browser.Open(t, browser.Start(t), base, browser.Desk, "dark")
	p.GoTo("/")
	p.Until(browser.HeroReady)
	hrefs := browser.Eval[[]string](p, `[...document.querySelectorAll('.hc')].map(a => a.getAttribute('href'))`)
	require.GreaterOrEqual(t, len(hrefs), 4)
	for _, href := range hrefs {
		p.GoTo(href)
		if _, after, ok := strings.Cut(href, "?view="); ok {
			p.Until(browser.TracerReady)
			view, _, _ := strings.Cut(after, "&")
			shown := browser.Eval[string](p, `document.querySelector('glassbox-tracer').shadowRoot.querySelector('.views [aria-current]').innerText.toLowerCase()`)
			require.Contains(t, shown, view, "a card of a view that this client cannot draw")
		} else {
			require.NotEmpty(t, browser.Eval[string](p, `document.querySelector('main h1').innerText`))
		}
	}
	p.Quiet()
}

func TestThemeIsKept(t *testing.T) {
	base := server()
	p := browser.Open(t, browser.Start(t), base, browser.Desk, "light")
	const colour = `getComputedStyle(document.body).backgroundColor`
	p.GoTo("/docs/keys")
	light := browser.Eval[string](p, colour)
	p.Press("t")
	dark := browser.Eval[string](p, colour)
	require.NotEqual(t, light, dark)
	for _, path := range []string{"/", "/traces", "/trace/" + sky} {
		p.GoTo(path)
		require.Equal(t, dark, browser.Eval[string](p, colour), path)
	}
	p.Until(browser.TracerReady)
	p.Press("t")
	require.Equal(t, light, browser.Eval[string](p, colour))
	p.GoTo("/")
	require.Equal(t, light, browser.Eval[string](p, colour))
	p.Quiet()
}

func TestKeysInTheDocumentation(t *testing.T) {
	base := server()
	p := browser.Open(t, browser.Start(t), base, browser.Desk, "light")
	p.GoTo("/docs/keys")
	rows := browser.Eval[int](p, `document.querySelectorAll('[data-keys] tbody tr').length`)
	require.Equal(t, browser.Eval[int](p, `glassbox.commandTable().length`), rows)
	require.Greater(t, rows, 30)
	p.Quiet()
}

// Without scripts the walk can still be read, and the pages say how.
func TestWithoutScripts(t *testing.T) {
	base := server()
	rec := fetch(t, base, sky)
	p := browser.Open(t, browser.Start(t), base, browser.Desk, "light")
	browser.Call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	p.GoTo("/trace/" + sky)
	require.Contains(t, browser.Eval[string](p, `document.body.innerText`), "The same walk as text")
	p.GoTo("/")
	require.Contains(t, browser.Eval[string](p, `document.body.innerText`), "the same walk as text")
	p.GoTo("/trace/" + sky + "/print")
	require.Equal(t, len(rec.Walk), browser.Eval[int](p, `document.querySelectorAll('article.step').length`))
	for _, s := range rec.Walk {
		require.Contains(t, browser.Eval[string](p, `document.getElementById('`+s.ID+`').innerText`), s.Title)
	}
}

// The one-file form opens from disk, walks, and asks nobody for anything.
func TestOneFileOpensFromDisk(t *testing.T) {
	base := server()
	rec := fetch(t, base, sky)
	resp, err := http.Get(base + "/api/traces/" + sky + ".html")
	require.NoError(t, err)
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "sky.html")
	require.NoError(t, os.WriteFile(path, page, 0o644))
	p := browser.Open(t, browser.Start(t), base, browser.Desk, "light")
	p.Do(chromedp.Navigate("file://" + path + "#view=request&step=draw"))
	p.Until(browser.TracerReady)
	require.Equal(t, "draw", step(p))
	p.Press(kb.Home)
	for _, s := range rec.Walk[1:9] {
		p.Press(kb.ArrowRight)
		require.Equal(t, s.ID, step(p))
	}
	require.Equal(t, len(rec.Spans), browser.Eval[int](p, `document.querySelector('glassbox-tracer').recording.spans.length`))
	require.Empty(t, p.Said())
	require.Empty(t, p.Hosts())
}

// A page elsewhere may frame /embed/ and nothing else.
func TestEmbedInAnotherPage(t *testing.T) {
	base := server()
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `<!doctype html><title>docs</title><link rel="icon" href="data:,"><iframe width="1000" height="600" src="%s%s"></iframe>`, base, r.URL.Path)
	}))
	defer host.Close()
	p := browser.Open(t, browser.Start(t), host.URL, browser.Desk, "light")
	p.GoTo("/embed/" + sky)
	p.Do(chromedp.MouseClickXY(500, 300))
	p.Until(`document.activeElement.tagName === 'IFRAME'`)
	require.Empty(t, p.Said())
	p.GoTo("/trace/" + sky)
	for end := time.Now().Add(10 * time.Second); len(p.Said()) == 0 && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	require.Contains(t, strings.Join(p.Said(), "\n"), "frame", "the other pages may not be framed")
}
