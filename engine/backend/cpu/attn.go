package cpu

import (
	"math"

	"glassbox/engine/backend/cpu/kern"
	"glassbox/engine/graph"
	"glassbox/engine/kv"
)

// rope turns queries and keys by their positions. The first one of a pass fills the tables of its tokens, each worker for
// the tokens that it turns.
func rope(b *Backend, s *step, w int) {
	lo, hi := split(len(b.batch.Tokens), w, b.active)
	r, d, dim := s.n.Rope, s.n.Rope.Dim, s.n.Attn.HeadDim
	for t := lo; t < hi; t++ {
		cos, sin := s.turns.cos[t*d:(t+1)*d], s.turns.sin[t*d:(t+1)*d]
		if s.fresh {
			kern.RopeTable(cos, sin, s.turns.freq, int(b.batch.Pos[t]), r.Halves)
			if r.Scale != 0 {
				scale(cos, float32(r.Scale))
				scale(sin, float32(r.Scale))
			}
		}
		for _, buf := range [...]graph.Buf{s.n.A, s.n.B} {
			row := b.row(buf, t)
			for h := 0; h < len(row); h += dim {
				b.k.Turn(row[h:h+d], cos, sin, r.Halves)
			}
		}
	}
}

// kvWrite puts keys and values at the tokens' positions.
func kvWrite(b *Backend, s *step, w int) {
	c, d := b.cache, s.n.Attn.HeadDim
	lo, hi := split(len(b.batch.Tokens), w, b.active)
	for t := lo; t < hi; t++ {
		pos := int(b.batch.Pos[t])
		page := int(b.batch.Seqs[b.batch.Seq[t]].Pages[pos/kv.PageTokens]) * c.page
		key, value, in := b.row(s.n.A, t), b.row(s.n.B, t), pos%kv.PageTokens
		for h := range s.n.Attn.KVHeads {
			at := page + c.keys(s.n.Layer, h)
			b.k.PutKey(c.kv.Keys, c.pool[at:at+c.keyBytes], in, key[h*d:(h+1)*d], b.workers[w].row)
			b.k.PutValue(c.kv.Values, c.pool[at+c.keyBytes:at+c.page], in, value[h*d:(h+1)*d])
		}
	}
}

// oldest returns the first position that a query at pos sees.
func oldest(window, pos int) int {
	if window <= 0 {
		return 0
	}
	return max(0, pos+1-window)
}

// piece returns unit and part i of the attention's work; large batches go from the long rows to the short ones, so that
// what is left at the end is small.
func (b *Backend) piece(i int) (u unit, part int) {
	k := i / b.pieces
	if b.many {
		k = len(b.units) - 1 - k
	}
	return b.units[k], i % b.pieces
}

// scores multiplies queries with the keys of their KV heads. A unit's part is some of its pages.
func scores(b *Backend, s *step, w int) {
	a, c := s.n.Attn, b.cache
	d, group, ld := a.HeadDim, a.Heads/a.KVHeads, b.ld[s.n.A]
	total := len(b.units) * b.pieces
	for lo, hi := b.first(s, w, total, 1); lo < hi; lo, hi = b.next(s, total, 1) {
		for i := lo; i < hi; i++ {
			u, part := b.piece(i)
			t, h := int(u.token), int(u.head)
			n := b.keyLen(t) // of all tokens of the unit: they lie in one page
			old := oldest(a.Window, int(b.batch.Pos[t])) / kv.PageTokens
			p0, p1 := split(n/kv.PageTokens-old, part, b.pieces)
			p0, p1 = p0+old, p1+old
			rows, ldq, lds := int(u.heads), d, n // one token, all heads of the group
			if u.heads == 1 {
				rows, ldq, lds = int(u.tokens), ld, a.Heads*n
			}
			out := b.bufs[s.n.Out][b.offs[t]+h*n+p0*kv.PageTokens:]
			q := b.bufs[s.n.A][t*ld+h*d:]
			pages := b.tables[b.batch.Seq[t]][p0:p1]
			b.scoresOf(w, out, lds, q, ldq, pages, c.keys(s.n.Layer, h/group), rows, d, a.Scale)
			if a.Window > 0 {
				b.maskOld(s, u, p0, p1, part == 0)
			}
		}
	}
}

// maskOld gives the keys of pages [p0, p1), and those before if all, that lie before a query's window the score -Inf.
func (b *Backend) maskOld(s *step, u unit, p0, p1 int, all bool) {
	if all {
		p0 = 0
	}
	for t := int(u.token); t < int(u.token+u.tokens); t++ {
		end := min(p1*kv.PageTokens, oldest(s.n.Attn.Window, int(b.batch.Pos[t])))
		for h := int(u.head); h < int(u.head+u.heads); h++ {
			row := b.keyRow(s.n.Out, t, h)
			for j := p0 * kv.PageTokens; j < end; j++ {
				row[j] = float32(math.Inf(-1))
			}
		}
	}
}

// softmax turns each row of scores into weights that sum to one; positions that the query does not see get 0.
func softmax(b *Backend, s *step, w int) {
	a := s.n.Attn
	total := len(b.batch.Tokens) * a.Heads
	for lo, hi := b.first(s, w, total, 16); lo < hi; lo, hi = b.next(s, total, 16) {
		for i := lo; i < hi; i++ {
			t := i / a.Heads
			pos := int(b.batch.Pos[t])
			b.k.Softmax(b.keyRow(s.n.Out, t, i%a.Heads), oldest(a.Window, pos), pos+1)
		}
	}
}

// mix sums values under the weights. A unit's part is some of the head's dims.
func mix(b *Backend, s *step, w int) {
	a, c := s.n.Attn, b.cache
	d, group, ld := a.HeadDim, a.Heads/a.KVHeads, b.ld[s.n.Out]
	total := len(b.units) * b.pieces
	for lo, hi := b.first(s, w, total, 1); lo < hi; lo, hi = b.next(s, total, 1) {
		for i := lo; i < hi; i++ {
			u, part := b.piece(i)
			t, h := int(u.token), int(u.head)
			step := c.step()
			d0, d1 := split(d/step, part, b.pieces)
			d0, d1 = step*d0, step*d1
			if d%step != 0 { // one part does it all
				d0, d1 = 0, d
				if part > 0 {
					continue
				}
			}
			if d0 == d1 {
				continue
			}
			n := b.keyLen(t)
			old := oldest(a.Window, int(b.batch.Pos[t])) / kv.PageTokens
			last := int(b.batch.Pos[t+int(u.tokens)-1]) // of the tokens, which see fewer and have 0 beyond
			rows, ldo, ldp := int(u.heads), d, n
			if u.heads == 1 {
				rows, ldo, ldp = int(u.tokens), ld, a.Heads*n
			}
			out := b.bufs[s.n.Out][t*ld+h*d+d0:]
			p := b.bufs[s.n.A][b.offs[t]+h*n+old*kv.PageTokens:]
			b.mixOf(w, out, ldo, p, ldp, int(b.batch.Seq[t]), old, c.keys(s.n.Layer, h/group)+c.keyBytes, rows, last+1, d0, d1)
		}
	}
}
