package kern

import "unsafe"

// prefetch is how many bytes ahead of the reading the weights are fetched. mat-vecs of byte forms run better with less.
const (
	prefetch      = 8192
	prefetchBytes = 2048
)

// chunk is how many bytes of weights a mat-vec reads for all tokens of a small batch before it goes on: they stay in L2.
// chunkOne is the same for one token, where only the length of a call counts: nothing can preempt it, and the garbage
// collector waits for it (1 MiB is some 25 us).
const (
	chunk    = 128 << 10
	chunkOne = 1 << 20
)

// Input is a batch of N rows as a matrix wants them: F as float32, LD floats apart and padded with zeros to a multiple of
// Pad; or Q, quantised by Quantise.
type Input struct {
	F  []float32
	LD int
	Q  []byte
	N  int
}

// Mul computes rows [32*p0, 32*p1) for all tokens: y[t*ldy+row] = m[row] . x[t]. Rows of padding get 0, so y needs room
// for Pairs*32 rows. scratch holds Scratch bytes, each thread its own.
func (m *Mat) Mul(y []float32, ldy int, x Input, p0, p1 int, scratch []byte) {
	if p0 >= p1 || x.N == 0 {
		return
	}
	_ = y[(x.N-1)*ldy+Pair*p1-1]
	switch {
	case !m.Form.Packed():
		_ = m.Data[p1*Pair*m.stride()-1]
		m.k.dots(m.Form, y[p0*Pair:], ldy, &m.Data[p0*Pair*m.stride()], m.stride(), (p1-p0)*Pair, x, m.NCols)
	case m.tile(x.N) > 1 && m.k.tiles[m.Form] != nil:
		m.tileMat(y, ldy, x, p0, p1, scratch)
	case m.tile(x.N) > 1 || m.k.mv[m.Form] == nil:
		m.matMat(y, ldy, x, p0, p1, scratch)
	default:
		m.matVecs(y, ldy, x, p0, p1)
	}
}

// matVecs goes over the weights once, in pieces that stay in cache for all tokens.
func (m *Mat) matVecs(y []float32, ldy int, x Input, p0, p1 int) {
	size := m.Quant().Size(m.NCols)
	gb := m.units * info[m.Form].unit // bytes of a group
	_, _ = x.Q[x.N*size-1], m.Data[2*p1*gb-1]
	pf := prefetch
	if m.Form == Q8_0 || m.Form == Q8_1 {
		pf = prefetchBytes
	}
	step := max(chunkOne/gb, 1)
	if x.N > 1 {
		step = max(chunk/gb, 1)
	}
	for g := 2 * p0; g < 2*p1; g += step {
		n := min(step, 2*p1-g)
		for t := range x.N {
			m.k.mv[m.Form](&y[t*ldy+g*group], &m.Data[g*gb], &x.Q[t*size], m.units, n, pf)
		}
	}
}

// matMat takes 32 rows at a time, unpacks them to bytes once for all tokens, and goes over the tiles of tokens.
func (m *Mat) matMat(y []float32, ldy int, x Input, p0, p1 int, scratch []byte) {
	i, size, most := &info[m.Form], m.Quant().Size(m.NCols), m.tile(x.N)
	gb := m.units * i.unit
	_, _ = x.Q[x.N*size-1], m.Data[2*p1*gb-1]
	for p := p0; p < p1; p++ {
		w, ws := &m.Data[2*p*gb], m.units*i.byteUnit
		if f := m.k.unpack[m.Form]; f != nil {
			_ = scratch[2*ws-1]
			f(&scratch[0], w, 2*m.units)
			w = &scratch[0]
		}
		for t := 0; t < x.N; t += most {
			T := min(most, x.N-t)
			q, out := &x.Q[t*size], &y[t*ldy+Pair*p]
			if f := m.k.mm[m.Form][T]; f != nil {
				f(out, 4*ldy, w, ws, q, m.units)
				continue
			}
			for h := range 2 {
				w1, o1 := &m.Data[(2*p+h)*gb], &y[t*ldy+Pair*p+group*h]
				if T == 1 && m.k.mv[m.Form] != nil {
					m.k.mv[m.Form](o1, w1, q, m.units, 1, prefetch)
				} else {
					m.k.mm1[m.Form][T](o1, 4*ldy, w1, q, m.units)
				}
			}
		}
	}
}

// dots multiplies n rows of a float form. A piece of dotRows rows stays in cache for all tokens.
func (k *Kernels) dots(f Form, y []float32, ldy int, w *byte, stride, n int, x Input, cols int) {
	fs, n16 := k.dot[f], (cols+15)/16
	_ = x.F[(x.N-1)*x.LD+16*n16-1]
	most := len(fs) - 1
	for r := 0; r < n; r += k.dotRows {
		wr := (*byte)(unsafe.Add(unsafe.Pointer(w), r*stride))
		for t := 0; t < x.N; t += most {
			fs[min(most, x.N-t)](&y[t*ldy+r], 4*ldy, wr, &x.F[t*x.LD], 4*x.LD, n16)
		}
	}
}
