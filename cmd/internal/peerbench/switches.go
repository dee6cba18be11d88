package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"glassbox/cmd/internal/bench/client"
)

// workload is what a setting is measured with: requests of random tokens, so many at a time.
type workload struct {
	atOnce, requests, prompt, output int
	alike                            int     // first tokens that all prompts share
	period                           int     // the prompt repeats after so many tokens; 0: not at all
	temperature                      float64 // 0 = greedy, which soon repeats itself on random tokens
}

func (w workload) text() string {
	s := fmt.Sprintf("%d at once, %d in, %d out", w.atOnce, w.prompt, w.output)
	switch {
	case w.alike > 0:
		return s + fmt.Sprintf(", the first %d tokens alike", w.alike)
	case w.period > 0:
		return s + ", a text that repeats itself"
	case w.temperature > 0:
		return s + ", drawn at random"
	}
	return s
}

// setting is one line of the table.
type setting struct {
	name string
	args []string
	load workload
}

// settings are what the switches can be, each beside its default.
func settings() []setting {
	var out []setting
	add := func(w workload, names ...string) {
		for _, n := range names {
			var args []string
			for _, f := range strings.Fields(n) {
				if strings.HasPrefix(f, "--") {
					args = append(args, f)
				} else {
					args[len(args)-1] += "=" + f
				}
			}
			out = append(out, setting{n, args, w})
		}
	}
	add(workload{atOnce: 8, requests: 24, prompt: 256, output: 64}, "--slots 1", "--slots 4", "--slots 8", "--slots 16")
	add(workload{atOnce: 1, requests: 3, prompt: 2000, output: 16}, "--chunk 64", "--chunk 128", "--chunk 512", "--chunk 2048")
	add(workload{atOnce: 4, requests: 8, prompt: 1000, output: 64}, "--kv-type f32", "--kv-type f16", "--kv-type q8_0", "--kv-type k8v4")
	add(workload{atOnce: 1, requests: 4, prompt: 64, output: 128, period: 16}, "--draft off", "--draft ngram")
	add(workload{atOnce: 1, requests: 4, prompt: 64, output: 128, temperature: 1}, "--draft off", "--draft ngram")
	add(workload{atOnce: 1, requests: 4, prompt: 256, output: 64}, "--shards 1", "--shards 3")
	add(workload{atOnce: 1, requests: 6, prompt: 1000, output: 32, alike: 960}, "--prefix-cache off", "--prefix-cache on")
	return out
}

// traded is what a setting gave; one entry a request, or a round.
type traded struct{ first, each, rate, memory, token sample }

// trades measures every setting, a server of its own for each, all of them once a round.
func (b *bench) trades() {
	all := settings()
	b.traded = make([]traded, len(all))
	for round := range b.ServeRounds {
		for i, s := range all {
			b.say("%s (%s), round %d of %d", s.name, s.load.text(), round+1, b.ServeRounds)
			if err := b.trade(s, &b.traded[i], round); err != nil {
				b.lost(fmt.Errorf("%s: %w", s.name, err))
			}
			if b.ctx.Err() != nil {
				return
			}
		}
	}
}

func (b *bench) trade(s setting, to *traded, round int) error {
	srv, err := start(b.ctx, b.Ours, func(port string) []string {
		return append([]string{"serve", "--model", b.Model, "--addr", "127.0.0.1:" + port, "--threads", strconv.Itoa(b.Threads)}, s.args...)
	})
	if err != nil {
		return err
	}
	defer srv.stop()
	begin := time.Now()
	c, err := client.New(srv.url, "", func() int64 { return int64(time.Since(begin)) + 1 }, time.Minute)
	if err != nil {
		return err
	}
	defer c.Close()
	if row := s.load.ask(b.ctx, c, 1<<20); row.Error != nil { // the server's first request; it also fills the cache with what is alike
		return fmt.Errorf("the first request: %s", *row.Error)
	}
	rows := make([]*client.Row, s.load.requests)
	var clients sync.WaitGroup
	from := time.Now()
	for k := range s.load.atOnce {
		clients.Go(func() {
			for i := k; i < len(rows); i += s.load.atOnce {
				rows[i] = s.load.ask(b.ctx, c, round*len(rows)+i)
			}
		})
	}
	clients.Wait()
	wall, tokens := time.Since(from).Seconds(), 0
	for _, r := range rows {
		if r.Error != nil || r.TTFT == nil || r.TPOT == nil || r.OutputTokens == nil || *r.OutputTokens != s.load.output {
			return fmt.Errorf("wanted %d answers of %d tokens with their times, found one without: %s", len(rows), s.load.output, errorOf(r))
		}
		tokens += *r.OutputTokens
		to.first, to.each = append(to.first, *r.TTFT), append(to.each, *r.TPOT)
	}
	to.rate = append(to.rate, float64(tokens)/wall)
	return srv.memory(b.ctx, to)
}

func errorOf(r *client.Row) string {
	if r.Error == nil {
		return "no error was told"
	}
	return *r.Error
}

// ask sends the n-th request of the load.
func (w workload) ask(ctx context.Context, c *client.Client, n int) *client.Row {
	prompt := make([]int, w.prompt)
	for i := range prompt {
		at, salt := i, n+1
		if w.period > 0 {
			at = i % w.period
		}
		if i < w.alike {
			salt = 0
		}
		prompt[i] = 300 + (at*7919+salt*104729)%40000
	}
	row := &client.Row{AskedPrompt: w.prompt, AskedOutput: w.output}
	body, err := json.Marshal(map[string]any{"prompt": prompt, "max_tokens": w.output, "temperature": w.temperature, "seed": n, "ignore_eos": true,
		"stream": true, "stream_options": map[string]bool{"include_usage": true}})
	if err != nil {
		row.Fail(err.Error())
		return row
	}
	c.Do(ctx, client.Call{Path: "/v1/completions", Body: body}, row)
	return row
}

// memory reads what the server's process holds, and what its cache takes for a token.
func (s *server) memory(ctx context.Context, to *traded) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/metrics", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		name, text, _ := strings.Cut(lines.Text(), " ")
		v, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil:
		case name == "process_resident_memory_bytes":
			to.memory = append(to.memory, v/1e6)
		case name == "glassbox_kv_bytes_per_token":
			to.token = append(to.token, v)
		}
	}
	return nil
}

// tradeTable is what each switch trades, in Markdown.
func (b *bench) tradeTable() string {
	if len(b.traded) == 0 {
		return ""
	}
	var s strings.Builder
	fmt.Fprintf(&s, "\n## What each switch trades\n\n| switch | TTFT, ms | TPOT, ms | output tokens/s | resident, MB | cache, bytes a token |\n|---|--:|--:|--:|--:|--:|\n")
	last := ""
	for i, t := range b.traded {
		c := settings()[i]
		if text := c.load.text(); text != last {
			fmt.Fprintf(&s, "| *%s* | | | | | |\n", text)
			last = text
		}
		fmt.Fprintf(&s, "| `%s` | %s | %s | %s | %s | %s |\n", c.name, figure(t.first.median()), figure(t.each.median()), t.rate.text(), whole(t.memory.median()), whole(t.token.median()))
	}
	fmt.Fprintf(&s, "\nMedians over the requests of %d rounds, a new server for each line and round; tokens/s with the least and the most of the rounds.\nMeasured %s on %s, %d threads, %s.\n",
		b.ServeRounds, time.Now().UTC().Format("2006-01-02 15:04 UTC"), machine(), b.Threads, filepath.Base(b.Model))
	for _, f := range b.failed {
		fmt.Fprintf(&s, "Not measured: %s\n", strings.ReplaceAll(f, "\n", " "))
	}
	return s.String()
}

func whole(x float64) string {
	if math.IsNaN(x) {
		return figure(x)
	}
	return fmt.Sprintf("%.0f", x)
}
