package kern

import "encoding/binary"

// AMX multiplies tiles of bfloat16: 16 tokens by 16 rows of weights, a block of columns at a time. Weights and the halves of
// inputs are exact in bfloat16, and a block's sum is an integer below 2^24, exact in float32: the same number as everywhere,
// and what is done with it is in the same order. Layouts:
//
//	inputs of T tokens, 32 columns, 136 B a token: T f32 d | T f32 d*sum | T rows of 32 of 256*hi | T rows of 32 of lo
//	256 columns, 1056 B: T f32 d | 6T dwords of the sums of 32 | T dwords of nothing | 8 such pairs of rows
//	weights of 16 rows, 32 columns, 1088 B: 16 f16 d | 16 f16 m | 16 lines of 2 columns
//	256 columns, 8512 B: 320 B as in K32 or Q6_K | 128 lines
const (
	wide32, wide256 = 136, 1056
	wideBlock       = 1088
	wideK           = 8512
	wideAhead       = 8 << 10 // what kernels read beyond the end of inputs, and do not use
	tileSums        = 2*1024 + 64
	tileInputs      = 1 << 20 // bytes of inputs that stay in the second cache
	tileTokens      = 128     // go over the same widened weights
	tileColumns     = 256     // multiplied at a time: inputs of 16 tokens and weights of 32 rows stay in the first cache
	// tileScratch is what a product needs for sums and widened weights.
	tileScratch = tileSums + 2*(tileColumns/32)*wideBlock + wideK
)

// wide is the size of one token in a tile.
func (q Quant) wide(cols int) int {
	if q == Per256 {
		return (cols + 255) / 256 * wide256
	}
	return (cols + 63) / 64 * 2 * wide32
}

// tileConfig is what LDTILECFG loads: the palette, then bytes a row and rows of each tile.
type tileConfig [64]byte

// tileConfigs has the shapes for sums over 16 and 32 weights, by tokens.
var tileConfigs = func() (c [2][MaxT + 1]tileConfig) {
	for i, run := range []int{16, 32} {
		for t := 1; t <= MaxT; t++ {
			c[i][t][0] = 1
			// two of sums, two of inputs, one of weights
			for tile, shape := range [][2]int{{64, t}, {64, t}, {2 * run, t}, {2 * run, t}, {64, run / 2}} {
				binary.LittleEndian.PutUint16(c[i][t][16+2*tile:], uint16(shape[0]))
				c[i][t][48+tile] = byte(shape[1])
			}
		}
	}
	return c
}()

// tileJob is one product by tiles.
type tileJob struct {
	m          *Mat
	y          []float32
	ldy        int
	x          []byte
	each       int // bytes of a token in x
	full, rest int // tiles, tokens beyond them
	cfg        *[MaxT + 1]tileConfig
	unit       int // bytes of a block of weights once widened, of in bytes of a token and packed ones of a group
	in, packed int
	blocks     int // widened blocks of a packed unit
	sums, w    []byte
}

// tileMat multiplies some columns of 32 rows at a time, widened to bfloat16 once for tileTokens tokens. As many columns of
// these tokens as fit into the second cache are multiplied with all rows, then the next; meanwhile the sums wait in y.
func (m *Mat) tileMat(y []float32, ldy int, x Input, p0, p1 int, scratch []byte) {
	q := m.Quant()
	j := tileJob{m: m, y: y, ldy: ldy, x: x.Q, each: q.wide(m.NCols), full: x.N / MaxT, rest: x.N % MaxT, cfg: &tileConfigs[1],
		unit: wideBlock, in: wide32, packed: info[m.Form].unit, blocks: max(info[m.Form].unitK/32, 1), sums: scratch[:tileSums], w: scratch[tileSums:]}
	if q == Per256 {
		j.unit, j.in, j.blocks = wideK, wide256, 1
	}
	if m.Form == Q6_K {
		j.cfg = &tileConfigs[0]
	}
	tiles := (x.N + MaxT - 2) / MaxT // one token beyond whole tiles is left to last
	_, _ = x.Q[((x.N+1)/2*2-1)*j.each], m.Data[2*p1*m.units*j.packed-1]
	parts := (tiles*MaxT + tileTokens - 1) / tileTokens
	for part := range parts {
		t0, t1 := tiles*part/parts, tiles*(part+1)/parts
		steps := min(((t1-t0)*MaxT*j.each+tileInputs-1)/tileInputs, m.units)
		for s := range steps {
			u0, u1 := m.units*s/steps, m.units*(s+1)/steps
			for p := p0; p < p1; p++ {
				j.pieces(p, u0, u1, t0, t1)
			}
		}
	}
	if j.rest == 1 {
		j.last(x.N-1, p0, p1)
	}
}

// pieces multiplies units [u0, u1) of 32 rows by tiles [t0, t1), so many units at a time as stay in the first cache.
func (j *tileJob) pieces(p, u0, u1, t0, t1 int) {
	most := max(tileColumns/info[j.m.Form].unitK, 1)
	for n := (u1 - u0 + most - 1) / most; n > 0; n-- {
		u := u0 + (u1-u0)/n
		j.columns(p, u0, u, t0, t1)
		u0 = u
	}
}

// columns multiplies units [u0, u1) of 32 rows by tiles [t0, t1).
func (j *tileJob) columns(p, u0, u1, t0, t1 int) {
	m, n := j.m, (u1-u0)*j.blocks
	ws := n * j.unit
	_ = j.w[2*ws+wideK-1]
	for g := range 2 {
		m.k.widen[m.Form](&j.w[g*ws], &m.Data[((2*p+g)*m.units+u0)*j.packed], u1-u0)
	}
	first := 0
	if u0 == 0 {
		first = 1
	}
	at := u0 * j.blocks * j.in
	run := func(t, T, n, tiles, used int) {
		tok := t * MaxT
		m.k.tiles[m.Form][T/2](&j.y[tok*j.ldy+Pair*p], 4*j.ldy, &j.w[0], ws, &j.x[tok*j.each+at*T], T*j.each, n, tiles, &j.cfg[T][0], &j.sums[0], first, used)
	}
	if whole := min(t1, j.full); whole > t0 {
		run(t0, MaxT, n, whole-t0, MaxT)
	}
	if t1 > j.full {
		run(j.full, (j.rest+1)/2*2, n, 1, j.rest)
	}
}

// last multiplies the one token that is left beyond whole tiles.
func (j *tileJob) last(t, p0, p1 int) {
	m := j.m
	gb := m.units * j.packed
	for p := p0; p < p1; p++ {
		out, q, w := &j.y[t*j.ldy+Pair*p], &j.x[t*j.each], &m.Data[2*p*gb]
		if f := m.k.mv[m.Form]; f != nil {
			f(out, w, q, m.units, 2, prefetch)
		} else {
			m.k.mm[m.Form][1](out, 4*j.ldy, w, gb, q, m.units)
		}
	}
}
