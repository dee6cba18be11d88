package kern

import "math"

// Rows of the elementwise ops are padded with zeros to a multiple of 16, which they keep.

func pad16(n int) int { return (n + 15) / 16 }

// RMSNorm: y = x / sqrt(mean(x²) + eps) * w over n values (Zhang and Sennrich 2019). y may be x.
func (k *Kernels) RMSNorm(y, x, w []float32, n int, eps float32) {
	c := pad16(n)
	_, _, _ = y[16*c-1], x[16*c-1], w[16*c-1]
	mean := k.sumSquares(&x[0], c) / float32(n)
	inv := 1 / float32(math.Sqrt(float64(mean+eps)))
	k.scaleMul(&y[0], &x[0], &w[0], c, inv)
}

// masked is a score that softmax turns into 0.
const masked = -1e30

// Softmax turns s[lo:n] into weights that sum to 1, and all else of s, which is whole pages long, into 0.
func (k *Kernels) Softmax(s []float32, lo, n int) {
	for i := range s[:lo] {
		s[i] = masked
	}
	for i := n; i < len(s); i++ {
		s[i] = masked
	}
	k.softmax(&s[0], len(s)/16, 1)
}

// SwiGLU: y = g / (1 + exp(-g)) * u over n values (Shazeer 2020). y may be g.
func (k *Kernels) SwiGLU(y, g, u []float32, n int) { three(k.siluMul, y, g, u, n) }

// GeGLU: y = gelu(g) * u over n values, gelu in its tanh form (Hendrycks and Gimpel 2016). y may be g.
func (k *Kernels) GeGLU(y, g, u []float32, n int) { three(k.geluMul, y, g, u, n) }

// Add: y = a + b over n values. y may be a or b.
func (k *Kernels) Add(y, a, b []float32, n int) { three(k.add, y, a, b, n) }

func three(f threeFunc, y, a, b []float32, n int) {
	k := pad16(n)
	_, _, _ = y[16*k-1], a[16*k-1], b[16*k-1]
	f(&y[0], &a[0], &b[0], k)
}

// Turn rotates one head in place by the tables of RopeTable (Su et al. 2021): y[i] = x[i]*c[i] + x[partner of i]*s[i].
// The partner is the neighbour, or with halves len(c)/2 away. Only the first len(c) values of x turn.
func (k *Kernels) Turn(x, c, s []float32, halves bool) {
	n := len(c)
	_, _ = x[n-1], s[n-1]
	switch {
	case halves && n%32 == 0:
		k.ropeHalves(&x[0], &c[0], &s[0], n/32)
	case halves:
		ropeHalvesN(x[:n], c, s)
	default:
		if n >= 16 {
			k.ropePairs(&x[0], &c[0], &s[0], n/16)
		}
		for i := n / 16 * 16; i < n; i += 2 {
			x0, x1 := x[i], x[i+1]
			x[i] = fma(x0, c[i], float32(x1*s[i]))
			x[i+1] = fma(x1, c[i+1], float32(x0*s[i+1]))
		}
	}
}

// RopeTable fills the tables of one position: pair i turns by pos * freq[i].
func RopeTable(c, s []float32, freq []float64, pos int, halves bool) {
	for i, f := range freq {
		sin, cos := math.Sincos(float64(pos) * f)
		a, b := 2*i, 2*i+1
		if halves {
			a, b = i, i+len(freq)
		}
		c[a], c[b], s[a], s[b] = float32(cos), float32(cos), float32(-sin), float32(sin)
	}
}
