// Package engine is the inference engine: Open a model, Submit requests, read each request's Stream, Close. It owns the
// step loop, in which all running requests share every pass through the model.
//
// It does not know about HTTP, pages of the tracer, or where recordings are kept.
package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"glassbox/engine/backend"
	"glassbox/engine/backend/cpu"
	"glassbox/engine/backend/cuda"
	"glassbox/engine/backend/ref"
	"glassbox/engine/capture"
	"glassbox/engine/exec"
	"glassbox/engine/gguf"
	"glassbox/engine/grammar"
	"glassbox/engine/kv"
	"glassbox/engine/model"
	"glassbox/engine/sched"
	"glassbox/engine/spec"
	"glassbox/engine/stops"
	"glassbox/engine/token"
	"glassbox/trace"
)

// Options is what an engine is opened with. Zero values are replaced by defaults.
type Options struct {
	Backend  string // "cpu" (default), "cuda" or "ref"
	Threads  int    // worker threads; default one a core
	Features string // cpu: kernel variant to use instead of the best one
	Context  int    // most positions of a sequence; default what the model was trained for
	Slots    int    // requests that run at once; default 8
	Queue    int    // requests that may wait; default 256
	KVTokens int    // positions the KV cache holds in all; default one full context, or 2048 a slot if that is more
	Budget   int    // most tokens of a pass; default 512
	KV       string // number formats of the KV cache, see backend.ParseKV; default what the backend likes best
	NoPrefix bool   // compute every prompt in full: no pages are shared between requests that begin alike
	Captures int64  // bytes that the captures of a request may take; default capture.Limit

	Draft       string     // how tokens are guessed ahead: spec.Off (default), spec.Ngram, or spec.ByModel with a DraftFile
	Drafts      int        // most tokens that are guessed at once; default spec.DefaultTokens
	DraftFile   *gguf.File // a smaller model with the same vocabulary; it must stay open until Close
	DraftAlways bool       // guess whatever it costs, for tests and measurements

	Shards    int    // devices that compute the model together (tensor parallel); default 1
	AllReduce string // how they sum up: tp.Direct or tp.Ring, tp.NCCL between GPUs; "" = Direct, between GPUs NCCL where its library is

	StopLimit time.Duration // how long the engine may stand still at a request's stop; default stops.DefaultLimit
}

// backends by name. A backend is one line here.
var backends = map[string]backend.Opener{"cpu": cpu.Open, "cuda": cuda.Open, "ref": ref.Open}

// maxScores bounds the scores buffer of a pass: 16 M floats, 64 MB, touched only as far as a pass needs.
const maxScores = 16 << 20

// Engine serves requests on one model.
type Engine struct {
	o     Options
	file  *gguf.File
	model *model.Model
	tok   *token.Tokenizer
	be    backend.Backend

	pool  *kv.Pool
	sched *sched.Scheduler
	run   *exec.Runner
	stops *stops.Desk
	stall stall       // of the loop
	pace  *spec.Pace  // nil: nothing is guessed
	small *spec.Model // that guesses; nil: the text so far does
	asked []*answer   // who asks the draft model before a pass, and for what
	jobs  []*spec.Job

	submit   chan *answer
	gate     sync.RWMutex // held by those who submit; the loop shuts it before it takes in what is left
	shut     bool
	ctx      context.Context // ends when Close is called
	cancel   context.CancelFunc
	done     chan struct{}     // closed when the loop has ended
	followed []*trace.Recorder // of requests in the scheduler; of the loop
	work     []*work           // captures of answers that are over; of the loop
	apart    sync.WaitGroup    // captures that need the backend no more

	words    func() *grammar.Vocab // the vocabulary as grammars walk it; built when a request first needs it
	captured atomic.Int64          // bytes that captures of all requests may come to take
	once     sync.Once
	stats    stats
}

// stats are read by other goroutines while the loop runs.
type stats struct {
	running, waiting, freePages, promptTokens, outputTokens, requests, passes, failed atomic.Int64
	keptPages, evictions, cachedTokens, copiedPages, preemptions                      atomic.Int64
	drafts, drafted, accepted                                                         atomic.Int64
}

// Stats is a reading of the engine's counters.
type Stats struct {
	Running, Waiting                                     int // requests now
	Paused                                               bool
	Slots, Pages, FreePages                              int
	BytesPerToken                                        int64 // of the KV cache
	KeptPages                                            int   // of the free pages, those that hold a prefix which may still be used
	CachedTokens, CopiedPages, Evictions, Preemptions    int64 // since the engine was opened: prompt tokens found in the cache, pages copied on write, kept pages given away, sequences that lost their pages
	Requests, Failed, Passes, PromptTokens, OutputTokens int64 // since the engine was opened
	Drafts, Drafted, Accepted                            int64 // passes of a request that checked guessed tokens; the tokens; those that were right
}

// ErrClosed is given to requests that an engine cannot serve any more.
var ErrClosed = errors.New("the engine is shutting down")

// ErrQueueFull is returned by Submit when as many requests wait as may wait.
var ErrQueueFull = sched.ErrQueueFull

// ErrDeadline is given to requests whose deadline passes before their answer has ended.
var ErrDeadline = errors.New("the request's deadline passed before its answer was complete: give it more time, or ask for fewer tokens")

// late tells whether a deadline has passed.
func late(t time.Time) bool { return !t.IsZero() && time.Now().After(t) }

// Open loads a model's file and starts the step loop. The file must stay open until Close.
func Open(f *gguf.File, o Options) (*Engine, error) {
	m, err := model.Load(f)
	if err != nil {
		return nil, err
	}
	tok, err := token.FromGGUF(f)
	if err != nil {
		return nil, err
	}
	if tok.Size() > m.Config.Vocab {
		return nil, fmt.Errorf("%s: tokenizer.ggml.tokens: wanted at most the %d rows of token_embd.weight, found %d: the file is damaged", f.Name, m.Config.Vocab, tok.Size())
	}
	if err := o.fill(m); err != nil {
		return nil, err
	}
	open, ok := backends[o.Backend]
	if !ok {
		return nil, fmt.Errorf("backend: wanted %s, found %q", strings.Join([]string{"cpu", "cuda", "ref"}, " or "), o.Backend)
	}
	types, err := backend.ParseKV(o.KV)
	if err != nil {
		return nil, err
	}
	bo := backend.Options{KV: types, Threads: o.Threads, MaxTokens: o.Budget, MaxOut: max(o.rows(), headRows), MaxScores: maxScores, Pages: kv.PagesFor(o.KVTokens), Features: o.Features}
	be, g, err := o.open(m.Graph, open, bo)
	if err != nil {
		return nil, err
	}
	e := &Engine{o: o, file: f, model: m, tok: tok, be: be, pool: kv.NewPool(bo.Pages), run: exec.New(g, be),
		submit: make(chan *answer, o.Queue), done: make(chan struct{})}
	e.sched = sched.New(sched.Config{Slots: o.Slots, Queue: o.Queue, Budget: o.Budget, BusyChunk: max(o.Budget/4, 1),
		Heads: m.Config.Heads, MaxScores: maxScores, Prefixes: !o.NoPrefix}, e.pool)
	e.words = sync.OnceValue(func() *grammar.Vocab { return grammar.NewVocab(tok.Size(), tok.Piece, tok.IsEOG) })
	e.stall = newStall(max(o.Budget/4, 1))
	e.ctx, e.cancel = context.WithCancel(context.Background())
	if o.Draft != spec.Off {
		e.pace = spec.NewPace(o.DraftAlways)
	}
	if o.Draft == spec.ByModel {
		bo.Beside = be
		if e.small, err = openDraft(o.DraftFile, tok, open, bo, o.Slots); err != nil {
			return nil, errors.Join(err, be.Close())
		}
	}
	e.stops = stops.NewDesk(o.StopLimit, e.ctx.Done())
	e.stats.freePages.Store(int64(bo.Pages))
	go e.loop()
	return e, nil
}

// fill puts defaults in and checks ranges.
func (o *Options) fill(m *model.Model) error {
	set := func(v *int, def int) {
		if *v == 0 {
			*v = def
		}
	}
	if o.Backend == "" {
		o.Backend = "cpu"
	}
	set(&o.Threads, runtime.NumCPU())
	set(&o.Context, m.Config.Context)
	set(&o.Slots, 8)
	set(&o.Queue, 256)
	set(&o.KVTokens, max(o.Context, 2048*o.Slots))
	set(&o.Budget, 512)
	set(&o.Drafts, spec.DefaultTokens)
	set(&o.Shards, 1)
	if o.Draft == "" {
		o.Draft = spec.Off
	}
	if o.Captures == 0 {
		o.Captures = capture.Limit
	}
	if o.Draft != spec.Off && o.Draft != spec.Ngram && o.Draft != spec.ByModel || (o.Draft == spec.ByModel) != (o.DraftFile != nil) {
		return fmt.Errorf("draft: wanted %s, %s, or %s and its file, found %q", spec.Off, spec.Ngram, spec.ByModel, o.Draft)
	}
	for _, r := range []struct {
		name         string
		v, low, high int
	}{{"threads", o.Threads, 1, 1024}, {"context", o.Context, 2, m.Config.Context}, {"slots", o.Slots, 1, 1024}, {"queue", o.Queue, 1, 1 << 20},
		{"kv-tokens", o.KVTokens, kv.PageTokens, 1 << 28}, {"chunk", o.Budget, 1, 1 << 16}, {"draft-tokens", o.Drafts, 1, spec.MaxTokens}, {"shards", o.Shards, 1, 1024}} {
		if r.v < r.low || r.v > r.high {
			return fmt.Errorf("%s: wanted %d to %d, found %d", r.name, r.low, r.high, r.v)
		}
	}
	// One token's scores must fit a pass, or nothing could ever be planned.
	o.Context = min(o.Context, o.KVTokens, maxScores/m.Config.Heads/kv.PageTokens*kv.PageTokens)
	return nil
}

// Close stops the loop: running requests end with ErrClosed. It returns when the workers have ended.
func (e *Engine) Close() error {
	var err error
	e.once.Do(func() {
		e.cancel()
		<-e.done
		e.apart.Wait()
		if e.small != nil {
			err = e.small.Close()
		}
		err = errors.Join(err, e.be.Close())
	})
	return err
}

// Tokenizer returns the model's tokenizer.
func (e *Engine) Tokenizer() *token.Tokenizer { return e.tok }

// File returns the model's file.
func (e *Engine) File() *gguf.File { return e.file }

// Config returns the model's shape.
func (e *Engine) Config() model.Config { return e.model.Config }

// WeightBytes returns the size of all weights as stored, which a decode pass reads once.
func (e *Engine) WeightBytes() int64 { return e.model.Bytes }

// Backend returns the backend's name.
func (e *Engine) Backend() string { return e.be.Name() }

// Device describes what the model runs on.
func (e *Engine) Device() backend.Device { return e.be.Device() }

// Context returns the most positions a sequence may have.
func (e *Engine) Context() int { return e.o.Context }

// Options returns the options in force, defaults filled in.
func (e *Engine) Options() Options { return e.o }

// Stats reads the counters.
func (e *Engine) Stats() Stats {
	s := &e.stats
	at, _ := e.stops.State()
	return Stats{Running: int(s.running.Load()), Waiting: int(s.waiting.Load()) + len(e.submit), Paused: at.Paused, Slots: e.o.Slots, Pages: e.pool.Total(),
		FreePages: int(s.freePages.Load()), Requests: s.requests.Load(), Failed: s.failed.Load(), Passes: s.passes.Load(),
		BytesPerToken: e.Cache().BytesPerToken, KeptPages: int(s.keptPages.Load()), CachedTokens: s.cachedTokens.Load(), CopiedPages: s.copiedPages.Load(), Evictions: s.evictions.Load(),
		Preemptions: s.preemptions.Load(), PromptTokens: s.promptTokens.Load(), OutputTokens: s.outputTokens.Load(),
		Drafts: s.drafts.Load(), Drafted: s.drafted.Load(), Accepted: s.accepted.Load()}
}
