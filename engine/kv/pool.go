// Package kv keeps account of the KV cache's pages: which are free, how many sequences hold each, and which hold the keys
// and values of a known prefix, so that another sequence that begins alike need not compute them (paged attention: Kwon
// et al. 2023).
//
// It does not know about the memory behind a page (the backend has it) or about who asks for pages.
package kv

import "fmt"

// PageTokens is how many positions one page holds, of every layer.
const PageTokens = 16

// Page numbers a page of the cache.
type Page int32

// Copy is a page whose content has to be copied before To is written.
type Copy struct{ From, To Page }

// Pool hands pages out. It is used by the engine loop only.
type Pool struct {
	refs  []int32 // holders of each page
	free  []Page  // stack of pages that hold nothing: the page freed last is given out first, while it may still be in a CPU cache
	keys  []Key   // of each page: the prefix that it ends, zero where it is not published
	index map[Key]Page
	idle  lru // published pages that nobody holds: the first to go when no page is free

	evicted int64
	log     func(EventKind, Page)
}

// NewPool returns a pool of n free pages.
func NewPool(n int) *Pool {
	p := &Pool{refs: make([]int32, n), free: make([]Page, n), keys: make([]Key, n), index: map[Key]Page{}, idle: newLRU(n)}
	for i := range p.free {
		p.free[i] = Page(n - 1 - i)
	}
	return p
}

// Total returns the number of pages.
func (p *Pool) Total() int { return len(p.refs) }

// Free returns the number of pages that can be had: those that hold nothing, and those kept for nobody in particular.
func (p *Pool) Free() int { return len(p.free) + p.idle.n }

// Kept returns how many of the free pages hold a prefix that may still be used.
func (p *Pool) Kept() int { return p.idle.n }

// Evicted returns how many kept pages were given away for new content.
func (p *Pool) Evicted() int64 { return p.evicted }

// Holders returns how many sequences hold a page.
func (p *Pool) Holders(pg Page) int { return int(p.refs[pg]) }

// PagesFor returns how many pages hold n positions.
func PagesFor(n int) int { return (n + PageTokens - 1) / PageTokens }

// take hands out one page: an empty one, or the kept one that was not used for longest.
func (p *Pool) take() (Page, bool) {
	var pg Page
	switch last := len(p.free) - 1; {
	case last >= 0:
		pg = p.free[last]
		p.free = p.free[:last]
	case p.idle.n > 0:
		pg = p.idle.first()
		p.idle.remove(pg)
		p.forget(pg)
		p.evicted++
	default:
		return 0, false
	}
	p.refs[pg] = 1
	p.tell(Take, pg)
	return pg, true
}

// Grow extends a page table so that it holds positions [0, n). It returns false, and takes nothing, when too few pages
// are free.
func (p *Pool) Grow(table []Page, n int) ([]Page, bool) {
	need := PagesFor(n) - len(table)
	if need > p.Free() {
		return table, false
	}
	for range need {
		pg, _ := p.take()
		table = append(table, pg)
	}
	return table, true
}

// Share adds a holder to each page.
func (p *Pool) Share(pages []Page) {
	for _, pg := range pages {
		if p.refs[pg] == 0 {
			p.idle.remove(pg)
		}
		p.refs[pg]++
		p.tell(Share, pg)
	}
}

// Release takes a holder from each page, the last first; pages without holders are free again. It returns how many.
func (p *Pool) Release(pages []Page) int {
	freed := 0
	for i := len(pages) - 1; i >= 0; i-- {
		pg := pages[i]
		p.refs[pg]--
		p.tell(Drop, pg)
		if p.refs[pg] > 0 {
			continue
		}
		freed++
		if p.keys[pg] != (Key{}) {
			p.idle.add(pg)
		} else {
			p.free = append(p.free, pg)
		}
	}
	return freed
}

// Own makes page i of a table one that its sequence may write to (copy on write). A page that others hold stays theirs: the
// table gets a new one, and copied says whose content must come into it before. A page held by this table alone, but
// published, is published no more. It returns false, and changes nothing, when no page is free.
func (p *Pool) Own(table []Page, i int) (c Copy, copied, ok bool) {
	pg := table[i]
	if p.refs[pg] == 1 {
		p.forget(pg)
		return c, false, true
	}
	to, ok := p.take()
	if !ok {
		return c, false, false
	}
	p.refs[pg]--
	p.tell(Drop, pg)
	table[i] = to
	return Copy{pg, to}, true, true
}

// Check verifies the account against the page tables of all live sequences: every page is free, kept, or held exactly as
// often as tables list it, and the index of prefixes leads to the pages that are published.
func (p *Pool) Check(tables ...[]Page) error {
	held := make([]int32, len(p.refs))
	for _, t := range tables {
		for _, pg := range t {
			held[pg]++
		}
	}
	where := make([]string, len(p.refs))
	for _, pg := range p.free {
		if where[pg] != "" {
			return fmt.Errorf("kv: page %d is in the free list twice", pg)
		}
		where[pg] = "free"
	}
	for _, pg := range p.idle.pages() {
		if where[pg] != "" {
			return fmt.Errorf("kv: page %d is kept, and in the free list", pg)
		}
		where[pg] = "kept"
	}
	published := 0
	for pg, n := range held {
		want := ""
		switch key := p.keys[pg]; {
		case n == 0 && key != (Key{}):
			want = "kept"
		case n == 0:
			want = "free"
		}
		if p.refs[pg] != n {
			return fmt.Errorf("kv: page %d has %d holders, wanted %d", pg, p.refs[pg], n)
		}
		if where[pg] != want {
			return fmt.Errorf("kv: page %d with %d holders is %q, wanted %q", pg, n, where[pg], want)
		}
		if key := p.keys[pg]; key != (Key{}) {
			published++
			if got, ok := p.index[key]; !ok || got != Page(pg) {
				return fmt.Errorf("kv: page %d is published, but its prefix leads to page %d", pg, got)
			}
		}
	}
	if published != len(p.index) {
		return fmt.Errorf("kv: %d prefixes lead to %d published pages", len(p.index), published)
	}
	return nil
}
