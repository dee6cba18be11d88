package kern

import "unsafe"

// Quantised inputs have 16 bits in two halves: q = round(x/d) to the nearest, even between two, d = max|x|/32512, and
// q = 256*hi + lo, both within -127 and 127 (a lo of -128 becomes -127: AVX2 has to negate it).
//
// Blocks of 32 (x32 bytes a token): T f32 d, T i32 -128*sum(q), T f32 d*sum(q), 8xT dwords of 4 int8 hi, 8xT dwords of lo.
// Super-blocks of 256 (x256 bytes a token): T f32 d, 6xT dwords of the sums of 32 in pieces of 7 bits (high 0-3, high 4-7,
// middle 0-3, ...), 16xT i32 -32*sum16(q), 64xT dwords of hi, 64xT of lo. T is the token tile.
const (
	x32, atHi, atLo    = 76, 12, 44
	x256, kHi, kLo, kC = 604, 92, 348, 28
)

// Few is the batch from which the mat-mat beats a mat-vec for each token. It is one number for all, so that matrices can
// share an input: 4-bit weights would like 4 when they are in a cache and 9 or more when they come from memory, because
// they must be unpacked; bytes would like 2.
const Few = 5

// tileOf returns the tokens of one tile of quantised inputs in a batch of n.
func (k *Kernels) tileOf(n int) int {
	if n < Few {
		return 1
	}
	return k.tile
}

// tile is tileOf for the matrix.
func (m *Mat) tile(n int) int {
	if !m.Form.Packed() {
		return 1
	}
	return m.k.tileOf(n)
}

// Quant says how a matrix wants its input: matrices of equal Quant share a quantised input.
type Quant uint8

// Kinds of input.
const (
	AsFloat Quant = iota
	Per32
	Per256
)

// Quant returns how m wants its input.
func (m *Mat) Quant() Quant {
	switch {
	case !m.Form.Packed():
		return AsFloat
	case info[m.Form].k:
		return Per256
	}
	return Per32
}

// Size returns the bytes of one quantised token of cols values.
func (q Quant) Size(cols int) int {
	switch q {
	case Per32:
		return (cols + 63) / 64 * 2 * x32
	case Per256:
		return (cols + 255) / 256 * x256
	}
	return 0
}

// Tiles returns how many pieces Quantise makes of a batch of n tokens.
func (k *Kernels) Tiles(n int) int {
	t := k.tileOf(n)
	return (n + t - 1) / t
}

// Room returns the bytes that a batch of n tokens of cols values needs for its quantised form.
func (k *Kernels) Room(q Quant, cols, n int) int {
	if q != AsFloat && k.place32 != nil {
		return (n+1)*q.wide(cols) + wideAhead
	}
	return n * q.Size(cols)
}

// Quantise fills pieces [t0, t1) of dst, which has Room, from x: n rows of cols values, ld floats apart, padded with zeros to
// a multiple of Pad. Pieces may be done at the same time by different threads. scratch holds MaxT*Size(cols) bytes.
func (k *Kernels) Quantise(q Quant, dst []byte, x []float32, ld, cols, n, t0, t1 int, scratch []byte) {
	size, each, T := q.Size(cols), q.Size(cols), k.tileOf(n)
	wide := T > 1 && k.place32 != nil
	if wide {
		each = q.wide(cols)
	}
	for t := t0; t < t1; t++ {
		c := min(T, n-t*T)
		out := dst[t*T*each:]
		if c == 1 {
			k.quantRow(q, out, x[t*T*ld:], cols)
			continue
		}
		for i := range c {
			k.quantRow(q, scratch[i*size:(i+1)*size], x[(t*T+i)*ld:], cols)
		}
		if !wide {
			k.merge(out[:c*size], scratch[:c*size], c)
			continue
		}
		even := (c + 1) / 2 * 2
		for i := range c {
			k.place(q, out[:even*each], scratch[i*size:(i+1)*size], even, i)
		}
	}
}

// place puts quantised token i into a tile of T for the tile kernels.
func (k *Kernels) place(q Quant, dst, src []byte, T, i int) {
	if q == Per256 {
		k.place256(&dst[0], &src[0], T, i, len(src)/x256)
		return
	}
	k.place32(&dst[0], &src[0], T, i, len(src)/x32)
}

// quantRow quantises one token.
func (k *Kernels) quantRow(q Quant, dst []byte, x []float32, cols int) {
	if q == Per256 {
		n := (cols + 255) / 256
		_, _ = dst[n*x256-1], x[n*256-1]
		k.quant256(&dst[0], &x[0], n)
		return
	}
	n := (cols + 63) / 64 * 2
	_, _ = dst[n*x32-1], x[n*32-1]
	k.quant32(&dst[0], &x[0], n)
}

// merge makes a tile of T quantised tokens, one after the other in src, dword by dword.
func (k *Kernels) merge(dst, src []byte, T int) {
	n := len(src) / 4 / T
	s, d := dwords(src), dwords(dst)
	done := 0
	if f := k.interleave[T]; f != nil && n >= 16 {
		done = n / 16 * 16
		f(&dst[0], &src[0], 4*n, n/16)
	}
	for j := range T {
		r := s[j*n : (j+1)*n]
		for i := done; i < n; i++ {
			d[i*T+j] = r[i]
		}
	}
}

func dwords(b []byte) []uint32 {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*uint32)(unsafe.Pointer(&b[0])), len(b)/4)
}
