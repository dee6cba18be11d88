package openai

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"glassbox/engine"
	"glassbox/engine/openai/wire"
	"glassbox/engine/token"
)

// logs gathers the log-probabilities of an answer. Tokens that no text has come of yet (a stop string may be growing, or a
// character is not whole) wait until it is clear that they are part of the answer.
type logs struct {
	tok     *token.Tokenizer
	d       *token.Detokenizer
	pending []logEntry
	bytes   int // of text before the next token
	chars   int // of text before the next token
}

// logEntry is a token and where in the answer its text begins.
type logEntry struct {
	engine.TokenLogprob
	bytes, chars int
}

func newLogs(tok *token.Tokenizer) *logs {
	return &logs{tok: tok, d: tok.NewDetokenizer(token.DecodeOptions{SkipSpecial: true, Continue: true})}
}

func (l *logs) add(t engine.TokenLogprob) {
	l.pending = append(l.pending, logEntry{t, l.bytes, l.chars})
	text := l.d.Push(t.ID)
	l.bytes += len(text)
	l.chars += utf8.RuneCountInString(text)
}

// take returns the tokens that waited.
func (l *logs) take() []logEntry {
	p := l.pending
	l.pending = nil
	return p
}

// cut drops the tokens that begin at or after the answer's end: the mark that ended it, and those of a stop string.
func (l *logs) cut(textBytes int) {
	for n := len(l.pending); n > 0 && l.pending[n-1].bytes >= textBytes; n-- {
		l.pending = l.pending[:n-1]
	}
}

// chatLogs writes log-probabilities as a chat answer has them.
func (s *Server) chatLogs(entries []logEntry) *wire.ChatLogprobs {
	out := &wire.ChatLogprobs{Content: make([]wire.TokenLogprob, len(entries))}
	for i, e := range entries {
		piece := s.piece(e.ID)
		t := wire.TokenLogprob{Token: strings.ToValidUTF8(string(piece), "\uFFFD"), Logprob: finite(e.Logprob), Bytes: byteValues(piece), TopLogprobs: []wire.TopLogprob{}}
		for _, a := range e.Top {
			piece := s.piece(int(a.ID))
			t.TopLogprobs = append(t.TopLogprobs, wire.TopLogprob{Token: strings.ToValidUTF8(string(piece), "\uFFFD"), Logprob: finite(a.Logprob), Bytes: byteValues(piece)})
		}
		out.Content[i] = t
	}
	return out
}

// completionLogs writes log-probabilities as a completion has them. before counts the characters in front of the answer.
func (s *Server) completionLogs(entries []logEntry, before int) *wire.CompletionLogprobs {
	out := newCompletionLogs()
	for _, e := range entries {
		lp := finite(e.Logprob)
		top := map[string]float64{s.label(e.ID): lp}
		for _, a := range e.Top {
			top[s.label(int(a.ID))] = finite(a.Logprob)
		}
		out.Tokens = append(out.Tokens, s.label(e.ID))
		out.TokenLogprobs = append(out.TokenLogprobs, &lp)
		out.TopLogprobs = append(out.TopLogprobs, top)
		out.TextOffset = append(out.TextOffset, before+e.chars)
	}
	return out
}

func newCompletionLogs() *wire.CompletionLogprobs {
	return &wire.CompletionLogprobs{Tokens: []string{}, TokenLogprobs: []*float64{}, TopLogprobs: []map[string]float64{}, TextOffset: []int{}}
}

// echoLogs lists the tokens of an echoed prompt. Their log-probabilities are not computed, so they are null.
func (s *Server) echoLogs(ids []int, text string) *wire.CompletionLogprobs {
	out := newCompletionLogs()
	d := s.tok.NewDetokenizer(token.DecodeOptions{})
	chars := 0
	for i, id := range ids {
		out.Tokens = append(out.Tokens, s.label(id))
		out.TokenLogprobs = append(out.TokenLogprobs, nil)
		out.TopLogprobs = append(out.TopLogprobs, nil)
		out.TextOffset = append(out.TextOffset, chars)
		if i == 0 && id == s.tok.BOS() && !strings.HasPrefix(text, s.tok.Text(id)) {
			continue // the tokenizer put it there, not the caller
		}
		chars += utf8.RuneCountInString(d.Push(id))
	}
	return out
}

// joinLogs puts b after a; both may be nil.
func joinLogs(a, b *wire.CompletionLogprobs) *wire.CompletionLogprobs {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	return &wire.CompletionLogprobs{Tokens: append(a.Tokens, b.Tokens...), TokenLogprobs: append(a.TokenLogprobs, b.TokenLogprobs...),
		TopLogprobs: append(a.TopLogprobs, b.TopLogprobs...), TextOffset: append(a.TextOffset, b.TextOffset...)}
}

// label writes a token as the legacy completions do: its text, or its bytes where they are only part of a character, so
// that two such tokens stay apart as keys.
func (s *Server) label(id int) string {
	piece := s.piece(id)
	if utf8.Valid(piece) {
		return string(piece)
	}
	var b strings.Builder
	b.WriteString("bytes:")
	for _, c := range piece {
		fmt.Fprintf(&b, `\x%02x`, c)
	}
	return b.String()
}

// finite keeps JSON valid: a token that cannot be said has the value that OpenAI documents for the very unlikely.
func finite(lp float64) float64 {
	if math.IsNaN(lp) || lp < -9999 {
		return -9999
	}
	return lp
}
