package openai

import "glassbox/engine/openai/wire"

// measure notes the engine's times and counts of all answers: from the first of each to the last.
func (g *generation) measure() {
	f := &g.j.c.facts
	earlier := func(to *int64, t int64) {
		if t != 0 && (*to == 0 || t < *to) {
			*to = t
		}
	}
	f.cached, f.finishes = 0, nil
	for i, ch := range g.choices {
		u := ch.answer.Usage()
		earlier(&f.submitted, u.Submitted)
		earlier(&f.started, u.Started)
		earlier(&f.first, u.First)
		if i%g.j.n == 0 {
			f.cached += u.Cached
		}
		if ch.finish != "" {
			f.finishes = append(f.finishes, ch.finish)
		}
	}
}

// timings are the times of a generation that has ended; nil where the engine told none.
func (g *generation) timings() *wire.Timings {
	g.measure()
	f := &g.j.c.facts
	if f.started == 0 || f.first == 0 {
		return nil
	}
	ms := func(ns int64) float64 { return float64(max(ns, 0)) / 1e6 }
	t := &wire.Timings{CacheN: f.cached, PromptN: f.prompt - f.cached, PredictedN: f.output,
		QueueMS: ms(f.started - f.submitted), PromptMS: ms(f.first - f.started), PredictedMS: ms(f.lastToken - f.first)}
	if t.PromptN > 0 && t.PromptMS > 0 {
		t.PromptPerTokenMS, t.PromptPerSecond = t.PromptMS/float64(t.PromptN), float64(t.PromptN)/t.PromptMS*1e3
	}
	if n := float64(f.output - len(g.choices)); n > 0 && t.PredictedMS > 0 {
		t.PredictedPerTokMS, t.PredictedPerSecond = t.PredictedMS/n, n/t.PredictedMS*1e3
	}
	return t
}
