package sample

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"glassbox/trace"
)

// Sampler draws the tokens of one sequence. The n-th draw depends on the seed, n and the logits alone, so a request gets
// the same tokens whatever runs beside it.
type Sampler struct {
	p      Params
	order  []string
	drawn  int             // tokens of the answer so far
	seen   map[int32]bool  // prompt and answer, for the repeat penalty
	counts map[int32]int   // answer alone, for presence and frequency
	cand   []candidate     // what is left to draw from, scratch
	sorted bool            // cand is by falling logit
	broken bool            // the last row had nothing to draw from
	text   strings.Builder // scratch of notes

	grammar Constraint // nil: any token may come
	stuck   bool       // the constraint left nothing to draw
	ends    []int32    // tokens that end an answer, not before it has min tokens
	min     int
}

// candidate is a token that can be drawn.
type candidate struct {
	id int32
	v  float32 // its logit, after penalties and temperature
}

// New returns a sampler for a sequence that begins with prompt.
func New(p Params, prompt []int32) *Sampler {
	s := &Sampler{p: p, order: p.Order, counts: map[int32]int{}}
	if s.order == nil {
		s.order = Stages
	}
	if s.repeats() {
		s.seen = make(map[int32]bool, len(prompt))
		for _, id := range prompt {
			s.seen[id] = true
		}
	}
	return s
}

func (s *Sampler) repeats() bool { return s.p.RepeatPenalty != 0 && s.p.RepeatPenalty != 1 }

// Next draws a token from the logits (vocab floats, changed in place). w may be nil.
func (s *Sampler) Next(logits []float32, w *trace.Writer) int32 {
	s.readLogits(logits, w)
	if s.grammar != nil {
		s.constrain(logits, w)
	}
	s.hold(logits)
	for _, stage := range s.order {
		s.stage(stage, logits, w)
	}
	id := s.draw(logits, w)
	s.took(id)
	s.drawn++
	s.counts[id]++
	if s.seen != nil {
		s.seen[id] = true
	}
	return id
}

// Ahead draws what may be the token ahead tokens after the next one, from logits that another model gave (changed in
// place), with the random number that Next will use for it. It is a guess: penalties count what was drawn so far only.
func (s *Sampler) Ahead(logits []float32, ahead int) int32 {
	broken := s.broken
	s.readLogits(logits, nil)
	for _, stage := range s.order {
		s.stage(stage, logits, nil)
	}
	s.drawn += ahead
	id := s.draw(logits, nil)
	s.drawn -= ahead
	s.broken = broken
	return id
}

// stage runs one part if the request uses it.
func (s *Sampler) stage(name string, logits []float32, w *trace.Writer) {
	greedy := s.p.Greedy()
	switch {
	case name == "penalties" && (s.repeats() || s.p.PresencePenalty != 0 || s.p.FrequencyPenalty != 0):
		s.penalties(logits, w)
	case name == "temperature" && !greedy:
		s.temperature(logits, w)
	case name == "top_k" && !greedy && s.p.TopK > 0 && s.p.TopK < len(logits):
		s.topK(logits, w)
	case name == "top_p" && !greedy && s.p.TopP > 0 && s.p.TopP < 1:
		s.topP(logits, w)
	case name == "min_p" && !greedy && s.p.MinP > 0:
		s.minP(logits, w)
	}
}

// Broken tells whether the last row was no distribution: without one finite logit, or with an infinite one. The token
// that Next returned for it means nothing.
func (s *Sampler) Broken() bool { return s.broken }

// readLogits takes the row over: NaN becomes minus infinity, biases are added.
func (s *Sampler) readLogits(logits []float32, w *trace.Writer) {
	m := w.Begin(trace.StepLogits)
	most := float32(math.Inf(-1))
	for i, v := range logits {
		if v != v {
			logits[i] = float32(math.Inf(-1))
		} else if v > most {
			most = v
		}
	}
	s.broken = math.IsInf(float64(most), 0)
	for id, b := range s.p.LogitBias {
		logits[id] += b
	}
	s.cand, s.sorted = s.cand[:0], false
	if m.On() {
		m.Set("in", fmt.Sprintf("%d logits", len(logits)))
		m.Set("out", fmt.Sprintf("%d logits, %d biases added", len(logits), len(s.p.LogitBias)))
	}
	m.End()
}

// penalties makes tokens that were there already less likely.
func (s *Sampler) penalties(logits []float32, w *trace.Writer) {
	m := w.Begin(trace.StepPenalties)
	if len(s.cand) > 0 { // the request's own order: a stage has cut the row already
		for i, c := range s.cand {
			s.cand[i].v = s.penalized(c.id, c.v)
		}
		s.sorted = false
	} else {
		for id := range s.seen {
			logits[id] = s.penalized(id, logits[id])
		}
		for id := range s.counts {
			if !s.seen[id] {
				logits[id] = s.penalized(id, logits[id])
			}
		}
	}
	if m.On() {
		m.Set("in", fmt.Sprintf("%d tokens seen, %d of them in the answer", max(len(s.seen), len(s.counts)), len(s.counts)))
		m.Set("out", fmt.Sprintf("repeat %g, presence %g, frequency %g", s.p.RepeatPenalty, s.p.PresencePenalty, s.p.FrequencyPenalty))
	}
	m.End()
}

// penalized returns a token's logit after all penalties.
func (s *Sampler) penalized(id int32, v float32) float32 {
	if s.seen[id] {
		if v > 0 {
			v /= float32(s.p.RepeatPenalty)
		} else {
			v *= float32(s.p.RepeatPenalty)
		}
	}
	if n := s.counts[id]; n > 0 {
		v -= float32(s.p.PresencePenalty + s.p.FrequencyPenalty*float64(n))
	}
	return v
}

// temperature divides the logits: below 1 sharpens the distribution, above 1 flattens it.
func (s *Sampler) temperature(logits []float32, w *trace.Writer) {
	m := w.Begin(trace.StepTemperature)
	inv := float32(1 / s.p.Temperature)
	for i := range s.cand {
		s.cand[i].v *= inv
	}
	if len(s.cand) == 0 {
		for i := range logits {
			logits[i] *= inv
		}
	}
	if m.On() {
		m.Set("in", fmt.Sprintf("temperature %g", s.p.Temperature))
		m.Set("out", fmt.Sprintf("logits times %.4g", inv))
	}
	m.End()
}

// gather makes the candidate list from the whole row if no stage has cut it yet.
func (s *Sampler) gather(logits []float32) {
	if len(s.cand) > 0 {
		return
	}
	s.cand = slices.Grow(s.cand, len(logits))
	for i, v := range logits {
		s.cand = append(s.cand, candidate{int32(i), v})
	}
}

// byLogit orders by falling logit, then by id.
func byLogit(a, b candidate) int {
	if c := cmp.Compare(b.v, a.v); c != 0 {
		return c
	}
	return cmp.Compare(a.id, b.id)
}

// topK keeps the k likeliest candidates.
func (s *Sampler) topK(logits []float32, w *trace.Writer) {
	m := w.Begin(trace.StepTopK)
	before := max(len(s.cand), 0)
	if before == 0 {
		before = len(logits)
		s.cand = largest(s.cand, logits, s.p.TopK)
	} else {
		s.sort()
		s.cand = s.cand[:min(len(s.cand), s.p.TopK)]
	}
	s.sorted = true
	if m.On() {
		m.Set("in", fmt.Sprintf("%d candidates, k %d", before, s.p.TopK))
		m.Set("out", s.note())
	}
	m.End()
}

// topP keeps the likeliest candidates whose probabilities first sum to p.
func (s *Sampler) topP(logits []float32, w *trace.Writer) {
	m := w.Begin(trace.StepTopP)
	before := len(s.cand)
	if before == 0 {
		before = len(logits)
		s.nucleus(logits)
	} else {
		s.sort()
		s.cut(s.mass(s.cand))
	}
	if m.On() {
		m.Set("in", fmt.Sprintf("%d candidates, p %g", before, s.p.TopP))
		m.Set("out", s.note())
	}
	m.End()
}

// nucleus finds the cut in the whole row without sorting all of it: it tries the 64 likeliest, then eight times as many.
func (s *Sampler) nucleus(logits []float32) {
	s.gather(logits)
	total := s.mass(s.cand)
	for k := 64; ; k *= 8 {
		s.cand = largest(s.cand, logits, min(k, len(logits)))
		s.sorted = true
		if s.cut(total) || k >= len(logits) {
			return
		}
	}
}

// cut keeps the first candidates whose weights sum to TopP of total; false if all together do not.
func (s *Sampler) cut(total float64) bool {
	sum, most := 0.0, s.most()
	for i, c := range s.cand {
		if sum += weight(c.v, most); sum >= s.p.TopP*total {
			s.cand = s.cand[:i+1]
			return true
		}
	}
	return false
}

// minP keeps candidates at least p times as likely as the likeliest.
func (s *Sampler) minP(logits []float32, w *trace.Writer) {
	m := w.Begin(trace.StepMinP)
	s.gather(logits)
	before := len(s.cand)
	least := s.most() + float32(math.Log(s.p.MinP))
	kept := s.cand[:0]
	for _, c := range s.cand {
		if c.v >= least {
			kept = append(kept, c)
		}
	}
	s.cand = kept
	if m.On() {
		m.Set("in", fmt.Sprintf("%d candidates, p %g", before, s.p.MinP))
		m.Set("out", s.note())
	}
	m.End()
}

// draw takes one candidate by its probability, or the largest logit.
func (s *Sampler) draw(logits []float32, w *trace.Writer) int32 {
	m := w.Begin(trace.StepDraw)
	var id int32
	if s.p.Greedy() {
		id = argmax(logits)
		if m.On() {
			m.Set("in", "greedy: the largest logit")
			m.Set("out", fmt.Sprintf("id %d, logit %.3f", id, logits[id]))
		}
	} else {
		s.gather(logits)
		u := rand.New(rand.NewPCG(s.p.Seed, uint64(s.drawn))).Float64()
		most, mass := s.most(), s.mass(s.cand)
		left, i := u*mass, 0
		for j := range s.cand {
			p := weight(s.cand[j].v, most)
			if p > 0 { // what is forbidden is never drawn, however the sums are rounded
				i = j
			}
			if left -= p; left < 0 {
				break
			}
		}
		id = s.cand[i].id
		if m.On() {
			m.Set("in", fmt.Sprintf("%s; seed %d, draw %d: u %.4f", s.note(), s.p.Seed, s.drawn, u))
			m.Set("out", fmt.Sprintf("id %d, probability %.4f among those left", id, weight(s.cand[i].v, most)/mass))
			s.setTop(&m, 10)
		}
	}
	m.End()
	return id
}

// setTop notes the likeliest of the candidates that are left, where they are in order.
func (s *Sampler) setTop(m *trace.Mark, n int) {
	if !s.sorted {
		return
	}
	n = min(n, len(s.cand))
	for n > 1 && math.IsInf(float64(s.cand[n-1].v), -1) { // forbidden
		n--
	}
	ids, logits := make([]int64, n), make([]float64, n)
	for i, c := range s.cand[:n] {
		ids[i], logits[i] = int64(c.id), float64(c.v)
	}
	m.Set("top_ids", ids)
	m.Set("top_logits", logits)
}

// sort orders the candidates once.
func (s *Sampler) sort() {
	if !s.sorted {
		slices.SortFunc(s.cand, byLogit)
		s.sorted = true
	}
}

// most returns the largest candidate logit.
func (s *Sampler) most() float32 {
	if s.sorted {
		return s.cand[0].v
	}
	v := s.cand[0].v
	for _, c := range s.cand {
		v = max(v, c.v)
	}
	return v
}

// weight is a candidate's share relative to the likeliest's; a tiny repeat penalty can make both infinite.
func weight(v, most float32) float64 {
	if v == most {
		return 1
	}
	return math.Exp(float64(v - most))
}

// mass is the sum of the candidates' weights.
func (s *Sampler) mass(c []candidate) float64 {
	sum, most := 0.0, s.most()
	for i := range c {
		sum += weight(c[i].v, most)
	}
	return sum
}

// note says in one line what is left.
func (s *Sampler) note() string {
	s.text.Reset()
	fmt.Fprintf(&s.text, "%d left", len(s.cand))
	if s.sorted {
		for i := range min(len(s.cand), 5) {
			fmt.Fprintf(&s.text, "%s %d (%.3f)", [2]string{":", ","}[min(i, 1)], s.cand[i].id, s.cand[i].v)
		}
	}
	return s.text.String()
}
