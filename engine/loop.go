package engine

import (
	"fmt"
	"log"
	"runtime/debug"

	"glassbox/engine/sched"
	"glassbox/trace"
)

// loop is the step loop. Each turn takes new requests in, drops those whose client has gone, plans a pass, runs it and
// delivers a token to each request that finished its part.
func (e *Engine) loop() {
	defer close(e.done)
	debug.SetPanicOnFault(true) // a model's file that is cut short while it is mapped ends a pass, not the process
	for e.ctx.Err() == nil {
		if e.sched.Idle() && len(e.work) == 0 {
			select {
			case a := <-e.submit:
				e.take(a)
			case <-e.ctx.Done():
			}
		}
		e.drain()
		e.dropGone()
		e.sched.Admit()
		e.count()
		e.draft()
		e.bound()
		if items := e.sched.Plan(); len(items) > 0 {
			e.pass(items)
		}
		e.workOut()
		e.count()
	}
	e.gate.Lock()
	e.shut = true
	e.gate.Unlock()
	e.drain()
	e.dropWork(func(*work) error { return ErrClosed })
	e.sched.All(func(q *sched.Sequence) { e.fail(q.Owner.(*answer), ErrClosed) })
}

// drain takes all waiting submissions in.
func (e *Engine) drain() {
	for {
		select {
		case a := <-e.submit:
			e.take(a)
		default:
			return
		}
	}
}

// take ends a request's wait on the channel and puts it into the scheduler's queue.
func (e *Engine) take(a *answer) {
	now := trace.Now()
	q := a.seq.Trace.BeginAt(trace.StepQueue, a.submitted)
	q.Set("in", "a sequence on the loop's channel")
	q.Set("out", "seen by the loop between two passes")
	if q.On() {
		if held := e.stops.Held(a.submitted, now); held > 0 {
			q.Set("paused_ns", held)
			q.Set("out", fmt.Sprintf("seen by the loop between two passes; for %.3g s the engine stood still at another request's stop", float64(held)/1e9))
		}
	}
	q.EndAt(now)
	m := a.seq.Trace.Begin(trace.StepDrain)
	e.stats.requests.Add(1)
	e.stats.promptTokens.Add(int64(a.seq.Prompt))
	if err := e.sched.Enqueue(a.seq); err != nil {
		e.stats.failed.Add(1)
		a.finish(Event{Err: err})
	} else {
		e.follow(a)
	}
	if m.On() {
		running, waiting := e.sched.Counts()
		m.Set("in", fmt.Sprintf("%d prompt tokens", a.seq.Prompt))
		m.Set("out", fmt.Sprintf("in the queue: %d running, %d waiting", running, waiting))
	}
	m.End()
}

// dropGone ends requests whose client has gone or whose deadline has passed, running or waiting.
func (e *Engine) dropGone() {
	e.sched.All(func(q *sched.Sequence) {
		switch a := q.Owner.(*answer); {
		case a.ctx.Err() != nil:
			e.fail(a, a.ctx.Err())
		case late(a.req.Deadline):
			e.fail(a, ErrDeadline)
		}
	})
	e.dropWork(func(w *work) error { return w.a.ctx.Err() })
}

// fail takes a request out and ends its stream with an error.
func (e *Engine) fail(a *answer, err error) {
	e.stats.failed.Add(1)
	e.leave(a)
	e.forget(a)
	a.finish(Event{Err: err})
}

// pass runs one pass and delivers its tokens. If the pass or one delivery breaks, the requests concerned fail and the
// loop lives.
func (e *Engine) pass(items []sched.Item) {
	e.stats.passes.Add(1)
	for _, it := range items {
		it.Seq.Owner.(*answer).start()
	}
	start := trace.Now()
	err := guard("pass", func() error { return e.run.Run(items, e.sched.Copies()...) })
	dur := trace.Now() - start
	e.timed(items, dur)
	e.stall.note(items, dur)
	e.turned(items, start, dur)
	if err != nil {
		log.Printf("glassbox: a pass of %d requests failed: %v", len(items), err)
		for _, it := range items {
			e.fail(it.Seq.Owner.(*answer), fmt.Errorf("the engine could not compute this request: %w", err))
		}
		return
	}
	row := 0
	for _, it := range items {
		e.sched.Ran(it)
		if !it.Logits {
			continue
		}
		a := it.Seq.Owner.(*answer)
		first := row
		row += it.Rows()
		if a.measured() {
			continue
		}
		err := guard("delivery", func() error { return e.verify(a, it.Guessed, first) })
		if err != nil {
			log.Printf("glassbox: request %s failed: %v", a.req.ID, err)
			e.fail(a, fmt.Errorf("the engine could not deliver this request: %w", err))
		}
	}
}

// guard turns a panic into an error, so that one request cannot end the loop.
func guard(what string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error in %s: %v", what, p)
		}
	}()
	return f()
}

// count publishes the loop's counters.
func (e *Engine) count() {
	running, waiting := e.sched.Counts()
	e.stats.running.Store(int64(running))
	e.stats.waiting.Store(int64(waiting))
	e.stats.freePages.Store(int64(e.pool.Free()))
	e.stats.keptPages.Store(int64(e.pool.Kept()))
	e.stats.evictions.Store(e.pool.Evicted())
	t := e.sched.Totals()
	e.stats.cachedTokens.Store(t.Matched)
	e.stats.copiedPages.Store(t.Copied)
	e.stats.preemptions.Store(t.Preempted)
}
