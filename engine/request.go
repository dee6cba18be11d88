package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"glassbox/engine/capture"
	"glassbox/engine/grammar"
	"glassbox/engine/sample"
	"glassbox/engine/sched"
	"glassbox/engine/stops"
	"glassbox/trace"
)

// Request is one prompt to be answered.
type Request struct {
	ID        string
	Tokens    []int // prompt ids
	MaxTokens int   // most tokens of the answer; 0 = as many as the context holds
	Sampling  sample.Params
	Stop      []string         // the answer ends before the first of these texts
	Logprobs  int              // -1 = none; else log-probabilities of the token and of this many likeliest
	IgnoreEOS bool             // go on past the end-of-turn token, for benchmarks
	MinTokens int              // no end-of-turn token and no stop text ends the answer before it has so many
	Grammar   *grammar.Grammar // the form that the answer must have; nil: any
	Ablate    capture.Ablation // parts of the model that are switched off for this request
	Stops     []stops.Point    // where the engine stands still, for Engine.Stops to look and change; one request at a time
	Priority  int              // lower is more urgent
	Deadline  time.Time        // the answer breaks off with ErrDeadline when it has not ended by then; zero: none
	Salt      string           // shares keys and values only with requests that have the same
	Fork      *Stream          // a request with the same prompt whose keys and values are shared once they are computed, also without a prefix cache
	Draft     string           // "off": decode plainly, whatever the engine drafts with; "" = as the engine does
	Trace     *trace.Recorder  // what is captured is in its Capture; the arrays are attached to it before the stream ends
}

// ContextError is a prompt that leaves no room for an answer.
type ContextError struct{ Prompt, MaxTokens, Context int }

func (e *ContextError) Error() string {
	if e.MaxTokens > 0 {
		return fmt.Sprintf("this model's context is %d tokens, but the prompt has %d and the answer may take %d: shorten the prompt or lower max_tokens", e.Context, e.Prompt, e.MaxTokens)
	}
	return fmt.Sprintf("this model's context is %d tokens, but the prompt has %d: shorten the prompt", e.Context, e.Prompt)
}

// TokenError is a prompt id outside the vocabulary.
type TokenError struct{ Index, ID, Vocab int }

func (e *TokenError) Error() string {
	return fmt.Sprintf("prompt token %d: wanted an id from 0 to %d, found %d", e.Index, e.Vocab-1, e.ID)
}

// TokenLogprob is a token of the answer and, if asked for, what the model thought of it.
type TokenLogprob struct {
	ID      int
	Logprob float64
	Top     []sample.Logprob
}

// Event is one step of an answer: every token gives one, and the end gives one with Finish or Err set.
type Event struct {
	Tokens []TokenLogprob // the tokens this event is about; none in the last
	Text   string         // text that became certain: whole characters, no part of a stop string
	Finish string         // "stop" or "length": the answer is complete
	Err    error          // the answer broke off: the request's context ended, or ErrClosed
}

// Usage counts a request's tokens. Cached are those of the prompt whose keys and values were computed for others before.
// Submitted, Started and First are times on the clock of trace.Now: the hand-over to the loop, the begin of the first pass
// with a token of this request, the first token of the answer; 0 = not yet.
type Usage struct {
	Prompt, Output, Cached    int
	Submitted, Started, First int64
}

// Stream is a running answer. It is read by one goroutine.
type Stream struct {
	mu     sync.Mutex
	events []Event
	wake   chan struct{}
	usage  Usage
	seq    *sched.Sequence // the loop's
	prompt []int32         // does not change
}

// Next waits for the next event. After one with Finish or Err there is none: do not call it again.
func (s *Stream) Next(ctx context.Context) (Event, error) {
	for {
		s.mu.Lock()
		if len(s.events) > 0 {
			ev := s.events[0]
			s.events = s.events[1:]
			s.mu.Unlock()
			return ev, nil
		}
		s.mu.Unlock()
		select {
		case <-s.wake:
		case <-ctx.Done():
			return Event{}, ctx.Err()
		}
	}
}

// push adds an event; the loop never waits for the reader, and the answer's length bounds the queue.
func (s *Stream) push(ev Event) {
	s.mu.Lock()
	s.events = append(s.events, ev)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Usage returns the token counts so far.
func (s *Stream) Usage() Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.usage
}

// Submit checks a request and hands it to the loop. When ctx ends, the request is dropped wherever it is. Errors:
// *ContextError, *TokenError, *sample.ParamError, *ShardError, *capture.SizeError, *stops.PointError, *stops.BusyError,
// ErrCapturesFull, ErrQueueFull, ErrDeadline, ErrClosed.
func (e *Engine) Submit(ctx context.Context, r Request) (*Stream, error) {
	if late(r.Deadline) {
		return nil, ErrDeadline
	}
	w := r.Trace.Writer(trace.LaneHTTP)
	if err := e.whole(&r); err != nil {
		return nil, err
	}
	if err := e.fit(&r, w); err != nil {
		return nil, err
	}
	a, err := e.sequence(ctx, r, w)
	if err != nil {
		return nil, err
	}
	if err := e.enqueue(a, w); err != nil {
		a.release()
		return nil, err
	}
	return a.stream, nil
}

// fit checks that the prompt's ids exist and that prompt and answer fit the context.
func (e *Engine) fit(r *Request, w *trace.Writer) error {
	m := w.Begin(trace.StepFitContext)
	defer m.End()
	for i, id := range r.Tokens {
		if id < 0 || id >= e.model.Config.Vocab {
			return &TokenError{i, id, e.model.Config.Vocab}
		}
	}
	room := e.o.Context - len(r.Tokens)
	if room < 1 || len(r.Tokens) == 0 {
		return &ContextError{Prompt: len(r.Tokens), Context: e.o.Context}
	}
	if r.MaxTokens > room {
		return &ContextError{len(r.Tokens), r.MaxTokens, e.o.Context}
	}
	asked := r.MaxTokens
	if asked == 0 {
		r.MaxTokens = room
	}
	if m.On() {
		m.Set("in", fmt.Sprintf("%d prompt tokens, at most %d more asked for", len(r.Tokens), asked))
		m.Set("out", fmt.Sprintf("%d of %d positions at most", len(r.Tokens)+r.MaxTokens, e.o.Context))
	}
	return nil
}

// sequence makes what the loop needs to run the request: token list, sampler, detokenizer, stop matcher, stream.
func (e *Engine) sequence(ctx context.Context, r Request, w *trace.Writer) (*answer, error) {
	m := w.Begin(trace.StepSequence)
	defer m.End()
	if err := r.Sampling.Check(e.model.Config.Vocab); err != nil {
		return nil, err
	}
	ids := make([]int32, len(r.Tokens), len(r.Tokens)+min(r.MaxTokens, 1024))
	for i, id := range r.Tokens {
		ids[i] = int32(id)
	}
	a := &answer{ctx: ctx, req: r, stream: &Stream{wake: make(chan struct{}, 1), usage: Usage{Prompt: len(ids)}}}
	a.seq = &sched.Sequence{ID: r.ID, Tokens: ids, Prompt: len(ids), Slot: -1, Trace: r.Trace.Writer(trace.LaneLoop), Owner: a}
	a.seq.Priority, a.seq.Salt = r.Priority, r.Salt
	a.stream.seq, a.stream.prompt = a.seq, ids[:len(ids):len(ids)]
	if f := r.Fork; f != nil && f.seq.Salt == r.Salt && slices.Equal(ids, f.prompt) {
		a.seq.Parent = f.seq
	}
	a.sampler = sample.New(r.Sampling, ids)
	e.constrain(a)
	a.detok = e.tok.NewDetokenizer(detokOptions)
	a.stop = newStopMatcher(r.Stop)
	if err := e.stopping(a); err != nil {
		return nil, err
	}
	if err := e.session(a); err != nil {
		a.release()
		return nil, err
	}
	a.seq.Private = a.capture != nil || a.stops != nil // what it writes may not be what the tokens alone give
	a.guesses = e.guesses(a)
	if m.On() {
		m.Set("in", fmt.Sprintf("%d ids", len(ids)))
		m.Set("out", fmt.Sprintf("a sequence; %s", samplingNote(&r)))
	}
	return a, nil
}

// samplingNote says in one line how tokens will be drawn.
func samplingNote(r *Request) string {
	if r.Sampling.Greedy() {
		return fmt.Sprintf("greedy, at most %d tokens", r.MaxTokens)
	}
	return fmt.Sprintf("temperature %g, seed %d, at most %d tokens", r.Sampling.Temperature, r.Sampling.Seed, r.MaxTokens)
}

// enqueue hands the sequence to the loop over a channel, which wakes it.
func (e *Engine) enqueue(a *answer, w *trace.Writer) error {
	m := w.Begin(trace.StepSubmit)
	defer m.End()
	e.gate.RLock()
	defer e.gate.RUnlock()
	if e.shut || e.ctx.Err() != nil {
		return ErrClosed
	}
	a.submitted = trace.Now()
	a.stream.mu.Lock()
	a.stream.usage.Submitted = a.submitted
	a.stream.mu.Unlock()
	select {
	case e.submit <- a:
	default:
		return ErrQueueFull
	}
	if m.On() {
		m.Set("in", "the sequence")
		m.Set("out", fmt.Sprintf("on the loop's channel, %d there", len(e.submit)))
	}
	return nil
}
