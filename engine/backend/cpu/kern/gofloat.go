package kern

import (
	"math"
	"unsafe"
)

// fma returns a*b+c rounded once, as the FMA instructions do. The product of two float32 is exact in float64, so that
// only a sum that lies halfway between two float32, or near zero, can be rounded twice.
func fma(a, b, c float32) float32 {
	s := float64(a)*float64(b) + float64(c)
	if math.Float64bits(s)&(1<<29-1) == 1<<28 || math.Abs(s) < 0x1p-126 {
		return fmaOdd(a, b, c)
	}
	return float32(s)
}

// fma16 is fma on 16 lanes: acc[i] = a[i]*b[i] + acc[i]. The test stands in the loop, because fma is too large to be
// inlined.
func fma16(acc, a, b *[16]float32) {
	for i := range acc {
		s := float64(a[i])*float64(b[i]) + float64(acc[i])
		if math.Float64bits(s)&(1<<29-1) == 1<<28 || math.Abs(s) < 0x1p-126 {
			acc[i] = fmaOdd(a[i], b[i], acc[i])
		} else {
			acc[i] = float32(s)
		}
	}
}

// fmaOdd rounds the sum to odd in float64, so that rounding it again to float32 is right (Boldo and Melquiond 2008).
func fmaOdd(a, b, c float32) float32 {
	p, q := float64(a)*float64(b), float64(c)
	s := p + q
	t := s - p
	err := (p - (s - t)) + (q - t) // what s lacks, exactly (Knuth's TwoSum)
	if bits := math.Float64bits(s); err != 0 && bits&1 == 0 && !math.IsInf(s, 0) {
		if (err > 0) == (s > 0) {
			bits++
		} else {
			bits--
		}
		s = math.Float64frombits(bits)
	}
	return float32(s)
}

// exp2 is the polynomial that the assembly has: 2^t for t up to 126. Below -125 it is 0 if flush, else 2^-125.
func exp2(t float32, flush bool) float32 {
	if t < -125 {
		if flush {
			return 0
		}
		t = -125
	}
	n := float32(math.RoundToEven(float64(t)))
	f := t - n
	p := math.Float32frombits(expPoly[6])
	for i := 5; i >= 0; i-- {
		p = fma(p, f, math.Float32frombits(expPoly[i]))
	}
	return math.Float32frombits(math.Float32bits(p) + uint32(int32(n))<<23)
}

var expPoly = [7]uint32{0x3f800000, 0x3f317218, 0x3e75fdf0, 0x3d635847, 0x3c1d955b, 0x3aaec3ff, 0x39218489}

var (
	log2e = math.Float32frombits(0x3fb8aa3b)
	geluK = math.Float32frombits(0xc0135761) // -2 sqrt(2/pi) log2 e
	geluA = math.Float32frombits(0xbdd2d3e8) // the same times 0.044715
)

// fold16 adds 16 lanes in the order of the assembly: lane i with i^8, i^4, i^2, i^1.
func fold16(a *[16]float32) float32 {
	for d := 8; d > 0; d /= 2 {
		for i := range d {
			a[i] += a[i+d]
		}
	}
	return a[0]
}

func floats(p *float32, n int) []float32 { return unsafe.Slice(p, n) }

// softmaxGo: s = softmax(scale*s) over 16*n16 values; -1e30 gives 0.
func softmaxGo(s *float32, n16 int, scale float32) {
	v := floats(s, 16*n16)
	top := v[0]
	for _, f := range v {
		if f > top {
			top = f
		}
	}
	k := scale * log2e
	m := top * k
	var sum [16]float32
	for i, f := range v {
		v[i] = exp2(fma(f, k, -m), true)
		sum[i%16] += v[i]
	}
	inv := 1 / fold16(&sum)
	for i := range v {
		v[i] *= inv
	}
}

func sumSquaresGo(x *float32, n16 int) float32 {
	var sum [16]float32
	for v := floats(x, 16*n16); len(v) > 0; v = v[16:] {
		fma16(&sum, (*[16]float32)(v), (*[16]float32)(v))
	}
	return fold16(&sum)
}

func scaleMulGo(y, x, w *float32, n16 int, s float32) {
	d, a, b := floats(y, 16*n16), floats(x, 16*n16), floats(w, 16*n16)
	for i := range d {
		d[i] = float32(a[i]*s) * b[i]
	}
}

func siluMulGo(y, g, u *float32, n16 int) {
	d, a, b := floats(y, 16*n16), floats(g, 16*n16), floats(u, 16*n16)
	for i := range d {
		e := exp2(min(float32(a[i]*-log2e), 125), false)
		d[i] = float32(a[i]/float32(1+e)) * b[i]
	}
}

func geluMulGo(y, g, u *float32, n16 int) {
	d, a, b := floats(y, 16*n16), floats(g, 16*n16), floats(u, 16*n16)
	for i := range d {
		t := float32(a[i] * a[i])
		t = float32(fma(t, geluA, geluK) * a[i])
		e := exp2(min(t, 125), false)
		d[i] = float32(a[i]/float32(1+e)) * b[i]
	}
}

func ropePairsGo(x, c, s *float32, n16 int) {
	v, a, b := floats(x, 16*n16), floats(c, 16*n16), floats(s, 16*n16)
	for i := 0; i < len(v); i += 2 {
		x0, x1 := v[i], v[i+1]
		v[i] = fma(x0, a[i], float32(x1*b[i]))
		v[i+1] = fma(x1, a[i+1], float32(x0*b[i+1]))
	}
}

// ropeHalvesGo has n16 vectors in each half.
func ropeHalvesGo(x, c, s *float32, n16 int) {
	ropeHalvesN(floats(x, 32*n16), floats(c, 32*n16), floats(s, 32*n16))
}

func ropeHalvesN(v, c, s []float32) {
	h := len(v) / 2
	for i := range h {
		x0, x1 := v[i], v[i+h]
		v[i] = fma(x0, c[i], float32(x1*s[i]))
		v[i+h] = fma(x1, c[i+h], float32(x0*s[i+h]))
	}
}

func addGo(y, a, b *float32, n16 int) {
	d, p, q := floats(y, 16*n16), floats(a, 16*n16), floats(b, 16*n16)
	for i := range d {
		d[i] = p[i] + q[i]
	}
}
