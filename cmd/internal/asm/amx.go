package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// AMX: tiles of 16 rows of 64 bytes. Neither Go's assembler nor avo knows the instructions, so they are written as bytes,
// and their addresses need registers whose numbers are known: these kernels use physical registers throughout.
//
// Weights and both halves of the inputs are small integers, and so exact in bfloat16; tdpbf16ps multiplies 32 of them a row
// and sums in float32, which is exact as long as no sum can pass 2^24. An A tile holds 32 inputs of T tokens, one tile the
// upper halves times 256 and one the lower ones; B holds a block of 16 rows of weights, two columns a line; C gets the sums,
// one row a token, one lane a weight row. Where the sum over both halves could pass 2^24 (bytes: 32*128*32639), each half has
// a C, and the two are added once they are in vectors: one rounding, as the conversion of the integer has.
const (
	tC0 = iota
	tC1
	tHi
	tLo
	tB
)

const amxT = 16 // tokens of one tile of inputs

// Inputs of a tile of T tokens. Block of 32: T f32 d, T f32 d*sum, T rows of 32 bfloat16 of the upper halves, T rows of the
// lower ones. Super-block of 256: T f32 d, 6T dwords of sums, T dwords of nothing, 8 such pairs of rows.
const (
	bF, bH, b32    = 4, 8, 136
	bkH, b256      = 32, 1056
	wideUnit       = 1088      // block of 16 rows of 32 weights: 16 f16 d, 16 f16 m, 16 lines
	wideK, wideKAt = 8512, 320 // 256 weights: what the form of bytes has before its lines, 128 lines
)

// code emits raw bytes that read the registers in.
func code(in []Op, b ...byte) {
	for len(b) > 0 {
		i := &ir.Instruction{Opcode: "BYTE", Operands: []Op{U8(b[0])}, Inputs: in}
		n := 1
		if len(b) >= 4 {
			n = 4
			i.Opcode, i.Operands = "LONG", []Op{U32(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)}
		}
		Instruction(i)
		b = b[n:]
	}
}

func number(r reg.GPPhysical) byte { return byte(r.PhysicalIndex()) }

// tileMem emits a tile instruction with memory: row i of the tile is at base + off + i*stride. pp is its prefix.
func tileMem(name string, pp, op, tile byte, base, stride reg.GPPhysical, off int) {
	b, s := number(base), number(stride)
	Commentf("%s tmm%d, [%s + %s + %d]", name, tile, base.Asm(), stride.Asm(), off)
	vex := byte(0xe2) &^ (s >> 3 << 6) &^ (b >> 3 << 5) // R, X, B inverted; map 0f38
	o := uint32(int32(off))
	code([]Op{base, stride}, 0xc4, vex, 0x78|pp, op, 0x84|tile<<3, s&7<<3|b&7, byte(o), byte(o>>8), byte(o>>16), byte(o>>24))
}

func tileLoad(tile byte, base, stride reg.GPPhysical, off int) {
	tileMem("tileloadd", 3, 0x4b, tile, base, stride, off)
}

func tileStore(tile byte, base, stride reg.GPPhysical, off int) {
	tileMem("tilestored", 2, 0x4b, tile, base, stride, off)
}

func tileZero(tile byte) {
	Commentf("tilezero tmm%d", tile)
	code(nil, 0xc4, 0xe2, 0x7b, 0x49, 0xc0|tile<<3)
}

// tileDot adds to each float of c the products of 2 bfloat16 of a with 2 of b, for all pairs of columns of a.
func tileDot(c, a, b byte) {
	Commentf("tdpbf16ps tmm%d, tmm%d, tmm%d", c, a, b)
	code(nil, 0xc4, 0xe2, 0x02|(^b&15)<<3, 0x5c, 0xc0|c<<3|a)
}

// tileConfig loads the shapes of the tiles from 64 bytes at p, which is none of SP, BP, R12 and R13.
func tileConfig(p reg.GPPhysical) {
	b := number(p)
	Commentf("ldtilecfg [%s]", p.Asm())
	code([]Op{p}, 0xc4, 0xe2&^(b>>3<<5), 0x78, 0x49, b&7)
}

// tileRelease puts the tiles into their first state: a thread that is switched away then has none to save.
func tileRelease() {
	Comment("tilerelease")
	code(nil, 0xc4, 0xe2, 0x78, 0x49, 0xc0)
}

// amx is a tile kernel: T tokens, two groups of 16 rows one after the other. Z0 to Z15 are sums.
type amx struct {
	T     int
	split bool // each half of the inputs has its own sums
	run   int  // weights that are summed as integers: 32 or 16

	y, ldy, x, tiles, tmp, s64, group reg.GPPhysical // of the tile at hand; group: 0 or 64, where the group's rows start in y
	wt, xt                            reg.GPPhysical // where tiles are loaded from
	w, xv, n, p                       reg.GPPhysical // where vectors read from; units left; scratch
}

// open loads the arguments and starts the loops over tiles of tokens and groups.
func (a *amx) open(name string) {
	text(name, "func(y *float32, ldy int, w *byte, ws int, x *byte, xs, units, tiles int, cfg, tmp *byte, first, rows int)")
	a.y, a.ldy, a.x, a.tiles, a.tmp, a.s64, a.group = reg.RDI, reg.RSI, reg.RDX, reg.R15, reg.R12, reg.RAX, reg.RBX
	a.wt, a.xt, a.w, a.xv, a.n, a.p = reg.R8, reg.R10, reg.R9, reg.R13, reg.R11, reg.RCX
	Load(Param("cfg"), a.n)
	tileConfig(a.n)
	Load(Param("y"), a.y)
	Load(Param("ldy"), a.ldy)
	Load(Param("x"), a.x)
	Load(Param("tiles"), a.tiles)
	Load(Param("tmp"), a.tmp)
	MOVQ(U32(64), a.s64)
	Label("tile")
	XORQ(a.group, a.group)
	Label("group")
	Load(Param("w"), a.w)
	TESTQ(a.group, a.group)
	JZ(LabelRef("upper"))
	Load(Param("ws"), a.wt)
	ADDQ(a.wt, a.w)
	Label("upper")
	MOVQ(a.x, a.xv)
	Load(Param("units"), a.n)
}

// rows calls f for the T rows of the group in y. The last one of an odd batch is a place that nobody reads.
func (a *amx) rows(f func(t int)) {
	LEAQ(idx(a.y, a.group, 0), a.p)
	for t := 0; t < a.T; t++ {
		if t == a.T-1 {
			LEAQ(at(a.tmp, 2048), a.xt)
			Load(Param("rows"), a.wt)
			CMPQ(a.wt, U32(uint32(a.T)))
			CMOVQLT(a.xt, a.p)
		}
		f(t)
		if t < a.T-1 {
			ADDQ(a.ldy, a.p)
		}
	}
}

// begin starts the sums in y: at 0 for the first columns.
func (a *amx) begin() {
	Load(Param("first"), a.xt)
	TESTQ(a.xt, a.xt)
	JZ(LabelRef("further"))
	zero(Z[16])
	a.rows(func(int) { VMOVUPS(Z[16], at(a.p, 0)) })
	Label("further")
}

// close ends the loops and the kernel.
func (a *amx) close() {
	ADDQ(U32(64), a.group)
	CMPQ(a.group, U32(128))
	JNE(LabelRef("group"))
	for t := 0; t < a.T; t++ {
		ADDQ(a.ldy, a.y)
	}
	Load(Param("xs"), a.p)
	ADDQ(a.p, a.x)
	DECQ(a.tiles)
	JNZ(LabelRef("tile"))
	tileRelease()
	done()
}

// Three blocks are under way at once: while the vectors work on the sums of one, those of the next are stored and the tiles
// make those of the one after it. load, (the vectors), store, multiply is the order that runs best.

func (a *amx) load(wo, xo, lo int) {
	tileLoad(tHi, a.xt, a.s64, xo)
	tileLoad(tB, a.wt, a.s64, wo)
	tileLoad(tLo, a.xt, a.s64, xo+lo)
}

func (a *amx) multiply() {
	tileZero(tC0)
	tileDot(tC0, tHi, tB)
	if a.split {
		tileZero(tC1)
		tileDot(tC1, tLo, tB)
	} else {
		tileDot(tC0, tLo, tB)
	}
}

func (a *amx) store() {
	tileStore(tC0, a.tmp, a.s64, 0)
	if a.split {
		tileStore(tC1, a.tmp, a.s64, 1024)
	}
}

// sum is the sum of token t, in memory or in register z.
func (a *amx) sum(t int, z reg.VecPhysical) Op {
	if !a.split {
		return at(a.tmp, 64*t)
	}
	VMOVUPS(at(a.tmp, 64*t), z)
	VADDPS(at(a.tmp, 1024+64*t), z, z)
	return z
}

// mma32 makes the tile kernels for 32-weight blocks. Float sums are added in the order of mm32.
func mma32(name string, min, split bool) {
	for T := 2; T <= amxT; T += 2 {
		a := &amx{T: T, split: split, run: 32}
		a.open(fmt.Sprintf("%sT%d", name, T))
		a.begin()
		a.rows(func(t int) { VMOVUPS(at(a.p, 0), Z[t]) })
		LEAQ(at(a.w, 64), a.wt)
		LEAQ(at(a.x, bH*T), a.xt)
		ahead := func() {
			ADDQ(U32(wideUnit), a.wt)
			ADDQ(U32(uint32(b32*T)), a.xt)
		}
		load := func() { a.load(0, 0, 64*T) }
		vectors := func() {
			VCVTPH2PS(at(a.w, 0), Z[28])
			if min {
				VCVTPH2PS(at(a.w, 32), Z[29])
			}
			for t := 0; t < T; t++ {
				z := Z[16+2*(t%4):]
				VMULPS_BCST(at(a.xv, 4*t), Z[28], z[0])
				VFMADD231PS(a.sum(t, z[1]), z[0], Z[t])
				if min {
					VFMADD231PS_BCST(at(a.xv, bF*T+4*t), Z[29], Z[t])
				}
			}
			ADDQ(U32(wideUnit), a.w)
			ADDQ(U32(uint32(b32*T)), a.xv)
		}
		load()
		a.multiply()
		DECQ(a.n)
		JZ(LabelRef("one"))
		ahead()
		load()
		a.store()
		a.multiply()
		DECQ(a.n)
		JZ(LabelRef("two"))
		loop("block", a.n, func() {
			ahead()
			load()
			vectors()
			a.store()
			a.multiply()
		})
		Label("two")
		vectors()
		Label("one")
		a.store()
		vectors()
		a.rows(func(t int) { VMOVUPS(Z[t], at(a.p, 0)) })
		a.close()
	}
}

// mmaK makes the tile kernels for 256-weight super-blocks with a scale for each run of weights. Sums of a super-block are in
// Z0-Z15, float sums in y; they are added in the order of mmK. The last two runs are followed by two that nobody reads.
func mmaK(name string, run int, split bool) {
	for T := 2; T <= amxT; T += 2 {
		a := &amx{T: T, split: split, run: run}
		a.open(fmt.Sprintf("%sT%d", name, T))
		a.begin()
		MOVQ(a.w, a.wt)
		MOVQ(a.x, a.xt)
		runs := 256 / run
		load := func(r int) {
			u := r / runs
			r %= runs
			a.load(u*wideK+wideKAt+r*run*32, u*b256*T+bkH*T+r*run/32*128*T+r*run%32*2, 64*T)
		}
		load(0)
		a.multiply()
		load(1)
		a.store()
		a.multiply()
		Label("unit")
		for t := 0; t < T; t++ {
			zero(Z[t])
		}
		for r := 0; r < runs; r++ {
			load(r + 2)
			extend(run, at(a.w, 64+16*r), Z[28])
			for t := 0; t < T; t++ {
				VFMADD231PS(a.sum(t, Z[16+t%4]), Z[28], Z[t])
			}
			a.store()
			a.multiply()
		}
		a.finishK()
		ADDQ(U32(wideK), a.w)
		ADDQ(U32(uint32(b256*T)), a.xv)
		MOVQ(a.w, a.wt)
		MOVQ(a.xv, a.xt)
		DECQ(a.n)
		JNZ(LabelRef("unit"))
		a.close()
	}
}

// finishK adds a super-block to the float sums in y.
func (a *amx) finishK() {
	VCVTPH2PS(at(a.w, 0), Z[28])
	if a.run == 32 {
		VCVTPH2PS(at(a.w, 32), Z[27])
		VMOVDQU32(at(a.w, 192), Z[24])
		VMOVDQU32(at(a.w, 256), Z[25])
	}
	a.rows(func(t int) {
		VMULPS_BCST(at(a.xv, 4*t), Z[28], Z[29])
		VMOVUPS(at(a.p, 0), Z[30])
		VFMADD231PS(Z[t], Z[29], Z[30])
		if a.run == 32 {
			m := Z[16+t%4]
			zero(m)
			minSums(a.T, a.xv, t, [2]reg.VecPhysical{Z[24], Z[25]}, m)
			VMULPS_BCST(at(a.xv, 4*t), Z[27], Z[29])
			VCVTDQ2PS(m, m)
			VFNMADD231PS(m, Z[29], Z[30])
		}
		VMOVUPS(Z[30], at(a.p, 0))
	})
}

// place makes the kernels that put a quantised token into place t of a tile of T: see the layout above. Of four columns the
// second and the third change places, as in the weights.
func place() {
	for _, k := range []struct {
		name           string
		head           []int // offsets of the dwords that come first
		hi, lo, size   int   // of a token quantised for itself
		first, tile, n int   // of the tile, a token: offset of rows, size; runs of 32
	}{{"place32", []int{xD, xF}, xH, xL, x32, bH, b32, 1}, {"place256", []int{0, 4, 8, 12, 16, 20, 24}, kH, kL, x256, bkH, b256, 8}} {
		text(k.name, "func(dst, src *byte, T, t, blocks int)")
		dst, src, T, t, n := param("dst"), param("src"), param("T"), param("t"), param("blocks")
		h, r, T64, step := GP64().(reg.GPVirtual), GP64().(reg.GPVirtual), GP64().(reg.GPVirtual), GP64().(reg.GPVirtual)
		LEAQ(Mem{Base: dst, Index: t, Scale: 4}, h)
		IMUL3Q(U32(uint32(k.first)), T, r)
		ADDQ(dst, r)
		SHLQ(U8(6), t)
		ADDQ(t, r)
		MOVQ(T, T64)
		SHLQ(U8(6), T64)
		IMUL3Q(U32(uint32(k.tile)), T, step)
		v, p := GP32(), GP64().(reg.GPVirtual)
		half := func(o, shift int) {
			for i := 0; i < 2; i++ {
				VPMOVSXBD(at(src, o+16*i), Z[i])
				VPSLLD(U8(uint8(shift)), Z[i], Z[i])
				VCVTDQ2PS(Z[i], Z[i])
				VPSRLD(U8(16), Z[i], Z[i])
				VPMOVDW(Z[i], Y[i])
				VPSHUFLW(U8(0xd8), Y[i], Y[i])
				VPSHUFHW(U8(0xd8), Y[i], Y[i])
				VMOVDQU(Y[i], at(p, 32*i))
			}
		}
		loop("block", n, func() {
			MOVQ(h, p)
			for _, o := range k.head {
				MOVL(at(src, o), v)
				MOVL(v, at(p, 0))
				LEAQ(Mem{Base: p, Index: T, Scale: 4}, p)
			}
			MOVQ(r, p)
			for i := 0; i < k.n; i++ {
				half(k.hi+32*i, 8)
				ADDQ(T64, p)
				half(k.lo+32*i, 0)
				ADDQ(T64, p)
			}
			ADDQ(U32(uint32(k.size)), src)
			ADDQ(step, h)
			ADDQ(step, r)
		})
		done()
	}
}
