package export

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"

	"glassbox/trace/file"
)

// DocLimit is the most that a recording for a page of documentation weighs, bytes.
const DocLimit = 200_000

// Doc writes a recording for a page of documentation: the same schema (docs/trace.schema.json), so that the tracer opens it, in
// less than DocLimit bytes, one line a step and a span. What changes from run to run without meaning, such as ids of the
// request, is left out; steps keep the count and the time of the whole recording. Kept are the spans outside of passes and one
// decode pass, the one of median length, as far as there is room; "dropped" says how many are not.
func Doc(w io.Writer, rec *file.Recording) error {
	small := *rec
	small.ID, small.Arrays, small.RawSources, small.Modules = "doc", nil, nil, nil
	small.Request.ID, small.Request.TraceID, small.Request.TraceParent, small.Request.Number = "", "", "", 0
	small.Model.Tensors, small.Turns, small.Memory = nil, nil, nil
	pass := median(rec)
	var b bytes.Buffer
	for _, less := range []func(){
		func() { docWalk(&small, 3); docSpans(&small, rec, pass, len(rec.Spans)) },
		func() { docSpans(&small, rec, file.None, len(rec.Spans)) },
		func() { docSpans(&small, rec, file.None, 2) },
		func() { docWalk(&small, -1) },
	} {
		less()
		b.Reset()
		if err := file.WriteJSON(&b, &small); err != nil {
			return err
		}
		if b.Len() < DocLimit {
			_, err := w.Write(b.Bytes())
			return err
		}
	}
	return fmt.Errorf("doc: wanted less than %d bytes, found %d with steps and passes alone: record a shorter prompt, or fewer tokens with --max-tokens", DocLimit, b.Len())
}

// median is the number of the decode pass of median length, None when none decodes.
func median(rec *file.Recording) int {
	var all []file.Pass
	for _, p := range rec.Passes {
		if p.Kind == "decode" {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return file.None
	}
	slices.SortStableFunc(all, func(a, b file.Pass) int { return int(a.DurNs - b.DurNs) })
	return all[len(all)/2].Index
}

// docWalk keeps of each step its own source, with around lines of code before and after the lit one; none when negative.
func docWalk(small *file.Recording, around int) {
	small.Walk = slices.Clone(small.Walk)
	for i := range small.Walk {
		s := &small.Walk[i]
		s.Sources, s.Body = nil, ""
		if c := s.Source.Code; c != nil {
			from := min(max(0, s.Source.Line-c.First-around), len(c.Lines))
			to := min(max(from, s.Source.Line-c.First+around+1), len(c.Lines))
			s.Source.Code = &file.Code{First: c.First + from, Lines: c.Lines[from:to]}
			if around < 0 {
				s.Source.Code = nil
			}
		}
	}
}

// docSpans keeps the spans of one pass, and outside of passes at most so many a step, and has the steps name them by their new places.
func docSpans(small, rec *file.Recording, pass, most int) {
	place := make(map[int]int, len(rec.Spans))
	small.Spans = nil
	outside := map[string]int{}
	for i := range rec.Spans {
		s := rec.Spans[i]
		if s.Pass != file.None && s.Pass != pass {
			continue
		}
		if s.Pass == file.None {
			if outside[s.Step]++; outside[s.Step] > most || s.Step == "" && most < len(rec.Spans) {
				continue
			}
		}
		if s.Op != "" {
			s.Attrs = maps.Clone(s.Attrs)
			delete(s.Attrs, "busy_ns")
		}
		place[i] = len(small.Spans)
		small.Spans = append(small.Spans, s)
	}
	for i := range small.Walk {
		kept := []int{}
		for _, n := range rec.Walk[i].Spans {
			if to, ok := place[n]; ok {
				kept = append(kept, to)
			}
		}
		small.Walk[i].Spans = kept
	}
	small.Dropped = file.Dropped{Spans: rec.Dropped.Spans + int64(len(rec.Spans)-len(small.Spans)), Why: "left out of the form for documentation; the steps' times and counts are of all"}
}
