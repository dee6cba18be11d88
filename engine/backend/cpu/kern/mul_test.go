package kern

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/tensor"
)

var mulTypes = []tensor.Type{tensor.Q4_0, tensor.Q4_1, tensor.Q8_0, tensor.Q5_0, tensor.Q5_1, tensor.Q4_K, tensor.Q6_K, tensor.Q5_K,
	tensor.F32, tensor.F16, tensor.BF16}

// mulShapes are the rows and columns of TestMulIsBitEqual, mulMost its largest batch.
var (
	mulShapes = [][2]int{{64, 512}, {40, 768}, {96, 576}, {32, 544}, {3, 256}}
	mulMost   = 17
)

// TestMulIsBitEqual: one token in plain Go is the truth; every variant, batch size, and split of rows and tiles must give
// its bits, also where variants lay a type out in other forms.
func TestMulIsBitEqual(t *testing.T) {
	most := mulMost
	for _, ty := range mulTypes {
		for _, shape := range mulShapes {
			rows, cols := shape[0], shape[1]
			if cols%ty.BlockSize() != 0 {
				continue
			}
			rnd := newRand(uint64(ty)*1000 + uint64(cols))
			src, ld := randomRows(ty, rows, cols, rnd), padTo(cols, 256)
			x := randomX(most, cols, ld, rnd)
			truth := truthOf(t, pack(t, plain(t), ty, rows, cols, src), x, ld, most)
			for _, k := range all(t) {
				m := pack(t, k, ty, rows, cols, src)
				ldy := m.Pairs * Pair
				for n := 1; n <= most; n++ {
					for _, split := range [][2]int{{1, 1}, {100, 100}, {2, 2}} {
						y := multiply(m, x, ld, n, split[0], split[1])
						sameBits(t, truth[:n*ldy], y, fmt.Sprintf("%v %dx%d %s, %d tokens, split %v", ty, rows, cols, m.Kernel(n), n, split))
					}
				}
			}
		}
	}
}

// truthOf multiplies token by token in plain Go.
func truthOf(t *testing.T, m *Mat, x []float32, ld, n int) []float32 {
	t.Helper()
	var all []float32
	for k := range n {
		all = append(all, multiply(m, x[k*ld:(k+1)*ld], ld, 1, 1, m.Pairs)...)
	}
	return all
}

// TestMulError bounds the error against float64 arithmetic on the dequantised weights: what is left is the rounding of
// inputs to 16 bits (measured 2.1e-5 to 3.3e-5), or only float32 rounding where nothing is quantised.
func TestMulError(t *testing.T) {
	eachVariant(t, func(t *testing.T, k *Kernels) {
		for _, ty := range mulTypes {
			const rows, n, cols = 48, 9, 1024
			rnd := newRand(uint64(ty))
			src := randomRows(ty, rows, cols, rnd)
			x := randomX(n, cols, cols, rnd)
			m := pack(t, k, ty, rows, cols, src)
			y := multiply(m, x, cols, n, 1, 1)
			w := make([]float32, cols)
			var e2, r2 float64
			for r := range rows {
				require.NoError(t, tensor.Dequant(ty, w, src[r*len(src)/rows:(r+1)*len(src)/rows]))
				for j := range n {
					var f float64
					for i, v := range w {
						f += float64(v) * float64(x[j*cols+i])
					}
					d := f - float64(y[j*m.Pairs*Pair+r])
					e2, r2 = e2+d*d, r2+f*f
				}
			}
			most := 5e-5
			if !m.Form.Packed() {
				most = 1e-6
			}
			require.LessOrEqual(t, math.Sqrt(e2/r2), most, "%v as %s", ty, m.Kernel(n))
			require.Positive(t, r2)
		}
	})
}

// TestMulPadding: rows of padding come out as 0, and nothing is written beyond them.
func TestMulPadding(t *testing.T) {
	eachVariant(t, func(t *testing.T, k *Kernels) {
		for _, ty := range mulTypes {
			const rows, cols, n = 35, 256, 8
			rnd := newRand(3)
			m := pack(t, k, ty, rows, cols, randomRows(ty, rows, cols, rnd))
			y := multiply(m, randomX(n, cols, cols, rnd), cols, n, 1, 1)
			for j := range n {
				for r := rows; r < 64; r++ {
					require.Zero(t, y[j*64+r], "%v token %d row %d", ty, j, r)
				}
			}
		}
	})
}

func TestSelect(t *testing.T) {
	_, err := Select("sse9")
	require.ErrorContains(t, err, `found "sse9"`)
	require.ErrorContains(t, err, "generic")
	require.Equal(t, "generic", plain(t).Variant())
	k, err := Select("")
	require.NoError(t, err)
	require.Equal(t, Features()[0], k.Variant())
	for ty, name := range map[tensor.Type]string{tensor.Q4_1: "mvQ4_1", tensor.F16: "dotF16", tensor.Q5_0: "mvQ8_0"} {
		m, err := k.NewMat(ty, 32, 256)
		require.NoError(t, err)
		require.Equal(t, name+" "+k.name, m.Kernel(1))
	}
	_, err = k.NewMat(tensor.IQ2_S, 32, 256)
	require.ErrorContains(t, err, "IQ2_S")
	require.Equal(t, "softmax "+k.name, k.Name("softmax"))
}

// TestNothingIsAllocated: no kernel call takes memory.
func TestNothingIsAllocated(t *testing.T) {
	eachVariant(t, func(t *testing.T, k *Kernels) {
		for _, ty := range mulTypes {
			const rows, cols, n = 32, 256, 8
			rnd := newRand(5)
			m := pack(t, k, ty, rows, cols, randomRows(ty, rows, cols, rnd))
			x, y, scratch := randomX(n, cols, cols, rnd), make([]float32, n*rows), make([]byte, m.Scratch())
			q := m.Quant()
			in := Input{F: x, LD: cols, N: n, Q: make([]byte, k.Room(q, cols, n))}
			tmp := make([]byte, MaxT*q.Size(cols))
			require.Zero(t, testing.AllocsPerRun(3, func() {
				if q != AsFloat {
					k.Quantise(q, in.Q, x, cols, cols, n, 0, k.Tiles(n), tmp)
				}
				m.Mul(y, rows, in, 0, m.Pairs, scratch)
			}), "%v", ty)
		}
	})
}

// TestLargeInputs: inputs beyond the second cache are gone over some columns at a time, and whole tiles are followed by an odd
// rest. The two best variants must agree there too.
func TestLargeInputs(t *testing.T) {
	ks := all(t)
	const rows, cols, n = 70, 5120, 43
	for _, ty := range []tensor.Type{tensor.Q4_0, tensor.Q4_1, tensor.Q8_0, tensor.Q5_1, tensor.Q4_K, tensor.Q5_K, tensor.Q6_K} {
		rnd := newRand(uint64(ty) + 77)
		src, x := randomRows(ty, rows, cols, rnd), randomX(n, cols, cols, rnd)
		var first []float32
		for i, k := range ks[:min(2, len(ks))] {
			m := pack(t, k, ty, rows, cols, src)
			y := multiply(m, x, cols, n, 100, 2)
			if i == 0 {
				first = y
				continue
			}
			sameBits(t, first, y, fmt.Sprintf("%v: %s and %s", ty, ks[0].name, k.name))
		}
	}
}
