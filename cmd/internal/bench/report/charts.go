package report

import (
	"fmt"
	"html/template"

	"glassbox/cmd/internal/bench"
	"glassbox/cmd/internal/bench/client"
	"glassbox/cmd/internal/bench/stats"
)

// figure is a chart with its table twin.
type figure struct {
	Title, Note string
	SVG         template.HTML
	Legend      []legend
	Head        []string
	Rows        [][]string
	Wide        bool
}

type legend struct {
	Key  template.HTML
	Text string
}

func key(class, text string) legend {
	return legend{template.HTML(`<svg class="key" viewBox="0 0 12 12">` + mark(class, 6, 6, false, "") + `</svg>`), text}
}

// figures draws everything that has data.
func figures(r *bench.Result) []figure {
	var out []figure
	add := func(f figure) {
		if f.SVG != "" {
			out = append(out, f)
		}
	}
	levels := closedLevels(r)
	ttft, tpot := func(v *bench.Level) stats.Dist { return v.TTFT }, func(v *bench.Level) stats.Dist { return v.TPOT }
	add(overLevels("Time to first token", "ms", levels, ttft))
	add(overLevels("Time per output token", "ms", levels, tpot))
	add(overRate("Time to first token, by throughput", r, ttft))
	add(overRate("Time per output token, by throughput", r, tpot))
	add(prefill(r))
	add(depth(r))
	add(throughput(levels))
	add(scatter(r))
	return out
}

func closedLevels(r *bench.Result) []*bench.Level {
	var out []*bench.Level
	for i := range r.Summary.Levels {
		if v := &r.Summary.Levels[i]; v.Loop == "closed" && v.OK > 0 {
			out = append(out, v)
		}
	}
	return out
}

// overLevels draws a latency over concurrency: the median with its whisker to p90, and p99 where it is known.
func overLevels(title, unit string, levels []*bench.Level, of func(*bench.Level) stats.Dist) figure {
	f := figure{Title: title + " by concurrency", Head: []string{"concurrency", "n", "min", "p50", "p90", "p99", "max"}}
	p := plot{Title: f.Title, X: "concurrency", Y: unit}
	med, high, top := series{Class: "s1", Line: true}, series{Class: "s2", Line: true}, series{Class: "s3"}
	for i, v := range levels {
		d, at := of(v), float64(i)
		p.Ticks = append(p.Ticks, tick{at, fmt.Sprint(v.Concurrency)})
		f.Rows = append(f.Rows, []string{fmt.Sprint(v.Concurrency), fmt.Sprint(d.N), Num(d.Min), Num(d.P50), pct(d, d.P90, 90), pct(d, d.P99, 99), Num(d.Max)})
		if d.P50 != nil {
			q := point{X: at, Y: *d.P50, Text: fmt.Sprintf("concurrency %d: median %s ms of %d", v.Concurrency, Num(d.P50), d.N)}
			if len(d.CI) == 2 {
				q.Lo, q.Hi = d.CI[0], d.CI[1]
				q.Text += fmt.Sprintf(", 95 %% interval %s to %s", sig3(d.CI[0]), sig3(d.CI[1]))
			}
			med.Points = append(med.Points, q)
		}
		if d.P90 != nil {
			high.Points = append(high.Points, point{X: at, Y: *d.P90, Text: fmt.Sprintf("concurrency %d: p90 %s ms", v.Concurrency, Num(d.P90))})
		}
		if d.P99 != nil {
			top.Points = append(top.Points, point{X: at, Y: *d.P99, Text: fmt.Sprintf("concurrency %d: p99 %s ms", v.Concurrency, Num(d.P99))})
		}
	}
	p.Series = []series{med, high, top}
	f.SVG, f.Note = p.SVG(), unit
	f.Legend = []legend{key("s1", "median, with its 95 % interval")}
	if len(high.Points) > 0 {
		f.Legend = append(f.Legend, key("s2", "p90"))
	}
	if len(top.Points) > 0 {
		f.Legend = append(f.Legend, key("s3", "p99"))
	}
	return f
}

func throughput(levels []*bench.Level) figure {
	f := figure{Title: "Output tokens per second by concurrency", Wide: true, Note: "tokens/s, all streams together", Head: []string{"concurrency", "tokens/s", "while all workers were busy", "requests/s"}}
	p := plot{Title: f.Title, X: "concurrency", Wide: true}
	all, busy := series{Class: "s1", Line: true}, series{Class: "s2"}
	for i, v := range levels {
		at := float64(i)
		p.Ticks = append(p.Ticks, tick{at, fmt.Sprint(v.Concurrency)})
		f.Rows = append(f.Rows, []string{fmt.Sprint(v.Concurrency), Num(v.OutputRate), Num(v.SteadyRate), Num(v.RequestRate)})
		if v.OutputRate != nil {
			all.Points = append(all.Points, point{X: at, Y: *v.OutputRate, Text: fmt.Sprintf("concurrency %d: %s tokens/s", v.Concurrency, Num(v.OutputRate))})
		}
		if v.SteadyRate != nil {
			busy.Points = append(busy.Points, point{X: at, Y: *v.SteadyRate, Text: fmt.Sprintf("concurrency %d, steady: %s tokens/s", v.Concurrency, Num(v.SteadyRate))})
		}
	}
	p.Series = []series{all, busy}
	f.SVG, f.Legend = p.SVG(), []legend{key("s1", "whole level")}
	if len(busy.Points) > 0 {
		f.Legend = append(f.Legend, key("s2", "while all workers were busy"))
	}
	return f
}

// overRate draws a latency over throughput; each point names its load.
func overRate(title string, r *bench.Result, of func(*bench.Level) stats.Dist) figure {
	f := figure{Title: title, Note: "ms", Head: []string{"load", "tokens/s", "p50", "p90"}}
	p := plot{Title: title, X: "output tokens/s, all streams", Zero: true}
	closed, open := series{Class: "s1", Line: true}, series{Class: "s4"}
	for i := range r.Summary.Levels {
		v := &r.Summary.Levels[i]
		d := of(v)
		if v.OutputRate == nil || d.P50 == nil {
			continue
		}
		f.Rows = append(f.Rows, []string{levelLabel(v), Num(v.OutputRate), Num(d.P50), pct(d, d.P90, 90)})
		q := point{X: *v.OutputRate, Y: *d.P50, Label: levelLabel(v), Text: fmt.Sprintf("%s: %s tokens/s, median %s ms", levelLabel(v), Num(v.OutputRate), Num(d.P50))}
		if v.Loop == "open" {
			open.Points = append(open.Points, q)
		} else {
			closed.Points = append(closed.Points, q)
		}
	}
	p.Series = []series{closed, open}
	f.SVG, f.Legend = p.SVG(), []legend{key("s1", "median, closed loop")}
	if len(open.Points) > 0 {
		f.Legend = append(f.Legend, key("s4", "median, open loop"))
	}
	return f
}

func prefill(r *bench.Result) figure {
	l := r.Summary.Prefill
	if l == nil {
		return figure{}
	}
	f := figure{Title: "Prefill: time to first token by prompt length", Note: "ms, one request at a time", Head: []string{"prompt tokens", "n", "TTFT p50", "min", "max", "quotient tokens/s", "server's own"}}
	dots, fit := series{Class: "s1"}, series{Class: "fit", Line: true}
	end := 0.0
	for _, row := range r.Prefill {
		if row.Outcome == client.OK && row.TTFT != nil && row.PromptTokens != nil {
			x := float64(*row.PromptTokens)
			if row.CachedTokens != nil {
				x -= float64(*row.CachedTokens)
			}
			end = max(end, x)
			dots.Points = append(dots.Points, point{X: x, Y: *row.TTFT, Text: fmt.Sprintf("%.0f tokens: %s ms", x, Num(row.TTFT))})
		}
	}
	for _, pt := range l.Points {
		f.Rows = append(f.Rows, []string{fmt.Sprintf("%.0f", pt.Tokens), fmt.Sprint(pt.TTFT.N), Num(pt.TTFT.P50), Num(pt.TTFT.Min), Num(pt.TTFT.Max), Num(pt.Naive), Num(pt.Server)})
	}
	f.Legend = []legend{key("s1", "a request")}
	if l.TokensPerS != nil {
		fit.Points = []point{{X: 0, Y: max(0, l.InterceptMS)}, {X: end, Y: l.InterceptMS + l.SlopeMS*end}}
		f.Legend = append(f.Legend, legend{`<svg class="key" viewBox="0 0 12 12"><line class="line fit" x1="0" x2="12" y1="6" y2="6"/></svg>`,
			fmt.Sprintf("line through the medians: %s tokens/s and %s ms before the first (R² %.4f)", Num(l.TokensPerS), sig3(l.InterceptMS), l.R2)})
	} else if l.Note != "" {
		f.Note += "; slope " + l.Note
	}
	f.SVG = plot{Title: f.Title, X: "prompt tokens computed", Zero: true, Series: []series{fit, dots}}.SVG()
	return f
}

func depth(r *bench.Result) figure {
	f := figure{Title: "Decode speed behind a context", Note: "ms per output token, one request at a time", Head: []string{"context tokens", "n", "TPOT p50", "min", "max", "tokens/s"}}
	line := series{Class: "s1", Line: true}
	for _, d := range r.Summary.Depths {
		f.Rows = append(f.Rows, []string{fmt.Sprintf("%.0f", d.Tokens), fmt.Sprint(d.TPOT.N), Num(d.TPOT.P50), Num(d.TPOT.Min), Num(d.TPOT.Max), Num(d.Rate)})
		if d.TPOT.P50 != nil {
			line.Points = append(line.Points, point{X: d.Tokens, Y: *d.TPOT.P50, Lo: *d.TPOT.Min, Hi: *d.TPOT.Max, Text: fmt.Sprintf("%.0f tokens of context: %s ms", d.Tokens, Num(d.TPOT.P50))})
		}
	}
	f.SVG = plot{Title: f.Title, X: "context tokens", Zero: true, Series: []series{line}}.SVG()
	f.Legend = []legend{key("s1", "median, smallest to largest")}
	return f
}

const scatterMost = 400 // marks; more make the page large and show no more

// scatter draws each request's latency at the time it was sent.
func scatter(r *bench.Result) figure {
	f := figure{Title: "Every request", Note: "end-to-end latency, ms", Wide: true, Head: nil}
	p := plot{Title: "End-to-end latency of every request", X: "seconds since the run began", Zero: true, Wide: true}
	classes := []string{"s1", "s2", "s3", "s4"}
	bad := series{Class: "bad"}
	every := 1 + len(r.Rows)/scatterMost
	byLevel := map[int]*series{}
	var order []int
	for i, row := range r.Rows {
		if i%every != 0 && row.Error == nil {
			continue
		}
		x := float64(row.Times.Sent) / 1e9
		if row.Error != nil {
			if row.Outcome == client.Failed {
				bad.Points = append(bad.Points, point{X: x, Y: float64(row.Times.End-row.Times.Sent) / 1e6, Text: row.ID + ": " + *row.Error})
			}
			continue
		}
		if row.E2E == nil {
			continue
		}
		if byLevel[row.Level] == nil {
			byLevel[row.Level] = &series{Class: classes[len(order)%len(classes)]}
			order = append(order, row.Level)
		}
		s, name := byLevel[row.Level], ""
		if len(s.Points) == 0 && len(r.Summary.Levels) > len(classes) && row.Level < len(r.Summary.Levels) && row.Level >= 0 {
			name = levelLabel(&r.Summary.Levels[row.Level])
		}
		s.Points = append(s.Points, point{X: x, Y: *row.E2E, Label: name, Text: fmt.Sprintf("%s: e2e %s ms, TTFT %s ms", row.ID, Num(row.E2E), Num(row.TTFT))})
	}
	for _, level := range order {
		s := byLevel[level]
		p.Series = append(p.Series, *s)
		if level >= 0 && level < len(r.Summary.Levels) {
			f.Legend = append(f.Legend, key(s.Class, levelLabel(&r.Summary.Levels[level])))
		}
	}
	if p.Series = append(p.Series, bad); len(bad.Points) > 0 {
		f.Legend = append(f.Legend, key("bad", "failed"))
	}
	if every > 1 {
		f.Note += fmt.Sprintf("; every %d. request is drawn", every)
	}
	f.SVG = p.SVG()
	return f
}
