//go:build cuda

package cuda

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"glassbox/engine/backend"
	"glassbox/engine/backend/cuda/driver"
	"glassbox/engine/graph"
	"glassbox/engine/kv"
	"glassbox/engine/tensor"
)

// attnCase is attention of some tokens at given positions, each a sequence's last ones.
type attnCase struct {
	format              backend.KV
	heads, kvHeads, dim int
	window              int
	seqs                [][2]int // of each sequence: first position, tokens
}

// TestKernelAttention holds both ways of attention to float64, on page and chunk borders, with windows, groups of 1 to 8 and 16, and
// contexts up to 8,192; the split and the unsplit way have the same bits, and a token's do not depend on its neighbours.
func TestKernelAttention(t *testing.T) {
	for _, c := range []attnCase{
		{kvF16, 4, 4, 16, 0, [][2]int{{0, 1}, {15, 1}, {16, 1}, {17, 3}}},
		{kvF16, 6, 2, 64, 0, [][2]int{{127, 2}, {0, 20}, {255, 1}}},
		{kvF16, 8, 2, 64, 0, [][2]int{{128, 1}, {15, 2}}},
		{kvF16, 12, 2, 128, 0, [][2]int{{129, 1}, {0, 2}}},
		{kvQ8Q4, 6, 1, 64, 0, [][2]int{{130, 2}}},
		{kvF16, 14, 2, 64, 0, [][2]int{{127, 2}, {16, 1}}},
		{kvF16, 8, 1, 128, 0, [][2]int{{300, 1}, {128, 1}}},
		{kvF16, 16, 1, 34, 0, [][2]int{{40, 2}}},
		{kvF16, 5, 1, 256, 40, [][2]int{{0, 5}, {140, 3}, {39, 2}}},
		{kvF16, 2, 1, 64, 0, [][2]int{{8191, 1}}},
		{kvF16, 2, 2, 64, 1000, [][2]int{{8190, 2}}},
		{kvQ8Q4, 4, 2, 64, 0, [][2]int{{150, 3}, {0, 1}}},
	} {
		t.Run(fmt.Sprintf("%s %d of %d x %d window %d", c.format, c.heads, c.kvHeads, c.dim, c.window), func(t *testing.T) {
			onRig(t, func(r *rig) { r.attention(c) })
		})
	}
}

// cachedKV is a KV cache with all positions of all sequences, in pages that lie apart, and the numbers that it holds.
type cachedKV struct {
	tables [][]kv.Page
	k, v   [][]float32 // by sequence: [position][kvHeads][dim]
}

// fill writes keys and values of all positions through kv_write, with few launches.
func (r *rig) fillCache(c attnCase) *cachedKV {
	a := &r.g.Attn
	out := &cachedKV{}
	page := 0
	for _, s := range c.seqs {
		n := s[0] + s[1]
		var table []kv.Page
		for range kv.PagesFor(n) {
			table = append(table, kv.Page((page*7+3)%r.o.Pages))
			page++
		}
		out.tables = append(out.tables, table)
		k, v := r.normals(n*a.KVHeads*a.HeadDim), r.normals(n*a.KVHeads*a.HeadDim)
		b := &backend.Batch{Seqs: []backend.Seq{{Pages: table}}}
		for p := range n {
			b.Tokens, b.Pos, b.Seq = append(b.Tokens, 0), append(b.Pos, int32(p)), append(b.Seq, 0)
		}
		r.must(r.prepare(b))
		r.bufs[0], r.bufs[1] = up(r, k), up(r, v)
		r.must(kvWrite(r.Backend, &step{n: &graph.Node{A: 0, B: 1, Attn: a}}))
		r.must(r.st.Synchronize())
		out.k, out.v = append(out.k, r.stored(k, tensor.Q8_0)), append(out.v, r.stored(v, tensor.Q4_0))
	}
	return out
}

// stored rounds as the cache does.
func (r *rig) stored(x []float32, quant tensor.Type) []float32 {
	ty := tensor.F16
	if r.kv == kvQ8Q4 {
		ty = quant
	}
	b, y := make([]byte, ty.RowBytes(len(x))), make([]float32, len(x))
	r.must(tensor.Quantize(ty, b, x))
	r.must(tensor.Dequant(ty, y, b))
	return y
}

func (r *rig) attention(c attnCase) {
	pages, tokens, longest := 1, 0, 0
	for _, s := range c.seqs {
		pages, tokens, longest = pages+kv.PagesFor(s[0]+s[1]), tokens+s[1], max(longest, s[0]+s[1])
	}
	for pages%7 == 0 { // so that page numbers in steps of 7 do not meet
		pages++
	}
	a := graph.Attention{Heads: c.heads, KVHeads: c.kvHeads, HeadDim: c.dim, Scale: float32(1 / math.Sqrt(float64(c.dim))), Window: c.window}
	r.g = &graph.Graph{Layers: 1, Attn: a, Bufs: []graph.BufInfo{{Kind: graph.PerToken}, {Kind: graph.PerToken}, {Kind: graph.PerToken, Width: c.heads * c.dim}}}
	r.o = backend.Options{Pages: pages, MaxTokens: max(longest, tokens), MaxOut: 1}
	r.kv, r.bufs = c.format, make([]driver.Ptr, 3)
	var err error
	r.cache, err = r.alloc(r.layerBytes())
	r.must(err)
	r.must(r.makeInput())
	cached := r.fillCache(c)

	q := r.normals(tokens * c.heads * c.dim)
	b, all := &backend.Batch{}, 0
	want := make([]float32, 0, len(q))
	for i, s := range c.seqs {
		b.Seqs = append(b.Seqs, backend.Seq{Pages: cached.tables[i]})
		for p := s[0]; p < s[0]+s[1]; p++ {
			b.Tokens, b.Pos, b.Seq = append(b.Tokens, 0), append(b.Pos, int32(p)), append(b.Seq, int32(i))
			want = append(want, attend64(a, q[all*c.heads*c.dim:], cached.k[i], cached.v[i], p)...)
			all++
		}
	}
	r.bufs[0] = up(r, q)
	whole := r.bothWays(b, a, want)
	// Alone, with the same bits.
	last := len(b.Tokens) - 1
	alone := &backend.Batch{Tokens: []int32{0}, Pos: b.Pos[last:], Seq: []int32{0}, Seqs: b.Seqs[len(b.Seqs)-1:]}
	at := last * c.heads * c.dim
	r.bufs[0] = up(r, q[at:])
	r.same("alone", r.bothWays(alone, a, want[at:]), whole[at:])
}

// bothWays runs attention fused, split and unsplit, and as three ops.
func (r *rig) bothWays(b *backend.Batch, a graph.Attention, want []float32) []float32 {
	r.must(r.prepare(b))
	r.must(r.grow(&r.scores, 4*r.in.scores))
	node := func(out graph.Buf) *graph.Node { return &graph.Node{A: 0, Out: out, Attn: &a} }
	var got [][]float32
	for _, split := range []bool{true, false} {
		last := r.in.last
		if !split {
			r.in.last = 0 // one split
		}
		r.bufs[2] = r.room(len(want))
		r.must(attention(r.Backend, &step{n: node(2), also: []*step{{}, {n: node(2)}}}))
		got = append(got, down[float32](r, r.bufs[2], len(want)))
		r.in.last = last
	}
	r.near("fused", got[0], want, 3e-6)
	r.same("split and unsplit", got[1], got[0])
	r.bufs[2] = r.room(len(want))
	s := &step{n: node(2)}
	for _, f := range []op{scores, softmax, mix} {
		r.must(f(r.Backend, s))
	}
	r.near("three ops", down[float32](r, r.bufs[2], len(want)), want, 3e-6)
	return got[0]
}

// attend64 is attention of one token in float64.
func attend64(a graph.Attention, q, k, v []float32, pos int) []float32 {
	out := make([]float32, 0, a.Heads*a.HeadDim)
	for h := range a.Heads {
		at := func(x []float32, j int) []float32 {
			return x[(j*a.KVHeads+h/(a.Heads/a.KVHeads))*a.HeadDim:][:a.HeadDim]
		}
		old := 0
		if a.Window > 0 {
			old = max(0, pos+1-a.Window)
		}
		p, most, sum := make([]float64, pos+1), math.Inf(-1), 0.0
		for j := old; j <= pos; j++ {
			for i, x := range at(k, j) {
				p[j] += float64(q[h*a.HeadDim+i]) * float64(x) * float64(a.Scale)
			}
			most = max(most, p[j])
		}
		mix := make([]float64, a.HeadDim)
		for j := old; j <= pos; j++ {
			p[j] = math.Exp(p[j] - most)
			sum += p[j]
			for i, x := range at(v, j) {
				mix[i] += p[j] * float64(x)
			}
		}
		for _, x := range mix {
			out = append(out, float32(x/sum))
		}
	}
	return out
}

// The quantised cache holds the bytes that package tensor makes of the same numbers.
func TestKernelTheQuantisedCacheIsOfGGMLsBlocks(t *testing.T) {
	onRig(t, func(r *rig) {
		const dim, n = 64, 3
		a := graph.Attention{Heads: 1, KVHeads: 1, HeadDim: dim}
		r.g = &graph.Graph{Layers: 1, Attn: a}
		r.o, r.kv, r.bufs = backend.Options{Pages: 1, MaxTokens: n, MaxOut: 1}, kvQ8Q4, make([]driver.Ptr, 2)
		var err error
		r.cache, err = r.alloc(r.layerBytes())
		r.must(err)
		r.must(r.makeInput())
		k, v := r.normals(n*dim), r.normals(n*dim)
		clear(v[:32])
		clear(k[32:64])
		r.must(r.prepare(&backend.Batch{Tokens: make([]int32, n), Pos: []int32{0, 1, 2}, Seq: make([]int32, n), Seqs: []backend.Seq{{Pages: []kv.Page{0}}}}))
		r.bufs[0], r.bufs[1] = up(r, k), up(r, v)
		r.must(kvWrite(r.Backend, &step{n: &graph.Node{A: 0, B: 1, Attn: &a}}))
		page := down[byte](r, r.cache, int(r.layerBytes()))
		for _, c := range []struct {
			ty tensor.Type
			x  []float32
			at int
		}{{tensor.Q8_0, k, 0}, {tensor.Q4_0, v, kv.PageTokens * dim / 32 * 34}} {
			want := make([]byte, c.ty.RowBytes(n*dim))
			r.must(tensor.Quantize(c.ty, want, c.x))
			if !bytes.Equal(page[c.at:][:len(want)], want) {
				panic(fmt.Sprintf("%v: found % x, wanted % x", c.ty, page[c.at:][:len(want)], want))
			}
		}
	})
}
