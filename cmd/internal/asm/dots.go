package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dots16 makes the float mat-mats: R rows by T tokens, y[t][r] = w[r] . x[t]. Lane i adds elements i, i+16, ...; the 16
// lanes are folded at the end. Weights are f32, f16 or bf16, 16 columns of each of the R rows after the other.
func dots16(v vec) {
	R, maxTok := 4, 4
	if !v.avx512 {
		R, maxTok = 2, 3
	}
	for _, form := range []string{"F32", "F16", "BF16"} {
		for T := 1; T <= maxTok; T++ {
			dotKernel(v, form, R, T)
		}
	}
}

func dotKernel(v vec, form string, R, T int) {
	text(v.name(fmt.Sprintf("dot%sT%d", form, T)), "func(y *float32, ldy int, w *byte, x *float32, ldx int, n16 int)")
	y, ldy, w := param("y"), param("ldy"), param("w")
	x0, ldx, n := param("x"), param("ldx"), param("n16")
	x := pointers(x0, ldx, T)
	P := v.parts()
	for i := 0; i < R*T*P; i++ {
		v.zero(v.reg(i))
	}
	size := 4
	if form != "F32" {
		size = 2
	}
	first := 12 // registers: sums, from first on R weights, one x
	if v.avx512 {
		first = 16
	}
	loop("dot", n, func() {
		for o := 0; o < 16*size*R && T == 1; o += 64 { // one token reads weights from memory
			PREFETCHT0(at(w, o+2048))
		}
		for h := 0; h < P; h++ {
			for r := 0; r < R; r++ {
				loadAs(form, v, at(w, size*(16*r+8*h)), v.reg(first+r))
			}
			for t := 0; t < T; t++ {
				xr := v.reg(first + R)
				VMOVUPS(at(x[t], 32*h), xr)
				for r := 0; r < R; r++ {
					VFMADD231PS(v.reg(first+r), xr, v.reg((t*R+r)*P+h))
				}
			}
		}
		ADDQ(U32(uint32(16*size*R)), w)
		for _, p := range x {
			ADDQ(U32(64), p)
		}
	})
	for t := 0; t < T; t++ {
		for r := 0; r < R; r++ {
			a := (t*R + r) * P
			v.fold16(vaddps, a, a+1, first)
			VMOVSS(X[a], at(y, 4*r))
		}
		ADDQ(ldy, y)
	}
	done()
}

// pointers makes n pointers stride bytes apart.
func pointers(base, stride reg.GPVirtual, n int) []reg.GPVirtual {
	p := []reg.GPVirtual{base}
	for i := 1; i < n; i++ {
		r := GP64().(reg.GPVirtual)
		LEAQ(idx(p[i-1], stride, 0), r)
		p = append(p, r)
	}
	return p
}

// loadAs loads weights as float32.
func loadAs(form string, v vec, m Mem, r reg.VecPhysical) {
	switch form {
	case "F32":
		VMOVUPS(m, r)
	case "F16":
		VCVTPH2PS(m, r)
	case "BF16":
		VPMOVZXWD(m, r)
		VPSLLD(U8(16), r, r)
	}
}
