package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// halfTable is read-only memory with f(0), f(1), ... as bfloat16.
func halfTable(name string, n int, f func(i int) float32) Mem {
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	for i := 0; i < n; i += 2 {
		DATA(2*i, U32(math.Float32bits(f(i))>>16|math.Float32bits(f(i+1))&0xffff0000))
	}
	return m
}

// widen makes the kernels that turn packed groups into the blocks of bfloat16 of the tile kernels: of each dword of four
// weights bytes 0 and 2 become a line, then 1 and 3.
func widen() {
	nibbles := halfTable("widenNibble", 32, func(i int) float32 { return float32(i & 15) })
	centred := halfTable("widenCentred", 32, func(i int) float32 { return float32(i&15 - 8) })
	six := halfTable("widenSix", 64, func(i int) float32 { return float32(i - 32) })
	open := func(name string, consts func(), ahead, sb, db int, body func(s, d reg.GPVirtual)) {
		text(name, "func(dst, src *byte, units int)")
		d, s, n := param("dst"), param("src"), param("units")
		consts()
		loop("unit", n, func() {
			for o := 0; o < sb; o += 64 {
				PREFETCHT0(at(s, o+ahead))
			}
			body(s, d)
			ADDQ(U32(uint32(sb)), s)
			ADDQ(U32(uint32(db)), d)
		})
		done()
	}
	line := func(s, d reg.GPVirtual, so, do int) { VMOVDQU32(at(s, so), Z[0]); VMOVDQU32(Z[0], at(d, do)) }
	table := func(m Mem) func() { return func() { VMOVDQU32(m, Z[31]) } }
	// A word's lowest five bits choose from the table, which has every value twice: the fifth is of another weight.
	nib := func(s, d reg.GPVirtual, so, low, high int) {
		VMOVDQU32(at(s, so), Z[0])
		for i, o := range []int{low, high, low + 64, high + 64} {
			z := Z[0]
			if i > 0 {
				z = Z[i]
				VPSRLD(U8(uint8(4*i)), Z[0], z)
			}
			VPERMW(Z[31], z, Z[4+i])
			VMOVDQU32(Z[4+i], at(d, o))
		}
	}
	// A byte u in a float's lowest bits is 2^23+u.
	bytes := func(s, d reg.GPVirtual, so, do int) {
		VMOVDQU32(at(s, so), Z[0])
		for i := 0; i < 4; i++ {
			if i > 0 {
				VPSRLD(U8(uint8(8*i)), Z[0], Z[i])
			}
		}
		for i := 0; i < 4; i++ {
			VPTERNLOGD(U8(0xea), Z[30], Z[31], Z[i]) // Z[i] & Z31 | Z30
			VSUBPS(Z[29], Z[i], Z[i])
		}
		for i := 0; i < 2; i++ {
			VPSRLD(U8(16), Z[i], Z[i])
			VPTERNLOGD(U8(0xea), Z[i], Z[28], Z[i+2]) // upper half of the one, lower of the other
			VMOVDQU32(Z[i+2], at(d, do+64*i))
		}
	}
	byteConsts := func(zero float32) func() {
		return func() {
			bcast(0xff, Z[31])
			bcast(0x4b000000, Z[30])
			bcast(math.Float32bits(1<<23+zero), Z[29])
			bcast(0xffff0000, Z[28])
		}
	}
	open("widenQ4_0", table(centred), 4096, 576, 2*wideUnit, func(s, d reg.GPVirtual) {
		for b := 0; b < 2; b++ {
			VMOVDQU(at(s, 32*b), Y[1])
			VMOVDQU(Y[1], at(d, wideUnit*b))
			for l := 0; l < 4; l++ {
				nib(s, d, 64+256*b+64*l, wideUnit*b+64+128*l, wideUnit*b+64+512+128*l)
			}
		}
	})
	open("widenQ4_1", table(nibbles), 4096, 320, wideUnit, func(s, d reg.GPVirtual) {
		line(s, d, 0, 0)
		for l := 0; l < 4; l++ {
			nib(s, d, 64+64*l, 64+128*l, 64+512+128*l)
		}
	})
	open("widenQ8_0", byteConsts(128), 2048, 1088, 2*wideUnit, func(s, d reg.GPVirtual) {
		for b := 0; b < 2; b++ {
			VMOVDQU(at(s, 32*b), Y[1])
			VMOVDQU(Y[1], at(d, wideUnit*b))
			for l := 0; l < 8; l++ {
				bytes(s, d, 64+512*b+64*l, wideUnit*b+64+128*l)
			}
		}
	})
	open("widenQ8_1", byteConsts(0), 2048, 576, wideUnit, func(s, d reg.GPVirtual) {
		line(s, d, 0, 0)
		for l := 0; l < 8; l++ {
			bytes(s, d, 64+64*l, 64+128*l)
		}
	})
	open("widenQ4_K", func() {
		table(nibbles)()
		bcast(0x0f0f0f0f, Z[30])
		bcast(0x3f3f3f3f, Z[27])
		bcast(0x30303030, Z[26])
	}, 4096, 2304, wideK, func(s, d reg.GPVirtual) {
		line(s, d, 0, 0)
		scalesK(s, d)
		for l := 0; l < 32; l++ {
			nib(s, d, 256+64*l, wideKAt+2048*(l/8)+128*(l%8), wideKAt+2048*(l/8)+1024+128*(l%8))
		}
	})
	open("widenK32", byteConsts(0), 2048, 4416, wideK, func(s, d reg.GPVirtual) {
		for o := 0; o < 320; o += 64 {
			line(s, d, o, o)
		}
		for l := 0; l < 64; l++ {
			bytes(s, d, 320+64*l, wideKAt+128*l)
		}
	})
	open("widenQ6_K", func() {
		bcast(0x0f0f0f0f, Z[30])
		bcast(0x30303030, Z[31])
		VMOVDQU32(six, Z[28])
		VMOVDQU32(six.Offset(64), Z[29])
	}, 4096, 3392, wideK, func(s, d reg.GPVirtual) {
		for o := 0; o < 320; o += 64 {
			line(s, d, o, o)
		}
		for n := 0; n < 2; n++ {
			for g := 0; g < 8; g++ {
				q := [6]reg.VecPhysical(Z[0:6])
				sixBits(s, 320+192*(8*n+g), q)
				for i := 0; i < 4; i++ {
					VPSRLD(U8(8), q[i], Z[8+i])
					for k, z := range []reg.VecPhysical{q[i], Z[8+i]} {
						VPERMI2W(Z[29], Z[28], z)
						VMOVDQU32(z, at(d, wideKAt+128*(32*n+8*i+g)+64*k))
					}
				}
			}
		}
	})
}
