// Package query computes what views show of a recording: totals by step, op, layer, pass or kernel, the time of a pass
// that no op explains, the chain of spans that the request waited for, and the rows of a timeline. All of it is pure
// functions over a file.Recording.
//
// It does not know about engines, files or pages.
package query

import (
	"cmp"
	"slices"
	"strconv"

	"glassbox/trace/file"
)

// Key says by what spans are grouped: it returns the group's name, and false for a span that belongs to none.
type Key func(s *file.Span) (string, bool)

// Keys of groups. Op, Layer and Kernel leave out spans that are not ops.
var (
	ByStep   Key = func(s *file.Span) (string, bool) { return s.Step, true }
	ByLane   Key = func(s *file.Span) (string, bool) { return s.Lane, true }
	ByOp     Key = func(s *file.Span) (string, bool) { return s.Op, s.Op != "" }
	ByKernel Key = func(s *file.Span) (string, bool) { return s.Kernel, s.Op != "" && s.Kernel != "" }
	ByLayer  Key = func(s *file.Span) (string, bool) { return strconv.Itoa(s.Layer), s.Op != "" && s.Layer >= 0 }
	ByPass   Key = func(s *file.Span) (string, bool) { return strconv.Itoa(s.Pass), s.Op != "" && s.Pass >= 0 }
)

// Filter chooses spans; nil takes every one.
type Filter func(s *file.Span) bool

// OfPass chooses the spans of one pass.
func OfPass(index int) Filter { return func(s *file.Span) bool { return s.Pass == index } }

// OfLayer chooses the spans of one layer.
func OfLayer(layer int) Filter { return func(s *file.Span) bool { return s.Layer == layer } }

// OfOp chooses the spans of one op.
func OfOp(op string) Filter { return func(s *file.Span) bool { return s.Op == op } }

// All chooses what every one of the filters chooses.
func All(filters ...Filter) Filter {
	return func(s *file.Span) bool {
		for _, f := range filters {
			if f != nil && !f(s) {
				return false
			}
		}
		return true
	}
}

// Group is the total of the spans with one key. Times are ns.
type Group struct {
	Key      string
	Count    int
	TotalNs  int64 // sum of durations
	SelfNs   int64 // TotalNs less what spans inside these took on the same lane, so that sums count nothing twice
	MinNs    int64
	MedianNs int64 // of an even count the mean of the middle two, rounded down
	MaxNs    int64
	Bytes    int64   // 0 = not known
	Flops    int64   // 0 = not known
	Share    float64 // SelfNs as a part of the SelfNs of all groups; the shares add up to 1
	Spans    []int   // indices into the recording's spans, by start
}

// BytesPerS is the rate at which the group's bytes were moved, 0 when bytes or time are not known. Derived.
func (g *Group) BytesPerS() float64 { return rate(g.Bytes, g.TotalNs) }

// FlopsPerS is the rate of arithmetic, 0 when it is not known. Derived.
func (g *Group) FlopsPerS() float64 { return rate(g.Flops, g.TotalNs) }

func rate(n, ns int64) float64 {
	if n <= 0 || ns <= 0 {
		return 0
	}
	return float64(n) / (float64(ns) / 1e9)
}

// Totals groups the spans that pass the filter, largest SelfNs first, then by key.
func Totals(rec *file.Recording, key Key, filter Filter) []Group {
	self := Self(rec)
	index := map[string]int{}
	var groups []Group
	var all int64
	for i := range rec.Spans {
		s := &rec.Spans[i]
		k, ok := key(s)
		if !ok || filter != nil && !filter(s) {
			continue
		}
		at, ok := index[k]
		if !ok {
			at = len(groups)
			index[k] = at
			groups = append(groups, Group{Key: k})
		}
		g := &groups[at]
		g.Count++
		g.TotalNs += s.DurNs
		g.SelfNs += self[i]
		g.Bytes += s.Bytes
		g.Flops += s.Flops
		g.Spans = append(g.Spans, i)
		all += self[i]
	}
	for i := range groups {
		groups[i].spread(rec, all)
	}
	slices.SortFunc(groups, func(a, b Group) int { return cmp.Or(cmp.Compare(b.SelfNs, a.SelfNs), cmp.Compare(a.Key, b.Key)) })
	return groups
}

// spread fills in minimum, median, maximum and share.
func (g *Group) spread(rec *file.Recording, all int64) {
	durs := make([]int64, len(g.Spans))
	for i, n := range g.Spans {
		durs[i] = rec.Spans[n].DurNs
	}
	slices.Sort(durs)
	n := len(durs)
	g.MinNs, g.MaxNs = durs[0], durs[n-1]
	g.MedianNs = durs[n/2]
	if n%2 == 0 {
		g.MedianNs = durs[n/2-1] + (durs[n/2]-durs[n/2-1])/2
	}
	if all > 0 {
		g.Share = float64(g.SelfNs) / float64(all)
	}
}

// Self returns for each span its duration less what the spans directly inside it took on the same lane.
func Self(rec *file.Recording) []int64 {
	self := make([]int64, len(rec.Spans))
	for _, t := range Timelines(rec) {
		open := []int{}
		for _, i := range t.Spans {
			s := &rec.Spans[i]
			self[i] = s.DurNs
			open = enclosing(rec, open, s)
			if len(open) > 0 {
				self[open[len(open)-1]] -= s.DurNs
			}
			open = append(open, i)
		}
	}
	return self
}

// enclosing cuts a stack of open spans down to those around s. Of two that overlap by halves neither is inside the other.
func enclosing(rec *file.Recording, open []int, s *file.Span) []int {
	for len(open) > 0 {
		top := &rec.Spans[open[len(open)-1]]
		if top.EndNs() >= s.EndNs() && top.EndNs() > s.StartNs {
			break
		}
		open = open[:len(open)-1]
	}
	return open
}
