package cpu

import (
	"runtime/debug"

	"glassbox/engine/backend/cpu/kern"
	"glassbox/engine/graph"
	"glassbox/engine/tensor"
)

// embed expands the tokens' rows of the embedding matrix, from the file's bytes: the only ones that are not copied when the
// model is loaded. A file that was cut short since then must end the pass and not the process.
func embed(b *Backend, s *step, w int) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() != nil {
			b.lost.Store(true)
		}
	}()
	lo, hi := split(len(b.batch.Tokens), w, b.active)
	size := s.n.W.Type.RowBytes(s.n.W.Cols)
	for t := lo; t < hi; t++ {
		r := int(b.batch.Tokens[t])
		// Type and lengths were checked when the matrix was loaded, so that it cannot fail.
		_ = tensor.Dequant(s.n.W.Type, b.row(s.n.Out, t), s.n.W.Data[r*size:(r+1)*size])
		if s.n.Scale != 0 {
			scale(b.row(s.n.Out, t), s.n.Scale)
		}
	}
}

// rmsNorm divides each row by its root mean square and multiplies by the weight. The last one takes only the rows whose
// logits are wanted.
func rmsNorm(b *Backend, s *step, w int) {
	gather := b.g.Bufs[s.n.Out].Kind == graph.PerOut && b.g.Bufs[s.n.A].Kind == graph.PerToken
	width := b.g.Bufs[s.n.A].Width
	lo, hi := split(b.rows(s), w, b.active)
	for i := lo; i < hi; i++ {
		t := i
		if gather {
			t = int(b.batch.Out[i])
		}
		b.k.RMSNorm(b.padded(s.n.Out, i), b.padded(s.n.A, t), s.norm, width, s.n.Eps)
	}
}

// matMul multiplies each row by the weight and adds the bias.
func matMul(b *Backend, s *step, w int) {
	n := b.rows(s)
	if n == 0 {
		return
	}
	x := kern.Input{F: b.bufs[s.n.A], LD: b.ld[s.n.A], N: n}
	if q := s.mat.Quant(); q != kern.AsFloat {
		x.Q = b.quantised(s, q, w, n)
	}
	y, ldy, least := b.bufs[s.n.Out], b.ld[s.n.Out], s.least
	if n >= manyTokens {
		least = 1
	}
	total := s.mat.Pairs
	for lo, hi := b.first(s, w, total, least); lo < hi; lo, hi = b.next(s, total, least) {
		s.mat.Mul(y, ldy, x, lo, hi, b.workers[w].scratch)
		if s.bias == nil {
			continue
		}
		r, m := lo*kern.Pair, (hi-lo)*kern.Pair
		for t := range n {
			row := y[t*ldy+r:][:m]
			b.k.Add(row, row, s.bias[r:], m)
		}
	}
}

// quantised returns the input of a product in 16 bits. Several products of one input share it: the first makes it. For one
// token each worker makes its own, which is quicker than to wait for another's.
func (b *Backend) quantised(s *step, q kern.Quant, w, n int) []byte {
	x, ld, cols := b.bufs[s.n.A], b.ld[s.n.A], s.mat.NCols
	own := &b.workers[w]
	if n == 1 {
		if s.fresh {
			b.k.Quantise(q, own.xq, x, ld, cols, 1, 0, 1, own.scratch)
		}
		return own.xq
	}
	if s.fresh {
		lo, hi := split(b.k.Tiles(n), w, b.active)
		b.k.Quantise(q, b.xq, x, ld, cols, n, lo, hi, own.scratch)
		b.meet()
	}
	return b.xq
}

// add puts the branch back onto the residual stream.
func add(b *Backend, s *step, w int) {
	lo, hi := split(b.rows(s), w, b.active)
	for t := lo; t < hi; t++ {
		out := b.padded(s.n.Out, t)
		b.k.Add(out, b.padded(s.n.A, t), b.padded(s.n.B, t), len(out))
	}
}

// swiGLU multiplies silu(gate) with up.
func swiGLU(b *Backend, s *step, w int) {
	lo, hi := split(b.rows(s), w, b.active)
	for t := lo; t < hi; t++ {
		out := b.padded(s.n.Out, t)
		b.k.SwiGLU(out, b.padded(s.n.A, t), b.padded(s.n.B, t), len(out))
	}
}
