// Command peers holds glassbox bench against other tools' benchmark clients, on a server that is running already.
//
// Each client in turn sends its requests through a proxy of this program, which notes when every piece of every answer
// passed. So there are three numbers for the same requests: what the peer prints; what the peer's own formula gives on the
// stream that passed; and what ours gives on it. The second against the third is a difference of definition; the first
// against the second is time that the peer's client takes. A server that is slower in one run than in the next plays no part.
//
// It does not know about servers beyond what the client asks them, nor about how a run is reported.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"glassbox/cmd/internal/bench"
	"glassbox/cmd/internal/bench/client"
)

// plan is what each client does.
type plan struct {
	url, model, tokenizer string
	vllm, guidellm        string // programs: a Python that has vllm, guidellm's command; "" = not run
	requests, at, prompt  int
	output, rounds        int
	seconds               float64
}

func main() {
	var p plan
	flag.StringVar(&p.url, "url", "http://127.0.0.1:8000", "the server")
	flag.StringVar(&p.vllm, "vllm", "", "a Python with vllm, for its bench serve")
	flag.StringVar(&p.guidellm, "guidellm", "", "guidellm's command")
	flag.StringVar(&p.tokenizer, "tokenizer", "", "folder or name of the model's tokenizer, which the peers need")
	flag.IntVar(&p.requests, "n", 20, "requests of each client")
	flag.IntVar(&p.at, "c", 1, "requests at a time")
	flag.IntVar(&p.prompt, "prompt", 64, "prompt tokens")
	flag.IntVar(&p.output, "output", 32, "output tokens")
	flag.IntVar(&p.rounds, "rounds", 1, "how often the clients take turns")
	flag.Float64Var(&p.seconds, "seconds", 300, "limit of each client's run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := p.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// run lets the clients take turns, and prints a table for each turn.
func (p *plan) run(ctx context.Context) error {
	proxy, err := newProxy(p.url)
	if err != nil {
		return err
	}
	defer proxy.close()
	for round := range p.rounds {
		if err := p.ours(ctx, proxy, round == 0); err != nil {
			return err
		}
		if p.vllm != "" {
			if err := p.peer(ctx, proxy, "vllm bench serve", p.runVLLM, vllmFormulas); err != nil {
				return err
			}
		}
		if p.guidellm != "" {
			if err := p.peer(ctx, proxy, "guidellm", p.runGuidellm, guidellmFormulas); err != nil {
				return err
			}
		}
	}
	return nil
}

// ours runs our client, and holds its times against those of the proxy, which sees the same bytes.
func (p *plan) ours(ctx context.Context, proxy *proxy, say bool) error {
	r, err := bench.Run(ctx, bench.Config{URL: proxy.url, Concurrency: []int{p.at}, PromptTokens: p.prompt, OutputTokens: p.output, Requests: p.requests,
		Seconds: p.seconds, NoPrefill: true, Record: "none"}, nil)
	if err != nil {
		return err
	}
	p.model = r.Server.Model
	if say {
		fmt.Printf("\n%s %s, %s, %s; %d requests of %d + %d tokens, %d at a time\n", r.Server.Kind, r.Server.Version, r.Server.Model, time.Now().UTC().Format("2006-01-02 15:04 MST"), p.requests, p.prompt, p.output, p.at)
		fmt.Printf("client: %s, %d cores, load average %s\n", r.Env.CPU, r.Env.Cores, r.Env.Load)
	}
	v := r.Summary.Levels[0]
	if v.OK < len(r.Rows) {
		fmt.Printf("of %d requests %d failed and %d were cut off: the numbers of the streams below may be of others\n", len(r.Rows), v.Errors, v.Cancelled)
	}
	passed := proxy.last(v.OK)
	t := table{title: "glassbox bench", passed: passed}
	for _, f := range ourFormulas {
		t.add(f, f.printed(&v), f)
	}
	t.print()
	for _, b := range v.Server {
		fmt.Printf("  server's own %s (%s, n %d): %.2f ms, client %.2f ms\n", b.Name, b.Source, b.N, b.Server, value(b.Client))
	}
	return nil
}

// peer runs one of the others.
func (p *plan) peer(ctx context.Context, proxy *proxy, name string, run func(context.Context, string) (map[string]float64, error), formulas []formula) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(p.seconds*float64(time.Second)))
	defer cancel()
	before := proxy.count()
	printed, err := run(ctx, proxy.url)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if n := proxy.count() - before; n < p.requests {
		return fmt.Errorf("%s: %d requests passed, wanted %d", name, n, p.requests)
	}
	passed := proxy.last(p.requests)
	t := table{title: name, passed: passed}
	for _, f := range formulas {
		x, ok := printed[f.name]
		if !ok {
			return fmt.Errorf("%s does not print %q; what it prints: %v", name, f.name, printed)
		}
		t.add(f, x, formula{name: f.ours, of: ourFormula(f.ours)})
	}
	t.print()
	return nil
}

// ok leaves out answers that failed or were cut off.
func ok(rows []*client.Row) (out []*client.Row) {
	for _, r := range rows {
		if r.Outcome == client.OK {
			out = append(out, r)
		}
	}
	return out
}
