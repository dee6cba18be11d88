package gateway

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"glassbox/trace/file"
)

// redact takes the texts out of a recording: of the prompt, of the answer, of tools, and of the engine's spans. Lengths,
// counts, times and numbers stay. The upstream's errors, which may repeat a prompt, are left out where they are read.
func redact(rec *file.Recording) {
	r := &rec.Request
	r.Messages = redactMessages(r.Messages)
	if r.Prompt != "" {
		r.Prompt = gone(r.Prompt)
	}
	if r.Text != "" {
		r.Text = gone(r.Text)
	}
	for i := range r.OutputTokens {
		t := &r.OutputTokens[i]
		t.ID, t.Text, t.Bytes, t.Top = -1, "", nil, nil
	}
	for k, v := range r.Params {
		switch v.(type) {
		case int64, float64, bool, nil:
		default:
			if k != "model" && k != "recorded_by" && k != "upstream" {
				r.Params[k] = "[redacted]"
			}
		}
	}
	redactEngine(rec)
}

// redactEngine takes the strings out of the engine's spans.
func redactEngine(rec *file.Recording) {
	for i := range rec.Spans {
		if rec.Spans[i].Lane == laneEngine {
			redactAttrs(rec.Spans[i].Attrs)
		}
	}
}

// redactMessages keeps the roles and lengths of messages.
func redactMessages(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	var list []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(raw, &list) != nil {
		b, _ := json.Marshal(gone(string(raw)))
		return b
	}
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	out := make([]message, len(list))
	for i, m := range list {
		text := stringOf(m.Content)
		if text == "" {
			text = string(m.Content)
		}
		out[i] = message{shorten(m.Role, 20), gone(text)}
	}
	b, _ := json.Marshal(out)
	return b
}

// named are the attributes of an engine's span whose strings are names, not texts.
var named = []string{"gen_ai.request.model", "gen_ai.request.id", "gen_ai.response.model", "gen_ai.response.id", "gen_ai.system", "gen_ai.operation.name",
	"gen_ai.provider.name", "http.", "server.", "code.", "otlp.", "service", "from", "how"}

// redactAttrs takes the strings out of an engine's span, but for names; numbers stay.
func redactAttrs(attrs file.Attrs) {
	for k, v := range attrs {
		switch v.(type) {
		case int64, float64, bool:
			continue
		}
		known := false
		for _, n := range named {
			known = known || k == n || strings.HasSuffix(n, ".") && strings.HasPrefix(k, n)
		}
		if !known {
			attrs[k] = "[redacted]"
		}
	}
}

func gone(s string) string {
	return fmt.Sprintf("[redacted, %d characters]", utf8.RuneCountInString(s))
}
