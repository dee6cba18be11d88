// Command accuracy holds the bench client against a server of known truth, in a process of its own: how far its time
// stamps are from the moments at which the server sent, how far TTFT and TPOT are from the script, and how late the client
// reads when one core holds a thousand streams. `make bench` runs it; it needs an idle machine.
//
//	go run ./cmd/internal/bench/accuracy [-streams 1000] [-rate 50] [-seconds 6]
//	go run ./cmd/internal/bench/accuracy -serve 127.0.0.1:9100    the server alone, for other clients
//
// Exit status: 0 when every bound holds, 1 when one is missed, 2 for wrong usage.
//
// It does not know about the engine.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"glassbox/cmd/internal/bench/client"
	"glassbox/cmd/internal/bench/mock"
)

// The bounds: an error of a time is at most 1 ms or 1 %.
const (
	boundMS    = 1.0
	boundShare = 0.01
)

type options struct {
	serve               string
	base, perToken      time.Duration
	perPrompt           time.Duration
	perChunk, slots     int
	streams, rate       int
	seconds             int
	withoutRunningUsage bool
}

func main() {
	var o options
	flag.StringVar(&o.serve, "serve", "", "only serve the mock on this address")
	flag.DurationVar(&o.base, "base", 50*time.Millisecond, "mock: time to the first token")
	flag.DurationVar(&o.perPrompt, "per-prompt", 0, "mock: more for each prompt token")
	flag.DurationVar(&o.perToken, "per-token", 10*time.Millisecond, "mock: time between tokens")
	flag.IntVar(&o.perChunk, "per-chunk", 1, "mock: tokens in a chunk")
	flag.IntVar(&o.slots, "slots", 0, "mock: requests at a time, 0 = any number")
	flag.BoolVar(&o.withoutRunningUsage, "no-running-usage", false, "mock: no counts in each chunk")
	flag.IntVar(&o.streams, "streams", 1000, "streams at once in the test of overhead")
	flag.IntVar(&o.rate, "rate", 50, "tokens/s of each stream")
	flag.IntVar(&o.seconds, "seconds", 6, "length of the test of overhead")
	flag.Parse()
	if flag.NArg() > 0 || o.streams < 1 || o.rate < 1 || o.seconds < 1 {
		flag.Usage()
		os.Exit(2)
	}
	if o.serve != "" {
		if err := serve(o); err != nil {
			fmt.Fprintln(os.Stderr, "accuracy:", err)
			os.Exit(1)
		}
		return
	}
	missed, err := run(o, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "accuracy:", err)
		os.Exit(1)
	}
	if missed > 0 {
		fmt.Fprintf(os.Stderr, "accuracy: %d bounds missed\n", missed)
		os.Exit(1)
	}
}

// serve runs the mock. It prints its address, and GET /flushes tells when it sent what; it ends with its standard input
// when the address has port 0, as the child of the measurement.
func serve(o options) error {
	s := mock.New(mock.Behaviour{Base: o.base, PerPrompt: o.perPrompt, PerToken: o.perToken, PerChunk: o.perChunk, Slots: o.slots, Template: 7,
		Tokenize: true, Running: !o.withoutRunningUsage})
	m := http.NewServeMux()
	m.Handle("/", s)
	m.HandleFunc("GET /flushes/{id}", func(w http.ResponseWriter, r *http.Request) {
		l, _ := s.Log(r.PathValue("id"))
		var at []int64
		for _, f := range l.Flushes {
			if f.Tokens > 0 {
				at = append(at, f.At.UnixNano())
			}
		}
		_ = json.NewEncoder(w).Encode(flushes{l.Received.UnixNano(), at})
	})
	l, err := net.Listen("tcp", o.serve)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", l.Addr())
	if strings.HasSuffix(o.serve, ":0") {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}()
	}
	return http.Serve(l, m)
}

// flushes are Unix times in nanoseconds.
type flushes struct {
	Received int64
	Sent     []int64
}

// child starts this program as a server and returns its address.
func child(args ...string) (string, func(), error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	c := exec.Command(self, append([]string{"-serve", "127.0.0.1:0"}, args...)...)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := c.Start(); err != nil {
		return "", nil, err
	}
	stop := func() {
		in.Close()
		_ = c.Wait()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, errors.New("the mock server did not start")
	}
	return strings.TrimSpace(line), stop, nil
}

// probe is a client with the wall time at which its clock read 0.
type probe struct {
	c     *client.Client
	epoch int64
}

func newProbe(url string) (*probe, error) {
	start := time.Now()
	c, err := client.New(url, "", func() int64 { return int64(time.Since(start)) + 1 }, time.Minute)
	return &probe{c, start.UnixNano() - 1}, err
}

// ask sends n requests, so many at a time, and returns their rows.
func (p *probe) ask(model string, n, concurrency, tokens int, spread time.Duration) []*client.Row {
	e := &client.Endpoint{Model: model, API: "chat", Options: []string{"continuous_usage_stats"}}
	rows := make([]*client.Row, n)
	slots := make(chan struct{}, concurrency)
	var wg sync.WaitGroup
	for i := range rows {
		slots <- struct{}{}
		wg.Add(1)
		go func() {
			defer wg.Done()
			rows[i] = &client.Row{}
			path, body, err := e.Body("a prompt of some words", tokens)
			if err != nil {
				rows[i].Fail(err.Error())
			} else {
				p.c.Do(context.Background(), client.Call{Path: path, Body: body}, rows[i])
			}
			<-slots
		}()
		time.Sleep(spread)
	}
	wg.Wait()
	return rows
}

// sent fetches when the server sent a row's tokens.
func (p *probe) sent(row *client.Row) (flushes, error) {
	var f flushes
	_, _, err := p.c.JSON(context.Background(), http.MethodGet, "/flushes/"+row.RequestID, nil, &f)
	return f, err
}

func run(o options, w io.Writer) (missed int, err error) {
	fmt.Fprintf(w, "%s/%s, %d cores, %s\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	missed, err = scripts(w)
	if err != nil {
		return missed, err
	}
	more, err := overhead(o, w)
	return missed + more, err
}
