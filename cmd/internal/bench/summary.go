package bench

import (
	"math"
	"math/rand/v2"
	"slices"

	"glassbox/cmd/internal/bench/client"
	"glassbox/cmd/internal/bench/stats"
)

// summarise fills in a level's numbers from its rows. busy and idle bound the time in which all workers were at work, 0
// where there is none.
func summarise(v *Level, rows []*client.Row, slos []SLO, busy, idle int64) {
	var ttft, tpot, e2e, icl, wait, decode, prompt, output, cached, chunk []float64
	var first, last int64
	out, total := 0, 0
	v.OK, v.Errors, v.Cancelled = 0, 0, 0
	for _, r := range rows {
		if first == 0 || r.Times.Sent > 0 && r.Times.Sent < first {
			first = r.Times.Sent
		}
		add(&wait, r.Wait)
		switch r.Outcome {
		case client.Failed:
			v.Errors++
		case client.Cancelled:
			v.Cancelled++
		case client.OK:
			v.OK++
			last = max(last, r.Times.End)
			add(&ttft, r.TTFT)
			add(&tpot, r.TPOT)
			add(&e2e, r.E2E)
			add(&chunk, r.TokensPerChunk)
			icl = append(icl, r.Gaps()...)
			if r.TPOT != nil && *r.TPOT > 0 {
				decode = append(decode, 1000 / *r.TPOT)
			}
			addInt(&prompt, r.PromptTokens)
			addInt(&output, r.OutputTokens)
			addInt(&cached, r.CachedTokens)
			if r.OutputTokens != nil {
				out += *r.OutputTokens
				total += *r.OutputTokens
			}
			if r.PromptTokens != nil {
				total += *r.PromptTokens
			}
		}
	}
	for _, d := range []struct {
		to   *stats.Dist
		from []float64
	}{{&v.ICL, icl}, {&v.Wait, wait}, {&v.Decode, decode}, {&v.Prompt, prompt},
		{&v.Output, output}, {&v.Cached, cached}, {&v.Chunk, chunk}} {
		*d.to = stats.Describe(d.from)
	}
	v.TTFT, v.TPOT, v.E2E = stats.WithInterval(ttft), stats.WithInterval(tpot), stats.WithInterval(e2e)
	if v.Wall = float64(last-first) / 1e9; v.OK == 0 || v.Wall <= 0 {
		v.Wall = 0
		v.Goodput = goodput(v, rows, slos)
		return
	}
	v.RequestRate = ref(float64(v.OK) / v.Wall)
	if len(output) == v.OK {
		v.OutputRate = ref(float64(out) / v.Wall)
		if len(prompt) == v.OK {
			v.TotalRate = ref(float64(total) / v.Wall)
		}
		v.SteadyRate, v.SteadyWindow = steady(rows, busy, idle)
	}
	v.Goodput = goodput(v, rows, slos)
}

func ref(x float64) *float64 { return &x }

func add(to *[]float64, x *float64) {
	if x != nil {
		*to = append(*to, *x)
	}
}

func addInt(to *[]float64, x *int) {
	if x != nil {
		*to = append(*to, float64(*x))
	}
}

// steady is the rate of tokens between two moments; an answer's tokens are spread evenly over its events. nil when the
// window is shorter than a second or a fifth of the level.
func steady(rows []*client.Row, busy, idle int64) (*float64, float64) {
	var first, last int64 = math.MaxInt64, 0
	tokens := 0.0
	for _, r := range rows {
		first, last = min(first, r.Times.Sent), max(last, r.Times.End)
		if r.OutputTokens == nil || r.Chunks == 0 {
			continue
		}
		each := float64(*r.OutputTokens) / float64(r.Chunks)
		for _, at := range r.Arrivals {
			if at > busy && at <= idle {
				tokens += each
			}
		}
	}
	window := float64(idle-busy) / 1e9
	if busy == 0 || window < 1 || window < float64(last-first)/5e9 {
		return nil, 0
	}
	return ref(tokens / window), window
}

func goodput(v *Level, rows []*client.Row, slos []SLO) []Goodput {
	out := []Goodput{}
	for _, s := range slos {
		g := Goodput{SLO: s}
		for _, r := range rows {
			if s.Meets(r) {
				g.Good++
			}
		}
		if n := v.OK + v.Errors; n > 0 {
			g.Share = ref(float64(g.Good) / float64(n))
		}
		if v.Wall > 0 {
			g.Rate = ref(float64(g.Good) / v.Wall)
		}
		out = append(out, g)
	}
	return out
}

// prefillLine puts a line through the medians of TTFT over prompt lengths.
func prefillLine(rows []*client.Row) *PrefillLine {
	byLength := map[int][]*client.Row{}
	var lengths []int
	for _, r := range rows {
		if r.Outcome == client.OK && r.TTFT != nil && r.PromptTokens != nil {
			if byLength[r.AskedPrompt] == nil {
				lengths = append(lengths, r.AskedPrompt)
			}
			byLength[r.AskedPrompt] = append(byLength[r.AskedPrompt], r)
		}
	}
	slices.Sort(lengths)
	if len(lengths) == 0 {
		return nil
	}
	p := &PrefillLine{}
	var x, y []float64
	var samples [][]float64
	for _, n := range lengths {
		var ttft, tokens, server []float64
		for _, r := range byLength[n] {
			ttft, tokens = append(ttft, *r.TTFT), append(tokens, float64(fresh(r)))
			if s := r.Server; s != nil && s.Prefill != nil && *s.Prefill > 0 && s.PrefillN > 0 {
				server = append(server, float64(s.PrefillN)/(*s.Prefill)*1000)
			}
		}
		pt := PrefillPoint{Tokens: stats.Mean(tokens), TTFT: stats.Describe(ttft), Planned: n}
		med := stats.Median(ttft)
		pt.Naive = ref(pt.Tokens / med * 1000)
		if len(server) > 0 {
			pt.Server = ref(stats.Median(server))
		}
		p.Points = append(p.Points, pt)
		x, y, samples = append(x, pt.Tokens), append(y, med), append(samples, ttft)
	}
	p.fit(x, y, samples)
	return p
}

// fresh is how many prompt tokens the server had to compute.
func fresh(r *client.Row) int {
	n := *r.PromptTokens
	if r.CachedTokens != nil {
		n -= min(n, *r.CachedTokens)
	}
	return n
}

// fit draws the line and, by resampling within each length, an interval for its slope.
func (p *PrefillLine) fit(x, y []float64, samples [][]float64) {
	l, ok := stats.Fit(x, y)
	switch {
	case !ok || len(x) < 3:
		p.Note = "not measured: needs at least three prompt lengths"
		return
	case l.Slope <= 0:
		p.Note = "not measured: TTFT does not grow with the prompt here, so its cost is below the noise"
		p.R2 = l.R2
		return
	}
	p.SlopeMS, p.InterceptMS, p.R2, p.TokensPerS = l.Slope, l.Intercept, l.R2, ref(1000/l.Slope)
	for _, s := range samples {
		if len(s) < 3 {
			return
		}
	}
	p.CI = resampled(x, samples)
}

// resampled is the bootstrap interval of the rate: each length's times are drawn anew, and the line is fitted again. A
// line that falls gives no rate; when more than one in forty does, there is no upper end and so no interval.
func resampled(x []float64, samples [][]float64) []float64 {
	const rounds = 1000
	r := rand.New(rand.NewPCG(1, uint64(len(x))))
	var rates []float64
	for range rounds {
		y := make([]float64, len(x))
		for i, s := range samples {
			draw := make([]float64, len(s))
			for j := range draw {
				draw[j] = s[r.IntN(len(s))]
			}
			y[i] = stats.Median(draw)
		}
		if l, ok := stats.Fit(x, y); ok && l.Slope > 0 {
			rates = append(rates, 1000/l.Slope)
		}
	}
	if len(rates) < rounds-rounds/40 {
		return nil
	}
	slices.Sort(rates)
	return []float64{stats.Percentile(rates, 2.5), stats.Percentile(rates, 97.5)}
}

// depths are the decoding speeds behind each prompt length, of the same requests.
func depths(rows []*client.Row) []Depth {
	byLength := map[int][]*client.Row{}
	var lengths []int
	for _, r := range rows {
		if r.Outcome == client.OK && r.TPOT != nil && r.PromptTokens != nil {
			if byLength[r.AskedPrompt] == nil {
				lengths = append(lengths, r.AskedPrompt)
			}
			byLength[r.AskedPrompt] = append(byLength[r.AskedPrompt], r)
		}
	}
	slices.Sort(lengths)
	var out []Depth
	for _, n := range lengths {
		var tpot, tokens []float64
		for _, r := range byLength[n] {
			tpot, tokens = append(tpot, *r.TPOT), append(tokens, float64(*r.PromptTokens))
		}
		out = append(out, Depth{Tokens: stats.Mean(tokens), TPOT: stats.Describe(tpot), Rate: ref(1000 / stats.Median(tpot))})
	}
	return out
}

// knee picks the level with the largest power. It needs three closed levels.
func knee(levels []Level) *Knee {
	var best *Knee
	bestPower, n, last := 0.0, 0, 0
	for _, v := range levels {
		if v.Loop != "closed" || v.OutputRate == nil || v.E2E.P50 == nil {
			continue
		}
		n++
		last = v.Concurrency
		if power := *v.OutputRate / *v.E2E.P50; power > bestPower {
			bestPower, best = power, &Knee{Concurrency: v.Concurrency, OutputRate: *v.OutputRate, E2E: *v.E2E.P50}
		}
	}
	if n < 3 {
		return nil
	}
	if best.Concurrency == last {
		best.Note = "the highest level measured: the knee may lie beyond it"
	}
	return best
}

// headline takes the numbers that go on top.
func headline(s *Summary) {
	h := &s.Headline
	low := -1
	for i := range s.Levels {
		v := &s.Levels[i]
		if v.OK == 0 {
			continue
		}
		if v.Loop == "closed" && (low < 0 || v.Concurrency < s.Levels[low].Concurrency) {
			low = i
		}
		if v.OutputRate != nil && (h.Peak == nil || *v.OutputRate > *h.Peak) {
			h.Peak, h.PeakAt = v.OutputRate, v.Concurrency
		}
	}
	if low < 0 && len(s.Levels) > 0 {
		low = 0
	}
	if low >= 0 {
		v := &s.Levels[low]
		h.Concurrency, h.TTFT, h.TPOT = v.Concurrency, v.TTFT.P50, v.TPOT.P50
		if h.TPOT != nil && *h.TPOT > 0 {
			h.Decode = ref(1000 / *h.TPOT)
		}
	}
	if s.Prefill != nil {
		h.Prefill = s.Prefill.TokensPerS
	}
}
