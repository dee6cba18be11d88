package kern

import (
	"encoding/binary"
	"math"
	"unsafe"

	"glassbox/engine/tensor"
)

func getF32(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }
func getI32(b []byte) int32   { return int32(binary.LittleEndian.Uint32(b)) }

// mvGo returns the plain Go mat-vec of a packed form, in the same float order as the assembly.
func mvGo(f Form) mvFunc {
	i := info[f]
	xb := 2 * x32 // bytes of x for a unit
	switch {
	case i.k:
		xb = x256
	case i.unitK == 32:
		xb = x32
	}
	return func(dst *float32, w, x *byte, units, groups, _ int) {
		out := floats(dst, group*groups)
		ws, xs := unsafe.Slice(w, groups*units*i.unit), unsafe.Slice(x, units*xb)
		for r := range out {
			g := ws[r/group*units*i.unit:]
			var acc float32
			for u := range units {
				acc = unitGo(f, acc, g[u*i.unit:(u+1)*i.unit], xs[u*xb:], r%group)
			}
			out[r] = acc
		}
	}
}

// byteAt returns GGUF byte k of lane r of the lines at s.
func byteAt(s []byte, k, r int) uint8 { return s[64*(k/4)+4*r+k%4] }

func halfAt(s []byte, r int) float32 { return tensor.F16ToF32(binary.LittleEndian.Uint16(s[2*r:])) }

func dotGo8(w []uint8, x []byte) (n int32) {
	x = x[:len(w)]
	for k, v := range w {
		n += int32(v) * int32(int8(x[k]))
	}
	return n
}

// unitGo adds one unit of row r of a group to acc.
func unitGo(f Form, acc float32, s, x []byte, r int) float32 {
	var w [256]uint8 // weights of a block as the dot product sees them
	switch f {
	case Q4_0, Q8_0:
		for b := range 2 {
			xb := x[b*x32:]
			bias := int32(128)
			if f == Q8_0 {
				eight(&w, s[64+512*b:], r)
			} else {
				bias = 8
				four(&w, s[64+256*b:], r)
			}
			n := getI32(xb[4:])*bias + dotGo8(w[:32], xb[12:])
			acc = fma(float32(n), halfAt(s[32*b:], r)*getF32(xb), acc)
		}
	case Q4_1, Q8_1:
		if f == Q8_1 {
			eight(&w, s[64:], r)
		} else {
			four(&w, s[64:], r)
		}
		acc = fma(float32(dotGo8(w[:32], x[12:])), halfAt(s, r)*getF32(x), acc)
		acc = fma(halfAt(s[32:], r), getF32(x[8:]), acc)
	case Q4_K:
		acc = unitQ4K(acc, s, x, r, &w)
	case Q6_K:
		acc = unitQ6K(acc, s, x, r, &w)
	case K32:
		acc = unitK32(acc, s, x, r, &w)
	case K16:
		for k := range w {
			w[k] = byteAt(s[320:], k, r)
		}
		acc = sum16(acc, s, x, r, &w)
	}
	return acc
}

func four(w *[256]uint8, s []byte, r int) {
	for k := range 16 {
		v := byteAt(s, k, r)
		w[k], w[k+16] = v&15, v>>4
	}
}

func eight(w *[256]uint8, s []byte, r int) {
	for k := range 32 {
		w[k] = byteAt(s, k, r)
	}
}

func unitQ4K(acc float32, s, x []byte, r int, w *[256]uint8) float32 {
	var packed [12]byte
	for k := range packed {
		packed[k] = byteAt(s[64:], k, r)
	}
	sc, mn := tensor.ScaleMinK4(&packed)
	var isum, msum int32
	for j := range 8 {
		for k := range 32 {
			w[k] = byteAt(s[256+512*(j/2):], k, r) >> (4 * (j & 1)) & 15
		}
		isum += int32(sc[j]) * dotGo8(w[:32], x[84+32*j:])
		msum += int32(mn[j]) * (int32(int8(x[4+j]))<<7 + int32(int8(x[12+j])))
	}
	acc = fma(float32(isum), halfAt(s, r)*getF32(x), acc)
	return fma(-float32(msum), halfAt(s[32:], r)*getF32(x), acc)
}

func unitQ6K(acc float32, s, x []byte, r int, w *[256]uint8) float32 {
	for k := range w {
		n, q, l := k/128, k/32%4, k%32
		o := 320 + 192*(8*n+l/4) + 4*r + l%4
		w[k] = s[o+64*(q&1)]>>(4*(q>>1))&15 | s[o+128]>>(2*q)&3<<4
	}
	return sum16(acc, s, x, r, w)
}

// sum16 adds a super-block of 6-bit weights, 16 to a signed scale.
func sum16(acc float32, s, x []byte, r int, w *[256]uint8) float32 {
	var isum int32
	for k := range 16 {
		isum += int32(int8(s[64+16*k+r])) * (getI32(x[20+4*k:]) + dotGo8(w[16*k:16*k+16], x[84+16*k:]))
	}
	return fma(float32(isum), halfAt(s, r)*getF32(x), acc)
}

func unitK32(acc float32, s, x []byte, r int, w *[256]uint8) float32 {
	for k := range w {
		w[k] = byteAt(s[320:], k, r)
	}
	var isum, msum int32
	for j := range 8 {
		isum += int32(s[64+16*j+r]) * dotGo8(w[32*j:32*j+32], x[84+32*j:])
		msum += int32(byteAt(s[192:], j, r)) * (int32(int8(x[4+j]))<<7 + int32(int8(x[12+j])))
	}
	acc = fma(float32(isum), halfAt(s, r)*getF32(x), acc)
	return fma(-float32(msum), halfAt(s[32:], r)*getF32(x), acc)
}

// dotGo returns the float product of one plain row and one token: lane i adds elements i, i+16, ...; then the fold.
func dotGo(f Form) dotFunc {
	size := info[f].elem
	return func(y *float32, _ int, w *byte, _ int, x *float32, _ int, n16 int) {
		ws := unsafe.Slice(w, 16*n16*size)
		var sum [16]float32
		for i, v := range floats(x, 16*n16) {
			var e float32
			switch f {
			case F32:
				e = getF32(ws[4*i:])
			case F16:
				e = halfAt(ws, i)
			default:
				e = tensor.BF16ToF32(binary.LittleEndian.Uint16(ws[2*i:]))
			}
			sum[i%16] = fma(v, e, sum[i%16])
		}
		*y = fold16(&sum)
	}
}
