package attach

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"

	"glassbox/trace/file"
)

const chatPath = "/v1/chat/completions"

// DefaultRequest is what is asked when nothing else is given.
const DefaultRequest = `{"messages":[{"role":"user","content":"Why is the sky blue?"}],"max_tokens":24,"temperature":0}`

// answer is one answer as it came in. Times are wall clock nanoseconds.
type answer struct {
	body                       []byte // what was sent
	id, model, finish          string
	build                      string // what the engine calls its own build; "" = it does not say
	began, ended               int64  // our first byte, their last
	chunks                     []chunk
	prompt                     []file.Token
	promptTokens, outputTokens int // as the engine counts; 0 = it does not say
}

// chunk is a piece of the answer.
type chunk struct {
	at   int64
	text string
	ids  []int
}

func (a *answer) total() time.Duration { return time.Duration(a.ended - a.began) }

func (a *answer) text() string {
	var b strings.Builder
	for _, c := range a.chunks {
		b.WriteString(c.text)
	}
	return b.String()
}

// decodeRate is tokens a second behind the first chunk, 0 where there are too few.
func (a *answer) decodeRate() float64 {
	var with []chunk
	for _, c := range a.chunks {
		if c.text != "" || len(c.ids) > 0 {
			with = append(with, c)
		}
	}
	n := len(with) - 1
	if n < 1 || with[n].at <= with[0].at {
		return 0
	}
	return float64(n) / (float64(with[n].at-with[0].at) / 1e9)
}

// streamed makes the request a streamed one that says how many tokens there were, and which.
func streamed(body []byte) ([]byte, error) {
	if len(body) == 0 {
		body = []byte(DefaultRequest)
	}
	var m map[string]any
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, fmt.Errorf("--request: wanted the JSON body of a chat completion: %w", err)
	}
	if list, ok := m["messages"].([]any); !ok || len(list) == 0 {
		return nil, fmt.Errorf(`--request: wanted a chat completion with "messages", found none`)
	}
	m["stream"] = true
	m["stream_options"] = map[string]any{"include_usage": true}
	return json.Marshal(m)
}

// event is what is read of a streamed chunk.
type event struct {
	ID      string `json:"id"`
	Model   string `json:"model"`
	Build   string `json:"system_fingerprint"`
	Choices []struct {
		Delta struct {
			Content   string `json:"content"`
			Reasoning string `json:"reasoning_content"`
		} `json:"delta"`
		TokenIDs     []int  `json:"token_ids"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt int `json:"prompt_tokens"`
		Output int `json:"completion_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// ask sends the request and reads the answer to its end.
func ask(ctx context.Context, o *Options, p *process, body []byte) (answer, error) {
	a := answer{body: body}
	ctx, cancel := context.WithTimeout(ctx, o.Answer)
	defer cancel()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { a.began = time.Now().UnixNano() }})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(o.URL, "/")+chatPath, bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	req.Header.Set("Content-Type", "application/json")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return a, p.blame(fmt.Errorf("the request got no answer: %w", err))
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 600))
		return a, fmt.Errorf("%s%s: wanted status 200, found %s: %s: give a body that this engine takes with --request", o.URL, chatPath, res.Status, bytes.TrimSpace(text))
	}
	if err := a.read(res.Body); err != nil {
		return a, p.blame(err)
	}
	if len(a.chunks) == 0 {
		return a, fmt.Errorf("%s%s: wanted streamed events (data: {...}), found none", o.URL, chatPath)
	}
	return a, nil
}

// read reads the events of a stream.
func (a *answer) read(body io.Reader) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 0, 64<<10), 4<<20)
	done := false
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		if !ok {
			continue
		}
		at := time.Now().UnixNano()
		data = bytes.TrimSpace(data)
		if a.ended = at; string(data) == "[DONE]" {
			done = true
			continue
		}
		var e event
		if err := json.Unmarshal(data, &e); err != nil {
			return fmt.Errorf("event %d of the answer: %w", len(a.chunks)+1, err)
		}
		if len(e.Error) > 0 && string(e.Error) != "null" {
			return fmt.Errorf("the engine answered with an error: %.300s", e.Error)
		}
		a.take(&e, at)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("the answer broke off after %d events: %w", len(a.chunks), err)
	}
	if !done && a.finish == "" {
		return fmt.Errorf("the answer broke off after %d events: wanted data: [DONE]", len(a.chunks))
	}
	return nil
}

func (a *answer) take(e *event, at int64) {
	if a.id == "" {
		a.id, a.model, a.build = e.ID, e.Model, e.Build
	}
	if e.Usage != nil {
		a.promptTokens, a.outputTokens = e.Usage.Prompt, e.Usage.Output
	}
	for _, c := range e.Choices {
		a.chunks = append(a.chunks, chunk{at: at, text: c.Delta.Content + c.Delta.Reasoning, ids: c.TokenIDs})
		if c.FinishReason != "" {
			a.finish = c.FinishReason
		}
	}
}
