package mock

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Behaviour is how the model "mock" answers: a pause that grows with the prompt, then chunks at a steady pace. It reads
// one token a word, and its template adds Template tokens.
type Behaviour struct {
	Base      time.Duration // before the first token, for any prompt
	PerPrompt time.Duration // more for each prompt token
	PerToken  time.Duration // between tokens
	PerChunk  int           // tokens in a chunk; 0 = 1
	Template  int
	Slots     int  // requests at a time, others wait; 0 = any number
	Tokenize  bool // POST /tokenize answers
	Running   bool // counts so far in each chunk when asked for
	Context   int  // longer prompts are cut without a word, as Ollama does; 0 = never
	Early     int  // answers end after so many tokens with finish_reason stop; 0 = never
	Fail      func(n int64) (status int, body string)
}

// Flush is a moment in the server's life of a request.
type Flush struct {
	Tokens int
	At     time.Time // just before the bytes were handed to the connection
}

// Log is what the server did for a request.
type Log struct {
	ID       string
	Received time.Time
	Flushes  []Flush
	Prompt   int
	Parent   string // the traceparent it came with
	Body     map[string]any
}

// Server answers OpenAI's API. A request whose model is the name of a script gets that script, any other the behaviour.
type Server struct {
	Behaviour Behaviour
	Quit      chan struct{} // closed: hanging answers end

	mu    sync.Mutex
	n     int64
	logs  map[string]*Log
	slots chan struct{}
}

// New makes a server.
func New(b Behaviour) *Server {
	s := &Server{Behaviour: b, Quit: make(chan struct{}), logs: map[string]*Log{}}
	if b.Slots > 0 {
		s.slots = make(chan struct{}, b.Slots)
	}
	return s
}

// Log returns what was done for a request, by the X-Request-Id of its answer.
func (s *Server) Log(id string) (Log, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.logs[id]
	if !ok {
		return Log{}, false
	}
	return *l, true
}

// Requests is how many answers were begun.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int(s.n)
}

// ServeHTTP answers.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/v1/models":
		write(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{"id": "mock", "object": "model", "owned_by": "mock", "created": 1, "max_model_len": 100000}}})
	case "/v1/chat/completions", "/v1/completions", "/api/chat":
		s.answer(w, r)
	case "/tokenize":
		s.tokenize(w, r)
	case "/health":
		write(w, http.StatusOK, map[string]any{"status": "ok"})
	default:
		write(w, http.StatusNotFound, map[string]any{"error": map[string]any{"message": "no such path", "type": "invalid_request_error", "param": nil, "code": nil}})
	}
}

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// text is the prompt's text, and its number of tokens: a word each.
func (s *Server) text(body map[string]any) (n int) {
	if list, ok := body["prompt"].([]any); ok {
		return len(list)
	}
	all, _ := body["prompt"].(string)
	if messages, ok := body["messages"].([]any); ok {
		for _, m := range messages {
			if o, ok := m.(map[string]any); ok {
				c, _ := o["content"].(string)
				all += " " + c
			}
		}
		n = s.Behaviour.Template
	}
	return n + len(strings.Fields(strings.ReplaceAll(all, ".", " . ")))
}

func (s *Server) tokenize(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	if !s.Behaviour.Tokenize || json.NewDecoder(r.Body).Decode(&body) != nil {
		write(w, http.StatusNotFound, map[string]any{"detail": "not here"})
		return
	}
	ids := make([]int, s.text(body))
	for i := range ids {
		ids[i] = 100 + i%50
	}
	write(w, http.StatusOK, map[string]any{"tokens": ids, "count": len(ids)})
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	l := &Log{Received: time.Now(), Parent: r.Header.Get("Traceparent")}
	if err := json.NewDecoder(r.Body).Decode(&l.Body); err != nil {
		write(w, http.StatusBadRequest, map[string]any{"error": map[string]any{"message": err.Error()}})
		return
	}
	l.Prompt = s.text(l.Body)
	s.mu.Lock()
	s.n++
	n := s.n
	l.ID = fmt.Sprintf("mock-%d", n)
	s.logs[l.ID] = l
	s.mu.Unlock()
	w.Header().Set("X-Request-Id", l.ID)
	if f := s.Behaviour.Fail; f != nil {
		if status, text := f(n); status != 0 {
			write(w, status, map[string]any{"error": map[string]any{"message": text}})
			return
		}
	}
	model, _ := l.Body["model"].(string)
	if script, ok := Find(model); ok {
		s.play(w, r, script, l)
		return
	}
	s.generate(w, r, l)
}

// play serves a script.
func (s *Server) play(w http.ResponseWriter, r *http.Request, script Script, l *Log) {
	time.Sleep(script.Before)
	if script.Header == nil {
		script.Header = sseHeader
	}
	for k, v := range script.Header {
		w.Header()[k] = v
	}
	status := script.Status
	if status == 0 {
		status = http.StatusOK
	}
	w.WriteHeader(status)
	c := http.NewResponseController(w)
	if script.Status == 0 {
		_ = c.Flush()
	}
	for _, step := range script.Steps {
		time.Sleep(step.After)
		size := len(step.Data)
		if script.Scatter > 0 {
			size = script.Scatter
		}
		s.note(l, step.Tokens)
		for data := step.Data; data != ""; {
			n := min(size, len(data))
			_, _ = w.Write([]byte(data[:n]))
			_ = c.Flush()
			data = data[n:]
		}
		switch {
		case step.Break:
			panic(http.ErrAbortHandler)
		case step.Hang:
			select {
			case <-r.Context().Done():
			case <-s.Quit:
			}
			return
		}
	}
}

func (s *Server) note(l *Log, tokens int) {
	s.mu.Lock()
	l.Flushes = append(l.Flushes, Flush{tokens, time.Now()})
	s.mu.Unlock()
}

// generate serves the behaviour.
func (s *Server) generate(w http.ResponseWriter, r *http.Request, l *Log) {
	b := s.Behaviour
	if s.slots != nil {
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		case <-r.Context().Done():
			return
		}
	}
	prompt := l.Prompt
	if b.Context > 0 {
		prompt = min(prompt, b.Context)
	}
	limit, reason := 16, "length"
	if x, ok := l.Body["max_tokens"].(float64); ok {
		limit = int(x)
	}
	if b.Early > 0 && b.Early < limit {
		limit, reason = b.Early, "stop"
	}
	options, _ := l.Body["stream_options"].(map[string]any)
	running := b.Running && options["continuous_usage_stats"] == true
	w.Header().Set("Content-Type", "text/event-stream")
	c := http.NewResponseController(w)
	next := time.Now()
	if first := b.Base + time.Duration(prompt)*b.PerPrompt; !until(r, next.Add(first)) {
		return
	} else {
		next = next.Add(first)
	}
	counts := func(n int) string {
		return `"usage":{"prompt_tokens":` + strconv.Itoa(prompt) + `,"completion_tokens":` + strconv.Itoa(n) + `,"total_tokens":` + strconv.Itoa(prompt+n) + `}`
	}
	size := max(1, b.PerChunk)
	for sent := 0; sent < limit; {
		n := min(size, limit-sent)
		if sent > 0 {
			next = next.Add(b.PerToken * time.Duration(n))
			if !until(r, next) {
				return
			}
		}
		sent += n
		event := `{"choices":[{"index":0,"delta":{"content":"` + strings.Repeat(" word", n) + `"},"text":"` + strings.Repeat(" word", n) + `","finish_reason":null}]`
		if running {
			event += "," + counts(sent)
		}
		s.note(l, n)
		_, _ = w.Write([]byte("data: " + event + "}\n\n"))
		_ = c.Flush()
	}
	_, _ = w.Write([]byte(sse(finish(strconv.Quote(reason))) + sse(`{"choices":[],`+counts(limit)+`}`) + "data: [DONE]\n\n"))
}

// until sleeps to a moment, and tells whether the client is still there.
func until(r *http.Request, t time.Time) bool {
	d := time.Until(t)
	if d <= 0 {
		return r.Context().Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}
