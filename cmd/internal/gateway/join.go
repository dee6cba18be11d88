package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"glassbox/trace"
	"glassbox/trace/file"
	"glassbox/trace/importer"
	"glassbox/trace/otlp"
)

// joins finds the recording that an engine's span belongs to. Exporters send spans seconds after a request has ended, and
// may send those of its beginning before that.
type joins struct {
	mu     sync.Mutex
	known  map[[16]byte][]*joined // by trace id; a caller may send several requests under one
	order  []*joined              // oldest first
	waited int                    // spans of requests that run still
	write  sync.Mutex             // one recording is changed at a time

	Joined, Strange int64 // spans that found their recording, and others
}

// joined is a request whose spans are looked for.
type joined struct {
	trace [16]byte
	span  [8]byte // what the upstream was told as the parent
	began time.Time
	ended time.Time // zero: it runs
	id    string    // of its recording
	early []otlp.Received
}

// Bounds of what is remembered.
const (
	maxJoined = 4096  // requests
	maxEarly  = 20000 // spans of running requests, together
	maxSpans  = 5000  // of an engine in one recording
)

func (j *joins) init() { j.known = map[[16]byte][]*joined{} }

// expect remembers a request before the upstream knows of it.
func (j *joins) expect(x *exchange) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e := &joined{trace: x.trace, span: x.span, began: trace.Wall(x.first), id: x.id}
	j.known[e.trace] = append(j.known[e.trace], e)
	if j.order = append(j.order, e); len(j.order) > maxJoined {
		j.forget(j.order[0])
		j.order = j.order[1:]
	}
}

func (j *joins) forget(e *joined) {
	j.waited -= len(e.early)
	list := slices.DeleteFunc(j.known[e.trace], func(o *joined) bool { return o == e })
	if j.known[e.trace] = list; len(list) == 0 {
		delete(j.known, e.trace)
	}
}

// done says that a request's recording is about to be kept, and returns the spans that came before.
func (j *joins) done(x *exchange, id string) []otlp.Received {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.known[x.trace] {
		if e.id == id {
			early := e.early
			j.waited -= len(early)
			e.early, e.ended = nil, trace.Wall(x.ended)
			return early
		}
	}
	return nil
}

// find returns the request that a span is of: the one that is its parent, else the one that ran when it began, else the last
// of its trace.
func (j *joins) find(s *otlp.Received) *joined {
	list := j.known[s.Trace]
	var ran, last *joined
	for _, e := range list {
		if e.span == s.Parent {
			return e
		}
		start := time.Unix(0, s.Start)
		if !start.Before(e.began) && (e.ended.IsZero() || !start.After(e.ended)) {
			ran = e
		}
		last = e
	}
	return cmp.Or(ran, last)
}

// Take takes the spans that an engine exported; it is the Take of an otlp.Receiver.
func (g *Gateway) Take(spans []otlp.Received) {
	j := &g.joins
	late := map[string][]otlp.Received{}
	j.mu.Lock()
	for _, s := range spans {
		e := j.find(&s)
		switch {
		case e == nil:
			j.Strange++
			continue
		case !e.ended.IsZero():
			late[e.id] = append(late[e.id], s)
		case j.waited < maxEarly:
			e.early = append(e.early, s)
			j.waited++
		}
		j.Joined++
	}
	j.mu.Unlock()
	for id, list := range late {
		if err := g.join(id, list); err != nil {
			g.c.OnError(err)
		}
	}
}

// join puts late spans into a recording that is kept: into a copy, which takes its place.
func (g *Gateway) join(id string, spans []otlp.Received) error {
	g.joins.write.Lock()
	defer g.joins.write.Unlock()
	var old *file.Recording
	err := file.ErrUnknown
	for try := 0; try < 40 && errors.Is(err, file.ErrUnknown); try++ { // it may be about to be kept
		if old, err = g.c.Store.Get(id); errors.Is(err, file.ErrUnknown) {
			time.Sleep(25 * time.Millisecond)
		}
	}
	if errors.Is(err, file.ErrUnknown) {
		return nil // it was deleted
	}
	if err != nil {
		return fmt.Errorf("recording %s: the engine's spans were not joined: %w", id, err)
	}
	rec := *old
	rec.Spans = slices.Clone(old.Spans)
	for i := range rec.Spans { // what is worked out anew
		rec.Spans[i].Parent = ""
	}
	rec.Passes = slices.Clone(old.Passes)
	rec.Lanes = slices.Clone(old.Lanes)
	rec.Request.Params = cloneAttrs(old.Request.Params)
	g.addSpans(&rec, spans)
	numbers := old.Numbers
	file.Finish(&rec)
	g.numbers(&rec)
	rec.Numbers.PromptTokens = cmp.Or(rec.Numbers.PromptTokens, numbers.PromptTokens)
	if g.c.Redact {
		redactEngine(&rec)
	}
	g.Lay(&rec)
	return g.c.Store.Put(&rec)
}

func cloneAttrs(a file.Attrs) file.Attrs {
	out := make(file.Attrs, len(a))
	for k, v := range a {
		out[k] = v
	}
	return out
}

// addSpans puts an engine's spans on its lane. Those that tell of queue, prefill and decode become these spans too, in
// place of what was worked out from the answer.
func (g *Gateway) addSpans(rec *file.Recording, spans []otlp.Received) {
	began, err := time.Parse(time.RFC3339Nano, rec.Started)
	if err != nil {
		return
	}
	have := 0
	seen := map[string]bool{}
	for i := range rec.Spans {
		if rec.Spans[i].Lane == laneEngine {
			have++
		}
		seen[rec.Spans[i].ID] = true
	}
	shift := shiftOf(rec, spans, began.UnixNano())
	for i := range spans {
		s := &spans[i]
		id := fmt.Sprintf("engine/%x", s.ID)
		if seen[id] { // exporters send again when an answer is lost
			continue
		}
		if seen[id] = true; have >= maxSpans {
			rec.Dropped.Spans++
			rec.Dropped.Why = fmt.Sprintf("a recording of the gateway has at most %d spans of an engine", maxSpans)
			continue
		}
		have++
		span := importer.SpanOf(s, began.UnixNano()-shift)
		span.ID, span.Lane = id, laneEngine
		if shift != 0 {
			span.Attrs["clock_shift_ns"] = shift
		}
		rec.Spans = append(rec.Spans, span)
		if p, ok := importer.PhasesOf(s); ok {
			phases(rec, s, p, began.UnixNano()-shift)
		}
	}
}

// phases puts in what an engine says of a request's life.
func phases(rec *file.Recording, s *otlp.Received, p importer.Phases, began int64) {
	for _, one := range []struct {
		step, name string
		at         importer.Interval
	}{{stepQueue, "queue", p.Queue}, {stepPrefill, "prefill", p.Prefill}, {stepDecode, "decode", p.Decode}} {
		if !one.at.Told {
			continue
		}
		rec.Spans = slices.DeleteFunc(rec.Spans, func(o file.Span) bool { return o.Step == one.step })
		derived(rec, one.step, one.name, one.at.Start-began, one.at.End-one.at.Start, file.Attrs{"from": strings.TrimSpace(s.Service + " span " + s.Name), "how": one.at.How})
	}
	if n, ok := s.Attr("gen_ai.usage.prompt_tokens").(int64); ok && n > 0 {
		if _, known := rec.Request.Params.Int("prompt_tokens"); !known {
			rec.Request.Params["prompt_tokens"] = n
		}
	}
}

// slack is how far the engine's clock may be off ours before its spans are moved.
const slack = int64(5 * time.Millisecond)

// shiftOf is what has to be added to an engine's times so that its spans lie between the sending of the request and its
// end, 0 where they do: another machine's clock is another clock.
func shiftOf(rec *file.Recording, spans []otlp.Received, began int64) int64 {
	first, last := spans[0].Start, spans[0].End
	for i := range spans {
		first, last = min(first, spans[i].Start), max(last, spans[i].End)
	}
	var sent, end int64
	for i := range rec.Spans {
		switch s := &rec.Spans[i]; s.Step {
		case stepSend:
			sent = s.StartNs
		case stepEnd:
			end = s.EndNs()
		}
	}
	if first-began >= sent-slack && last-began <= end+slack || end == 0 {
		return 0
	}
	return began + sent - first
}
