package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// mmK makes the kernels for 256-weight super-blocks with integer scales per sub weights (32: Q4_K, 16: Q6_K).
// Unit 4416 B: 16 f16 d, 16 f16 dmin; scales [256/sub][16] bytes; (sub=32: 2 lines of mins); 64 lines.
// Float accumulators live in y (once per 256 weights), sums of a super-block, in float32, in Z12-Z23.
func mmK(name string, sub int) {
	for T := 1; T <= maxT; T++ {
		y, ldy, w, ws, x, n := mmFrame(fmt.Sprintf("%sT%d", name, T))
		wi := func(o int) Mem { return idx(w, ws, o) }
		zero(Z[0])
		p := GP64()
		MOVQ(y, p)
		for t := 0; t < T; t++ {
			VMOVUPS(Z[0], at(p, 0))
			VMOVUPS(Z[0], at(p, 64))
			ADDQ(ldy, p)
		}
		j := GP64()
		wp, xp, sp := GP64(), GP64(), GP64()
		Label("unit")
		for i := 0; i < 2*T; i++ {
			zero(Z[12+i])
		}
		LEAQ(at(w, 320), wp)
		LEAQ(at(w, 64), sp)
		LEAQ(at(x, kH*T), xp)
		c := GP64()
		LEAQ(at(x, kC*T), c)
		MOVQ(U32(uint32(256/sub)), j)
		Label("sub")
		for i := 0; i < 2*T; i++ {
			zero(Z[i])
		}
		dots(T, sub/4, wp, ws, xp, 0, 0, T == 1) // one token finds the weights in memory
		for i := 0; i < 2*T; i++ {
			VPSLLD(U8(8), Z[i], Z[i])
			if sub == 16 {
				VPADDD_BCST(at(c, 4*(i/2)), Z[i], Z[i])
			}
		}
		dots(T, sub/4, wp, ws, xp, 0, (kL-kH)*T, false)
		extend(sub, at(sp, 0), Z[27])
		extend(sub, idx(sp, ws, 0), Z[28])
		for i := 0; i < 2*T; i++ {
			VCVTDQ2PS(Z[i], Z[i])
			VFMADD231PS(Z[i], Z[27+i%2], Z[12+i])
		}
		ADDQ(U32(uint32(sub*16)), wp)
		ADDQ(U32(16), sp)
		ADDQ(U32(uint32(sub*T)), xp)
		ADDQ(U32(uint32(4*T)), c)
		DECQ(j)
		JNZ(LabelRef("sub"))
		// float part
		VCVTPH2PS(at(w, 0), Z[27])
		VCVTPH2PS(wi(0), Z[28])
		MOVQ(y, p)
		for t := 0; t < T; t++ {
			for g := 0; g < 2; g++ {
				i := 12 + 2*t + g
				VMULPS_BCST(at(x, 4*t), Z[27+g], Z[29])
				VMOVUPS(at(p, 64*g), Z[30])
				VFMADD231PS(Z[i], Z[29], Z[30])
				if sub == 32 {
					m, mn := Z[0], func(k int) Mem {
						if g == 1 {
							return wi(192 + 64*k)
						}
						return at(w, 192+64*k)
					}
					VMOVDQU32(mn(0), Z[24])
					VMOVDQU32(mn(1), Z[25])
					zero(m)
					minSums(T, x, t, [2]reg.VecPhysical{Z[24], Z[25]}, m)
					if g == 0 {
						VCVTPH2PS(at(w, 32), Z[29])
					} else {
						VCVTPH2PS(wi(32), Z[29])
					}
					VMULPS_BCST(at(x, 4*t), Z[29], Z[29])
					VCVTDQ2PS(m, m)
					VFNMADD231PS(m, Z[29], Z[30])
				}
				VMOVUPS(Z[30], at(p, 64*g))
			}
			ADDQ(ldy, p)
		}
		ADDQ(U32(4416), w)
		ADDQ(U32(uint32(x256*T)), x)
		DECQ(n)
		JNZ(LabelRef("unit"))
		VZEROUPPER()
		RET()
	}
}

// extend widens 16 scales to float32.
func extend(sub int, m Mem, z reg.VecPhysical) {
	if sub == 32 {
		VPMOVZXBD(m, z)
	} else {
		VPMOVSXBD(m, z)
	}
	VCVTDQ2PS(z, z)
}
