package main

import (
	"fmt"
	"math"
	"os"
	"text/tabwriter"

	"glassbox/cmd/internal/bench"
	"glassbox/cmd/internal/bench/client"
	"glassbox/cmd/internal/bench/stats"
)

// formula is a number: what it is on the streams that passed, NaN where it is nothing.
type formula struct {
	name    string
	ours    string                      // of a peer's: the number of ours that means the same, or comes nearest
	of      func([]*client.Row) float64 // on the streams
	printed func(*bench.Level) float64  // of ours
}

func mean(of func(*client.Row) *float64) func([]*client.Row) float64 {
	return func(rows []*client.Row) float64 {
		var x []float64
		for _, r := range ok(rows) {
			if v := of(r); v != nil {
				x = append(x, *v)
			}
		}
		if len(x) == 0 {
			return math.NaN()
		}
		return stats.Mean(x)
	}
}

func value(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

// gap is b - a in ms, nil where one of the two moments was not reached; parts divides it.
func gap(a, b int64, parts int) *float64 {
	if a == 0 || b == 0 || parts <= 0 {
		return nil
	}
	x := float64(b-a) / 1e6 / float64(parts)
	return &x
}

func outputs(r *client.Row) int {
	if r.OutputTokens == nil {
		return 0
	}
	return *r.OutputTokens
}

// rate is output tokens over the time from the first request to the end of the last answer by the peer's meaning of end.
func rate(end func(*client.Row) int64) func([]*client.Row) float64 {
	return func(rows []*client.Row) float64 {
		rows = ok(rows)
		n, from, to := 0, int64(math.MaxInt64), int64(0)
		for _, r := range rows {
			n, from, to = n+outputs(r), min(from, r.Times.Sent), max(to, end(r))
		}
		if to <= from {
			return math.NaN()
		}
		return float64(n) / float64(to-from) * 1e9
	}
}

var ourFormulas = []formula{
	{name: "ttft", of: mean(func(r *client.Row) *float64 { return r.TTFT }), printed: func(v *bench.Level) float64 { return value(v.TTFT.Mean) }},
	{name: "tpot", of: mean(func(r *client.Row) *float64 { return r.TPOT }), printed: func(v *bench.Level) float64 { return value(v.TPOT.Mean) }},
	{name: "icl", of: pooledGaps, printed: func(v *bench.Level) float64 { return value(v.ICL.Mean) }},
	{name: "e2e", of: mean(func(r *client.Row) *float64 { return r.E2E }), printed: func(v *bench.Level) float64 { return value(v.E2E.Mean) }},
	{name: "output tok/s", of: rate(func(r *client.Row) int64 { return r.Times.End }), printed: func(v *bench.Level) float64 { return value(v.OutputRate) }},
}

func ourFormula(name string) func([]*client.Row) float64 {
	for _, f := range ourFormulas {
		if f.name == name {
			return f.of
		}
	}
	panic("no formula of ours is called " + name)
}

// pooledGaps is the mean of all gaps between chunks with tokens.
func pooledGaps(rows []*client.Row) float64 {
	var x []float64
	for _, r := range ok(rows) {
		for i := 1; i < len(r.Arrivals); i++ {
			x = append(x, float64(r.Arrivals[i]-r.Arrivals[i-1])/1e6)
		}
	}
	if len(x) == 0 {
		return math.NaN()
	}
	return stats.Mean(x)
}

// lastChoice is the last event with choices: vLLM's end of an answer. It is the one with finish_reason where that one comes
// after the last token.
func lastChoice(r *client.Row) int64 { return max(r.Times.LastToken, r.Times.Finish) }

// vllmFormulas are those of vllm/benchmarks: the first event with choices counts as the first token, also one without text;
// the last with choices ends the answer; tokens are usage's.
var vllmFormulas = []formula{
	{name: "mean_ttft_ms", ours: "ttft", of: mean(func(r *client.Row) *float64 { return gap(r.Times.Sent, r.Times.FirstEvent, 1) })},
	{name: "mean_tpot_ms", ours: "tpot", of: mean(func(r *client.Row) *float64 { return gap(r.Times.FirstEvent, lastChoice(r), outputs(r)-1) })},
	{name: "mean_e2el_ms", ours: "e2e", of: mean(func(r *client.Row) *float64 { return gap(r.Times.Sent, lastChoice(r), 1) })},
	{name: "output_throughput", ours: "output tok/s", of: rate(func(r *client.Row) int64 { return r.Times.End })},
}

// guidellmFormulas are those of guidellm's request statistics: first and last event with text; its TPOT is over all tokens
// from the start, its ITL is our TPOT.
var guidellmFormulas = []formula{
	{name: "time_to_first_token_ms", ours: "ttft", of: mean(func(r *client.Row) *float64 { return gap(r.Times.Sent, r.Times.FirstToken, 1) })},
	{name: "inter_token_latency_ms", ours: "tpot", of: mean(func(r *client.Row) *float64 { return gap(r.Times.FirstToken, r.Times.LastToken, outputs(r)-1) })},
	{name: "time_per_output_token_ms", ours: "tpot", of: mean(func(r *client.Row) *float64 { return gap(r.Times.Sent, r.Times.LastToken, outputs(r)) })},
	{name: "request_latency_ms", ours: "e2e", of: mean(func(r *client.Row) *float64 { return gap(r.Times.Sent, r.Times.End, 1) })},
}

// table sets what a client prints beside what the streams say.
type table struct {
	title  string
	passed []*client.Row
	lines  []line
}

type line struct {
	name, ours                  string
	printed, formula, ourNumber float64
}

func (t *table) add(f formula, printed float64, ours formula) {
	t.lines = append(t.lines, line{f.name, ours.name, printed, f.of(t.passed), ours.of(t.passed)})
}

func percent(a, b float64) string { return fmt.Sprintf("%+.1f %%", 100*(a/b-1)) }

func (t *table) print() {
	tokens, chunks, prompts := 0, 0, 0
	for _, r := range ok(t.passed) {
		tokens, chunks = tokens+outputs(r), chunks+r.Chunks
		if r.PromptTokens != nil {
			prompts += *r.PromptTokens
		}
	}
	n := max(1, len(ok(t.passed)))
	fmt.Printf("\n%s: %d of %d streams ok; means: %.1f prompt tokens, %.1f output tokens, %.1f chunks with text\n", t.title, len(ok(t.passed)), len(t.passed),
		float64(prompts)/float64(n), float64(tokens)/float64(n), float64(chunks)/float64(n))
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "its number\tprinted\tits formula on the stream\tits client\tours on the stream\tours is\tdefinition\tall\t")
	for _, l := range t.lines {
		fmt.Fprintf(w, "%s\t%.3f\t%.3f\t%s\t%.3f\t%s\t%s\t%s\t\n", l.name, l.printed, l.formula, percent(l.printed, l.formula), l.ourNumber, l.ours, percent(l.formula, l.ourNumber), percent(l.printed, l.ourNumber))
	}
	_ = w.Flush()
}
