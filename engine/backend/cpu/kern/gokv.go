package kern

import (
	"unsafe"

	"glassbox/engine/tensor"
)

// halves sees bytes as float16; they lie at an even address.
func halves(b []byte) []uint16 {
	return unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/2)
}

// wides returns the n float32 off bytes from the i-th page.
func wides(pages *uintptr, i, off, n int) []float32 {
	p := *(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(pages), i*int(unsafe.Sizeof(*pages))))
	return unsafe.Slice((*float32)(unsafe.Add(p, off)), n)
}

func qkF32Go(s *float32, _ int, q *float32, _ int, pages *uintptr, off int, n int, dim16 int, scale float32) {
	qkRowF32(floats(s, 16*n), floats(q, 16*dim16), pages, off, scale)
}

// qkRowF32 is qkRow over float32.
func qkRowF32(s, q []float32, pages *uintptr, off int, scale float32) {
	for i := 0; i < len(s); i += PageTokens {
		k := wides(pages, i/PageTokens, off, len(q)*PageTokens)
		var acc, query [PageTokens]float32
		for d, v := range q {
			for l := range query {
				query[l] = v
			}
			fma16(&acc, (*[PageTokens]float32)(k[PageTokens*d:]), &query)
		}
		for l, f := range acc {
			s[i+l] = f * scale
		}
	}
}

func pvF32Go(out *float32, _ int, p *float32, _ int, pages *uintptr, off int, n int, ldv int) {
	pvRowF32(floats(out, 16), floats(p, n), pages, off, ldv)
}

// pvRowF32 is pvRow over float32.
func pvRowF32(out, p []float32, pages *uintptr, off, ldv int) {
	clear(out)
	for t, w := range p {
		v := wides(pages, t/PageTokens, off+t%PageTokens*ldv, len(out))
		for d, f := range v {
			out[d] = fma(w, f, out[d])
		}
	}
}

// expandGo makes the twin of an expand kernel, see cmd/internal/asm/kv.go.
func expandGo(keys bool, bits int) expandFunc {
	lanes, head := 1, 2 // tokens side by side; bytes of the scales
	if keys {
		lanes, head = PageTokens, 2*PageTokens
	}
	return func(dst *float32, src *byte, blocks int) {
		size := head + 4*bits*lanes
		d, s := floats(dst, 32*lanes*blocks), unsafe.Slice(src, size*blocks)
		for b := range blocks {
			from, to := s[b*size:(b+1)*size], d[32*lanes*b:]
			for i := range 4 * bits * lanes {
				l := i % lanes
				scale := tensor.F16ToF32(uint16(from[2*l]) | uint16(from[2*l+1])<<8)
				code := from[head+i]
				if bits == 8 {
					to[i] = float32(int8(code)) * scale
					continue
				}
				to[i] = float32(int(code&15)-8) * scale
				to[i+16*lanes] = float32(int(code>>4)-8) * scale
			}
		}
	}
}

func kvGo() kvKernels {
	return kvKernels{qk: []qkFunc{nil, qkF32Go}, pv16: []pvFunc{nil, pvF32Go},
		keyQ8: expandGo(true, 8), keyQ4: expandGo(true, 4), rowQ8: expandGo(false, 8), rowQ4: expandGo(false, 4)}
}
