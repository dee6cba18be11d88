package engine

import (
	"math"

	"glassbox/engine/sched"
)

// stallRatio is how much longer than alone a pass of running answers may take because prompts are read in it. A user sees
// three times a token's time as a stutter; this leaves room for what the estimate does not know.
const stallRatio = 2.2

// leastChunk is how many prompt tokens a pass takes in any case, so that prompts get on.
const leastChunk = 8

// stall chooses how many prompt tokens a pass may take beside running answers, from measured times.
type stall struct {
	most  int             // tokens, the scheduler's bound
	quiet map[int]float64 // ns of a pass that decodes for so many sequences and reads no prompt
	per   float64         // ns of a prompt token beside others; 0: not known
}

// note takes a pass's time in.
func (s *stall) note(items []sched.Item, ns int64) {
	decoding, prompt := 0, 0
	for _, it := range items {
		if it.Logits && it.From >= it.Seq.Prompt {
			decoding++
		} else {
			prompt += it.N
		}
	}
	switch {
	case decoding > 0 && prompt == 0:
		s.quiet[decoding] = smooth(s.quiet[decoding], float64(ns))
	case decoding > 0:
		if q := s.alone(decoding); q > 0 {
			s.per = smooth(s.per, max(float64(ns)-q, 0)/float64(prompt))
		}
	}
}

// smooth follows a measured value; before is 0 for the first.
func smooth(before, now float64) float64 {
	if before == 0 {
		return now
	}
	return before + 0.25*(now-before)
}

// alone returns the time of a pass that decodes for n sequences: the nearest that is known, 0 for none.
func (s *stall) alone(n int) float64 {
	best, at := math.MaxInt, 0.0
	for k, ns := range s.quiet {
		if d := max(k-n, n-k); d < best {
			best, at = d, ns
		}
	}
	return at
}

// chunk returns how many prompt tokens may go with n sequences that decode.
func (s *stall) chunk(n int) int {
	q := s.alone(n)
	if n == 0 || q == 0 || s.per == 0 {
		return s.most
	}
	return min(max(int((stallRatio-1)*q/s.per), leastChunk), s.most)
}

// bound tells the scheduler how much of prompts the next pass may take.
func (e *Engine) bound() {
	n := 0
	e.sched.Decoding(func(*sched.Sequence) { n++ })
	e.sched.SetBusyChunk(e.stall.chunk(n))
}
