package ref

import (
	"math"

	"glassbox/engine/graph"
	"glassbox/engine/kv"
	"glassbox/engine/tensor"
)

// share returns part p of n of the indices below total.
func share(total, p, n int) (int, int) { return total * p / n, total * (p + 1) / n }

// rows returns how many rows the node works on, and the token of the batch that row i is.
func (b *Backend) rows(n *graph.Node) (int, func(i int) int) {
	if b.g.Bufs[n.Out].Kind == graph.PerOut && b.g.Bufs[n.A].Kind == graph.PerToken {
		return len(b.batch.Out), func(i int) int { return int(b.batch.Out[i]) }
	}
	if b.g.Bufs[n.Out].Kind == graph.PerOut {
		return len(b.batch.Out), func(i int) int { return i }
	}
	return len(b.batch.Tokens), func(i int) int { return i }
}

// weightRow expands a row of a weight.
func weightRow(w *graph.Weight, r int, dst []float32) {
	n := w.Type.RowBytes(w.Cols)
	if err := tensor.Dequant(w.Type, dst, w.Data[r*n:(r+1)*n]); err != nil {
		panic(err) // package model checked types and sizes
	}
}

// embed copies the tokens' rows of the embedding matrix, and multiplies them where the model wants it.
func embed(b *Backend, n *graph.Node, part, parts int) {
	lo, hi := share(len(b.batch.Tokens), part, parts)
	for t := lo; t < hi; t++ {
		out := b.row(n.Out, t)
		weightRow(n.W, int(b.batch.Tokens[t]), out)
		if n.Scale != 0 {
			for i := range out {
				out[i] *= n.Scale
			}
		}
	}
}

// rmsNorm divides each row by its root mean square and multiplies by the weight.
func rmsNorm(b *Backend, n *graph.Node, part, parts int) {
	w := make([]float32, n.W.Cols)
	weightRow(n.W, 0, w)
	total, token := b.rows(n)
	lo, hi := share(total, part, parts)
	for i := lo; i < hi; i++ {
		norm(b.row(n.Out, i), b.row(n.A, token(i)), w, n.Eps)
	}
}

// norm is RMSNorm of one vector; out may be x.
func norm(out, x, w []float32, eps float32) {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	scale := 1 / math.Sqrt(sum/float64(len(x))+float64(eps))
	for j, v := range x {
		out[j] = float32(float64(v) * scale * float64(w[j]))
	}
}

// headNorm is RMSNorm of each head for itself, all with the same weight.
func headNorm(b *Backend, n *graph.Node, part, parts int) {
	w := make([]float32, n.W.Cols)
	weightRow(n.W, 0, w)
	lo, hi := share(len(b.batch.Tokens), part, parts)
	for t := lo; t < hi; t++ {
		row := b.row(n.Out, t)
		for h := 0; h < len(row); h += len(w) {
			norm(row[h:h+len(w)], row[h:h+len(w)], w, n.Eps)
		}
	}
}

// matMul multiplies each row by the weight: out[t][r] = sum over c of W[r][c] * x[t][c], plus the bias.
func matMul(b *Backend, n *graph.Node, part, parts int) {
	total, token := b.rows(n)
	cols := n.W.Cols
	x := make([]float64, total*cols)
	for i := range total {
		for c, v := range b.row(n.A, token(i)) {
			x[i*cols+c] = float64(v)
		}
	}
	bias := make([]float32, n.W.Rows)
	if n.Bias != nil {
		weightRow(n.Bias, 0, bias)
	}
	w32, w := make([]float32, cols), make([]float64, cols)
	lo, hi := share(n.W.Rows, part, parts)
	for r := lo; r < hi; r++ {
		weightRow(n.W, r, w32)
		for c, v := range w32 {
			w[c] = float64(v)
		}
		for i := 0; i < total; i += 8 {
			for j, sum := range dots(w, x[i*cols:], min(8, total-i)) {
				if i+j < total {
					b.row(n.Out, i+j)[r] = float32(sum + float64(bias[r]))
				}
			}
		}
	}
}

// dots multiplies w with n vectors that lie one after the other in x. Each sum runs from the first element to the last,
// so it does not depend on its neighbours; eight run side by side because one alone would wait for its own additions.
func dots(w, x []float64, n int) (sums [8]float64) {
	c := len(w)
	if n < 8 {
		for j := range n {
			for i, v := range x[j*c : (j+1)*c] {
				sums[j] += w[i] * v
			}
		}
		return sums
	}
	x0, x1, x2, x3 := x[:c], x[c:2*c], x[2*c:3*c], x[3*c:4*c]
	x4, x5, x6, x7 := x[4*c:5*c], x[5*c:6*c], x[6*c:7*c], x[7*c:8*c]
	var s0, s1, s2, s3, s4, s5, s6, s7 float64
	for i, v := range w {
		s0 += v * x0[i]
		s1 += v * x1[i]
		s2 += v * x2[i]
		s3 += v * x3[i]
		s4 += v * x4[i]
		s5 += v * x5[i]
		s6 += v * x6[i]
		s7 += v * x7[i]
	}
	return [8]float64{s0, s1, s2, s3, s4, s5, s6, s7}
}

// rope turns queries and keys: pair i of each head by the angle position / Base^(2i/Dim).
func rope(b *Backend, n *graph.Node, part, parts int) {
	lo, hi := share(len(b.batch.Tokens), part, parts)
	for t := lo; t < hi; t++ {
		for _, buf := range []graph.Buf{n.A, n.B} {
			row := b.row(buf, t)
			for h := 0; h < len(row); h += n.Attn.HeadDim {
				turn(row[h:h+n.Attn.HeadDim], int(b.batch.Pos[t]), n.Rope)
			}
		}
	}
}

// turn rotates the pairs of one head.
func turn(x []float32, pos int, r *graph.Rope) {
	half := r.Dim / 2
	for i := range half {
		freq := math.Pow(r.Base, -2*float64(i)/float64(r.Dim))
		if r.Factors != nil {
			freq /= r.Factors[i]
		}
		sin, cos := math.Sincos(float64(pos) * freq)
		if r.Scale != 0 {
			sin, cos = sin*r.Scale, cos*r.Scale
		}
		p, q := 2*i, 2*i+1
		if r.Halves {
			p, q = i, i+half
		}
		a, c := float64(x[p]), float64(x[q])
		x[p], x[q] = float32(a*cos-c*sin), float32(a*sin+c*cos)
	}
}

// page returns the keys (or values) of a page in a layer, made on first use.
func (b *Backend) page(store [][]float32, layer int, p kv.Page) []float32 {
	i := layer*b.o.Pages + int(p)
	if store[i] == nil {
		store[i] = make([]float32, b.g.Attn.KVHeads*kv.PageTokens*b.g.Attn.HeadDim)
	}
	return store[i]
}

// slot returns the vector of KV head h at a position of the sequence that token t is of.
func (b *Backend) slot(store [][]float32, layer, t, pos, h int) []float32 {
	pages := b.batch.Seqs[b.batch.Seq[t]].Pages
	d := b.g.Attn.HeadDim
	off := (h*kv.PageTokens + pos%kv.PageTokens) * d
	return b.page(store, layer, pages[pos/kv.PageTokens])[off : off+d]
}

// CopyPage copies a page's keys and values in all layers.
func (b *Backend) CopyPage(from, to kv.Page) {
	for layer := range b.g.Layers {
		for _, store := range [][][]float32{b.keys, b.values} {
			copy(b.page(store, layer, to), b.page(store, layer, from))
		}
	}
}

// kvWrite puts keys and values at the tokens' positions. One part does it all: parts could share a page.
func kvWrite(b *Backend, n *graph.Node, part, _ int) {
	if part != 0 {
		return
	}
	d := n.Attn.HeadDim
	for t, pos := range b.batch.Pos {
		for h := range n.Attn.KVHeads {
			round(b.kv.Keys, b.slot(b.keys, n.Layer, t, int(pos), h), b.row(n.A, t)[h*d:(h+1)*d])
			round(b.kv.Values, b.slot(b.values, n.Layer, t, int(pos), h), b.row(n.B, t)[h*d:(h+1)*d])
		}
	}
}

// round gives dst the values that x has once it was stored in a number format.
func round(f tensor.Type, dst, x []float32) {
	if f == tensor.F32 {
		copy(dst, x)
		return
	}
	b := make([]byte, f.RowBytes(len(x)))
	if err := tensor.Quantize(f, b, x); err != nil { // infinite or no numbers: stay what they are
		copy(dst, x)
		return
	}
	if err := tensor.Dequant(f, dst, b); err != nil {
		panic(err) // backend.KV.Or checked the sizes
	}
}

// scores multiplies each query head with the keys of its KV head, at every position up to its own.
func scores(b *Backend, n *graph.Node, part, parts int) {
	d, group := n.Attn.HeadDim, n.Attn.Heads/n.Attn.KVHeads
	lo, hi := share(len(b.batch.Tokens), part, parts)
	for t := lo; t < hi; t++ {
		q := b.row(n.A, t)
		for h := range n.Attn.Heads {
			out := b.keyRow(n.Out, t, h)
			for j := range out {
				if n.Attn.Window > 0 && len(out)-j > n.Attn.Window {
					out[j] = float32(math.Inf(-1))
					continue
				}
				k := b.slot(b.keys, n.Layer, t, j, h/group)
				sum := 0.0
				for i, v := range q[h*d : (h+1)*d] {
					sum += float64(v) * float64(k[i])
				}
				out[j] = float32(sum * float64(n.Attn.Scale))
			}
		}
	}
}

// softmax turns each row of scores into weights that sum to one.
func softmax(b *Backend, n *graph.Node, part, parts int) {
	lo, hi := share(len(b.batch.Tokens)*n.Attn.Heads, part, parts)
	for i := lo; i < hi; i++ {
		row := b.keyRow(n.Out, i/n.Attn.Heads, i%n.Attn.Heads)
		most := row[0]
		for _, v := range row {
			most = max(most, v)
		}
		sum := 0.0
		for _, v := range row {
			sum += math.Exp(float64(v) - float64(most))
		}
		for j, v := range row {
			row[j] = float32(math.Exp(float64(v)-float64(most)) / sum)
		}
	}
}

// mix sums the values of the positions under the weights.
func mix(b *Backend, n *graph.Node, part, parts int) {
	d, group := n.Attn.HeadDim, n.Attn.Heads/n.Attn.KVHeads
	sum := make([]float64, d)
	lo, hi := share(len(b.batch.Tokens), part, parts)
	for t := lo; t < hi; t++ {
		for h := range n.Attn.Heads {
			clear(sum)
			for j, p := range b.keyRow(n.A, t, h) {
				for i, v := range b.slot(b.values, n.Layer, t, j, h/group) {
					sum[i] += float64(p) * float64(v)
				}
			}
			for i, v := range sum {
				b.row(n.Out, t)[h*d+i] = float32(v)
			}
		}
	}
}

// add puts the branch back onto the residual stream.
func add(b *Backend, n *graph.Node, part, parts int) {
	lo, hi := share(len(b.batch.Tokens), part, parts)
	for t := lo; t < hi; t++ {
		out := b.row(n.Out, t)
		for i, v := range b.row(n.B, t) {
			out[i] += v
		}
	}
}

// swiGLU multiplies silu(gate) with up.
func swiGLU(b *Backend, n *graph.Node, part, parts int) {
	lo, hi := share(len(b.batch.Tokens), part, parts)
	for t := lo; t < hi; t++ {
		out := b.row(n.Out, t)
		for i, up := range b.row(n.B, t) {
			z := float64(out[i])
			out[i] = float32(z / (1 + math.Exp(-z)) * float64(up))
		}
	}
}

// geGLU multiplies gelu(gate) with up, gelu in its tanh form: z/2 * (1 + tanh(sqrt(2/pi) * (z + 0.044715 z³))).
func geGLU(b *Backend, n *graph.Node, part, parts int) {
	lo, hi := share(len(b.batch.Tokens), part, parts)
	for t := lo; t < hi; t++ {
		out := b.row(n.Out, t)
		for i, up := range b.row(n.B, t) {
			z := float64(out[i])
			out[i] = float32(z / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(z+0.044715*z*z*z))) * float64(up))
		}
	}
}

// allReduce sums the rows of all shards.
func allReduce(b *Backend, n *graph.Node, part, _ int) {
	if part == 0 {
		b.o.Group.AllReduce(b.bufs[n.Out][:len(b.batch.Tokens)*b.g.Bufs[n.Out].Width])
	}
}
