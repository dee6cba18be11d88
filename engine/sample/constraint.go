package sample

import (
	"fmt"
	"math"

	"glassbox/trace"
)

// Constraint says which tokens an answer may go on with: a grammar, for one.
type Constraint interface {
	Mask(logits []float32) (allowed int) // sets what may not come to minus infinity
	Accept(id int32) bool                // takes the token that was drawn; false: it may not come here
	Done() bool                          // nothing but the answer's end may come
	Where() string                       // for recordings: where the answer is
}

// Constrain makes the sampler draw only what c allows.
func (s *Sampler) Constrain(c Constraint) { s.grammar = c }

// Ends names the tokens that end an answer; they are not drawn before the answer has min tokens, unless a constraint lets
// nothing else come.
func (s *Sampler) Ends(ids []int32, min int) { s.ends, s.min = ids, min }

// Done tells whether a constraint says that the answer is whole.
func (s *Sampler) Done() bool { return s.grammar != nil && s.grammar.Done() }

// Stuck tells whether the constraint allowed no token that the model could say. The token that Next returned for the row
// means nothing.
func (s *Sampler) Stuck() bool { return s.stuck }

// constrain takes what may not come out of the row. It comes before anything else looks at the logits.
//
//go:noinline
func (s *Sampler) constrain(logits []float32, w *trace.Writer) {
	m := w.Begin(trace.StepGrammar)
	if m.On() {
		m.Set("in", s.grammar.Where())
	}
	n := s.grammar.Mask(logits)
	s.stuck = n == 0
	if m.On() {
		end := trace.Now() // what only the recording needs is not part of the step
		m.Set("allowed", n)
		m.Set("out", fmt.Sprintf("%d of %d tokens may come", n, len(logits)))
		m.EndAt(end)
	}
	m.End()
}

// hold forbids the tokens that end an answer while it is too short.
func (s *Sampler) hold(logits []float32) {
	if s.drawn >= s.min || s.Done() {
		return
	}
	for _, id := range s.ends {
		logits[id] = float32(math.Inf(-1))
	}
}

// took tells the constraint of the token that was drawn.
func (s *Sampler) took(id int32) {
	if s.grammar != nil && !s.stuck {
		s.stuck = !s.grammar.Accept(id)
	}
}
