package sched

import (
	"fmt"
	"slices"

	"glassbox/engine/kv"
	"glassbox/trace"
)

// Admit moves waiting sequences into free slots as long as pages for their tokens are free: the most urgent first, first
// come first served among equals. One that does not fit is not overtaken, so that long prompts get their turn.
func (s *Scheduler) Admit() {
	s.turn++
	for _, q := range s.running {
		s.publish(q)
	}
	for len(s.running) < s.c.Slots {
		q := s.next()
		if q == nil || !s.admit(q) {
			return
		}
	}
}

// next returns the waiting sequence whose turn it is. One that is to share the pages of another waits until they are
// computed.
func (s *Scheduler) next() *Sequence {
	var best *Sequence
	for _, q := range s.waiting {
		if p := q.Parent; p != nil && !p.retired && p.Cached < p.Prompt {
			continue
		}
		if best == nil || s.before(q, best) {
			best = q
		}
	}
	return best
}

// before tells whether a is more urgent than b: by priority, which waiting makes better, then by arrival.
func (s *Scheduler) before(a, b *Sequence) bool {
	la, lb := a.Priority-(s.turn-a.since)/patience, b.Priority-(s.turn-b.since)/patience
	if la != lb {
		return la < lb
	}
	return a.Number < b.Number
}

// admit gives a waiting sequence a slot and pages for the tokens it has.
func (s *Scheduler) admit(q *Sequence) bool {
	m := q.Trace.Begin(trace.StepAdmit)
	found, keys := s.find(q)
	need := kv.PagesFor(len(q.Tokens)) - len(found)
	if s.partial(q, found) {
		need++ // a copy
	}
	if need > s.pool.Free()-s.kept(found) {
		return false // it waits: the span is dropped, the queue's goes on
	}
	if m.On() {
		m.Set("in", fmt.Sprintf("%d waiting, %d of %d slots taken, %d of %d pages free", len(s.waiting), len(s.running), s.c.Slots, s.pool.Free(), s.pool.Total()))
		m.Set("out", fmt.Sprintf("admitted: needs %d pages now", need))
		m.Set("priority", q.Priority)
	}
	m.End()
	s.waiting = slices.DeleteFunc(s.waiting, func(w *Sequence) bool { return w == q })
	s.running = append(s.running, q)
	s.pickSlot(q)
	s.of(q)
	s.pool.Share(found)
	s.match(q, found, keys)
	s.reserve(q, len(q.Tokens))
	s.own(q, q.Cached, q.Cached+1)
	return true
}

// pickSlot takes the lowest free slot.
func (s *Scheduler) pickSlot(q *Sequence) {
	m := q.Trace.Begin(trace.StepSlot)
	q.Slot = slices.Index(s.slots, false)
	s.slots[q.Slot] = true
	if m.On() {
		m.Set("in", fmt.Sprintf("%d slots", s.c.Slots))
		m.Set("out", fmt.Sprintf("slot %d", q.Slot))
	}
	m.End()
}

// usable is how many of a sequence's positions may come from the cache: the last token always runs, for its logits.
func usable(q *Sequence) int { return len(q.Tokens) - 1 }

// find returns the pages that hold the keys and values of the sequence's first tokens already: its parent's, or those that
// are known by what they hold.
func (s *Scheduler) find(q *Sequence) ([]kv.Page, []kv.Key) {
	if q.Private {
		return nil, nil
	}
	if p := q.Parent; p != nil && p.Slot >= 0 && p.Cached >= p.Prompt {
		n := min(usable(q), p.Prompt)
		return p.Pages[:kv.PagesFor(n)], p.keys[:min(len(p.keys), n/kv.PageTokens)]
	}
	if !s.c.Prefixes {
		return nil, nil
	}
	return s.pool.Match(kv.Root(q.Salt), q.Tokens)
}

// kept counts those of the pages that nobody holds: they are among the free ones.
func (s *Scheduler) kept(pages []kv.Page) int {
	n := 0
	for _, pg := range pages {
		if s.pool.Holders(pg) == 0 {
			n++
		}
	}
	return n
}

// partial tells whether the sequence has to write into the last of the pages that it shares.
func (s *Scheduler) partial(q *Sequence, found []kv.Page) bool {
	return min(usable(q), len(found)*kv.PageTokens) < len(found)*kv.PageTokens
}

// match notes what the sequence need not compute.
func (s *Scheduler) match(q *Sequence, found []kv.Page, keys []kv.Key) {
	m := q.Trace.Begin(trace.StepMatch)
	q.Pages = append(q.Pages[:0], found...)
	q.Cached = min(usable(q), len(found)*kv.PageTokens)
	if p := q.Parent; p != nil {
		q.Cached = min(q.Cached, p.Prompt)
	}
	q.keys = append(q.keys[:0], keys[:min(len(keys), q.Cached/kv.PageTokens)]...)
	if !q.seen {
		q.seen, q.Matched = true, min(q.Cached, q.Prompt)
		s.totals.Matched += int64(q.Matched)
	}
	q.Parent = nil // it has had its use
	if m.On() {
		m.Set("in", fmt.Sprintf("%d tokens, %d full pages of them", len(q.Tokens), len(q.Tokens)/kv.PageTokens))
		m.Set("out", s.matched(q, len(found)))
		m.Set("cached", q.Cached)
		m.Set("pages", pageNumbers(found))
	}
	m.End()
}

// matched says in one line what was found.
func (s *Scheduler) matched(q *Sequence, pages int) string {
	switch {
	case q.Private:
		return "nothing is shared: values are captured or changed in this request"
	case pages > 0:
		return fmt.Sprintf("keys and values of %d tokens are in %d pages already", q.Cached, pages)
	case !s.c.Prefixes:
		return "the prefix cache is off"
	}
	return "no page begins alike"
}

// publish lets others find the sequence's full pages.
func (s *Scheduler) publish(q *Sequence) {
	if q.Private || !s.c.Prefixes {
		return
	}
	s.of(q)
	q.keys = q.keys[:min(len(q.keys), q.Cached/kv.PageTokens)]
	for n := len(q.keys); (n+1)*kv.PageTokens <= min(q.Cached, len(q.Tokens)); n++ {
		key := kv.Root(q.Salt)
		if n > 0 {
			key = q.keys[n-1]
		}
		key = key.Next(q.Tokens[n*kv.PageTokens:])
		q.keys = append(q.keys, key)
		s.pool.Publish(q.Pages[n], key)
	}
}

// reserve extends the page table so that it holds n positions.
func (s *Scheduler) reserve(q *Sequence, n int) bool {
	if kv.PagesFor(n) <= len(q.Pages) {
		return true
	}
	s.of(q)
	m := q.Trace.Begin(trace.StepReserve)
	before := len(q.Pages)
	pages, ok := s.pool.Grow(q.Pages, n)
	q.Pages = pages
	if m.On() && ok {
		m.Set("in", fmt.Sprintf("%d positions, %d a page", n, kv.PageTokens))
		m.Set("out", fmt.Sprintf("%d pages, %d of them new; %d free", len(pages), len(pages)-before, s.pool.Free()))
		m.Set("pages", pageNumbers(pages))
		m.Set("page_size", kv.PageTokens)
		m.Set("tokens", n)
	}
	if ok {
		m.End()
	}
	return ok
}

// own makes the pages that positions [from, to) are written to the sequence's own.
func (s *Scheduler) own(q *Sequence, from, to int) bool {
	s.of(q)
	for i := from / kv.PageTokens; i < kv.PagesFor(to); i++ {
		c, copied, ok := s.pool.Own(q.Pages, i)
		if !ok {
			return false
		}
		if copied && i*kv.PageTokens < from { // else nothing of it is kept
			s.copies = append(s.copies, c)
			s.totals.Copied++
			s.changed(trace.PageCopy, c.To, c.From)
		}
	}
	return true
}

// pageNumbers copies a page table for a span.
func pageNumbers(pages []kv.Page) []int64 {
	out := make([]int64, len(pages))
	for i, p := range pages {
		out[i] = int64(p)
	}
	return out
}
