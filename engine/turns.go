package engine

import (
	"slices"

	"glassbox/engine/backend"
	"glassbox/engine/kv"
	"glassbox/engine/model"
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
	c := cacheOf(e.model, e.be.KV())
	c.Pages, c.Prefixes = e.pool.Total(), !e.o.NoPrefix
	return c
}

// cacheOf derives what a model's keys and values take in a pair of formats.
func cacheOf(m *model.Model, types backend.KV) Cache {
	a := m.Graph.Attn
	return Cache{PageTokens: kv.PageTokens, Keys: types.Keys, Values: types.Values,
		BytesPerToken: int64(m.Graph.Layers * a.KVHeads * (types.Keys.RowBytes(a.HeadDim) + types.Values.RowBytes(a.HeadDim)))}
}
