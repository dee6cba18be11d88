package openai

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"glassbox/engine"
	"glassbox/engine/openai/wire"
	"glassbox/trace"
)

// reply writes the answer of a generation: whole, or as server-sent events.
type reply struct {
	g       *generation
	j       *job
	c       *call
	created int64
	began   bool // status and headers are sent
	event   []byte
	texts   []*strings.Builder // by choice
	opened  []bool             // by choice: the first event, with the role, was sent
}

func newReply(g *generation) *reply {
	r := &reply{g: g, j: g.j, c: g.j.c, created: time.Now().Unix(), opened: make([]bool, len(g.choices))}
	for range g.choices {
		r.texts = append(r.texts, new(strings.Builder))
	}
	return r
}

// events streams the answer. Until the first event of the engine, an error still gets a status of its own.
func (r *reply) events() error {
	if len(r.j.request.Stops) > 0 { // it may be long until the first token: who looks has to know the recording's name before
		if err := r.ping(); err != nil {
			return r.broken(err)
		}
	}
	for r.g.open > 0 {
		ch, ev, err := r.g.next(r.c.s.c.Limits.Ping)
		switch {
		case errors.Is(err, errQuiet):
			err = r.ping()
		case err == nil:
			err = r.pass(ch, ev)
		}
		if err != nil {
			return r.broken(err)
		}
	}
	if err := r.usage(); err != nil {
		return r.broken(err)
	}
	if err := r.end(); err != nil {
		return r.broken(err)
	}
	return nil
}

// begin sends status and headers with the first event.
func (r *reply) begin() {
	if r.began {
		return
	}
	r.began, r.c.sent, r.c.status = true, true, http.StatusOK
	h := r.c.rw.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no") // nginx passes events on at once
	r.c.rw.WriteHeader(http.StatusOK)
}

// ping keeps the connection alive with a comment, which clients do not see.
func (r *reply) ping() error {
	text := "ping"
	if at, paused := r.c.s.standing(); paused {
		text = at
	}
	r.event = fmt.Appendf(r.event[:0], ": %s\n\n", text)
	return r.push()
}

// pass sends what an event of the engine adds to the answer.
func (r *reply) pass(ch *choice, ev engine.Event) error {
	if !r.opened[ch.index] {
		r.opened[ch.index] = true
		if err := r.open(ch); err != nil {
			return err
		}
	}
	r.locate(ch)
	defer r.c.w.In(-1, -1)
	if ev.Text != "" {
		r.texts[ch.index].WriteString(ev.Text)
		if err := r.chunk(ch, ev.Text); err != nil {
			return err
		}
		if err := r.push(); err != nil {
			return err
		}
	}
	if ev.Finish == "" {
		return nil
	}
	r.c.w.In(-1, -1)
	return r.send(r.last(ch))
}

// locate tells the recording which token the next spans are about.
func (r *reply) locate(ch *choice) {
	if !r.c.w.On() {
		return
	}
	toks := r.c.rec.Facts().OutputToks
	if n := ch.tokens - 1; n >= 0 && n < len(toks) {
		r.c.w.In(int(toks[n].Pass), n)
	}
}

// open sends a choice's first event: the role of a chat, or the echo of a prompt.
func (r *reply) open(ch *choice) error {
	if r.j.chat {
		empty := ""
		return r.send(r.chatChunk(wire.ChatChunkChoice{Index: ch.index, Delta: wire.Delta{Role: "assistant", Content: &empty}}))
	}
	if r.j.echo == nil {
		return nil
	}
	e := wire.CompletionChoice{Index: ch.index, Text: r.j.echo[ch.index/r.j.n]}
	if ch.logs != nil {
		e.Logprobs = r.c.s.echoLogs(r.j.prompts[ch.index/r.j.n], e.Text)
	}
	return r.send(r.completionChunk(e))
}

// chunk makes one event of new text.
//
//go:noinline
func (r *reply) chunk(ch *choice, text string) error {
	m := r.c.w.Begin(trace.StepChunk)
	var v any
	var err error
	if r.j.chat {
		e := wire.ChatChunkChoice{Index: ch.index, Delta: wire.Delta{Content: &text}}
		if ch.logs != nil {
			e.Logprobs = r.c.s.chatLogs(ch.logs.take())
		}
		v = r.chatChunk(e)
	} else {
		e := wire.CompletionChoice{Index: ch.index, Text: text}
		if ch.logs != nil {
			e.Logprobs = r.c.s.completionLogs(ch.logs.take(), r.before(ch))
		}
		v = r.completionChunk(e)
	}
	r.event, err = event(r.event[:0], v)
	if m.On() {
		end := trace.Now() // what only the recording needs is not part of the step
		m.Set("in", fmt.Sprintf("%q", text))
		m.Set("out", fmt.Sprintf("an event of %d bytes", len(r.event)))
		m.EndAt(end)
	}
	return err
}

// before counts the characters in front of a choice's answer: an echoed prompt.
func (r *reply) before(ch *choice) int {
	if r.j.echo == nil {
		return 0
	}
	return utf8.RuneCountInString(r.j.echo[ch.index/r.j.n])
}

// last makes a choice's last event, which says why the answer ended. Log-probabilities that still wait go with it.
func (r *reply) last(ch *choice) any {
	var rest []logEntry
	if ch.logs != nil {
		r.settle(ch)
		rest = ch.logs.take()
	}
	if r.j.chat {
		e := wire.ChatChunkChoice{Index: ch.index, FinishReason: &ch.finish}
		if len(rest) > 0 {
			e.Logprobs = r.c.s.chatLogs(rest)
		}
		chunk := r.chatChunk(e)
		chunk.Timings = r.times()
		return chunk
	}
	e := wire.CompletionChoice{Index: ch.index, FinishReason: &ch.finish}
	if len(rest) > 0 {
		e.Logprobs = r.c.s.completionLogs(rest, r.before(ch))
	}
	chunk := r.completionChunk(e)
	chunk.Timings = r.times()
	return chunk
}

// times are those of the whole request, with the event that ends its last answer.
func (r *reply) times() *wire.Timings {
	if r.g.open > 0 {
		return nil
	}
	return r.g.timings()
}

// settle drops the log-probabilities of tokens that are not part of the answer.
func (r *reply) settle(ch *choice) {
	if ch.finish == "stop" {
		ch.logs.cut(r.texts[ch.index].Len())
	}
}

// event writes a value as one server-sent event (WHATWG HTML, 9.2).
func event(to []byte, v any) ([]byte, error) {
	b, err := compact(v)
	if err != nil {
		return to, err
	}
	to = append(to, "data: "...)
	to = append(to, b...)
	return append(to, "\n\n"...), nil
}

// send writes an event that is not about one token.
func (r *reply) send(v any) error {
	var err error
	if r.event, err = event(r.event[:0], v); err != nil {
		return err
	}
	return r.push()
}

// push writes the event and sends it on its way.
func (r *reply) push() error {
	r.begin()
	if err := r.write(); err != nil {
		return err
	}
	return r.flush()
}

// write hands the event to the HTTP server. A client that has not taken the last ones for too long is given up.
//
//go:noinline
func (r *reply) write() error {
	m := r.c.w.Begin(trace.StepWrite)
	r.c.mayWrite()
	n, err := r.c.rw.Write(r.event)
	if m.On() {
		end := trace.Now()
		m.Set("in", shorten(strings.TrimRight(string(r.event), "\n"), 400))
		m.Set("out", fmt.Sprintf("%d bytes in the connection's buffer", n))
		m.EndAt(end)
	}
	if err != nil {
		return errGone
	}
	return nil
}

// flush sends the buffer now, so that the client sees the event when it happens.
//
//go:noinline
func (r *reply) flush() error {
	m := r.c.w.Begin(trace.StepFlush)
	err := r.c.rc.Flush()
	if m.On() {
		end := trace.Now()
		m.Set("in", fmt.Sprintf("%d bytes in the connection's buffer", len(r.event)))
		m.Set("out", "handed to the operating system")
		m.EndAt(end)
	}
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return errGone
	}
	return nil
}

// usage counts the tokens: in an event of its own, if it was asked for.
//
//go:noinline
func (r *reply) usage() error {
	m := r.c.w.Begin(trace.StepUsage)
	defer m.End()
	u := r.counts()
	if m.On() {
		m.Set("in", fmt.Sprintf("finish_reason %s", r.c.facts.finish))
		m.Set("out", fmt.Sprintf("%d prompt tokens, %d of the answer", u.PromptTokens, u.CompletionTokens))
	}
	if !r.j.stream || !r.j.usage {
		return nil
	}
	if r.j.chat {
		chunk := r.chatChunk(wire.ChatChunkChoice{})
		chunk.Choices, chunk.Usage = []wire.ChatChunkChoice{}, &wire.OptionalUsage{Usage: &u}
		return r.send(chunk)
	}
	chunk := r.completionChunk(wire.CompletionChoice{})
	chunk.Choices, chunk.Usage = []wire.CompletionChoice{}, &wire.OptionalUsage{Usage: &u}
	return r.send(chunk)
}

// end closes the stream with its mark, or sends the whole answer.
//
//go:noinline
func (r *reply) end(whole ...any) error {
	m := r.c.w.Begin(trace.StepEnd)
	defer m.End()
	if len(whole) > 0 {
		err := r.c.writeJSON(http.StatusOK, whole[0])
		if m.On() {
			m.Set("in", "the whole answer as JSON")
			m.Set("out", fmt.Sprintf("status 200, Content-Length %s", r.c.rw.Header().Get("Content-Length")))
		}
		return err
	}
	r.event = append(r.event[:0], "data: [DONE]\n\n"...)
	err := r.push()
	if m.On() {
		m.Set("in", "data: [DONE]")
		m.Set("out", "the stream is closed")
	}
	return err
}

// broken ends a stream early. Before the first byte the error gets a status of its own; after it, an event says what
// happened and [DONE] does not come, so that no client takes half an answer for a whole one.
func (r *reply) broken(err error) error {
	if errors.Is(err, errGone) || !r.began {
		return err
	}
	if r.send(explain(err).body()) != nil {
		return errGone
	}
	return err
}

// counts returns the tokens of all choices so far.
func (r *reply) counts() wire.Usage {
	u := wire.Usage{PromptTokensDetails: &wire.PromptDetails{}, CompletionTokensDetails: &wire.CompletionParts{}}
	for i, ch := range r.g.choices {
		if i%r.j.n == 0 {
			u.PromptTokens += len(r.j.prompts[i/r.j.n])
			u.PromptTokensDetails.CachedTokens += ch.answer.Usage().Cached
		}
		u.CompletionTokens += ch.tokens
	}
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	return u
}

// running returns the usage field of an event before the last: left out, null, or the counts so far.
func (r *reply) running() *wire.OptionalUsage {
	switch {
	case !r.j.usage:
		return nil
	case r.j.running:
		u := r.counts()
		return &wire.OptionalUsage{Usage: &u}
	}
	return &wire.OptionalUsage{}
}

func (r *reply) chatChunk(c wire.ChatChunkChoice) *wire.ChatChunk {
	return &wire.ChatChunk{ID: r.c.id, Object: "chat.completion.chunk", Created: r.created, Model: r.j.model,
		Choices: []wire.ChatChunkChoice{c}, SystemFingerprint: r.c.s.fingerprint(), Usage: r.running()}
}

func (r *reply) completionChunk(c wire.CompletionChoice) *wire.Completion {
	return &wire.Completion{ID: r.c.id, Object: "text_completion", Created: r.created, Model: r.j.model,
		Choices: []wire.CompletionChoice{c}, SystemFingerprint: r.c.s.fingerprint(), Usage: r.running()}
}

// fingerprint names the software that made the answer.
func (s *Server) fingerprint() string { return "glassbox-" + s.c.Version }
