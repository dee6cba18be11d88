package importer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"glassbox/trace/file"
	"glassbox/trace/otlp"
)

// readOTLP reads spans: one export, or one a line as collectors write them. The scanner stands behind "resourceSpans".
func readOTLP(s *scanner, o Options) (*file.Recording, *Report, error) {
	rep := &Report{Form: "OTLP JSON"}
	var spans []otlp.Received
	for {
		var list json.RawMessage
		if err := s.decode(&list); err != nil {
			return nil, nil, s.explain(err)
		}
		more, refused, err := otlp.ParseJSON(append(append([]byte(`{"resourceSpans":`), list...), '}'))
		if err != nil {
			return nil, nil, s.explain(err)
		}
		rep.Events += int64(len(more) + refused)
		rep.Spans += int64(len(more))
		rep.Refused += int64(refused)
		if refused > 0 && rep.Why == "" {
			rep.Why = "a span whose ids or times are none"
		}
		room := max(o.Most-len(spans), 0)
		if len(more) > room {
			for i := range more[room:] {
				rep.FoldedNs += more[room+i].End - more[room+i].Start
			}
			rep.Folded += int64(len(more) - room)
			more = more[:room]
		}
		spans = append(spans, more...)
		if again, err := nextExport(s); err != nil {
			return nil, nil, s.explain(err)
		} else if !again {
			break
		}
	}
	if len(spans) == 0 {
		return nil, nil, fmt.Errorf("wanted spans, found none of %d that can be used%s", rep.Events, because(rep.Why))
	}
	return laneSpans(spans, rep), rep, nil
}

// nextExport passes over the rest of an object, and tells whether another begins.
func nextExport(s *scanner) (bool, error) {
	for s.more() {
		if _, err := s.key(); err != nil {
			return false, err
		}
		if err := s.skip(); err != nil {
			return false, err
		}
	}
	if _, err := s.token(); err != nil {
		return false, err
	}
	for s.more() {
		t, err := s.token()
		if err != nil || t != json.Delim('{') {
			return false, fmt.Errorf("wanted another export of spans, found %.40v: %w", t, err)
		}
		for s.more() {
			key, err := s.key()
			if err != nil {
				return false, err
			}
			if key == "resourceSpans" {
				return true, nil
			}
			if err := s.skip(); err != nil {
				return false, err
			}
		}
		if _, err := s.token(); err != nil {
			return false, err
		}
	}
	return false, nil
}

// laneSpans puts spans on a lane a service and trace.
func laneSpans(spans []otlp.Received, rep *Report) *file.Recording {
	began := spans[0].Start
	for i := range spans {
		began = min(began, spans[i].Start)
	}
	for i := range spans { // of a clock that stood still for decades
		if spans[i].Start-began > latest {
			spans[i].Start, spans[i].End = began, began
			rep.Mended++
		}
	}
	c := newChrome(Options{Most: len(spans) + 3*len(spans)})
	slices.SortStableFunc(spans, func(a, b otlp.Received) int { return strings.Compare(a.Service, b.Service) })
	rec := &file.Recording{Device: file.Device{Kind: "unknown", Name: "not said in the file", Features: []string{}},
		Clock: file.Clock{Name: "of the imported spans", ResolutionNs: 1}, Started: time.Unix(0, began).UTC().Format(time.RFC3339Nano)}
	rec.Request.Params = file.Attrs{}
	rec.Request.TraceID = fmt.Sprintf("%x", spans[0].Trace)
	by := map[string][]file.Span{}
	var order []string
	for i := range spans {
		s := SpanOf(&spans[i], began)
		key := fmt.Sprintf("%s:%x", spans[i].Service, spans[i].Trace[:4])
		if by[key] == nil {
			order = append(order, key)
		}
		by[key] = append(by[key], s)
		if p, ok := PhasesOf(&spans[i]); ok && s.Attrs[attrQueue] != nil {
			by[key] = append(by[key], p.spans(began)...)
		}
	}
	for n, key := range order {
		c.lanes = append(c.lanes, laneKey{pid: "spans", tid: key})
		c.thread[laneKey{pid: "spans", tid: key}] = key
		list := make([]item, len(by[key]))
		for i, s := range by[key] {
			list[i] = item{name: s.Name, lane: n, start: s.StartNs, dur: s.DurNs}
		}
		at := len(rec.Spans)
		order := make([]int, len(list))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int {
			if list[a].start != list[b].start {
				return int(min(max(list[a].start-list[b].start, -1), 1))
			}
			return int(min(max(list[b].dur-list[a].dur, -1), 1))
		})
		sorted := make([]item, len(list))
		for i, k := range order {
			sorted[i] = list[k]
		}
		c.place(rec, sorted, 0)
		for i, k := range order {
			rec.Spans[at+i].Attrs, rec.Spans[at+i].Prov = by[key][k].Attrs, by[key][k].Prov
		}
	}
	rep.Lanes, rep.Crowded = len(rec.Lanes), c.rep.Crowded
	if rep.Folded > 0 {
		rec.Dropped = file.Dropped{Spans: rep.Folded, Why: "the file has more spans than are kept"}
	}
	return rec
}

// spans are the phases as spans of their own.
func (p Phases) spans(began int64) []file.Span {
	var out []file.Span
	for _, one := range []struct {
		name string
		at   Interval
	}{{"queue", p.Queue}, {"prefill", p.Prefill}, {"decode", p.Decode}} {
		if one.at.Told {
			out = append(out, file.Span{Name: one.name, StartNs: max(one.at.Start-began, 0), DurNs: one.at.End - one.at.Start, Prov: "derived", Attrs: file.Attrs{"how": one.at.How}})
		}
	}
	return out
}
