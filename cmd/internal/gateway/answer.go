package gateway

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"

	"glassbox/cmd/internal/bench/sse"
	"glassbox/engine/openai/wire"
	"glassbox/trace/file"
)

// piece is an event of a streamed answer, or the whole of one that is not streamed.
type piece struct {
	at, flushed int64 // of the read that completed it
	bytes       int
	tokens      int // of the list of tokens, up to here
	added       int // by this piece
	usage       bool
	done        bool // data: [DONE]
	unread      bool // not JSON, or of other types than the API's
}

// answer is what the body of an answer says.
type answer struct {
	pieces    []piece
	tokens    []file.Token
	text      strings.Builder
	id, model string
	finish    string
	choices   int // beside the first, whose text is not kept
	reasoning int // pieces of reasoning
	usage     *usage
	timings   *wire.Timings
	err       string
	events    bool
	done      bool
	unread    int
}

type usage struct {
	Prompt  *int `json:"prompt_tokens"`
	Output  *int `json:"completion_tokens"`
	Input   *int `json:"input_tokens"` // of the Responses API
	Out     *int `json:"output_tokens"`
	Details struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// event is what is read of an answer, streamed or not, of chat or completion.
type event struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Content json.RawMessage `json:"content"` // of llama.cpp's /completion
	Stop    bool            `json:"stop"`
	Usage   *usage          `json:"usage"`
	Timings *wire.Timings   `json:"timings"`
	Error   json.RawMessage `json:"error"`

	Response json.RawMessage `json:"response"` // of the Responses API, with the usage in it
	Message  json.RawMessage `json:"message"`  // where other servers put it
}

// counts are the engine's counts, wherever it puts them.
func (e *event) counts() *usage {
	if e.Usage != nil {
		return e.Usage
	}
	var in struct {
		Usage *usage `json:"usage"`
	}
	for _, raw := range []json.RawMessage{e.Response, e.Message} {
		if len(raw) > 0 && raw[0] == '{' && json.Unmarshal(raw, &in) == nil && in.Usage != nil {
			return in.Usage
		}
	}
	return nil
}

type choice struct {
	Index    int             `json:"index"`
	Text     *string         `json:"text"`
	Delta    *message        `json:"delta"`
	Message  *message        `json:"message"`
	Logprobs json.RawMessage `json:"logprobs"`
	IDs      []int           `json:"token_ids"`
	Finish   *string         `json:"finish_reason"`
}

type message struct {
	Content   json.RawMessage `json:"content"`
	Reasoning *string         `json:"reasoning_content"`
	Thinking  *string         `json:"reasoning"`
	Calls     json.RawMessage `json:"tool_calls"`
}

// text is what a message adds: its content, its reasoning, or the call of a tool as it was written.
func (m *message) text() (s string, reasoning bool) {
	if m == nil {
		return "", false
	}
	s = stringOf(m.Content)
	for _, r := range []*string{m.Reasoning, m.Thinking} {
		if r != nil && *r != "" && s == "" {
			return *r, true
		}
	}
	if s == "" && len(m.Calls) > 2 && string(m.Calls) != "null" {
		s = string(m.Calls)
	}
	return s, false
}

func stringOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// reader reads an answer as it comes: live, and again as a whole.
type reader struct {
	a      answer
	stream bool
	parser sse.Parser
}

func newReader(contentType string) *reader {
	r := &reader{stream: strings.HasPrefix(contentType, "text/event-stream")}
	if strings.HasPrefix(contentType, "application/x-ndjson") { // Ollama's own API
		r.stream, r.parser.Lines = true, true
	}
	r.a.events = r.stream
	return r
}

// feed takes bytes that came in one read.
func (r *reader) feed(b []byte, at, flushed int64) {
	if !r.stream {
		return
	}
	err := r.parser.Feed(b, at, func(e sse.Event) { r.a.event(e.Data, at, flushed) })
	if err != nil {
		r.stream = false
		r.a.unread++
	}
}

// end reads what a missing blank line cut off; body is all of an answer that is not streamed.
func (r *reader) end(body []byte, reads []read, at int64) {
	if r.stream {
		r.parser.Close(at, func(e sse.Event) { r.a.event(e.Data, at, at) })
		return
	}
	if r.a.events || len(body) == 0 {
		return
	}
	last := read{at: at, flushed: at}
	if len(reads) > 0 {
		last = reads[len(reads)-1]
	}
	r.a.event(body, last.at, last.flushed)
}

// event reads one event.
func (a *answer) event(data []byte, at, flushed int64) {
	p := piece{at: at, flushed: flushed, bytes: len(data)}
	defer func() {
		p.tokens = len(a.tokens)
		a.pieces = append(a.pieces, p)
	}()
	data = bytes.TrimSpace(data)
	if string(data) == "[DONE]" {
		p.done, a.done = true, true
		return
	}
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		p.unread = true
		a.unread++
		return
	}
	before := len(a.tokens)
	if a.id == "" {
		a.id = e.ID
	}
	if a.model == "" {
		a.model = e.Model
	}
	if len(e.Error) > 0 && string(e.Error) != "null" && a.err == "" {
		a.err = errorText(e.Error)
	}
	if u := e.counts(); u != nil {
		a.usage, p.usage = u, true
	}
	if e.Timings != nil {
		a.timings = e.Timings
	}
	if s := stringOf(e.Content); s != "" && len(e.Choices) == 0 {
		a.add(s, nil, nil, at)
	}
	for i := range e.Choices {
		a.choice(&e.Choices[i], at)
	}
	p.added = len(a.tokens) - before
}

func (a *answer) choice(c *choice, at int64) {
	if c.Index != 0 {
		a.choices = max(a.choices, c.Index)
		return
	}
	if c.Finish != nil && *c.Finish != "" {
		a.finish = *c.Finish
	}
	m := c.Delta
	if m == nil {
		m = c.Message
	}
	s, reasoning := m.text()
	if c.Text != nil {
		s = *c.Text
	}
	if reasoning {
		a.reasoning++
	}
	a.add(s, tokensOf(c.Logprobs), c.IDs, at)
}

// add appends the tokens of a piece: those of its log-probabilities where it has them, else one for the piece.
func (a *answer) add(s string, list []file.Token, ids []int, at int64) {
	a.text.WriteString(s)
	if len(list) == 0 && s != "" {
		list = []file.Token{{ID: -1, Text: strings.ToValidUTF8(s, "\uFFFD")}}
	}
	for i := range list {
		list[i].TNs = at
		if len(ids) == len(list) {
			list[i].ID = ids[i]
		}
	}
	a.tokens = append(a.tokens, list...)
}

// tokensOf reads the log-probabilities of chat ({"content":[…]}) or of completions ({"tokens":[…],"token_logprobs":[…]}).
func tokensOf(raw json.RawMessage) []file.Token {
	var l struct {
		wire.CompletionLogprobs
		Content []struct {
			wire.TokenLogprob
			ID *int `json:"id"` // llama.cpp's server has it
		} `json:"content"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &l) != nil {
		return nil
	}
	var out []file.Token
	for _, c := range l.Content {
		t := file.Token{ID: -1, Text: strings.ToValidUTF8(c.Token, "\uFFFD"), Logprob: finite(c.Logprob)}
		if c.ID != nil {
			t.ID = *c.ID
		}
		if b := bytesOf(c.Bytes); b != nil && string(b) != c.Token {
			t.Bytes = b
		}
		for _, top := range c.TopLogprobs {
			t.Top = append(t.Top, file.Alternative{ID: -1, Text: strings.ToValidUTF8(top.Token, "\uFFFD"), Logprob: finite(top.Logprob)})
		}
		out = append(out, t)
	}
	for i, s := range l.Tokens {
		t := file.Token{ID: -1, Text: strings.ToValidUTF8(s, "\uFFFD")}
		if i < len(l.TokenLogprobs) && l.TokenLogprobs[i] != nil {
			t.Logprob = finite(*l.TokenLogprobs[i])
		}
		out = append(out, t)
	}
	return out
}

func bytesOf(list []int) []byte {
	if len(list) == 0 {
		return nil
	}
	out := make([]byte, len(list))
	for i, n := range list {
		if n < 0 || n > 255 {
			return nil
		}
		out[i] = byte(n)
	}
	return out
}

// finite is nil where there is no number: vLLM writes -9999 for minus infinity.
func finite(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) || f <= -9999 {
		return nil
	}
	return &f
}

// errorText is the message of an error object, or what there is instead.
func errorText(raw json.RawMessage) string {
	var e struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &e) == nil && e.Message != "" {
		return e.Message
	}
	if s := stringOf(raw); s != "" {
		return s
	}
	return shorten(string(raw), 300)
}

func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
