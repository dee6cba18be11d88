package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// quantFrame opens an activation quantiser of one token, blocks blocks long.
func quantFrame(name string) (d, x, n reg.GPVirtual) {
	text(name, "func(dst *byte, x *float32, blocks int)")
	d = param("dst")
	x = param("x")
	n = param("blocks")
	bcast(0x7fffffff, Z[31])
	bcast(0x46fe0000, Z[30]) // 32512
	bcast(0x38010204, Z[29]) // 1/32512
	bcast(0x0da24260, Z[28]) // 1e-30
	bcast(128, Z[26])
	bcast(0xffffff81, Z[25]) // -127
	Label("block")
	return
}

// halves rounds 16 scaled values q to integers, splits them into hi and lo (q = 256*hi + lo), leaves q in q, and stores
// the bytes at h and l. lo = -128 becomes -127: AVX2 has to negate it.
func halves(q, hi, lo reg.VecPhysical, h, l Mem) {
	VCVTPS2DQ(q, q)
	VPADDD(Z[26], q, hi)
	VPSRAD(U8(8), hi, hi)
	VPMOVSDB(hi, h)
	VPSLLD(U8(8), hi, hi)
	VPSUBD(hi, q, lo)
	VPMAXSD(Z[25], lo, lo)
	VPMOVSDB(lo, l)
	VPADDD(hi, lo, q)
}

// blockScale: Z0 abs values -> X0 amax; Z2 = 32512/max(amax, tiny) in all lanes; X3 = amax/32512
func blockScale() {
	VEXTRACTF64X4(U8(1), Z[0], Y[1])
	VMAXPS(Y[1], Y[0], Y[0])
	VEXTRACTF128(U8(1), Y[0], reg.X1)
	VMAXPS(reg.X1, reg.X0, reg.X0)
	VPERMILPS(U8(0x4e), reg.X0, reg.X1)
	VMAXPS(reg.X1, reg.X0, reg.X0)
	VPERMILPS(U8(0xb1), reg.X0, reg.X1)
	VMAXPS(reg.X1, reg.X0, reg.X0)
	VMULSS(reg.X29, reg.X0, reg.X3)
	VMAXSS(reg.X28, reg.X0, reg.X0)
	VDIVSS(reg.X0, reg.X30, reg.X2)
	VBROADCASTSS(reg.X2, Z[2])
}

// quant32 quantises blocks of 32.
func quant32() {
	d, x, n := quantFrame("quant32")
	VMOVUPS(at(x, 0), Z[4])
	VMOVUPS(at(x, 64), Z[5])
	VPANDD(Z[31], Z[4], Z[0])
	VPANDD(Z[31], Z[5], Z[1])
	VMAXPS(Z[1], Z[0], Z[0])
	blockScale()
	VMOVSS(reg.X3, at(d, xD))
	VMULPS(Z[2], Z[4], Z[4])
	VMULPS(Z[2], Z[5], Z[5])
	halves(Z[4], Z[6], Z[7], at(d, xH), at(d, xL))
	halves(Z[5], Z[8], Z[9], at(d, xH+16), at(d, xL+16))
	VPADDD(Z[5], Z[4], Z[4])
	VEXTRACTI64X4(U8(1), Z[4], Y[5])
	VPADDD(Y[5], Y[4], Y[4])
	VEXTRACTI128(U8(1), Y[4], reg.X5)
	VPADDD(reg.X5, reg.X4, reg.X4)
	VPSHUFD(U8(0x4e), reg.X4, reg.X5)
	VPADDD(reg.X5, reg.X4, reg.X4)
	VPSHUFD(U8(0xb1), reg.X4, reg.X5)
	VPADDD(reg.X5, reg.X4, reg.X4)
	VCVTDQ2PS(reg.X4, reg.X5)
	VMULSS(reg.X3, reg.X5, reg.X5)
	VMOVSS(reg.X5, at(d, xF))
	VPXOR(reg.X6, reg.X6, reg.X6)
	VPSUBD(reg.X4, reg.X6, reg.X4)
	VPSLLD(U8(7), reg.X4, reg.X4)
	VMOVD(reg.X4, at(d, xC))
	ADDQ(U32(x32), d)
	ADDQ(U32(128), x)
	DECQ(n)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// quant256 quantises super-blocks of 256.
func quant256() {
	d, x, n := quantFrame("quant256")
	bcast(0x01010101, Z[27])
	m := GP32()
	MOVL(U32(0x1111), m)
	KMOVW(m, reg.K1)
	VPANDD(at(x, 0), Z[31], Z[0])
	for i := 1; i < 16; i++ {
		VPANDD(at(x, 64*i), Z[31], Z[1])
		VMAXPS(Z[1], Z[0], Z[0])
	}
	blockScale()
	VMOVSS(reg.X3, at(d, kD))
	for i := 0; i < 16; i++ {
		VMULPS(at(x, 64*i), Z[2], Z[4])
		halves(Z[4], Z[5], Z[6], at(d, kH+16*i), at(d, kL+16*i))
	}
	zero(Z[6])
	for i := 0; i < 4; i++ {
		zero(Z[4])
		VPDPBUSD(at(d, kH+64*i), Z[27], Z[4])
		VPSLLD(U8(8), Z[4], Z[4])
		VPDPBUSD(at(d, kL+64*i), Z[27], Z[4])
		VPSHUFD(U8(0x4e), Z[4], Z[5])
		VPADDD(Z[5], Z[4], Z[4])
		VPSHUFD(U8(0xb1), Z[4], Z[5])
		VPADDD(Z[5], Z[4], Z[4])
		VPCOMPRESSD(Z[4], reg.K1, Z[5]) // 4 sums of 16
		VPSLLD(U8(5), reg.X5, reg.X7)
		VPSUBD(reg.X7, reg.X6, reg.X7)
		VMOVDQU(reg.X7, at(d, kC+16*i))
		VPHADDD(reg.X5, reg.X5, reg.X5)
		VPSRAD(U8(14), reg.X5, reg.X7)
		VPSLLD(U8(18), reg.X5, reg.X8)
		VPSRLD(U8(25), reg.X8, reg.X8)
		VPSLLD(U8(25), reg.X5, reg.X5)
		VPSRLD(U8(25), reg.X5, reg.X5)
		// two bytes of each piece: dword i/2, half i%2
		for k, r := range []reg.VecPhysical{reg.X7, reg.X8, reg.X5} {
			VPMOVDB(r, r)
			VPEXTRW(U8(0), r, at(d, kS+8*k+2*i))
		}
	}
	ADDQ(U32(x256), d)
	ADDQ(U32(1024), x)
	DECQ(n)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}
