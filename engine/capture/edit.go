package capture

import (
	"glassbox/engine/graph"
	"glassbox/trace"
)

// edit is what becomes of one branch, or of one head's piece of a row.
type edit struct {
	lo, hi int       // floats of the row
	mean   []float32 // hi-lo floats; nil: zero
	sum    []float64 // of the prompt's rows so far; nil: no mean is wanted
}

// editor replaces the outputs of parts while a request's passes run. Where a mean is wanted, a first run of the prompt
// changes nothing and measures.
type editor struct {
	prompt    int
	measuring bool
	next      []int           // by node: the position that is summed up next: rows that come again count once
	edits     map[int][]*edit // by index of the node whose output is changed
}

// newEditor finds the nodes: a head is changed in the output of the mix, a branch in that of its last op before the add.
func newEditor(g *graph.Graph, a Ablation, prompt int) *editor {
	e := &editor{prompt: prompt, measuring: a.Means(), next: make([]int, len(g.Nodes)), edits: map[int][]*edit{}}
	for _, whole := range a.parts {
		for _, p := range whole.split() {
			for _, n := range g.Nodes {
				if n.Layer != p.Layer || !p.at(g, n) {
					continue
				}
				one := &edit{hi: g.Bufs[n.Out].Width}
				if p.Kind == Head {
					one.lo, one.hi = p.Head*n.Attn.HeadDim, (p.Head+1)*n.Attn.HeadDim
				}
				if p.Mean {
					one.sum = make([]float64, one.hi-one.lo)
				}
				e.edits[n.Index] = append(e.edits[n.Index], one)
			}
		}
	}
	return e
}

// node changes the request's rows of a node's output, or sums them up.
func (e *editor) node(n *graph.Node, row func(graph.Buf, int) []float32, at Rows) {
	edits := e.edits[n.Index]
	if len(edits) == 0 {
		return
	}
	for i := range at.N {
		x := row(n.Out, at.First+i)
		if e.measuring {
			e.measure(n.Index, edits, x, at.From+i)
			continue
		}
		for _, one := range edits {
			part := x[one.lo:one.hi]
			if one.mean == nil {
				clear(part)
			} else {
				copy(part, one.mean)
			}
		}
	}
}

// measure adds a row of the prompt to the sums.
func (e *editor) measure(node int, edits []*edit, x []float32, pos int) {
	if pos != e.next[node] || pos >= e.prompt {
		return
	}
	e.next[node]++
	for _, one := range edits {
		for j := range one.sum {
			one.sum[j] += float64(x[one.lo+j])
		}
	}
}

// measured turns sums into means.
func (e *editor) measured() {
	e.measuring = false
	for _, edits := range e.edits {
		for _, one := range edits {
			if one.sum == nil {
				continue
			}
			one.mean = make([]float32, len(one.sum))
			for j, v := range one.sum {
				one.mean[j] = float32(v / float64(e.prompt))
			}
		}
	}
}

// branch tells whether all of the node's output is replaced, so that its inputs no longer reach the stream.
func (e *editor) branch(g *graph.Graph, n *graph.Node) bool {
	if e == nil {
		return false
	}
	for _, one := range e.edits[n.Index] {
		if one.lo == 0 && one.hi == g.Bufs[n.Out].Width && n.Kind != graph.Mix {
			return true
		}
	}
	return false
}

// at tells whether the part is changed in the node's output.
func (p Part) at(g *graph.Graph, n *graph.Node) bool {
	switch p.Kind {
	case Head:
		return n.Op == trace.OpMix
	case Attn:
		return n == branchOf(g, p.Layer, trace.OpAttnResidual)
	case FFN:
		return n == branchOf(g, p.Layer, trace.OpFFNResidual)
	}
	return false
}

// branchOf returns the op that is the last to write the branch which a layer's residual add adds: its last product, or the
// norm after it; nil where there is no such add.
func branchOf(g *graph.Graph, layer int, add trace.OpID) *graph.Node {
	var last *graph.Node
	branch := graph.NoBuf
	for i := len(g.Nodes) - 1; i >= 0 && last == nil; i-- {
		switch n := g.Nodes[i]; {
		case n.Layer == layer && n.Op == add:
			branch = n.B
		case n.Layer == layer && branch != graph.NoBuf && n.Out == branch:
			last = n
		}
	}
	return last
}
