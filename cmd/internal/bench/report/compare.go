package report

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"glassbox/cmd/internal/bench"
	"glassbox/cmd/internal/bench/client"
	"glassbox/cmd/internal/bench/stats"
)

// Comparison is what two runs say about each other.
type Comparison struct {
	A        string   `json:"a"`
	B        string   `json:"b"`
	Lines    []Delta  `json:"lines"`
	Warnings []string `json:"warnings"` // ways in which the runs are not alike
	Verdict  string   `json:"verdict"`
	Method   string   `json:"method"`
}

// Delta compares one number at one load. Milliseconds.
type Delta struct {
	Load    string  `json:"load"`
	Metric  string  `json:"metric"`
	NA      int     `json:"n_a"`
	NB      int     `json:"n_b"`
	A       float64 `json:"median_a_ms"`
	B       float64 `json:"median_b_ms"`
	Shift   float64 `json:"shift_ms"` // Hodges-Lehmann estimate of B - A
	Percent float64 `json:"shift_percent"`
	Noise   float64 `json:"noise_percent"` // largest difference between halves of one run
	P       float64 `json:"p"`             // Mann-Whitney, adjusted by Holm
	Verdict string  `json:"verdict"`
}

// How a comparison decides, for the page.
const compareMethod = "Per load and number: Mann-Whitney rank test over the requests, two-sided, p-values adjusted by Holm for the number of tests. " +
	"A difference is named only when p < 0.05 and it is larger than the noise floor: the largest difference between the medians of the first and the second half of one of the runs, and 1 % at least. " +
	"Requests of one run share its machine and moment: whether a difference survives a restart only more runs can say."

const (
	alpha   = 0.05
	least   = 1.0 // percent
	fewest  = 4   // requests a side: below, no p-value can be small
	noDiff  = "no difference seen"
	tooFew  = "too few requests to tell"
	bSlower = "B is slower"
	bFaster = "B is faster"
	inNoise = "no difference seen: within the drift of one run"
	alike   = "no difference seen at any load"
)

// Compare tests the rows of two runs, load by load.
func Compare(a, b *bench.Result) Comparison {
	c := Comparison{A: Name(a), B: Name(b), Warnings: unlike(a, b), Method: compareMethod, Lines: []Delta{}}
	var p []float64
	for i := range a.Summary.Levels {
		va := &a.Summary.Levels[i]
		for k := range b.Summary.Levels {
			vb := &b.Summary.Levels[k]
			if levelLabel(va) != levelLabel(vb) {
				continue
			}
			for _, m := range []struct {
				name string
				of   func(*client.Row) *float64
			}{{"ttft", func(r *client.Row) *float64 { return r.TTFT }}, {"tpot", func(r *client.Row) *float64 { return r.TPOT }}, {"e2e", func(r *client.Row) *float64 { return r.E2E }}} {
				d, raw := delta(values(a, va, m.of), values(b, vb, m.of))
				d.Load, d.Metric = levelLabel(va), m.name
				c.Lines, p = append(c.Lines, d), append(p, raw)
			}
			break
		}
	}
	decide(c.Lines, p)
	c.Verdict = verdict(c.Lines)
	return c
}

// values are a level's measured values in the order in which the requests were sent.
func values(r *bench.Result, v *bench.Level, of func(*client.Row) *float64) []float64 {
	var out []float64
	for _, row := range r.Rows {
		if x := of(row); row.Level == v.Index && row.Outcome == client.OK && x != nil {
			out = append(out, *x)
		}
	}
	return out
}

func delta(a, b []float64) (Delta, float64) {
	d := Delta{NA: len(a), NB: len(b), P: 1}
	if len(a) == 0 || len(b) == 0 {
		return d, 1
	}
	d.A, d.B, d.Shift = stats.Median(a), stats.Median(b), stats.Shift(a, b)
	if d.A > 0 {
		d.Percent = d.Shift / d.A * 100
	}
	d.Noise = max(least, drift(a), drift(b))
	if len(a) < fewest || len(b) < fewest {
		return d, 1
	}
	return d, stats.MannWhitney(a, b)
}

// drift is the difference between the medians of a run's halves, in percent of the whole.
func drift(v []float64) float64 {
	if len(v) < 2*fewest {
		return 0
	}
	m := stats.Median(v)
	if m <= 0 {
		return 0
	}
	return math.Abs(stats.Median(v[:len(v)/2])-stats.Median(v[len(v)/2:])) / m * 100
}

// decide adjusts the p-values together and names each line's verdict.
func decide(lines []Delta, p []float64) {
	stats.Holm(p)
	for i := range lines {
		d := &lines[i]
		d.P = p[i]
		switch {
		case d.NA < fewest || d.NB < fewest:
			d.Verdict = tooFew
		case d.P >= alpha:
			d.Verdict = noDiff
		case math.Abs(d.Percent) <= d.Noise:
			d.Verdict = inNoise
		case d.Shift > 0:
			d.Verdict = bSlower
		default:
			d.Verdict = bFaster
		}
	}
}

func verdict(lines []Delta) string {
	faster, slower, told := 0, 0, 0
	for _, d := range lines {
		switch d.Verdict {
		case bFaster:
			faster++
		case bSlower:
			slower++
		}
		if d.Verdict != tooFew {
			told++
		}
	}
	switch {
	case len(lines) == 0:
		return "the runs have no load in common, so nothing can be compared"
	case told == 0:
		return "too few requests at every load to tell"
	case faster+slower == 0:
		return alike
	}
	return fmt.Sprintf("B is faster in %d and slower in %d of %d comparisons; in the others no difference was seen", faster, slower, len(lines))
}

// unlike lists what makes a comparison one of apples with oranges.
func unlike(a, b *bench.Result) []string {
	out := []string{}
	for _, x := range []struct{ what, a, b string }{
		{"model", a.Server.Model, b.Server.Model}, {"model file", a.Server.SHA256, b.Server.SHA256}, {"server", serverName(a), serverName(b)},
		{"prompt tokens", fmt.Sprint(a.Config.PromptTokens), fmt.Sprint(b.Config.PromptTokens)},
		{"output tokens", fmt.Sprint(a.Config.OutputTokens), fmt.Sprint(b.Config.OutputTokens)},
		{"API", a.Server.API, b.Server.API}, {"processor", a.Env.CPU, b.Env.CPU}, {"GPUs", gpuNames(a), gpuNames(b)},
		{"server's flags", a.Config.ServerFlags, b.Config.ServerFlags}, {"client on the server's machine", fmt.Sprint(a.Env.SameMachine), fmt.Sprint(b.Env.SameMachine)},
	} {
		if x.a != x.b && !(x.what == "model file" && (x.a == "" || x.b == "")) { // not every run knows its file
			out = append(out, fmt.Sprintf("%s differs: A %q, B %q", x.what, x.a, x.b))
		}
	}
	for i, r := range []*bench.Result{a, b} {
		for _, f := range r.Health {
			if f.Grade == "warn" {
				out = append(out, "AB"[i:i+1]+": "+f.Text)
			}
		}
	}
	return out
}

func gpuNames(r *bench.Result) string {
	s := ""
	for _, g := range r.Env.GPUs {
		s += g.Name + ", driver " + g.Driver + ";"
	}
	return s
}

// Text writes a comparison for a terminal.
func (c Comparison) Text(w io.Writer) error {
	fmt.Fprintf(w, "A  %s\nB  %s\n\n", c.A, c.B)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "load\tnumber\tn A\tn B\tmedian A\tmedian B\tB - A\t%\tnoise %\tp\tverdict\t")
	for _, d := range c.Lines {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\t%s\t%s\t%+.1f\t%.1f\t%.2g\t%s\t\n", d.Load, d.Metric, d.NA, d.NB, sig3(d.A), sig3(d.B), sig3(d.Shift), d.Percent, d.Noise, d.P, d.Verdict)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, s := range c.Warnings {
		fmt.Fprintln(w, "note:", s)
	}
	_, err := fmt.Fprintf(w, "%s\n\n%s\n", c.Verdict, c.Method)
	return err
}
