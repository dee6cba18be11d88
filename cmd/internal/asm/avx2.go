package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// form2 is a weight form that the AVX2 kernels read: unit of ub bytes, blocks of 32 weights in it; lines per block.
type form2 struct {
	name       string
	ub, blocks int
	nib, min   bool
}

var forms2 = []form2{{"Q4_0", 576, 2, true, false}, {"Q4_1", 320, 1, true, true}, {"Q8_0", 1088, 2, false, false}, {"Q8_1", 576, 1, false, true}}

func (f form2) lines() int {
	if f.nib {
		return 4
	}
	return 8
}

// consts: Y15 words of 1, Y14 the nibble mask or the sign bits.
func (f form2) consts() {
	v := vec{}
	v.fill(0x00010001, 15)
	if f.nib {
		v.fill(0x0f0f0f0f, 14)
	} else {
		v.fill(0x80808080, 14)
	}
}

// start sets the integer sum to what corrects the bias of the stored weights (-8*sum for Q4_0).
func (f form2) start(acc reg.VecPhysical, c Mem) {
	if f.name == "Q4_0" {
		VPBROADCASTD(c, acc)
		VPSLLD(U8(3), acc, acc)
	} else {
		VPXOR(acc, acc, acc)
	}
}

// load brings 8 rows of one line into lo (and hi: the high nibbles; or the absolute values of signed bytes).
func (f form2) load(m Mem, lo, hi reg.VecPhysical) {
	switch {
	case f.nib:
		VMOVDQU(m, hi)
		VPAND(Y[14], hi, lo)
		VPSRLW(U8(4), hi, hi)
		VPAND(Y[14], hi, hi)
	case f.min: // unsigned bytes below 128
		VMOVDQU(m, lo)
	default:
		VPXOR(m, Y[14], lo)
		VPABSB(lo, hi)
	}
}

// mv2 makes the AVX2 mat-vec on the 16-row layout: each line is 2 x 8 rows. Same sums, same float order, same bits as
// AVX-512. Y12, Y13 are the float accumulators.
func mv2(f form2) {
	text("mv"+f.name+"avx2", "func(dst *float32, w, x *byte, units, groups, pf int)")
	dst, w, x0, units, groups, pf := param("dst"), param("w"), param("x"), param("units"), param("groups"), param("pf")
	f.consts()
	x, n := GP64().(reg.GPVirtual), GP64().(reg.GPVirtual)
	loop("group", groups, func() {
		MOVQ(x0, x)
		MOVQ(units, n)
		VXORPS(Y[12], Y[12], Y[12])
		VXORPS(Y[13], Y[13], Y[13])
		loop("unit", n, func() {
			fetch(w, pf, 0)
			for b := 0; b < f.blocks; b++ {
				f.block(w, x, pf, b)
			}
			ADDQ(U32(uint32(f.ub)), w)
			ADDQ(U32(uint32(f.blocks*x32)), x)
		})
		VMOVUPS(Y[12], at(dst, 0))
		VMOVUPS(Y[13], at(dst, 32))
		ADDQ(U32(64), dst)
	})
	done()
}

// block adds block b of a unit for 2 x 8 rows. Nibble products fit 16 bits over a whole block: 8 * 15 * 127 * 2 = 30480.
func (f form2) block(w, x, pf reg.GPVirtual, b int) {
	for h := 0; h < 2; h++ {
		f.start(Y[h], at(x, b*x32+xC))
		if f.nib {
			VPXOR(Y[10+h], Y[10+h], Y[10+h])
		}
	}
	for l := 0; l < f.lines(); l++ {
		o := 64 + 64*f.lines()*b + 64*l
		fetch(w, pf, o)
		VPBROADCASTD(at(x, b*x32+xQ+4*l), Y[2])
		if f.nib {
			VPBROADCASTD(at(x, b*x32+xQ+16+4*l), Y[3])
		}
		for h := 0; h < 2; h++ {
			lo, hi, t := Y[4+3*h], Y[5+3*h], Y[6+3*h]
			f.load(at(w, o+32*h), lo, hi)
			f.dot(lo, hi, Y[2], Y[3], t, Y[10+h], Y[h])
		}
	}
	for h := 0; h < 2; h++ {
		f.fold(Y[10+h], Y[h])
		VCVTPH2PS(at(w, 32*b+16*h), Y[4])
		VBROADCASTSS(at(x, b*x32+xD), Y[5])
		VMULPS(Y[5], Y[4], Y[4])
		VCVTDQ2PS(Y[h], Y[h])
		VFMADD231PS(Y[h], Y[4], Y[12+h])
		if f.min {
			VCVTPH2PS(at(w, 32+16*h), Y[4])
			VBROADCASTSS(at(x, xF), Y[5])
			VFMADD231PS(Y[5], Y[4], Y[12+h])
		}
	}
}

// dot adds one line: into the 16-bit sums s for nibbles (x0 low, x1 high), else into the 32-bit sums acc. t is scratch;
// lo and hi survive only when they are not nibbles.
func (f form2) dot(lo, hi, x0, x1, t, s, acc reg.VecPhysical) {
	switch {
	case f.nib:
		VPMADDUBSW(x0, lo, t)
		VPADDW(t, s, s)
		VPMADDUBSW(x1, hi, t)
		VPADDW(t, s, s)
		return
	case f.min:
		VPMADDUBSW(x0, lo, t)
	default: // |w| * (x with the sign of w)
		VPSIGNB(lo, x0, t)
		VPMADDUBSW(t, hi, t)
	}
	VPMADDWD(Y[15], t, t)
	VPADDD(t, acc, acc)
}

// fold adds the 16-bit sums to the 32-bit ones.
func (f form2) fold(s, acc reg.VecPhysical) {
	if f.nib {
		VPMADDWD(Y[15], s, s)
		VPADDD(s, acc, acc)
	}
}

// mm2 makes the AVX2 mat-mat kernels: one group by a tile of T tokens, 8 rows at a time. Float accumulators live in y
// (ldy bytes from token to token), integer sums in Y0-Y5: 16-bit ones for nibbles.
func mm2(f form2) {
	for T := 2; T <= maxT; T++ {
		text(fmt.Sprintf("mm%savx2T%d", f.name, T), "func(y *float32, ldy int, w *byte, x *byte, units int)")
		y, ldy, w0, x0, units := param("y"), param("ldy"), param("w"), param("x"), param("units")
		f.consts()
		w, wd, x, n, p := GP64().(reg.GPVirtual), GP64().(reg.GPVirtual), GP64().(reg.GPVirtual), GP64().(reg.GPVirtual), GP64().(reg.GPVirtual)
		half := GP64().(reg.GPVirtual)
		MOVQ(U32(2), half)
		MOVQ(w0, wd)
		loop("half", half, func() {
			MOVQ(w0, w)
			MOVQ(x0, x)
			MOVQ(units, n)
			VXORPS(Y[0], Y[0], Y[0])
			MOVQ(y, p)
			for t := 0; t < T; t++ {
				VMOVUPS(Y[0], at(p, 0))
				ADDQ(ldy, p)
			}
			loop("unit", n, func() {
				for b := 0; b < f.blocks; b++ {
					f.tile(T, b, w, wd, x, y, p, ldy)
				}
				ADDQ(U32(uint32(f.ub)), w)
				ADDQ(U32(uint32(f.ub)), wd)
				ADDQ(U32(uint32(f.blocks*x32*T)), x)
			})
			ADDQ(U32(32), y)
			LEAQ(at(w0, 16), wd) // rows 8-15: 16 bytes on in the scales, 32 in each line
			ADDQ(U32(32), w0)
		})
		done()
	}
}

// tile adds block b of a unit for 8 rows and T tokens.
func (f form2) tile(T, b int, w, wd, x, y, p, ldy reg.GPVirtual) {
	xo := b * x32 * T
	for t := 0; t < T; t++ {
		if f.nib {
			VPXOR(Y[t], Y[t], Y[t])
		} else {
			f.start(Y[t], at(x, 0))
		}
	}
	for l := 0; l < f.lines(); l++ {
		f.load(at(w, 64+64*f.lines()*b+64*l), Y[6], Y[7])
		for t := 0; t < T; t++ {
			VPBROADCASTD(at(x, xo+xQ*T+4*(l*T+t)), Y[8])
			if f.nib {
				VPBROADCASTD(at(x, xo+xQ*T+4*((4+l)*T+t)), Y[9])
			}
			f.dot(Y[6], Y[7], Y[8], Y[9], Y[10], Y[t], Y[t])
		}
	}
	VCVTPH2PS(at(wd, 32*b), Y[12])
	if f.min {
		VCVTPH2PS(at(wd, 32), Y[13])
	}
	MOVQ(y, p)
	for t := 0; t < T; t++ {
		if f.nib {
			VPMADDWD(Y[15], Y[t], Y[t])
		}
		if f.name == "Q4_0" {
			VPBROADCASTD(at(x, xo+xC*T+4*t), Y[8])
			VPSLLD(U8(3), Y[8], Y[8])
			VPADDD(Y[8], Y[t], Y[t])
		}
		VBROADCASTSS(at(x, xo+xD+4*t), Y[8])
		VMULPS(Y[8], Y[12], Y[8])
		VCVTDQ2PS(Y[t], Y[t])
		VMOVUPS(at(p, 0), Y[9])
		VFMADD231PS(Y[t], Y[8], Y[9])
		if f.min {
			VBROADCASTSS(at(x, xo+xF*T+4*t), Y[8])
			VFMADD231PS(Y[8], Y[13], Y[9])
		}
		VMOVUPS(Y[9], at(p, 0))
		ADDQ(ldy, p)
	}
}

// quant32avx2 quantises blocks of 32 of one token: the same bytes as quant32.
func quant32avx2() {
	text("quant32avx2", "func(dst *byte, x *float32, blocks int)")
	d, x, n := param("dst"), param("x"), param("blocks")
	v := vec{}
	v.fill(0x7fffffff, 15)
	v.fill(0x42fe0000, 14) // 127
	v.fill(0x3c010204, 13) // 1/127
	v.fill(0x0da24260, 12) // 1e-30
	loop("block", n, func() {
		for i := 0; i < 4; i++ {
			VMOVUPS(at(x, 32*i), Y[4+i])
			VPAND(Y[15], Y[4+i], Y[i])
		}
		VMAXPS(Y[1], Y[0], Y[0])
		VMAXPS(Y[3], Y[2], Y[2])
		VMAXPS(Y[2], Y[0], Y[0])
		VEXTRACTF128(U8(1), Y[0], X[1])
		VMAXPS(X[1], X[0], X[0])
		VPERMILPS(U8(0x4e), X[0], X[1])
		VMAXPS(X[1], X[0], X[0])
		VPERMILPS(U8(0xb1), X[0], X[1])
		VMAXPS(X[1], X[0], X[0])
		VMULSS(X[13], X[0], X[3])
		VMAXSS(X[12], X[0], X[0])
		VDIVSS(X[0], X[14], X[2])
		VBROADCASTSS(X[2], Y[2])
		VMOVSS(X[3], at(d, xD))
		for i := 0; i < 4; i++ {
			VMULPS(Y[2], Y[4+i], Y[4+i])
			VCVTPS2DQ(Y[4+i], Y[4+i])
		}
		VPADDD(Y[5], Y[4], Y[8])
		VPADDD(Y[7], Y[6], Y[9])
		VPADDD(Y[9], Y[8], Y[8])
		for i := 0; i < 4; i++ { // 8 dwords to 8 bytes
			VEXTRACTI128(U8(1), Y[4+i], X[10])
			VPACKSSDW(X[10], X[4+i], X[4+i])
			VPACKSSWB(X[4+i], X[4+i], X[4+i])
			VMOVQ(X[4+i], at(d, xQ+8*i))
		}
		VEXTRACTI128(U8(1), Y[8], X[9])
		VPADDD(X[9], X[8], X[8])
		VPSHUFD(U8(0x4e), X[8], X[9])
		VPADDD(X[9], X[8], X[8])
		VPSHUFD(U8(0xb1), X[8], X[9])
		VPADDD(X[9], X[8], X[8])
		VCVTDQ2PS(X[8], X[9])
		VMULSS(X[3], X[9], X[9])
		VMOVSS(X[9], at(d, xF))
		VPXOR(X[9], X[9], X[9])
		VPSUBD(X[8], X[9], X[8])
		VMOVD(X[8], at(d, xC))
		ADDQ(U32(x32), d)
		ADDQ(U32(128), x)
	})
	done()
}
