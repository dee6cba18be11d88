package kern

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"glassbox/engine/tensor"
)

var blockTypes = []tensor.Type{tensor.Q8_0, tensor.Q4_0}

// What comes out of a page is, to the bit, what ggml's blocks of each token's key or value give.
func TestPagesOfBlocksHoldGgmlsNumbers(t *testing.T) {
	for _, k := range all(t) {
		for _, typ := range blockTypes {
			for _, dim := range []int{32, 64, 96, 128} {
				x := randomX(PageTokens, dim, dim, newRand(uint64(dim)))
				keys, values := make([]byte, PageBytes(typ, dim)), make([]byte, PageBytes(typ, dim))
				row := make([]byte, typ.RowBytes(dim))
				want := make([]float32, PageTokens*dim)
				for in := range PageTokens {
					k.PutKey(typ, keys, in, x[in*dim:(in+1)*dim], row)
					k.PutValue(typ, values, in, x[in*dim:(in+1)*dim])
					require.NoError(t, tensor.Quantize(typ, row, x[in*dim:(in+1)*dim]))
					require.NoError(t, tensor.Dequant(typ, want[in*dim:(in+1)*dim], row))
				}
				got := make([]float32, PageTokens*dim)
				k.ExpandValues(typ, got, values, dim, 0, dim)
				sameBits(t, want, got, fmt.Sprintf("%s %v values of %d dims", k.name, typ, dim))
				k.ExpandKeys(typ, got, keys, dim)
				for in := range PageTokens {
					for d := range dim {
						require.Equal(t, want[in*dim+d], got[d*PageTokens+in], "%s %v key of token %d, dim %d", k.name, typ, in, d)
					}
				}
				part := make([]float32, PageTokens*32)
				k.ExpandValues(typ, part, values, dim, dim-32, dim)
				for in := range PageTokens {
					sameBits(t, want[(in+1)*dim-32:(in+1)*dim], part[in*32:(in+1)*32], "the last 32 dims")
				}
			}
		}
	}
}

func TestWhatIsNotFiniteIsNotHidden(t *testing.T) {
	for _, typ := range blockTypes {
		k := plain(t)
		page := make([]byte, PageBytes(typ, 32))
		x := make([]float32, 32)
		x[7] = float32(math.Inf(1))
		k.PutValue(typ, page, 3, x)
		k.PutKey(typ, page[:PageBytes(typ, 32)], 3, x, make([]byte, typ.RowBytes(32)))
		out := make([]float32, PageTokens*32)
		k.ExpandKeys(typ, out, page, 32)
		require.True(t, math.IsNaN(float64(out[3])))
	}
}

// Attention over float32 pages: one row at a time in plain Go is the truth for every variant and number of rows, and it is
// near a sum in float64.
func TestAttentionOverFloat32IsBitEqual(t *testing.T) {
	for _, dim := range []int{8, 16, 24, 64, 80, 128} {
		const tokens, most = 43, 13
		x, q := randomX(2*48, dim, dim, newRand(uint64(dim))), randomX(most, dim, dim, newRand(7))
		keys, values := make([]float32, 3*PageTokens*dim), make([]float32, 3*PageTokens*dim)
		var kp, vp []uintptr
		for p := range 3 {
			at := (p*2 + 1) % 3 * PageTokens * dim
			kp, vp = append(kp, uintptr(unsafe.Pointer(&keys[at]))), append(vp, uintptr(unsafe.Pointer(&values[at])))
			for in := range PageTokens {
				for d := range dim {
					keys[at+d*PageTokens+in], values[at+in*dim+d] = x[(p*PageTokens+in)*dim+d], x[(48+p*PageTokens+in)*dim+d]
				}
			}
		}
		run := func(k *Kernels, rows, from int) (s, out []float32) {
			s, out = make([]float32, rows*48), make([]float32, rows*dim)
			k.ScoresF32(s, 48, q[from*dim:], dim, kp, 0, rows, dim, 0.125)
			k.MixF32(out, dim, s, 48, vp, 0, rows, tokens, dim, 4*dim)
			return s, out
		}
		var wantS, wantOut []float32
		for r := range most {
			s, out := run(plain(t), 1, r)
			wantS, wantOut = append(wantS, s...), append(wantOut, out...)
			sum := 0.0
			for d := range dim {
				sum += float64(q[r*dim+d]) * float64(x[5*dim+d])
			}
			require.InDelta(t, sum/8, s[5], 1e-4*(1+math.Abs(sum)))
		}
		for _, k := range all(t) {
			for rows := 1; rows <= most; rows++ {
				s, out := run(k, rows, 0)
				sameBits(t, wantS[:len(s)], s, fmt.Sprintf("%s dim %d rows %d scores", k.name, dim, rows))
				sameBits(t, wantOut[:len(out)], out, fmt.Sprintf("%s dim %d rows %d mix", k.name, dim, rows))
			}
		}
		runtime.KeepAlive(keys)
		runtime.KeepAlive(values)
	}
}
