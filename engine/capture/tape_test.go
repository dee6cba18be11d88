package capture_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine"
	"glassbox/engine/capture"
	"glassbox/engine/graph"
	"glassbox/engine/model"
	"glassbox/engine/tensor"
	"glassbox/engine/testmodel"
	"glassbox/trace"
)

// What an op reads is what the ops before it wrote; and what a product wrote is its matrix times what it read.
func TestTheTapeIsAChain(t *testing.T) {
	for backend, near := range map[string]float64{"ref": 1e-5, "cpu": 1e-4} {
		f := tiny(t, testmodel.Spec{Layers: 3, Width: 96, Heads: 6, KVHeads: 2, FFN: 64, Type: tensor.Q8_0, Untied: true})
		m, err := model.Load(f)
		require.NoError(t, err)
		a := ask(t, open(t, f, engine.Options{Backend: backend}), request(prompt(21, 1), 5, trace.CaptureSpec{Values: true}, capture.Ablation{}))
		require.Equal(t, []int32{1, 21}, a.i4(t, "tape_pass", 2), "the first decode pass reads the first token of the answer")
		in := func(n *graph.Node) []float32 { return values(t, a, "tape_in", n) }
		out := func(n *graph.Node) []float32 { return values(t, a, "tape_out", n) }
		by := map[string]*graph.Node{}
		for _, n := range m.Graph.Nodes {
			by[fmt.Sprintf("%d/%s", n.Layer, n.Op)] = n
			if n.Kind == graph.MatMul {
				product(t, n, in(n), out(n), near)
			}
		}
		stream := out(by["-1/embed"])
		for l := range 3 {
			at := func(op string) *graph.Node { return by[fmt.Sprintf("%d/%s", l, op)] }
			require.Equal(t, stream, in(at("attn_norm")))
			for _, op := range []string{"attn_q", "attn_k", "attn_v"} {
				require.Equal(t, out(at("attn_norm")), in(at(op)))
			}
			qk := append(append([]float32{}, out(at("attn_q"))...), out(at("attn_k"))...)
			require.Equal(t, qk, in(at("rope")))
			turned := out(at("rope"))
			require.NotEqual(t, qk, turned)
			require.Equal(t, append(append([]float32{}, turned[96:]...), out(at("attn_v"))...), in(at("kv_write")))
			require.Equal(t, turned[:96], in(at("attn_scores")))
			require.Equal(t, out(at("attn_scores")), in(at("attn_softmax")))
			require.Equal(t, []int{6, 22}, a.arrays[fmt.Sprintf("tape_out/%d/attn_softmax", l)].Shape)
			require.Equal(t, out(at("attn_softmax")), in(at("attn_mix")))
			require.Equal(t, out(at("attn_mix")), in(at("attn_out")))
			require.Equal(t, append(append([]float32{}, stream...), out(at("attn_out"))...), in(at("attn_residual")))
			stream = sum(t, stream, out(at("attn_out")), out(at("attn_residual")))
			gateUp := append(append([]float32{}, out(at("ffn_gate"))...), out(at("ffn_up"))...)
			require.Equal(t, gateUp, in(at("ffn_swiglu")))
			require.Equal(t, out(at("ffn_swiglu")), in(at("ffn_down")))
			stream = sum(t, stream, out(at("ffn_down")), out(at("ffn_residual")))
		}
		require.Equal(t, stream, in(by["-1/out_norm"]))
		require.Equal(t, out(by["-1/out_norm"]), in(by["-1/lm_head"]))
		best := 0
		logits := out(by["-1/lm_head"])
		for i, v := range logits {
			if v > logits[best] {
				best = i
			}
		}
		require.Equal(t, a.tokens[1], best, "the pass after the first token says the second")
	}
}

func values(t *testing.T, a *answer, side string, n *graph.Node) []float32 {
	v, ok := a.arrays[fmt.Sprintf("%s/%d/%s", side, n.Layer, n.Op)].Data.([]float32)
	require.True(t, ok, "%s of %s in layer %d", side, n.Op, n.Layer)
	return v
}

// product checks W · in = out.
func product(t *testing.T, n *graph.Node, in, out []float32, near float64) {
	require.Len(t, in, n.W.Cols)
	require.Len(t, out, n.W.Rows)
	row, size := make([]float32, n.W.Cols), n.W.Type.RowBytes(n.W.Cols)
	length := 0.0
	for _, v := range out {
		length += float64(v) * float64(v)
	}
	for r, got := range out {
		require.NoError(t, tensor.Dequant(n.W.Type, row, n.W.Data[r*size:(r+1)*size]))
		want := 0.0
		for i, v := range row {
			want += float64(v) * float64(in[i])
		}
		require.InDelta(t, want, got, near*math.Sqrt(length), "row %d of %s in layer %d", r, n.Op, n.Layer)
	}
}

func sum(t *testing.T, a, b, got []float32) []float32 {
	for i := range a {
		require.Equal(t, a[i]+b[i], got[i])
	}
	return got
}

// An answer of one token has no decode pass: the tape is of the prompt's last row.
func TestTheTapeOfAPromptIsItsLastRow(t *testing.T) {
	for _, backend := range backends {
		e := open(t, tiny(t, deep), engine.Options{Backend: backend, Budget: 8})
		a := ask(t, e, request(prompt(21, 1), 1, trace.CaptureSpec{Values: true, Logits: true}, capture.Ablation{}))
		require.Equal(t, []int32{2, 20}, a.i4(t, "tape_pass", 2), "the third chunk has the last row")
		require.Equal(t, a.f4(t, "logits", 288), a.f4(t, "tape_out/-1/lm_head", 288))
		a.f4(t, "tape_in/3/attn_softmax", 6, 21)
		require.NotContains(t, a.arrays, "tape_in/-1/embed")
		require.NotContains(t, a.arrays, "tape_out/0/kv_write")
	}
}
