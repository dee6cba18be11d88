// Package graph is the only way a model computes: a list of named ops over named buffers, built once per model and run
// for any batch of tokens. Because every op is a node, every op is a trace point.
//
// It does not know about the files the weights come from, the memory they are put into, or who runs the nodes.
package graph

import (
	"glassbox/engine/tensor"
	"glassbox/trace"
)

// Kind is the arithmetic of a node: what a backend has to implement.
type Kind uint8

// The kinds. Rows are tokens; W is the node's weight, a and b its inputs.
const (
	Embed     Kind = iota // out[t] = row Tokens[t] of W (* Scale)
	RMSNorm               // out[t] = a[t] / sqrt(mean(a[t]²) + Eps) * W (Zhang and Sennrich 2019)
	MatMul                // out[t] = W · a[t] (+ Bias); W has Rows outputs, Cols inputs
	HeadNorm              // RMSNorm of each head of a[t] for itself, in place; W has HeadDim values, the same for all heads
	RoPE                  // a[t] (queries) and b[t] (keys) turned in place by the token's position (Su et al. 2021)
	KVWrite               // a[t] (keys) and b[t] (values) go to the token's place in the KV cache of the layer
	Scores                // out[t][h][j] = Attn.Scale * a[t][h] · K[j][h div group], j = 0..pos(t)
	Softmax               // out[t][h] = softmax(out[t][h][0..pos(t)]) in place
	Mix                   // out[t][h] = sum over j of a[t][h][j] * V[j][h div group]
	Add                   // out[t] = a[t] + b[t]; out is a
	SwiGLU                // out[t] = silu(a[t]) * b[t], silu(z) = z / (1 + exp(-z)); out is a (Shazeer 2020)
	GeGLU                 // out[t] = gelu(a[t]) * b[t], gelu in its tanh form (Hendrycks and Gimpel 2016); out is a
	AllReduce             // out[t] = sum over the shards' out[t], in place
)

// String returns the kind's name.
func (k Kind) String() string {
	return [...]string{"Embed", "RMSNorm", "MatMul", "HeadNorm", "RoPE", "KVWrite", "Scores", "Softmax", "Mix", "Add", "SwiGLU", "GeGLU", "AllReduce"}[k]
}

// Buf is a buffer of the graph: an index into Graph.Bufs, or NoBuf.
type Buf int

// NoBuf is the absent buffer.
const NoBuf Buf = -1

// BufKind says how many rows a buffer has.
type BufKind uint8

// Kinds of buffer.
const (
	PerToken BufKind = iota // one row of Width floats for each token of the batch
	PerOut                  // one row of Width floats for each token whose logits are wanted
	PerKey                  // for each token and head one float for each position up to the token's own, inclusive
)

// BufInfo describes a buffer.
type BufInfo struct {
	Name  string
	Kind  BufKind
	Width int // floats a row; heads for PerKey
}

// Weight is one matrix (or vector: Rows 1) of the model, as stored.
type Weight struct {
	Name       string
	Type       tensor.Type
	Rows, Cols int
	Data       []byte // whole quant blocks, row after row
}

// Size returns the bytes of the weight as stored.
func (w *Weight) Size() int { return w.Rows * w.Type.RowBytes(w.Cols) }

// Attention is the shape of an attention op.
type Attention struct {
	Heads, KVHeads, HeadDim int
	Scale                   float32 // of the scores, 1/sqrt(HeadDim) as a rule
	Window                  int     // keys older than this many positions are masked; 0 = none
}

// Rope is how positions turn queries and keys.
type Rope struct {
	Base    float64
	Dim     int       // of each head that is turned
	Factors []float64 // divide the frequency of pair i, nil = all 1
	Halves  bool      // pairs are (i, i+Dim/2), as in NeoX; else adjacent elements (2i, 2i+1), as in llama
	Scale   float64   // of sines and cosines, so of what is turned: YaRN's attention factor; 0 = 1
}

// Node is one op of the forward pass.
type Node struct {
	Index  int
	Op     trace.OpID
	Kind   Kind
	Layer  int // -1 outside the layers
	A, B   Buf // inputs
	Out    Buf
	W      *Weight
	Bias   *Weight // MatMul, may be nil
	Scale  float32 // Embed, 0 = 1
	Eps    float32 // RMSNorm, HeadNorm
	Attn   *Attention
	Rope   *Rope
	Shards int     // AllReduce: how many sum up
	PC     uintptr // the line of the model that asked for the op
}

// Graph is a model's forward pass.
type Graph struct {
	Layers int
	Vocab  int
	Attn   Attention // of the KV cache: every layer has KVHeads x HeadDim keys and values a token
	Window int       // of the layers that have one; 0 = no layer has
	Nodes  []*Node
	Bufs   []BufInfo
	Logits Buf // PerOut, Width Vocab
}
