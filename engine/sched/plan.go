package sched

import (
	"cmp"
	"fmt"
	"slices"

	"glassbox/engine/kv"
	"glassbox/trace"
)

// Plan chooses the next pass: one token of each sequence that decodes, then chunks of prompts while the budget lasts.
// The items are valid until the next call; sequences of one pass are distinct.
func (s *Scheduler) Plan() []Item {
	s.choose()
	for len(s.items) == 0 && len(s.running) > 1 { // all wait for a page: one has to give its pages up
		s.preempt(s.least())
		s.choose()
	}
	return s.items
}

// choose fills the items.
func (s *Scheduler) choose() {
	s.items = s.items[:0]
	budget, scores := s.c.Budget, s.c.MaxScores
	order := slices.Clone(s.running)
	if n := len(order); n > budget { // not all get a token in this pass: others are first in the next
		at := s.turn * budget % n
		order = append(order[at:], order[:at]...)
	}
	for _, q := range order {
		if len(q.Tokens)-q.Cached == 1 && budget > 0 && q.Slot >= 0 && s.makeRoom(q) {
			scores -= s.scores(q.Cached)
			if scores < 0 {
				break
			}
			guessed := s.fitDraft(q, budget-len(order), scores)
			for i := range guessed {
				scores -= s.scores(q.Cached + 1 + i)
			}
			s.plan(q, 1, guessed)
			budget -= 1 + guessed
		}
	}
	if len(s.items) > 0 {
		budget = min(budget, s.c.BusyChunk)
	}
	s.prompts(budget, scores)
}

// prompts shares the budget out among the prompts, the most urgent first. Prompts of one priority get equal parts, and what
// a short one does not need goes to the others: a long prompt does not keep a short one from its first token.
func (s *Scheduler) prompts(budget, scores int) {
	var left []*Sequence
	for _, q := range s.running {
		if len(q.Tokens)-q.Cached > 1 {
			left = append(left, q)
		}
	}
	slices.SortStableFunc(left, func(a, b *Sequence) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(len(a.Tokens)-a.Cached, len(b.Tokens)-b.Cached))
	})
	for i, q := range left {
		peers := 1
		for peers < len(left)-i && left[i+peers].Priority == q.Priority {
			peers++
		}
		n := min(len(q.Tokens)-q.Cached, (budget+peers-1)/peers)
		fit := 0
		for fit < n && scores >= s.scores(q.Cached+fit) {
			scores -= s.scores(q.Cached + fit)
			fit++
		}
		if fit > 0 && s.reserve(q, q.Cached+fit) && s.own(q, q.Cached, q.Cached+fit) {
			s.plan(q, fit, 0)
			budget -= fit
		}
	}
}

// Load returns how many running sequences wait for a token of their answer from one token, and how far the prompt among the
// others is read that is read furthest.
func (s *Scheduler) Load() (decoding, deepest int) {
	for _, q := range s.running {
		switch left := len(q.Tokens) - q.Cached; {
		case left > 1:
			deepest = max(deepest, q.Cached)
		case q.Answered() > 0:
			decoding++
		}
	}
	return decoding, deepest
}

// SetBusyChunk bounds the prompt tokens of passes that also decode from now on.
func (s *Scheduler) SetBusyChunk(n int) { s.c.BusyChunk = n }

// scores returns the floats of the scores buffer that a token at a position needs.
func (s *Scheduler) scores(pos int) int { return s.c.Heads * kv.PagesFor(pos+1) * kv.PageTokens }

// plan adds n tokens of a sequence to the pass, and after them the first guessed ones of its draft.
func (s *Scheduler) plan(q *Sequence, n, guessed int) {
	q.Trace.In(q.Passes, q.Answered())
	m := q.Trace.Begin(trace.StepPlan)
	it := Item{Seq: q, From: q.Cached, N: n + guessed, Logits: q.Cached+n == len(q.Tokens), Guessed: guessed}
	s.items = append(s.items, it)
	if m.On() {
		m.Set("in", fmt.Sprintf("tokens to run: %d, budget %d a pass", len(q.Tokens)-q.Cached+guessed, s.c.Budget))
		m.Set("out", fmt.Sprintf("%s of positions %d to %d", it.Kind(), it.From, it.From+it.N-1))
	}
	m.End()
}

// makeRoom gives a decoding sequence a page of its own for its next position. When none is free it takes the pages of the
// least urgent sequence, which waits and computes them again later.
func (s *Scheduler) makeRoom(q *Sequence) bool {
	q.Trace.In(q.Passes, q.Answered())
	for !s.reserve(q, len(q.Tokens)) || !s.own(q, q.Cached, len(q.Tokens)) {
		last := s.least()
		s.preempt(last)
		if last == q {
			return false
		}
	}
	return true
}

// least returns the running sequence that is the first to give its pages up: the least urgent, of equals the one admitted
// last.
func (s *Scheduler) least() *Sequence {
	worst := s.running[0]
	for _, q := range s.running[1:] {
		if q.Priority >= worst.Priority {
			worst = q
		}
	}
	return worst
}

// preempt takes slot and pages from a sequence and puts it back into the queue, where its arrival still counts.
func (s *Scheduler) preempt(q *Sequence) {
	s.totals.Preempted++
	s.publish(q)
	s.running = slices.DeleteFunc(s.running, func(r *Sequence) bool { return r == q })
	s.slots[q.Slot] = false
	q.Slot, q.Cached, q.Draft, q.keys = -1, 0, nil, q.keys[:0]
	s.of(q)
	s.pool.Release(q.Pages)
	q.Pages = nil
	s.waiting = slices.Insert(s.waiting, 0, q)
	s.items = slices.DeleteFunc(s.items, func(it Item) bool { return it.Seq == q })
}
