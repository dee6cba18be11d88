package cpu

import (
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/backend"
	"glassbox/engine/backend/backendtest"
)

// The distance of the tiny models, whose weights are float32, is the rounding of keys and values to float16.
func TestTinyModelsOfEveryArchitectureAgreeWithTransformers(t *testing.T) {
	for _, v := range testVariants {
		for name, near := range backendtest.Tiny(t, Open, backend.Options{Threads: 2, Features: v}) {
			require.GreaterOrEqual(t, near.Cosine, 0.99999, "%s %s", name, v)
			require.LessOrEqual(t, near.MaxAbs, 0.05, "%s %s", name, v)
		}
	}
}

func TestTinyModelsHaveTheSameBits(t *testing.T) {
	backendtest.TinySameBits(t, Open, backend.Options{})
}
