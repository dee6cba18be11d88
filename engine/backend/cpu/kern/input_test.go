package kern

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// What InputTop says is what the kernels' inputs are: the largest value of a run gets that code, and the scale fits it.
func TestInputTopIsTheLargestCode(t *testing.T) {
	for _, k := range builtVariants() {
		if !k.has {
			continue
		}
		x := make([]float32, 256)
		for i := range x {
			x[i] = float32(i-100) / 3
		}
		x[77] = -250
		for _, q := range []Quant{Per32, Per256} {
			dst := make([]byte, q.Size(len(x)))
			k.Quantise(q, dst, x, len(x), len(x), 1, 0, 1, make([]byte, MaxT*len(dst)))
			at, hi, lo := 2*x32, atHi+13, atLo+13 // value 77 is number 13 of run 2
			if q == Per256 {
				at, hi, lo = 0, kHi+77, kLo+77
			}
			d := math.Float32frombits(binary.LittleEndian.Uint32(dst[at:]))
			require.Equal(t, float32(250)*(float32(1)/InputTop), d, k.name)
			require.Equal(t, -InputTop, 256*int(int8(dst[at+hi]))+int(int8(dst[at+lo])), k.name)
		}
	}
}
