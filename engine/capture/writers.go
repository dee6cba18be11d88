package capture

import (
	"fmt"
	"math"

	"glassbox/engine/graph"
	"glassbox/engine/tensor"
	"glassbox/trace"
)

// parts keeps, for each position that a token of the answer was drawn from, what was written to the residual stream: the
// embedding; and of each layer the mix (every head's output before the projection), attention's branch, and feed-forward's.
type parts struct {
	width, mix int
	rows       [][]float32 // by output token: width, then layers x (mix + 2*width)
	layers     int
}

func newParts(g *graph.Graph, width int) parts {
	return parts{width: width, mix: g.Attn.Heads * g.Attn.HeadDim, layers: g.Layers}
}

// floats returns the length of a row.
func (p *parts) floats() int { return p.width + p.layers*(p.mix+2*p.width) }

// put copies a node's output at output token t. The mix of a layer whose branch is replaced reaches nothing: it counts 0.
func (p *parts) put(n *graph.Node, t int, x []float32, replaced []bool) {
	p.rows = grow(p.rows, t, p.floats())
	switch n.Op {
	case trace.OpEmbed:
		copy(p.embed(t), x)
	case trace.OpMix:
		copy(p.heads(t, n.Layer), x)
	case trace.OpAttnOut:
		copy(p.branch(t, n.Layer), x)
		if replaced[n.Layer] {
			clear(p.heads(t, n.Layer))
		}
	case trace.OpDown:
		copy(p.ffn(t, n.Layer), x)
	}
}

func (p *parts) embed(t int) []float32 { return p.rows[t][:p.width] }

func (p *parts) layer(t, l int) []float32 {
	size := p.mix + 2*p.width
	return p.rows[t][p.width+l*size:][:size]
}

func (p *parts) heads(t, l int) []float32  { return p.layer(t, l)[:p.mix] }
func (p *parts) branch(t, l int) []float32 { return p.layer(t, l)[p.mix:][:p.width] }
func (p *parts) ffn(t, l int) []float32    { return p.layer(t, l)[p.mix+p.width:] }

// component is a row of attr: what it is, and where it stands among the rows.
type component struct{ embed, heads, rest, ffn int }

// components names the rows of attr: the embedding; of each layer its heads, what else attention's branch holds (a bias,
// or what stands in for the branch) where there is any, and feed-forward.
func (l *lens) components(heads int) (names []string, at []component) {
	names = []string{"embed"}
	for i := range l.layers {
		c := component{heads: len(names), rest: -1}
		for h := range heads {
			names = append(names, Part{Layer: i, Head: h}.String())
		}
		if l.rest[i] {
			c.rest = len(names)
			names = append(names, fmt.Sprintf("L%d.attn", i))
		}
		c.ffn = len(names)
		names = append(names, fmt.Sprintf("L%d.ffn", i))
		at = append(at, c)
	}
	return names, at
}

// writers works out who wrote the answer: with the norm's scale of the position frozen, a word's logit is a sum over what
// was written to the stream (direct logit attribution: Elhage et al. 2021). Heads are told apart through the columns of
// the output projection that belong to them.
func (l *lens) writers(answer []int32) []trace.Array {
	count := min(len(answer), len(l.parts.rows))
	head := l.g.Attn.HeadDim
	names, at := l.components(l.g.Attn.Heads)
	words := [2][]int32{answer[:count], l.second[:count]}
	dirs := l.directions(words, count)
	var sums [2][]float32
	for w := range sums {
		sums[w] = make([]float32, len(names)*count)
		for t := range count {
			sums[w][t] = float32(dot(dirs[w][t], l.parts.embed(t)))
		}
	}
	matrix := make([]float32, 0)
	for i, c := range at {
		out := l.find(trace.OpAttnOut, i).W
		matrix = expand(out, matrix)
		parallel(2*count, func(j int) {
			w, t := j%2, j/2
			put := func(row int, v float64) { sums[w][row*count+t] = float32(v) }
			g := dirs[w][t]
			through := project(matrix, g, out.Cols)
			mix, all := l.parts.heads(t, i), 0.0
			for h := range l.g.Attn.Heads {
				v := dot(through[h*head:(h+1)*head], mix[h*head:])
				put(c.heads+h, v)
				all += v
			}
			if c.rest >= 0 {
				put(c.rest, dot(g, l.parts.branch(t, i))-all)
			}
			put(c.ffn, dot(g, l.parts.ffn(t, i)))
		})
	}
	return l.attr(names, sums, words, count)
}

// attr wraps the sums.
func (l *lens) attr(names []string, sums [2][]float32, words [2][]int32, count int) []trace.Array {
	shape, axes := []int{len(names), count}, []string{"component", "output_token"}
	both := []int{2, count}
	which := []string{"said", "second"}
	ids := append(append(make([]int32, 0, 2*count), words[0]...), words[1]...)
	logits := append(append(make([]float32, 0, 2*count), l.chosen[:count]...), l.seconds[:count]...)
	return []trace.Array{
		{Name: "attr", Shape: shape, Axes: axes, Names: names, Data: sums[0],
			Meaning: "what each component adds to the logit of the word that was said, the last norm's scale of that position frozen; a column sums to the logit"},
		{Name: "attr_second", Shape: shape, Axes: axes, Names: names, Data: sums[1],
			Meaning: "the same for the best word beside it; attr - attr_second is what decided between the two"},
		{Name: "attr_ids", Shape: both, Axes: []string{"word", "output_token"}, Names: which, Data: ids, Meaning: "the words of attr and of attr_second"},
		{Name: "attr_logit", Shape: both, Axes: []string{"word", "output_token"}, Names: which, Data: logits, Meaning: "the engine's logits of attr_ids, before sampling"},
	}
}

// directions returns, for both words of each output token, the direction in the stream whose product with the last row
// is the word's logit: norm weight times the word's row of the head, over the root mean square of the row.
func (l *lens) directions(words [2][]int32, count int) (dirs [2][][]float64) {
	norm := l.find(trace.OpOutNorm, -1)
	head := l.find(trace.OpLMHead, -1).W
	weight := expand(norm.W, nil)
	row := make([]float32, l.width)
	for w := range dirs {
		dirs[w] = make([][]float64, count)
		for t := range dirs[w] {
			x := l.stream(2*l.layers-1, l.prompt-1+t)
			sum := 0.0
			for _, v := range x {
				sum += float64(v) * float64(v)
			}
			scale := 1 / math.Sqrt(sum/float64(len(x))+float64(norm.Eps))
			expandRow(head, int(words[w][t]), row)
			g := make([]float64, l.width)
			for j := range g {
				g[j] = float64(weight[j]) * float64(row[j]) * scale
			}
			dirs[w][t] = g
		}
	}
	return dirs
}

// find returns an op of a layer.
func (l *lens) find(op trace.OpID, layer int) *graph.Node {
	for _, n := range l.g.Nodes {
		if n.Op == op && n.Layer == layer {
			return n
		}
	}
	return nil
}

// project returns g times the matrix, which has len(g) rows of cols floats.
func project(matrix []float32, g []float64, cols int) []float64 {
	out := make([]float64, cols)
	for r, v := range g {
		for c, m := range matrix[r*cols : (r+1)*cols] {
			out[c] += v * float64(m)
		}
	}
	return out
}

// dot multiplies g with the start of x.
func dot(g []float64, x []float32) (sum float64) {
	for i, v := range g {
		sum += v * float64(x[i])
	}
	return sum
}

// expand returns all values of a weight, in dst where it is large enough.
func expand(w *graph.Weight, dst []float32) []float32 {
	if cap(dst) < w.Rows*w.Cols {
		dst = make([]float32, w.Rows*w.Cols)
	}
	dst = dst[:w.Rows*w.Cols]
	for r := range w.Rows {
		expandRow(w, r, dst[r*w.Cols:(r+1)*w.Cols])
	}
	return dst
}

// expandRow expands one row. Types and sizes were checked when the model was loaded, so that it cannot fail.
func expandRow(w *graph.Weight, r int, dst []float32) {
	n := w.Type.RowBytes(w.Cols)
	_ = tensor.Dequant(w.Type, dst, w.Data[r*n:(r+1)*n])
}
