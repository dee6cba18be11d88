package steps

import (
	"cmp"
	"slices"

	"glassbox/trace/file"
)

// StageTime is what a recording says of one stage.
type StageTime struct {
	Steps   int   // of the walk in this stage
	Reached int   // of them
	Spans   int   // of these steps
	BusyNs  int64 // wall-clock time that is this stage's: the four never count an instant twice
	LaneNs  int64 // time of all lanes in this stage, summed; a lane that waits for another is in its stage meanwhile
}

// TimeOf measures the stages of a recording. A lane is in a stage while its innermost span, or the nearest one around that
// has a step, is of the stage: time is counted where the work is, and not again in the functions around it. Where lanes are
// in different stages at once, the wall clock counts for one of them, in the order of first: a scheduler that waits for
// the model computes, and what is sent while the next token is computed costs the client nothing.
func TimeOf(rec *file.Recording) map[string]StageTime {
	out := map[string]StageTime{}
	stageOf := map[string]string{}
	for _, w := range rec.Walk {
		stageOf[w.ID] = w.Stage
		t := out[w.Stage]
		t.Steps++
		t.Spans += len(w.Spans)
		if len(w.Spans) > 0 {
			t.Reached++
		}
		out[w.Stage] = t
	}
	times := map[string][]interval{}
	for stage, lanes := range inStages(rec, stageOf) {
		for _, list := range lanes {
			list = union(list)
			t := out[stage]
			t.LaneNs += length(list)
			out[stage] = t
			times[stage] = append(times[stage], list...)
		}
	}
	var taken []interval
	for _, stage := range first {
		before := length(taken)
		taken = union(append(taken, times[stage]...))
		if t, ok := out[stage]; ok {
			t.BusyNs = length(taken) - before
			out[stage] = t
		}
	}
	return out
}

// first is which stage an instant counts for when several lanes are in different ones.
var first = []string{"compute", "deliver", "schedule", "receive"}

type interval struct{ from, to int64 }

// inStages gives for each stage and lane when the lane was in it.
func inStages(rec *file.Recording, stageOf map[string]string) map[string]map[string][]interval {
	at := byID(rec)
	children := make([][]int, len(rec.Spans))
	stage := make([]string, len(rec.Spans))
	for i := range rec.Spans { // parents come first
		s := &rec.Spans[i]
		stage[i] = stageOf[s.Step]
		p, ok := at[s.Parent]
		if !ok || s.Parent == "" || p >= i || rec.Spans[p].Lane != s.Lane {
			continue
		}
		children[p] = append(children[p], i)
		if stage[i] == "" {
			stage[i] = stage[p]
		}
	}
	out := map[string]map[string][]interval{}
	for i := range rec.Spans {
		s := &rec.Spans[i]
		if stage[i] == "" {
			continue
		}
		if out[stage[i]] == nil {
			out[stage[i]] = map[string][]interval{}
		}
		from := s.StartNs
		for _, c := range children[i] { // by start
			k := &rec.Spans[c]
			if k.StartNs > from {
				out[stage[i]][s.Lane] = append(out[stage[i]][s.Lane], interval{from, k.StartNs})
			}
			from = max(from, k.EndNs())
		}
		if s.EndNs() > from {
			out[stage[i]][s.Lane] = append(out[stage[i]][s.Lane], interval{from, s.EndNs()})
		}
	}
	return out
}

// union joins intervals that touch; the list is sorted.
func union(list []interval) []interval {
	slices.SortFunc(list, func(a, b interval) int { return cmp.Compare(a.from, b.from) })
	var out []interval
	for _, x := range list {
		if n := len(out); n > 0 && x.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, x.to)
			continue
		}
		out = append(out, x)
	}
	return out
}

func length(list []interval) (ns int64) {
	for _, x := range list {
		ns += x.to - x.from
	}
	return ns
}
