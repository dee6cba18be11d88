package sched

import (
	"glassbox/engine/kv"
	"glassbox/trace"
)

// watch gathers what happens to pages, one change for pages that follow each other.
type watch struct {
	tell func(trace.PageChange)
	who  int64 // number of the sequence at work
	open trace.PageChange
}

var whats = map[kv.EventKind]trace.PageWhat{kv.Take: trace.PageTake, kv.Share: trace.PageShare, kv.Drop: trace.PageDrop, kv.Publish: trace.PagePublish, kv.Evict: trace.PageEvict}

// Watch sets who is told of each change of pages, nil for nobody. Flush tells what is not told yet.
func (s *Scheduler) Watch(tell func(trace.PageChange)) {
	s.watch = watch{tell: tell}
	if tell == nil {
		s.pool.Watch(nil)
		return
	}
	s.pool.Watch(func(k kv.EventKind, pg kv.Page) { s.changed(whats[k], pg, -1) })
}

// of says for which sequence pages change from now on.
func (s *Scheduler) of(q *Sequence) {
	s.watch.who = q.Number
}

// changed notes a change of a page; from is of a copy.
func (s *Scheduler) changed(what trace.PageWhat, pg, from kv.Page) {
	w := &s.watch
	if w.tell == nil {
		return
	}
	who := w.who
	if what == trace.PageEvict {
		who = 0
	}
	if c := &w.open; len(c.Pages) == 0 || c.What != what || c.Request != who {
		s.Flush()
		*c = trace.PageChange{At: trace.Now(), What: what, Request: who}
	}
	w.open.Pages = append(w.open.Pages, int32(pg))
	if what == trace.PageCopy {
		w.open.From = append(w.open.From, int32(from))
	}
}

// Flush tells the change that is being gathered.
func (s *Scheduler) Flush() {
	if w := &s.watch; len(w.open.Pages) > 0 && w.tell != nil {
		w.tell(w.open)
		w.open = trace.PageChange{}
	}
}

// State tells who holds which pages, and which are kept, as changes that lead there.
func (s *Scheduler) State() []trace.PageChange {
	now := trace.Now()
	var out []trace.PageChange
	add := func(what trace.PageWhat, who int64, pages []kv.Page) {
		if len(pages) == 0 {
			return
		}
		c := trace.PageChange{At: now, What: what, Request: who}
		for _, pg := range pages {
			c.Pages = append(c.Pages, int32(pg))
		}
		out = append(out, c)
	}
	for _, q := range s.running {
		add(trace.PageHold, q.Number, q.Pages)
	}
	add(trace.PageKeep, 0, s.pool.Published())
	return out
}
