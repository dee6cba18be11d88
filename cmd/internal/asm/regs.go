package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Z, Y and X name vector registers by number: the register plan is fixed by hand.
var (
	Z = []reg.VecPhysical{reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7, reg.Z8, reg.Z9, reg.Z10,
		reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15, reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22,
		reg.Z23, reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31}
	Y = []reg.VecPhysical{reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7, reg.Y8, reg.Y9, reg.Y10,
		reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15}
	X = []reg.VecPhysical{reg.X0, reg.X1, reg.X2, reg.X3, reg.X4, reg.X5, reg.X6, reg.X7, reg.X8, reg.X9, reg.X10,
		reg.X11, reg.X12, reg.X13, reg.X14, reg.X15}
)

// vec is a vector of 16 float32: one 512-bit register, or two 256-bit registers.
type vec struct{ avx512 bool }

// parts is how many registers make 16 lanes; reg(i) is register number i.
func (v vec) parts() int {
	if v.avx512 {
		return 1
	}
	return 2
}

func (v vec) bytes() int { return 64 / v.parts() }

func (v vec) reg(i int) reg.VecPhysical {
	if v.avx512 {
		return Z[i]
	}
	return Y[i]
}

// name adds the variant to a kernel's name: the AVX-512 one has none.
func (v vec) name(s string) string {
	if v.avx512 {
		return s
	}
	return s + "avx2"
}

func (v vec) zero(r reg.VecPhysical) {
	if v.avx512 {
		VPXORD(r, r, r)
	} else {
		VXORPS(r, r, r)
	}
}

// fill puts a 32-bit constant into every lane of register i.
func (v vec) fill(c uint32, i int) {
	t := GP32()
	MOVL(U32(c), t)
	if v.avx512 {
		VPBROADCASTD(t, Z[i])
		return
	}
	VMOVD(t, X[i])
	VPBROADCASTD(X[i], Y[i])
}

func zero(z reg.VecPhysical) { VPXORD(z, z, z) }

// bcast fills z with a 32-bit constant.
func bcast(v uint32, z reg.VecPhysical) {
	t := GP32()
	MOVL(U32(v), t)
	VPBROADCASTD(t, z)
}

func at(b reg.Register, off int) Mem { return Mem{Base: b, Disp: off} }

func idx(b, i reg.Register, off int) Mem { return Mem{Base: b, Index: i, Scale: 1, Disp: off} }

// fetch prefetches line off of the stream at b, pf bytes ahead.
func fetch(b, pf reg.GPVirtual, off int) { PREFETCHT0(idx(b, pf, off)) }

func param(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

// paramF broadcasts a float32 parameter into register r.
func paramF(name string, r reg.VecPhysical) {
	p, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	VBROADCASTSS(p.Addr, r)
}

// text opens a leaf kernel: no frame, no stack growth, and nothing it gets escapes.
func text(name, signature string) {
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
}

// loop runs body n times (n > 0; n is used up).
func loop(label string, n reg.Register, body func()) {
	Label(label)
	body()
	DECQ(n)
	JNZ(LabelRef(label))
}

func done() {
	VZEROUPPER()
	RET()
}

// fold16 reduces 16 lanes to one with op, in the fixed order lane i with i^8, i^4, i^2, i^1. AVX-512: lanes of register a;
// AVX2: lanes of registers a and b. The result is in every lane of a (and, with AVX2, only of a). t is scratch.
func (v vec) fold16(op func(a, b, c Op), a, b, t int) {
	if v.avx512 {
		for _, i := range []uint8{0x4e, 0xb1} {
			VSHUFF64X2(U8(i), Z[a], Z[a], Z[t])
			op(Z[t], Z[a], Z[a])
		}
	} else {
		op(Y[b], Y[a], Y[a])
		VPERM2F128(U8(1), Y[a], Y[a], Y[t])
		op(Y[t], Y[a], Y[a])
	}
	for _, i := range []uint8{0x4e, 0xb1} {
		VPERMILPS(U8(i), v.reg(a), v.reg(t))
		op(v.reg(t), v.reg(a), v.reg(a))
	}
}

func vaddps(a, b, c Op) { VADDPS(a, b, c) }
func vmaxps(a, b, c Op) { VMAXPS(a, b, c) }
