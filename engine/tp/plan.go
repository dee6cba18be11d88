package tp

import (
	"fmt"
	"runtime"

	"glassbox/engine/graph"
	"glassbox/trace"
)

// Range is [From, To).
type Range struct{ From, To int }

func (r Range) len() int { return r.To - r.From }

// Plan says which part of a model each shard has.
type Plan struct {
	Heads, KVHeads int            // of each shard
	FFN            []Range        // columns of the feed-forward
	Vocab          []Range        // rows of the head
	Graphs         []*graph.Graph // one a shard

	copied []*graph.Weight
}

// Bytes returns the weights that shard r holds for itself, and of the embedding, whose rows are looked up in the file.
func (p *Plan) Bytes(r int) (own, shared int64) {
	seen := map[*graph.Weight]bool{}
	for _, n := range p.Graphs[r].Nodes {
		for _, w := range [...]*graph.Weight{n.W, n.Bias} {
			if w == nil || seen[w] {
				continue
			}
			if seen[w] = true; n.Kind == graph.Embed {
				shared += int64(w.Size())
			} else {
				own += int64(w.Size())
			}
		}
	}
	return own, shared
}

// Split cuts a graph into n. It is refused where heads cannot be dealt out evenly, or a cut would go through a block of
// quantised columns.
func Split(g *graph.Graph, n int) (*Plan, error) {
	a := g.Attn
	switch {
	case n < 1:
		return nil, fmt.Errorf("shards: wanted 1 or more, found %d", n)
	case a.KVHeads%n != 0:
		return nil, fmt.Errorf("shards: wanted a divisor of this model's %d KV heads, found %d: each shard needs whole KV heads with their query heads", a.KVHeads, n)
	}
	p := &Plan{Heads: a.Heads / n, KVHeads: a.KVHeads / n, Vocab: cut(g.Vocab, 1, n)}
	if err := p.cutFFN(g, n); err != nil {
		return nil, err
	}
	for r := range n {
		s := &splitter{p: p, g: g, n: n, r: r, parts: map[graph.Buf]Range{}, attn: map[*graph.Attention]*graph.Attention{}}
		if err := s.run(); err != nil {
			return nil, err
		}
		p.Graphs = append(p.Graphs, &s.out)
	}
	return p, nil
}

// cut deals total out in n neighbouring parts, at multiples of unit, as evenly as that allows.
func cut(total, unit, n int) []Range {
	out := make([]Range, n)
	for r := range out {
		out[r] = Range{total / unit * r / n * unit, total / unit * (r + 1) / n * unit}
	}
	out[n-1].To = total
	return out
}

// cutFFN cuts the feed-forward where the blocks of the down projection's columns end.
func (p *Plan) cutFFN(g *graph.Graph, n int) error {
	width, unit := 0, 1
	for _, node := range g.Nodes {
		if node.Op == trace.OpDown {
			width, unit = node.W.Cols, max(unit, node.W.Type.BlockSize()) // blocks are of 1, 32 or 256: the largest is a multiple of all
		}
	}
	if width/unit < n {
		return fmt.Errorf("shards: wanted at most %d, found %d: the feed-forward has %d columns in blocks of %d", width/unit, n, width, unit)
	}
	p.FFN = cut(width, unit, n)
	return nil
}

// forgetCopies lets the columns go that were copied out for the shards, once backends have packed them.
func (p *Plan) forgetCopies() {
	for _, w := range p.copied {
		w.Data = nil
	}
}

// splitter makes one shard's graph.
type splitter struct {
	p     *Plan
	g     *graph.Graph
	n, r  int
	out   graph.Graph
	parts map[graph.Buf]Range // buffers of which the shard has only a part
	attn  map[*graph.Attention]*graph.Attention
}

func (s *splitter) run() error {
	s.out = graph.Graph{Layers: s.g.Layers, Vocab: s.g.Vocab, Attn: *s.attention(&s.g.Attn), Window: s.g.Window, Logits: s.g.Logits}
	s.out.Bufs = append(s.out.Bufs, s.g.Bufs...)
	for _, node := range s.g.Nodes {
		n := *node
		if n.Attn != nil {
			n.Attn = s.attention(n.Attn)
		}
		partial, err := s.node(&n)
		if err != nil {
			return err
		}
		s.add(n)
		if partial {
			s.reduce(&n)
		}
	}
	for b, part := range s.parts {
		s.out.Bufs[b].Width = part.len()
	}
	return nil
}

func (s *splitter) add(n graph.Node) {
	n.Index = len(s.out.Nodes)
	s.out.Nodes = append(s.out.Nodes, &n)
}

// reduce adds the op that sums what the shards have of a product.
//
//go:noinline
func (s *splitter) reduce(n *graph.Node) {
	var pcs [1]uintptr
	runtime.Callers(1, pcs[:])
	s.add(graph.Node{Op: trace.OpAllReduce, Kind: graph.AllReduce, Layer: n.Layer, A: n.Out, B: graph.NoBuf, Out: n.Out, Shards: s.n, PC: pcs[0]})
}

// attention returns the shard's part of an attention's shape.
func (s *splitter) attention(a *graph.Attention) *graph.Attention {
	if s.attn[a] == nil {
		c := *a
		c.Heads, c.KVHeads = a.Heads/s.n, a.KVHeads/s.n
		s.attn[a] = &c
	}
	return s.attn[a]
}

// node changes a node to the shard's part of it, and tells whether its output has to be summed.
func (s *splitter) node(n *graph.Node) (partial bool, err error) {
	switch n.Kind {
	case graph.MatMul:
		if part, ok := s.parts[n.A]; ok {
			return true, s.columns(n, part)
		}
		return false, s.rows(n)
	case graph.Scores:
		s.parts[n.Out] = Range{s.r * s.p.Heads, (s.r + 1) * s.p.Heads}
	case graph.Mix:
		s.parts[n.Out] = s.heads(s.p.Heads, n.Attn.HeadDim)
	}
	return false, nil
}

// heads are the places of the shard's heads, of which each shard has per.
func (s *splitter) heads(per, dim int) Range { return Range{s.r * per * dim, (s.r + 1) * per * dim} }

// rows takes the shard's outputs of a product whose input every shard has.
func (s *splitter) rows(n *graph.Node) error {
	var part Range
	switch n.Op {
	case trace.OpAttnQ:
		part = s.heads(s.p.Heads, s.g.Attn.HeadDim)
	case trace.OpAttnK, trace.OpAttnV:
		part = s.heads(s.p.KVHeads, s.g.Attn.HeadDim)
	case trace.OpGate, trace.OpUp:
		part = s.p.FFN[s.r]
	case trace.OpLMHead:
		part = s.p.Vocab[s.r]
	default:
		return fmt.Errorf("shards: op %s of layer %d: wanted a product that is known how to cut, found this one: run the model with --shards 1", n.Op, n.Layer)
	}
	w, size := *n.W, n.W.Type.RowBytes(n.W.Cols)
	w.Rows, w.Data = part.len(), n.W.Data[part.From*size:part.To*size]
	n.W = &w
	if n.Bias != nil {
		b, one := *n.Bias, n.Bias.Size()/n.Bias.Cols
		if n.Bias.Type.BlockSize() != 1 {
			return fmt.Errorf("shards: tensor %s: wanted a bias of single numbers, found %v: run the model with --shards 1", b.Name, b.Type)
		}
		b.Cols, b.Data = part.len(), n.Bias.Data[part.From*one:part.To*one]
		n.Bias = &b
	}
	s.parts[n.Out] = part
	return nil
}

// columns takes the shard's inputs of a product: what comes out is a part of the sum. A bias is added by the first alone.
func (s *splitter) columns(n *graph.Node, part Range) error {
	t := n.W.Type
	if size := t.BlockSize(); part.From%size != 0 || part.len()%size != 0 {
		return fmt.Errorf("shards: tensor %s: wanted cuts at blocks of %d columns (%v), found one that gives a shard columns %d to %d: choose fewer shards, or a file of another quantisation", n.W.Name, size, t, part.From, part.To-1)
	}
	w := *n.W
	whole, from, size := t.RowBytes(n.W.Cols), t.RowBytes(part.From), t.RowBytes(part.len())
	w.Cols, w.Data = part.len(), make([]byte, 0, n.W.Rows*size)
	for r := range n.W.Rows {
		w.Data = append(w.Data, n.W.Data[r*whole+from:][:size]...)
	}
	n.W = &w
	s.p.copied = append(s.p.copied, n.W)
	if s.r > 0 {
		n.Bias = nil
	}
	return nil
}
