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
// Where a branch is normed before it is added, the mix is kept times that norm's scale, which makes a head's share linear.
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
	case trace.OpAttnPostNorm:
		scale := float32(rmsScale(p.branch(t, n.Layer), n.Eps))
		for i := range p.heads(t, n.Layer) {
			p.heads(t, n.Layer)[i] *= scale
		}
		copy(p.branch(t, n.Layer), x)
	case trace.OpDown, trace.OpFFNPostNorm:
		copy(p.ffn(t, n.Layer), x)
	}
}

// rmsScale is what a root-mean-square norm multiplies a row with.
func rmsScale(x []float32, eps float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return 1 / math.Sqrt(sum/float64(len(x))+float64(eps))
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
type component struct{ heads, rest, ffn int }

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

// shares is what each component adds to the logits of some words of each output token.
type shares struct {
	names []string
	words [][]int32   // by word, output token
	sums  [][]float32 // by word: component x output token
}

// writers works out who wrote the answer: with the norm's scale of the position frozen, a word's logit is a sum over what
// was written to the stream (direct logit attribution: Elhage et al. 2021). Heads are told apart through the columns of
// the output projection that belong to them. Of each output token it asks for the leading words and the word that was
// said.
func (l *lens) writers(answer []int32) []trace.Array {
	count := min(len(answer), len(l.parts.rows))
	names, at := l.components(l.g.Attn.Heads)
	s := shares{names: names, words: make([][]int32, l.ranks+1), sums: make([][]float32, l.ranks+1)}
	for w := range s.words {
		s.words[w], s.sums[w] = make([]int32, count), make([]float32, len(names)*count)
		for t := range count {
			s.words[w][t] = answer[t]
			if w < l.ranks {
				s.words[w][t] = l.leading(t)[w]
			}
		}
	}
	dirs := l.directions(s.words, count)
	put := func(row, t int, x []float64) {
		for w := range dirs {
			s.sums[w][row*count+t] = float32(dot(dirs[w][t], x))
		}
	}
	parallel(count, func(t int) { put(0, t, doubles(l.parts.embed(t))) })
	matrix := make([]float32, 0)
	for i, c := range at {
		out := l.find(trace.OpAttnOut, i).W
		matrix = expand(out, matrix)
		if n := l.find(trace.OpAttnPostNorm, i); n != nil {
			scaleRows(matrix, out.Cols, expand(n.W, nil))
		}
		parallel(count, func(t int) {
			rest := doubles(l.parts.branch(t, i))
			for h := range l.g.Attn.Heads {
				wrote := through(matrix, out.Cols, h, l.parts.heads(t, i)[h*l.g.Attn.HeadDim:][:l.g.Attn.HeadDim])
				put(c.heads+h, t, wrote)
				for j, v := range wrote {
					rest[j] -= v
				}
			}
			if c.rest >= 0 {
				put(c.rest, t, rest)
			}
			put(c.ffn, t, doubles(l.parts.ffn(t, i)))
		})
	}
	return append(l.attr(&s, count), l.attrTop(&s, count)...)
}

// attr wraps the shares of the word that was said and of the best one beside it.
func (l *lens) attr(s *shares, count int) []trace.Array {
	shape, axes := []int{len(s.names), count}, []string{"component", "output_token"}
	said, second := l.ranks, make([]float32, len(s.names)*count)
	both := []int{2, count}
	which := []string{"said", "second"}
	ids, logits := make([]int32, 2*count), make([]float32, 2*count)
	for t := range count {
		ids[t], logits[t] = s.words[said][t], l.chosen[t]
		w := 0
		if w+1 < l.ranks && l.leading(t)[w] == s.words[said][t] {
			w++
		}
		ids[count+t], logits[count+t] = l.leading(t)[w], l.topsAt[t*l.ranks+w]
		for c := range s.names {
			second[c*count+t] = s.sums[w][c*count+t]
		}
	}
	return []trace.Array{
		{Name: "attr", Shape: shape, Axes: axes, Names: s.names, Data: s.sums[said],
			Meaning: "what each component adds to the logit of the word that was said, the last norm's scale of that position frozen; a column sums to the logit"},
		{Name: "attr_second", Shape: shape, Axes: axes, Names: s.names, Data: second,
			Meaning: "the same for the best word beside it; attr - attr_second is what decided between the two"},
		{Name: "attr_ids", Shape: both, Axes: []string{"word", "output_token"}, Names: which, Data: ids, Meaning: "the words of attr and of attr_second"},
		{Name: "attr_logit", Shape: both, Axes: []string{"word", "output_token"}, Names: which, Data: logits, Meaning: "the engine's logits of attr_ids, before sampling"},
	}
}

// attrTop wraps the shares of the leading words.
func (l *lens) attrTop(s *shares, count int) []trace.Array {
	data := make([]float32, 0, l.ranks*len(s.names)*count)
	for _, sums := range s.sums[:l.ranks] {
		data = append(data, sums...)
	}
	ranked, axes := []int{count, l.ranks}, []string{"output_token", "rank"}
	return []trace.Array{
		{Name: "attr_top", Shape: []int{l.ranks, len(s.names), count}, Axes: []string{"rank", "component", "output_token"}, Data: data,
			Meaning: "what each component (those of attr, in its order) adds to the logits of the leading words, best first; the difference of two ranks is what decided between their words"},
		{Name: "attr_top_ids", Shape: ranked, Axes: axes, Data: l.tops[:count*l.ranks], Meaning: "the words of attr_top"},
		{Name: "attr_top_logit", Shape: ranked, Axes: axes, Data: l.topsAt[:count*l.ranks], Meaning: "the engine's logits of attr_top_ids, before sampling"},
	}
}

// directions returns, for each word of each output token, the direction in the stream whose product with the last row
// is the word's logit: norm weight times the word's row of the head, over the root mean square of the row.
func (l *lens) directions(words [][]int32, count int) [][][]float64 {
	norm := l.find(trace.OpOutNorm, -1)
	head := l.find(trace.OpLMHead, -1).W
	weight := expand(norm.W, nil)
	row := make([]float32, l.width)
	dirs := make([][][]float64, len(words))
	for w := range dirs {
		dirs[w] = make([][]float64, count)
		for t := range dirs[w] {
			x := l.stream(2*l.layers-1, l.prompt-1+t)
			scale := rmsScale(x, norm.Eps)
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

// through returns what a head writes to the stream: its columns of the output projection times its mix.
func through(matrix []float32, cols, head int, mix []float32) []float64 {
	x, out := doubles(mix), make([]float64, len(matrix)/cols)
	for r := range out {
		sum := 0.0
		for c, m := range matrix[r*cols+head*len(x):][:len(x)] {
			sum += float64(m) * x[c]
		}
		out[r] = sum
	}
	return out
}

// scaleRows multiplies each row of a matrix with its own factor.
func scaleRows(matrix []float32, cols int, by []float32) {
	for r, f := range by {
		for c := range matrix[r*cols : (r+1)*cols] {
			matrix[r*cols+c] *= f
		}
	}
}

func doubles(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

func dot(g, x []float64) (sum float64) {
	for i, v := range g {
		sum += v * x[i]
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
