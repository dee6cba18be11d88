//go:build !race

package cpu

import (
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/golden"
)

// TestBuiltinAgainstGolden: the built-in model along one answer, against transformers. Prompts go in one batch, the
// answer token by token.
func TestBuiltinAgainstGolden(t *testing.T) {
	set, err := golden.Load()
	require.NoError(t, err)
	p := set.Prompt("sky")
	be := open(t, loadBuiltin(t).Graph, benchOptions("", 2))
	ids, n := p.Forced(), len(p.PromptIDs)
	feed := func(from, to int) {
		b := prompt(from, to-from)
		copy(b.Tokens, ids[from:to])
		require.NoError(t, be.Run(b, nil))
	}
	var logprob float64
	const answer = 24
	for k := range answer {
		if k == 0 {
			feed(0, n)
		} else {
			feed(n+k-1, n+k)
		}
		d, err := set.Compare(&p.Answers[k], be.Logits(0))
		require.NoError(t, err)
		require.Greater(t, d.Cosine, 0.995, "word %d", k)
		require.Less(t, d.KL, 0.1, "word %d", k)
		if !d.Same {
			require.Less(t, d.Margin, 0.5, "word %d: the reference is sure of another", k)
		}
		logprob += d.Logprob / answer
	}
	t.Logf("mean |Δlogprob| of five leading words %.3f; llama.cpp has %.3f", logprob, p.Witness.Distance)
	require.Less(t, logprob, 2*p.Witness.Distance)
}
