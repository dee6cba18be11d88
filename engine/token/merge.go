package token

import (
	"math"
	"unicode/utf8"
)

// pairTable maps two neighbouring ids to the id they merge into.
type pairTable map[uint64]pairMerge

type pairMerge struct {
	id   int32
	rank uint32 // line of the merge: lower goes first
}

func pairKey(left, right int32) uint64 { return uint64(uint32(left))<<32 | uint64(uint32(right)) }

// symbol is a piece of a word while it is merged; symbols form a list over the live ones.
type symbol struct {
	id         int32 // token, or -1: a character that is none
	start, end int32 // bytes of the word
	prev, next int32 // -1 at the ends
	dead       bool
}

// candidate is a pair that could merge: the symbol at the low half of order and the one after it. The lowest order goes
// first: best rank, then leftmost.
type candidate struct {
	order uint64 // rank<<32 | index of the left symbol
	id    int32  // what the pair becomes
}

// merger is the working memory of one merge, kept for the next.
type merger struct {
	symbols []symbol
	heap    []candidate
	tried   int // candidates put on the heap so far
}

// keepSymbols is the most symbols whose memory is kept for later texts: about 3 MB.
const keepSymbols = 1 << 16

// mergeWord appends the pieces of word and returns how many pairs it joined (0 for a word from the cache). Byte-level
// BPE is Sennrich et al., 2016 (arXiv:1508.07909), over bytes; SentencePiece joins the pair whose text has the best
// score. With a heap of candidates a word of n characters takes O(n log n).
func (t *Tokenizer) mergeWord(g *merger, word string, out []int32) ([]int32, int) {
	if !t.sentence {
		if ids, ok := t.cache.get(word); ok {
			return append(out, ids...), 0
		}
		if t.pre.wholeFirst {
			if id, ok := t.wholeWord(word); ok {
				t.cache.put(word, []int32{id})
				return append(out, id), 0
			}
		}
	}
	g.symbols, g.heap, g.tried = g.symbols[:0], g.heap[:0], 0
	if t.sentence {
		t.startSentence(g, word)
	} else {
		t.startBytes(g, word)
	}
	joins := t.mergeAll(g, word)
	from := len(out)
	out = t.appendPieces(g, word, out)
	if !t.sentence {
		t.cache.put(word, out[from:])
	}
	return out, joins
}

// wholeWord looks up a whole word as a token, for vocabularies with tokens that merging cannot reach (ignore_merges).
func (t *Tokenizer) wholeWord(word string) (int32, bool) {
	if len(word) > t.longest {
		return 0, false
	}
	var buf [256]byte
	name := buf[:0]
	for i := range len(word) {
		name = append(name, byteChars[word[i]]...)
	}
	id, ok := t.ids[string(name)]
	return id, ok && t.types[id] == Normal
}

// startBytes makes one symbol of each byte. A byte without a token is left out, and its neighbours become neighbours, as
// in Hugging Face tokenizers.
func (t *Tokenizer) startBytes(g *merger, word string) {
	for i := range len(word) {
		if id := t.bytes[word[i]]; id >= 0 {
			g.push(id, i, i+1)
		}
	}
}

// startSentence makes one symbol of each character, or of each byte where word is not UTF-8.
func (t *Tokenizer) startSentence(g *merger, word string) {
	for i := 0; i < len(word); {
		_, n := utf8.DecodeRuneInString(word[i:])
		id, ok := t.ids[word[i:i+n]]
		if !ok || t.types[id] != Normal {
			id = -1
		}
		g.push(id, i, i+n)
		i += n
	}
}

func (g *merger) push(id int32, start, end int) {
	i := int32(len(g.symbols))
	if i > 0 {
		g.symbols[i-1].next = i
	}
	g.symbols = append(g.symbols, symbol{id: id, start: int32(start), end: int32(end), prev: i - 1, next: -1})
}

// mergeAll joins pairs, best first, until none is left, and returns how many.
func (t *Tokenizer) mergeAll(g *merger, word string) int {
	for i := 0; i+1 < len(g.symbols); i++ {
		t.consider(g, word, int32(i))
	}
	joins := 0
	for len(g.heap) > 0 {
		c := g.pop()
		i := int32(uint32(c.order))
		left := &g.symbols[i]
		if left.dead || left.next < 0 {
			continue
		}
		// The pair may have changed since it was put on the heap: it must still become the same token.
		if now, ok := t.pair(g, word, i); !ok || now.id != c.id {
			continue
		}
		right := &g.symbols[left.next]
		left.id, left.end, left.next = c.id, right.end, right.next
		right.dead = true
		if left.next >= 0 {
			g.symbols[left.next].prev = i
		}
		joins++
		if left.prev >= 0 {
			t.consider(g, word, left.prev)
		}
		t.consider(g, word, i)
	}
	return joins
}

func (t *Tokenizer) consider(g *merger, word string, i int32) {
	if p, ok := t.pair(g, word, i); ok {
		g.insert(candidate{order: uint64(p.rank)<<32 | uint64(uint32(i)), id: p.id})
	}
}

// pair tells what symbol i and the next one become, if anything.
func (t *Tokenizer) pair(g *merger, word string, i int32) (pairMerge, bool) {
	left := &g.symbols[i]
	if left.next < 0 {
		return pairMerge{}, false
	}
	right := &g.symbols[left.next]
	if !t.sentence {
		p, ok := t.pairs[pairKey(left.id, right.id)]
		return p, ok
	}
	if int(right.end-left.start) > t.longest {
		return pairMerge{}, false
	}
	id, ok := t.ids[word[left.start:right.end]]
	if !ok || t.types[id] != Normal { // text must not become a mark or a byte token
		return pairMerge{}, false
	}
	return pairMerge{id: id, rank: scoreRank(t.vocab.Scores[id])}, true
}

// scoreRank orders scores: the higher the score, the lower the rank.
func scoreRank(score float32) uint32 {
	bits := math.Float32bits(score + 0) // -0 becomes 0
	if bits>>31 == 0 {
		bits |= 1 << 31
	} else {
		bits = ^bits
	}
	return ^bits
}

// appendPieces writes the ids of the live symbols, and -1-b for each byte b of one that is no token.
func (t *Tokenizer) appendPieces(g *merger, word string, out []int32) []int32 {
	if len(g.symbols) == 0 {
		return out
	}
	for i := int32(0); i >= 0; i = g.symbols[i].next { // symbol 0 has no left neighbour to merge into
		s := &g.symbols[i]
		if s.id >= 0 {
			out = append(out, s.id)
			continue
		}
		for _, b := range []byte(word[s.start:s.end]) {
			out = append(out, -1-int32(b))
		}
	}
	return out
}

// insert and pop are a binary min-heap by order.
func (g *merger) insert(c candidate) {
	g.tried++
	h := append(g.heap, c)
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if h[up].order <= c.order {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = c
	g.heap = h
}

func (g *merger) pop() candidate {
	h := g.heap
	top, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	i := 0
	for 2*i+1 < len(h) {
		down := 2*i + 1
		if down+1 < len(h) && h[down+1].order < h[down].order {
			down++
		}
		if last.order <= h[down].order {
			break
		}
		h[i] = h[down]
		i = down
	}
	if len(h) > 0 {
		h[i] = last
	}
	g.heap = h
	return top
}
