package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// unpack makes the kernels that turn packed groups into the byte form of the mat-mat kernels.
func unpack() {
	frame := func(name string, sb, db int, consts, body func(), s, d *reg.GPVirtual) {
		text(name, "func(dst, src *byte, units int)")
		*d = param("dst")
		*s = param("src")
		n := param("units")
		consts()
		Label("unit")
		for o := 0; o < sb; o += 64 {
			PREFETCHT0(at(*s, o+4096))
		}
		body()
		ADDQ(U32(uint32(sb)), *s)
		ADDQ(U32(uint32(db)), *d)
		DECQ(n)
		JNZ(LabelRef("unit"))
		VZEROUPPER()
		RET()
	}
	var s, d reg.GPVirtual
	line := func(so, do int) { VMOVDQU32(at(s, so), Z[0]); VMOVDQU32(Z[0], at(d, do)) }
	nib := func(so, lo, hi int, bias bool) {
		VPANDD(at(s, so), Z[30], Z[0])
		VPSRLD(U8(4), at(s, so), Z[1])
		VPANDD(Z[30], Z[1], Z[1])
		if bias {
			VPADDB(Z[31], Z[0], Z[0])
			VPADDB(Z[31], Z[1], Z[1])
		}
		VMOVDQU32(Z[0], at(d, lo))
		VMOVDQU32(Z[1], at(d, hi))
	}
	frame("unpackQ4_0", 576, 1088, func() { bcast(0x0f0f0f0f, Z[30]); bcast(0x78787878, Z[31]) }, func() {
		line(0, 0)
		for b := 0; b < 2; b++ {
			for l := 0; l < 4; l++ {
				nib(64+256*b+64*l, 64+512*b+64*l, 64+512*b+256+64*l, true)
			}
		}
	}, &s, &d)
	frame("unpackQ4_1", 320, 576, func() { bcast(0x0f0f0f0f, Z[30]) }, func() {
		line(0, 0)
		for l := 0; l < 4; l++ {
			nib(64+64*l, 64+64*l, 64+256+64*l, false)
		}
	}, &s, &d)
	frame("unpackQ4_K", 2304, 4416, func() {
		bcast(0x0f0f0f0f, Z[30])
		bcast(0x3f3f3f3f, Z[27])
		bcast(0x30303030, Z[26])
	}, func() {
		line(0, 0)
		scalesK(s, d)
		for j := 0; j < 4; j++ {
			for l := 0; l < 8; l++ {
				nib(256+512*j+64*l, 320+64*(16*j+l), 320+64*(16*j+8+l), false)
			}
		}
	}, &s, &d)
	frame("unpackQ6_K", 3392, 4416, func() { bcast(0x0f0f0f0f, Z[30]); bcast(0x30303030, Z[31]) }, func() {
		for o := 0; o < 320; o += 64 {
			line(o, o)
		}
		for n := 0; n < 2; n++ {
			for g := 0; g < 8; g++ {
				q := [6]reg.VecPhysical(Z[0:6])
				sixBits(s, 320+192*(8*n+g), q)
				for i := 0; i < 4; i++ {
					VMOVDQU32(q[i], at(d, 320+64*(32*n+8*i+g)))
				}
			}
		}
	}, &s, &d)
}

// scalesK writes the scales and minimums of a unit of Q4_K as bytes: [8 scales][16 rows], 2 lines of minimums. Z26 30, Z27
// 3f, Z30 0f in all bytes; Z2 to Z6 are scratch.
func scalesK(s, d reg.GPVirtual) {
	unpackK(s, [2]reg.VecPhysical{Z[2], Z[3]}, [2]reg.VecPhysical{Z[4], Z[5]}, Z[6], Z[27], Z[30], Z[26])
	for k := 0; k < 2; k++ {
		for j := 0; j < 4; j++ {
			VPMOVDB(Z[2+k], at(d, 64+16*(4*k+j)))
			if j < 3 {
				VPSRLD(U8(8), Z[2+k], Z[2+k])
			}
		}
		VMOVDQU32(Z[4+k], at(d, 192+64*k))
	}
}

// interleave makes interleaveT2..T6: n16 times 16 dwords of each of T rows (stride bytes apart) become T lines
// row0[0] row1[0] ... row0[1] ... Lanes of one row in one line are consecutive dwords: a masked expanding load each.
func interleave() {
	ks := []reg.OpmaskPhysical{reg.K1, reg.K2, reg.K3, reg.K4, reg.K5, reg.K6}
	for T := 2; T <= maxT; T++ {
		text(fmt.Sprintf("interleaveT%d", T), "func(dst, src *byte, stride, n16 int)")
		d := param("dst")
		s0 := param("src")
		stride := param("stride")
		n := param("n16")
		s := []reg.GPVirtual{s0}
		for t := 1; t < T; t++ {
			r := GP64()
			LEAQ(idx(s[t-1], stride, 0), r)
			s = append(s, r)
		}
		m := GP32()
		for r := 0; r < T; r++ { // lanes = r mod T
			v := uint32(0)
			for l := r; l < 16; l += T {
				v |= 1 << l
			}
			MOVL(U32(v), m)
			KMOVW(m, ks[r])
		}
		Label("loop")
		for k := 0; k < T; k++ {
			for t := 0; t < T; t++ {
				r := ((t-16*k)%T + T) % T
				first := (16*k - t + T - 1) / T // first i with i*T+t >= 16k
				if t == 0 {
					VPEXPANDD_Z(at(s[t], 4*first), ks[r], Z[k])
				} else {
					VPEXPANDD(at(s[t], 4*first), ks[r], Z[k])
				}
			}
			VMOVDQU32(Z[k], at(d, 64*k))
		}
		for t := 0; t < T; t++ {
			ADDQ(U32(64), s[t])
		}
		ADDQ(U32(uint32(64*T)), d)
		DECQ(n)
		JNZ(LabelRef("loop"))
		VZEROUPPER()
		RET()
	}
}
