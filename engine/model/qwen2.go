package model

import (
	"fmt"
	"math"

	"glassbox/engine/graph"
	"glassbox/trace"
)

// qwen2Layer is the checkpoint map of one block.
type qwen2Layer struct {
	attnNorm, q, k, v, out  *graph.Weight
	qBias, kBias, vBias     *graph.Weight
	ffnNorm, gate, up, down *graph.Weight
}

// qwen2 is the decoder of Qwen2 and Qwen2.5 (Yang et al. 2024): Llama's shape, with a bias on queries, keys and values, and
// rotary positions on halves of a head. In the file the rows of q and k are in the order of transformers' checkpoint.
func qwen2(b *graph.Builder, c *Config, l *loader) {
	embed := l.matrix("token_embd.weight", c.Vocab, c.Width)
	outNorm := l.vector("output_norm.weight", c.Width)
	head := l.optional("output.weight", c.Vocab, c.Width)
	if head == nil {
		head = embed // tied: the embedding's rows are the head's rows
	}
	attn := &graph.Attention{Heads: c.Heads, KVHeads: c.KVHeads, HeadDim: c.HeadDim, Scale: float32(1 / math.Sqrt(float64(c.HeadDim)))}
	rope := l.rope(c, true)
	layers := make([]qwen2Layer, c.Layers)
	for i := range layers {
		layers[i] = qwen2Map(c, l, i)
	}
	if l.err != nil {
		return
	}

	x := b.Embed(trace.OpEmbed, embed)
	for i, w := range layers {
		b.Layer(i)
		x = qwen2Attention(b, c, &w, attn, rope, x)
		x = qwen2FeedForward(b, c, &w, x)
	}
	b.Layer(-1)
	y := b.OutNorm(trace.OpOutNorm, x, outNorm, c.Eps)
	b.LMHead(trace.OpLMHead, y, head)
}

// qwen2Map names the tensors of block i and checks their shapes.
func qwen2Map(c *Config, l *loader, i int) qwen2Layer {
	name := func(s string) string { return fmt.Sprintf("blk.%d.%s", i, s) }
	qw, kvw := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	return qwen2Layer{
		attnNorm: l.vector(name("attn_norm.weight"), c.Width),
		q:        l.matrix(name("attn_q.weight"), qw, c.Width),
		qBias:    l.vector(name("attn_q.bias"), qw),
		k:        l.matrix(name("attn_k.weight"), kvw, c.Width),
		kBias:    l.vector(name("attn_k.bias"), kvw),
		v:        l.matrix(name("attn_v.weight"), kvw, c.Width),
		vBias:    l.vector(name("attn_v.bias"), kvw),
		out:      l.matrix(name("attn_output.weight"), c.Width, qw),
		ffnNorm:  l.vector(name("ffn_norm.weight"), c.Width),
		gate:     l.matrix(name("ffn_gate.weight"), c.FFN, c.Width),
		up:       l.matrix(name("ffn_up.weight"), c.FFN, c.Width),
		down:     l.matrix(name("ffn_down.weight"), c.Width, c.FFN),
	}
}

// qwen2Attention is the attention branch of a block: it leaves the residual stream at the norm and returns at the add.
func qwen2Attention(b *graph.Builder, c *Config, w *qwen2Layer, a *graph.Attention, r *graph.Rope, x graph.Buf) graph.Buf {
	n := b.Norm(trace.OpAttnNorm, x, w.attnNorm, c.Eps)
	q := b.MatMul(trace.OpAttnQ, n, w.q, w.qBias)
	k := b.MatMul(trace.OpAttnK, n, w.k, w.kBias)
	v := b.MatMul(trace.OpAttnV, n, w.v, w.vBias)
	b.RoPE(trace.OpRope, q, k, a, r)
	b.KVWrite(trace.OpKVWrite, k, v, a)
	s := b.Scores(trace.OpScores, q, a)
	p := b.Softmax(trace.OpSoftmax, s, a)
	m := b.Mix(trace.OpMix, p, a)
	o := b.MatMul(trace.OpAttnOut, m, w.out, nil)
	return b.Add(trace.OpAttnResidual, x, o)
}

// qwen2FeedForward is the feed-forward branch: down(silu(gate(x)) * up(x)).
func qwen2FeedForward(b *graph.Builder, c *Config, w *qwen2Layer, x graph.Buf) graph.Buf {
	n := b.Norm(trace.OpFFNNorm, x, w.ffnNorm, c.Eps)
	gate := b.MatMul(trace.OpGate, n, w.gate, nil)
	up := b.MatMul(trace.OpUp, n, w.up, nil)
	h := b.SwiGLU(trace.OpSwiGLU, gate, up)
	down := b.MatMul(trace.OpDown, h, w.down, nil)
	return b.Add(trace.OpFFNResidual, x, down)
}
