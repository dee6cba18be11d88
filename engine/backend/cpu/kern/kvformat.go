package kern

import (
	"fmt"
	"math"

	"glassbox/engine/tensor"
)

// Keys and values may also be kept as float32, or in blocks of 32 dims with a shared scale. Values are rows of ggml's blocks,
// Q8_0 or Q4_0. Keys are blocks of 16 tokens: 16 float16 scales, then for each dim (Q4_0: for dims i and i+16 together) a
// byte of each token, so that what comes out is [dim][16 tokens]. Attention expands them a few pages at a time into float32
// and runs over that; the sums are those of float32 pages.

// expandFunc turns blocks into float32: of keys [32 dims][16 tokens] a block, of a row 32 dims.
type expandFunc = func(dst *float32, src *byte, blocks int)

// kvKernels are those for formats other than float16.
type kvKernels struct {
	qk                         []qkFunc // by rows, over float32 pages
	pv16, pv32, pv64           []pvFunc // the wider ones may be nil
	keyQ8, keyQ4, rowQ8, rowQ4 expandFunc
}

// PageBytes is the size of one head's keys, or values, of a page.
func PageBytes(t tensor.Type, dim int) int { return PageTokens * t.RowBytes(dim) }

// PutKey writes token in (0 to 15) of a page of keys. row is scratch of t.RowBytes(len(key)).
func (k *Kernels) PutKey(t tensor.Type, page []byte, in int, key []float32, row []byte) {
	switch t {
	case tensor.F32:
		for i, f := range key {
			putF32(page[4*(PageTokens*i+in):], f)
		}
	case tensor.F16:
		k.WriteKey(halves(page)[in:], key)
	default:
		quantized(t, row, key)
		n := t.BlockBytes()
		for b := range len(key) / 32 {
			from, to := row[b*n:(b+1)*n], page[PageTokens*b*n:PageTokens*(b+1)*n]
			to[2*in], to[2*in+1] = from[0], from[1]
			for i, c := range from[2:] {
				to[2*PageTokens+PageTokens*i+in] = c
			}
		}
	}
}

// PutValue writes token in of a page of values.
func (k *Kernels) PutValue(t tensor.Type, page []byte, in int, value []float32) {
	n := t.RowBytes(len(value))
	row := page[in*n : (in+1)*n]
	switch t {
	case tensor.F32:
		for i, f := range value {
			putF32(row[4*i:], f)
		}
	case tensor.F16:
		k.WriteValue(halves(row), value)
	default:
		quantized(t, row, value)
	}
}

// quantized fills row with the codes of x. What is not finite becomes blocks whose scale is NaN, so that it is seen.
func quantized(t tensor.Type, row []byte, x []float32) {
	if tensor.Quantize(t, row, x) == nil {
		return
	}
	nan := tensor.F32ToF16(float32(math.NaN()))
	for at := 0; at < len(row); at += t.BlockBytes() {
		row[at], row[at+1] = byte(nan), byte(nan>>8)
		for i := range row[at+2 : at+t.BlockBytes()] {
			row[at+2+i] = 1
		}
	}
}

func putF32(b []byte, f float32) {
	u := math.Float32bits(f)
	b[0], b[1], b[2], b[3] = byte(u), byte(u>>8), byte(u>>16), byte(u>>24)
}

// ExpandKeys turns a page of Q8_0 or Q4_0 keys into float32, [dim][16 tokens].
func (k *Kernels) ExpandKeys(t tensor.Type, dst []float32, page []byte, dim int) {
	_, _ = dst[PageTokens*dim-1], page[PageBytes(t, dim)-1]
	k.expander(t, true)(&dst[0], &page[0], dim/32)
}

// ExpandValues turns dims [d0, d1), multiples of 32, of a page of Q8_0 or Q4_0 values into float32, [16 tokens][d1-d0].
func (k *Kernels) ExpandValues(t tensor.Type, dst []float32, page []byte, dim, d0, d1 int) {
	n, w, f := t.RowBytes(dim), d1-d0, k.expander(t, false)
	_, _ = dst[PageTokens*w-1], page[PageTokens*n-1]
	for in := range PageTokens {
		f(&dst[in*w], &page[in*n+t.RowBytes(d0)], w/32)
	}
}

func (k *Kernels) expander(t tensor.Type, keys bool) expandFunc {
	switch {
	case t == tensor.Q8_0 && keys:
		return k.kv.keyQ8
	case t == tensor.Q4_0 && keys:
		return k.kv.keyQ4
	case t == tensor.Q8_0:
		return k.kv.rowQ8
	case t == tensor.Q4_0:
		return k.kv.rowQ4
	}
	panic(fmt.Sprintf("kern: no blocks of keys or values in %v", t))
}

// ScoresF32 is Scores over pages of float32 keys.
func (k *Kernels) ScoresF32(s []float32, lds int, q []float32, ldq int, pages []uintptr, off, rows, dim int, scale float32) {
	n := len(pages)
	if n == 0 || rows == 0 {
		return
	}
	_, _ = s[(rows-1)*lds+n*PageTokens-1], q[(rows-1)*ldq+dim-1]
	if dim%16 != 0 {
		for r := range rows {
			qkRowF32(s[r*lds:][:n*PageTokens], q[r*ldq:][:dim], &pages[0], off, scale)
		}
		return
	}
	most := len(k.kv.qk) - 1
	for r := 0; r < rows; r += most {
		k.kv.qk[min(most, rows-r)](&s[r*lds], 4*lds, &q[r*ldq], 4*ldq, &pages[0], off, n, dim/16, scale)
	}
}

// MixF32 is Mix over pages of float32 values.
func (k *Kernels) MixF32(out []float32, ldo int, p []float32, ldp int, pages []uintptr, off, rows, n, dims, ldv int) {
	if n == 0 || rows == 0 {
		return
	}
	_, _, _ = out[(rows-1)*ldo+dims-1], p[(rows-1)*ldp+n-1], pages[(n-1)/PageTokens]
	if dims%16 != 0 {
		for r := range rows {
			pvRowF32(out[r*ldo:][:dims], p[r*ldp:][:n], &pages[0], off, ldv)
		}
		return
	}
	most := len(k.kv.pv16) - 1
	for r := 0; r < rows; r += most {
		c := min(most, rows-r)
		for d := 0; d < dims; {
			f, w := k.kv.pv16, 16
			switch {
			case k.kv.pv64 != nil && dims-d >= 64:
				f, w = k.kv.pv64, 64
			case k.kv.pv32 != nil && dims-d >= 32:
				f, w = k.kv.pv32, 32
			}
			f[c](&out[r*ldo+d], 4*ldo, &p[r*ldp], 4*ldp, &pages[0], off+4*d, n, ldv)
			d += w
		}
	}
}
