package e2e

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"glassbox/web/e2e/browser"
)

const (
	tracerOf = `document.querySelector('glassbox-tracer')`
	taskRec  = "inside-the-pass"
)

// stepOf is a script that is true when a page's playhead is on a step and a recording.
func stepOf(recording, step string) string {
	return fmt.Sprintf(`%s.recordingId === %q && %[1]s.state.step === %[3]q`, tracerOf, recording, step)
}

func textOf(p *browser.Tab, selector string) string {
	return browser.Eval[string](p, fmt.Sprintf(`document.querySelector(%q).innerText`, selector))
}

// A teacher and a follower in two browsers: the follower goes along, lets go by walking, comes back with one key, and is
// where it was after a reload; "everyone" brings back who let go.
func TestWorkshopFollowersGoAlong(t *testing.T) {
	base, key := browser.StartWorkshop(t)
	rec := fetch(t, base, sky)
	teacher := browser.Open(t, browser.Start(t), base, browser.Desk, "light")
	follower := browser.Open(t, browser.Start(t), base, browser.Laptop, "dark")
	follower.GoTo("/join")
	follower.Until(browser.TracerReady)
	teacher.GoTo("/teach#" + key)
	teacher.Until(browser.TracerReady)
	teacher.Until(`document.querySelector('[data-people]').textContent === '1 here, all with you'`)
	require.NotContains(t, browser.Eval[string](teacher, `location.href`), key, "the key must not stand in an address that is projected")
	require.NotContains(t, browser.Eval[string](teacher, `document.cookie`), key, "and no script reads it")

	// another recording, another view, another step, a layer
	browser.Eval[any](teacher, fmt.Sprintf(`(() => { const s = document.querySelector('[data-recordings]'); s.value = %q; s.dispatchEvent(new Event('change', {bubbles: true})); })()`, sky))
	teacher.Until(stepOf(sky, rec.Walk[0].ID))
	follower.Until(stepOf(sky, rec.Walk[0].ID))
	for i := 1; i <= 5; i++ {
		teacher.Press(kb.ArrowRight)
		follower.Until(stepOf(sky, rec.Walk[i].ID))
	}
	teacher.Press("6")
	follower.Until(tracerOf + `.state.view === 'timeline'`)
	teacher.Press("1")
	follower.Until(tracerOf + `.state.view === 'request'`)

	// it lets go by walking, and the teacher sees it
	follower.Press(kb.ArrowRight)
	follower.Until(stepOf(sky, rec.Walk[6].ID))
	require.Contains(t, textOf(follower, "[data-along]"), "On your own. Teacher: step 6")
	teacher.Until(`document.querySelector('[data-people]').textContent === '1 here, 0 with you'`)
	teacher.Press(kb.ArrowLeft)
	follower.Until(`document.querySelector('[data-along]').textContent.includes('step 5,')`)
	require.Equal(t, rec.Walk[6].ID, step(follower), "who let go is left alone")

	// a reload keeps the place and that it let go; a cut connection is made again
	follower.GoTo("/join" + browser.Eval[string](follower, `location.search`))
	follower.Until(stepOf(sky, rec.Walk[6].ID))
	follower.Until(`document.querySelector('[data-along]').textContent.startsWith('On your own')`)

	// one key comes back, and lets go again
	follower.Press(kb.Backspace)
	follower.Until(stepOf(sky, rec.Walk[4].ID))
	require.Equal(t, "With the teacher", textOf(follower, "[data-along]"))
	follower.Press(kb.Backspace)
	follower.Until(`document.querySelector('[data-along]').textContent.startsWith('On your own')`)

	// everyone to step 37
	browser.Eval[any](teacher, `document.querySelector('[data-to] input').focus()`)
	teacher.Press("37" + kb.Enter)
	follower.Until(stepOf(sky, rec.Walk[36].ID))
	follower.Until(`document.querySelector('[data-along]').textContent === 'With the teacher'`)
	require.Equal(t, rec.Walk[36].ID, step(teacher))

	teacher.GoTo("/teach" + browser.Eval[string](teacher, `location.search`)) // a reload needs no key
	teacher.Until(browser.TracerReady)
	teacher.Press(kb.ArrowRight)
	follower.Until(stepOf(sky, rec.Walk[37].ID))
	teacher.Quiet()
	follower.Quiet()
}

// What a follower may not do is refused with words, and a prompt that the teacher traces is watched by all.
func TestWorkshopQuietAndLive(t *testing.T) {
	base, key := browser.StartWorkshop(t)
	chromium := browser.Start(t)
	teacher, follower := browser.Open(t, chromium, base, browser.Desk, "dark"), browser.Open(t, browser.Start(t), base, browser.Phone, "light")
	teacher.GoTo("/teach#" + key)
	teacher.Until(`document.querySelector('[data-ask]').hidden === false`)
	follower.GoTo("/join")
	follower.Until(browser.TracerReady)
	require.True(t, browser.Eval[bool](follower, `document.querySelector('[data-ask]').hidden`))
	resp, err := http.Post(base+"/v1/chat/completions", "application/json", strings.NewReader(`{"messages":[{"role":"user","content":"x"}]}`))
	require.NoError(t, err)
	said, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	require.Equal(t, http.StatusForbidden, resp.StatusCode)
	require.Contains(t, string(said), "The workshop is quiet")

	browser.Eval[any](teacher, `document.querySelector('[data-ask] input').focus()`)
	teacher.Press("Name one river." + kb.Enter)
	teacher.Until(tracerOf + `.recording?.name === 'Name one river.'`)
	id := browser.Eval[string](teacher, tracerOf+`.recordingId`)
	follower.Until(tracerOf + `.recordingId === '` + id + `' && !` + tracerOf + `.recording.live`)
	require.Equal(t, "With the teacher", textOf(follower, "[data-along]"))

	browser.Eval[any](teacher, `document.querySelector('[data-do="quiet"]').click()`)
	follower.Until(`document.querySelector('[data-ask]').hidden === false`)
	require.LessOrEqual(t, browser.Eval[int](follower, `document.documentElement.scrollWidth - innerWidth`), 0)
	teacher.Quiet()
	follower.Quiet()
}

func TestWorkshopWrongKeyAndNoWorkshop(t *testing.T) {
	base, _ := browser.StartWorkshop(t)
	chromium := browser.Start(t)
	p := browser.Open(t, chromium, base, browser.Laptop, "light")
	p.GoTo("/teach#" + strings.Repeat("a", 24))
	p.Until(`document.querySelector('[data-people]').textContent.includes('not the key')`)
	p.Until(browser.TracerReady) // it still shows the recording
	q := browser.Open(t, chromium, server(), browser.Laptop, "light")
	q.GoTo("/join")
	require.Contains(t, textOf(q, "main"), "There is no workshop here")
}

// Notes are written beside the step, kept, and there again after a reload.
func TestWorkshopNotes(t *testing.T) {
	base, key := browser.StartWorkshop(t)
	p := browser.Open(t, browser.Start(t), base, browser.Desk, "light")
	p.GoTo("/teach#" + key)
	p.Until(browser.TracerReady)
	p.Until(`document.querySelector('[data-people]').textContent.includes('here')`)
	p.Press("Y")
	p.Until(`document.querySelector('.rm-side textarea') && document.querySelector('[data-kept]').textContent.startsWith('Kept in')`)
	p.Press("Ask who has seen a socket.")
	first := step(p)
	browser.Eval[any](p, tracerOf+`.focus()`)
	p.Press(kb.ArrowRight)
	p.Until(`document.querySelector('.rm-side textarea').value === ''`)
	p.Press(kb.ArrowLeft)
	require.Equal(t, first, step(p))
	p.Until(`document.querySelector('.rm-side textarea').value === 'Ask who has seen a socket.'`)
	p.GoTo("/teach" + browser.Eval[string](p, `location.search`))
	p.Until(browser.TracerReady)
	p.Until(`document.querySelector('[data-people]').textContent.includes('here')`)
	p.Press("Y")
	p.Until(`document.querySelector('.rm-side textarea')`)
	browser.Eval[any](p, tracerOf+`.focus()`)
	p.Press(kb.Home) // the page may have been left before its last step was told
	p.Until(`document.querySelector('.rm-side textarea')?.value === 'Ask who has seen a socket.'`)
	p.Quiet()
}

// answers are those of the exercises, worked out from the recording's file with code that the page does not have.
type answers struct {
	step       string
	layer      int
	head       [2]int
	mb, faster float64
}

// npy reads a little-endian array of 4-byte values.
func npy(t *testing.T, z *zip.Reader, name string) (shape []int, raw []uint32) {
	f, err := z.Open(name + ".npy")
	require.NoError(t, err)
	b, err := io.ReadAll(f)
	require.NoError(t, err)
	head := int(binary.LittleEndian.Uint16(b[8:]))
	_, tuple, _ := strings.Cut(string(b[10:10+head]), "(")
	tuple, _, _ = strings.Cut(tuple, ")")
	for _, part := range strings.Split(strings.Trim(tuple, ", "), ",") {
		var n int
		_, err := fmt.Sscan(strings.TrimSpace(part), &n)
		require.NoError(t, err)
		shape = append(shape, n)
	}
	raw = make([]uint32, (len(b)-10-head)/4)
	require.NoError(t, binary.Read(bytes.NewReader(b[10+head:]), binary.LittleEndian, raw))
	return shape, raw
}

func workOut(t *testing.T, base string) (a answers) {
	resp, err := http.Get(base + "/api/traces/" + taskRec + ".gbx")
	require.NoError(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	var rec struct {
		Request struct {
			Prompt []struct{}              `json:"prompt_tokens"`
			Output []struct{ Text string } `json:"output_tokens"`
		}
		Passes []struct {
			Index int
			Kind  string
		}
		Spans []struct {
			Step, Op string
			Pass     *int
			Dur      int64 `json:"dur_ns"`
			Bytes    int64
		}
	}
	f, err := z.Open("trace.json")
	require.NoError(t, err)
	require.NoError(t, json.NewDecoder(f).Decode(&rec))
	decode := map[int]bool{}
	for _, p := range rec.Passes {
		decode[p.Index] = p.Kind == "decode"
	}
	times, moved, passes, all, ffn := map[string]int64{}, int64(0), map[int]bool{}, int64(0), int64(0)
	for _, s := range rec.Spans {
		if s.Op == "" || s.Pass == nil || !decode[*s.Pass] {
			continue
		}
		times[s.Step] += s.Dur
		moved += s.Bytes
		passes[*s.Pass] = true
		all += s.Dur
		if strings.HasPrefix(s.Step, "ffn") {
			ffn += s.Dur
		}
	}
	for s, ns := range times {
		if a.step == "" || ns > times[a.step] {
			a.step = s
		}
	}
	a.mb, a.faster = float64(moved)/float64(len(passes))/1e6, float64(all)/float64(all-ffn)
	word := -1
	for k, o := range rec.Request.Output {
		if o.Text == " because" {
			word = k
		}
	}
	require.Positive(t, word)
	shape, ids := npy(t, z, "lens_ids")
	at := func(layer int) uint32 { return ids[(layer*shape[1]+len(rec.Request.Prompt)-1+word)*shape[2]] }
	for a.layer = shape[0] - 1; a.layer > 0 && at(a.layer-1) == at(shape[0]-1); a.layer-- {
	}
	shape, weights := npy(t, z, "attention")
	best := 0.0
	for l := range shape[0] {
		for h := range shape[1] {
			sum, n := 0.0, shape[2]
			for q := 1; q < n; q++ {
				sum += float64(math.Float32frombits(weights[((l*shape[1]+h)*n+q)*n+q-1]))
			}
			if sum > best {
				best, a.head = sum, [2]int{l, h}
			}
		}
	}
	require.Greater(t, best/float64(shape[2]-1), 0.5, "there is such a head")
	return a
}

// Each exercise refuses a wrong answer and takes the right one; the teacher sees how many have solved it.
func TestWorkshopExercises(t *testing.T) {
	base, key := browser.StartWorkshop(t)
	want := workOut(t, base)
	t.Logf("the answers: %+v", want)
	teacher, follower := browser.Open(t, browser.Start(t), base, browser.Desk, "light"), browser.Open(t, browser.Start(t), base, browser.Laptop, "light")
	teacher.GoTo("/teach#" + key)
	teacher.Until(`document.querySelector('[data-people]').textContent.includes('here')`)
	follower.GoTo("/join")
	follower.Until(browser.TracerReady)
	teacher.Press("J")
	follower.Until(`document.querySelector('[data-do="panel"]').hidden === false`)
	follower.Press("J")
	follower.Until(`document.querySelectorAll('.rm-task').length === 5`)
	form := func(n int) string { return fmt.Sprintf(`document.querySelectorAll('.rm-task')[%d]`, n) }
	start := func(n int, view string) {
		browser.Eval[any](follower, form(n)+`.querySelector('[data-start]').click()`)
		follower.Until(tracerOf + `.state.view === '` + view + `' && ` + tracerOf + `.getAttribute('data-ready') === '` + view + `'`)
	}
	check := func(n int, ok bool) {
		browser.Eval[any](follower, form(n)+`.querySelector('[data-said]').textContent = ''`)
		browser.Eval[any](follower, form(n)+`.requestSubmit()`)
		follower.Until(form(n) + `.querySelector('[data-said]').textContent !== ''`)
		require.Equal(t, ok, browser.Eval[bool](follower, form(n)+`.classList.contains('done')`), "exercise %d: %s", n+1, browser.Eval[string](follower, form(n)+`.querySelector('[data-said]').textContent`))
	}
	set := func(what string) { browser.Eval[any](follower, tracerOf+`.set({...`+tracerOf+`.state, `+what+`})`) }
	number := func(n int, v float64) {
		browser.Eval[any](follower, fmt.Sprintf(`%s.querySelector('input').value = '%.4g'`, form(n), v))
	}

	start(0, "pass")
	check(0, false)
	set(`step: '` + want.step + `'`)
	check(0, true)
	start(1, "lens")
	set(fmt.Sprintf(`layer: %d`, want.layer-1))
	check(1, false)
	set(fmt.Sprintf(`layer: %d`, want.layer+1))
	check(1, false)
	set(fmt.Sprintf(`layer: %d`, want.layer))
	check(1, true)
	start(2, "attention")
	check(2, false)
	set(fmt.Sprintf(`layer: %d, head: %d`, want.head[0], want.head[1]))
	check(2, true)
	start(3, "tape")
	check(3, false)
	number(3, want.mb*1.2)
	check(3, false)
	number(3, want.mb)
	check(3, true)
	number(4, 0)
	check(4, false)
	number(4, want.faster*0.8)
	check(4, false)
	number(4, want.faster)
	check(4, true)
	teacher.Until(`[...document.querySelectorAll('[data-solved]')].length === 5 && [...document.querySelectorAll('[data-solved]')].every(e => e.textContent === '1 of 1 have solved it')`)

	// what was solved is solved after a reload
	follower.GoTo("/join")
	follower.Until(browser.TracerReady)
	follower.Until(`document.querySelector('[data-do="panel"]').hidden === false`)
	follower.Press("J")
	follower.Until(`document.querySelectorAll('.rm-task.done').length === 5`)
	teacher.Press("J")
	follower.Until(`document.querySelector('.rm-side').hidden`)
	teacher.Quiet()
	follower.Quiet()
}

// line is a way to a server that can be cut.
type line struct {
	l     net.Listener
	to    string
	mu    sync.Mutex
	down  bool
	conns []net.Conn
}

func newLine(t *testing.T, base string) *line {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	w := &line{l: l, to: strings.TrimPrefix(base, "http://")}
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go w.carry(in)
		}
	}()
	return w
}

func (w *line) carry(in net.Conn) {
	defer in.Close()
	out, err := net.Dial("tcp", w.to)
	if err != nil {
		return
	}
	defer out.Close()
	w.mu.Lock()
	down := w.down
	w.conns = append(w.conns, in)
	w.mu.Unlock()
	if down {
		return
	}
	go func() {
		_, _ = io.Copy(out, in)
		out.Close()
	}()
	_, _ = io.Copy(in, out)
}

func (w *line) cut(down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = down
	for _, c := range w.conns {
		c.Close()
	}
	w.conns = nil
}

// The connection is cut under a follower: its page says so, comes back by itself, and goes on following.
func TestWorkshopReconnects(t *testing.T) {
	base, key := browser.StartWorkshop(t)
	wire := newLine(t, base)
	teacher, follower := browser.Open(t, browser.Start(t), base, browser.Desk, "light"), browser.Open(t, browser.Start(t), "http://"+wire.l.Addr().String(), browser.Laptop, "light")
	teacher.GoTo("/teach#" + key)
	teacher.Until(`document.querySelector('[data-people]').textContent.includes('here')`)
	follower.GoTo("/join")
	follower.Until(browser.TracerReady)
	follower.Until(`document.querySelector('[data-along]').textContent === 'With the teacher'`)
	wire.cut(true)
	follower.Until(`document.querySelector('[data-along]').textContent.includes('trying again')`)
	for range 3 {
		teacher.Press(kb.ArrowRight)
	}
	there := step(teacher)
	require.NotEqual(t, there, step(follower))
	wire.cut(false)
	follower.Until(stepOf(taskRec, there))
	follower.Until(`document.querySelector('[data-along]').textContent === 'With the teacher'`)
	teacher.Quiet()
}
