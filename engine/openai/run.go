package openai

import (
	"context"
	"errors"
	"fmt"
	"time"

	"glassbox/engine"
	"glassbox/trace"
)

// generation is a job in the engine: one running answer for each prompt.
type generation struct {
	j       *job
	ctx     context.Context
	choices []*choice
	merged  chan taken    // several prompts: the events of all, in the order in which they come
	given   chan struct{} // closed when merged is not read any more
	open    int           // answers that have not ended
}

// choice is the answer to one prompt.
type choice struct {
	index  int
	answer Answer
	logs   *logs // nil: no log-probabilities are asked for
	finish string
	ended  bool
	tokens int // of the answer so far
}

type taken struct {
	ch  *choice
	ev  engine.Event
	err error
}

const (
	never     = 365 * 24 * time.Hour
	drainTime = 30 * time.Second // a pass of the slowest backend; the engine drops a request between two passes
)

// errQuiet says that no event came for a while.
var errQuiet = errors.New("no event yet")

// generate takes a job through the engine and writes the answer. When it returns, the engine is done with the request:
// the slot is free and nothing more is recorded of it.
func (s *Server) generate(j *job) error {
	g := &generation{j: j}
	ctx, cancel := j.c.context()
	g.ctx = ctx
	defer g.measure()
	defer g.end(cancel)
	// A client that does not read must not hold up a server that stops.
	hurry := context.AfterFunc(s.closing, func() { j.c.mayWrite() })
	defer hurry()
	if err := g.submit(); err != nil {
		return named(err, j)
	}
	r := newReply(g)
	if j.stream {
		return r.events()
	}
	return r.whole()
}

// named says which parameter of the request is too much for the context.
func named(err error, j *job) error {
	var c *engine.ContextError
	if !errors.As(err, &c) || c.Prompt == 0 {
		return err
	}
	e := explain(err)
	switch {
	case c.Prompt < c.Context:
		e.Param = "max_tokens"
	case j.chat:
		e.Param = "messages"
	default:
		e.Param = "prompt"
	}
	return e
}

// submit hands every prompt to the engine.
func (g *generation) submit() error {
	j := g.j
	total := len(j.prompts) * j.n
	if total > 1 && len(j.request.Stops) > 0 {
		return invalid("glassbox.stop", "glassbox.stop: wanted one answer, found %d: one request at a time may stand still", total)
	}
	for i := range total {
		r, ids := j.request, j.prompts[i/j.n]
		r.ID, r.Tokens, r.Trace = j.c.id, ids, j.c.rec
		if total > 1 {
			r.ID = fmt.Sprintf("%s-%d", j.c.id, i)
		}
		var of Answer
		if again := i % j.n; again > 0 { // the same prompt: its pages are shared, its draws are others
			of = g.choices[i-again].answer
			r.Sampling.Seed += uint64(again)
		}
		a, err := j.c.s.c.Engine.Submit(g.ctx, r, of)
		if err != nil {
			return err
		}
		ch := &choice{index: i, answer: a}
		if j.logs {
			ch.logs = newLogs(j.c.s.tok)
		}
		g.choices = append(g.choices, ch)
		g.open++
		if of == nil {
			j.c.facts.prompt += len(ids)
		}
	}
	j.c.facts.choices = len(g.choices)
	if len(g.choices) > 1 {
		g.merged, g.given = make(chan taken), make(chan struct{})
		for _, ch := range g.choices {
			go g.forward(ch)
		}
	}
	return nil
}

// forward passes on the events of one of several answers. It ends with the answer, which end sees to.
func (g *generation) forward(ch *choice) {
	for {
		ev, err := ch.answer.Next(context.Background())
		select {
		case g.merged <- taken{ch, ev, err}:
		case <-g.given:
			return
		}
		if err != nil || ev.Finish != "" || ev.Err != nil {
			return
		}
	}
}

// next waits for an event, at most for the time given: then the error is errQuiet. Any other error ends the request.
func (g *generation) next(wait time.Duration) (*choice, engine.Event, error) {
	if err := g.ctx.Err(); err != nil { // also while events wait: nobody wants them
		return nil, engine.Event{}, g.cause(err)
	}
	var t taken
	if g.merged == nil {
		ctx, cancel := context.WithTimeout(g.ctx, wait)
		t.ch = g.choices[0]
		t.ev, t.err = t.ch.answer.Next(ctx)
		cancel()
	} else {
		timer := time.NewTimer(wait)
		select {
		case t = <-g.merged:
		case <-g.ctx.Done():
			t.err = g.ctx.Err()
		case <-timer.C:
			t.err = context.DeadlineExceeded
		}
		timer.Stop()
	}
	switch {
	case t.err != nil && g.ctx.Err() == nil && errors.Is(t.err, context.DeadlineExceeded):
		return nil, t.ev, errQuiet
	case t.err != nil:
		return nil, t.ev, g.cause(t.err)
	}
	return t.ch, t.ev, g.note(t.ch, &t.ev)
}

// note counts an event, and returns the error it carries.
func (g *generation) note(ch *choice, ev *engine.Event) error {
	f := &g.j.c.facts
	for _, t := range ev.Tokens {
		now := trace.Now()
		if f.firstToken == 0 {
			f.firstToken = now
		} else if ch.tokens > 0 && len(g.choices) == 1 {
			g.j.c.s.metrics.gap.Observe(seconds(now - f.lastToken))
		}
		f.lastToken = now
		f.output++
		ch.tokens++
		if ch.logs != nil {
			ch.logs.add(t)
		}
	}
	if ev.Err != nil {
		g.close(ch)
		return g.cause(ev.Err)
	}
	if ev.Finish != "" {
		ch.finish, f.finish = ev.Finish, ev.Finish
		g.close(ch)
	}
	return nil
}

func (g *generation) close(ch *choice) {
	if !ch.ended {
		ch.ended = true
		g.open--
	}
}

// cause tells a client that left from a server that stops from any other error.
func (g *generation) cause(err error) error {
	switch {
	case g.ctx.Err() == nil:
		return err
	case errors.Is(context.Cause(g.ctx), errShutdown):
		return errShutdown
	}
	return errGone
}

// end drops what still runs and waits until the engine has let go of it.
func (g *generation) end(cancel context.CancelCauseFunc) {
	cancel(nil)
	ctx, stop := g.drain()
	defer stop()
	if g.merged == nil {
		for _, ch := range g.choices {
			for !ch.ended {
				ev, err := ch.answer.Next(ctx)
				g.settle(taken{ch, ev, err})
			}
		}
		return
	}
	defer close(g.given)
	for g.open > 0 {
		select {
		case t := <-g.merged:
			g.settle(t)
		case <-ctx.Done():
			return
		}
	}
}

// drain is how long end waits: between two passes the engine drops a request, and no longer than another's stop lasts.
func (g *generation) drain() (context.Context, context.CancelFunc) {
	wait := drainTime
	if e, ok := g.j.c.s.c.Engine.(stopper); ok {
		if at, _ := e.Stops().State(); at.Paused {
			wait += at.Left
		}
	}
	return context.WithTimeout(context.Background(), wait)
}

// settle closes an answer that has ended.
func (g *generation) settle(t taken) {
	if t.err != nil || t.ev.Finish != "" || t.ev.Err != nil {
		g.close(t.ch)
	}
}
