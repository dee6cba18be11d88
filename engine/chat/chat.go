// Package chat turns a conversation into the text a model was trained on, by
// the chat template from the model's file.
//
// The template language is Jinja2 as Hugging Face transformers sets it up
// (trim_blocks, lstrip_blocks, loop controls, raise_exception, strftime_now and
// its own tojson); package jinja evaluates it.
//
// It does not know about tokens, files or HTTP.
package chat

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	"glassbox/engine/chat/jinja"
	"glassbox/trace"
)

// Errors of rendering; see package jinja.
type (
	// RaiseError carries what the template itself says is wrong with the
	// messages: the client's mistake.
	RaiseError = jinja.RaiseError
	// LimitError says which limit on templates was reached.
	LimitError = jinja.LimitError
	// SyntaxError says where a template cannot be parsed.
	SyntaxError = jinja.SyntaxError
	// RuntimeError is any other failure while rendering.
	RuntimeError = jinja.RuntimeError
	// Limits bounds the work of a template.
	Limits = jinja.Limits
	// Range is the byte range [Start, End) of a text.
	Range = jinja.Span
)

// ErrNoTemplate says that there is no template: none is guessed.
var ErrNoTemplate = errors.New("chat template: the model has none (key tokenizer.chat_template); send a plain prompt instead")

// Message is one turn of a conversation.
type Message struct {
	Role    string
	Content string
	Name    string // left out when empty
	// Extra holds further keys of the message, such as tool_calls, as Go or
	// JSON values (see jinja.From; a json.RawMessage keeps the order of keys).
	// A key "content" here replaces Content, so nil gives a null content.
	Extra map[string]any
}

// Options of one render.
type Options struct {
	AddGenerationPrompt bool
	BOS, EOS            string    // texts of the special tokens; may be empty
	Now                 time.Time // for strftime_now; zero is the time of the call
	// Extra holds further variables, such as tools or enable_thinking, in the
	// forms of Message.Extra. Their texts count as the user's.
	Extra  map[string]any
	Limits Limits        // zero fields stand for jinja.DefaultLimits
	Trace  *trace.Writer // where the spans of steps template and render go; nil when off
}

// Rendered is the text for the model.
type Rendered struct {
	Text string
	// Content lists the byte ranges of Text that the user wrote: roles, names,
	// contents and extras, also after the template trimmed, cut or quoted them.
	// Sorted, not empty, and none touches the next. A tokenizer must not find
	// special tokens that overlap them; ordinary tokens may cross their ends.
	Content []Range
}

// Template is a parsed chat template, safe for use by many goroutines.
type Template struct {
	t    *jinja.Template
	size int // bytes of source
}

// New parses a template. Errors: ErrNoTemplate when it is blank, *SyntaxError,
// *LimitError.
func New(template string) (*Template, error) {
	if strings.TrimSpace(template) == "" {
		return nil, ErrNoTemplate
	}
	t, err := jinja.Parse(template, Limits{})
	if err != nil {
		return nil, fmt.Errorf("chat template: %w", err)
	}
	return &Template{t, len(template)}, nil
}

// Render evaluates the template over the messages. Errors, to be told apart by
// errors.As: *RaiseError, *LimitError, *RuntimeError, or the context's error.
func (t *Template) Render(ctx context.Context, msgs []Message, o Options) (Rendered, error) {
	m := o.Trace.Begin(trace.StepTemplate)
	vars, err := variables(msgs, o)
	if m.On() {
		m.Set("in", fmt.Sprintf("messages: %d", len(msgs)))
		m.Set("out", fmt.Sprintf("a template of %d bytes and %d variables", t.size, len(vars)))
	}
	m.End()
	if err != nil {
		return Rendered{}, fmt.Errorf("chat template: %w", err)
	}

	m = o.Trace.Begin(trace.StepRender)
	out, err := t.t.Render(ctx, vars, jinja.Options{Now: o.Now, Limits: o.Limits})
	if m.On() {
		m.Set("in", fmt.Sprintf("messages: %d", len(msgs)))
		m.Set("out", fmt.Sprintf("%d bytes: %.160q", len(out.Text), out.Text))
		m.Set("written_by_user", len(out.User))
	}
	m.End()
	if err != nil {
		return Rendered{}, fmt.Errorf("chat template: %w", err)
	}
	return Rendered{Text: out.Text, Content: out.User}, nil
}

// variables is what the template sees.
func variables(msgs []Message, o Options) (map[string]jinja.Value, error) {
	vars := make(map[string]jinja.Value, 4+len(o.Extra))
	for k, v := range o.Extra {
		x, err := jinja.From(v, true)
		if err != nil {
			return nil, fmt.Errorf("variable %q: %w", k, err)
		}
		vars[k] = x
	}
	list := make([]jinja.Value, len(msgs))
	for i, m := range msgs {
		d, err := m.dict()
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		list[i] = d
	}
	vars["messages"] = jinja.NewList(list...)
	vars["add_generation_prompt"] = o.AddGenerationPrompt
	vars["bos_token"] = jinja.String(o.BOS, false)
	vars["eos_token"] = jinja.String(o.EOS, false)
	return vars, nil
}

// dict is the message as a template sees it: role, content, name, then the
// extras by name.
func (m Message) dict() (*jinja.Dict, error) {
	d := jinja.NewDict()
	d.Set("role", jinja.String(m.Role, true))
	d.Set("content", jinja.String(m.Content, true))
	if m.Name != "" {
		d.Set("name", jinja.String(m.Name, true))
	}
	keys := make([]string, 0, len(m.Extra))
	for k := range m.Extra {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		v, err := jinja.From(m.Extra[k], true)
		if err != nil {
			return nil, fmt.Errorf("key %q: %w", k, err)
		}
		d.SetKey(jinja.String(k, true), v)
	}
	return d, nil
}
