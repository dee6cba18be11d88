package web

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"glassbox/web/pages"
	"glassbox/web/view"
)

// benchData is what the page shows of a state.
func benchData(about BenchAbout, st *BenchState) pages.BenchData {
	d := pages.BenchData{On: true, Own: about.Own, Dir: about.Dir, Anywhere: about.Anywhere, Form: benchForm(about, st), Models: st.Models,
		Run: st.Number, Running: st.Running, Stopping: st.Stopping, Messages: st.Messages, Kept: st.Kept, Failed: st.Failed, Knee: st.Knee}
	for _, g := range st.Goodput {
		d.Goodput = append(d.Goodput, benchGood(&g))
	}
	for _, p := range about.Presets {
		d.Presets = append(d.Presets, pages.BenchPreset(p))
	}
	if st.Number == 0 {
		return d
	}
	d.What = st.Ask.URL
	if st.Model != "" {
		d.What = st.Model + " at " + st.Ask.URL
	}
	if st.Server != "" {
		d.What += ", " + st.Server
	}
	d.When = view.When(st.Started.UTC().Format("2006-01-02T15:04:05Z"))
	d.Share = 100
	if st.Running {
		d.Now, d.Share = benchNow(st), int(100*benchShare(st))
	} else if st.Stopped != "" {
		d.Stopped = "It ended early: " + st.Stopped + ". What was measured until then is kept."
	}
	d.Clock = seconds(st.Elapsed) + " of at most " + seconds(st.Ask.Seconds)
	if st.Running && st.Left > 0 {
		d.Clock += ", about " + seconds(st.Left) + " left"
	}
	d.Count = view.Plural(st.Requests, "request")
	if st.Running {
		d.Count += " done"
	}
	for i, s := range st.Done {
		d.Steps = append(d.Steps, benchStep(s, st.Running && i == len(st.Done)-1))
	}
	d.Plot = benchPlot(st)
	return d
}

// benchNow is the line that is read aloud when it changes.
func benchNow(st *BenchState) string {
	switch n := len(st.Done); {
	case st.Stopping:
		return "Stopping: what was measured is being kept."
	case n == 0:
		return "Asking the endpoint who it is."
	default:
		return fmt.Sprintf("Step %d of %d: %s.", n, max(n, st.Steps), st.Done[n-1].Name)
	}
}

// benchShare is how much of the plan is done, 0 to 1: whole steps, and the part of the one under way.
func benchShare(st *BenchState) float64 {
	n := len(st.Done)
	if n == 0 || st.Steps == 0 {
		return 0
	}
	done := float64(n - 1)
	if s := st.Done[n-1]; s.Total > 0 {
		done += min(1, float64(s.Done)/float64(s.Total))
	}
	return min(1, done/float64(max(n, st.Steps)))
}

func benchStep(s BenchStep, now bool) pages.BenchStep {
	out := pages.BenchStep{Name: s.Name, Now: now, Count: "-", Errors: "-", TTFT: view.NotMeasured, TPOT: view.NotMeasured, Rate: view.NotMeasured}
	if s.Done > 0 {
		out.Count, out.Errors = fmt.Sprintf("%d of %d", s.Done, max(s.Done, s.Total)), strconv.Itoa(s.Errors)
		how := fmt.Sprintf("median of %s so far", view.Plural(s.Done, "request"))
		out.TTFT, out.TPOT = benchNumber(s.TTFT, "ms", "measured", how), benchNumber(s.TPOT, "ms", "derived", how)
		out.Rate = benchNumber(s.Rate, "tok/s", "derived", "output tokens over time")
	}
	return out
}

// benchNumber is a number that is not measured when it is 0.
func benchNumber(x float64, unit, prov, how string) view.Number {
	if x <= 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return view.NotMeasured
	}
	return view.Number{Value: view.Sig3(x), Unit: unit, Exact: strconv.FormatFloat(x, 'g', 7, 64) + " " + unit, Prov: prov, How: how}
}

// benchGood is a line of the table of goodput. A rate of 0 is a result here: no request met the limits.
func benchGood(g *BenchGood) pages.BenchGood {
	out := pages.BenchGood{Limits: g.Limits, With: g.With, Rate: view.NotMeasured, Share: "-"}
	if g.Rate != nil {
		out.Rate = view.Number{Value: view.Sig3(*g.Rate), Unit: "req/s", Exact: strconv.FormatFloat(*g.Rate, 'g', 7, 64) + " req/s", Prov: "derived", How: "requests that met every limit / wall time"}
		out.Share = fmt.Sprintf("%.0f %%", 100*g.Share)
	}
	return out
}

func seconds(s float64) string {
	if s >= 60 {
		return fmt.Sprintf("%d min %02d s", int(s)/60, int(s)%60)
	}
	return fmt.Sprintf("%d s", int(s))
}

// The plot is drawn in these units and stretched to its box; strokes keep their width.
const (
	plotWide = 1000.0
	plotHigh = 100.0
)

// benchPlot draws each request at the moment it ended: a dot as high as its time to first token, a stroke for a failure.
func benchPlot(st *BenchState) pages.BenchPlot {
	p := pages.BenchPlot{Dots: len(st.Newest)}
	if len(st.Newest) == 0 {
		return p
	}
	from, to, top := st.Newest[0].At, st.Newest[0].At, 0.0
	for _, d := range st.Newest {
		from, to, top = min(from, d.At), max(to, d.At), max(top, d.TTFT)
	}
	if len(st.Newest) == st.Requests {
		from = 0
	}
	top = niceAbove(top)
	p.From, p.To, p.Top = seconds(from), fmt.Sprintf("%.1f s", to), view.Sig3(top)+" ms"
	x := func(at float64) float64 { return 4 + (plotWide-8)*(at-from)/max(to-from, 1e-9) }
	var good, bad, edges strings.Builder
	step := st.Newest[0].Step
	last := from
	for _, d := range st.Newest {
		if d.Step != step {
			fmt.Fprintf(&edges, "M%.1f 0V%g", x((last+d.At)/2), plotHigh)
			step = d.Step
		}
		last = d.At
		if d.TTFT > 0 {
			fmt.Fprintf(&good, "M%.1f %.1fh0", x(d.At), plotHigh-3-(plotHigh-6)*d.TTFT/top)
		} else {
			p.Failed++
			fmt.Fprintf(&bad, "M%.1f %gv-14", x(d.At), plotHigh)
		}
	}
	p.Good, p.Bad, p.Edges = good.String(), bad.String(), edges.String()
	return p
}

// niceAbove is the next round number.
func niceAbove(x float64) float64 {
	if x <= 0 {
		return 1
	}
	p := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 1.5, 2, 3, 5, 7.5} {
		if x <= m*p {
			return m * p
		}
	}
	return 10 * p
}

// benchRow is a run in the list.
func benchRow(r *BenchRun) pages.BenchRow {
	n := func(x *float64, unit, prov, how string) view.Number {
		if x == nil {
			return view.NotMeasured
		}
		return benchNumber(*x, unit, prov, how)
	}
	row := pages.BenchRow{Name: r.Name, Model: r.Model, At: r.URL, Server: r.Server, Loads: r.Loads, When: view.When(r.Started),
		TTFT: n(r.TTFT, "ms", "measured", "median at the lowest concurrency"), TPOT: n(r.TPOT, "ms", "derived", "median at the lowest concurrency"),
		Decode: n(r.Decode, "tok/s", "derived", "1000 / TPOT"), Prefill: n(r.Prefill, "tok/s", "derived", "slope of TTFT over prompt length"),
		Peak: n(r.Peak, "tok/s", "derived", "most output of all levels")}
	var notes []string
	if r.Warnings > 0 {
		notes = append(notes, view.Plural(r.Warnings, "warning"))
	}
	if r.Stopped != "" {
		notes = append(notes, "ended early: "+r.Stopped)
	}
	row.Note = strings.Join(notes, "; ")
	return row
}
