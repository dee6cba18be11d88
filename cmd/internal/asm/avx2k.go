package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// mmK2 makes the AVX2 kernels for 256-weight super-blocks in byte form (see mmK): one group by a tile of T tokens, 8 rows
// at a time. Float accumulators live in y, the sums of a super-block in Y0-Y5. sub is the weights that share a scale.
func mmK2(name string, sub int) {
	for T := 1; T <= maxT; T++ {
		text(fmt.Sprintf("%savx2T%d", name, T), "func(y *float32, ldy int, w *byte, x *byte, units int)")
		y, ldy, w0, x0, units := param("y"), param("ldy"), param("w"), param("x"), param("units")
		vec{}.fill(0x00010001, 15)
		reg64 := func() reg.GPVirtual { return GP64().(reg.GPVirtual) }
		w, wd, sp, x, xp, c, n, p, half, piece := reg64(), reg64(), reg64(), reg64(), reg64(), reg64(), reg64(), reg64(), reg64(), reg64()
		MOVQ(U32(2), half)
		MOVQ(w0, wd) // the scales of 8 rows: 16 bytes of f16, 8 of int8
		loop("half", half, func() {
			MOVQ(w0, w)
			VXORPS(Y[0], Y[0], Y[0])
			MOVQ(y, p)
			for t := 0; t < T; t++ {
				VMOVUPS(Y[0], at(p, 0))
				ADDQ(ldy, p)
			}
			MOVQ(x0, x)
			MOVQ(units, n)
			Label("unit")
			for t := 0; t < T; t++ {
				VPXOR(Y[t], Y[t], Y[t])
			}
			MOVQ(w, sp) // scales at 64 + 8*half: w0 has moved by 32, w + 64 - 24*(second half)
			CMPQ(half, U32(1))
			JNE(LabelRef("first"))
			SUBQ(U32(24), sp)
			Label("first")
			LEAQ(at(x, kH*T), xp)
			LEAQ(at(x, kC*T), c)
			LEAQ(at(w, 320), p)
			MOVQ(U32(uint32(256/sub)), piece)
			loop("piece", piece, func() {
				extend8(sub, at(sp, 64), Y[13])
				for t := 0; t < T; t++ {
					k2Piece(T, t, sub, p, xp, c)
				}
				ADDQ(U32(uint32(16*sub)), p)
				ADDQ(U32(uint32(sub*T)), xp)
				ADDQ(U32(uint32(4*T)), c)
				ADDQ(U32(16), sp)
			})
			k2Float(T, sub, y, ldy, w, wd, x, p)
			ADDQ(U32(4416), w)
			ADDQ(U32(4416), wd)
			ADDQ(U32(uint32(x256*T)), x)
			DECQ(n)
			JNZ(LabelRef("unit"))
			ADDQ(U32(32), y)
			LEAQ(at(w0, 16), wd)
			ADDQ(U32(32), w0)
		})
		done()
	}
}

// k2Piece adds sub weights of token t, times their scale Y13, to its float sum. Weights are below 32 where sub is 32, below
// 64 else: 16-bit sums hold 4 lines of the former (8 * 31 * 127 = 31496), 2 of the latter (4 * 63 * 127 = 32004).
func k2Piece(T, t, sub int, p, xp, c reg.GPVirtual) {
	fit := sub / 8        // lines that a 16-bit sum holds
	part := func(o int) { // Y7 += the sums by the upper or lower bytes
		for l := 0; l < sub/4; l++ {
			VPBROADCASTD(at(xp, o*T+4*(l*T+t)), Y[6])
			VMOVDQU(at(p, 64*l), Y[8])
			if l%fit == 0 {
				VPMADDUBSW(Y[6], Y[8], Y[9])
				continue
			}
			VPMADDUBSW(Y[6], Y[8], Y[8])
			VPADDW(Y[8], Y[9], Y[9])
			if l%fit == fit-1 {
				VPMADDWD(Y[15], Y[9], Y[9])
				VPADDD(Y[9], Y[7], Y[7])
			}
		}
	}
	VPXOR(Y[7], Y[7], Y[7])
	part(0)
	VPSLLD(U8(8), Y[7], Y[7])
	part(kL - kH)
	if sub == 16 {
		VPBROADCASTD(at(c, 4*t), Y[6])
		VPADDD(Y[6], Y[7], Y[7])
	}
	VCVTDQ2PS(Y[7], Y[7])
	VFMADD231PS(Y[7], Y[13], Y[t])
}

// k2Float adds the super-block's sums to those in y.
func k2Float(T, sub int, y, ldy, w, wd, x, p reg.GPVirtual) {
	VCVTPH2PS(at(wd, 0), Y[8])
	if sub == 32 {
		VCVTPH2PS(at(wd, 32), Y[9])
		VMOVDQU(at(w, 192), Y[10])
		VMOVDQU(at(w, 256), Y[11])
	}
	MOVQ(y, p)
	for t := 0; t < T; t++ {
		VBROADCASTSS(at(x, 4*t), Y[6])
		VMULPS(Y[6], Y[8], Y[7])
		VMOVUPS(at(p, 0), Y[12])
		VFMADD231PS(Y[t], Y[7], Y[12])
		if sub == 32 {
			sums := func(k int) { // of mins with part k of the block sums: 2 x 4 bytes
				VPBROADCASTD(at(x, kS*T+4*(2*k*T+t)), Y[7])
				VPMADDUBSW(Y[7], Y[10], Y[7])
				VPMADDWD(Y[15], Y[7], Y[7])
				VPBROADCASTD(at(x, kS*T+4*((2*k+1)*T+t)), Y[14])
				VPMADDUBSW(Y[14], Y[11], Y[14])
				VPMADDWD(Y[15], Y[14], Y[14])
				VPADDD(Y[14], Y[7], Y[7])
			}
			sums(0)
			for k := 1; k < 3; k++ {
				VPSLLD(U8(7), Y[7], Y[13])
				sums(k)
				VPADDD(Y[13], Y[7], Y[7])
			}
			VMULPS(Y[6], Y[9], Y[13])
			VCVTDQ2PS(Y[7], Y[7])
			VFNMADD231PS(Y[7], Y[13], Y[12])
		}
		VMOVUPS(Y[12], at(p, 0))
		ADDQ(ldy, p)
	}
}

// extend8 widens 8 scales to float32.
func extend8(sub int, m Mem, y reg.VecPhysical) {
	if sub == 32 {
		VPMOVZXBD(m, y)
	} else {
		VPMOVSXBD(m, y)
	}
	VCVTDQ2PS(y, y)
}
