package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"glassbox/cmd/internal/bench"
	"glassbox/cmd/internal/bench/client"
	"glassbox/cmd/internal/bench/report"
	"glassbox/web"
)

// benches implements web.Benches with the client of glassbox bench.
type benches struct {
	dir      string
	own      netip.AddrPort // where this server listens
	key      string         // of this server
	anywhere bool
	measure  func(context.Context, bench.Config, func(bench.Progress)) (*bench.Result, error)

	mu     sync.Mutex
	st     web.BenchState
	seen   time.Time // of the last progress
	cancel context.CancelFunc
	done   chan struct{} // closed when the run has ended and is kept
	closed bool
	rows   map[string]benchRow // by path
}

// benchRow is a run of the list, as of a state of its file.
type benchRow struct {
	size    int64
	changed time.Time
	run     web.BenchRun
	bad     string
}

// What a state holds at most.
const (
	benchDots     = 600
	benchSteps    = 32
	benchMessages = 8
	benchModels   = 50
	benchRuns     = 200 // of the list
	benchInFlight = 256 // requests of an open loop that may pile up before its level ends
)

// newBenches keeps runs in dir, "" for a folder of the user's cache. l is where this server listens.
func newBenches(dir string, anywhere bool, l net.Addr, key string) *benches {
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			cache = os.TempDir()
		}
		dir = filepath.Join(cache, "glassbox", "bench")
	}
	b := &benches{dir: dir, anywhere: anywhere, key: key, measure: bench.Run, rows: map[string]benchRow{}}
	if t, ok := l.(*net.TCPAddr); ok {
		b.own = t.AddrPort()
		if a := b.own.Addr().Unmap(); a.IsUnspecified() {
			b.own = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), b.own.Port())
		} else {
			b.own = netip.AddrPortFrom(a, b.own.Port())
		}
	}
	bench.Version = version
	return b
}

// About implements web.Benches.
func (b *benches) About() web.BenchAbout {
	dir := b.dir
	if home, err := os.UserHomeDir(); err == nil && home != "" {
		if rest, ok := strings.CutPrefix(dir, home+string(filepath.Separator)); ok {
			dir = filepath.Join("~", rest)
		}
	}
	about := web.BenchAbout{Own: "http://" + b.own.String(), Dir: dir, Anywhere: b.anywhere}
	for _, p := range bench.Presets {
		about.Presets = append(about.Presets, web.BenchPreset{Name: p.Name, Text: fmt.Sprintf("TTFT %g ms, TPOT %g ms", p.TTFT, p.TPOT)})
	}
	return about
}

// allow is asked about each address that a run dials.
func (b *benches) allow(a netip.AddrPort) error {
	if a.Addr().IsLoopback() || a == b.own {
		return nil
	}
	return fmt.Errorf("%s is not on this machine; start the server with --allow-bench to measure others", a.Addr())
}

// address reads what the form's field held, and refuses at once what allow would refuse later anyway.
func (b *benches) address(text string) (string, error) {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", &web.BenchError{Text: "Address: wanted one such as http://127.0.0.1:8000."}
	case u.User != nil:
		return "", &web.BenchError{Text: "Address: it holds a name or password. Put the key into its own field: it is kept nowhere."}
	}
	if a, err := netip.ParseAddr(u.Hostname()); err == nil && !b.anywhere {
		a = a.Unmap()
		if !a.IsLoopback() && a != b.own.Addr() {
			return "", &web.BenchError{Text: fmt.Sprintf("Address: %s is not on this machine. Start the server with --allow-bench to measure others.", a)}
		}
	}
	return u.Scheme + "://" + u.Host + u.Path, nil
}

// Start implements web.Benches.
func (b *benches) Start(ask web.BenchAsk) error {
	address, err := b.address(ask.URL)
	if err != nil {
		return err
	}
	ask.URL = address
	if ask.Seconds <= 0 || len(ask.Concurrency)+len(ask.Rates)+ask.Sweep == 0 {
		return &web.BenchError{Text: "A run needs a time limit and a load."}
	}
	var slo []bench.SLO
	for _, s := range ask.SLO {
		one, err := bench.ParseSLO(s)
		if err != nil {
			return &web.BenchError{Text: sentence(strings.Replace(err.Error(), "--slo ", "Goodput, ", 1))}
		}
		slo = append(slo, one)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return &web.BenchError{Text: "The server is stopping."}
	case b.st.Running:
		return web.ErrBenchRunning
	}
	if err := os.MkdirAll(b.dir, 0o755); err != nil { // before minutes are spent
		return fmt.Errorf("--bench-dir: %w", err)
	}
	cfg := bench.Config{URL: ask.URL, Model: ask.Model, Concurrency: ask.Concurrency, Rates: ask.Rates, Sweep: ask.Sweep, SLO: slo, InFlight: benchInFlight, PromptTokens: ask.PromptTokens, OutputTokens: ask.OutputTokens,
		Seconds: ask.Seconds, Silence: min(ask.Seconds, 60), NoPrefill: ask.NoPrefill, Key: ask.Key, GPUs: benchGPUs}
	if !b.anywhere {
		cfg.Allow = b.allow
	}
	if cfg.Key == "" && strings.TrimSuffix(strings.TrimSuffix(address, "/"), "/v1") == "http://"+b.own.String() {
		cfg.Key = b.key // whoever sees the page has given it
	}
	ask.Key = ""
	// Finding out who the endpoint is and putting the report together are outside the run's own limit.
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(ask.Seconds*float64(time.Second))+90*time.Second)
	b.cancel, b.done = cancel, make(chan struct{})
	b.st = web.BenchState{Number: b.st.Number + 1, Running: true, Ask: ask, Started: time.Now(), Done: []web.BenchStep{}, Newest: []web.BenchDot{}}
	go b.run(ctx, cfg, b.done)
	return nil
}

// run measures, keeps what was measured, and says how it ended.
func (b *benches) run(ctx context.Context, cfg bench.Config, done chan struct{}) {
	defer close(done)
	r, err := b.measure(ctx, cfg, b.progress)
	kept, stopped := "", ""
	var knee string
	var good []web.BenchGood
	if r != nil {
		stopped, knee, good = r.Stopped, kneeText(r), goodput(r)
		if paths, e := report.Write(b.dir, r); e == nil {
			kept = strings.TrimSuffix(filepath.Base(paths[0]), ".json")
		} else {
			err = errors.Join(err, e)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cancel()
	st := &b.st
	st.Elapsed, st.Left = time.Since(st.Started).Seconds(), 0
	st.Running, st.Flying, st.Kept, st.Stopped, st.Knee, st.Goodput = false, 0, kept, stopped, knee, good
	switch {
	case err == nil:
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		st.Failed = "It was stopped before a request of a level had ended, so there is nothing to keep."
	default:
		st.Failed = sentence(forPage.Replace(err.Error()))
	}
	st.Stopping = false
}

// forPage puts what the client advises on the command line into the words of the page.
var forPage = strings.NewReplacer("bench: ", "", "name the environment variable that holds the key with --key-env", "put its key into the form",
	"give --model", "name one in the form", "--model chooses among", "the form chooses among", "--model ", "the model ")

func sentence(s string) string {
	if s == "" {
		return s
	}
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, "?") {
		s += "."
	}
	return s
}

// progress takes a step of the run into the state.
func (b *benches) progress(p bench.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	st := &b.st
	st.Steps, st.Left, b.seen = max(st.Steps, p.Steps), p.Left.Seconds(), time.Now()
	if e := p.Endpoint; e != nil {
		st.Server, st.Model, st.Models = strings.TrimSpace(e.Kind+" "+e.Version), e.Model, e.Models[:min(len(e.Models), benchModels)]
	}
	if p.Message != "" {
		st.Messages = push(st.Messages, sentence(forPage.Replace(p.Message)), benchMessages)
		return
	}
	if p.Row == nil && len(st.Done) < benchSteps {
		st.Done = append(st.Done, web.BenchStep{Name: p.Phase})
	}
	st.Flying = p.Flying
	if p.Row == nil || len(st.Done) == 0 {
		return
	}
	now := &st.Done[len(st.Done)-1]
	now.Done, now.Total, now.Errors, now.TTFT, now.TPOT, now.Rate = p.Done, p.Total, p.Errors, p.TTFT, p.TPOT, p.Rate
	if p.Row.Outcome == client.Cancelled {
		return // cut off by the end of its level, so neither answered nor failed
	}
	st.Requests++
	dot := web.BenchDot{At: p.Elapsed.Seconds(), Step: len(st.Done) - 1}
	if p.Row.TTFT != nil && p.Row.Error == nil {
		dot.TTFT = *p.Row.TTFT
	}
	st.Newest = push(st.Newest, dot, benchDots)
}

// push appends and forgets the oldest.
func push[T any](list []T, x T, most int) []T {
	if len(list) >= most {
		list = slices.Delete(list, 0, len(list)-most+1)
	}
	return append(list, x)
}

// Stop implements web.Benches.
func (b *benches) Stop() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.st.Running {
		return false
	}
	b.st.Stopping = true
	b.cancel()
	return true
}

// benchWait is how long a server that stops waits for a run's files. A model file on this machine may still be hashed then.
const benchWait = 30 * time.Second

// Close stops the run, waits until what it measured is kept, and lets no other start.
func (b *benches) Close() {
	b.mu.Lock()
	b.closed = true
	done := b.done
	b.mu.Unlock()
	if !b.Stop() {
		return
	}
	select {
	case <-done:
		if kept := b.State().Kept; kept != "" {
			fmt.Fprintf(os.Stderr, "glassbox: the benchmark was stopped; %s\n", filepath.Join(b.dir, kept+".html"))
		}
	case <-time.After(benchWait):
		fmt.Fprintln(os.Stderr, "glassbox: warning: the benchmark did not stop in time; what it measured is lost")
	}
}

// State implements web.Benches.
func (b *benches) State() web.BenchState {
	b.mu.Lock()
	defer b.mu.Unlock()
	st := b.st
	if st.Running {
		st.Elapsed = time.Since(st.Started).Seconds()
		if st.Left > 0 {
			st.Left = max(0, st.Left-time.Since(b.seen).Seconds())
		}
	}
	st.Done, st.Newest, st.Messages = slices.Clone(st.Done), slices.Clone(st.Newest), slices.Clone(st.Messages)
	return st
}

// Gallery implements web.Benches.
func (b *benches) Gallery() http.Handler { return report.Gallery(b.dir) }

// Runs implements web.Benches. A file is read again only when it has changed.
func (b *benches) Runs() (runs []web.BenchRun, bad []string) {
	paths, err := filepath.Glob(filepath.Join(b.dir, "*.json"))
	if err != nil {
		return nil, []string{"the folder's name cannot be searched: " + err.Error()}
	}
	slices.Sort(paths)
	slices.Reverse(paths)
	b.mu.Lock()
	defer b.mu.Unlock()
	fresh := map[string]benchRow{}
	for _, p := range paths[:min(len(paths), benchRuns)] {
		info, err := os.Stat(p)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		row, ok := b.rows[p]
		if !ok || row.size != info.Size() || !row.changed.Equal(info.ModTime()) {
			row = readBenchRow(p)
			row.size, row.changed = info.Size(), info.ModTime()
		}
		fresh[p] = row
		if row.bad != "" {
			bad = append(bad, row.bad)
		} else {
			runs = append(runs, row.run)
		}
	}
	b.rows = fresh
	if n := len(paths) - benchRuns; n > 0 {
		bad = append(bad, fmt.Sprintf("%d older files; glassbox bench serve shows all", n))
	}
	return runs, bad
}

func readBenchRow(path string) benchRow {
	r, err := report.Read(path)
	if err != nil {
		return benchRow{bad: strings.TrimPrefix(err.Error(), "bench: ")}
	}
	h := r.Summary.Headline
	out := web.BenchRun{Name: strings.TrimSuffix(filepath.Base(path), ".json"), Model: r.Server.Model, Server: strings.TrimSpace(r.Server.Kind + " " + r.Server.Version),
		URL: r.Server.URL, Started: r.Started, Stopped: r.Stopped, TTFT: h.TTFT, TPOT: h.TPOT, Decode: h.Decode, Prefill: h.Prefill, Peak: h.Peak}
	var loads []string
	for _, v := range r.Summary.Levels {
		if v.Loop == "open" {
			loads = append(loads, fmt.Sprintf("%g/s", v.Rate))
		} else {
			loads = append(loads, fmt.Sprint(v.Concurrency))
		}
	}
	out.Loads = strings.Join(loads, ", ")
	for _, f := range r.Health {
		if f.Grade == "warn" {
			out.Warnings++
		}
	}
	return benchRow{run: out}
}
