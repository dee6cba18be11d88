package ref

import (
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/backend"
	"glassbox/engine/backend/backendtest"
)

// Each architecture computes what transformers does: rows of q and k in the right order, biases, norms of heads and of
// branches, windows, and both ways of stretching positions.
func TestTinyModelsOfEveryArchitectureAgreeWithTransformers(t *testing.T) {
	for name, near := range backendtest.Tiny(t, Open, backend.Options{Threads: 2}) {
		require.LessOrEqual(t, near.MaxAbs, 1e-3, name)
		require.Equal(t, 48, near.Same, name)
	}
}

func TestTinyModelsHaveTheSameBits(t *testing.T) {
	backendtest.TinySameBits(t, Open, backend.Options{})
}

// llama.cpp reads the same files, so that a misreading which the writer and the reader of this repository share shows. It
// looks GELU up in a table of float16.
func TestTinyModelsOfEveryArchitectureAgreeWithLlamaCpp(t *testing.T) {
	for name, d := range backendtest.TinyWitness(t, Open, backend.Options{Threads: 2}) {
		bound := 1e-4
		if name == "gemma3" {
			bound = 0.01
		}
		require.LessOrEqual(t, d, bound, name)
	}
}
