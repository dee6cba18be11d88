package engine

import (
	"math"

	"glassbox/engine/sched"
)

// stallRatio is how much longer than alone a pass of running answers may take because prompts are read in it. A user sees
// three times a token's time as a stutter; what is aimed at leaves room for passes that take longer than was foreseen.
const stallRatio = 2.0

// sizes are how many prompt tokens such a pass may take; the first is taken in any case, so that prompts get on. What a size
// costs does not follow from that of another: kernels work on so many rows at a time, and on a busy machine a small pass may be
// done by fewer workers, without waiting for one that does not run.
var sizes = []int{4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512}

// stretch is how many positions are taken to cost the same: a prompt's tokens attend to all before them, so they cost the
// more the further it is read.
const stretch = 512

// stall chooses how many prompt tokens a pass may take beside running answers, from measured times.
type stall struct {
	most  int             // tokens, the scheduler's bound
	quiet map[int]float64 // ns of a pass that decodes for so many sequences and reads no prompt
	more  [][]float64     // ns that a size adds to such a pass, by the stretch of positions that the prompt is read to; 0: not known
	last  int             // the size that was taken last
}

func newStall(most int) stall {
	return stall{most: most, quiet: map[int]float64{}, more: make([][]float64, len(sizes))}
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
	if decoding == 0 {
		return
	}
	if prompt == 0 {
		s.quiet[decoding] = follow(s.quiet[decoding], float64(ns), 0.25, 0.25)
		return
	}
	if q := s.alone(decoding); q > 0 {
		s.learn(prompt, deepest/stretch, max(float64(ns)-q, 1))
	}
}

// learn notes what so many tokens added. Upwards at once, downwards slowly: what is foreseen is what most passes stay below.
func (s *stall) learn(tokens, at int, ns float64) {
	i := 0
	for i < len(sizes)-1 && sizes[i] < tokens {
		i++
	}
	if 4*tokens < 3*sizes[i] {
		return // the end of a prompt: little is learnt about its size
	}
	s.last = i
	known := s.foreseen(i, at)
	for len(s.more[i]) <= at {
		s.more[i] = append(s.more[i], 0)
	}
	s.more[i][at] = follow(known, ns*float64(sizes[i])/float64(tokens), 0.6, 0.06)
	for j := i + 1; j < len(sizes); j++ { // larger ones that were found too dear are tried again, seldom
		for k := range s.more[j] {
			s.more[j][k] *= 0.999
		}
	}
}

// foreseen is what a size is expected to add to a pass: what is known of it at the nearest stretch, else what the next
// smaller one adds, as much a token. What is known may be of other positions, so it is no less than the root of the sizes
// says of the smaller one. It is 0 where nothing is known.
func (s *stall) foreseen(i, at int) (ns float64) {
	best := math.MaxInt
	for k, v := range s.more[i] {
		if d := max(k-at, at-k); v > 0 && d <= best {
			best, ns = d, v
		}
	}
	if i == 0 {
		return ns
	}
	smaller, ratio := s.foreseen(i-1, at), float64(sizes[i])/float64(sizes[i-1])
	if ns == 0 {
		return smaller * ratio
	}
	return max(ns, smaller*math.Sqrt(ratio))
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

// alone returns the time of a pass that decodes for n sequences: the nearest that is known, 0 for none.
func (s *stall) alone(n int) float64 {
	best, at := math.MaxInt, 0.0
	for k, ns := range s.quiet {
		if d := max(k-n, n-k); d < best || d == best && ns > at {
			best, at = d, ns
		}
	}
	return at
}

// chunk returns how many prompt tokens may go with n sequences that decode, where the prompt that is read furthest has been
// read to position at: the largest size that is foreseen to fit, at most one larger than the last one. So what was learnt of
// sizes at other positions is believed step by step.
func (s *stall) chunk(n, at int) int {
	if n == 0 {
		return s.most
	}
	best, q := 0, s.alone(n)
	for i := range min(s.last+2, len(sizes)) {
		if ns := s.foreseen(i, at/stretch); ns > 0 && ns <= (stallRatio-1)*q && sizes[i] <= s.most {
			best = i
		}
	}
	return min(sizes[best], s.most)
}

// bound tells the scheduler how much of prompts the next pass may take.
func (e *Engine) bound() {
	decoding, deepest := e.sched.Load()
	e.sched.SetBusyChunk(e.stall.chunk(decoding, deepest))
}
