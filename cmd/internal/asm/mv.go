package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// x block of 32 (T tokens): T f32 d, T i32 -sum, T f32 d*sum, 8 x T dwords of int8.
const (
	xD, xC, xF, xQ = 0, 4, 8, 12
	x32            = 44
)

// x super-block of 256: f32 d, 4 dwords of split block sums (hi 0-3, hi 4-7, lo 0-3, lo 4-7), 16 i32 -32*sum16, 64 dwords.
const (
	kD, kS, kC, kQ = 0, 4, 20, 84
	x256           = 340
)

// mv is the frame of every AVX-512 mat-vec kernel: groups of 16 rows one after the other; unit emits the code for one
// unit of ub weight bytes against xb bytes of x. Z28 is the float accumulator, one lane per row.
func mv(name string, ub, xb int, consts func(), unit func(w, x, pf reg.GPVirtual)) {
	text(name, "func(dst *float32, w, x *byte, units, groups, pf int)")
	dst, w, x0, units, groups, pf := param("dst"), param("w"), param("x"), param("units"), param("groups"), param("pf")
	consts()
	x, n := GP64().(reg.GPVirtual), GP64().(reg.GPVirtual)
	loop("group", groups, func() {
		MOVQ(x0, x)
		MOVQ(units, n)
		zero(Z[28])
		loop("unit", n, func() {
			unit(w, x, pf)
			ADDQ(U32(uint32(ub)), w)
			ADDQ(U32(uint32(xb)), x)
		})
		VMOVUPS(Z[28], at(dst, 0))
		ADDQ(U32(64), dst)
	})
	done()
}

// fin32 folds int block sums acc into the float accumulator f: f += cvt(acc) * (d * dx).
func fin32(d Op, x reg.GPVirtual, xo int, acc, f, t reg.VecPhysical) {
	VCVTPH2PS(d, t)
	VMULPS_BCST(at(x, xo+xD), t, t)
	VCVTDQ2PS(acc, acc)
	VFMADD231PS(acc, t, f)
}

// nibbles adds 4 lines of packed nibbles at w+o against the 32 int8 at x+xo: low nibbles into lo, high ones, times 16,
// into hi. Z30 and Z31 hold the masks.
func nibbles(w, x, pf reg.GPVirtual, o, xo int, lo, hi reg.VecPhysical) {
	for l := 0; l < 4; l++ {
		fetch(w, pf, o+64*l)
		a, c := Z[16+2*l], Z[17+2*l]
		VPANDD(at(w, o+64*l), Z[30], a)
		VPANDD(at(w, o+64*l), Z[31], c)
		VPDPBUSD_BCST(at(x, xo+4*l), a, lo)
		VPDPBUSD_BCST(at(x, xo+16+4*l), c, hi)
	}
	VPSRAD(U8(4), hi, hi) // exact: a multiple of 16
	VPADDD(hi, lo, lo)
}

// lines adds 8 lines of bytes at w+o against the 32 int8 at x+xo into lo; hi is a second chain and must be zero.
func lines(w, x, pf reg.GPVirtual, o, xo int, lo, hi reg.VecPhysical) {
	for l := 0; l < 8; l++ {
		fetch(w, pf, o+64*l)
		VMOVDQU32(at(w, o+64*l), Z[16+l])
		acc := lo
		if l&1 == 1 {
			acc = hi
		}
		VPDPBUSD_BCST(at(x, xo+4*l), Z[16+l], acc)
	}
	VPADDD(hi, lo, lo)
}

func nibbleMasks() { bcast(0x0f0f0f0f, Z[30]); bcast(0xf0f0f0f0, Z[31]) }

func mvQ4_0() {
	mv("mvQ4_0", 576, 2*x32, nibbleMasks, func(w, x, pf reg.GPVirtual) {
		fetch(w, pf, 0)
		for b := 0; b < 2; b++ {
			lo, hi := Z[4*b], Z[4*b+1]
			VPBROADCASTD(at(x, b*x32+xC), lo)
			VPSLLD(U8(3), lo, lo) // -8*sum
			zero(hi)
			nibbles(w, x, pf, 64+256*b, b*x32+xQ, lo, hi)
			fin32(at(w, 32*b), x, b*x32, lo, Z[28], Z[4*b+2])
		}
	})
}

func mvQ4_1() {
	mv("mvQ4_1", 320, x32, nibbleMasks, func(w, x, pf reg.GPVirtual) {
		fetch(w, pf, 0)
		zero(Z[0])
		zero(Z[1])
		nibbles(w, x, pf, 64, xQ, Z[0], Z[1])
		fin32(at(w, 0), x, 0, Z[0], Z[28], Z[2])
		VCVTPH2PS(at(w, 32), Z[2])
		VFMADD231PS_BCST(at(x, xF), Z[2], Z[28])
	})
}

func mvQ8_0() {
	mv("mvQ8_0", 1088, 2*x32, func() {}, func(w, x, pf reg.GPVirtual) {
		fetch(w, pf, 0)
		for b := 0; b < 2; b++ {
			lo, hi := Z[4*b], Z[4*b+1]
			VPBROADCASTD(at(x, b*x32+xC), lo)
			VPSLLD(U8(7), lo, lo) // -128*sum
			zero(hi)
			lines(w, x, pf, 64+512*b, b*x32+xQ, lo, hi)
			fin32(at(w, 32*b), x, b*x32, lo, Z[28], Z[4*b+2])
		}
	})
}

// mvQ8_1 has bytes with a scale and a minimum: what Q5_1 becomes.
func mvQ8_1() {
	mv("mvQ8_1", 576, x32, func() {}, func(w, x, pf reg.GPVirtual) {
		fetch(w, pf, 0)
		zero(Z[0])
		zero(Z[1])
		lines(w, x, pf, 64, xQ, Z[0], Z[1])
		fin32(at(w, 0), x, 0, Z[0], Z[28], Z[2])
		VCVTPH2PS(at(w, 32), Z[2])
		VFMADD231PS_BCST(at(x, xF), Z[2], Z[28])
	})
}
