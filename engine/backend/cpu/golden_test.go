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
// rounded to 8 bits here, as llama.cpp's are; it may be as far from the reference as llama.cpp is, and say another word
// only where the reference itself is not sure.
func TestBuiltinAgainstGolden(t *testing.T) {
	set, err := golden.Load()
	require.NoError(t, err)
	prompts, answers := backendtest.Golden(t, Open, backend.Options{Threads: 2})
	t.Logf("prompts: %s", &prompts)
	t.Logf("answers: %s; llama.cpp's |Δlogprob| %.4f", &answers, set.WitnessDistance)
	require.Less(t, answers.Logprob, 1.2*set.WitnessDistance)
	require.Less(t, answers.KL, 0.01)
	require.Greater(t, answers.Cosine, 0.98)
	require.Greater(t, prompts.Cosine, 0.96)
	require.Empty(t, answers.WrongBeyond(0.5))
}

// TestBuiltinResiduals: the residual stream stays near the reference's after every block.
func TestBuiltinResiduals(t *testing.T) {
	worst, layer := backendtest.Residuals(t, Open, backend.Options{Threads: 2})
	t.Logf("worst distance %.4f of the stream's length, after layer %d", worst, layer)
	require.Less(t, worst, 0.05)
}

// TestBuiltinSameBits: the real model's logits do not depend on chunks, neighbours or threads either.
func TestBuiltinSameBits(t *testing.T) {
	set, err := golden.Load()
	require.NoError(t, err)
	backendtest.SameBits(t, testmodel.Builtin(t), Open, backend.Options{}, set.Prompt("sky").PromptIDs[:21])
}
