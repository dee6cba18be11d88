package model

import (
	"fmt"
	"math"

	"glassbox/engine/graph"
	"glassbox/trace"
)

// qwen3Layer is the checkpoint map of one block.
type qwen3Layer struct {
	attnNorm, q, k, v, out  *graph.Weight
	qNorm, kNorm            *graph.Weight
	ffnNorm, gate, up, down *graph.Weight
}

// qwen3 is the decoder of Qwen3's dense models (Yang et al. 2025): Llama's shape, with an RMSNorm on each head of queries and
// keys before they are turned, rotary positions on halves of a head, and a head as wide as attention.key_length says, which
// times the heads need not be the model's width. In the file the rows of q and k are in the order of transformers' checkpoint.
func qwen3(b *graph.Builder, c *Config, l *loader) {
	embed := l.matrix("token_embd.weight", c.Vocab, c.Width)
	outNorm := l.vector("output_norm.weight", c.Width)
	head := l.optional("output.weight", c.Vocab, c.Width)
	if head == nil {
		head = embed // tied: the embedding's rows are the head's rows
	}
	attn := &graph.Attention{Heads: c.Heads, KVHeads: c.KVHeads, HeadDim: c.HeadDim, Scale: float32(1 / math.Sqrt(float64(c.HeadDim)))}
	rope := l.rope(c, true)
	layers := make([]qwen3Layer, c.Layers)
	for i := range layers {
		layers[i] = qwen3Map(c, l, i)
	}
	if l.err != nil {
		return
	}

	x := b.Embed(trace.OpEmbed, embed)
	for i, w := range layers {
		b.Layer(i)
		x = qwen3Attention(b, c, &w, attn, rope, x)
		x = qwen3FeedForward(b, c, &w, x)
	}
	b.Layer(-1)
	y := b.OutNorm(trace.OpOutNorm, x, outNorm, c.Eps)
	b.LMHead(trace.OpLMHead, y, head)
}

// qwen3Map names the tensors of block i and checks their shapes.
func qwen3Map(c *Config, l *loader, i int) qwen3Layer {
	name := func(s string) string { return fmt.Sprintf("blk.%d.%s", i, s) }
	qw, kvw := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	return qwen3Layer{
		attnNorm: l.vector(name("attn_norm.weight"), c.Width),
		q:        l.matrix(name("attn_q.weight"), qw, c.Width),
		qNorm:    l.vector(name("attn_q_norm.weight"), c.HeadDim),
		k:        l.matrix(name("attn_k.weight"), kvw, c.Width),
		kNorm:    l.vector(name("attn_k_norm.weight"), c.HeadDim),
		v:        l.matrix(name("attn_v.weight"), kvw, c.Width),
		out:      l.matrix(name("attn_output.weight"), c.Width, qw),
		ffnNorm:  l.vector(name("ffn_norm.weight"), c.Width),
		gate:     l.matrix(name("ffn_gate.weight"), c.FFN, c.Width),
		up:       l.matrix(name("ffn_up.weight"), c.FFN, c.Width),
		down:     l.matrix(name("ffn_down.weight"), c.Width, c.FFN),
	}
}

// qwen3Attention is the attention branch of a block: it leaves the residual stream at the norm and returns at the add.
func qwen3Attention(b *graph.Builder, c *Config, w *qwen3Layer, a *graph.Attention, r *graph.Rope, x graph.Buf) graph.Buf {
	n := b.Norm(trace.OpAttnNorm, x, w.attnNorm, c.Eps)
	q := b.MatMul(trace.OpAttnQ, n, w.q, nil)
	k := b.MatMul(trace.OpAttnK, n, w.k, nil)
	v := b.MatMul(trace.OpAttnV, n, w.v, nil)
	b.HeadNorm(trace.OpAttnQNorm, q, w.qNorm, a, c.Eps)
	b.HeadNorm(trace.OpAttnKNorm, k, w.kNorm, a, c.Eps)
	b.RoPE(trace.OpRope, q, k, a, r)
	b.KVWrite(trace.OpKVWrite, k, v, a)
	s := b.Scores(trace.OpScores, q, a)
	p := b.Softmax(trace.OpSoftmax, s, a)
	m := b.Mix(trace.OpMix, p, a)
	o := b.MatMul(trace.OpAttnOut, m, w.out, nil)
	return b.Add(trace.OpAttnResidual, x, o)
}

// qwen3FeedForward is the feed-forward branch: down(silu(gate(x)) * up(x)).
func qwen3FeedForward(b *graph.Builder, c *Config, w *qwen3Layer, x graph.Buf) graph.Buf {
	n := b.Norm(trace.OpFFNNorm, x, w.ffnNorm, c.Eps)
	gate := b.MatMul(trace.OpGate, n, w.gate, nil)
	up := b.MatMul(trace.OpUp, n, w.up, nil)
	h := b.SwiGLU(trace.OpSwiGLU, gate, up)
	down := b.MatMul(trace.OpDown, h, w.down, nil)
	return b.Add(trace.OpFFNResidual, x, down)
}
