package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rows is how many query rows one attention kernel takes at most.
func (v vec) rows() int {
	if v.avx512 {
		return 6
	}
	return 4
}

// rowMems returns an addressing function for up to 6 rows stride bytes apart: the second pointer is 3 rows further on.
func rowMems(R int, base, stride reg.GPVirtual) (mem func(r, off int) Mem, step func(bytes int)) {
	far := base
	if R > 3 {
		far = GP64().(reg.GPVirtual)
		LEAQ(Mem{Base: base, Index: stride, Scale: 2}, far)
		ADDQ(stride, far)
	}
	mem = func(r, off int) Mem {
		m := Mem{Base: base, Disp: off}
		if r >= 3 {
			m.Base = far
		}
		if r%3 > 0 {
			m.Index, m.Scale = stride, uint8(r%3)
		}
		return m
	}
	step = func(bytes int) {
		ADDQ(I32(int32(bytes)), base)
		if R > 3 {
			ADDQ(I32(int32(bytes)), far)
		}
	}
	return
}

// nextPage loads the address of the current page into k and of the one after it (or the same again) into nx.
func nextPage(label string, pages, off, left, k, nx reg.GPVirtual) {
	MOVQ(at(pages, 0), k)
	ADDQ(off, k)
	MOVQ(k, nx)
	CMPQ(left, U32(1))
	JE(LabelRef(label))
	MOVQ(at(pages, 8), nx)
	ADDQ(off, nx)
	Label(label)
}

// attnQK makes attnQKr1..: s[r][16*page+lane] = scale * q[r] . k for R query rows that share a KV head. A key page is
// [dim][16 tokens] f16, off bytes from the addresses in pages. Each lane adds in the order of the dims. attnQKFr1.. are the
// same over float32.
func attnQK(v vec, form kvForm) {
	for R := 1; R <= v.rows(); R++ {
		text(v.name(fmt.Sprintf("attnQK%sr%d", form.letter(), R)), "func(s *float32, lds int, q *float32, ldq int, pages *uintptr, off int, n int, dim16 int, scale float32)")
		s, lds, q, ldq := param("s"), param("lds"), param("q"), param("ldq")
		pages, off, n, dim16 := param("pages"), param("off"), param("n"), param("dim16")
		row, step := rowMems(R, q, ldq)
		k, nx, d, o := GP64().(reg.GPVirtual), GP64().(reg.GPVirtual), GP64().(reg.GPVirtual), GP64().(reg.GPVirtual)
		back := GP64().(reg.GPVirtual)
		MOVQ(dim16, back)
		SHLQ(U8(6), back)
		loop("page", n, func() {
			nextPage("ahead", pages, off, n, k, nx)
			for i := 0; i < R*v.parts(); i++ {
				v.zero(v.reg(i))
			}
			MOVQ(dim16, d)
			loop("dims", d, func() {
				for i := 0; i < 16; i++ {
					if form.wide || i%2 == 0 {
						PREFETCHT0(at(nx, 16*form.bytes()*i))
					}
					v.qkDim(form, R, i, k, row)
				}
				ADDQ(U32(uint32(256*form.bytes())), k)
				ADDQ(U32(uint32(256*form.bytes())), nx)
				step(64)
			})
			NEGQ(back)
			ADDQ(back, q)
			if R > 3 {
				ADDQ(back, row(3, 0).Base.(reg.GPVirtual))
			}
			NEGQ(back)
			MOVQ(s, o)
			paramF("scale", v.reg(15))
			for r := 0; r < R; r++ {
				for h := 0; h < v.parts(); h++ {
					VMULPS(v.reg(15), v.reg(r*v.parts()+h), v.reg(r*v.parts()+h))
					VMOVUPS(v.reg(r*v.parts()+h), at(o, 32*h))
				}
				ADDQ(lds, o)
			}
			ADDQ(U32(8), pages)
			ADDQ(U32(64), s)
		})
		done()
	}
}

// qkDim adds dim i of 16 tokens to R rows of scores.
func (v vec) qkDim(form kvForm, R, i int, k reg.GPVirtual, row func(r, off int) Mem) {
	if v.avx512 {
		z := Z[16+i%8]
		form.load(at(k, 16*form.bytes()*i), z)
		for r := 0; r < R; r++ {
			VFMADD231PS_BCST(row(r, 4*i), z, Z[r])
		}
		return
	}
	a, b := Y[8+2*(i%2)], Y[9+2*(i%2)]
	form.load(at(k, 16*form.bytes()*i), a)
	form.load(at(k, 16*form.bytes()*i+8*form.bytes()), b)
	for r := 0; r < R; r++ {
		t := Y[12+r%4]
		VBROADCASTSS(row(r, 4*i), t)
		VFMADD231PS(a, t, Y[2*r])
		VFMADD231PS(b, t, Y[2*r+1])
	}
}

// attnPV makes attnPV{1,2,4}r1..: out[r][:16*vecs] = sum over n tokens of p[r][token] * v[token], in the order of the
// tokens. A value page is [16 tokens][dim] f16, ldv bytes from token to token. attnPVF{1,2,4}r1.. are the same over float32.
func attnPV(v vec, form kvForm) {
	widths := []int{1}
	if v.avx512 {
		widths = []int{1, 2, 4}
	}
	for _, vecs := range widths {
		for R := 1; R <= v.rows(); R++ {
			text(v.name(fmt.Sprintf("attnPV%s%dr%d", form.letter(), vecs, R)), "func(out *float32, ldo int, p *float32, ldp int, pages *uintptr, off int, n int, ldv int)")
			out, ldo, p, ldp := param("out"), param("ldo"), param("p"), param("ldp")
			pages, off, n, ldv := param("pages"), param("off"), param("n"), param("ldv")
			row, step := rowMems(R, p, ldp)
			k, nx, t, left := GP64().(reg.GPVirtual), GP64().(reg.GPVirtual), GP64().(reg.GPVirtual), GP64().(reg.GPVirtual)
			for i := 0; i < R*vecs*v.parts(); i++ {
				v.zero(v.reg(i))
			}
			Label("page")
			MOVQ(n, left) // pages left
			ADDQ(U32(15), left)
			SHRQ(U8(4), left)
			nextPage("ahead", pages, off, left, k, nx)
			MOVQ(U32(16), t)
			CMPQ(n, t)
			CMOVQLT(n, t)
			SUBQ(t, n)
			loop("token", t, func() {
				v.pvToken(form, R, vecs, k, nx, row)
				ADDQ(ldv, k)
				ADDQ(ldv, nx)
				step(4)
			})
			ADDQ(U32(8), pages)
			TESTQ(n, n)
			JNZ(LabelRef("page"))
			for r := 0; r < R; r++ {
				for i := 0; i < vecs*v.parts(); i++ {
					VMOVUPS(v.reg(r*vecs*v.parts()+i), at(out, v.bytes()*i))
				}
				ADDQ(ldo, out)
			}
			done()
		}
	}
}

// pvToken adds one token to R rows of outputs.
func (v vec) pvToken(form kvForm, R, vecs int, k, nx reg.GPVirtual, row func(r, off int) Mem) {
	for off := 0; off < 16*form.bytes()*vecs; off += 64 {
		PREFETCHT0(at(nx, off))
	}
	if v.avx512 {
		for i := 0; i < vecs; i++ {
			form.load(at(k, 16*form.bytes()*i), Z[24+i])
		}
		for r := 0; r < R; r++ {
			for i := 0; i < vecs; i++ {
				VFMADD231PS_BCST(row(r, 0), Z[24+i], Z[vecs*r+i])
			}
		}
		return
	}
	form.load(at(k, 0), Y[8])
	form.load(at(k, 8*form.bytes()), Y[9])
	for r := 0; r < R; r++ {
		t := Y[12+r%4]
		VBROADCASTSS(row(r, 0), t)
		VFMADD231PS(Y[8], t, Y[2*r])
		VFMADD231PS(Y[9], t, Y[2*r+1])
	}
}
