package trace

import (
	"encoding/json"
	"runtime"
	"sync"
	"sync/atomic"
)

// Span is one measured interval of a traced request, outside the ops of a pass (those are OpTime).
type Span struct {
	Step  StepID
	Lane  Lane
	Pass  int32 // the engine pass it belongs to, -1 outside passes
	Token int32 // the output token it works on, -1 where there is none
	Start int64 // ns, clock of Now
	Dur   int64 // ns
	PC    uintptr
	Attrs []Attr
}

// Attr is one fact of a span. Value is a string, bool, int64, float64, []int64 or []float64. The keys "in" and "out"
// hold one line each of what the step took and what it handed on.
type Attr struct {
	Key   string
	Value any
}

// Token is a token of the prompt or of the answer.
type Token struct {
	ID      int
	Text    string  // its own bytes as text; invalid UTF-8 replaced
	Bytes   []byte  // set where the token's bytes are not whole UTF-8
	Special bool    // a mark such as <|im_start|>
	TimeNs  int64   // answer tokens: when it was sampled, clock of Now; 0 = prompt token
	Pass    int32   // answer tokens: the pass whose logits it was drawn from
	Logprob float64 // answer tokens: log-probability under the model's own distribution; HasLP tells whether it is set
	HasLP   bool
	Top     []Alternative // answer tokens: the likeliest at this position, where they were asked for
}

// Alternative is a token the model might have said.
type Alternative struct {
	ID      int
	Text    string
	Logprob float64
}

// Facts is what was asked and what came out, beside the spans.
type Facts struct {
	RequestID   string
	Number      int64           // of the request, counted by the engine from 1
	TraceParent string          // W3C trace context as received, "" if none
	Endpoint    string          // "/v1/chat/completions"
	Messages    json.RawMessage // chat requests
	Prompt      string          // completion requests
	Params      map[string]any  // sampling parameters as used, defaults filled in
	Rendered    string          // the prompt text after the template
	PromptToks  []Token
	OutputToks  []Token
	Text        string
	Finish      string // "stop", "length", "cancelled", "error"
	Err         string
	CaptureNs   int64 // ns after the last token in which captured rows were worked on, before the answer's end was told
	Halts       []Halt
	Edits       []Edit
	Done        bool
}

// ring sizes: a power of two. The collector drains every few milliseconds; a full ring drops and counts.
const (
	spanRing = 4096
	passRing = 256
)

// Recorder collects what one traced request does. Its writers are used by one goroutine each; Drain by one collector.
type Recorder struct {
	ID      string // of the recording
	Capture CaptureSpec
	Start   int64 // when the request's first byte arrived; spans are told relative to it on disk

	writers [lanes]Writer
	passes  ring[*PassOps]
	free    ring[*PassOps]
	dropped atomic.Int64

	mu      sync.Mutex
	facts   Facts
	arrays  []Array
	turns   []Turn        // not drained yet
	pages   []PageChange  // not drained yet
	sent    int           // output tokens already drained
	hurry   chan struct{} // one slot: a ring is half full
	done    chan struct{}
	endOnce sync.Once
}

// NewRecorder returns a recorder for the request whose first byte arrived at start (clock of Now).
func NewRecorder(id string, start int64, capture CaptureSpec) *Recorder {
	r := &Recorder{ID: id, Start: start, Capture: capture, hurry: make(chan struct{}, 1), done: make(chan struct{})}
	for l := range r.writers {
		r.writers[l] = Writer{rec: r, lane: Lane(l), pass: -1, token: -1}
		r.writers[l].spans.init(spanRing)
	}
	r.passes.init(passRing)
	r.free.init(passRing)
	return r
}

// Writer returns the writer of a lane. Only the goroutine that is that lane may use it. A nil recorder gives nil.
func (r *Recorder) Writer(l Lane) *Writer {
	if r == nil {
		return nil
	}
	return &r.writers[l]
}

// Update changes the facts under the recorder's lock. f must not keep what it is given.
func (r *Recorder) Update(f func(*Facts)) {
	if r == nil {
		return
	}
	r.mu.Lock()
	f(&r.facts)
	r.mu.Unlock()
}

// AddToken appends a token of the answer.
func (r *Recorder) AddToken(t Token) {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.facts.OutputToks = append(r.facts.OutputToks, t)
	r.mu.Unlock()
}

// End says that the request is over and nothing more will be written. It may be called more than once.
func (r *Recorder) End() {
	if r == nil {
		return
	}
	r.endOnce.Do(func() {
		r.Update(func(f *Facts) { f.Done = true })
		close(r.done)
	})
}

// Hurry receives when a ring is half full: the collector should drain now.
func (r *Recorder) Hurry() <-chan struct{} { return r.hurry }

// nudge tells the collector to hurry.
func (r *Recorder) nudge() {
	select {
	case r.hurry <- struct{}{}:
	default:
	}
}

// Done is closed by End.
func (r *Recorder) Done() <-chan struct{} { return r.done }

// Batch is what a recorder gathered since the last Drain.
type Batch struct {
	Spans   []Span
	Passes  []*PassOps // give each back with Recycle when read
	Tokens  []Token    // new tokens of the answer
	Turns   []Turn
	Pages   []PageChange
	Dropped int64 // spans lost so far, in all: a full ring drops, it never blocks compute
}

// Drain takes what was written since the last call. Only the collector calls it.
func (r *Recorder) Drain(b *Batch) {
	b.Spans, b.Passes = b.Spans[:0], b.Passes[:0]
	for l := range r.writers {
		w := &r.writers[l]
		for s, ok := w.spans.pop(); ok; s, ok = w.spans.pop() {
			b.Spans = append(b.Spans, s)
		}
	}
	for p, ok := r.passes.pop(); ok; p, ok = r.passes.pop() {
		b.Passes = append(b.Passes, p)
	}
	r.mu.Lock()
	b.Tokens = append(b.Tokens[:0], r.facts.OutputToks[r.sent:]...)
	r.sent = len(r.facts.OutputToks)
	b.Turns, r.turns = r.turns, nil
	b.Pages, r.pages = r.pages, nil
	r.mu.Unlock()
	b.Dropped = r.dropped.Load()
}

// Facts returns a copy of the facts so far; slices are shared and only ever appended to.
func (r *Recorder) Facts() Facts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.facts
}

// Writer writes the spans of one lane.
type Writer struct {
	rec   *Recorder
	lane  Lane
	pass  int32
	token int32
	spans ring[Span]
}

// On tells whether anything is recorded: use it around work that only the recording needs.
func (w *Writer) On() bool { return w != nil }

// Recorder returns the recorder this writer belongs to, nil when tracing is off.
func (w *Writer) Recorder() *Recorder {
	if w == nil {
		return nil
	}
	return w.rec
}

// In says which pass and which output token the following spans belong to; -1 for neither.
func (w *Writer) In(pass, token int) {
	if w != nil {
		w.pass, w.token = int32(pass), int32(token)
	}
}

// Mark is a span that has begun.
type Mark struct {
	w     *Writer
	step  StepID
	start int64
	pc    uintptr
	attrs []Attr
}

// Begin starts a span of the calling function; the tracer shows the line of this call as the step's source line.
//
//go:noinline
func (w *Writer) Begin(step StepID) Mark {
	if w == nil {
		return Mark{}
	}
	return Mark{w: w, step: step, start: Now(), pc: callerPC(3)}
}

// BeginAt is Begin for a span that began earlier, at start on the clock of Now.
//
//go:noinline
func (w *Writer) BeginAt(step StepID, start int64) Mark {
	if w == nil {
		return Mark{}
	}
	return Mark{w: w, step: step, start: start, pc: callerPC(3)}
}

// callerPC returns the program counter of a caller; skip counts as in runtime.Callers. It and its callers are kept from
// inlining so that one return address is enough to tell the caller's line.
//
//go:noinline
func callerPC(skip int) uintptr {
	var pcs [1]uintptr
	if runtime.Callers(skip, pcs[:]) == 0 {
		return 0
	}
	return pcs[0]
}

// On tells whether the span is recorded.
func (m *Mark) On() bool { return m.w != nil }

// Set adds a fact to the span; guard it with On where making the value costs something. Ints are stored as int64.
func (m *Mark) Set(key string, value any) {
	if m.w == nil {
		return
	}
	if n, ok := value.(int); ok {
		value = int64(n)
	}
	m.attrs = append(m.attrs, Attr{key, value})
}

// End closes the span now.
func (m *Mark) End() {
	if m.w != nil {
		m.EndAt(Now())
	}
}

// EndAt closes the span at a time on the clock of Now.
func (m *Mark) EndAt(end int64) {
	w := m.w
	if w == nil {
		return
	}
	s := Span{Step: m.step, Lane: w.lane, Pass: w.pass, Token: w.token, Start: m.start, Dur: max(end-m.start, 0), PC: m.pc, Attrs: m.attrs}
	if !w.spans.push(s) {
		w.rec.dropped.Add(1)
	}
	if w.spans.halfFull() {
		w.rec.nudge()
	}
	m.w = nil
}
