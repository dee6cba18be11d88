package main

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"glassbox/cmd/internal/bench/client"
	"glassbox/cmd/internal/bench/mock"
	"glassbox/cmd/internal/bench/stats"
)

// scripts runs every quirk that ends well, twenty times each, and compares with what the script says and with what the
// server did. The server's own timers are late too: that part is not the client's error, and is shown beside it.
func scripts(w io.Writer) (missed int, err error) {
	url, stop, err := child()
	if err != nil {
		return 0, err
	}
	defer stop()
	p, err := newProbe(url)
	if err != nil {
		return 0, err
	}
	p.ask("plain", 3, 1, 4, 0) // open the connection, fill the caches
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "script\tn\tTTFT true\tclient\terror\tTPOT true\tclient\terror\tread late p50\tp99\tserver late p50\t\t")
	for _, s := range mock.Quirks() {
		if s.Truth.Error != "" || s.Truth.Output < 2 || s.Lines || s.Scatter > 0 {
			continue
		}
		line, ok, err := p.script(s)
		if err != nil {
			return missed, err
		}
		fmt.Fprintln(t, line)
		if !ok {
			missed++
		}
	}
	if err := t.Flush(); err != nil {
		return missed, err
	}
	_, err = fmt.Fprintf(w, "\nms; medians of the rows; true = what the server did by its own clock; read late = client's stamp - server's, for each event.\nBound: error of TTFT and TPOT at most %g ms or %g %%.\n\n", boundMS, boundShare*100)
	return missed, err
}

// script measures one script.
func (p *probe) script(s mock.Script) (line string, ok bool, err error) {
	var trueTTFT, ttft, trueTPOT, tpot, late, timer []float64
	rows := p.ask(s.Name, 20, 1, 4, 0)
	for _, row := range rows {
		if row.Outcome != client.OK {
			return "", false, fmt.Errorf("%s: %s", s.Name, *row.Error)
		}
		f, err := p.sent(row)
		if err != nil {
			return "", false, err
		}
		first, last := f.Sent[0], f.Sent[len(f.Sent)-1]
		trueTTFT, ttft = append(trueTTFT, float64(first-f.Received)/1e6), append(ttft, *row.TTFT)
		timer = append(timer, float64(first-f.Received-int64(s.FirstToken()))/1e6)
		if row.TPOT != nil {
			n := float64(*row.OutputTokens - row.FirstChunk)
			trueTPOT, tpot = append(trueTPOT, float64(last-first)/1e6/n), append(tpot, *row.TPOT)
		}
		if len(f.Sent) == len(row.Arrivals) {
			late = append(late, lateness(p, f, row)...)
		}
	}
	a, b := stats.Median(trueTTFT), stats.Median(ttft)
	ok = within(a, b)
	line = fmt.Sprintf("%s\t%d\t%.3f\t%.3f\t%+.3f\t", s.Name, len(rows), a, b, b-a)
	if len(tpot) > 0 {
		x, y := stats.Median(trueTPOT), stats.Median(tpot)
		ok = ok && within(x, y)
		line += fmt.Sprintf("%.3f\t%.3f\t%+.4f\t", x, y, y-x)
	} else {
		line += "-\t-\t-\t"
	}
	verdict := "missed"
	if ok {
		verdict = "ok"
	}
	return line + fmt.Sprintf("%.3f\t%.3f\t%.3f\t%s\t", stats.Median(late), percentile(late, 99), stats.Median(timer), verdict), ok, nil
}

func within(truth, measured float64) bool {
	return math.Abs(measured-truth) <= max(boundMS, boundShare*truth)
}

func percentile(v []float64, p float64) float64 {
	return stats.Percentile(slices.Sorted(slices.Values(v)), p)
}

// lateness is when the client read each event after the server sent it, in ms.
func lateness(p *probe, f flushes, row *client.Row) (out []float64) {
	for i, at := range row.Arrivals {
		out = append(out, float64(p.epoch+at-f.Sent[i])/1e6)
	}
	return out
}

// overhead holds many streams with one core, and prints what that costs and how late events are read.
func overhead(o options, w io.Writer) (missed int, err error) {
	gap := time.Second / time.Duration(o.rate)
	url, stop, err := child("-base", "300ms", "-per-token", gap.String(), "-no-running-usage")
	if err != nil {
		return 0, err
	}
	defer stop()
	p, err := newProbe(url)
	if err != nil {
		return 0, err
	}
	procs := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(procs)
	tokens := o.rate * o.seconds
	started, cpu := time.Now(), cpuTime()
	// The streams start over a whole number of gaps, so that their tokens do not all come at one moment.
	rows := p.ask("mock", o.streams, o.streams, tokens, 997*time.Microsecond)
	wall, used := time.Since(started), cpuTime()-cpu
	var late, tpot []float64
	events := 0
	for i, row := range rows {
		if row.Outcome != client.OK {
			return 0, fmt.Errorf("stream %d: %s", i, *row.Error)
		}
		events += row.Chunks
		tpot = append(tpot, *row.TPOT)
		if i%10 == 0 { // a tenth is enough for percentiles, and fetching costs time
			f, err := p.sent(row)
			if err != nil {
				return 0, err
			}
			late = append(late, lateness(p, f, row)...)
		}
	}
	fmt.Fprintf(w, "%d streams of %d tokens at %d tokens/s, client on one core: %d events in %.1f s (%.0f events/s), ", o.streams, tokens, o.rate, events, wall.Seconds(), float64(events)/wall.Seconds())
	if used > 0 {
		fmt.Fprintf(w, "%.0f %% of a core, ", 100*used.Seconds()/wall.Seconds())
	}
	p50 := stats.Median(late)
	fmt.Fprintf(w, "read late p50 %.2f ms, p99 %.2f ms; TPOT median %.3f ms (true %.3f)\n", p50, percentile(late, 99), stats.Median(tpot), gap.Seconds()*1000)
	if p50 > boundMS {
		missed++
	}
	return missed, nil
}
