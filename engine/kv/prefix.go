package kv

import (
	"crypto/sha256"
	"encoding/binary"
)

// Key names a prefix: all tokens up to the end of a full page. It is the hash of the prefix before the page and of the
// page's tokens, a chain that begins with Root. SHA-256, so that no request can be made to match another's pages.
type Key [sha256.Size]byte

// Root begins the chain of prefixes; requests with different salts never share pages.
func Root(salt string) Key { return sha256.Sum256([]byte("glassbox kv " + salt)) }

// Next returns the key of the prefix that is one page longer; len(tokens) is PageTokens.
func (k Key) Next(tokens []int32) Key {
	var b [sha256.Size + 4*PageTokens]byte
	copy(b[:], k[:])
	for i, t := range tokens[:PageTokens] {
		binary.LittleEndian.PutUint32(b[sha256.Size+4*i:], uint32(t))
	}
	return sha256.Sum256(b[:])
}

// Match returns the pages of the longest known prefix of tokens, in order, and the key of each. The caller shares them
// before it asks the pool for anything else.
func (p *Pool) Match(root Key, tokens []int32) (pages []Page, keys []Key) {
	for key := root; len(tokens) >= PageTokens; tokens = tokens[PageTokens:] {
		key = key.Next(tokens)
		pg, ok := p.index[key]
		if !ok {
			break
		}
		pages, keys = append(pages, pg), append(keys, key)
	}
	return pages, keys
}

// Publish lets others find a full page by its prefix. Where another page has that prefix already, that one stays.
func (p *Pool) Publish(pg Page, key Key) {
	if _, known := p.index[key]; known || p.keys[pg] != (Key{}) {
		return
	}
	p.keys[pg], p.index[key] = key, pg
	p.tell(Publish, pg)
}

// forget takes a page's prefix out of the index.
func (p *Pool) forget(pg Page) {
	if key := p.keys[pg]; key != (Key{}) {
		delete(p.index, key)
		p.keys[pg] = Key{}
		p.tell(Evict, pg)
	}
}

// lru lists pages, the one that was added first at its head. Links are pages, or len(next)-1 for the list itself.
type lru struct {
	prev, next []int32
	n          int
}

func newLRU(pages int) lru {
	l := lru{prev: make([]int32, pages+1), next: make([]int32, pages+1)}
	l.prev[pages], l.next[pages] = int32(pages), int32(pages)
	return l
}

func (l *lru) head() int32 { return int32(len(l.next) - 1) }

// first returns the page that was added first; n > 0.
func (l *lru) first() Page { return Page(l.next[l.head()]) }

// add puts a page at the end.
func (l *lru) add(pg Page) {
	h, i := l.head(), int32(pg)
	l.prev[i], l.next[i] = l.prev[h], h
	l.next[l.prev[h]] = i
	l.prev[h] = i
	l.n++
}

// remove takes a page out; it is in the list.
func (l *lru) remove(pg Page) {
	l.next[l.prev[pg]], l.prev[l.next[pg]] = l.next[pg], l.prev[pg]
	l.n--
}

// pages lists all, the first to go first.
func (l *lru) pages() []Page {
	var out []Page
	for i := l.next[l.head()]; i != l.head(); i = l.next[i] {
		out = append(out, Page(i))
	}
	return out
}

// Published returns the pages that are known by their prefix, held or not.
func (p *Pool) Published() []Page {
	var out []Page
	for pg, key := range p.keys {
		if key != (Key{}) {
			out = append(out, Page(pg))
		}
	}
	return out
}
