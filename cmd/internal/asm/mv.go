package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// x block of 32 (T tokens), values of 16 bits q = 256*hi + lo: T f32 d, T i32 -128*sum, T f32 d*sum, 8 x T dwords of hi,
// 8 x T dwords of lo. hi and lo lie within -127 and 127.
const (
	xD, xC, xF, xH, xL = 0, 4, 8, 12, 44
	x32                = 76
)

// x super-block of 256: f32 d, 6 dwords of the sums of 32 in pieces of 7 bits (high 0-3, high 4-7, middle, low), 16 i32
// -32*sum16, 64 dwords of hi, 64 of lo.
const (
	kD, kS, kC, kH, kL = 0, 4, 28, 92, 348
	x256               = 604
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

// four is 4 dwords of x at offset o that are loaded once and spread from register q by shuffles: with a load for each
// product the two load ports are what bounds a mat-vec. t is scratch.
type four struct {
	x    reg.GPVirtual
	o    int
	q, t reg.VecPhysical
}

func (f four) load() { VBROADCASTI32X4(at(f.x, f.o), f.q) }

// dot adds dword k times the weights to sum.
func (f four) dot(k int, weights, sum reg.VecPhysical) {
	VPSHUFD(U8(uint8(0x55*k)), f.q, f.t)
	VPDPBUSD(f.t, weights, sum)
}

// join makes lo = 256*hi + lo: the sums over the upper and the lower bytes of x are one sum over its 16 bits.
func join(hi, lo reg.VecPhysical) {
	VPSLLD(U8(8), hi, hi)
	VPADDD(hi, lo, lo)
}

// nibbles sums 4 lines of packed nibbles at w+o against block xo of x into s[0]. s is 4 registers: low nibbles by lo, by
// hi, and high nibbles, times 16, by lo, by hi. s[0] and s[2] hold what to start from. Z30 and Z31 hold the masks.
func nibbles(w, x, pf reg.GPVirtual, o, xo int, s []reg.VecPhysical) {
	zero(s[1])
	zero(s[3])
	low, high := four{x, xo + xH, Z[24], Z[25]}, four{x, xo + xH + 16, Z[26], Z[27]}
	low.load()
	high.load()
	for l := 0; l < 4; l++ {
		fetch(w, pf, o+64*l)
		a, c := Z[16+2*l], Z[17+2*l]
		VMOVDQU32(at(w, o+64*l), c)
		VPANDD(c, Z[30], a)
		VPANDD(c, Z[31], c)
		low.dot(l, a, s[1])
		VPDPBUSD_BCST(at(x, xo+xL+4*l), a, s[0])
		high.dot(l, c, s[3])
		VPDPBUSD_BCST(at(x, xo+xL+16+4*l), c, s[2])
	}
	join(s[1], s[0])
	join(s[3], s[2])
	VPSRAD(U8(4), s[2], s[2]) // exact: a multiple of 16
	VPADDD(s[2], s[0], s[0])
}

// lines sums 8 lines of bytes at w+o against block xo of x into s[0], which holds what to start from. s is 2 registers.
func lines(w, x, pf reg.GPVirtual, o, xo int, s []reg.VecPhysical) {
	zero(s[1])
	for l := 0; l < 8; l++ {
		f := four{x, xo + xH + 4*(l&^3), Z[24+l/4], Z[26+l/4]}
		if l&3 == 0 {
			f.load()
		}
		fetch(w, pf, o+64*l)
		VMOVDQU32(at(w, o+64*l), Z[16+l])
		f.dot(l&3, Z[16+l], s[1])
		VPDPBUSD_BCST(at(x, xo+xL+4*l), Z[16+l], s[0])
	}
	join(s[1], s[0])
}

func nibbleMasks() { bcast(0x0f0f0f0f, Z[30]); bcast(0xf0f0f0f0, Z[31]) }

func mvQ4_0() {
	mv("mvQ4_0", 576, 2*x32, nibbleMasks, func(w, x, pf reg.GPVirtual) {
		fetch(w, pf, 0)
		for b := 0; b < 2; b++ {
			s := Z[4*b : 4*b+4]
			zero(s[0])
			VPBROADCASTD(at(x, b*x32+xC), s[2]) // times 16 there: -8*sum
			nibbles(w, x, pf, 64+256*b, b*x32, s)
			fin32(at(w, 32*b), x, b*x32, s[0], Z[28], s[1])
		}
	})
}

func mvQ4_1() {
	mv("mvQ4_1", 320, x32, nibbleMasks, func(w, x, pf reg.GPVirtual) {
		fetch(w, pf, 0)
		zero(Z[0])
		zero(Z[2])
		nibbles(w, x, pf, 64, 0, Z[:4])
		fin32(at(w, 0), x, 0, Z[0], Z[28], Z[2])
		VCVTPH2PS(at(w, 32), Z[2])
		VFMADD231PS_BCST(at(x, xF), Z[2], Z[28])
	})
}

func mvQ8_0() {
	mv("mvQ8_0", 1088, 2*x32, func() {}, func(w, x, pf reg.GPVirtual) {
		fetch(w, pf, 0)
		for b := 0; b < 2; b++ {
			s := Z[4*b : 4*b+4]
			VPBROADCASTD(at(x, b*x32+xC), s[0])
			lines(w, x, pf, 64+512*b, b*x32, s)
			fin32(at(w, 32*b), x, b*x32, s[0], Z[28], s[2])
		}
	})
}

// mvQ8_1 has bytes with a scale and a minimum: what Q5_1 becomes.
func mvQ8_1() {
	mv("mvQ8_1", 576, x32, func() {}, func(w, x, pf reg.GPVirtual) {
		fetch(w, pf, 0)
		zero(Z[0])
		lines(w, x, pf, 64, 0, Z[:2])
		fin32(at(w, 0), x, 0, Z[0], Z[28], Z[2])
		VCVTPH2PS(at(w, 32), Z[2])
		VFMADD231PS_BCST(at(x, xF), Z[2], Z[28])
	})
}
