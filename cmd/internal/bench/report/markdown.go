package report

import (
	"fmt"
	"io"
	"strings"

	"glassbox/cmd/internal/bench"
	"glassbox/cmd/internal/bench/stats"
)

// Markdown writes tables to paste into an issue: first one in the form of llama-bench (test, t/s ± spread), then the
// latencies of each level.
func Markdown(w io.Writer, r *bench.Result) error {
	var b strings.Builder
	s, srv := &r.Summary, &r.Server
	fmt.Fprintf(&b, "**%s** on %s, measured with glassbox bench %s, %s\n\n", cell(srv.Model), cell(serverName(r)), cell(r.Tool.Version), r.Started)
	b.WriteString("| model | server | test | t/s |\n| --- | --- | ---: | ---: |\n")
	line := func(test, rate string) {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", cell(srv.Model), cell(serverName(r)), test, rate)
	}
	if p := s.Prefill; p != nil {
		for _, pt := range p.Points {
			line(fmt.Sprintf("pp%.0f (TTFT quotient)", pt.Tokens), spread(pt.Naive, pt.TTFT))
		}
		rate := Num(p.TokensPerS)
		if len(p.CI) == 2 {
			rate += fmt.Sprintf(" [%s, %s]", sig3(p.CI[0]), sig3(p.CI[1]))
		}
		line("pp (slope)", rate)
	}
	for _, d := range s.Depths {
		line(fmt.Sprintf("tg @ d%.0f", d.Tokens), spread(d.Rate, d.TPOT))
	}
	for _, v := range s.Levels {
		if v.OK == 0 {
			continue
		}
		line(fmt.Sprintf("tg%s @ pp%s, %s, all streams", Num(v.Output.Mean), Num(v.Prompt.Mean), levelLabel(&v)), Num(v.OutputRate))
	}
	b.WriteString("\n| load | ok/err | req/s | out tok/s | TTFT p50 | p90 | p99 | TPOT p50 | p90 | p99 | E2E p50 |\n| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, v := range s.Levels {
		fmt.Fprintf(&b, "| %s | %d/%d | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", levelLabel(&v), v.OK, v.Errors, Num(v.RequestRate), Num(v.OutputRate),
			pct(v.TTFT, v.TTFT.P50, 50), pct(v.TTFT, v.TTFT.P90, 90), pct(v.TTFT, v.TTFT.P99, 99), pct(v.TPOT, v.TPOT.P50, 50), pct(v.TPOT, v.TPOT.P90, 90), pct(v.TPOT, v.TPOT.P99, 99), pct(v.E2E, v.E2E.P50, 50))
	}
	b.WriteString("\nLatencies in ms. n/m: not measured; n<100: too few requests for this percentile.\n\n")
	for _, f := range r.Health {
		if f.Grade != "ok" {
			fmt.Fprintf(&b, "- %s: %s\n", f.Grade, cell(f.Text))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// spread is a rate ± the relative standard deviation of the times it was made from.
func spread(rate *float64, d stats.Dist) string {
	if rate == nil || d.Std == nil || d.Mean == nil || *d.Mean == 0 {
		return Num(rate)
	}
	return fmt.Sprintf("%s ± %s", Num(rate), sig3(*rate**d.Std / *d.Mean))
}

// pct is a percentile, or why there is none.
func pct(d stats.Dist, x *float64, p float64) string {
	if x == nil && d.N > 0 {
		return fmt.Sprintf("n<%d", stats.MinN(p))
	}
	return Num(x)
}

func levelLabel(v *bench.Level) string {
	if v.Loop == "open" {
		return fmt.Sprintf("%g/s", v.Rate)
	}
	return fmt.Sprintf("c%d", v.Concurrency)
}

func serverName(r *bench.Result) string {
	if r.Server.Kind == "unknown" || r.Server.Kind == "" {
		return strings.TrimSpace("unnamed server " + r.Server.Version)
	}
	return strings.TrimSpace(r.Server.Kind + " " + r.Server.Version)
}

// cell keeps a text inside its table cell, and any markup in it dead.
func cell(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;", "`", "'", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`).Replace(s)
}
