package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// expConsts: registers 4 to 10 hold the polynomial of 2^f on [-0.5, 0.5] (Taylor terms of e^(f ln 2), the last ones
// refitted), 11 the lower bound of the exponent.
func (v vec) expConsts() {
	for i, c := range []uint32{0x3f800000, 0x3f317218, 0x3e75fdf0, 0x3d635847, 0x3c1d955b, 0x3aaec3ff, 0x39218489} {
		v.fill(c, 4+i)
	}
	v.fill(0xc2fa0000, 11) // -125
}

// exp2 computes 2^t in register 14 from t in register 2, which must be at most 126. Below -125 the result is 0 if
// flush, else 2^-125. Uses registers 3, 15 (flush) and K1.
func (v vec) exp2(flush bool) {
	t, n, p, m := v.reg(2), v.reg(3), v.reg(14), v.reg(15)
	if flush {
		if v.avx512 {
			VCMPPS(U8(13), v.reg(11), t, reg.K1)
		} else {
			VCMPPS(U8(13), v.reg(11), t, m)
		}
	}
	VMAXPS(v.reg(11), t, t)
	if v.avx512 {
		VRNDSCALEPS(U8(0), t, n)
	} else {
		VROUNDPS(U8(0), t, n)
	}
	VSUBPS(n, t, t)
	VMOVAPS(v.reg(10), p)
	for i := 9; i >= 4; i-- {
		VFMADD213PS(v.reg(i), t, p)
	}
	VCVTPS2DQ(n, n)
	VPSLLD(U8(23), n, n)
	switch { // p is in [0.7, 1.5], so adding to its exponent field is exact
	case flush && v.avx512:
		VPADDD_Z(n, p, reg.K1, p)
	case flush:
		VPADDD(n, p, p)
		VANDPS(m, p, p)
	default:
		VPADDD(n, p, p)
	}
}

// softmax replaces s[:16*n16] by its softmax at the given scale. Values of -1e30 become 0.
func softmax(v vec) {
	text(v.name("softmax"), "func(s *float32, n16 int, scale float32)")
	s, n := param("s"), param("n16")
	paramF("scale", v.reg(12))
	v.fill(0x3fb8aa3b, 13) // log2 e
	VMULPS(v.reg(13), v.reg(12), v.reg(12))
	v.expConsts()
	p, k := GP64().(reg.GPVirtual), GP64().(reg.GPVirtual)
	each := func(label string, body func(h int, m Mem)) {
		MOVQ(s, p)
		MOVQ(n, k)
		loop(label, k, func() {
			for h := 0; h < v.parts(); h++ {
				body(h, at(p, 32*h))
			}
			ADDQ(U32(64), p)
		})
	}
	for h := 0; h < v.parts(); h++ {
		VMOVUPS(at(s, 32*h), v.reg(h))
	}
	each("max", func(h int, m Mem) { VMAXPS(m, v.reg(h), v.reg(h)) })
	v.fold16(vmaxps, 0, 1, 2)
	VMULPS(v.reg(12), v.reg(0), v.reg(13))
	v.zero(v.reg(0))
	v.zero(v.reg(1))
	each("exp", func(h int, m Mem) {
		VMOVUPS(m, v.reg(2))
		VFMSUB213PS(v.reg(13), v.reg(12), v.reg(2))
		v.exp2(true)
		VADDPS(v.reg(14), v.reg(h), v.reg(h))
		VMOVUPS(v.reg(14), m)
	})
	v.fold16(vaddps, 0, 1, 2)
	VDIVPS(v.reg(0), v.reg(4), v.reg(0)) // 1/sum
	each("scale", func(h int, m Mem) {
		VMULPS(m, v.reg(0), v.reg(2))
		VMOVUPS(v.reg(2), m)
	})
	done()
}

// norm makes the two halves of RMSNorm: the sum of squares, and y = (x*s)*w.
func norm(v vec) {
	text(v.name("sumSquares"), "func(x *float32, n16 int) float32")
	x, n := param("x"), param("n16")
	v.zero(v.reg(0))
	v.zero(v.reg(1))
	loop("sum", n, func() {
		for h := 0; h < v.parts(); h++ {
			VMOVUPS(at(x, 32*h), v.reg(2+h))
			VFMADD231PS(v.reg(2+h), v.reg(2+h), v.reg(h))
		}
		ADDQ(U32(64), x)
	})
	v.fold16(vaddps, 0, 1, 2)
	Store(X[0], ReturnIndex(0))
	done()

	text(v.name("scaleMul"), "func(y, x, w *float32, n16 int, s float32)")
	y, x, w, n := param("y"), param("x"), param("w"), param("n16")
	paramF("s", v.reg(3))
	loop("mul", n, func() {
		for h := 0; h < v.parts(); h++ {
			VMULPS(at(x, 32*h), v.reg(3), v.reg(h))
			VMULPS(at(w, 32*h), v.reg(h), v.reg(h))
			VMOVUPS(v.reg(h), at(y, 32*h))
		}
		for _, p := range []reg.GPVirtual{y, x, w} {
			ADDQ(U32(64), p)
		}
	})
	done()
}

// gates makes siluMul, y = g/(1+exp(-g))*u, and geluMul, the same with the tanh form of GELU, which is
// g/(1+exp(-2c(g+0.044715g^3))), c = sqrt(2/pi).
func gates(v vec) {
	for _, gelu := range []bool{false, true} {
		name := "siluMul"
		if gelu {
			name = "geluMul"
		}
		text(v.name(name), "func(y, gate, up *float32, n16 int)")
		y, g, u, n := param("y"), param("gate"), param("up"), param("n16")
		v.expConsts()
		v.fill(0x42fa0000, 12) // 125
		if gelu {
			v.fill(0xc0135761, 13) // -2c log2 e
			v.fill(0xbdd2d3e8, 15) // times 0.044715
		} else {
			v.fill(0xbfb8aa3b, 13) // -log2 e
		}
		loop("gate", n, func() {
			for h := 0; h < v.parts(); h++ {
				VMOVUPS(at(g, 32*h), v.reg(0))
				if gelu {
					VMULPS(v.reg(0), v.reg(0), v.reg(2))
					VFMADD213PS(v.reg(13), v.reg(15), v.reg(2))
					VMULPS(v.reg(0), v.reg(2), v.reg(2))
				} else {
					VMULPS(v.reg(13), v.reg(0), v.reg(2))
				}
				VMINPS(v.reg(12), v.reg(2), v.reg(2))
				v.exp2(false)
				VADDPS(v.reg(4), v.reg(14), v.reg(14))
				VDIVPS(v.reg(14), v.reg(0), v.reg(0))
				VMULPS(at(u, 32*h), v.reg(0), v.reg(0))
				VMOVUPS(v.reg(0), at(y, 32*h))
			}
			for _, p := range []reg.GPVirtual{y, g, u} {
				ADDQ(U32(64), p)
			}
		})
		done()
	}
}

// ropes makes the rotations in place: y[i] = x[i]*c[i] + x[partner]*s[i]. The partner is the neighbour (pairs) or lies
// half a head away (halves: n16 counts vectors of half a head).
func ropes(v vec) {
	text(v.name("ropePairs"), "func(x, c, s *float32, n16 int)")
	x, c, s, n := param("x"), param("c"), param("s"), param("n16")
	loop("pairs", n, func() {
		for h := 0; h < v.parts(); h++ {
			VMOVUPS(at(x, 32*h), v.reg(0))
			VPERMILPS(U8(0xb1), v.reg(0), v.reg(1))
			VMULPS(at(s, 32*h), v.reg(1), v.reg(1))
			VFMADD132PS(at(c, 32*h), v.reg(1), v.reg(0))
			VMOVUPS(v.reg(0), at(x, 32*h))
		}
		for _, p := range []reg.GPVirtual{x, c, s} {
			ADDQ(U32(64), p)
		}
	})
	done()

	text(v.name("ropeHalves"), "func(x, c, s *float32, n16 int)")
	x, c, s, n = param("x"), param("c"), param("s"), param("n16")
	half := GP64().(reg.GPVirtual)
	MOVQ(n, half)
	SHLQ(U8(6), half)
	loop("halves", n, func() {
		for h := 0; h < v.parts(); h++ {
			VMOVUPS(at(x, 32*h), v.reg(0))
			VMOVUPS(idx(x, half, 32*h), v.reg(1))
			VMULPS(at(s, 32*h), v.reg(1), v.reg(2))
			VMULPS(idx(s, half, 32*h), v.reg(0), v.reg(3))
			VFMADD132PS(at(c, 32*h), v.reg(2), v.reg(0))
			VFMADD132PS(idx(c, half, 32*h), v.reg(3), v.reg(1))
			VMOVUPS(v.reg(0), at(x, 32*h))
			VMOVUPS(v.reg(1), idx(x, half, 32*h))
		}
		for _, p := range []reg.GPVirtual{x, c, s} {
			ADDQ(U32(64), p)
		}
	})
	done()
}

// add makes y = a + b.
func add(v vec) {
	text(v.name("addVec"), "func(y, a, b *float32, n16 int)")
	y, a, b, n := param("y"), param("a"), param("b"), param("n16")
	loop("add", n, func() {
		for h := 0; h < v.parts(); h++ {
			VMOVUPS(at(a, 32*h), v.reg(h))
			VADDPS(at(b, 32*h), v.reg(h), v.reg(h))
			VMOVUPS(v.reg(h), at(y, 32*h))
		}
		for _, p := range []reg.GPVirtual{y, a, b} {
			ADDQ(U32(64), p)
		}
	})
	done()
}

// toHalf rounds float32 to float16, nearest even.
func toHalf(v vec) {
	text(v.name("toHalf"), "func(dst *uint16, src *float32, n16 int)")
	d, s, n := param("dst"), param("src"), param("n16")
	loop("half", n, func() {
		for h := 0; h < v.parts(); h++ {
			VMOVUPS(at(s, 32*h), v.reg(h))
			VCVTPS2PH(U8(0), v.reg(h), at(d, 16*h))
		}
		ADDQ(U32(64), s)
		ADDQ(U32(32), d)
	})
	done()
}

// keyColumn rounds 8*n8 values to float16 and writes them 32 bytes apart: one token's column of a key page.
func keyColumn() {
	text("keyColumnF16C", "func(dst *uint16, src *float32, n8 int)")
	d, s, n := param("dst"), param("src"), param("n8")
	loop("column", n, func() {
		VMOVUPS(at(s, 0), Y[0])
		VCVTPS2PH(U8(0), Y[0], X[0])
		for i := 0; i < 8; i++ {
			VPEXTRW(U8(uint8(i)), X[0], at(d, 32*i))
		}
		ADDQ(U32(32), s)
		ADDQ(U32(256), d)
	})
	done()
}

// spin waits until *p != old, at most n loads; it stays short, because assembly cannot be preempted.
func spin() {
	text("spinPause", "func(p *uint32, old uint32, n int) bool")
	p, n := param("p"), param("n")
	old := Load(Param("old"), GP32())
	r := GP8()
	Label("loop")
	CMPL(at(p, 0), old)
	JNE(LabelRef("yes"))
	PAUSE()
	DECQ(n)
	JNZ(LabelRef("loop"))
	XORB(r, r)
	Store(r, ReturnIndex(0))
	RET()
	Label("yes")
	MOVB(U8(1), r)
	Store(r, ReturnIndex(0))
	RET()
}

// readRoof reads n*512 bytes, half from w and half from half bytes further on.
func readRoof() {
	text("readRoof", "func(w *byte, n int, half int)")
	w, n, half := param("w"), param("n"), param("half")
	loop("read", n, func() {
		for i := 0; i < 8; i++ {
			if i%2 == 0 {
				PREFETCHT0(at(w, 32*i+2048))
				PREFETCHT0(idx(w, half, 32*i+2048))
			}
			VPXOR(at(w, 32*i), Y[i], Y[i])
			VPXOR(idx(w, half, 32*i), Y[8+i], Y[8+i])
		}
		ADDQ(U32(256), w)
	})
	done()
}
