package capture

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNamesOfParts(t *testing.T) {
	a, err := ParseAblate([]string{"L10.H3", "L4.ffn, L7", "L2.attn=mean", "L0.H8=zero"}, 30, 9)
	require.NoError(t, err)
	require.Equal(t, []Part{{10, Head, 3, false}, {4, FFN, 0, false}, {7, Layer, 0, false}, {2, Attn, 0, true}, {0, Head, 8, false}}, a.Parts())
	require.Equal(t, []string{"L10.H3", "L4.ffn", "L7", "L2.attn=mean", "L0.H8"}, a.Names())
	require.True(t, a.Any())
	require.True(t, a.Means())

	none, err := ParseAblate(nil, 30, 9)
	require.NoError(t, err)
	require.False(t, none.Any())
}

func TestWrongNamesAreListedWithTheRightOnes(t *testing.T) {
	for _, name := range []string{"", "L", "l3", "L30", "L-1", "L+1", "L3.", "L3.H9", "L3.h1", "L3.H", "L3.mlp", "L3.ffn=mode", "L3=", "10.3", "L3.H1.ffn", "L99999999999999999999", "L1.H٣"} {
		_, err := ParseAblate([]string{"L1.ffn", name}, 30, 9)
		var bad *AblateError
		require.ErrorAs(t, err, &bad, name)
		require.Len(t, bad.Wrong, 1, name)
		require.Contains(t, err.Error(), "L0 to L29", name)
		require.Contains(t, err.Error(), ".H0 to .H8", name)
	}
	_, err := ParseAblate([]string{"L99", "L1,dreams"}, 30, 9)
	require.ErrorContains(t, err, `found "L99", "dreams": wanted a layer from L0 to L29`)
	for _, twice := range [][]string{{"L1", "L1.ffn=mean"}, {"L2.H1", "L2.H1=mean"}, {"L3", "L3"}, {"L4.attn", "L4"}} {
		_, err := ParseAblate(twice, 30, 9)
		require.Error(t, err, "%v: which of them counts?", twice)
	}
	_, err = ParseAblate([]string{"L4.attn", "L4.H1", "L4.ffn"}, 30, 9)
	require.NoError(t, err)
}
