// Package kv keeps account of the KV cache's pages: which are free, and how many sequences hold each.
//
// It does not know about the memory behind a page (the backend has it) or about who asks for pages.
package kv

import "fmt"

// PageTokens is how many positions one page holds, of every layer.
const PageTokens = 16

// Page numbers a page of the cache.
type Page int32

// Pool hands pages out. It is used by the engine loop only.
type Pool struct {
	refs []int32 // holders of each page
	free []Page  // stack: the page freed last is given out first, while it may still be in a CPU cache
}

// NewPool returns a pool of n free pages.
func NewPool(n int) *Pool {
	p := &Pool{refs: make([]int32, n), free: make([]Page, n)}
	for i := range p.free {
		p.free[i] = Page(n - 1 - i)
	}
	return p
}

// Total returns the number of pages.
func (p *Pool) Total() int { return len(p.refs) }

// Free returns the number of free pages.
func (p *Pool) Free() int { return len(p.free) }

// PagesFor returns how many pages hold n positions.
func PagesFor(n int) int { return (n + PageTokens - 1) / PageTokens }

// Grow extends a page table so that it holds positions [0, n). It returns false, and takes nothing, when too few pages
// are free.
func (p *Pool) Grow(table []Page, n int) ([]Page, bool) {
	need := PagesFor(n) - len(table)
	if need > len(p.free) {
		return table, false
	}
	for range need {
		last := len(p.free) - 1
		pg := p.free[last]
		p.free = p.free[:last]
		p.refs[pg] = 1
		table = append(table, pg)
	}
	return table, true
}

// Share adds a holder to each page.
func (p *Pool) Share(pages []Page) {
	for _, pg := range pages {
		p.refs[pg]++
	}
}

// Release takes a holder from each page; pages without holders are free again. It returns how many became free.
func (p *Pool) Release(pages []Page) int {
	freed := 0
	for i := len(pages) - 1; i >= 0; i-- {
		pg := pages[i]
		p.refs[pg]--
		if p.refs[pg] == 0 {
			p.free = append(p.free, pg)
			freed++
		}
	}
	return freed
}

// Check verifies the account against the page tables of all live sequences: every page is free or held exactly as often
// as tables list it.
func (p *Pool) Check(tables ...[]Page) error {
	held := make([]int32, len(p.refs))
	for _, t := range tables {
		for _, pg := range t {
			held[pg]++
		}
	}
	free := make([]bool, len(p.refs))
	for _, pg := range p.free {
		if free[pg] {
			return fmt.Errorf("kv: page %d is in the free list twice", pg)
		}
		free[pg] = true
	}
	for pg, n := range held {
		if p.refs[pg] != n {
			return fmt.Errorf("kv: page %d has %d holders, wanted %d", pg, p.refs[pg], n)
		}
		if free[pg] != (n == 0) {
			return fmt.Errorf("kv: page %d with %d holders, in the free list: %v", pg, n, free[pg])
		}
	}
	return nil
}
