package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// Serving: 16 clients at once, each asking again when it has its answer, against both servers with the same prompts.
const (
	clients                    = 16
	servePrompt, serveOutput   = 160, 64
	wantServe, goalServe       = 3.0, 6.0 // times the peer's output tokens/s
	goalFirst                  = 5.0      // times sooner to the first token
	serverSlots, serverContext = clients, clients * 1024
	serverReady                = 2 * time.Minute
)

// serving is what the clients saw of one server; one entry a round.
type serving struct{ rate, first, each sample }

// server is a running server.
type server struct {
	name, url string
	cmd       *exec.Cmd
	errs      bytes.Buffer
}

// freePort asks the system for a port.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// start runs a server and waits until it lists its models.
func start(ctx context.Context, name string, args func(port string) []string) (*server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s := &server{name: filepath.Base(name), url: "http://127.0.0.1:" + strconv.Itoa(port)}
	s.cmd = exec.Command(name, args(strconv.Itoa(port))...)
	s.cmd.Stderr = &s.errs
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	gone := make(chan error, 1)
	go func() { gone <- s.cmd.Wait() }()
	ctx, cancel := context.WithTimeout(ctx, serverReady)
	defer cancel()
	for {
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/v1/models", nil)
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return s, nil
			}
		}
		select {
		case err := <-gone:
			return nil, fmt.Errorf("%s ended before it answered: %v: %s", s.name, err, lastLine(s.errs.String()))
		case <-ctx.Done():
			_ = s.cmd.Process.Kill()
			return nil, fmt.Errorf("%s: wanted an answer from %s within %v, found none", s.name, s.url, serverReady)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (s *server) stop() { _ = s.cmd.Process.Kill() }

// serve measures both servers in turns, with the client of `glassbox bench`.
func (b *bench) serve(p peer) error {
	threads := strconv.Itoa(b.Threads)
	ours, err := start(b.ctx, b.Ours, func(port string) []string {
		return []string{"serve", "--model", b.Model, "--addr", "127.0.0.1:" + port, "--threads", threads, "--slots", strconv.Itoa(serverSlots)}
	})
	if err != nil {
		b.lost(err)
		return b.ctx.Err()
	}
	defer ours.stop()
	theirs, err := start(b.ctx, p.server, func(port string) []string {
		return append([]string{"-m", b.Model, "--host", "127.0.0.1", "--port", port, "-t", threads, "-np", strconv.Itoa(serverSlots), "-c", strconv.Itoa(serverContext)}, b.peerPlain()...)
	})
	if err != nil {
		return err
	}
	defer theirs.stop()
	for round := range b.ServeRounds {
		b.say("%d requests at once, round %d of %d", clients, round+1, b.ServeRounds)
		turns := []func() error{func() error { return b.load(ours, &b.oursServed, round) }, func() error { return b.load(theirs, &b.theirsServed, round) }}
		if round%2 == 1 {
			turns[0], turns[1] = turns[1], turns[0]
		}
		for _, turn := range turns {
			if err := turn(); err != nil {
				b.lost(err)
				return b.ctx.Err()
			}
		}
	}
	return nil
}

// load has the clients ask one server.
func (b *bench) load(s *server, to *serving, round int) error {
	dir, err := os.MkdirTemp("", "peerbench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// The seed decides the prompts: both servers get the same ones, and each round others, which no cache knows.
	out, err := execute(b.ctx, b.Ours, "bench", s.url, "--concurrency", strconv.Itoa(clients), "--requests", strconv.Itoa(2*clients),
		"--prompt-tokens", strconv.Itoa(servePrompt), "--output-tokens", strconv.Itoa(serveOutput), "--no-prefill", "--record", "none",
		"--seed", strconv.Itoa(1000+round), "--json", "-o", dir)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	rate, first, each, err := parseLoad16(out.stdout)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	to.rate, to.first, to.each = append(to.rate, rate), append(to.first, first), append(to.each, each)
	return nil
}

// parseLoad16 reads output tokens/s and the medians of TTFT and TPOT in ms from what `glassbox bench --json` prints.
func parseLoad16(text string) (rate, first, each float64, err error) {
	type dist struct {
		P50 *float64 `json:"p50"`
	}
	var r struct {
		Summary struct {
			Levels []struct {
				OK     int      `json:"ok"`
				Errors int      `json:"errors"`
				Rate   *float64 `json:"output_tokens_per_s"`
				TTFT   dist     `json:"ttft_ms"`
				TPOT   dist     `json:"tpot_ms"`
			} `json:"levels"`
		} `json:"summary"`
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return 0, 0, 0, fmt.Errorf("glassbox bench: wanted JSON on stdout: %w", err)
	}
	if len(r.Summary.Levels) != 1 {
		return 0, 0, 0, fmt.Errorf("glassbox bench: wanted one level, found %d", len(r.Summary.Levels))
	}
	l := r.Summary.Levels[0]
	if l.Errors > 0 || l.Rate == nil || l.TTFT.P50 == nil || l.TPOT.P50 == nil {
		return 0, 0, 0, fmt.Errorf("glassbox bench: wanted %d answers with their times, found %d and %d errors", 2*clients, l.OK, l.Errors)
	}
	return *l.Rate, *l.TTFT.P50, *l.TPOT.P50, nil
}

// servedRows are the lines of the table.
func (b *bench) servedRows() []row {
	o, t := b.oursServed, b.theirsServed
	return []row{
		{what: fmt.Sprintf("%d at once, %d in, %d out: output tokens/s", clients, servePrompt, serveOutput), ours: o.rate.text(), theirs: t.rate.text(),
			got: share(o.rate.median(), t.rate.median()), unit: "×", least: wantServe, goal: goalServe},
		{what: "the same: time to first token, p50, ms", ours: o.first.text(), theirs: t.first.text(),
			got: share(t.first.median(), o.first.median()), unit: "× sooner", goal: goalFirst, open: true},
		{what: "the same: time per output token, p50, ms", ours: o.each.text(), theirs: t.each.text(), got: share(t.each.median(), o.each.median()), unit: "× sooner", open: true},
	}
}
