package query

import (
	"container/heap"

	"glassbox/trace/file"
)

// Segment is a part of the critical path. Span is an index into the recording's spans, None where nothing ran.
type Segment struct {
	StartNs, DurNs int64
	Span           int
}

// CriticalPath cuts the time from the first byte to the end of the last span into segments, each given to the span that
// the request was in at that moment: of those running the one that began last (of two that began together the shorter
// one), whatever its lane. A request's spans hand over to one another, so this is the work that it waited for; a span
// around others keeps what they leave over. The durations add up to the whole.
func CriticalPath(rec *file.Recording) []Segment {
	var path []Segment
	var now int64
	running := &latest{rec: rec}
	emit := func(to int64) {
		for now < to {
			for len(running.spans) > 0 && running.top().EndNs() <= now {
				heap.Pop(running)
			}
			until, who := to, file.None
			if len(running.spans) > 0 {
				until, who = min(to, running.top().EndNs()), running.spans[0]
			}
			if n := len(path); n > 0 && path[n-1].Span == who {
				path[n-1].DurNs += until - now
			} else {
				path = append(path, Segment{now, until - now, who})
			}
			now = until
		}
	}
	var end int64
	for i := range rec.Spans { // by start
		emit(rec.Spans[i].StartNs)
		heap.Push(running, i)
		end = max(end, rec.Spans[i].EndNs())
	}
	emit(end)
	return path
}

// CriticalByStep sums a critical path by step; "" is the time in which nothing ran.
func CriticalByStep(rec *file.Recording, path []Segment) map[string]int64 {
	out := map[string]int64{}
	for _, s := range path {
		step := ""
		if s.Span >= 0 {
			step = rec.Spans[s.Span].Step
		}
		out[step] += s.DurNs
	}
	return out
}

// latest is a heap of spans with the one that began last on top.
type latest struct {
	rec   *file.Recording
	spans []int
}

func (h *latest) top() *file.Span { return &h.rec.Spans[h.spans[0]] }
func (h *latest) Len() int        { return len(h.spans) }
func (h *latest) Swap(i, j int)   { h.spans[i], h.spans[j] = h.spans[j], h.spans[i] }
func (h *latest) Push(x any)      { h.spans = append(h.spans, x.(int)) }

func (h *latest) Less(i, j int) bool {
	a, b := &h.rec.Spans[h.spans[i]], &h.rec.Spans[h.spans[j]]
	if a.StartNs != b.StartNs {
		return a.StartNs > b.StartNs
	}
	if a.DurNs != b.DurNs {
		return a.DurNs < b.DurNs
	}
	return h.spans[i] > h.spans[j]
}

func (h *latest) Pop() any {
	x := h.spans[len(h.spans)-1]
	h.spans = h.spans[:len(h.spans)-1]
	return x
}
