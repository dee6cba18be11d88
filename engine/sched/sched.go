// Package sched decides what the next pass runs: which requests join, which pages they get, and how many of each
// request's tokens go through the model. Requests join and leave at every pass (continuous batching: Yu et al. 2022);
// prompts go in chunks under a token budget.
//
// It does not know about the model, the backend, sampling or HTTP.
package sched

import (
	"errors"
	"fmt"
	"slices"

	"glassbox/engine/kv"
	"glassbox/trace"
)

// Config bounds a scheduler.
type Config struct {
	Slots     int // sequences that run at once
	Queue     int // sequences that may wait for a slot
	Budget    int // most tokens of one pass
	BusyChunk int // most prompt tokens of a pass that also decodes for others, so that their next token is not late
	Heads     int // query heads, to bound the scores buffer
	MaxScores int // most floats of it: sum over tokens of Heads * keys, keys in whole pages
}

// Sequence is a request on its way through the model.
type Sequence struct {
	ID     string
	Tokens []int32   // prompt, then answer
	Prompt int       // how many of Tokens are the prompt
	Pages  []kv.Page // its page table
	Cached int       // positions whose keys and values are in the cache
	Slot   int       // the slot it holds, -1 while it waits
	Passes int       // passes it took part in
	Trace  *trace.Writer
	Owner  any // of the engine
}

// Answered returns how many tokens of the answer there are.
func (s *Sequence) Answered() int { return len(s.Tokens) - s.Prompt }

// Item is one sequence's part of a pass: Tokens[From:From+N] go through the model.
type Item struct {
	Seq     *Sequence
	From, N int
	Logits  bool // the last of them is the sequence's last: a token is drawn from its logits
}

// Kind tells whether the item prefills or decodes.
func (it Item) Kind() trace.PassKind {
	if it.N > 1 || it.From+it.N <= it.Seq.Prompt {
		return trace.Prefill
	}
	return trace.Decode
}

// ErrQueueFull is returned by Enqueue.
var ErrQueueFull = errors.New("the queue is full")

// Scheduler is used by the engine loop only.
type Scheduler struct {
	c       Config
	pool    *kv.Pool
	waiting []*Sequence
	running []*Sequence // in the order in which they were admitted
	slots   []bool      // taken
	items   []Item
}

// New returns a scheduler over a pool of pages.
func New(c Config, pool *kv.Pool) *Scheduler {
	return &Scheduler{c: c, pool: pool, slots: make([]bool, c.Slots)}
}

// Enqueue puts a sequence at the end of the queue.
func (s *Scheduler) Enqueue(q *Sequence) error {
	if len(s.waiting) >= s.c.Queue {
		return ErrQueueFull
	}
	q.Slot = -1
	s.waiting = append(s.waiting, q)
	return nil
}

// Idle tells whether there is nothing to run.
func (s *Scheduler) Idle() bool { return len(s.waiting)+len(s.running) == 0 }

// Counts returns how many sequences run and wait.
func (s *Scheduler) Counts() (running, waiting int) { return len(s.running), len(s.waiting) }

// All calls f for every sequence, running or waiting; f may call Finish.
func (s *Scheduler) All(f func(*Sequence)) {
	for _, q := range slices.Concat(s.running, s.waiting) {
		f(q)
	}
}

// Admit moves waiting sequences into free slots, first come first served, as long as pages for their tokens are free.
func (s *Scheduler) Admit() {
	for len(s.waiting) > 0 && len(s.running) < s.c.Slots {
		if !s.admit(s.waiting[0]) {
			return
		}
	}
}

// admit gives the first waiting sequence a slot and pages for the tokens it has.
func (s *Scheduler) admit(q *Sequence) bool {
	m := q.Trace.Begin(trace.StepAdmit)
	need := kv.PagesFor(len(q.Tokens))
	if need > s.pool.Free() {
		return false // it waits: the span is dropped, the queue's goes on
	}
	if m.On() {
		m.Set("in", fmt.Sprintf("%d waiting, %d of %d slots taken, %d of %d pages free", len(s.waiting), len(s.running), s.c.Slots, s.pool.Free(), s.pool.Total()))
		m.Set("out", fmt.Sprintf("admitted: needs %d pages now", need))
	}
	m.End()
	s.waiting = s.waiting[1:]
	s.running = append(s.running, q)
	s.pickSlot(q)
	s.reserve(q, len(q.Tokens))
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

// reserve extends the page table so that it holds n positions.
func (s *Scheduler) reserve(q *Sequence, n int) bool {
	if kv.PagesFor(n) <= len(q.Pages) {
		return true
	}
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

// pageNumbers copies a page table for a span.
func pageNumbers(pages []kv.Page) []int64 {
	out := make([]int64, len(pages))
	for i, p := range pages {
		out[i] = int64(p)
	}
	return out
}

// Plan chooses the next pass: one token of each sequence that decodes, then chunks of prompts while the budget lasts.
// The items are valid until the next call; sequences of one pass are distinct.
func (s *Scheduler) Plan() []Item {
	s.items = s.items[:0]
	budget, scores := s.c.Budget, s.c.MaxScores
	for _, q := range slices.Clone(s.running) {
		if len(q.Tokens)-q.Cached == 1 && budget > 0 && q.Slot >= 0 && s.makeRoom(q) {
			scores -= s.scores(q.Cached)
			if scores < 0 {
				break
			}
			s.plan(q, 1)
			budget--
		}
	}
	if len(s.items) > 0 {
		budget = min(budget, s.c.BusyChunk)
	}
	for _, q := range s.running {
		n := min(len(q.Tokens)-q.Cached, budget)
		if len(q.Tokens)-q.Cached == 1 || n <= 0 {
			continue
		}
		fit := 0
		for fit < n && scores >= s.scores(q.Cached+fit) {
			scores -= s.scores(q.Cached + fit)
			fit++
		}
		if fit > 0 {
			s.plan(q, fit)
			budget -= fit
		}
	}
	return s.items
}

// scores returns the floats of the scores buffer that a token at a position needs.
func (s *Scheduler) scores(pos int) int { return s.c.Heads * kv.PagesFor(pos+1) * kv.PageTokens }

// plan adds n tokens of a sequence to the pass.
func (s *Scheduler) plan(q *Sequence, n int) {
	q.Trace.In(q.Passes, q.Answered())
	m := q.Trace.Begin(trace.StepPlan)
	it := Item{Seq: q, From: q.Cached, N: n, Logits: q.Cached+n == len(q.Tokens)}
	s.items = append(s.items, it)
	if m.On() {
		m.Set("in", fmt.Sprintf("tokens to run: %d, budget %d a pass", len(q.Tokens)-q.Cached, s.c.Budget))
		m.Set("out", fmt.Sprintf("%s of positions %d to %d", it.Kind(), it.From, it.From+n-1))
	}
	m.End()
}

// makeRoom reserves the page of a decoding sequence's next position. When none is free it takes the pages of the
// sequence admitted last, which waits at the head of the queue and computes them again later.
func (s *Scheduler) makeRoom(q *Sequence) bool {
	q.Trace.In(q.Passes, q.Answered())
	for !s.reserve(q, len(q.Tokens)) {
		last := s.running[len(s.running)-1]
		s.preempt(last)
		if last == q {
			return false
		}
	}
	return true
}

// preempt takes slot and pages from a sequence and puts it back at the head of the queue.
func (s *Scheduler) preempt(q *Sequence) {
	s.running = slices.DeleteFunc(s.running, func(r *Sequence) bool { return r == q })
	s.slots[q.Slot] = false
	q.Slot, q.Cached = -1, 0
	s.pool.Release(q.Pages)
	q.Pages = nil
	s.waiting = slices.Insert(s.waiting, 0, q)
	s.items = slices.DeleteFunc(s.items, func(it Item) bool { return it.Seq == q })
}

// Ran notes that an item went through the model.
func (s *Scheduler) Ran(it Item) {
	it.Seq.Cached = it.From + it.N
	it.Seq.Passes++
}

// Finish takes a sequence out, wherever it is.
func (s *Scheduler) Finish(q *Sequence) {
	if q.Slot < 0 {
		s.waiting = slices.DeleteFunc(s.waiting, func(w *Sequence) bool { return w == q })
		return
	}
	s.release(q)
}

// release gives a finished sequence's slot back, then its pages.
func (s *Scheduler) release(q *Sequence) {
	m := q.Trace.Begin(trace.StepRelease)
	slot := q.Slot
	s.running = slices.DeleteFunc(s.running, func(r *Sequence) bool { return r == q })
	s.slots[slot] = false
	q.Slot = -1
	if m.On() {
		m.Set("in", fmt.Sprintf("slot %d", slot))
		m.Set("out", fmt.Sprintf("%d of %d slots taken", len(s.running), s.c.Slots))
	}
	m.End()
	s.freePages(q)
}

// freePages gives a finished sequence's pages back.
func (s *Scheduler) freePages(q *Sequence) {
	m := q.Trace.Begin(trace.StepFreePages)
	n := len(q.Pages)
	freed := s.pool.Release(q.Pages)
	q.Pages = nil
	if m.On() {
		m.Set("in", fmt.Sprintf("%d pages", n))
		m.Set("out", fmt.Sprintf("%d freed; %d of %d free", freed, s.pool.Free(), s.pool.Total()))
	}
	m.End()
}

// Check verifies that no page is leaked or shared wrongly and that slots and sequences agree. Tests call it after passes.
func (s *Scheduler) Check() error {
	var tables [][]kv.Page
	taken := 0
	for _, q := range s.running {
		if q.Slot < 0 || !s.slots[q.Slot] {
			return fmt.Errorf("sched: running sequence %s holds slot %d, which is not taken", q.ID, q.Slot)
		}
		if kv.PagesFor(q.Cached) > len(q.Pages) {
			return fmt.Errorf("sched: sequence %s has %d positions cached in %d pages", q.ID, q.Cached, len(q.Pages))
		}
		tables = append(tables, q.Pages)
	}
	for _, t := range s.slots {
		if t {
			taken++
		}
	}
	if taken != len(s.running) {
		return fmt.Errorf("sched: %d slots taken by %d running sequences", taken, len(s.running))
	}
	return s.pool.Check(tables...)
}
