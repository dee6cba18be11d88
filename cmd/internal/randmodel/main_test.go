package main

import (
	"bytes"
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/gguf"
	"glassbox/engine/model"
	"glassbox/engine/tensor"
)

const words = "../../../engine/builtin/SmolLM2-135M-Instruct.Q4_1.gguf"

// TestFilesLoad: what is written is a model that loads, with the shape and types asked for; a small one stands for all.
func TestFilesLoad(t *testing.T) {
	for name, ty := range types {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, write(path, words, "small", shape{2, 256, 4, 2, 512}, ty))
		f, err := gguf.Open(path)
		require.NoError(t, err)
		m, err := model.Load(f)
		require.NoError(t, err, name)
		require.Equal(t, 2, m.Graph.Layers)
		down, ok := f.Tensor("blk.1.ffn_down.weight")
		require.True(t, ok)
		require.Equal(t, ty[0], down.Type)
		require.Equal(t, []int{512, 256}, down.Dims)
		x := make([]float32, 512)
		require.NoError(t, tensor.Dequant(down.Type, x, down.Data[:down.Type.RowBytes(512)]))
		var sum float64
		for _, v := range x {
			sum += float64(v) * float64(v)
		}
		require.InDelta(t, 0.02, math.Sqrt(sum/512), 0.015, name)
		require.NoError(t, f.Close())
	}
}

func TestWrongUse(t *testing.T) {
	var b bytes.Buffer
	require.Equal(t, 2, run([]string{"--type", "q3"}, &b))
	require.Contains(t, b.String(), "q4_k")
	b.Reset()
	require.Equal(t, 1, run([]string{"--words", "none.gguf", "-o", filepath.Join(t.TempDir(), "x")}, &b))
	require.Contains(t, b.String(), "none.gguf")
}
