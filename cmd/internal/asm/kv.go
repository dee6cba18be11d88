package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// kvForm is how attention finds a number in the cache: as float16, or as float32.
type kvForm struct{ wide bool }

func (f kvForm) bytes() int {
	if f.wide {
		return 4
	}
	return 2
}

func (f kvForm) letter() string {
	if f.wide {
		return "F"
	}
	return ""
}

// load fills a register with float32.
func (f kvForm) load(m Mem, r reg.VecPhysical) {
	if f.wide {
		VMOVUPS(m, r)
	} else {
		VCVTPH2PS(m, r)
	}
}

// kvFormats makes the kernels for caches of other formats than float16.
func kvFormats(v vec) {
	attnQK(v, kvForm{wide: true})
	attnPV(v, kvForm{wide: true})
	expand(v, "keyQ8", true, 8)
	expand(v, "keyQ4", true, 4)
	expand(v, "rowQ8", false, 8)
	expand(v, "rowQ4", false, 4)
}

// expand makes a kernel that turns blocks of 32 dims with shared scales into float32. Rows are ggml's blocks Q8_0 and Q4_0:
// a float16 scale, then the codes of one token. Keys are blocks of 16 tokens: 16 float16 scales, then for each dim (Q4_0:
// for dims i and i+16 together) a byte of each token; they become [32 dims][16 tokens]. A number is code * scale, rounded once.
func expand(v vec, name string, keys bool, bits int) {
	text(v.name(name), "func(dst *float32, src *byte, blocks int)")
	dst, src, n := param("dst"), param("src"), param("blocks")
	runs, head := 2, 2 // runs of 16 codes; bytes of the scales
	if keys {
		runs, head = 32, 32
	}
	const code, high = 4, 6 // registers
	if bits == 4 {
		v.fill(15, 8)
		v.fill(8, 9)
		runs /= 2
	}
	loop("block", n, func() {
		for h := 0; h < v.parts(); h++ {
			v.scales(keys, src, h)
		}
		for i := 0; i < runs; i++ {
			for h := 0; h < v.parts(); h++ {
				m := at(src, head+16*i+8*h)
				if bits == 8 {
					VPMOVSXBD(m, v.reg(code))
					v.scaled(v.reg(code), h, at(dst, 64*i+32*h))
					continue
				}
				VPMOVZXBD(m, v.reg(high))
				v.and(v.reg(8), v.reg(high), v.reg(code))
				VPSRLD(U8(4), v.reg(high), v.reg(high))
				VPSUBD(v.reg(9), v.reg(code), v.reg(code))
				VPSUBD(v.reg(9), v.reg(high), v.reg(high))
				v.scaled(v.reg(code), h, at(dst, 64*i+32*h))
				v.scaled(v.reg(high), h, at(dst, 64*(i+runs)+32*h))
			}
		}
		ADDQ(U32(uint32(head+16*runs)), src)
		ADDQ(U32(uint32(64*runs*8/bits)), dst)
	})
	done()
}

// scales loads the scales of part h into register h: of 16 tokens, or of one for all lanes.
func (v vec) scales(keys bool, src reg.GPVirtual, h int) {
	if keys {
		VCVTPH2PS(at(src, 16*h), v.reg(h))
		return
	}
	if v.avx512 {
		VPBROADCASTW(at(src, 0), Y[0])
		VCVTPH2PS(Y[0], Z[0])
		return
	}
	VPBROADCASTW(at(src, 0), X[h])
	VCVTPH2PS(X[h], Y[h])
}

// scaled writes codes times the scales of part h.
func (v vec) scaled(codes reg.VecPhysical, h int, to Mem) {
	VCVTDQ2PS(codes, codes)
	VMULPS(v.reg(h), codes, codes)
	VMOVUPS(codes, to)
}

func (v vec) and(a, b, c reg.VecPhysical) {
	if v.avx512 {
		VPANDD(a, b, c)
	} else {
		VPAND(a, b, c)
	}
}
