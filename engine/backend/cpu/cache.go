package cpu

import (
	"fmt"
	"math"
	"unsafe"

	"glassbox/engine/backend"
	"glassbox/engine/backend/cpu/kern"
	"glassbox/engine/graph"
	"glassbox/engine/kv"
	"glassbox/engine/tensor"
)

// cache is the memory behind the pages of keys and values: for each layer and KV head all pages one after the other, so that
// a sequence whose pages are neighbours is read in order. A page has keys [dim][16 tokens] and values [16 tokens][dim], in the
// forms that package kern documents. Small memory pages, because the cache is as large as the context and mostly never
// touched.
type cache struct {
	mem      *memory
	pool     []byte
	kv       backend.KV
	dim      int
	keyBytes int // of the keys of one head of a page; its values follow
	page     int // bytes from a page of a head to the next page
	head     int // bytes from a head's first page to the next head's, or the next layer's first
	kvs      int // KV heads
}

// expandPages is how many pages of blocks are expanded at a time: little enough to stay in a core's own cache.
const expandPages = 16

func newCache(g *graph.Graph, pages int, types *backend.KV) (*cache, error) {
	a := g.Attn
	chosen, err := types.Or(backend.KV{Keys: tensor.F16, Values: tensor.F16}, a.HeadDim)
	if err != nil {
		return nil, err
	}
	c := &cache{kv: chosen, dim: a.HeadDim, kvs: a.KVHeads, keyBytes: kern.PageBytes(chosen.Keys, a.HeadDim)}
	c.page = c.keyBytes + kern.PageBytes(chosen.Values, a.HeadDim)
	each := g.Layers * c.kvs * c.page // bytes of a page in all layers
	n := max(pages*each, 1)
	if each > 0 && n/each != pages || n > math.MaxInt/2 {
		return nil, fmt.Errorf("cpu: KV cache: wanted less memory than %d pages of %d bytes take: choose a smaller context or fewer slots", pages, each)
	}
	c.head = pages * c.page
	if c.mem, err = allocate(n, false); err != nil {
		return nil, err
	}
	c.pool = c.mem.b[:n]
	return c, nil
}

// keys returns the distance, in bytes, of a head's keys from those of layer 0, head 0; its values follow after keyBytes.
func (c *cache) keys(layer, head int) int { return (layer*c.kvs + head) * c.head }

// step is the least number of dims of values that can be read on their own.
func (c *cache) step() int { return max(16, c.kv.Values.BlockSize()) }

// blocks tells whether a format has to be expanded before it is read.
func blocks(t tensor.Type) bool { return t.BlockSize() > 1 }

// CopyPage copies a page's keys and values, of all layers and heads.
func (b *Backend) CopyPage(from, to kv.Page) {
	c := b.cache
	for i := range b.g.Layers * c.kvs {
		copy(c.pool[i*c.head+int(to)*c.page:][:c.page], c.pool[i*c.head+int(from)*c.page:][:c.page])
	}
}

// expanding gives each worker room for pages that are expanded.
func (b *Backend) expanding() {
	c := b.cache
	if !blocks(c.kv.Keys) && !blocks(c.kv.Values) {
		return
	}
	for i := range b.workers {
		w := &b.workers[i]
		w.row = make([]byte, c.kv.Keys.RowBytes(c.dim))
		w.wide = make([]float32, expandPages*kv.PageTokens*c.dim)
		w.part = make([]float32, kv.PageTokens*max(c.dim, 1)*max(1, b.g.Attn.Heads/max(c.kvs, 1)))
		w.at = make([]uintptr, 0, expandPages)
	}
}

// bytesAt sees the n bytes at an address of the cache.
func (c *cache) bytesAt(page uintptr, off, n int) []byte {
	at := int(page-uintptr(unsafe.Pointer(&c.pool[0]))) + off
	return c.pool[at : at+n]
}

// scoresOf multiplies queries with the keys that lie off bytes into pages.
func (b *Backend) scoresOf(w int, out []float32, lds int, q []float32, ldq int, pages []uintptr, off, rows, dim int, scale float32) {
	c := b.cache
	switch c.kv.Keys {
	case tensor.F16:
		b.k.Scores(out, lds, q, ldq, pages, off, rows, dim, scale)
		return
	case tensor.F32:
		b.k.ScoresF32(out, lds, q, ldq, pages, off, rows, dim, scale)
		return
	}
	me := &b.workers[w]
	for len(pages) > 0 {
		n := min(len(pages), expandPages)
		me.at = me.at[:0]
		for i, p := range pages[:n] {
			wide := me.wide[i*kv.PageTokens*dim : (i+1)*kv.PageTokens*dim]
			b.k.ExpandKeys(c.kv.Keys, wide, c.bytesAt(p, off, c.keyBytes), dim)
			me.at = append(me.at, uintptr(unsafe.Pointer(&wide[0])))
		}
		b.k.ScoresF32(out, lds, q, ldq, me.at, 0, rows, dim, scale)
		if pages = pages[n:]; len(pages) > 0 {
			out = out[n*kv.PageTokens:]
		}
	}
}

// mixOf sums dims [d0, d1) of the values of a sequence's positions before last, from page first on, under the weights p, which
// begin at that page. off is the distance of the head's values from a page's address. Blocks are expanded and summed some
// pages at a time, always the same ones together, so that a sum does not depend on where a batch begins.
func (b *Backend) mixOf(w int, out []float32, ldo int, p []float32, ldp, seq, first, off, rows, last, d0, d1 int) {
	c, pages := b.cache, b.tables[seq]
	n := last - first*kv.PageTokens
	switch c.kv.Values {
	case tensor.F16:
		b.k.Mix(out, ldo, p, ldp, pages[first:], off+2*d0, rows, n, d1-d0, 2*c.dim)
		return
	case tensor.F32:
		b.k.MixF32(out, ldo, p, ldp, pages[first:], off+4*d0, rows, n, d1-d0, 4*c.dim)
		return
	}
	me, dims := &b.workers[w], d1-d0
	for at := first; at*kv.PageTokens < last; {
		end := min((at/expandPages+1)*expandPages, kv.PagesFor(last))
		me.at = me.at[:0]
		for i, pg := range pages[at:end] {
			wide := me.wide[i*kv.PageTokens*dims : (i+1)*kv.PageTokens*dims]
			b.k.ExpandValues(c.kv.Values, wide, c.bytesAt(pg, off, c.page-c.keyBytes), c.dim, d0, d1)
			me.at = append(me.at, uintptr(unsafe.Pointer(&wide[0])))
		}
		to, ld := out, ldo
		if at > first {
			to, ld = me.part, dims
		}
		b.k.MixF32(to, ld, p[(at-first)*kv.PageTokens:], ldp, me.at, 0, rows, min(end*kv.PageTokens, last)-at*kv.PageTokens, dims, 4*dims)
		if at > first {
			for r := range rows {
				for i, f := range me.part[r*dims : (r+1)*dims] {
					out[r*ldo+i] += f
				}
			}
		}
		at = end
	}
}
