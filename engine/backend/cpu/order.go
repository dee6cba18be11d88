package cpu

import "glassbox/engine/graph"

// places that are no buffers of the graph, counted from -2 down.
const (
	atCache     graph.Buf = -2 // the KV cache
	atQuantised graph.Buf = -3 // the quantised input
)

// access returns what a step reads and writes.
func (s *step) access() (reads, writes []graph.Buf) {
	n := s.n
	for _, b := range [...]graph.Buf{n.A, n.B} {
		if b != graph.NoBuf {
			reads = append(reads, b)
		}
	}
	if n.Out != graph.NoBuf {
		writes = append(writes, n.Out)
	}
	switch n.Kind {
	case graph.RoPE:
		writes = append(writes, n.B)
	case graph.KVWrite:
		writes = append(writes, atCache)
	case graph.Scores, graph.Mix:
		reads = append(reads, atCache)
	case graph.MatMul:
		reads = append(reads, atQuantised)
		if s.fresh {
			writes = append(writes, atQuantised)
		}
	}
	return reads, writes
}

// byToken tells whether the step gives each worker whole tokens, the same ones in all such steps.
func (b *Backend) byToken(s *step) bool {
	switch s.n.Kind {
	case graph.Embed, graph.RoPE, graph.KVWrite, graph.Add, graph.SwiGLU, graph.GeGLU, graph.RMSNorm, graph.HeadNorm:
		return s.n.Out == graph.NoBuf || b.g.Bufs[s.n.Out].Kind == graph.PerToken
	}
	return false
}

// runsOn finds the barriers that a pass without clock and Tap does not need: q, k and v read one input and write apart; a
// norm after a residual add needs only the tokens that the same worker has just added.
func (b *Backend) runsOn() {
	first := 0 // of the steps since the last barrier
	for i := range b.steps {
		if i+1 == len(b.steps) {
			return
		}
		next := &b.steps[i+1]
		free := true
		for j := first; j <= i && free; j++ {
			s := &b.steps[j]
			free = b.byToken(s) && b.byToken(next) || !clash(s, next)
		}
		b.steps[i].runOn = free
		if !free {
			first = i + 1
		}
	}
}

// clash tells whether one of two steps writes what the other reads or writes. Step a's own quantising does not count: it
// has its own barrier, or is each worker's own.
func clash(a, b *step) bool {
	ra, wa := a.access()
	rb, wb := b.access()
	if a.n.Kind == graph.MatMul {
		wa = wa[:1]
	}
	return meets(wa, rb) || meets(wa, wb) || meets(ra, wb)
}

func meets(a, b []graph.Buf) bool {
	for _, x := range a {
		for _, y := range b {
			if x == y {
				return true
			}
		}
	}
	return false
}
