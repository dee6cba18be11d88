package engine

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/testmodel"
)

func TestQualityOfTwoDistributions(t *testing.T) {
	ln := func(p ...float64) (out []float32) {
		for _, v := range p {
			out = append(out, float32(math.Log(v)))
		}
		return out
	}
	var q KVQuality
	q.compare([][]float32{ln(.5, .25, .25), ln(.9, .05, .05)}, [][]float32{ln(.25, .5, .25), ln(.9, .05, .05)}, []int32{0, 1})
	// sum p ln(p/q) = 0.5 ln 2 + 0.25 ln 0.5 at the first position, 0 at the second.
	require.InDelta(t, .25*math.Ln2/2, q.MeanKL, 1e-6)
	require.InDelta(t, .25*math.Ln2, q.MaxKL, 1e-6)
	require.Equal(t, .5, q.SameTop)
	require.InDelta(t, 2, q.Perplexity, 1e-5, "the next token had half of the probability")
}

func TestFewerBitsCostMore(t *testing.T) {
	f := testmodel.File(t)
	types, err := KVTypes(f)
	require.NoError(t, err)
	require.Len(t, types, 7)
	got, err := KVCheck(f, Options{Threads: 2}, KVText, []string{"f32", "f16", "q8_0", "k8v4"}, 60)
	require.NoError(t, err)
	by := map[string]KVQuality{}
	for _, q := range got {
		require.Equal(t, 60, q.Positions)
		by[q.Type] = q
	}
	require.Zero(t, by["f16"].MaxKL)
	require.EqualValues(t, 30*3*(64+64)*2, by["f16"].BytesPerToken)
	require.EqualValues(t, 30*3*2*(34+18), by["k8v4"].BytesPerToken)
	require.Less(t, by["f32"].MeanKL, by["q8_0"].MeanKL)
	require.Less(t, by["q8_0"].MeanKL, by["k8v4"].MeanKL)
	require.Less(t, by["k8v4"].MeanKL, .1)
	require.InDelta(t, by["f16"].Perplexity, by["q8_0"].Perplexity, .02*by["f16"].Perplexity)
}

func TestHeadsThatBlocksDoNotFit(t *testing.T) {
	f := testmodel.Tiny(t, testmodel.Spec{})
	types, err := KVTypes(f)
	require.NoError(t, err)
	require.Equal(t, []string{"f32", "f16"}, types)
	_, err = KVCheck(f, Options{}, KVText, []string{"q8_0"}, 40)
	require.ErrorContains(t, err, "width is a multiple of 32")
	_, err = KVCheck(f, Options{}, "", types, 40)
	require.ErrorContains(t, err, "wanted a text of 2 tokens or more")
	_, err = Open(f, Options{KV: "int3"})
	require.ErrorContains(t, err, "kv-type")
}
