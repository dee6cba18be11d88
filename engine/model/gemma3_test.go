package model

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// The published shapes: query_pre_attn_scalar is 256 = the head's width for 1B, 4B and 12B, 168 = 5376 / 32 for 27B, whose
// heads are 128 wide.
func TestGemmaScaleIsThatOfThePublishedModels(t *testing.T) {
	for want, c := range map[float64]*Config{
		256: {Layers: 26, Width: 1152, Heads: 4, HeadDim: 256},
		168: {Layers: 62, Width: 5376, Heads: 32, HeadDim: 128},
	} {
		require.InDelta(t, 1/math.Sqrt(want), gemma3Scale(c), 1e-7)
	}
}
