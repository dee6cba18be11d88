package golden

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCapturesHoldTogether(t *testing.T) {
	set, err := Load()
	require.NoError(t, err)
	c, err := set.LoadCaptures()
	require.NoError(t, err)
	require.Len(t, c.Prompts, 3)
	longest := 0
	for _, p := range c.Prompts {
		of := set.Prompt(p.Name)
		n := len(of.PromptIDs)
		longest = max(longest, n)
		for i, row := range p.Attention {
			m, q := p.Maps[i/len(p.Rows)], p.Rows[i%len(p.Rows)]
			sum, signed := 0.0, 0.0
			for k, v := range row {
				sum += float64(v)
				signed += Sign(k) * float64(v)
			}
			require.InDelta(t, 1, sum, 1e-5)
			require.InDelta(t, p.Signed[(m[0]*c.Heads+m[1])*n+q], signed, 1e-5)
		}
		// The last row of the lens is the model's output, which make.py kept.
		for pos, row := range of.Positions {
			ids := p.Lens.IDs[(set.Model.Layers-1)*n+pos]
			require.Equal(t, row.TopIDs[:LensRanks], ids)
			require.InDelta(t, row.Top[0]-row.LSE, p.Lens.Logprobs[(set.Model.Layers-1)*n+pos][0], 1e-4)
		}
	}
	require.GreaterOrEqual(t, longest, 200)
	for i, logit := range []float64{c.LogitFirst, c.LogitSecond} {
		sum := 0.0
		for _, v := range c.Writers[i] {
			sum += float64(v)
		}
		require.InDelta(t, logit, sum, 1e-4)
	}
	sky := set.Prompt("sky")
	require.Equal(t, sky.Positions[len(sky.PromptIDs)-1].TopIDs[:2], c.Words[:])
}
