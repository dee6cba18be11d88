package graph

import "glassbox/engine/tensor"

// Work is what a node reads, writes and computes for a batch, derived from shapes: the least any implementation must
// do, with each weight read once a pass.
type Work struct {
	Bytes int64 // weights as stored, inputs and outputs as float32, keys and values in the cache's own type
	Flops int64 // a multiply and an add count 2
}

// Shape is what Work needs to know of a batch.
type Shape struct {
	Tokens int   // of the batch
	Out    int   // rows whose logits are wanted
	Keys   int64 // sum over tokens of the positions each attends to (its own included)
	KVRead int64 // sum over sequences of the positions in the cache once this batch is written
	// The same in layers with a window: no more keys than the window has, and no position older than the first token's.
	WindowKeys, WindowRead int64
	KeyType, ValueType     tensor.Type // number formats of the cache
}

// Work derives the node's traffic and arithmetic.
func (n *Node) Work(g *Graph, s Shape) Work {
	rows := int64(s.Tokens)
	if n.Out != NoBuf && g.Bufs[n.Out].Kind == PerOut {
		rows = int64(s.Out)
	}
	width := func(b Buf) int64 { return int64(g.Bufs[b].Width) }
	switch n.Kind {
	case Embed:
		return Work{Bytes: rows * (int64(n.W.Type.RowBytes(n.W.Cols)) + 4*width(n.Out))}
	case RMSNorm, HeadNorm:
		return Work{Bytes: rows*8*width(n.Out) + int64(n.W.Size()), Flops: rows * 4 * width(n.Out)}
	case MatMul:
		r, c := int64(n.W.Rows), int64(n.W.Cols)
		w := Work{Bytes: int64(n.W.Size()) + rows*4*(r+c), Flops: rows * 2 * r * c}
		if n.Bias != nil {
			w.Bytes, w.Flops = w.Bytes+int64(n.Bias.Size()), w.Flops+rows*r
		}
		return w
	case RoPE:
		w := width(n.A) + width(n.B)
		return Work{Bytes: rows * 8 * w, Flops: rows * 3 * w}
	case KVWrite:
		k, v := int64(s.KeyType.RowBytes(n.Attn.HeadDim)), int64(s.ValueType.RowBytes(n.Attn.HeadDim))
		return Work{Bytes: rows * (4*(width(n.A)+width(n.B)) + int64(n.Attn.KVHeads)*(k+v))}
	case Scores, Mix:
		a := n.Attn
		keys, read := n.keys(s)
		t := s.KeyType
		if n.Kind == Mix {
			t = s.ValueType
		}
		kv := read * int64(a.KVHeads*t.RowBytes(a.HeadDim))
		return Work{Bytes: kv + 4*keys*int64(a.Heads) + rows*4*int64(a.Heads*a.HeadDim), Flops: 2 * keys * int64(a.Heads*a.HeadDim)}
	case Softmax:
		keys, _ := n.keys(s)
		return Work{Bytes: 8 * keys * int64(n.Attn.Heads), Flops: 4 * keys * int64(n.Attn.Heads)}
	case Add:
		return Work{Bytes: rows * 12 * width(n.Out), Flops: rows * width(n.Out)}
	case SwiGLU:
		return Work{Bytes: rows * 12 * width(n.Out), Flops: rows * 5 * width(n.Out)}
	case AllReduce: // between shards, in all: each place is sent n-1 times to be summed, and its sum n-1 times back
		return Work{Bytes: rows * 8 * width(n.Out) * int64(n.Shards-1), Flops: rows * width(n.Out) * int64(n.Shards-1)}
	case GeGLU:
		return Work{Bytes: rows * 12 * width(n.Out), Flops: rows * 10 * width(n.Out)}
	}
	return Work{}
}

// keys returns what the node's attention looks at of the batch: see Shape.Keys and KVRead.
func (n *Node) keys(s Shape) (keys, read int64) {
	if n.Attn.Window > 0 {
		return s.WindowKeys, s.WindowRead
	}
	return s.Keys, s.KVRead
}
