// Package openai serves an engine over HTTP in the words of OpenAI's API (chat completions, completions, models), with
// the helpers that llama.cpp and vLLM have beside it (tokenize, detokenize, apply-template, health, metrics).
//
// A request's way: ServeHTTP finds the route, reads the body and starts a recording if one is asked for; chat.go or
// completion.go make a job of it; run.go takes the job through the engine; stream.go or whole.go write the answer.
//
// It does not know about pages, where recordings are kept, or how a model computes.
package openai

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"glassbox/engine"
	"glassbox/engine/chat"
	"glassbox/engine/token"
	"glassbox/trace"
)

// Config is what a Server is made of. Engine and ModelID are needed; zero values of the rest are replaced by defaults.
type Config struct {
	Engine  Engine
	Model   string   // the model's id in requests and answers
	Aliases []string // other ids that are accepted for it
	Root    string   // the model file's name, told by /v1/models
	Created time.Time

	Template Template // nil: chat requests are refused, with the remedy
	Tracer   trace.Tracer
	Others   Loader            // further models; nil: none
	Spans    SpanSink          // told of every request that ended; nil: nobody is
	Captures trace.CaptureSpec // what the engine can copy out for a recording; other kinds are refused

	APIKey  string   // "" = none is asked for
	Hosts   []string // names under which the server may be called, beside localhost and addresses; "*" = any
	Origins []string // web origins that may call from a browser (CORS); "*" = any; none by default
	Version string
	Commit  string
	Limits  Limits
}

// Limits bound what one client can cost.
type Limits struct {
	Body         int64         // bytes of a request; default 10 MB
	Prompts      int           // answers of one request: prompts times n; default 64
	ReadTimeout  time.Duration // for the whole body; default 60 s
	WriteTimeout time.Duration // for each event: a client that stops reading is dropped; default 20 s
	Ping         time.Duration // a comment is sent when nothing else was for so long; default 10 s
}

// Engine is what the server needs of an engine; Wrap makes one from *engine.Engine.
type Engine interface {
	Submit(ctx context.Context, r engine.Request, of Answer) (Answer, error) // of: another answer to the same prompt, whose pages are shared; nil: none
	Tokenizer() *token.Tokenizer
	Context() int
	Stats() engine.Stats
}

// Answer is a running request: *engine.Stream.
type Answer interface {
	Next(ctx context.Context) (engine.Event, error)
	Usage() engine.Usage
}

// Template renders a chat; WrapTemplate makes one from the model's own.
type Template interface {
	Render(ctx context.Context, messages []chat.Message, addGenerationPrompt bool, w *trace.Writer) (chat.Rendered, error)
}

type templateOf struct {
	t        *chat.Template
	bos, eos string
}

// WrapTemplate makes a Template of a parsed one, for the marks of a vocabulary.
func WrapTemplate(t *chat.Template, tok *token.Tokenizer) Template {
	return templateOf{t, tok.Text(tok.BOS()), tok.Text(tok.EOS())}
}

func (t templateOf) Render(ctx context.Context, messages []chat.Message, open bool, w *trace.Writer) (chat.Rendered, error) {
	return t.t.Render(ctx, messages, chat.Options{AddGenerationPrompt: open, BOS: t.bos, EOS: t.eos, Trace: w})
}

type engineOf struct{ *engine.Engine }

// Wrap makes an Engine of the real one.
func Wrap(e *engine.Engine) Engine { return engineOf{e} }

func (e engineOf) Submit(ctx context.Context, r engine.Request, of Answer) (Answer, error) {
	if f, ok := of.(*engine.Stream); ok {
		r.Fork = f
	}
	s, err := e.Engine.Submit(ctx, r)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// errShutdown is the cause of contexts that Shutdown ends.
var errShutdown = errors.New("the server is shutting down")

// Server is an http.Handler for all routes that Paths names.
type Server struct {
	c       Config
	tok     *token.Tokenizer
	mux     *http.ServeMux
	metrics *metrics
	forms   *forms

	closing context.Context // ends when Shutdown is called
	close   context.CancelCauseFunc
	running *sync.WaitGroup
	mu      *sync.Mutex // orders running.Add before running.Wait
}

// New returns a server.
func New(c Config) *Server {
	set := func(v *time.Duration, def time.Duration) {
		if *v <= 0 {
			*v = def
		}
	}
	if c.Limits.Body <= 0 {
		c.Limits.Body = 10_000_000
	}
	if c.Limits.Prompts <= 0 {
		c.Limits.Prompts = 64
	}
	set(&c.Limits.ReadTimeout, time.Minute)
	set(&c.Limits.WriteTimeout, 20*time.Second)
	set(&c.Limits.Ping, 10*time.Second)
	if c.Created.IsZero() {
		c.Created = time.Now()
	}
	s := &Server{c: c, tok: c.Engine.Tokenizer(), metrics: newMetrics(c), forms: &forms{}, running: &sync.WaitGroup{}, mu: &sync.Mutex{}}
	s.closing, s.close = context.WithCancelCause(context.Background())
	s.mux = s.routes()
	return s
}

// Paths are the patterns under which a bigger server mounts this one (http.ServeMux).
func Paths() []string {
	return []string{"/v1/", "/tokenize", "/detokenize", "/apply-template", "/health", "/metrics", "/version"}
}

// Shutdown ends the server's part of running requests: those that stream get an error event, the others a 503, and new
// ones are refused. It returns when all have ended or ctx has.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.close(errShutdown)
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		s.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// enter counts a request in; false when the server is shutting down.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Err() != nil {
		return false
	}
	s.running.Add(1)
	return true
}
