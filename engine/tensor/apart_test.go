package tensor

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// A block that was taken apart gives, by the formula on the page, the same bits as the dequantiser; and its parts cover
// every byte once.
func TestApartGivesTheSameWeights(t *testing.T) {
	seen := map[Type]bool{}
	for _, c := range loadGolden(t).Dequant {
		ty := typeNamed(t, c.Type)
		n, size := ty.BlockSize(), ty.BlockBytes()
		for b := 0; b+size <= len(c.Src); b += size {
			block, want := c.Src[b:b+size], make([]float32, n)
			require.NoError(t, Dequant(ty, want, block))
			p, err := Apart(ty, block)
			require.NoError(t, err)
			at := 0
			for _, part := range p.Parts {
				require.Equal(t, at, part.First, "%v.%s", ty, part.Name)
				at += part.Bytes
			}
			require.Equal(t, size, at)
			if n == 1 {
				require.Empty(t, p.Codes)
				continue
			}
			seen[ty] = true
			require.Len(t, p.Codes, n)
			require.Len(t, p.Scale, n/p.Group)
			for i, q := range p.Codes {
				w := p.Scale[i/p.Group] * float32(q-p.Zero)
				if p.Min != nil {
					w = float32(w) + p.Min[i/p.Group]
				}
				require.Equal(t, math.Float32bits(want[i]), math.Float32bits(w), "%v weight %d", ty, i)
			}
		}
	}
	require.Len(t, seen, 8)
}

func TestApartRefuses(t *testing.T) {
	_, err := Apart(Q2_K, make([]byte, 84))
	require.ErrorContains(t, err, "Q2_K")
	_, err = Apart(Q4_1, make([]byte, 19))
	require.ErrorContains(t, err, "wanted a block of 20 bytes, found 19")
}
