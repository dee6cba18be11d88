package openai

import (
	"glassbox/engine/openai/wire"
)

// timings are the times of a generation that has ended; with several answers, from the first of all to the last of all.
func (g *generation) timings() *wire.Timings {
	f := &g.j.c.facts
	t := &wire.Timings{PredictedN: f.output}
	var submitted, started, first int64
	for i, ch := range g.choices {
		u := ch.answer.Usage()
		if i == 0 || u.Submitted < submitted {
			submitted = u.Submitted
		}
		if u.Started != 0 && (started == 0 || u.Started < started) {
			started = u.Started
		}
		if u.First != 0 && (first == 0 || u.First < first) {
			first = u.First
		}
		if i%g.j.n == 0 {
			t.CacheN += u.Cached
			t.PromptN += len(g.j.prompts[i/g.j.n]) - u.Cached
		}
	}
	ms := func(ns int64) float64 { return float64(max(ns, 0)) / 1e6 }
	if started == 0 || first == 0 { // nothing was measured
		return nil
	}
	t.QueueMS, t.PromptMS = ms(started-submitted), ms(first-started)
	if t.PromptN > 0 && t.PromptMS > 0 {
		t.PromptPerTokenMS, t.PromptPerSecond = t.PromptMS/float64(t.PromptN), float64(t.PromptN)/t.PromptMS*1e3
	}
	f.submitted, f.started = submitted, started
	if t.PredictedMS = ms(f.lastToken - first); t.PredictedMS > 0 && t.PredictedN > len(g.choices) {
		n := float64(t.PredictedN - len(g.choices))
		t.PredictedPerTokMS, t.PredictedPerSecond = t.PredictedMS/n, n/t.PredictedMS*1e3
	}
	return t
}
