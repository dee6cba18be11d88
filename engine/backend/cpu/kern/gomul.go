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
		for g := range groups {
			var acc [group]float32
			for u := range units {
				at := (g*units + u) * i.unit
				unitGo(f, &acc, ws[at:at+i.unit], xs[u*xb:(u+1)*xb])
			}
			copy(out[g*group:], acc[:])
		}
	}
}

// pairs holds the integer sums of 16 rows, two in each word: A + B<<32, both signed. One multiplication makes two
// products, because both rows meet the same input.
type pairs [group / 2]int64

// sum returns the sum of row r.
func (p *pairs) sum(r int) int32 {
	v := p[r/2]
	a := int32(v)
	if r&1 == 0 {
		return a
	}
	return int32((v - int64(a)) >> 32)
}

// value is input k: 256*hi + lo.
func value(hi, lo []byte, k int) int64 { return int64(int8(hi[k]))<<8 + int64(int8(lo[k])) }

// bytes adds n lines of 4 weights a row against the inputs.
func (p *pairs) bytes(s, hi, lo []byte, n int) {
	const m = 0x000000ff_000000ff
	for l := range n {
		line, h, o := s[64*l:64*l+64], hi[4*l:4*l+4], lo[4*l:4*l+4]
		x0, x1, x2, x3 := value(h, o, 0), value(h, o, 1), value(h, o, 2), value(h, o, 3)
		for i := range p {
			v := binary.LittleEndian.Uint64(line[8*i:])
			p[i] += int64(v&m)*x0 + int64(v>>8&m)*x1 + int64(v>>16&m)*x2 + int64(v>>24&m)*x3
		}
	}
}

// nibbles adds 4 lines of 8 weights a row: low nibbles meet the first 16 inputs, high ones the others.
func (p *pairs) nibbles(s, hi, lo []byte) {
	const m = 0x0000000f_0000000f
	for l := range 4 {
		line, h, o := s[64*l:64*l+64], hi[4*l:4*l+20], lo[4*l:4*l+20]
		x0, x1, x2, x3 := value(h, o, 0), value(h, o, 1), value(h, o, 2), value(h, o, 3)
		y0, y1, y2, y3 := value(h, o, 16), value(h, o, 17), value(h, o, 18), value(h, o, 19)
		for i := range p {
			v := binary.LittleEndian.Uint64(line[8*i:])
			p[i] += int64(v&m)*x0 + int64(v>>8&m)*x1 + int64(v>>16&m)*x2 + int64(v>>24&m)*x3
			p[i] += int64(v>>4&m)*y0 + int64(v>>12&m)*y1 + int64(v>>20&m)*y2 + int64(v>>28&m)*y3
		}
	}
}

func halfAt(s []byte, r int) float32 { return tensor.F16ToF32(binary.LittleEndian.Uint16(s[2*r:])) }

// unitGo adds one unit of a group to the sums of its 16 rows.
func unitGo(f Form, acc *[group]float32, s, x []byte) {
	switch f {
	case Q4_0, Q8_0:
		for b := range 2 {
			var p pairs
			xb := x[b*x32:]
			d, c := getF32(xb), getI32(xb[4:])
			if f == Q8_0 {
				p.bytes(s[64+512*b:], xb[atHi:], xb[atLo:], 8)
			} else {
				p.nibbles(s[64+256*b:], xb[atHi:], xb[atLo:])
				c >>= 4 // -8*sum
			}
			for r := range acc {
				acc[r] = fma(float32(c+p.sum(r)), halfAt(s[32*b:], r)*d, acc[r])
			}
		}
	case Q4_1, Q8_1:
		var p pairs
		if f == Q8_1 {
			p.bytes(s[64:], x[atHi:], x[atLo:], 8)
		} else {
			p.nibbles(s[64:], x[atHi:], x[atLo:])
		}
		d, sum := getF32(x), getF32(x[8:])
		for r := range acc {
			acc[r] = fma(float32(p.sum(r)), halfAt(s, r)*d, acc[r])
			acc[r] = fma(halfAt(s[32:], r), sum, acc[r])
		}
	case K32:
		unitK32(acc, s, x)
	case K16:
		unitK16(acc, s, x)
	}
}

func unitK32(acc *[group]float32, s, x []byte) {
	var scaled [group]float32
	var msum [group]int32
	for j := range 8 {
		var p pairs
		p.bytes(s[320+512*j:], x[kHi+32*j:], x[kLo+32*j:], 8)
		sum := int32(int8(x[4+j]))<<14 + int32(x[12+j])<<7 + int32(x[20+j])
		for r := range scaled {
			scaled[r] = fma(float32(p.sum(r)), float32(s[64+16*j+r]), scaled[r])
			msum[r] += int32(s[192+64*(j/4)+4*r+j%4]) * sum
		}
	}
	d := getF32(x)
	for r := range acc {
		acc[r] = fma(scaled[r], halfAt(s, r)*d, acc[r])
		acc[r] = fma(-float32(msum[r]), halfAt(s[32:], r)*d, acc[r])
	}
}

func unitK16(acc *[group]float32, s, x []byte) {
	var scaled [group]float32
	for j := range 16 {
		var p pairs
		p.bytes(s[320+256*j:], x[kHi+16*j:], x[kLo+16*j:], 4)
		bias := getI32(x[kC+4*j:])
		for r := range scaled {
			scaled[r] = fma(float32(bias+p.sum(r)), float32(int8(s[64+16*j+r])), scaled[r])
		}
	}
	d := getF32(x)
	for r := range acc {
		acc[r] = fma(scaled[r], halfAt(s, r)*d, acc[r])
	}
}

// dotGo returns the float product of one row and one token: lane i adds elements i, i+16, ...; then the fold.
func dotGo(f Form) dotFunc {
	size := info[f].elem
	return func(y *float32, _ int, w *byte, x *float32, _ int, n16 int) {
		ws, v := unsafe.Slice(w, 16*n16*size), floats(x, 16*n16)
		var sum, e [16]float32
		for ; len(v) > 0; v, ws = v[16:], ws[16*size:] {
			for i := range e {
				switch f {
				case F32:
					e[i] = getF32(ws[4*i:])
				case F16:
					e[i] = halfAt(ws, i)
				default:
					e[i] = tensor.BF16ToF32(binary.LittleEndian.Uint16(ws[2*i:]))
				}
			}
			fma16(&sum, &e, (*[16]float32)(v))
		}
		*y = fold16(&sum)
	}
}
