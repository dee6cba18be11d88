package golden

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// llama.cpp and transformers agree on the tiny models: at every position the same best word, and its five leading words with
// the same log-probabilities.
func TestTheTinyModelsAreWholeAndTheWitnessAgrees(t *testing.T) {
	models, err := LoadTiny()
	require.NoError(t, err)
	archs := map[string]int{}
	for _, m := range models {
		archs[m.Arch]++
		require.Len(t, m.IDs, 48, m.Name)
		require.Len(t, m.Logits, 48, m.Name)
		w := m.Witness
		require.NotNil(t, w, m.Name)
		require.Len(t, w.TopIDs, 48, m.Name)
		require.Equal(t, 48, w.SameTopWord, m.Name)
		for i, row := range m.Logits {
			sum := 0.0
			for _, v := range row {
				sum += math.Exp(float64(v) - float64(row[w.TopIDs[i][0]]))
			}
			lse := float64(row[w.TopIDs[i][0]]) + math.Log(sum)
			for j, id := range w.TopIDs[i] {
				require.InDelta(t, float64(row[id])-lse, w.TopLogprobs[i][j], w.Distance+1e-6, "%s, position %d", m.Name, i)
			}
		}
		bound := 1e-4
		if m.Arch == "gemma3" {
			bound = 0.01 // llama.cpp looks GELU up in a table of float16
		}
		require.Less(t, w.Distance, bound, m.Name)
	}
	require.Equal(t, map[string]int{"llama": 2, "qwen2": 1, "qwen3": 1, "gemma3": 1}, archs)
}
