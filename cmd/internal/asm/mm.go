package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const maxT = 6 // tokens of one register tile

// mmFrame loads the arguments of a mat-mat kernel: 2 groups of 16 rows (ws bytes apart) by T tokens (y rows ldy bytes apart).
func mmFrame(name string) (y, ldy, w, ws, x, units reg.GPVirtual) {
	text(name, "func(y *float32, ldy int, w *byte, ws int, x *byte, units int)")
	y = param("y")
	ldy = param("ldy")
	w = param("w")
	ws = param("ws")
	x = param("x")
	units = param("units")
	return
}

// dots adds n 4-weight steps (lines from o) of both groups for T tokens: Z24, Z25 weights, Z26 x.
func dots(T, n int, w, ws, x reg.GPVirtual, o, xo int, ahead bool) {
	for l := 0; l < n; l++ {
		if ahead { // the first tile of tokens finds the weights in memory
			PREFETCHT0(at(w, o+64*l+4096))
			PREFETCHT0(idx(w, ws, o+64*l+4096))
		}
		VMOVDQU32(at(w, o+64*l), Z[24])
		VMOVDQU32(idx(w, ws, o+64*l), Z[25])
		for t := 0; t < T; t++ {
			VPBROADCASTD(at(x, xo+4*(l*T+t)), Z[26])
			VPDPBUSD(Z[26], Z[24], Z[2*t])
			VPDPBUSD(Z[26], Z[25], Z[2*t+1])
		}
	}
}

// mm32 makes the kernels for 32-weight blocks. Unit: min=false two blocks (64 B f16 scales, 2 x 8 lines), weights
// biased by 128; min=true one block (16 f16 d, 16 f16 m, 8 lines), no bias. The sums by the upper bytes of x are shifted
// and go on with the lower ones: one register a sum, and the weights come from L1 again.
func mm32(name string, min bool) {
	ub, blocks := 1088, 2
	if min {
		ub, blocks = 576, 1
	}
	for T := 1; T <= maxT; T++ {
		y, ldy, w, ws, x, n := mmFrame(fmt.Sprintf("%sT%d", name, T))
		for i := 0; i < 2*T; i++ {
			zero(Z[12+i])
		}
		Label("unit")
		for b := 0; b < blocks; b++ {
			xo := b * x32 * T
			for i := 0; i < 2*T; i++ {
				zero(Z[i])
			}
			dots(T, 8, w, ws, x, 64+512*b, xo+xH*T, !min)
			for i := 0; i < 2*T; i++ {
				VPSLLD(U8(8), Z[i], Z[i])
				if !min {
					VPADDD_BCST(at(x, xo+xC*T+4*(i/2)), Z[i], Z[i])
				}
			}
			dots(T, 8, w, ws, x, 64+512*b, xo+xL*T, false)
			VCVTPH2PS(at(w, 32*b), Z[27])
			VCVTPH2PS(idx(w, ws, 32*b), Z[28])
			if min {
				VCVTPH2PS(at(w, 32), Z[24])
				VCVTPH2PS(idx(w, ws, 32), Z[25])
			}
			for t := 0; t < T; t++ {
				for g := 0; g < 2; g++ {
					i := 2*t + g
					VMULPS_BCST(at(x, xo+4*t), Z[27+g], Z[29+g])
					VCVTDQ2PS(Z[i], Z[i])
					VFMADD231PS(Z[i], Z[29+g], Z[12+i])
					if min {
						VFMADD231PS_BCST(at(x, xo+xF*T+4*t), Z[24+g], Z[12+i])
					}
				}
			}
		}
		ADDQ(U32(uint32(ub)), w)
		ADDQ(U32(uint32(blocks*x32*T)), x)
		DECQ(n)
		JNZ(LabelRef("unit"))
		for t := 0; t < T; t++ {
			VMOVUPS(Z[12+2*t], at(y, 0))
			VMOVUPS(Z[13+2*t], at(y, 64))
			if t < T-1 {
				ADDQ(ldy, y)
			}
		}
		VZEROUPPER()
		RET()
	}
}
