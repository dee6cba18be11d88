// Command load holds a server of ours under a load that it must survive, and prints what became of every request: 200
// streams at once, of which 50 are read slowly and 50 hang up, then 10,000 short requests, and 10,000 more. It fails where
// one got no clear answer, where goroutines or connections do not come back, or where the second 10,000 make memory grow.
//
// It does not know about the engine: it starts the program and talks HTTP, on this machine alone.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

func main() {
	streams := flag.Int("streams", 200, "streams at once; a quarter is read slowly, a quarter hangs up")
	short := flag.Int("short", 10_000, "short requests")
	flag.Parse()
	if err := run(*streams, *short); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(streams, short int) error {
	dir, err := os.MkdirTemp("", "load")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "glassbox")
	if out, err := exec.Command("go", "build", "-o", program, "./cmd/glassbox").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w: %s", err, out)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	s, err := start(ctx, program)
	if err != nil {
		return err
	}
	defer s.stop()
	for range 4 { // memory touched for the first time is no growth
		if what := s.one(ctx); what != answered {
			return fmt.Errorf("the first requests: wanted them answered, found one %s", what)
		}
	}
	before, err := s.read()
	if err != nil {
		return err
	}
	fmt.Print("| load | requests | answered | refused (429) | hung up | lost | seconds | goroutines | resident, MB | Go heap in use, MB | next collection at, MB |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	before.print("before")
	var after []reading
	for _, p := range []struct {
		name   string
		tasks  []task
		atOnce int
	}{{"streams at once", s.streams(streams), streams}, {"short requests", s.short(short), 32}, {"as many again", s.short(short), 32}} {
		if err := s.phase(ctx, p.name, p.tasks, p.atOnce); err != nil {
			return err
		}
		r, err := s.settled(before)
		if err != nil {
			return err
		}
		after = append(after, r)
	}
	return flat(after[1], after[2])
}

// flat holds memory to what the first short requests left: the heap's parts that are goal, and what the system counts.
func flat(first, second reading) error {
	const spare = 4e6 // pages that are touched or given back at other moments
	for _, m := range []struct {
		what          string
		before, after float64
	}{{"resident memory", first.memory, second.memory}, {"the size at which the Go heap is collected", first.goal, second.goal}} {
		if m.after > m.before*1.05+spare {
			return fmt.Errorf("%s: %.0f MB after the second short requests, %.0f after the first: wanted no growth", m.what, m.after/1e6, m.before/1e6)
		}
	}
	return nil
}

// server is the program under load.
type server struct {
	url    string
	cmd    *exec.Cmd
	client *http.Client
}

func start(ctx context.Context, program string) (*server, error) {
	s := &server{cmd: exec.CommandContext(ctx, program, "serve", "--addr", "127.0.0.1:0"), client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_, rest, ok := strings.Cut(line, "http://")
	if err != nil || !ok {
		s.stop()
		return nil, fmt.Errorf("the server's first line: wanted its address, found %q: %w", line, err)
	}
	s.url = "http://" + strings.Fields(rest)[0]
	return s, nil
}

func (s *server) stop() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// reading is what the server says of itself: memory is what the system counts as resident, heap what the Go heap's spans in
// use take, garbage included, and goal how large the heap may get until it is collected: a fixed multiple of what was
// found alive the last time.
type reading struct{ goroutines, memory, heap, goal, running, waiting float64 }

func (r reading) print(name string) {
	fmt.Printf("| %s | | | | | | | %.0f | %.0f | %.0f | %.0f |\n", name, r.goroutines, r.memory/1e6, r.heap/1e6, r.goal/1e6)
}

func (s *server) read() (reading, error) {
	var r reading
	resp, err := s.client.Get(s.url + "/metrics")
	if err != nil {
		return r, err
	}
	defer resp.Body.Close()
	found := 0
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		to := map[string]*float64{"go_goroutines": &r.goroutines, "process_resident_memory_bytes": &r.memory, "go_memstats_heap_inuse_bytes": &r.heap, "go_memstats_next_gc_bytes": &r.goal, "glassbox_num_requests_running": &r.running, "glassbox_num_requests_waiting": &r.waiting}[name]
		if to == nil {
			continue
		}
		if *to, err = strconv.ParseFloat(value, 64); err != nil {
			return r, fmt.Errorf("/metrics: %s: %w", name, err)
		}
		found++
	}
	if found != 6 {
		return r, fmt.Errorf("/metrics: wanted goroutines, resident memory, heap and its goal, running and waiting requests, found %d of the 6", found)
	}
	return r, nil
}

// settled waits until no request is left and as many goroutines are there as before, but for those of idle connections.
func (s *server) settled(before reading) (reading, error) {
	const spare = 8
	var r reading
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		s.client.CloseIdleConnections()
		var err error
		if r, err = s.read(); err != nil {
			return r, err
		}
		if r.running+r.waiting == 0 && r.goroutines <= before.goroutines+spare {
			r.print("settled")
			return r, nil
		}
	}
	return r, fmt.Errorf("15 s after the load: %.0f requests run, %.0f wait, %.0f goroutines; wanted none, none and about %.0f", r.running, r.waiting, r.goroutines, before.goroutines)
}

// What can become of a request.
const (
	answered = "answered"
	refused  = "refused"
	hungUp   = "hung up"
	lost     = "lost"
)

// task is one request; it returns what became of it.
type task func(ctx context.Context) string

// phase runs tasks, as many at a time as it is given slots, and prints a row.
func (s *server) phase(ctx context.Context, name string, tasks []task, atOnce int) error {
	var mu sync.Mutex
	counts := map[string]int{}
	var all sync.WaitGroup
	slots := make(chan bool, atOnce)
	from := time.Now()
	for _, t := range tasks {
		slots <- true
		all.Go(func() {
			defer func() { <-slots }()
			what := t(ctx)
			mu.Lock()
			counts[what]++
			done := counts[answered] + counts[refused] + counts[hungUp] + counts[lost]
			mu.Unlock()
			if done%1000 == 0 {
				fmt.Fprintf(os.Stderr, "load: %d of %d\n", done, len(tasks))
			}
		})
	}
	all.Wait()
	fmt.Printf("| %s | %d | %d | %d | %d | %d | %.1f | | | | |\n", name, len(tasks), counts[answered], counts[refused], counts[hungUp], counts[lost], time.Since(from).Seconds())
	if counts[lost] > 0 || counts[answered] == 0 {
		return fmt.Errorf("%s: %d of %d got no clear answer, %d were answered", name, counts[lost], len(tasks), counts[answered])
	}
	return nil
}

// streams are n streams, all at once: of four one is read slowly and one hangs up after its first words.
func (s *server) streams(n int) []task {
	var out []task
	for i := range n {
		out = append(out, func(ctx context.Context) string { return s.stream(ctx, i%4 == 1, i%4 == 2) })
	}
	return out
}

func (s *server) stream(ctx context.Context, slow, hangUp bool) string {
	resp, what := s.ask(ctx, map[string]any{"prompt": "Once upon a time", "max_tokens": 48, "ignore_eos": true, "temperature": 0, "stream": true})
	if resp == nil {
		return what
	}
	defer resp.Body.Close()
	lines, last := bufio.NewScanner(resp.Body), ""
	for lines.Scan() {
		if t := lines.Text(); t != "" {
			last = t
		}
		if hangUp {
			return hungUp
		}
		if slow {
			time.Sleep(20 * time.Millisecond)
		}
	}
	if last != "data: [DONE]" {
		return lost
	}
	return answered
}

// short are n requests of a few tokens.
func (s *server) short(n int) []task { return slices.Repeat([]task{s.one}, n) }

func (s *server) one(ctx context.Context) string {
	resp, what := s.ask(ctx, map[string]any{"prompt": "Hi", "max_tokens": 2, "temperature": 0})
	if resp == nil {
		return what
	}
	defer resp.Body.Close()
	var got struct {
		Usage struct {
			Completion int `json:"completion_tokens"`
		} `json:"usage"`
	}
	if json.NewDecoder(resp.Body).Decode(&got) != nil || got.Usage.Completion < 1 {
		return lost
	}
	return answered
}

// ask sends a request; without a response the text says what became of it.
func (s *server) ask(ctx context.Context, body map[string]any) (*http.Response, string) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, lost
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/v1/completions", bytes.NewReader(raw))
	if err != nil {
		return nil, lost
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, lost
	}
	if resp.StatusCode == http.StatusOK {
		return resp, ""
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if resp.StatusCode == http.StatusTooManyRequests && resp.Header.Get("Retry-After") != "" && bytes.Contains(text, []byte(`"error"`)) {
		return nil, refused
	}
	return nil, lost
}
