//go:build cuda

package main

import (
	"math"
	"math/rand/v2"

	"glassbox/engine/graph"
	"glassbox/engine/tensor"
	"glassbox/trace"
)

// shape is a model's.
type shape struct {
	Layers  int `json:"layers"`
	Width   int `json:"width"`
	FFN     int `json:"ffn"`
	Heads   int `json:"heads"`
	KVHeads int `json:"kv_heads"`
	HeadDim int `json:"head_dim"`
	Vocab   int `json:"vocab"`
}

// llama8B is the shape of Llama 3.1 8B (its model card).
var llama8B = shape{Layers: 32, Width: 4096, FFN: 14336, Heads: 32, KVHeads: 8, HeadDim: 128, Vocab: 128256}

// filler makes weights: matrices of one format and width share the same bytes, which no kernel can tell.
type filler struct {
	rnd  *rand.Rand
	data map[[2]int][]byte // by format and columns
}

func newFiller() *filler {
	return &filler{rand.New(rand.NewPCG(8, 31)), map[[2]int][]byte{}}
}

// matrix returns random weights of variance about 1/cols.
func (f *filler) matrix(ty tensor.Type, rows, cols int) *graph.Weight {
	key, need := [2]int{int(ty), cols}, rows*ty.RowBytes(cols)
	have := f.data[key]
	if len(have) < need {
		have = make([]byte, need)
		unit := ty.BlockBytes()
		pattern := min(need, 4096*unit)
		for i := range pattern {
			have[i] = byte(f.rnd.Uint32())
		}
		for o := 0; o < pattern; o += unit {
			putScales(ty, have[o:o+unit], 1/math.Sqrt(float64(cols)))
		}
		for n := pattern; n < need; n *= 2 {
			copy(have[n:], have[:n])
		}
		f.data[key] = have
	}
	return &graph.Weight{Name: "random", Type: ty, Rows: rows, Cols: cols, Data: have[:need]}
}

// putScales gives a block of random bytes scales such that its weights have about the given deviation.
func putScales(ty tensor.Type, b []byte, deviation float64) {
	put := func(at int, f float64) {
		h := tensor.F32ToF16(float32(f))
		b[at], b[at+1] = byte(h), byte(h>>8)
	}
	switch ty {
	case tensor.Q8_0:
		put(0, deviation/73)
	case tensor.Q6_K:
		put(208, deviation/1300)
	default: // Q4_K: 6-bit scales and minimums about 32
		put(0, deviation/200)
		put(2, deviation*7.5/200)
	}
}

func (f *filler) norm(n int) *graph.Weight {
	w := &graph.Weight{Name: "norm", Type: tensor.F32, Rows: 1, Cols: n, Data: make([]byte, 4*n)}
	one := make([]float32, n)
	for i := range one {
		one[i] = 1 + float32(f.rnd.NormFloat64()/10)
	}
	if err := tensor.Quantize(tensor.F32, w.Data, one); err != nil {
		panic(err) // sizes are ours
	}
	return w
}

// build makes the graph of a llama of random weights.
func (f *filler) build(s shape, ty tensor.Type) *graph.Graph {
	b := graph.NewBuilder()
	attn := &graph.Attention{Heads: s.Heads, KVHeads: s.KVHeads, HeadDim: s.HeadDim, Scale: float32(1 / math.Sqrt(float64(s.HeadDim)))}
	rope := &graph.Rope{Base: 500000, Dim: s.HeadDim}
	x := b.Embed(trace.OpEmbed, f.matrix(ty, s.Vocab, s.Width))
	for i := range s.Layers {
		b.Layer(i)
		n := b.Norm(trace.OpAttnNorm, x, f.norm(s.Width), 1e-5)
		q := b.MatMul(trace.OpAttnQ, n, f.matrix(ty, s.Heads*s.HeadDim, s.Width), nil)
		k := b.MatMul(trace.OpAttnK, n, f.matrix(ty, s.KVHeads*s.HeadDim, s.Width), nil)
		v := b.MatMul(trace.OpAttnV, n, f.matrix(ty, s.KVHeads*s.HeadDim, s.Width), nil)
		b.RoPE(trace.OpRope, q, k, attn, rope)
		b.KVWrite(trace.OpKVWrite, k, v, attn)
		m := b.Mix(trace.OpMix, b.Softmax(trace.OpSoftmax, b.Scores(trace.OpScores, q, attn), attn), attn)
		x = b.Add(trace.OpAttnResidual, x, b.MatMul(trace.OpAttnOut, m, f.matrix(ty, s.Width, s.Heads*s.HeadDim), nil))
		n = b.Norm(trace.OpFFNNorm, x, f.norm(s.Width), 1e-5)
		gate := b.MatMul(trace.OpGate, n, f.matrix(ty, s.FFN, s.Width), nil)
		up := b.MatMul(trace.OpUp, n, f.matrix(ty, s.FFN, s.Width), nil)
		x = b.Add(trace.OpFFNResidual, x, b.MatMul(trace.OpDown, b.SwiGLU(trace.OpSwiGLU, gate, up), f.matrix(ty, s.Width, s.FFN), nil))
	}
	b.Layer(-1)
	b.LMHead(trace.OpLMHead, b.OutNorm(trace.OpOutNorm, x, f.norm(s.Width), 1e-5), f.matrix(ty, s.Vocab, s.Width))
	return b.Graph()
}
