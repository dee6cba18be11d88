package openai

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/engine"
	"glassbox/engine/chat"
	"glassbox/engine/gguf"
	"glassbox/engine/sample"
	"glassbox/engine/token"
	"glassbox/trace"
)

const modelFile = "../builtin/SmolLM2-135M-Instruct.Q4_1.gguf"

// model is the file of the built-in model, opened once.
var model = sync.OnceValues(func() (*gguf.File, error) { return gguf.Open(modelFile) })

func openFile(t testing.TB) *gguf.File {
	t.Helper()
	f, err := model()
	require.NoError(t, err)
	return f
}

var vocabulary = sync.OnceValues(func() (*token.Tokenizer, error) {
	f, err := model()
	if err != nil {
		return nil, err
	}
	return token.FromGGUF(f)
})

func template(t testing.TB) Template {
	t.Helper()
	text, err := openFile(t).StringOr("tokenizer.chat_template", "")
	require.NoError(t, err)
	tmpl, err := chat.New(text)
	require.NoError(t, err)
	tok, err := vocabulary()
	require.NoError(t, err)
	return WrapTemplate(tmpl, tok)
}

// fake is an engine that says what it is told. It ends a request as the real one does: with an event.
type fake struct {
	tok     *token.Tokenizer
	say     func(r engine.Request) []engine.Event
	every   time.Duration // between events
	reject  error         // what Submit answers
	running atomic.Int64  // answers that have not ended
	mu      sync.Mutex
	asked   []engine.Request
}

func (f *fake) Tokenizer() *token.Tokenizer { return f.tok }
func (f *fake) Context() int                { return 2048 }
func (f *fake) Stats() engine.Stats {
	return engine.Stats{Running: int(f.running.Load()), Slots: 8, Pages: 100, FreePages: 75, Passes: 7, Drafts: 3, Drafted: 12, Accepted: 8}
}

func (f *fake) Submit(ctx context.Context, r engine.Request, _ Answer) (Answer, error) {
	f.mu.Lock()
	f.asked = append(f.asked, r)
	f.mu.Unlock()
	if f.reject != nil {
		return nil, f.reject
	}
	a := &fakeAnswer{events: make(chan engine.Event, 10000), prompt: len(r.Tokens)}
	f.running.Add(1)
	go func() {
		for _, ev := range slices.Concat(f.say(r), []engine.Event{{Finish: "length"}}) {
			if f.every > 0 {
				select {
				case <-time.After(f.every):
				case <-ctx.Done():
				}
			}
			if ctx.Err() != nil {
				ev = engine.Event{Err: ctx.Err()}
			}
			if last := ev.Finish != "" || ev.Err != nil; last {
				f.running.Add(-1) // the slot is free before the last event is out, as in the engine
				a.events <- ev
				return
			}
			a.events <- ev
		}
	}()
	return a, nil
}

// last returns the request that came last.
func (f *fake) last(t *testing.T) engine.Request {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	require.NotEmpty(t, f.asked)
	return f.asked[len(f.asked)-1]
}

type fakeAnswer struct {
	events chan engine.Event
	prompt int
}

func (a *fakeAnswer) Usage() engine.Usage { return engine.Usage{Prompt: a.prompt} }
func (a *fakeAnswer) Next(ctx context.Context) (engine.Event, error) {
	select {
	case ev := <-a.events:
		return ev, nil
	default:
	}
	select {
	case ev := <-a.events:
		return ev, nil
	case <-ctx.Done():
		return engine.Event{}, ctx.Err()
	}
}

// saying makes events of a text as the engine would: a token each, whole characters, a mark at the end.
func saying(tok *token.Tokenizer, text, finish string) []engine.Event {
	var out []engine.Event
	d := tok.NewDetokenizer(token.DecodeOptions{SkipSpecial: true, Continue: true})
	ids := tok.Encode(text, token.Options{})
	if finish == "stop" {
		ids = append(ids, tok.EOS())
	}
	for i, id := range ids {
		out = append(out, engine.Event{Text: d.Push(id), Tokens: []engine.TokenLogprob{{ID: id, Logprob: -float64(i) - 0.5,
			Top: []sample.Logprob{{ID: int32(id), Logprob: -float64(i) - 0.5}, {ID: 28, Logprob: -7}}}}})
	}
	return append(out, engine.Event{Finish: finish})
}

// rig is a server under test.
type rig struct {
	t      *testing.T
	fake   *fake
	server *Server
	http   *httptest.Server
}

// start serves a fake engine that says "Hello there!"; change may change the configuration.
func start(t *testing.T, change func(*Config, *fake)) *rig {
	t.Helper()
	tok, err := vocabulary()
	require.NoError(t, err)
	f := &fake{tok: tok}
	f.say = func(engine.Request) []engine.Event { return saying(tok, "Hello there!", "stop") }
	c := Config{Engine: f, Model: "smol", Aliases: []string{"default"}, Root: "smol.gguf", Version: "1.2.3", Commit: "abc", Template: template(t)}
	if change != nil {
		change(&c, f)
	}
	s := New(c)
	h := httptest.NewUnstartedServer(s)
	h.Listener = Listener(h.Listener)
	Prepare(h.Config)
	h.Start()
	t.Cleanup(h.Close)
	return &rig{t, f, s, h}
}

// send does a request; a body that is not a string is sent as JSON.
func (r *rig) send(method, path string, body any, header ...string) *http.Response {
	r.t.Helper()
	text, ok := body.(string)
	if !ok && body != nil {
		b, err := json.Marshal(body)
		require.NoError(r.t, err)
		text = string(b)
	}
	req, err := http.NewRequest(method, r.http.URL+path, strings.NewReader(text))
	require.NoError(r.t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := r.http.Client().Do(req)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { res.Body.Close() })
	return res
}

// post does a request and returns status and body.
func (r *rig) post(path string, body any, header ...string) (int, string) {
	r.t.Helper()
	res := r.send("POST", path, body, header...)
	b, err := io.ReadAll(res.Body)
	require.NoError(r.t, err)
	return res.StatusCode, string(b)
}

// object is JSON as a test reads it.
type object = map[string]any

func parse(t testing.TB, text string) object {
	t.Helper()
	var o object
	require.NoError(t, json.Unmarshal([]byte(text), &o), text)
	return o
}

// at walks into JSON: keys and indices.
func at(t testing.TB, v any, path ...any) any {
	t.Helper()
	for _, p := range path {
		switch k := p.(type) {
		case string:
			m, ok := v.(object)
			require.True(t, ok, "%v in %v", k, v)
			require.Contains(t, m, k)
			v = m[k]
		case int:
			l, ok := v.([]any)
			require.True(t, ok, "%v in %v", k, v)
			require.Greater(t, len(l), k)
			v = l[k]
		}
	}
	return v
}

// events splits a stream into what follows "data: "; comments are left out.
func events(t testing.TB, body string) []string {
	t.Helper()
	var out []string
	require.True(t, strings.HasSuffix(body, "\n\n"), "a stream ends with an empty line: %q", body)
	for _, block := range strings.Split(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		if data, ok := strings.CutPrefix(block, "data: "); ok {
			require.NotContains(t, data, "\n")
			out = append(out, data)
			continue
		}
		require.True(t, strings.HasPrefix(block, ":"), "neither data nor comment: %q", block)
	}
	return out
}

// hi is a small chat request with extra fields.
func hi(fields ...any) object {
	o := object{"model": "smol", "messages": []any{object{"role": "user", "content": "Hi"}}}
	for i := 0; i < len(fields); i += 2 {
		o[fields[i].(string)] = fields[i+1]
	}
	return o
}

// tracer keeps the recorders it gave out.
type tracer struct {
	mu   sync.Mutex
	recs []*trace.Recorder
}

func (tr *tracer) Start(start int64, c trace.CaptureSpec) (*trace.Recorder, error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	r := trace.NewRecorder("rec-1", start, c)
	tr.recs = append(tr.recs, r)
	return r, nil
}

func (tr *tracer) only(t *testing.T) *trace.Recorder {
	t.Helper()
	tr.mu.Lock()
	defer tr.mu.Unlock()
	require.Len(t, tr.recs, 1)
	select {
	case <-tr.recs[0].Done():
	case <-time.After(5 * time.Second):
		require.Fail(t, "the recording was not ended")
	}
	return tr.recs[0]
}

// nopts reads a text as it is.
var nopts = token.Options{}

func readAll(t testing.TB, res *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return string(b)
}

// idle waits until the engine runs nothing.
func (r *rig) idle() {
	r.t.Helper()
	require.Eventually(r.t, func() bool { return r.fake.running.Load() == 0 }, 5*time.Second, time.Millisecond, "the slot is not free")
}

// readLine reads the next line of a stream that is not empty.
func readLine(t testing.TB, b *bufio.Reader) string {
	t.Helper()
	for {
		line, err := b.ReadBytes('\n')
		require.NoError(t, err)
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return string(line)
		}
	}
}
