//go:build cuda

package cuda

import (
	"glassbox/engine/backend/cuda/driver"
	"glassbox/engine/graph"
	"glassbox/engine/kv"
)

// layerCache is where the layer's pages begin.
func (b *Backend) layerCache(layer int) driver.Ptr {
	return b.cache + driver.Ptr(int64(layer)*b.layerBytes())
}

// kvWrite puts keys and values at the tokens' positions.
func kvWrite(b *Backend, s *step) error {
	a := s.n.Attn
	return b.launch("kv_write_"+b.kvName(), [3]int{len(b.batch.Tokens), a.KVHeads}, 32, 0, b.bufs[s.n.A], b.bufs[s.n.B], b.layerCache(s.n.Layer),
		b.in.tables.p, b.in.tableAt.dev, b.in.pos.dev, b.o.Pages, a.KVHeads, a.HeadDim)
}

// CopyPage copies a page's keys and values, of all layers and heads. An error is told by the next pass.
func (b *Backend) CopyPage(from, to kv.Page) {
	if b.lost != nil {
		return
	}
	size := b.pageBytes()
	_ = b.loses(b.dev.Do(func() error {
		for i := range b.g.Layers * b.g.Attn.KVHeads {
			head := b.cache + driver.Ptr(int64(i)*size*int64(b.o.Pages))
			if err := driver.CopyAsync(b.st, head+driver.Ptr(int64(to)*size), head+driver.Ptr(int64(from)*size), size); err != nil {
				return err
			}
		}
		return nil
	}))
}

// scores multiplies queries with the keys of their KV heads.
func scores(b *Backend, s *step) error {
	a := s.n.Attn
	return b.launch("attn_scores_"+b.kvName(), [3]int{len(b.batch.Tokens), a.Heads}, 128, 0, b.scores.p, b.in.offs.dev, b.bufs[s.n.A], b.layerCache(s.n.Layer),
		b.in.tables.p, b.in.tableAt.dev, b.in.pos.dev, b.o.Pages, a.Heads, a.KVHeads, a.HeadDim, a.Scale, a.Window)
}

// softmax turns each row of scores into weights that sum to one.
func softmax(b *Backend, s *step) error {
	return b.launch("attn_softmax", [3]int{len(b.batch.Tokens), s.n.Attn.Heads}, 128, 0, b.scores.p, b.in.offs.dev, b.in.pos.dev, s.n.Attn.Heads)
}

// mix sums values under the weights.
func mix(b *Backend, s *step) error {
	a := s.n.Attn
	return b.launch("attn_mix_"+b.kvName(), [3]int{len(b.batch.Tokens), a.Heads}, 128, 0, b.bufs[s.n.Out], b.scores.p, b.in.offs.dev, b.layerCache(s.n.Layer),
		b.in.tables.p, b.in.tableAt.dev, b.in.pos.dev, b.o.Pages, a.Heads, a.KVHeads, a.HeadDim, a.Window)
}

// fewUnits and mostParts say when attention is split over keys: when the units alone would not fill the device, and while
// what the splits leave behind stays small (bytes).
const (
	fewUnits  = 512
	mostParts = 128 << 20
)

// splits returns how many chunks of keys are done side by side: 1, or enough for the longest sequence, rounded up to a
// power of two so that few shapes of launch occur.
func (b *Backend) splits() int {
	n := 1
	for n*chunkKeys <= b.in.last {
		n *= 2
	}
	a := b.g.Attn
	if len(b.in.units.host) > fewUnits || int64(n)*int64(len(b.batch.Tokens)*a.Heads*(2+a.HeadDim)*4) > mostParts {
		return 1
	}
	return n
}

// attention is scores, softmax and mix in one. Its bits are not those of the three: sums run in another order.
func attention(b *Backend, s *step) error {
	last := s.also[len(s.also)-1].n // the mix
	a, splits := last.Attn, b.splits()
	per := "2"
	switch {
	case a.HeadDim > 128:
		per = "8"
	case a.HeadDim > 64:
		per = "4"
	}
	part := driver.Ptr(0)
	if splits > 1 {
		if err := b.grow(&b.parts, int64(len(b.batch.Tokens)*a.Heads*splits*(2+a.HeadDim)*4)); err != nil {
			return err
		}
		part = b.parts.p
	}
	shared := 4 * (16*(a.HeadDim+1) + 16*a.HeadDim + unitPairs*a.HeadDim + unitPairs*16)
	err := b.launch("attention_"+b.kvName()+"_"+per, [3]int{len(b.in.units.host), splits}, 256, shared, b.bufs[last.Out], part, b.in.units.dev, b.bufs[s.n.A],
		b.layerCache(s.n.Layer), b.in.tables.p, b.in.tableAt.dev, b.in.pos.dev, b.o.Pages, a.Heads, a.KVHeads, a.HeadDim, a.Scale, a.Window)
	if err != nil || splits == 1 {
		return err
	}
	return b.launch("attention_join", [3]int{len(b.batch.Tokens), a.Heads}, 128, 0, b.bufs[last.Out], part, b.in.pos.dev, a.Heads, a.HeadDim, splits, a.Window)
}

// addNorm is the residual add and the norm after it in one, with the same bits.
func addNorm(b *Backend, s *step) error {
	norm := s.also[0].n
	n := b.width(norm.A)
	return b.launch("add_rms_norm", [3]int{len(b.batch.Tokens)}, normThreads(n), 0, b.bufs[norm.Out], b.bufs[s.n.A], b.bufs[s.n.B], b.weights[norm.W], n, norm.Eps)
}

// gateUp is the products gate and up and the SwiGLU of one token in one, with the same bits; of more it is the three.
func gateUp(b *Backend, s *step) error {
	if len(b.batch.Tokens) > 1 {
		for _, t := range append([]*step{{n: s.n, fn: matMul, fresh: s.fresh}}, s.also...) {
			if err := t.fn(b, t); err != nil {
				return err
			}
		}
		return nil
	}
	if err := b.quantise(s, 1); err != nil {
		return err
	}
	w, up := s.n.W, s.also[0].n.W
	return b.launch("gate_up_swiglu_"+format(w.Type), [3]int{(w.Rows + 3) / 4}, 128, 0, b.bufs[s.n.Out], b.weights[w], b.weights[up], b.x8, b.xm, w.Rows, w.Cols)
}

// fuse puts steps together that one kernel does.
func (b *Backend) fuse() {
	b.fusedAt = map[int]*step{}
	for i := 0; i < len(b.plain); {
		fn, n := b.fusion(b.plain[i:])
		s := b.plain[i]
		if n > 1 {
			s.fn = fn
			for j := 1; j < n; j++ {
				s.also = append(s.also, &b.plain[i+j])
			}
		}
		if s.n.Kind == graph.Scores {
			keep := s
			b.fusedAt[i+n-1] = &keep
		}
		b.fused = append(b.fused, s)
		i += n
	}
}

// fusion returns the kernel that does the first n of the steps.
func (b *Backend) fusion(steps []step) (fn op, n int) {
	kinds := func(want ...graph.Kind) bool {
		if len(steps) < len(want) {
			return false
		}
		for i, k := range want {
			if steps[i].n.Kind != k {
				return false
			}
		}
		return true
	}
	first := steps[0].n
	switch {
	case kinds(graph.Scores, graph.Softmax, graph.Mix):
		return attention, 3
	case kinds(graph.Add, graph.RMSNorm) && steps[1].n.A == first.Out && steps[1].n.Out != first.Out && b.g.Bufs[steps[1].n.Out].Kind == graph.PerToken:
		return addNorm, 2
	case kinds(graph.MatMul, graph.MatMul, graph.SwiGLU):
		up, glu := steps[1].n, steps[2].n
		if up.A == first.A && glu.A == first.Out && glu.B == up.Out && up.W.Type == first.W.Type && quantised(up.W.Type) && first.Bias == nil && up.Bias == nil {
			return gateUp, 3
		}
	}
	return nil, 1
}
