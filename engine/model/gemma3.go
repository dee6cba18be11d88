package model

import (
	"fmt"
	"math"

	"glassbox/engine/graph"
	"glassbox/trace"
)

// gemma3Layer is the checkpoint map of one block.
type gemma3Layer struct {
	attnNorm, q, k, v, out  *graph.Weight
	qNorm, kNorm            *graph.Weight
	attnPost                *graph.Weight
	ffnNorm, gate, up, down *graph.Weight
	ffnPost                 *graph.Weight
}

// gemma3Local is what the local layers have of their own: they look no further back than the window, and turn by a base of
// their own, without the file's scaling.
type gemma3Local struct {
	window, period int
	base           float64
}

// gemma3 is the text decoder of Gemma 3 (Gemma Team 2025). Beside Llama's shape: the embedding is multiplied by the square
// root of the width; each branch is normed once more before it is added; queries and keys are normed head by head;
// feed-forward is gated with GELU; and of six layers five are local. Rotary positions are on halves of a head.
//
// The norms compute x * (1 + w) in transformers; its converter adds the 1, so that the file has 1 + w, and here they are
// RMSNorms like any other. The head is the embedding, where the file has no output.weight.
func gemma3(b *graph.Builder, c *Config, l *loader) {
	embed := l.matrix("token_embd.weight", c.Vocab, c.Width)
	outNorm := l.vector("output_norm.weight", c.Width)
	head := l.optional("output.weight", c.Vocab, c.Width)
	if head == nil {
		head = embed
	}
	local := gemma3Keys(l)
	global := &graph.Attention{Heads: c.Heads, KVHeads: c.KVHeads, HeadDim: c.HeadDim, Scale: gemma3Scale(c)}
	near := *global
	near.Window = local.window
	rope := l.rope(c, true)
	nearRope := &graph.Rope{Base: local.base, Dim: c.RopeDim, Halves: true}
	layers := make([]gemma3Layer, c.Layers)
	for i := range layers {
		layers[i] = gemma3Map(c, l, i)
	}
	if l.err != nil {
		return
	}

	x := b.EmbedScaled(trace.OpEmbed, embed, float32(math.Sqrt(float64(c.Width))))
	for i, w := range layers {
		b.Layer(i)
		a, r := global, rope
		if local.window > 0 && (i+1)%local.period != 0 {
			a, r = &near, nearRope
		}
		x = gemma3Attention(b, c, &w, a, r, x)
		x = gemma3FeedForward(b, c, &w, x)
	}
	b.Layer(-1)
	y := b.OutNorm(trace.OpOutNorm, x, outNorm, c.Eps)
	b.LMHead(trace.OpLMHead, y, head)
}

// gemma3Keys reads what the file says of local layers. Most files have the window alone: every sixth layer is global, and
// the local base is 10,000.
func gemma3Keys(l *loader) gemma3Local {
	r := configReader{f: l.f, arch: "gemma3", err: l.err}
	k := gemma3Local{
		window: r.count("attention.sliding_window", 0, maxContext),
		period: r.count("attention.sliding_window_pattern", 6, maxLayers),
		base:   r.float("rope.freq_base_swa", 10000),
	}
	if r.err == nil && !(k.base > 0 && k.base < math.MaxFloat32) {
		r.err = r.fail("rope.freq_base_swa", "a positive number", k.base)
	}
	l.err = r.err
	return k
}

// gemma3Scale is the scores' factor: one over the square root of transformers' query_pre_attn_scalar, of which the file has
// no key. It is the head's width but for the largest model, the one of 62 layers, where it is width / heads.
func gemma3Scale(c *Config) float32 {
	if c.Layers == 62 {
		return float32(1 / math.Sqrt(float64(c.Width/c.Heads)))
	}
	return float32(1 / math.Sqrt(float64(c.HeadDim)))
}

// gemma3Map names the tensors of block i and checks their shapes.
func gemma3Map(c *Config, l *loader, i int) gemma3Layer {
	name := func(s string) string { return fmt.Sprintf("blk.%d.%s.weight", i, s) }
	qw, kvw := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	return gemma3Layer{
		attnNorm: l.vector(name("attn_norm"), c.Width),
		q:        l.matrix(name("attn_q"), qw, c.Width),
		k:        l.matrix(name("attn_k"), kvw, c.Width),
		v:        l.matrix(name("attn_v"), kvw, c.Width),
		qNorm:    l.vector(name("attn_q_norm"), c.HeadDim),
		kNorm:    l.vector(name("attn_k_norm"), c.HeadDim),
		out:      l.matrix(name("attn_output"), c.Width, qw),
		attnPost: l.vector(name("post_attention_norm"), c.Width),
		ffnNorm:  l.vector(name("ffn_norm"), c.Width),
		gate:     l.matrix(name("ffn_gate"), c.FFN, c.Width),
		up:       l.matrix(name("ffn_up"), c.FFN, c.Width),
		down:     l.matrix(name("ffn_down"), c.Width, c.FFN),
		ffnPost:  l.vector(name("post_ffw_norm"), c.Width),
	}
}

// gemma3Attention is the attention branch of a block: it leaves the residual stream at the norm and returns at the add.
func gemma3Attention(b *graph.Builder, c *Config, w *gemma3Layer, a *graph.Attention, r *graph.Rope, x graph.Buf) graph.Buf {
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
	o = b.BranchNorm(trace.OpAttnPostNorm, o, w.attnPost, c.Eps)
	return b.Add(trace.OpAttnResidual, x, o)
}

// gemma3FeedForward is the feed-forward branch: norm(down(gelu(gate(x)) * up(x))).
func gemma3FeedForward(b *graph.Builder, c *Config, w *gemma3Layer, x graph.Buf) graph.Buf {
	n := b.Norm(trace.OpFFNNorm, x, w.ffnNorm, c.Eps)
	gate := b.MatMul(trace.OpGate, n, w.gate, nil)
	up := b.MatMul(trace.OpUp, n, w.up, nil)
	h := b.GeGLU(trace.OpGeGLU, gate, up)
	down := b.MatMul(trace.OpDown, h, w.down, nil)
	down = b.BranchNorm(trace.OpFFNPostNorm, down, w.ffnPost, c.Eps)
	return b.Add(trace.OpFFNResidual, x, down)
}
