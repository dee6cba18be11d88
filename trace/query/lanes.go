package query

import (
	"cmp"
	"slices"

	"glassbox/trace/file"
)

// Timeline is one lane of a recording.
type Timeline struct {
	Lane   file.Lane
	Spans  []int // indices into the recording's spans, by start, the longer first
	Depth  []int // for each of Spans: how many spans of the lane are around it
	Deep   int   // rows needed: the largest depth and one, 0 of an empty lane
	BusyNs int64 // time in which at least one span of the lane ran
}

// Timelines returns the lanes in the recording's order, those that only spans name after them.
func Timelines(rec *file.Recording) []Timeline {
	index := map[string]int{}
	var out []Timeline
	for _, l := range rec.Lanes {
		if _, ok := index[l.ID]; !ok {
			index[l.ID] = len(out)
			out = append(out, Timeline{Lane: l})
		}
	}
	for i := range rec.Spans {
		id := rec.Spans[i].Lane
		at, ok := index[id]
		if !ok {
			at = len(out)
			index[id] = at
			out = append(out, Timeline{Lane: file.Lane{ID: id, Title: id}})
		}
		out[at].Spans = append(out[at].Spans, i)
	}
	for i := range out {
		out[i].layOut(rec)
	}
	return out
}

func (t *Timeline) layOut(rec *file.Recording) {
	slices.SortStableFunc(t.Spans, func(i, j int) int {
		a, b := &rec.Spans[i], &rec.Spans[j]
		return cmp.Or(cmp.Compare(a.StartNs, b.StartNs), cmp.Compare(b.DurNs, a.DurNs))
	})
	t.Depth = make([]int, len(t.Spans))
	var open []int
	var until int64
	for k, i := range t.Spans {
		s := &rec.Spans[i]
		open = enclosing(rec, open, s)
		t.Depth[k] = len(open)
		open = append(open, i)
		t.Deep = max(t.Deep, len(open))
		if s.EndNs() > until {
			t.BusyNs += s.EndNs() - max(s.StartNs, until)
			until = s.EndNs()
		}
	}
}

// Gap is a stretch of time that nothing explains. Before and After are the spans on its sides (indices), None at an end.
type Gap struct {
	StartNs, DurNs int64
	Before, After  int
}

// PassTime is a pass and what of it its ops explain: PassNs = OpsNs + GapNs.
type PassTime struct {
	Index  int
	Kind   string
	PassNs int64
	OpsNs  int64 // covered by ops, counted once where they overlap
	GapNs  int64
	Gaps   []Gap // largest first
}

// ExplainPass holds the ops of a pass against its time. The second result is false when there is no such pass.
func ExplainPass(rec *file.Recording, index int) (PassTime, bool) {
	at := slices.IndexFunc(rec.Passes, func(p file.Pass) bool { return p.Index == index })
	if at < 0 {
		return PassTime{}, false
	}
	p := rec.Passes[at]
	out := PassTime{Index: index, Kind: p.Kind, PassNs: p.DurNs}
	end := p.StartNs + p.DurNs
	until, before := p.StartNs, file.None
	gap := func(to int64, after int) {
		if to > until {
			out.Gaps = append(out.Gaps, Gap{until, to - until, before, after})
			out.GapNs += to - until
		}
	}
	for i := range rec.Spans { // by start
		s := &rec.Spans[i]
		if s.Op == "" || s.Pass != index || s.EndNs() <= until && s.DurNs > 0 || s.StartNs >= end {
			continue
		}
		gap(min(s.StartNs, end), i)
		if to := min(s.EndNs(), end); to >= until {
			until, before = to, i
		}
	}
	gap(end, file.None)
	out.OpsNs = out.PassNs - out.GapNs
	slices.SortStableFunc(out.Gaps, func(a, b Gap) int { return cmp.Compare(b.DurNs, a.DurNs) })
	return out, true
}
