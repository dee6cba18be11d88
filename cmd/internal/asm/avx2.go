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

// unbias adds what corrects the bias of Q4_0's weights, -8*sum, to the integer sum. t is scratch.
func (f form2) unbias(acc, t reg.VecPhysical, c Mem) {
	if f.name == "Q4_0" {
		VPBROADCASTD(c, t)
		VPSRAD(U8(4), t, t) // of -128*sum
		VPADDD(t, acc, acc)
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

// block adds block b of a unit for 2 x 8 rows: the sums by hi in Y0, Y1, those by lo in Y10, Y11. Nibble products fit 16
// bits over a whole block: 8 * 15 * 127 * 2 = 30480.
func (f form2) block(w, x, pf reg.GPVirtual, b int) {
	for _, i := range []int{0, 1, 10, 11} {
		VPXOR(Y[i], Y[i], Y[i])
	}
	for l := 0; l < f.lines(); l++ {
		o := 64 + 64*f.lines()*b + 64*l
		fetch(w, pf, o)
		for h := 0; h < 2; h++ {
			f.load(at(w, o+32*h), Y[4+2*h], Y[5+2*h])
		}
		for part, xo := range []int{xH, xL} {
			VPBROADCASTD(at(x, b*x32+xo+4*l), Y[2])
			if f.nib {
				VPBROADCASTD(at(x, b*x32+xo+16+4*l), Y[3])
			}
			for h := 0; h < 2; h++ {
				s := Y[10*part+h]
				f.dot(Y[4+2*h], Y[5+2*h], Y[2], Y[3], Y[8+h], s)
			}
		}
	}
	for h := 0; h < 2; h++ {
		f.fold(Y[h], Y[10+h])
		f.unbias(Y[h], Y[4], at(x, b*x32+xC))
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

// dot adds one line to the sums s: of 16 bits for nibbles (x0 low, x1 high), else of 32. t is scratch and may be x0 where
// there are nibbles; lo and hi survive.
func (f form2) dot(lo, hi, x0, x1, t, s reg.VecPhysical) {
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
	VPADDD(t, s, s)
}

// fold makes hi = 256*hi + lo in 32 bits.
func (f form2) fold(hi, lo reg.VecPhysical) {
	if f.nib {
		VPMADDWD(Y[15], hi, hi)
		VPMADDWD(Y[15], lo, lo)
	}
	VPSLLD(U8(8), hi, hi)
	VPADDD(lo, hi, hi)
}

// mm2 makes the AVX2 mat-mat kernels: one group by a tile of T tokens, 8 rows at a time. Float accumulators live in y
// (ldy bytes from token to token), integer sums in Y0-Y5; for nibbles 16-bit ones by hi there, by lo in Y6-Y11.
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
	if f.nib {
		f.nibTile(T, b, xo, w, x)
	} else {
		f.byteTile(T, b, xo, w, x)
	}
	VCVTPH2PS(at(wd, 32*b), Y[12])
	if f.min {
		VCVTPH2PS(at(wd, 32), Y[13])
	}
	MOVQ(y, p)
	for t := 0; t < T; t++ {
		f.unbias(Y[t], Y[8], at(x, xo+xC*T+4*t))
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

// nibTile sums by hi and lo at once; 16 registers do because Y15 is scratch until the end and the ones are made anew.
func (f form2) nibTile(T, b, xo int, w, x reg.GPVirtual) {
	for i := 0; i < T; i++ {
		VPXOR(Y[i], Y[i], Y[i])
		VPXOR(Y[6+i], Y[6+i], Y[6+i])
	}
	for l := 0; l < 4; l++ {
		f.load(at(w, 64+256*b+64*l), Y[12], Y[13])
		for t := 0; t < T; t++ {
			for part, o := range []int{xH, xL} {
				s := Y[6*part+t]
				for n := 0; n < 2; n++ {
					VPBROADCASTD(at(x, xo+o*T+4*((4*n+l)*T+t)), Y[15])
					VPMADDUBSW(Y[15], Y[12+n], Y[15])
					VPADDW(Y[15], s, s)
				}
			}
		}
	}
	VPCMPEQW(Y[15], Y[15], Y[15])
	VPSRLW(U8(15), Y[15], Y[15])
	for t := 0; t < T; t++ {
		f.fold(Y[t], Y[6+t])
	}
}

// byteTile sums by hi, then shifts and goes on with lo.
func (f form2) byteTile(T, b, xo int, w, x reg.GPVirtual) {
	for t := 0; t < T; t++ {
		VPXOR(Y[t], Y[t], Y[t])
	}
	for part, o := range []int{xH, xL} {
		for t := 0; t < T && part == 1; t++ {
			VPSLLD(U8(8), Y[t], Y[t])
		}
		for l := 0; l < 8; l++ {
			f.load(at(w, 64+512*b+64*l), Y[6], Y[7])
			for t := 0; t < T; t++ {
				VPBROADCASTD(at(x, xo+o*T+4*(l*T+t)), Y[8])
				f.dot(Y[6], Y[7], Y[8], Y[9], Y[10], Y[t])
			}
		}
	}
}

// quant32avx2 quantises blocks of 32 of one token: the same bytes as quant32.
func quant32avx2() {
	text("quant32avx2", "func(dst *byte, x *float32, blocks int)")
	d, x, n := param("dst"), param("x"), param("blocks")
	v := vec{}
	v.fill(0x7fffffff, 15)
	v.fill(0x46fe0000, 14) // 32512
	v.fill(0x38010204, 13) // 1/32512
	v.fill(0x0da24260, 12) // 1e-30
	v.fill(128, 11)
	v.fill(0xffffff81, 10) // -127
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
			VPADDD(Y[11], Y[4+i], Y[0])
			VPSRAD(U8(8), Y[0], Y[0])
			VPSLLD(U8(8), Y[0], Y[1])
			VPSUBD(Y[1], Y[4+i], Y[9])
			VPMAXSD(Y[10], Y[9], Y[9]) // lo = -128 becomes -127
			VPADDD(Y[1], Y[9], Y[4+i])
			bytes8(0, 1, at(d, xH+8*i))
			bytes8(9, 1, at(d, xL+8*i))
		}
		VPADDD(Y[5], Y[4], Y[8])
		VPADDD(Y[7], Y[6], Y[9])
		VPADDD(Y[9], Y[8], Y[8])
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
		VPSLLD(U8(7), X[8], X[8])
		VMOVD(X[8], at(d, xC))
		ADDQ(U32(x32), d)
		ADDQ(U32(128), x)
	})
	done()
}

// bytes8 stores the 8 dwords of register i as bytes; t is scratch.
func bytes8(i, t int, m Mem) {
	VEXTRACTI128(U8(1), Y[i], X[t])
	VPACKSSDW(X[t], X[i], X[i])
	VPACKSSWB(X[i], X[i], X[i])
	VMOVQ(X[i], m)
}
