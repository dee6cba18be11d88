package engine

import (
	"math"

	"glassbox/engine/sched"
)

// How much longer than alone a pass of running answers may take because prompts are read in it, and how many prompt tokens
// it takes in any case, so that prompts get on. A user sees three times a token's time as a stutter; what is aimed at
// leaves room for passes that take longer than was foreseen.
const (
	stallRatio = 2.0
	leastChunk = 4
	firstChunk = 16 // while nothing is known
)

// stretch is how many positions are taken to cost the same: a prompt's tokens attend to all before them, so they cost the
// more the further it is read.
const stretch = 512

// stall chooses how many prompt tokens a pass may take beside running answers, from measured times.
type stall struct {
	most  int             // tokens, the scheduler's bound
	quiet map[int]float64 // ns of a pass that decodes for so many sequences and reads no prompt
	per   map[int]float64 // ns that a prompt token adds to such a pass, by the stretch of positions it is in
}

func newStall(most int) stall {
	return stall{most: most, quiet: map[int]float64{}, per: map[int]float64{}}
}

// note takes a pass's time in.
func (s *stall) note(items []sched.Item, ns int64) {
	decoding, prompt, deepest := 0, 0, 0
	for _, it := range items {
		if it.Logits && it.From >= it.Seq.Prompt {
			decoding++
		} else {
			prompt += it.N
			deepest = max(deepest, it.From)
		}
	}
	switch {
	case decoding > 0 && prompt == 0:
		s.quiet[decoding] = follow(s.quiet[decoding], float64(ns), 0.25, 0.25)
	case decoding > 0 && prompt >= leastChunk: // of fewer the rest of the pass says more than they do
		if q := nearest(s.quiet, decoding); q > 0 {
			// Upwards at once, downwards slowly: what is foreseen is what most passes stay below.
			at := deepest / stretch
			known := s.per[at]
			if known == 0 {
				known = nearest(s.per, at)
			}
			s.per[at] = follow(known, max(float64(ns)-q, 0)/float64(prompt), 0.6, 0.06)
		}
	}
}

// follow moves a known value towards a measured one; 0 is none known. One odd time, as when another program had the
// processor, is taken for no more than twice what is known.
func follow(known, now, up, down float64) float64 {
	if known == 0 {
		return now
	}
	if now = min(now, 2*known); now > known {
		return known + up*(now-known)
	}
	return known + down*(now-known)
}

// nearest returns the value for n, or the nearest to it that is known; 0 for none.
func nearest(of map[int]float64, n int) float64 {
	best, at := math.MaxInt, 0.0
	for k, v := range of {
		if d := max(k-n, n-k); d < best || d == best && v > at {
			best, at = d, v
		}
	}
	return at
}

// chunk returns how many prompt tokens may go with n sequences that decode, where the prompt that is read furthest has been
// read to position at.
func (s *stall) chunk(n, at int) int {
	if n == 0 {
		return s.most
	}
	q, per := nearest(s.quiet, n), nearest(s.per, at/stretch)
	if q == 0 || per == 0 {
		return min(firstChunk, s.most)
	}
	return min(max(int((stallRatio-1)*q/per), leastChunk), s.most)
}

// bound tells the scheduler how much of prompts the next pass may take.
func (e *Engine) bound() {
	decoding, deepest := e.sched.Load()
	e.sched.SetBusyChunk(e.stall.chunk(decoding, deepest))
}
