package cpu

// Ops that some architectures have and Llama has not.

// headNorm is RMSNorm of each head for itself, all heads with the same weight. A head that is no whole number of the
// kernels' rows goes through a padded copy.
func headNorm(b *Backend, s *step, w int) {
	d := s.n.Attn.HeadDim
	var copied []float32
	if d != len(s.norm) {
		copied = make([]float32, len(s.norm))
	}
	lo, hi := split(b.rows(s), w, b.active)
	for t := lo; t < hi; t++ {
		row := b.row(s.n.Out, t)
		for h := 0; h < len(row); h += d {
			x := row[h : h+d]
			if copied == nil {
				b.k.RMSNorm(x, x, s.norm, d, s.n.Eps)
				continue
			}
			copy(copied, x)
			b.k.RMSNorm(copied, copied, s.norm, d, s.n.Eps)
			copy(x, copied)
		}
	}
}

// geGLU multiplies gelu(gate) with up.
func geGLU(b *Backend, s *step, w int) {
	lo, hi := split(b.rows(s), w, b.active)
	for t := lo; t < hi; t++ {
		out := b.padded(s.n.Out, t)
		b.k.GeGLU(out, b.padded(s.n.A, t), b.padded(s.n.B, t), len(out))
	}
}

// scale multiplies x by f.
func scale(x []float32, f float32) {
	for i := range x {
		x[i] *= f
	}
}

// allReduce sums the rows of all shards, padding and all. One worker of each shard does it.
func allReduce(b *Backend, s *step, w int) {
	if w == 0 {
		b.o.Group.AllReduce(b.bufs[s.n.Out][:b.rows(s)*b.ld[s.n.Out]])
	}
}
