package steps

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine"
	"glassbox/engine/chat"
	"glassbox/engine/openai"
	"glassbox/engine/testmodel"
	"glassbox/trace/file"
)

const template = `{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}` +
	`{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}`

// server is the whole path, from socket to socket, on a tiny model. ask sends a traced request and returns its recording;
// lies are what CheckSpans said of all recordings so far.
type server struct {
	t     *testing.T
	url   string
	store *file.Store
	mu    sync.Mutex
	lies  []error
}

func newServer(t *testing.T, c *Catalogue, backend string) *server {
	e, err := engine.Open(testmodel.Tiny(t, testmodel.Spec{}), engine.Options{Backend: backend, Threads: 2, Budget: 32})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	s := &server{t: t}
	s.store, err = file.NewStore(file.StoreOptions{
		Head: file.Head{Engine: file.Engine{Name: "glassbox"}, Model: file.Model{Architecture: "llama"}, Device: file.Device{Kind: "cpu", Threads: 2}},
		Finish: func(rec *file.Recording) {
			c.Apply(rec)
			s.mu.Lock()
			s.lies = append(s.lies, c.CheckSpans(rec)...)
			s.mu.Unlock()
		},
	})
	require.NoError(t, err)
	t.Cleanup(s.store.Close)
	tmpl, err := chat.New(template)
	require.NoError(t, err)
	web := httptest.NewUnstartedServer(openai.New(openai.Config{Engine: openai.Wrap(e), Model: "tiny", Template: openai.WrapTemplate(tmpl, e.Tokenizer()), Tracer: s.store}))
	web.Listener = openai.Listener(web.Listener)
	openai.Prepare(web.Config)
	web.Start()
	t.Cleanup(web.Close)
	s.url = web.URL
	return s
}

func (s *server) ask(route, body string) *file.Recording {
	req, err := http.NewRequest(http.MethodPost, s.url+route, strings.NewReader(body))
	require.NoError(s.t, err)
	req.Header.Set("X-Glassbox-Trace", "1")
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	require.Equal(s.t, http.StatusOK, res.StatusCode, string(answer))
	rec, err := s.store.Wait(context.Background(), res.Header.Get("X-Glassbox-Trace-Id"))
	require.NoError(s.t, err)
	require.Len(s.t, rec.Walk, stops)
	return rec
}

// unreached are the steps that a recording has no span of, but for those elsewhere.
func unreached(rec *file.Recording) []string {
	ids := []string{}
	for _, w := range rec.Walk {
		if w.Count == 0 && !elsewhere[w.ID] {
			ids = append(ids, w.ID)
		}
	}
	return ids
}

func TestAStreamedChatReachesEveryStep(t *testing.T) {
	for _, backend := range backends() {
		s := newServer(t, Glassbox(engine.Sources), backend)
		for range 10 { // what ends a request must not race with its recording
			rec := s.ask("/v1/chat/completions", `{"messages":[{"role":"user","content":"Why is the sky blue?"}],"stream":true,"stream_options":{"include_usage":true},
				"response_format":{"type":"json_object"},"max_tokens":12,"ignore_eos":true,"temperature":0.8,"top_k":40,"top_p":0.95,"min_p":0.01,"frequency_penalty":0.1,"seed":1}`)
			require.Empty(t, unreached(rec))
			for _, w := range rec.Walk {
				if elsewhere[w.ID] {
					continue
				}
				require.NotEmpty(t, w.In, w.ID)
				require.NotEmpty(t, w.Out, w.ID)
				require.NotNil(t, w.Source.Code, w.ID)
			}
		}
		require.Empty(t, s.lies)
	}
}

// A step that an ordinary request passes by needs a sentence of its own that says why.
func TestStepsThatAreNotReachedHaveTheirReason(t *testing.T) {
	c := Glassbox(engine.Sources)
	s := newServer(t, c, "cpu")
	sampler := []string{"grammar", "penalties", "temperature", "top_k", "top_p", "min_p"}
	stream := []string{"sse_chunk", "sse_write", "sse_flush"}
	prompt := []string{"template", "render", "split_marks", "presplit", "merge", "look_up"}
	for body, want := range map[string][]string{
		`{"messages":[{"role":"user","content":"Why?"}],"max_tokens":4,"temperature":0}`: append(append([]string{}, sampler...), stream...),
	} {
		require.Equal(t, want, unreached(s.ask("/v1/chat/completions", body)))
	}
	require.Equal(t, append(append(prompt, sampler...), stream...), unreached(s.ask("/v1/completions", `{"prompt":[65,66,67],"max_tokens":4,"temperature":0}`)))
	require.Empty(t, s.lies)
	for _, id := range append(append(append(prompt, sampler...), stream...), slices.Collect(maps.Keys(elsewhere))...) {
		require.NotEmpty(t, c.Step(id).Unreached, id)
	}
}
