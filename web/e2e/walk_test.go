package e2e

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"glassbox/web/e2e/browser"
)

const sky = "why-is-the-sky-blue"

// recording is what the tests know of a recording, read over HTTP.
type recording struct {
	Walk []struct {
		ID, Title, Stage string
		Count            int
		Spans            []int
		Sources          []struct{ Path string }
		Source           struct {
			Path, Symbol string
			Line         int
		}
	}
	Spans   []struct{ ID string }
	Passes  []struct{ Index int }
	Request struct {
		Text   string
		Tokens []struct{ Text string } `json:"output_tokens"`
	}
}

func fetch(t testing.TB, base, id string) recording {
	resp, err := http.Get(base + "/api/traces/" + id + ".json")
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	var rec recording
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&rec))
	return rec
}

// place is where the playhead is, as the reader sees it: the address and the step card.
type place struct{ Step, Query, Card string }

const placeScript = `(() => { const t = document.querySelector('glassbox-tracer');
	return {Step: t.state.step, Query: location.search, Card: t.shadowRoot.querySelector('.card').innerText}; })()`

// settled waits until the card shows the playhead's step, and the address has followed.
func settled(p *browser.Tab, step string) place {
	p.Until(`(() => { const t = document.querySelector('glassbox-tracer'); if (!t?.recording) return false;
		const i = t.recording.stepIndex.get(t.state.step), of = t.shadowRoot.querySelector('.c-where .pos');
		return t.state.step === '` + step + `' && of?.textContent.trim().startsWith((i + 1) + ' /') && new URLSearchParams(location.search).get('step') === '` + step + `' })()`)
	return browser.Eval[place](p, placeScript)
}

func step(p *browser.Tab) string {
	return browser.Eval[string](p, `document.querySelector('glassbox-tracer').state.step`)
}

// The whole walk with one key, and each of its places again by a click on the map and by a link: all three are the same.
func TestKeyClickAndLinkLeadToTheSamePlace(t *testing.T) {
	base := server()
	rec := fetch(t, base, sky)
	require.Greater(t, len(rec.Walk), 50)
	chromium := browser.Start(t)
	p := browser.Open(t, chromium, base, browser.Desk, "light")
	p.GoTo("/trace/" + sky)
	p.Until(browser.TracerReady)
	var byKey []place
	for i, s := range rec.Walk {
		if i > 0 {
			p.Press(kb.ArrowRight)
		}
		at := settled(p, s.ID)
		require.Contains(t, at.Card, s.Title)
		byKey = append(byKey, at)
	}
	p.Press(kb.ArrowRight)
	require.Equal(t, rec.Walk[len(rec.Walk)-1].ID, step(p), "the walk ends at its end")
	for i := len(rec.Walk) - 2; i >= 0; i-- {
		p.Press(kb.ArrowLeft)
		require.Equal(t, rec.Walk[i].ID, step(p))
	}
	for i, s := range rec.Walk {
		clickOn(p, `.vbody [data-step="`+s.ID+`"]`)
		require.Equal(t, byKey[i], settled(p, s.ID), "a click on the map")
	}
	for i := 0; i < len(rec.Walk); i += 7 {
		q := browser.Open(t, chromium, base, browser.Desk, "light")
		q.GoTo("/trace/" + sky + byKey[i].Query)
		q.Until(browser.TracerReady)
		require.Equal(t, byKey[i], settled(q, rec.Walk[i].ID), "a link")
		q.Quiet()
	}
	p.Quiet()
}

// clickOn clicks in the middle of an element inside the tracer.
func clickOn(p *browser.Tab, selector string) {
	at := browser.Eval[struct{ X, Y float64 }](p, `(() => { const e = document.querySelector('glassbox-tracer').shadowRoot.querySelector('`+selector+`');
		const text = e.querySelector('text') ?? e, r = text.getBoundingClientRect(); return {X: r.x + r.width / 2, Y: r.y + r.height / 2}; })()`)
	p.Do(chromedp.MouseClickXY(at.X, at.Y))
}

// What a step changes in the list and the strip is changed in place: after a walk they must be what a page opened there draws.
func TestListAfterAWalkIsThatOfAFreshPage(t *testing.T) {
	base := server()
	rec := fetch(t, base, sky)
	chromium := browser.Start(t)
	const drawn = `['.outline', '.s-plot svg'].map(q => document.querySelector('glassbox-tracer').shadowRoot.querySelector(q).innerHTML)`
	p, fresh := browser.Open(t, chromium, base, browser.Desk, "light"), browser.Open(t, chromium, base, browser.Desk, "light")
	p.GoTo("/trace/" + sky)
	p.Until(browser.TracerReady)
	for i, s := range rec.Walk {
		if i > 0 {
			p.Press(kb.ArrowRight)
		}
		settled(p, s.ID)
		if i%9 != 4 {
			continue
		}
		fresh.GoTo("/trace/" + sky + "?step=" + s.ID)
		fresh.Until(browser.TracerReady)
		settled(fresh, s.ID)
		require.Equal(t, browser.Eval[[]string](fresh, drawn), browser.Eval[[]string](p, drawn), s.ID)
	}
}

func TestKeysOfTheWalk(t *testing.T) {
	base := server()
	rec := fetch(t, base, sky)
	p := browser.Open(t, browser.Start(t), base, browser.Laptop, "dark")
	p.GoTo("/trace/" + sky)
	p.Until(browser.TracerReady)
	first := map[string]string{}
	var stages []string
	for _, s := range rec.Walk {
		if first[s.Stage] == "" {
			first[s.Stage] = s.ID
			stages = append(stages, s.Stage)
		}
	}
	last := rec.Walk[len(rec.Walk)-1].ID
	p.Press(kb.End)
	settled(p, last)
	p.Press(kb.Home)
	settled(p, rec.Walk[0].ID)
	for _, s := range stages[1:] {
		p.Press(kb.PageDown)
		settled(p, first[s])
	}
	for i := len(stages) - 2; i >= 0; i-- {
		p.Press(kb.PageUp)
		settled(p, first[stages[i]])
	}

	// tokens: n and p move the pass, and stay at the step
	p.GoTo("/trace/" + sky + "?view=request&step=attn_scores")
	settled(p, "attn_scores")
	pass := func() int { return browser.Eval[int](p, `document.querySelector('glassbox-tracer').state.pass`) }
	p.Press("n")
	p.Press("n")
	require.Equal(t, 2, pass())
	p.Press("p")
	require.Equal(t, 1, pass())
	p.Until(`new URLSearchParams(location.search).get('pass') === '1'`)

	// depth: down to the layers, arrows walk layers, up and Esc lead out
	depth := func() string {
		return browser.Eval[string](p, `document.querySelector('glassbox-tracer').state.depth`)
	}
	p.Press(kb.ArrowDown)
	require.Equal(t, "token", depth())
	p.Press(kb.ArrowDown)
	require.Equal(t, "layer", depth())
	p.Press(kb.ArrowRight)
	require.Equal(t, 1, browser.Eval[int](p, `document.querySelector('glassbox-tracer').state.layer`))
	require.Equal(t, "attn_scores", step(p))
	p.Press(kb.ArrowUp)
	require.Equal(t, "token", depth())
	p.Press(kb.Escape)
	require.Equal(t, "step", depth())

	// Enter: from the model's line to the function that does it
	source := func() int {
		return browser.Eval[int](p, `document.querySelector('glassbox-tracer').state.source`)
	}
	require.Zero(t, source())
	p.Press(kb.Enter)
	require.Equal(t, 1, source())

	// Space plays and stops
	p.Press(kb.Home)
	p.Press(" ")
	p.Until(`document.querySelector('glassbox-tracer').state.step !== '` + rec.Walk[0].ID + `'`)
	p.Press(" ")
	there := step(p)
	p.Do(chromedp.Sleep(1500e6))
	require.Equal(t, there, step(p), "it stopped")

	// views
	p.Press("6")
	p.Until(`new URLSearchParams(location.search).get('view') === 'timeline' && document.querySelector('glassbox-tracer').shadowRoot.querySelector('.vbody canvas')`)
	p.Press("1")
	p.Until(`new URLSearchParams(location.search).get('view') === 'request'`)
	p.Quiet()
}

func TestHelpSheetAndPalette(t *testing.T) {
	base := server()
	p := browser.Open(t, browser.Start(t), base, browser.Desk, "light")
	p.GoTo("/trace/" + sky)
	p.Until(browser.TracerReady)
	dialog := `document.querySelector('glassbox-tracer').shadowRoot.querySelector('dialog')`
	p.Press("?")
	p.Until(dialog + `.open`)
	text := browser.Eval[string](p, dialog+`.innerText`)
	for _, word := range []string{"Next step", "Next stage", "Next token", "Play or pause", "Esc", "PgDn"} {
		require.Contains(t, text, word)
	}
	before := step(p)
	p.Press(kb.ArrowRight)
	require.Equal(t, before, step(p), "the sheet keeps the keys")
	p.Press(kb.Escape)
	p.Until(`!` + dialog + `.open`)
	p.Press(kb.ArrowRight)
	require.NotEqual(t, before, step(p), "and gives them back")
	p.Press("/")
	p.Until(dialog + `.open`)
	p.Press("Softmax")
	p.Until(dialog + `.querySelector('[aria-selected="true"]')?.innerText.includes('Softmax')`)
	p.Press(kb.Enter)
	settled(p, "attn_softmax")
	p.Quiet()
}

func TestBackAndForward(t *testing.T) {
	base := server()
	rec := fetch(t, base, sky)
	p := browser.Open(t, browser.Start(t), base, browser.Desk, "light")
	p.GoTo("/trace/" + sky)
	settled(p, rec.Walk[0].ID)
	for i := 1; i <= 3; i++ {
		p.Do(chromedp.Sleep(250e6)) // a held key is one entry; three presses are three
		p.Press(kb.ArrowRight)
		settled(p, rec.Walk[i].ID)
	}
	for i := 2; i >= 0; i-- {
		browser.Eval[any](p, `history.back()`)
		settled(p, rec.Walk[i].ID)
	}
	browser.Eval[any](p, `history.forward()`)
	settled(p, rec.Walk[1].ID)
	p.Quiet()
}
