package kern

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFMA holds fma to exact arithmetic, with sums that lie on or next to halfway between two float32.
func TestFMA(t *testing.T) {
	rnd := newRand(1)
	exact := func(a, b, c float32) float32 {
		p := new(big.Float).SetPrec(400).Mul(big.NewFloat(float64(a)), big.NewFloat(float64(b)))
		f, _ := p.Add(p, big.NewFloat(float64(c))).Float32()
		return f
	}
	random := func() float32 {
		return float32(math.Ldexp(rnd.Float64()-0.5, rnd.IntN(60)-30))
	}
	for range 20000 {
		a, b, c := random(), random(), random()
		require.Equal(t, exact(a, b, c), fma(a, b, c), "%v*%v+%v", a, b, c)
	}
	for range 20000 { // c + half a step of c, give or take very little
		c := math.Float32frombits(0x3f800000 + rnd.Uint32()&0x7fffff)
		a := float32(math.Ldexp(1+float64(int(rnd.IntN(5))-2)*0x1p-23, -12))
		b := float32(math.Ldexp(1+float64(int(rnd.IntN(5))-2)*0x1p-23, -12))
		if rnd.IntN(2) == 0 {
			a = -a
		}
		require.Equal(t, exact(a, b, c), fma(a, b, c), "%v*%v+%v", a, b, c)
	}
	for range 2000 { // subnormal results
		a, b, c := float32(math.Ldexp(rnd.Float64(), -70)), float32(math.Ldexp(rnd.Float64(), -70)), float32(math.Ldexp(rnd.Float64()-0.5, -128))
		require.Equal(t, exact(a, b, c), fma(a, b, c), "%v*%v+%v", a, b, c)
	}
}

// elementwise lists the ops that work on three vectors, as functions of fresh copies.
func elementwise(k *Kernels, x, a, b []float32) map[string][]float32 {
	out := map[string][]float32{}
	run := func(name string, f func(y []float32)) {
		y := append([]float32(nil), x...)
		f(y)
		out[name] = y
	}
	n := len(x)
	run("norm", func(y []float32) { k.RMSNorm(y, y, a, n, 1e-5) })
	run("silu", func(y []float32) { k.SwiGLU(y, y, a, n) })
	run("gelu", func(y []float32) { k.GeGLU(y, y, a, n) })
	run("add", func(y []float32) { k.Add(y, y, a, n) })
	run("pairs", func(y []float32) { k.Turn(y, a, b, false) })
	run("pairs short", func(y []float32) { k.Turn(y, a[:n-12], b[:n-12], false) })
	run("halves", func(y []float32) { k.Turn(y, a, b, true) })
	run("halves short", func(y []float32) { k.Turn(y, a[:n-12], b[:n-12], true) })
	run("softmax", func(y []float32) { k.Softmax(y, 0, n) })
	run("softmax window", func(y []float32) { k.Softmax(y, 5, n-11) })
	run("softmax one", func(y []float32) { k.Softmax(y, 0, 1) })
	return out
}

func TestElementwiseIsBitEqual(t *testing.T) {
	rnd := newRand(2)
	for _, n := range []int{32, 64, 576, 1536} {
		x, a, b := randomX(1, n, n, rnd), randomX(1, n, n, rnd), randomX(1, n, n, rnd)
		copy(x, []float32{0, float32(math.Copysign(0, -1)), 88, -88, 120, -120, 1e4, -1e4, 1e-20, -1e-38})
		want := elementwise(plain(t), x, a, b)
		for _, k := range all(t) {
			for name, y := range elementwise(k, x, a, b) {
				sameBits(t, want[name], y, k.name+" "+name)
			}
		}
	}
}

func TestElementwiseIsRight(t *testing.T) {
	eachVariant(t, func(t *testing.T, k *Kernels) {
		const n = 576
		rnd := newRand(3)
		x, a, b := randomX(1, n, n, rnd), randomX(1, n, n, rnd), randomX(1, n, n, rnd)
		y := elementwise(k, x, a, b)
		var sq, sum, top float64
		for _, v := range x {
			sq += float64(v) * float64(v)
			top = max(top, float64(v))
		}
		for _, v := range x {
			sum += math.Exp(float64(v) - top)
		}
		for i, v := range x {
			f, w := float64(v), float64(a[i])
			near := func(name string, want, tol float64) {
				t.Helper()
				require.InDelta(t, want, y[name][i], tol*math.Max(math.Abs(want), 0.1), "%s %d", name, i)
			}
			near("norm", f/math.Sqrt(sq/n+1e-5)*w, 1e-6)
			near("silu", f/(1+math.Exp(-f))*w, 1e-6)
			near("gelu", f*0.5*(1+math.Tanh(math.Sqrt(2/math.Pi)*(f+0.044715*f*f*f)))*w, 3e-6)
			near("add", f+w, 1e-6)
			near("softmax", math.Exp(f-top)/sum, 1e-6)
			partner := float64(x[i^1])
			near("pairs", f*w+partner*float64(b[i]), 1e-6)
			partner = float64(x[(i+n/2)%n])
			near("halves", f*w+partner*float64(b[i]), 1e-6)
		}
	})
}

// TestSoftmaxEdges: what is outside [lo, n) is exactly 0, and the rest sums to 1.
func TestSoftmaxEdges(t *testing.T) {
	eachVariant(t, func(t *testing.T, k *Kernels) {
		rnd := newRand(4)
		for _, n := range []int{1, 2, 15, 16, 17, 100} {
			for _, lo := range []int{0, n / 2} {
				s := randomX(1, padTo(n, 16), padTo(n, 16), rnd)
				for i := range s {
					s[i] *= 30
				}
				k.Softmax(s, lo, n)
				var sum float64
				for i, v := range s {
					if i < lo || i >= n {
						require.Zero(t, v)
					}
					sum += float64(v)
				}
				require.InDelta(t, 1, sum, 1e-5)
			}
		}
	})
}

// TestRopeTable: a turned pair keeps its length, position 0 does not turn, and both layouts turn the same pairs.
func TestRopeTable(t *testing.T) {
	freq := make([]float64, 32)
	for i := range freq {
		freq[i] = math.Pow(10000, -float64(i)/32)
	}
	k := all(t)[0]
	c, s := make([]float32, 64), make([]float32, 64)
	c2, s2 := make([]float32, 64), make([]float32, 64)
	x := randomX(1, 64, 64, newRand(5))
	for _, pos := range []int{0, 1, 777, 100000} {
		RopeTable(c, s, freq, pos, false)
		RopeTable(c2, s2, freq, pos, true)
		y, z := append([]float32(nil), x...), make([]float32, 64)
		for i := range 32 { // the same pairs, laid out as halves
			z[i], z[i+32] = x[2*i], x[2*i+1]
		}
		k.Turn(y, c, s, false)
		k.Turn(z, c2, s2, true)
		for i, f := range freq {
			sin, cos := math.Sincos(float64(pos) * f)
			a, b := float64(x[2*i]), float64(x[2*i+1])
			require.InDelta(t, a*cos-b*sin, y[2*i], 1e-5)
			require.InDelta(t, a*sin+b*cos, y[2*i+1], 1e-5)
			require.Equal(t, y[2*i], z[i])
			require.Equal(t, y[2*i+1], z[i+32])
		}
	}
}
