package file

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"glassbox/trace"
)

// Head is what a recording says of the engine before the first span.
type Head struct {
	Engine   Engine
	Model    Model
	Device   Device
	Clock    Clock
	Untraced *Untraced
	Memory   *Memory // without changes
}

// Delta is what a request did since the last one: new spans, passes and tokens of the answer, in the form of the file.
// Spans come in the order in which they ended, without parents; their times and ids are final.
type Delta struct {
	Spans   []Span
	Passes  []Pass
	Tokens  []Token
	Calls   []Call
	Turns   []Turn
	Pages   []PageChange
	Dropped int64                  // spans lost so far, in all
	Sources map[string][]SourceRef // source positions not seen before, by step
}

// Empty tells whether nothing happened.
func (d *Delta) Empty() bool {
	return len(d.Spans)+len(d.Passes)+len(d.Tokens)+len(d.Calls)+len(d.Turns)+len(d.Pages)+len(d.Sources) == 0
}

// add appends a later delta.
func (d *Delta) add(more *Delta) {
	if d.Empty() {
		*d = *more
		return
	}
	d.Spans = append(d.Spans, more.Spans...)
	d.Passes = append(d.Passes, more.Passes...)
	d.Tokens = append(d.Tokens, more.Tokens...)
	d.Calls = append(d.Calls, more.Calls...)
	d.Turns = append(d.Turns, more.Turns...)
	d.Pages = append(d.Pages, more.Pages...)
	d.Dropped = more.Dropped
	for step, refs := range more.Sources {
		if d.Sources == nil {
			d.Sources = map[string][]SourceRef{}
		}
		d.Sources[step] = append(d.Sources[step], refs...)
	}
}

// AppendJSON appends {"spans":[…],"passes":[…],"tokens":[…],"dropped":n}, where there are any with "calls", "turns" and "pages"
// (the changes of memory), the elements as in trace.json.
func (d *Delta) AppendJSON(b []byte) []byte { return append(d.appendFields(append(b, '{')), '}') }

// MarshalJSON writes the delta as AppendJSON does.
func (d Delta) MarshalJSON() ([]byte, error) { return d.AppendJSON(nil), nil }

func (d *Delta) appendFields(b []byte) []byte {
	b = append(b, `"spans":`...)
	b = appendList(b, d.Spans, func(b []byte, s Span) []byte { return s.AppendJSON(b) })
	b = append(b, `,"passes":`...)
	b = appendMarshalled(b, orEmpty(d.Passes))
	b = append(b, `,"tokens":`...)
	b = appendMarshalled(b, orEmpty(d.Tokens))
	if len(d.Calls) > 0 {
		b = appendMarshalled(append(b, `,"calls":`...), d.Calls)
	}
	if len(d.Turns) > 0 {
		b = appendMarshalled(append(b, `,"turns":`...), d.Turns)
	}
	if len(d.Pages) > 0 {
		b = appendMarshalled(append(b, `,"pages":`...), d.Pages)
	}
	return appendKeyInt(b, `,"dropped":`, d.Dropped)
}

// appendMarshalled appends passes and tokens, whose fields cannot fail to be written.
func appendMarshalled(b []byte, v any) []byte {
	raw, _ := marshal(v)
	return append(b, raw...)
}

// Builder turns what a recorder gathered into a recording. One goroutine uses it.
type Builder struct {
	rec     *trace.Recorder
	out     Recording
	ids     map[string]int // how often a path was used, outside the ops
	passIDs map[string]int // how often the head of a pass was used: KIND/PASS
	opIDs   map[string]int // how often a path was used in the pass at hand
	kernels map[trace.KernelID]string
	sources *sourceSet
	path    []byte
	traceID string
	pages   []PageChange
}

// NewBuilder begins the recording of a recorder's request.
func NewBuilder(rec *trace.Recorder, head Head) *Builder {
	b := &Builder{rec: rec, ids: map[string]int{}, passIDs: map[string]int{}, opIDs: map[string]int{}, kernels: map[trace.KernelID]string{}, sources: newSourceSet()}
	b.out = Recording{
		ID: rec.ID, Schema: Schema{SchemaName, SchemaVersion}, Engine: head.Engine, Model: head.Model, Device: head.Device,
		Clock: head.Clock, Untraced: head.Untraced, Memory: head.Memory, Started: trace.Wall(rec.Start).UTC().Format(startedForm),
		Lanes: engineLanes(),
	}
	id := make([]byte, 16)
	rand.Read(id) // never fails
	b.traceID = hex.EncodeToString(id)
	return b
}

// startedForm is RFC 3339 with all nine digits, so that started times sort as text.
const startedForm = "2006-01-02T15:04:05.000000000Z07:00"

func engineLanes() []Lane {
	var lanes []Lane
	for _, l := range []trace.Lane{trace.LaneHTTP, trace.LaneLoop, trace.LaneWorkers} {
		lanes = append(lanes, Lane{ID: l.String(), Title: l.Title()})
	}
	return lanes
}

// Head returns the recording as it is before its first span: a copy that does not change.
func (b *Builder) Head() *Recording {
	h := b.out
	h.Spans, h.Passes, h.Calls, h.Turns = nil, nil, nil, nil
	return &h
}

// Append takes in a batch and returns what is new. The passes of the batch are not kept: recycle them.
func (b *Builder) Append(batch *trace.Batch) Delta {
	spans, passes, tokens := len(b.out.Spans), len(b.out.Passes), len(b.out.Request.OutputTokens)
	calls, turns, pages := len(b.out.Calls), len(b.out.Turns), len(b.pages)
	for i := range batch.Spans {
		b.span(&batch.Spans[i])
	}
	for _, p := range batch.Passes {
		b.pass(p)
	}
	for i := range batch.Tokens {
		b.out.Request.OutputTokens = append(b.out.Request.OutputTokens, b.token(&batch.Tokens[i]))
	}
	b.turns(batch)
	b.out.Dropped.Spans = batch.Dropped
	o := &b.out
	return Delta{
		Spans: o.Spans[spans:len(o.Spans):len(o.Spans)], Passes: o.Passes[passes:len(o.Passes):len(o.Passes)],
		Tokens: o.Request.OutputTokens[tokens:len(o.Request.OutputTokens):len(o.Request.OutputTokens)],
		Calls:  o.Calls[calls:len(o.Calls):len(o.Calls)],
		Turns:  o.Turns[turns:len(o.Turns):len(o.Turns)], Pages: b.pages[pages:len(b.pages):len(b.pages)],
		Dropped: batch.Dropped, Sources: b.sources.take(),
	}
}

// span takes in a span outside the ops. Its id is STAGE/STEP, with the output token (deliver) or the pass (the other
// stages) between them when it belongs to one: deliver/12/draw, schedule/3/plan_pass. A span of deliver that belongs to a
// pass and to no token is deliver/pass3/STEP.
func (b *Builder) span(s *trace.Span) {
	info := s.Step.Info()
	p := append(append(b.path[:0], info.Stage.String()...), '/')
	switch {
	case info.Stage == trace.Deliver && s.Token >= 0:
		p = append(strconv.AppendInt(p, int64(s.Token), 10), '/')
	case info.Stage == trace.Deliver && s.Pass >= 0:
		p = append(strconv.AppendInt(append(p, "pass"...), int64(s.Pass), 10), '/')
	case info.Stage != trace.Deliver && s.Pass >= 0:
		p = append(strconv.AppendInt(p, int64(s.Pass), 10), '/')
	}
	p = append(p, info.Name...)
	b.path = p
	o := Span{
		ID: unique(b.ids, p), Step: info.Name, Name: info.Name, Lane: s.Lane.String(), Pass: max(int(s.Pass), None), Layer: None,
		Prov: trace.Measured.String(),
	}
	if n := len(s.Attrs); n > 0 || s.Token >= 0 {
		o.Attrs = make(Attrs, n+1)
		for _, a := range s.Attrs {
			o.Attrs[a.Key] = clean(a.Value)
		}
		if s.Token >= 0 {
			o.Attrs["token"] = int64(s.Token)
		}
	}
	b.place(&o, s.Start, s.Dur)
	b.sources.add(s.Step, s.PC, true)
	b.out.Spans = append(b.out.Spans, o)
}

// pass takes in a pass and its ops. An op's id is KIND/PASS/L17/STEP, and KIND/PASS/STEP outside the layers.
func (b *Builder) pass(p *trace.PassOps) {
	pass := Pass{Index: p.Index, Kind: p.Kind.String(), Tokens: p.Tokens, BatchTokens: p.Batch, Requests: p.Requests, CaptureNs: p.Capture, PausedNs: p.Paused}
	at := Span{}
	b.place(&at, p.Start, p.Dur)
	pass.StartNs, pass.DurNs = at.StartNs, at.DurNs
	if len(p.Calls) > 0 {
		pass.Clocks = &Clocks{p.Clocks.Residual, p.Clocks.Drift}
	}
	b.out.Passes = append(b.out.Passes, pass)
	head := unique(b.passIDs, strconv.AppendInt(append([]byte(pass.Kind), '/'), int64(p.Index), 10)) + "/"
	clear(b.opIDs)
	first := len(b.out.Spans)
	busy := make([]int64, len(p.Busy))
	for i, n := range p.Busy {
		busy[i] = int64(n)
	}
	for i := range p.Ops {
		o := &p.Ops[i]
		step := o.Op.Step()
		id := append(b.path[:0], head...)
		if o.Layer >= 0 {
			id = append(strconv.AppendInt(append(id, 'L'), int64(o.Layer), 10), '/')
		}
		name := step.String()
		id = append(id, name...)
		b.path = id
		s := Span{
			ID: unique(b.opIDs, id), Step: name, Name: name, Op: name, Lane: trace.LaneWorkers.String(), Pass: p.Index,
			Layer: max(int(o.Layer), None), Kernel: b.kernel(o.Kernel), Bytes: o.Bytes, Flops: o.Flops, Prov: trace.Measured.String(),
		}
		if w := p.Workers; w > 0 && len(busy) >= (i+1)*w {
			s.Attrs = Attrs{"busy_ns": busy[i*w : (i+1)*w : (i+1)*w]}
		}
		b.place(&s, o.Start, o.Dur)
		b.sources.add(step, o.PC, true)
		b.sources.add(step, o.Fn, false)
		b.out.Spans = append(b.out.Spans, s)
	}
	b.calls(p, b.out.Spans[first:])
}

// unique makes a path into an id: the second one with the same path gets "#2", and so on.
func unique(used map[string]int, path []byte) string {
	n := used[string(path)] + 1
	id := string(path)
	used[id] = n
	if n > 1 {
		id += "#" + strconv.Itoa(n)
	}
	return id
}

func (b *Builder) kernel(k trace.KernelID) string {
	name, ok := b.kernels[k]
	if !ok {
		name = k.String()
		b.kernels[k] = name
	}
	return name
}

// place sets the times of a span relative to the first byte. What lies before it is cut away and said so in the
// attribute before_first_byte_ns: such a span ends where it ended and is shorter by that much.
func (b *Builder) place(s *Span, start, dur int64) {
	from, to := start-b.rec.Start, start-b.rec.Start+dur
	if from < 0 {
		if s.Attrs == nil {
			s.Attrs = Attrs{}
		}
		s.Attrs["before_first_byte_ns"] = min(-from, dur)
	}
	s.StartNs = max(from, 0)
	s.DurNs = max(to, 0) - s.StartNs
}

// token turns a token of the answer into the form of the file.
func (b *Builder) token(t *trace.Token) Token {
	o := promptToken(t)
	o.TNs = max(t.TimeNs-b.rec.Start, 0)
	if t.Pass >= 0 {
		pass := int(t.Pass)
		o.Pass = &pass
	}
	if t.HasLP {
		o.Logprob = finite(t.Logprob)
	}
	for _, a := range t.Top {
		o.Top = append(o.Top, Alternative{a.ID, strings.ToValidUTF8(a.Text, "\uFFFD"), finite(a.Logprob)})
	}
	return o
}

// finite returns a pointer to a copy of f, nil when JSON has no word for it.
func finite(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}

func promptToken(t *trace.Token) Token {
	return Token{ID: t.ID, Text: strings.ToValidUTF8(t.Text, "\uFFFD"), Bytes: t.Bytes, Special: t.Special}
}

// Request returns what the recorder knows of the request now. The tokens of the answer are those of the batches appended
// so far.
func (b *Builder) Request() Request {
	f := b.rec.Facts()
	r := Request{
		ID: f.RequestID, Number: f.Number, TraceID: b.traceID, TraceParent: f.TraceParent, Endpoint: f.Endpoint, Prompt: f.Prompt,
		Rendered: f.Rendered, Text: f.Text, FinishReason: f.Finish, Error: f.Err, CaptureNs: f.CaptureNs,
		OutputTokens: b.out.Request.OutputTokens[:len(b.out.Request.OutputTokens):len(b.out.Request.OutputTokens)],
	}
	if id := TraceID(f.TraceParent); id != "" {
		r.TraceID = id
	}
	b.stops(&r, &f)
	if len(f.Messages) > 0 {
		r.Messages = wholeJSON(f.Messages)
	}
	r.Params = make(Attrs, len(f.Params))
	for k, v := range f.Params {
		r.Params[k] = clean(v)
	}
	r.PromptTokens = make([]Token, len(f.PromptToks))
	for i := range f.PromptToks {
		r.PromptTokens[i] = promptToken(&f.PromptToks[i])
	}
	return r
}

// wholeJSON returns messages as they were sent; what is not JSON is kept as a string.
func wholeJSON(raw json.RawMessage) json.RawMessage {
	if !json.Valid(raw) {
		return AppendString(nil, string(raw))
	}
	return json.RawMessage(strings.ToValidUTF8(string(raw), "\uFFFD"))
}

// TraceID returns the trace id of a W3C traceparent, "" when there is none that is valid: all zeros and version ff are not.
func TraceID(parent string) string {
	f := strings.Split(parent, "-")
	if len(f) < 4 || len(f[0]) != 2 || f[0] == "ff" || len(f[1]) != 32 || len(f[2]) != 16 || len(f[3]) != 2 {
		return ""
	}
	for _, part := range f[:4] {
		if strings.Trim(part, "0123456789abcdef") != "" {
			return ""
		}
	}
	if strings.Trim(f[1], "0") == "" || strings.Trim(f[2], "0") == "" {
		return ""
	}
	return f[1]
}

// ringFull is why spans are dropped: the engine never waits for the one who records.
const ringFull = "a ring was full: the request made spans faster than they were gathered"

// Finish returns the whole recording: the spans by start, with their parents, and the numbers. The builder may not be
// used after it.
func (b *Builder) Finish() *Recording {
	rec := b.out
	rec.Request = b.Request()
	rec.Memory = withChanges(rec.Memory, b.pages)
	rec.RawSources = b.sources.all()
	if rec.Dropped.Spans > 0 {
		rec.Dropped.Why = ringFull
	}
	finish(&rec)
	return &rec
}
