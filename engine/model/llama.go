package model

import (
	"fmt"
	"math"

	"glassbox/engine/graph"
	"glassbox/trace"
)

// llamaLayer is the checkpoint map of one block.
type llamaLayer struct {
	attnNorm, q, k, v, out  *graph.Weight
	ffnNorm, gate, up, down *graph.Weight
}

// llama is the decoder of Llama (Touvron et al. 2023) and of the many models of its shape, SmolLM2 among them: RMSNorm
// before attention and before feed-forward, rotary positions on adjacent pairs, grouped-query attention, SwiGLU. The rows of
// q and k are in the order that adjacent pairs need: converters permute those of transformers' checkpoints.
// Tensor names: GGUF specification, "Standardized tensor names".
func llama(b *graph.Builder, c *Config, l *loader) {
	embed := l.matrix("token_embd.weight", c.Vocab, c.Width)
	outNorm := l.vector("output_norm.weight", c.Width)
	head := l.optional("output.weight", c.Vocab, c.Width)
	if head == nil {
		head = embed // tied: the embedding's rows are the head's rows
	}
	attn := &graph.Attention{Heads: c.Heads, KVHeads: c.KVHeads, HeadDim: c.HeadDim, Scale: float32(1 / math.Sqrt(float64(c.HeadDim)))}
	rope := l.rope(c, false)
	layers := make([]llamaLayer, c.Layers)
	for i := range layers {
		layers[i] = llamaMap(c, l, i)
	}
	if l.err != nil {
		return
	}

	x := b.Embed(trace.OpEmbed, embed)
	for i, w := range layers {
		b.Layer(i)
		x = llamaAttention(b, c, &w, attn, rope, x)
		x = llamaFeedForward(b, c, &w, x)
	}
	b.Layer(-1)
	y := b.OutNorm(trace.OpOutNorm, x, outNorm, c.Eps)
	b.LMHead(trace.OpLMHead, y, head)
}

// llamaMap names the tensors of block i and checks their shapes.
func llamaMap(c *Config, l *loader, i int) llamaLayer {
	name := func(s string) string { return fmt.Sprintf("blk.%d.%s.weight", i, s) }
	qw, kvw := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	return llamaLayer{
		attnNorm: l.vector(name("attn_norm"), c.Width),
		q:        l.matrix(name("attn_q"), qw, c.Width),
		k:        l.matrix(name("attn_k"), kvw, c.Width),
		v:        l.matrix(name("attn_v"), kvw, c.Width),
		out:      l.matrix(name("attn_output"), c.Width, qw),
		ffnNorm:  l.vector(name("ffn_norm"), c.Width),
		gate:     l.matrix(name("ffn_gate"), c.FFN, c.Width),
		up:       l.matrix(name("ffn_up"), c.FFN, c.Width),
		down:     l.matrix(name("ffn_down"), c.Width, c.FFN),
	}
}

// llamaAttention is the attention branch of a block: it leaves the residual stream at the norm and returns at the add.
func llamaAttention(b *graph.Builder, c *Config, w *llamaLayer, a *graph.Attention, r *graph.Rope, x graph.Buf) graph.Buf {
	n := b.Norm(trace.OpAttnNorm, x, w.attnNorm, c.Eps)
	q := b.MatMul(trace.OpAttnQ, n, w.q, nil)
	k := b.MatMul(trace.OpAttnK, n, w.k, nil)
	v := b.MatMul(trace.OpAttnV, n, w.v, nil)
	b.RoPE(trace.OpRope, q, k, a, r)
	b.KVWrite(trace.OpKVWrite, k, v, a)
	s := b.Scores(trace.OpScores, q, a)
	p := b.Softmax(trace.OpSoftmax, s, a)
	m := b.Mix(trace.OpMix, p, a)
	o := b.MatMul(trace.OpAttnOut, m, w.out, nil)
	return b.Add(trace.OpAttnResidual, x, o)
}

// llamaFeedForward is the feed-forward branch: down(silu(gate(x)) * up(x)).
func llamaFeedForward(b *graph.Builder, c *Config, w *llamaLayer, x graph.Buf) graph.Buf {
	n := b.Norm(trace.OpFFNNorm, x, w.ffnNorm, c.Eps)
	gate := b.MatMul(trace.OpGate, n, w.gate, nil)
	up := b.MatMul(trace.OpUp, n, w.up, nil)
	h := b.SwiGLU(trace.OpSwiGLU, gate, up)
	down := b.MatMul(trace.OpDown, h, w.down, nil)
	return b.Add(trace.OpFFNResidual, x, down)
}
