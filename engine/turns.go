package engine

import (
	"slices"

	"glassbox/engine/kv"
	"glassbox/engine/sched"
	"glassbox/engine/tensor"
	"glassbox/trace"
)

// follow begins to tell a recorder of the loop's turns and of the cache's pages.
func (e *Engine) follow(a *answer) {
	r := a.req.Trace
	if r == nil {
		return
	}
	r.Update(func(f *trace.Facts) { f.Number = a.seq.Number })
	e.sched.Flush() // what went before is in the state
	r.AddPages(e.sched.State()...)
	e.followed = append(e.followed, r)
	if len(e.followed) == 1 {
		e.sched.Watch(e.pagesChanged)
	}
}

// leave takes a request out of the scheduler, and its recorder is told of nothing more.
func (e *Engine) leave(a *answer) {
	e.sched.Finish(a.seq)
	e.sched.Flush()
	r := a.req.Trace
	if i := slices.Index(e.followed, r); r != nil && i >= 0 {
		e.followed = slices.Delete(e.followed, i, i+1)
		if len(e.followed) == 0 {
			e.sched.Watch(nil)
		}
	}
}

func (e *Engine) pagesChanged(c trace.PageChange) {
	for _, r := range e.followed {
		r.AddPages(c)
	}
}

// turned tells the recorders of a pass: who was in it, with how many tokens.
func (e *Engine) turned(items []sched.Item, start, dur int64) {
	if len(e.followed) == 0 {
		return
	}
	e.sched.Flush()
	_, waiting := e.sched.Counts()
	t := trace.Turn{Start: start, Dur: dur, Waiting: waiting}
	for _, it := range items {
		t.Parts = append(t.Parts, trace.Part{Request: it.Seq.Number, Kind: it.Kind(), Tokens: it.N, From: it.From})
	}
	for _, r := range e.followed {
		r.AddTurn(t)
	}
}

// Cache describes the KV cache.
type Cache struct {
	PageTokens, Pages int
	Keys, Values      tensor.Type // number formats
	BytesPerToken     int64       // keys and values of one position, in all layers
	Prefixes          bool        // pages are shared between requests that begin alike
}

// Cache returns the shape of the KV cache.
func (e *Engine) Cache() Cache {
	c := Cache{PageTokens: kv.PageTokens, Pages: e.pool.Total(), Prefixes: !e.o.NoPrefix}
	types := e.be.KV()
	c.Keys, c.Values = types.Keys, types.Values
	a := e.model.Graph.Attn
	c.BytesPerToken = int64(e.model.Graph.Layers * a.KVHeads * (c.Keys.RowBytes(a.HeadDim) + c.Values.RowBytes(a.HeadDim)))
	return c
}
