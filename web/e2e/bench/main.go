// Command bench measures how fast the pages are, in Chromium, and fails when a bound is missed:
//
//	cd web/e2e && go run ./bench [-json] [-runs N]
//
// It does not know about anything inside the binary: it talks HTTP alone.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/chromedp/kb"

	"glassbox/web/e2e/browser"
)

// row is one measurement: the median and the worst of its values, against a bound on the one it is about.
type row struct {
	What   string  `json:"what"`
	Unit   string  `json:"unit"`
	N      int     `json:"n"`
	Median float64 `json:"median"`
	P95    float64 `json:"p95"`
	Most   float64 `json:"most"`
	Bound  float64 `json:"bound"` // on the 95th percentile
}

func (r row) ok() bool { return r.P95 <= r.Bound }

func rowOf(what, unit string, bound float64, values []float64) row {
	slices.Sort(values)
	n := len(values)
	return row{what, unit, n, values[n/2], values[min(n-1, n*95/100)], values[n-1], bound}
}

func main() {
	asJSON := flag.Bool("json", false, "print JSON")
	runs := flag.Int("runs", 7, "how often each page is opened")
	flag.Parse()
	t := &program{}
	rows := measure(t, max(*runs, 1))
	t.end()
	if *asJSON {
		_ = json.NewEncoder(os.Stdout).Encode(rows) // stdout is all there is to tell
	} else {
		print(rows)
	}
	for _, r := range rows {
		if !r.ok() {
			fmt.Fprintf(os.Stderr, "bench-web: %s: wanted at most %g %s, found %.3g\n", r.What, r.Bound, r.Unit, r.P95)
			os.Exit(1)
		}
	}
}

func print(rows []row) {
	fmt.Printf("%-62s %4s %10s %10s %10s %10s  %s\n", "pages in Chromium, headless, software drawing", "n", "median", "95 %", "most", "bound", "")
	for _, r := range rows {
		verdict := "ok"
		if !r.ok() {
			verdict = "MISSED"
		}
		fmt.Printf("%-62s %4d %10.1f %10.1f %10.1f %10.0f  %s %s\n", r.What, r.N, r.Median, r.P95, r.Most, r.Bound, r.Unit, verdict)
	}
}

const sky = "/trace/why-is-the-sky-blue"

// painted resolves with the time since navigation began when what a script waits for is there and the frame after it is out.
const painted = `new Promise(done => { const look = () => (%s) ? requestAnimationFrame(() => setTimeout(() => done(performance.now()))) : setTimeout(look, 2); look(); })`

func measure(t *program, runs int) []row {
	begun := time.Now()
	base := browser.StartServer(t)
	first := browser.Get(t, base+"/")
	rows := []row{rowOf("process start to the first page's last byte", "ms", 1000, []float64{ms(first.Sub(begun))})}
	chromium := browser.Start(t)
	var home, tracer, bytes []float64
	for range runs {
		p := browser.Open(t, chromium, base, browser.Desk, "light")
		p.EmptyCache()
		p.GoTo("/")
		home = append(home, browser.Await[float64](p, fmt.Sprintf(painted, browser.HeroReady)))
		bytes = append(bytes, scripts(p.Transferred())/1000)
		p.EmptyCache()
		p.GoTo(sky)
		tracer = append(tracer, browser.Await[float64](p, fmt.Sprintf(painted, browser.TracerReady)))
		p.Close()
	}
	rows = append(rows, rowOf("navigation to the drawn recording on the first page", "ms", 1000, home), rowOf("navigation to the tracer over the recording", "ms", 1000, tracer),
		rowOf("all scripts over the wire, gzipped, with headers", "kB", 150, bytes))
	p := browser.Open(t, chromium, base, browser.Desk, "light")
	p.GoTo(sky)
	p.Until(browser.TracerReady)
	rows = append(rows, rowOf("key to pixels, whole walk by Right, view Request", "ms", 50, keys(p, kb.ArrowRight, 61)))
	p.Press("6")
	p.Until(`document.querySelector('glassbox-tracer').state.view === 'timeline'`)
	return append(rows, rowOf("key to pixels, whole walk by Left, view Timeline", "ms", 50, keys(p, kb.ArrowLeft, 61)))
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// scripts sums what came of JavaScript.
func scripts(by map[string]float64) float64 {
	sum := 0.0
	for path, n := range by {
		if strings.HasSuffix(path, ".js") {
			sum += n
		}
	}
	return sum
}

// keys presses a key n times and returns, for each, the ms from the browser's time of the key event to the frame after the
// playhead moved.
func keys(p *browser.Tab, key string, n int) []float64 {
	browser.Eval[any](p, `removeEventListener('keydown', globalThis.onKey, true); globalThis.keyTimes = []; globalThis.onKey = e => { const t = e.timeStamp;
		requestAnimationFrame(() => { const c = new MessageChannel(); c.port1.onmessage = () => keyTimes.push(performance.now() - t); c.port2.postMessage(0); }); };
		addEventListener('keydown', onKey, true); 0`)
	for i := range n {
		p.Press(key)
		p.Until(fmt.Sprintf(`keyTimes.length > %d`, i))
	}
	return browser.Eval[[]float64](p, `keyTimes`)
}

// program stands in for a test: it ends the process at the first failure.
type program struct {
	cleanups []func()
	dirs     []string
}

// Helper does nothing here.
func (p *program) Helper() {}

// Errorf prints the failure.
func (p *program) Errorf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bench-web: "+format+"\n", args...)
}

// FailNow ends the program.
func (p *program) FailNow() {
	p.end()
	os.Exit(1)
}

// Cleanup keeps f for the end.
func (p *program) Cleanup(f func()) { p.cleanups = append(p.cleanups, f) }

// TempDir makes a folder that the end removes.
func (p *program) TempDir() string {
	dir, err := os.MkdirTemp("", "bench-web")
	if err != nil {
		p.Errorf("%v", err)
		p.FailNow()
	}
	p.dirs = append(p.dirs, dir)
	return dir
}

func (p *program) end() {
	for _, f := range slices.Backward(p.cleanups) {
		f()
	}
	for _, dir := range p.dirs {
		_ = os.RemoveAll(dir)
	}
	browser.Forget()
}
