package live

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"

	"glassbox/trace/file"
)

// message is one text frame. It is written out when the first client sends it, outside the hub's lock, and shared by all.
type message struct {
	once sync.Once
	make func() ([]byte, error)
	data []byte
	err  error
}

func (m *message) bytes() ([]byte, error) {
	m.once.Do(func() {
		m.data, m.err = m.make()
		m.make = nil
	})
	return m.data, m.err
}

// of makes a message from a value that does not change any more.
func of(v any) *message {
	return &message{make: func() ([]byte, error) {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		err := e.Encode(v)
		return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
	}}
}

func startMessage(id string, rec *file.Recording, lay func(*file.Recording)) *message {
	return &message{make: func() ([]byte, error) {
		lay(rec)
		var b bytes.Buffer
		if err := file.WriteJSON(&b, rec); err != nil {
			return nil, err
		}
		return of(struct {
			Type      string          `json:"type"`
			ID        string          `json:"id"`
			Recording json.RawMessage `json:"recording"`
		}{"start", id, b.Bytes()}).bytes()
	}}
}

func requestMessage(id string, q file.Request) *message {
	type known struct { // the fields that a client sets; the tokens of the answer and its text have their own message
		ID           string          `json:"id,omitempty"`
		Number       int64           `json:"number,omitempty"`
		TraceID      string          `json:"trace_id,omitempty"`
		Endpoint     string          `json:"endpoint,omitempty"`
		Messages     json.RawMessage `json:"messages,omitempty"`
		Prompt       string          `json:"prompt,omitempty"`
		Params       file.Attrs      `json:"params,omitempty"`
		Rendered     string          `json:"rendered,omitempty"`
		PromptTokens []file.Token    `json:"prompt_tokens,omitempty"`
		FinishReason string          `json:"finish_reason,omitempty"`
	}
	return of(struct {
		Type    string `json:"type"`
		ID      string `json:"id"`
		Request known  `json:"request"`
	}{"request", id, known{q.ID, q.Number, q.TraceID, q.Endpoint, q.Messages, q.Prompt, q.Params, q.Rendered, q.PromptTokens, q.FinishReason}})
}

func spansMessage(id string, spans []file.Span, passes []file.Pass, calls []file.Call, turns []file.Turn, pages []file.PageChange) *message {
	if spans == nil {
		spans = []file.Span{}
	}
	return of(struct {
		Type   string            `json:"type"`
		ID     string            `json:"id"`
		Spans  []file.Span       `json:"spans"`
		Passes []file.Pass       `json:"passes,omitempty"`
		Calls  []file.Call       `json:"calls,omitempty"`
		Turns  []file.Turn       `json:"turns,omitempty"`
		Pages  []file.PageChange `json:"pages,omitempty"` // changes of memory
	}{"spans", id, spans, passes, calls, turns, pages})
}

func tokensMessage(id string, tokens []file.Token, text string) *message {
	return of(struct {
		Type   string       `json:"type"`
		ID     string       `json:"id"`
		Tokens []file.Token `json:"output_tokens"`
		Text   string       `json:"text"`
	}{"tokens", id, tokens, text})
}

func endMessage(id string) *message {
	return of(struct {
		Type string `json:"type"`
		ID   string `json:"id"`
	}{"end", id})
}

func errorMessage(id, text string) *message {
	return of(struct {
		Type    string `json:"type"`
		ID      string `json:"id"`
		Message string `json:"message"`
	}{"error", id, text})
}

// textOf joins the pieces of an answer: whole characters, also where one is spread over several tokens. Marks such as the
// end of the turn are no text.
func textOf(tokens []file.Token) string {
	var b strings.Builder
	for i := range tokens {
		switch t := &tokens[i]; {
		case t.Special:
		case len(t.Bytes) > 0:
			b.Write(t.Bytes)
		default:
			b.WriteString(t.Text)
		}
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}
