package capture

import (
	"fmt"
	"slices"

	"glassbox/engine/graph"
	"glassbox/trace"
)

// tape holds the vectors in and out of every op at one position of one pass: the first decode pass, or until there is one
// the last row of the prefill.
type tape struct {
	on, decode bool
	pass, pos  int
	now        map[graph.Buf][]float32 // the row of each buffer as it is
	in, out    map[int][]float32       // by node
}

// begin tells whether the pass that is about to run is to be kept.
func (p *tape) begin(kind trace.PassKind, index int, at Rows) {
	p.on = at.Out >= 0 && !p.decode
	if !p.on {
		return
	}
	p.decode = kind == trace.Decode
	p.pass, p.pos = index, at.From+at.N-1
	p.now, p.in, p.out = map[graph.Buf][]float32{}, map[int][]float32{}, map[int][]float32{}
}

// node notes what the op read, as the ops before left it, and what it wrote.
func (p *tape) node(g *graph.Graph, n *graph.Node, row func(graph.Buf, int) []float32, at Rows) {
	for _, b := range [...]graph.Buf{n.A, n.B} {
		if b != graph.NoBuf {
			p.in[n.Index] = append(p.in[n.Index], p.now[b]...)
		}
	}
	wrote := []graph.Buf{n.Out}
	if n.Kind == graph.RoPE {
		wrote = []graph.Buf{n.A, n.B} // both are turned in place
	}
	for _, b := range wrote {
		if b == graph.NoBuf {
			continue
		}
		p.now[b] = read(g, b, row, at)
		p.out[n.Index] = append(p.out[n.Index], p.now[b]...)
	}
}

// read copies the row of a buffer that belongs to the request's last token: for scores, those of all heads.
func read(g *graph.Graph, b graph.Buf, row func(graph.Buf, int) []float32, at Rows) []float32 {
	last := at.First + at.N - 1
	switch info := g.Bufs[b]; info.Kind {
	case graph.PerOut:
		return slices.Clone(row(b, at.Out))
	case graph.PerKey:
		var all []float32
		for h := range info.Width {
			all = append(all, row(b, last*info.Width+h)...)
		}
		return all
	}
	return slices.Clone(row(b, last))
}

// arrays returns the vectors, and which pass they are of.
func (p *tape) arrays(g *graph.Graph) []trace.Array {
	if p.in == nil {
		return nil
	}
	out := []trace.Array{{Name: "tape_pass", Shape: []int{2}, Axes: []string{"field"}, Names: []string{"pass", "position"}, Data: []int32{int32(p.pass), int32(p.pos)},
		Meaning: "the pass and the position that tape_in and tape_out are of"}}
	for _, n := range g.Nodes {
		for _, side := range []struct {
			name, verb string
			x          []float32
		}{{"tape_in", "read", p.in[n.Index]}, {"tape_out", "wrote", p.out[n.Index]}} {
			if len(side.x) == 0 {
				continue
			}
			a := trace.Array{Name: fmt.Sprintf("%s/%d/%s", side.name, n.Layer, n.Op), Shape: []int{len(side.x)}, Axes: []string{"width"}, Data: side.x,
				Meaning: fmt.Sprintf("what %s %s in pass %d at position %d", n.Op, side.verb, p.pass, p.pos)}
			if heads, ok := perKey(g, n, side.name == "tape_out"); ok {
				a.Shape, a.Axes = []int{heads, len(side.x) / heads}, []string{"head", "key"}
			}
			out = append(out, a)
		}
	}
	return out
}

// perKey tells whether a node's input or output has a row of keys for each head.
func perKey(g *graph.Graph, n *graph.Node, output bool) (heads int, ok bool) {
	b := n.A
	if output {
		b = n.Out
	}
	if b == graph.NoBuf || g.Bufs[b].Kind != graph.PerKey {
		return 0, false
	}
	return g.Bufs[b].Width, true
}
