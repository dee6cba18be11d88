package kern

import (
	"sync/atomic"
	"unsafe"

	"glassbox/engine/tensor"
)

// PageTokens is the tokens of one page of keys or values.
const PageTokens = 16

// halfs returns the n float16 off bytes from the i-th page.
func halfs(pages *uintptr, i, off, n int) []uint16 {
	p := *(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(pages), i*int(unsafe.Sizeof(*pages))))
	return unsafe.Slice((*uint16)(unsafe.Add(p, off)), n)
}

func qkGo(s *float32, lds int, q *float32, ldq int, pages *uintptr, off int, n int, dim16 int, scale float32) {
	qkRow(floats(s, 16*n), floats(q, 16*dim16), pages, off, scale)
}

// qkRow: s[16*page+lane] = scale * q . k, each lane adding in the order of the dims. len(q) may be any.
func qkRow(s, q []float32, pages *uintptr, off int, scale float32) {
	for i := 0; i < len(s); i += PageTokens {
		k := halfs(pages, i/PageTokens, off, len(q)*PageTokens)
		var acc, key, query [PageTokens]float32
		for d, v := range q {
			for l, h := range k[PageTokens*d : PageTokens*(d+1)] {
				key[l], query[l] = tensor.F16ToF32(h), v
			}
			fma16(&acc, &key, &query)
		}
		for l, f := range acc {
			s[i+l] = f * scale
		}
	}
}

func pvGo(out *float32, ldo int, p *float32, ldp int, pages *uintptr, off int, n int, ldv int) {
	pvRow(floats(out, 16), floats(p, n), pages, off, ldv)
}

// pvRow: out = sum of p[t] * v[t] in the order of the tokens, which lie ldv bytes apart. len(out) may be any.
func pvRow(out, p []float32, pages *uintptr, off, ldv int) {
	clear(out)
	for t, w := range p {
		v := halfs(pages, t/PageTokens, off+t%PageTokens*ldv, len(out))
		d := 0
		for ; d+16 <= len(out); d += 16 {
			var weight, value [16]float32
			for l, h := range v[d : d+16] {
				weight[l], value[l] = w, tensor.F16ToF32(h)
			}
			fma16((*[16]float32)(out[d:]), &weight, &value)
		}
		for ; d < len(out); d++ {
			out[d] = fma(w, tensor.F16ToF32(v[d]), out[d])
		}
	}
}

func toHalfGo(dst *uint16, src *float32, n16 int) {
	d := unsafe.Slice(dst, 16*n16)
	for i, f := range floats(src, 16*n16) {
		d[i] = tensor.F32ToF16(f)
	}
}

func keyColumnGo(dst *uint16, src *float32, n8 int) {
	keyColumnN(unsafe.Slice(dst, PageTokens*(8*n8-1)+1), floats(src, 8*n8))
}

func keyColumnN(dst []uint16, src []float32) {
	for i, f := range src {
		dst[PageTokens*i] = tensor.F32ToF16(f)
	}
}

func spinGo(p *uint32, old uint32, n int) bool {
	for range n {
		if atomic.LoadUint32(p) != old {
			return true
		}
	}
	return false
}
