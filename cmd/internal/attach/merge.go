package attach

import (
	"encoding/json"
	"fmt"
	"regexp"
	"runtime"
	"time"

	"glassbox/engine/backend"
	"glassbox/steps"
	"glassbox/trace/file"
)

// numbered is how a build of llama.cpp from a repository calls itself: number and commit. Elsewhere it is b0-unknown.
var numbered = regexp.MustCompile(`^(b[1-9]\d*)-([0-9a-f]{7,40})$`)

// merge puts the calls of all threads into one recording. Times count from the request's first byte; calls that began
// before it are not the request's.
func merge(o *Options, a *answer, threads []thread) (*file.Recording, error) {
	e := o.Engine
	rec := &file.Recording{
		Engine: file.Engine{Name: e.Name, Version: e.Version, Commit: e.Commit},
		Device: file.Device{Kind: "cpu", Name: backend.CPUName(), Threads: runtime.NumCPU()},
		Model:  file.Model{Name: a.model},
	}
	if m := numbered.FindStringSubmatch(a.build); e.Native && m != nil { // it says which one it is
		rec.Engine.Version, rec.Engine.Commit = m[1], m[2]
	}
	rec.Started = time.Unix(0, a.began).UTC().Format(time.RFC3339Nano)
	if err := request(rec, o, a); err != nil {
		return nil, err
	}
	lanes := map[string]file.Lane{}
	seen := map[string]int{} // how many spans a lane has had
	for i := range threads {
		t := &threads[i]
		lane := e.LaneOf(t.process, t.name)
		lanes[lane.ID] = lane
		seen[lane.ID] = addSpans(rec, &e, t, lane.ID, a.began, seen[lane.ID])
	}
	if len(rec.Spans) == 0 {
		return nil, fmt.Errorf("no call began behind the request's first byte: is %s the address of this engine?", o.URL)
	}
	file.Finish(rec)
	rec.Numbers.PromptTokens = a.promptTokens // the engine counts them, and does not say which they are
	for i := range rec.Spans {                // in the order in which the request comes to them
		if l, ok := lanes[rec.Spans[i].Lane]; ok {
			rec.Lanes = append(rec.Lanes, l)
			delete(lanes, l.ID)
		}
	}
	return rec, nil
}

// addSpans appends the calls of a thread; n is how many spans its lane has.
func addSpans(rec *file.Recording, e *steps.Engine, t *thread, lane string, began int64, n int) int {
	ids := make([]string, len(t.calls))
	for i := range t.calls {
		c := &t.calls[i]
		if c.start < began {
			continue
		}
		ids[i] = fmt.Sprintf("%s/%d", lane, n)
		n++
		s := file.Span{ID: ids[i], Name: c.fn.name, Lane: lane, StartNs: c.start - began, DurNs: c.dur, Pass: file.None, Layer: file.None, Prov: "measured", Attrs: file.Attrs{}}
		if c.parent >= 0 {
			s.Parent = ids[c.parent]
		}
		if c.fn.file != "" {
			s.Attrs[steps.AttrFile] = e.InRepo(c.fn.file)
		}
		if c.fn.line > 0 {
			s.Attrs[steps.AttrLine] = int64(c.fn.line)
		}
		if c.node != "" {
			s.Attrs[steps.AttrNode] = c.node
		}
		if c.resumed {
			s.Attrs["resumed"] = true
		}
		if c.open {
			s.Attrs["open"] = true
		}
		rec.Spans = append(rec.Spans, s)
	}
	return n
}

// request fills in what was asked and answered.
func request(rec *file.Recording, o *Options, a *answer) error {
	var body map[string]any
	if err := json.Unmarshal(a.body, &body); err != nil {
		return fmt.Errorf("--request: %w", err)
	}
	r := &rec.Request
	r.Endpoint = chatPath
	r.Params = file.Attrs{}
	for k, v := range body {
		if k != "messages" {
			r.Params[k] = v
		}
	}
	var m struct {
		Messages json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(a.body, &m); err != nil {
		return err
	}
	r.ID, r.Messages, r.Text, r.FinishReason = a.id, m.Messages, a.text(), a.finish
	r.PromptTokens = a.prompt
	for _, c := range a.chunks {
		if c.text == "" && len(c.ids) == 0 {
			continue
		}
		t := file.Token{ID: -1, Text: c.text, TNs: c.at - a.began}
		if len(c.ids) > 0 {
			t.ID = c.ids[len(c.ids)-1]
		}
		r.OutputTokens = append(r.OutputTokens, t)
	}
	return nil
}

// numbers are those of the client: chunks as they arrived, and the end of the answer.
func numbers(rec *file.Recording, a *answer) file.Numbers {
	n := file.Measure(rec)
	n.E2ENs = a.ended - a.began
	if n.PromptTokens == 0 {
		n.PromptTokens = a.promptTokens
	}
	if a.outputTokens > 0 {
		n.OutputTokens = a.outputTokens
	}
	return n
}
