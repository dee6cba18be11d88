package graph

import (
	"runtime"

	"glassbox/trace"
)

// Builder puts ops into a graph in the order in which they run. A model's file calls its methods, one a line, so that
// the line of the call is the op's source line.
type Builder struct {
	g     Graph
	layer int
	names map[string]Buf
}

// NewBuilder starts a graph.
func NewBuilder() *Builder { return &Builder{layer: -1, names: map[string]Buf{}} }

// Layer says which layer the following ops belong to; -1 for none.
func (b *Builder) Layer(i int) {
	b.layer = i
	b.g.Layers = max(b.g.Layers, i+1)
}

// buf returns the buffer of a name, made on first use. Layers reuse each other's buffers this way.
func (b *Builder) buf(name string, kind BufKind, width int) Buf {
	if id, ok := b.names[name]; ok {
		return id
	}
	id := Buf(len(b.g.Bufs))
	b.g.Bufs = append(b.g.Bufs, BufInfo{name, kind, width})
	b.names[name] = id
	return id
}

// add appends a node; the caller of the exported method is the op's source line.
//
//go:noinline
func (b *Builder) add(n Node) Buf {
	var pcs [1]uintptr
	runtime.Callers(3, pcs[:])
	n.PC, n.Index, n.Layer = pcs[0], len(b.g.Nodes), b.layer
	b.g.Nodes = append(b.g.Nodes, &n)
	return n.Out
}

// Embed looks the tokens' rows up in w: the residual stream begins.
//
//go:noinline
func (b *Builder) Embed(op trace.OpID, w *Weight) Buf {
	return b.add(Node{Op: op, Kind: Embed, A: NoBuf, B: NoBuf, Out: b.buf("x", PerToken, w.Cols), W: w})
}

// EmbedScaled is Embed with each row multiplied by scale.
//
//go:noinline
func (b *Builder) EmbedScaled(op trace.OpID, w *Weight, scale float32) Buf {
	return b.add(Node{Op: op, Kind: Embed, A: NoBuf, B: NoBuf, Out: b.buf("x", PerToken, w.Cols), W: w, Scale: scale})
}

// Norm is RMSNorm of x into a buffer of its own.
//
//go:noinline
func (b *Builder) Norm(op trace.OpID, x Buf, w *Weight, eps float32) Buf {
	return b.add(Node{Op: op, Kind: RMSNorm, A: x, B: NoBuf, Out: b.buf("norm", PerToken, w.Cols), W: w, Eps: eps})
}

// BranchNorm is RMSNorm of a branch, in place, before it is added to the residual stream.
//
//go:noinline
func (b *Builder) BranchNorm(op trace.OpID, x Buf, w *Weight, eps float32) Buf {
	return b.add(Node{Op: op, Kind: RMSNorm, A: x, B: NoBuf, Out: x, W: w, Eps: eps})
}

// HeadNorm is RMSNorm of each head for itself, in place.
//
//go:noinline
func (b *Builder) HeadNorm(op trace.OpID, x Buf, w *Weight, a *Attention, eps float32) {
	b.add(Node{Op: op, Kind: HeadNorm, A: x, B: NoBuf, Out: x, W: w, Attn: a, Eps: eps})
}

// OutNorm is the last RMSNorm: only the tokens whose logits are wanted go on from here.
//
//go:noinline
func (b *Builder) OutNorm(op trace.OpID, x Buf, w *Weight, eps float32) Buf {
	return b.add(Node{Op: op, Kind: RMSNorm, A: x, B: NoBuf, Out: b.buf("out_norm", PerOut, w.Cols), W: w, Eps: eps})
}

// MatMul multiplies x by w, with bias added where it is not nil.
//
//go:noinline
func (b *Builder) MatMul(op trace.OpID, x Buf, w, bias *Weight) Buf {
	kind := b.g.Bufs[x].Kind
	return b.add(Node{Op: op, Kind: MatMul, A: x, B: NoBuf, Out: b.buf(op.String(), kind, w.Rows), W: w, Bias: bias})
}

// RoPE turns queries and keys in place.
//
//go:noinline
func (b *Builder) RoPE(op trace.OpID, q, k Buf, a *Attention, r *Rope) {
	b.add(Node{Op: op, Kind: RoPE, A: q, B: k, Out: q, Attn: a, Rope: r})
}

// KVWrite puts keys and values into the pages of the layer.
//
//go:noinline
func (b *Builder) KVWrite(op trace.OpID, k, v Buf, a *Attention) {
	b.g.Attn = *a
	b.g.Attn.Window = 0 // the cache keeps all positions: another layer may look at all of them
	b.g.Window = max(b.g.Window, a.Window)
	b.add(Node{Op: op, Kind: KVWrite, A: k, B: v, Out: NoBuf, Attn: a})
}

// Scores multiplies each query with the keys of the positions up to its own.
//
//go:noinline
func (b *Builder) Scores(op trace.OpID, q Buf, a *Attention) Buf {
	return b.add(Node{Op: op, Kind: Scores, A: q, B: NoBuf, Out: b.buf("scores", PerKey, a.Heads), Attn: a})
}

// Softmax turns scores into weights, in place.
//
//go:noinline
func (b *Builder) Softmax(op trace.OpID, s Buf, a *Attention) Buf {
	return b.add(Node{Op: op, Kind: Softmax, A: s, B: NoBuf, Out: s, Attn: a})
}

// Mix sums the values under the weights.
//
//go:noinline
func (b *Builder) Mix(op trace.OpID, p Buf, a *Attention) Buf {
	return b.add(Node{Op: op, Kind: Mix, A: p, B: NoBuf, Out: b.buf("mix", PerToken, a.Heads*a.HeadDim), Attn: a})
}

// Add puts a branch back onto the residual stream, in place.
//
//go:noinline
func (b *Builder) Add(op trace.OpID, x, branch Buf) Buf {
	return b.add(Node{Op: op, Kind: Add, A: x, B: branch, Out: x})
}

// SwiGLU gates up with silu(gate), in place of gate.
//
//go:noinline
func (b *Builder) SwiGLU(op trace.OpID, gate, up Buf) Buf {
	return b.add(Node{Op: op, Kind: SwiGLU, A: gate, B: up, Out: gate})
}

// GeGLU gates up with gelu(gate), in place of gate.
//
//go:noinline
func (b *Builder) GeGLU(op trace.OpID, gate, up Buf) Buf {
	return b.add(Node{Op: op, Kind: GeGLU, A: gate, B: up, Out: gate})
}

// LMHead turns the last norm's rows into logits over the vocabulary.
//
//go:noinline
func (b *Builder) LMHead(op trace.OpID, x Buf, w *Weight) {
	b.g.Vocab = w.Rows
	b.g.Logits = b.add(Node{Op: op, Kind: MatMul, A: x, B: NoBuf, Out: b.buf("logits", PerOut, w.Rows), W: w})
}

// Graph returns what was built.
func (b *Builder) Graph() *Graph { return &b.g }
