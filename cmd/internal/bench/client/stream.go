package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"glassbox/cmd/internal/bench/sse"
	"glassbox/engine/openai/wire"
)

// Stream reads the body of one streamed answer into a row. It is told when bytes were read; it has no clock.
type Stream struct {
	row     *Row
	parser  sse.Parser
	events  int
	done    bool // data: [DONE], or Ollama's "done":true
	running bool // counts came together with tokens
	usage   *wire.Usage
	bad     error
}

const sampleBytes = 400

// NewStream starts reading an answer; lines is for newline-delimited JSON, as Ollama's own API sends.
func NewStream(row *Row, lines bool) *Stream {
	return &Stream{row: row, parser: sse.Parser{Lines: lines}}
}

// Read takes bytes that were read at a time. After an error the row is failed and the rest of the stream is not worth
// reading.
func (s *Stream) Read(b []byte, at int64) error {
	if err := s.parser.Feed(b, at, s.event); err != nil && s.bad == nil {
		s.bad = err
	}
	return s.bad
}

// Close ends the answer at a time, with the error that ended the transport, nil for a clean end. It decides whether the
// request succeeded, and derives the row's numbers.
func (s *Stream) Close(at int64, transport error) {
	s.parser.Close(at, s.event)
	r := s.row
	r.Times.End = at
	if s.parser.Comments > 0 {
		r.Mark("comments")
	}
	switch {
	case s.bad != nil:
		r.Fail(s.bad.Error())
	case transport != nil && !s.done:
		r.Fail(fmt.Sprintf("the stream broke after %d events: %v", s.events, transport))
	case s.events == 0:
		r.Fail("the answer has no events")
	case r.Times.FirstToken == 0:
		r.Fail(fmt.Sprintf("the stream has no token in its %d events (finish_reason %q)", s.events, r.Finish))
	case !s.done && r.Finish == "":
		r.Fail(fmt.Sprintf("the stream ended after %d events without finish_reason and without [DONE]", s.events))
	case !s.done:
		r.Mark("no [DONE]")
	case r.Finish == "":
		r.Mark("no finish_reason")
	}
	s.counts()
	r.Derive()
}

// counts takes the counts from the server's last usage. Chunks are never counted as tokens.
func (s *Stream) counts() {
	r := s.row
	if r.FirstChunk == 0 {
		r.FirstChunk = 1
	}
	if s.usage == nil {
		r.CountSource = "none"
		return
	}
	r.CountSource = "usage"
	if s.running {
		r.CountSource = "running usage"
	}
	r.PromptTokens, r.OutputTokens = &s.usage.PromptTokens, &s.usage.CompletionTokens
	if d := s.usage.PromptTokensDetails; d != nil {
		r.CachedTokens = &d.CachedTokens
	}
	if d := s.usage.CompletionTokensDetails; d != nil && d.ReasoningTokens > 0 {
		r.ReasoningTokens = &d.ReasoningTokens
	}
}

// chunk is an event of any of the servers. What varies in type between servers is left raw.
type chunk struct {
	Object  string          `json:"object"`
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
	Message json.RawMessage `json:"message"`
	Timings *timings        `json:"timings"`

	Response *struct {
		Usage json.RawMessage `json:"usage"`
	} `json:"response"`
	ollama
}

type choice struct {
	Text         json.RawMessage `json:"text"`
	FinishReason json.RawMessage `json:"finish_reason"`
	Delta        *delta          `json:"delta"`
	Message      json.RawMessage `json:"message"`
}

type delta struct {
	Role             json.RawMessage `json:"role"`
	Content          json.RawMessage `json:"content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	ToolCalls        json.RawMessage `json:"tool_calls"`
	FunctionCall     json.RawMessage `json:"function_call"`
}

// event handles one event.
func (s *Stream) event(e sse.Event) {
	r := s.row
	if s.done || s.bad != nil {
		if s.done {
			r.Mark("events after the end")
		}
		return
	}
	if bytes.Equal(bytes.TrimSpace(e.Data), []byte("[DONE]")) {
		s.done = true
		return
	}
	s.events++
	if r.Times.FirstEvent == 0 {
		r.Times.FirstEvent = e.At
	}
	var c chunk
	if err := json.Unmarshal(e.Data, &c); err != nil {
		s.fail(fmt.Sprintf("event %d is not JSON: %v: %s", s.events, err, clip(e.Data, 120)))
		return
	}
	if msg := errorText(&c, e.Name); msg != "" {
		s.fail(fmt.Sprintf("error in the stream after %d tokens' events: %s", r.Chunks, msg))
		return
	}
	token, text := s.content(&c)
	if token {
		if r.Chunks > 0 && e.Nth > 0 {
			r.Joined++
		}
		r.Chunks++
		r.Arrivals = append(r.Arrivals, e.At)
		r.Times.LastToken = e.At
		if r.Times.FirstToken == 0 {
			r.Times.FirstToken = e.At
		}
		if text && r.Times.FirstText == 0 {
			r.Times.FirstText = e.At
		}
	}
	s.count(&c, token)
	s.own(&c, e.At)
}

func (s *Stream) fail(text string) { s.bad = fmt.Errorf("%s", text) }

// content tells whether the event carries a token, and whether that is text rather than reasoning. finish_reason "" is
// none, as some servers write it for null.
func (s *Stream) content(c *chunk) (token, text bool) {
	if len(c.Choices) == 0 {
		return s.native(c)
	}
	for i := range c.Choices {
		ch := &c.Choices[i]
		if f := str(ch.FinishReason); f != "" {
			s.row.Finish = f
		}
		if s.sample(ch.Text) {
			token, text = true, true
		}
		d := ch.Delta
		if d == nil {
			continue
		}
		if s.sample(d.Content) || filled(d.ToolCalls) || filled(d.FunctionCall) {
			token, text = true, true
		}
		if s.sample(d.Reasoning) || s.sample(d.ReasoningContent) {
			token = true
			s.row.Mark("reasoning")
		}
	}
	return token, text
}

// count reads the counts. Servers send them at the end, in each event (the last is the sum so far, never to be added up),
// as null, or inside another object.
func (s *Stream) count(c *chunk, token bool) {
	raw := c.Usage
	if !filled(raw) && c.Response != nil {
		raw = c.Response.Usage
	}
	if !filled(raw) && kind(c.Message) == '{' {
		var m struct {
			Usage json.RawMessage `json:"usage"`
		}
		if json.Unmarshal(c.Message, &m) == nil {
			raw = m.Usage
		}
	}
	if !filled(raw) {
		return
	}
	var u wire.Usage
	if json.Unmarshal(raw, &u) != nil || u.PromptTokens < 0 || u.CompletionTokens < 0 {
		s.row.Mark("usage that cannot be read")
		return
	}
	if u.PromptTokens == 0 && u.CompletionTokens == 0 {
		return
	}
	s.usage = &u
	if token {
		s.row.CountAtLast = u.CompletionTokens
		if s.row.Chunks == 1 && u.CompletionTokens > 0 {
			s.row.FirstChunk = u.CompletionTokens
		}
		s.running = s.running || s.row.Finish == ""
	}
}

// own reads the server's own times, and notes when the answer was finished.
func (s *Stream) own(c *chunk, at int64) {
	if c.Timings != nil {
		s.row.Server = c.Timings.server()
		if c.Timings.CacheN != nil && s.row.CachedTokens == nil {
			s.row.CachedTokens = c.Timings.CacheN
		}
	}
	if s.row.Finish != "" && s.row.Times.Finish == 0 {
		s.row.Times.Finish = at
	}
}

// sample keeps the answer's first words and tells whether the value is a text that is not empty.
func (s *Stream) sample(raw json.RawMessage) bool {
	switch kind(raw) {
	case '"':
		if len(raw) <= 2 {
			return false
		}
		if len(s.row.Sample) < sampleBytes {
			s.row.Sample += str(raw)
			if len(s.row.Sample) > sampleBytes {
				s.row.Sample = clip([]byte(s.row.Sample), sampleBytes)
			}
		}
		return true
	case '[', '{': // content as parts
		return filled(raw)
	}
	return false
}

// errorText returns the error an event reports: {"error":{"message"}}, {"error":"text"}, {"object":"error","message"}, or
// an event named error.
func errorText(c *chunk, name string) string {
	if filled(c.Error) {
		return ErrorText(c.Error)
	}
	if c.Object == "error" || name == "error" {
		if m := str(c.Message); m != "" {
			return m
		}
		return "an error event without a message"
	}
	return ""
}

// ErrorText reads the value of "error": an object with a message, or a text.
func ErrorText(raw json.RawMessage) string {
	var e struct {
		Message string          `json:"message"`
		Code    json.RawMessage `json:"code"`
		Type    json.RawMessage `json:"type"`
	}
	if json.Unmarshal(raw, &e) == nil && e.Message != "" {
		if code := bytes.Trim(e.Code, `"`); filled(e.Code) && len(code) > 0 {
			return fmt.Sprintf("%s (%s)", e.Message, code)
		}
		return e.Message
	}
	if t := str(raw); t != "" {
		return t
	}
	return clip(raw, 200)
}

// filled tells whether a raw value is there and is neither null nor empty.
func filled(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", `""`, "[]", "{}":
		return false
	}
	return true
}

func kind(raw json.RawMessage) byte {
	if raw = bytes.TrimSpace(raw); len(raw) > 0 {
		return raw[0]
	}
	return 0
}

// str returns a JSON string's text, "" for anything else.
func str(raw json.RawMessage) (s string) {
	if kind(raw) == '"' {
		_ = json.Unmarshal(raw, &s)
	}
	return s
}

// clip cuts a text for a message, between characters.
func clip(b []byte, n int) string {
	if len(b) <= n {
		return string(b)
	}
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return string(b[:n]) + "…"
}
