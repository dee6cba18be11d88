package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// unpackK splits the packed 6-bit scales of Q4_K: lines at w+64 into sc (2 regs) and mn (2 regs).
// c3f: 3f3f3f3f, c0f: 0f0f0f0f, c30: 30303030; t: scratch.
func unpackK(w reg.GPVirtual, sc, mn [2]reg.VecPhysical, t, c3f, c0f, c30 reg.VecPhysical) {
	VPANDD(at(w, 64), c3f, sc[0])
	VPANDD(at(w, 128), c3f, mn[0])
	VPANDD(at(w, 192), c0f, sc[1])
	VMOVDQU32(at(w, 192), mn[1])
	VPSRLD(U8(4), mn[1], mn[1])
	VPANDD(c0f, mn[1], mn[1])
	VPSRLD(U8(2), at(w, 64), t)
	VPTERNLOGD(U8(0xf8), c30, t, sc[1])
	VPSRLD(U8(2), at(w, 128), t)
	VPTERNLOGD(U8(0xf8), c30, t, mn[1])
}

func mvQ4_K() {
	consts := func() {
		nibbleMasks()
		bcast(0x3f3f3f3f, Z[27])
		bcast(0x30303030, Z[26])
		bcast(0xff, Z[25])
	}
	mv("mvQ4_K", 2304, x256, consts, func(w, x, pf reg.GPVirtual) {
		for o := 0; o < 256; o += 64 {
			fetch(w, pf, o)
		}
		sc, mn := [2]reg.VecPhysical{Z[0], Z[1]}, [2]reg.VecPhysical{Z[2], Z[3]}
		t, t2, sum, m := Z[4], Z[5], Z[6], Z[7]
		unpackK(w, sc, mn, t, Z[27], Z[30], Z[26])
		zero(m)
		minSums(1, x, 0, mn, m)
		zero(sum)
		for j := 0; j < 4; j++ {
			s := Z[8+4*(j&1) : 12+4*(j&1)] // as in nibbles
			for _, r := range s {
				zero(r)
			}
			for l := 0; l < 8; l++ {
				o := 256 + 512*j + 64*l
				fetch(w, pf, o)
				a, c := Z[16+2*(l&1)], Z[17+2*(l&1)]
				xo := kH + 64*j + 4*(l&^3)
				low, high := four{x, xo, Z[20], Z[21]}, four{x, xo + 32, Z[22], Z[23]}
				if l&3 == 0 {
					low.load()
					high.load()
				}
				VMOVDQU32(at(w, o), c)
				VPANDD(c, Z[30], a)
				VPANDD(c, Z[31], c)
				low.dot(l&3, a, s[1])
				VPDPBUSD_BCST(at(x, kL+64*j+4*l), a, s[0])
				high.dot(l&3, c, s[3])
				VPDPBUSD_BCST(at(x, kL+64*j+32+4*l), c, s[2])
			}
			join(s[1], s[0])
			join(s[3], s[2])
			VPSRAD(U8(4), s[2], s[2])
			scaleAdd(2*j, sc, s[0], sum, t2)
			scaleAdd(2*j+1, sc, s[2], sum, t2)
		}
		finK(at(w, 0), x, sum, Z[28], t)
		VCVTPH2PS(at(w, 32), t)
		VMULPS_BCST(at(x, kD), t, t)
		VCVTDQ2PS(m, m)
		VFNMADD231PS(m, t, Z[28])
	})
}

// minSums adds mins times the sums of 32 inputs to m: pieces of 7 bits, the highest first.
func minSums(T int, x reg.Register, t int, mn [2]reg.VecPhysical, m reg.VecPhysical) {
	for k := 0; k < 3; k++ {
		if k > 0 {
			VPSLLD(U8(7), m, m)
		}
		VPDPBUSD_BCST(at(x, kS*T+4*(2*k*T+t)), mn[0], m)
		VPDPBUSD_BCST(at(x, kS*T+4*((2*k+1)*T+t)), mn[1], m)
	}
}

// finK folds the scaled block sums into the float accumulator f: f += sum * (d * dx).
func finK(d Op, x reg.GPVirtual, sum, f, t reg.VecPhysical) {
	VCVTPH2PS(d, t)
	VMULPS_BCST(at(x, kD), t, t)
	VFMADD231PS(sum, t, f)
}

// scaleAdd does sum += scale k * acc, in float32 because acc has up to 26 bits; the scales of a row are bytes of sc, Z25
// holds ff.
func scaleAdd(k int, sc [2]reg.VecPhysical, acc, sum, t reg.VecPhysical) {
	if k&3 == 0 {
		VPANDD(Z[25], sc[k/4], t)
	} else {
		VPSRLD(U8(uint8(8*(k&3))), sc[k/4], t)
		if k&3 != 3 {
			VPANDD(Z[25], t, t)
		}
	}
	scaled(acc, t, sum)
}

// scaled does sum += t * acc, where t and acc are integers.
func scaled(acc, t, sum reg.VecPhysical) {
	VCVTDQ2PS(t, t)
	VCVTDQ2PS(acc, acc)
	VFMADD231PS(acc, t, sum)
}

func mvQ6_K() {
	consts := func() { bcast(0x0f0f0f0f, Z[30]); bcast(0x30303030, Z[31]) }
	mv("mvQ6_K", 3392, x256, consts, func(w, x, pf reg.GPVirtual) {
		for o := 0; o < 320; o += 64 {
			fetch(w, pf, o)
		}
		sum, t, t2 := Z[0], Z[1], Z[2]
		zero(sum)
		for n := 0; n < 2; n++ {
			sums := [2][]reg.VecPhysical{Z[4:8], Z[24:28]}
			for is := 0; is < 2; is++ {
				// 4 runs of 16 weights: scale index 8n+is+2r, weights 128n+32r+16is
				lo, hi := sums[is], Z[8:12]
				for r := 0; r < 4; r++ {
					VPBROADCASTD(at(x, kC+4*(8*n+is+2*r)), lo[r])
					zero(hi[r])
					VBROADCASTI32X4(at(x, kH+128*n+32*r+16*is), Z[18+r])
				}
				for g := 0; g < 4; g++ {
					o := 320 + 192*(8*n+4*is+g)
					fetch(w, pf, o)
					fetch(w, pf, o+64)
					fetch(w, pf, o+128)
					q := [6]reg.VecPhysical(Z[12:18])
					sixBits(w, o, q)
					for r := 0; r < 4; r++ {
						four{q: Z[18+r], t: Z[22+r&1]}.dot(g, q[r], hi[r])
						VPDPBUSD_BCST(at(x, kL+128*n+32*r+16*is+4*g), q[r], lo[r])
					}
				}
				for r := 0; r < 4; r++ {
					join(hi[r], lo[r])
				}
			}
			for j := 0; j < 8; j++ { // in the order of the weights, as everywhere
				VPMOVSXBD(at(w, 64+16*(8*n+j)), t)
				scaled(sums[j%2][j/2], t, sum)
			}
		}
		finK(at(w, 0), x, sum, Z[28], t2)
	})
}

// sixBits merges the lines ql, ql+32, qh at w+o into q[0..3], bytes of 6 bits. q[4], q[5]: scratch; Z30 0f, Z31 30.
func sixBits(w reg.GPVirtual, o int, q [6]reg.VecPhysical) {
	VMOVDQU32(at(w, o), q[4])
	VMOVDQU32(at(w, o+64), q[5])
	VPANDD(q[4], Z[30], q[0])
	VPANDD(q[5], Z[30], q[1])
	VPSRLD(U8(4), q[4], q[2])
	VPSRLD(U8(4), q[5], q[3])
	VMOVDQU32(at(w, o+128), q[4])
	VPANDD(Z[30], q[2], q[2])
	VPANDD(Z[30], q[3], q[3])
	VPSLLD(U8(4), q[4], q[5])
	VPTERNLOGD(U8(0xf8), Z[31], q[5], q[0])
	VPSLLD(U8(2), q[4], q[5])
	VPTERNLOGD(U8(0xf8), Z[31], q[5], q[1])
	VPTERNLOGD(U8(0xf8), Z[31], q[4], q[2])
	VPSRLD(U8(2), q[4], q[5])
	VPTERNLOGD(U8(0xf8), Z[31], q[5], q[3])
}
