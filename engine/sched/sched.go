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
	Slots     int  // sequences that run at once
	Queue     int  // sequences that may wait for a slot
	Budget    int  // most tokens of one pass
	BusyChunk int  // most prompt tokens of a pass that also decodes for others, so that their next token is not late
	Heads     int  // query heads, to bound the scores buffer
	MaxScores int  // most floats of it: sum over tokens of Heads * keys, keys in whole pages
	Prefixes  bool // full pages are found by what they hold, and shared
}

// patience is how many turns a sequence waits until it counts as one priority more urgent: nobody waits for ever.
const patience = 512

// Sequence is a request on its way through the model.
type Sequence struct {
	ID       string
	Number   int64     // counts the sequences of a scheduler from 1; Enqueue gives it
	Tokens   []int32   // prompt, then answer
	Prompt   int       // how many of Tokens are the prompt
	Priority int       // lower is more urgent
	Parent   *Sequence // whose prompt is the same and whose pages are shared once it is computed; nil: none
	Private  bool      // its keys and values are neither taken from other sequences nor given to them
	Salt     string    // sequences with different salts share no pages
	Draft    []int32   // tokens guessed to follow Tokens, for the next pass to check
	Pages    []kv.Page // its page table
	Cached   int       // positions whose keys and values are in the cache
	Matched  int       // of them, those that were there when it was first admitted
	Slot     int       // the slot it holds, -1 while it waits
	Passes   int       // passes it took part in
	Trace    *trace.Writer
	Owner    any // of the engine

	keys    []kv.Key // of its full pages whose tokens are final
	since   int      // the turn in which it was enqueued
	seen    bool     // it was admitted before
	retired bool     // Finish was called
}

// Answered returns how many tokens of the answer there are.
func (s *Sequence) Answered() int { return len(s.Tokens) - s.Prompt }

// Item is one sequence's part of a pass: Tokens[From:From+N] go through the model, the last Guessed of them from Draft.
type Item struct {
	Seq     *Sequence
	From, N int
	Logits  bool // the last of them is the sequence's last: a token is drawn from its logits
	Guessed int  // tokens of Draft at the end, whose logits are wanted too
}

// Rows returns how many rows of logits the item wants: its last ones.
func (it Item) Rows() int {
	if !it.Logits {
		return 0
	}
	return 1 + it.Guessed
}

// Token returns the token at a position of the item.
func (it Item) Token(pos int) int32 {
	if n := len(it.Seq.Tokens); pos >= n {
		return it.Seq.Draft[pos-n]
	}
	return it.Seq.Tokens[pos]
}

// Kind tells whether the item prefills, decodes or checks guessed tokens.
func (it Item) Kind() trace.PassKind {
	if it.Guessed > 0 {
		return trace.Verify
	}
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
	copies  []kv.Copy // to be made before the next pass writes
	turn    int       // counts calls of Admit
	number  int64
	totals  Totals
	watch   watch
}

// Totals count what happened since the scheduler was made.
type Totals struct {
	Matched   int64 // prompt tokens whose keys and values were there when their sequence was admitted
	Copied    int64 // pages copied because others held them
	Preempted int64 // sequences that gave their pages up
}

// Totals returns the counts.
func (s *Scheduler) Totals() Totals { return s.totals }

// New returns a scheduler over a pool of pages.
func New(c Config, pool *kv.Pool) *Scheduler {
	return &Scheduler{c: c, pool: pool, slots: make([]bool, c.Slots)}
}

// Enqueue puts a sequence at the end of the queue.
func (s *Scheduler) Enqueue(q *Sequence) error {
	if len(s.waiting) >= s.c.Queue {
		return ErrQueueFull
	}
	s.number++
	q.Slot, q.Number, q.since = -1, s.number, s.turn
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

// Copies returns the pages to be copied, in order, before the pass that was planned runs, and forgets them.
func (s *Scheduler) Copies() []kv.Copy {
	c := s.copies
	s.copies = s.copies[:0]
	return c
}

// Ran notes that an item went through the model. Guessed tokens do not count until Keep says that they were right.
func (s *Scheduler) Ran(it Item) {
	it.Seq.Cached = it.From + it.N - it.Guessed
	it.Seq.Passes++
}

// Truncate forgets the keys and values of positions from n on: the sequence goes on as if they had never run. Pages that
// hold nothing else are free again.
func (s *Scheduler) Truncate(q *Sequence, n int) {
	q.Cached = min(q.Cached, n)
	q.keys = q.keys[:min(len(q.keys), n/kv.PageTokens)]
	s.of(q)
	if keep := kv.PagesFor(max(n, len(q.Tokens))); keep < len(q.Pages) {
		s.pool.Release(q.Pages[keep:])
		q.Pages = q.Pages[:keep]
	}
}

// Finish takes a sequence out, wherever it is.
func (s *Scheduler) Finish(q *Sequence) {
	q.retired = true
	if q.Slot < 0 {
		s.waiting = slices.DeleteFunc(s.waiting, func(w *Sequence) bool { return w == q })
		return
	}
	s.publish(q)
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

// freePages gives a finished sequence's pages back. Full ones stay known by what they hold, until they are needed.
func (s *Scheduler) freePages(q *Sequence) {
	m := q.Trace.Begin(trace.StepFreePages)
	n := len(q.Pages)
	s.of(q)
	freed := s.pool.Release(q.Pages)
	q.Pages = nil
	if m.On() {
		m.Set("in", fmt.Sprintf("%d pages", n))
		m.Set("out", fmt.Sprintf("%d freed; %d of %d free, %d of them kept for prompts that begin alike", freed, s.pool.Free(), s.pool.Total(), s.pool.Kept()))
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
		if q.Cached >= len(q.Tokens) {
			return fmt.Errorf("sched: sequence %s has %d tokens, all of them cached: none is left to run", q.ID, len(q.Tokens))
		}
		tables = append(tables, q.Pages)
	}
	for _, q := range s.waiting {
		if len(q.Pages) > 0 || q.Slot >= 0 {
			return fmt.Errorf("sched: waiting sequence %s holds slot %d and %d pages", q.ID, q.Slot, len(q.Pages))
		}
	}
	for _, t := range s.slots {
		if t {
			taken++
		}
	}
	if taken != len(s.running) {
		return fmt.Errorf("sched: %d slots taken by %d running sequences", taken, len(s.running))
	}
	for _, it := range s.items {
		if err := s.checkItem(it); err != nil {
			return err
		}
	}
	return s.pool.Check(tables...)
}

// checkItem verifies that the pages an item of the plan at hand writes to are its sequence's alone.
func (s *Scheduler) checkItem(it Item) error {
	if it.Seq.Slot < 0 || it.From != it.Seq.Cached {
		return nil // the plan was carried out
	}
	for i := it.From / kv.PageTokens; i < kv.PagesFor(it.From+it.N); i++ {
		if n := s.pool.Holders(it.Seq.Pages[i]); n != 1 {
			return fmt.Errorf("sched: sequence %s is about to write to page %d, which %d hold", it.Seq.ID, it.Seq.Pages[i], n)
		}
	}
	return nil
}
