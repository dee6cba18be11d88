//go:build !race

package cpu

import (
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/backend"
	"glassbox/engine/backend/backendtest"
	"glassbox/engine/golden"
	"glassbox/engine/testmodel"
)

// TestBuiltinAgainstGolden: the built-in model along every prompt and answer, against transformers. Inputs of products are
// rounded to 16 bits here, keys and values to float16. No logits may point elsewhere than the reference's at any position,
// and another word may lead only where the reference itself is not sure.
func TestBuiltinAgainstGolden(t *testing.T) {
	set, err := golden.Load()
	require.NoError(t, err)
	prompts, answers := backendtest.Golden(t, Open, backend.Options{Threads: 2})
	t.Logf("prompts: %s", &prompts)
	t.Logf("answers: %s; llama.cpp's |Δlogprob| %.4f", &answers, set.WitnessDistance)
	for _, other := range append(prompts.Other, answers.Other...) {
		t.Logf("%s: wanted word %d, which leads by %.3f, found %d", other.Where, other.Want, other.Margin, other.Got)
	}
	for _, tally := range []golden.Tally{prompts, answers} {
		require.GreaterOrEqual(t, tally.Cosine, 0.999, tally.CosineAt)
		require.LessOrEqual(t, tally.KL, 0.01)
		require.Empty(t, tally.WrongBeyond(0.3))
	}
	require.LessOrEqual(t, answers.Logprob, set.WitnessDistance)
}

// TestBuiltinResiduals: the residual stream stays near the reference's after every block.
func TestBuiltinResiduals(t *testing.T) {
	worst, layer := backendtest.Residuals(t, Open, backend.Options{Threads: 2})
	t.Logf("worst distance %.4f of the stream's length, after layer %d", worst, layer)
	require.Less(t, worst, 0.002)
}

// TestBuiltinSameBits: the real model's logits do not depend on chunks, neighbours or threads either.
func TestBuiltinSameBits(t *testing.T) {
	set, err := golden.Load()
	require.NoError(t, err)
	backendtest.SameBits(t, testmodel.Builtin(t), Open, backend.Options{}, set.Prompt("sky").PromptIDs[:21])
}
