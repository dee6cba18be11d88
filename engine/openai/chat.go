package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"glassbox/engine"
	"glassbox/engine/chat"
	"glassbox/engine/openai/wire"
	"glassbox/engine/token"
	"glassbox/trace"
)

// chatRequest is the body of a chat request with the messages as a template takes them.
type chatRequest struct {
	wire.ChatRequest
	messages []chat.Message
}

// chat serves POST /v1/chat/completions.
func (s *Server) chat(c *call) error {
	var r chatRequest
	if err := c.decodeJSON(&r.ChatRequest); err != nil {
		return err
	}
	j, err := s.validate(c, &r)
	if err != nil {
		return err
	}
	c.newID("chatcmpl-")
	if c.w.On() {
		c.rec.Update(func(f *trace.Facts) { f.Messages = field(c.body, "messages") })
	}
	start := trace.Now()
	text, plain, err := s.render(c.r.Context(), r.messages, true, c.w)
	rendered := trace.Now()
	c.before = append(c.before, part{"template", start, rendered, nil})
	if err != nil {
		return err
	}
	ids := s.tok.Encode(text, token.Options{AddSpecial: true, ParseSpecial: true, Plain: plain, Trace: c.w})
	c.before = append(c.before, part{"tokenize", rendered, trace.Now(), nil})
	j.prompts = [][]int{ids}
	c.prompt(text, ids)
	return s.generate(j)
}

// prompt notes in the recording what the model is given.
func (c *call) prompt(text string, ids []int) {
	if !c.w.On() {
		return
	}
	toks := make([]trace.Token, len(ids))
	for i, id := range ids {
		if c.s.tok.Valid(id) {
			toks[i] = engine.Token(c.s.tok, id)
		} else {
			toks[i] = trace.Token{ID: id}
		}
	}
	c.rec.Update(func(f *trace.Facts) { f.Rendered, f.PromptToks = text, toks })
}

// field returns the raw JSON of a body's field.
func field(body []byte, name string) json.RawMessage {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(body, &all) // it was decoded before
	return all[name]
}

// render makes a text of a chat with the model's template. The spans are written by package chat.
func (s *Server) render(ctx context.Context, messages []chat.Message, open bool, w *trace.Writer) (string, []token.Span, error) {
	if s.c.Template == nil {
		return "", nil, &RequestError{http.StatusBadRequest, invalidRequest,
			"this model's file has no chat template: use /v1/completions, or start the server with --chat-template FILE", "messages", "no_chat_template"}
	}
	out, err := s.c.Template.Render(ctx, messages, open, w)
	if err != nil {
		return "", nil, templateError(ctx, err)
	}
	plain := make([]token.Span, len(out.Content))
	for i, r := range out.Content {
		plain[i] = token.Span(r)
	}
	return out.Text, plain, nil
}

// templateError tells the client what the template says of its messages.
func templateError(ctx context.Context, err error) error {
	var raised *chat.RaiseError
	var limit *chat.LimitError
	code := "template_error"
	switch {
	case ctx.Err() != nil:
		return errGone
	case errors.As(err, &raised):
		code = "template_refused"
	case errors.As(err, &limit):
		code = "template_limit"
	}
	return &RequestError{http.StatusBadRequest, invalidRequest, err.Error(), "messages", code}
}

func (r *chatRequest) shared() *wire.Common { return &r.Common }

// check looks at what only chat requests have.
func (r *chatRequest) check(j *job) error {
	j.chat = true
	var err error
	if r.messages, err = messages(r.Messages); err != nil {
		return err
	}
	if err := r.features(); err != nil {
		return err
	}
	if err := tokenLimit("max_tokens", r.MaxTokens, &j.request.MaxTokens); err != nil {
		return err
	}
	if err := tokenLimit("max_completion_tokens", r.MaxCompletionTokens, &j.request.MaxTokens); err != nil {
		return err
	}
	j.logs = is(r.Logprobs)
	if r.TopLogprobs != nil {
		if n := *r.TopLogprobs; n < 0 || n > maxTop {
			return invalid("top_logprobs", "top_logprobs: wanted 0 to %d, found %d", maxTop, n)
		}
		if !j.logs {
			return invalid("top_logprobs", "top_logprobs needs logprobs to be true")
		}
		j.request.Logprobs = int(*r.TopLogprobs)
	} else if j.logs {
		j.request.Logprobs = 0
	}
	return nil
}

// features refuses what this server does not do, so that no answer pretends to it.
func (r *chatRequest) features() error {
	if len(r.Tools) > 0 && r.ToolChoice != "none" {
		return unsupported("unsupported_parameter", "tools", `tools are not supported by this server: leave them out, or send "tool_choice": "none"`)
	}
	if slices.ContainsFunc(r.Modalities, func(m string) bool { return m != "text" }) {
		return unsupported("unsupported_value", "modalities", `modalities: wanted ["text"], found %q`, r.Modalities)
	}
	return nil
}

var roles = []string{"system", "developer", "user", "assistant", "tool"}

// messages turns a request's messages into what a template takes.
func messages(in wire.Messages) ([]chat.Message, error) {
	if len(in) == 0 {
		return nil, invalid("messages", "messages: wanted at least one message, found none")
	}
	out := make([]chat.Message, len(in))
	for i, m := range in {
		param := fmt.Sprintf("messages[%d]", i)
		if !slices.Contains(roles, m.Role) {
			return nil, invalid(param+".role", "%s.role: wanted %s, found %q", param, strings.Join(roles, ", "), shorten(m.Role, 40))
		}
		text, err := contentText(m, param+".content")
		if err != nil {
			return nil, err
		}
		role := m.Role
		if role == "developer" {
			role = "system"
		}
		out[i] = chat.Message{Role: role, Content: text, Name: m.Name, Extra: extra(m)}
	}
	return out, nil
}

// extra are a message's further keys, as a template sees them.
func extra(m wire.Message) map[string]any {
	if m.ToolCalls == nil && m.ToolCallID == "" {
		return nil
	}
	x := map[string]any{}
	if m.ToolCalls != nil {
		x["tool_calls"] = m.ToolCalls
	}
	if m.ToolCallID != "" {
		x["tool_call_id"] = m.ToolCallID
	}
	return x
}

// contentText returns a content as one text; text parts are joined by a newline.
func contentText(m wire.Message, param string) (string, error) {
	if m.Content.Text != nil {
		return *m.Content.Text, nil
	}
	if m.Content.Parts == nil {
		if m.Role == "assistant" && m.ToolCalls != nil {
			return "", nil
		}
		return "", invalid(param, "%s: wanted a string or a list of parts, found nothing", param)
	}
	var texts []string
	for i, p := range m.Content.Parts {
		switch {
		case p.Type == "text" && p.Text != nil:
			texts = append(texts, *p.Text)
		case p.Type == "refusal" && p.Refusal != nil && m.Role == "assistant":
			texts = append(texts, *p.Refusal)
		case p.Type == "text":
			return "", invalid(param, "%s[%d]: a part of type text has no text", param, i)
		default:
			return "", unsupported("unsupported_value", param, "%s[%d]: wanted a part of type text, found %q: this model reads text only", param, i, shorten(p.Type, 40))
		}
	}
	return strings.Join(texts, "\n"), nil
}
