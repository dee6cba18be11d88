//go:build cuda

package cuda

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/backend"
	"glassbox/engine/backend/backendtest"
	"glassbox/engine/golden"
	"glassbox/engine/testmodel"
)

// The built-in model against logits that transformers computed from the same file: a prompt, and its answer with each word given
// (teacher-forced). On the emulated driver one prompt and the start of its answer; with GOLDEN=all, on a device, all there are.
func TestBuiltinModelAgreesWithTransformers(t *testing.T) {
	set, err := golden.Load()
	require.NoError(t, err)
	prompts, answer := set.Prompts, set.AnswerTokens
	if os.Getenv("GOLDEN") != "all" {
		prompts, answer = prompts[:1], 4
	}
	be, err := Open(testmodel.Builtin(t).Graph, backend.Options{MaxTokens: 512, MaxOut: 512, MaxScores: 16 << 20, Pages: 64})
	require.NoError(t, err)
	defer func() { require.NoError(t, be.Close()) }()
	var tally golden.Tally
	for _, p := range prompts {
		ids := p.Forced()
		ids = ids[:min(len(ids), len(p.PromptIDs)+answer-1)]
		require.NoError(t, be.Run(backendtest.Batch(backendtest.Part{Seq: backendtest.Pages(0, len(ids)), IDs: ids, All: true}), nil))
		for i := range ids {
			row := (*golden.Row)(nil)
			switch k := i - len(p.PromptIDs) + 1; {
			case k >= 0:
				row = &p.Answers[k]
			case i < len(p.Positions):
				row = &p.Positions[i]
			default:
				continue
			}
			d, err := set.Compare(row, be.Logits(i))
			require.NoError(t, err)
			tally.Add(fmt.Sprintf("%s[%d]", p.Name, i), row, d)
		}
	}
	t.Log(tally.String())
	require.GreaterOrEqual(t, tally.Positions, 39)
	require.GreaterOrEqual(t, tally.Cosine, 0.999)
	require.LessOrEqual(t, tally.KL, 1e-4)
	require.Empty(t, tally.WrongBeyond(0.1))
}
