// Package jinja evaluates the subset of Jinja2 3.1 that chat templates use,
// byte for byte like the reference implementation set up with trim_blocks,
// lstrip_blocks, the loop control extension and an immutable sandbox.
//
// Every string knows which of its bytes the user gave (see Str), so that a
// renderer can tell text of the template from text of a message. Rendering is
// bounded in steps, memory, output, depth and time, because a template is
// untrusted input from a model file.
//
// It does not know about messages, models or tokens.
package jinja

import (
	"context"
	"time"
)

// Limits bounds the work of one parse or one render. A zero field stands for
// the field of DefaultLimits.
type Limits struct {
	Source  int           // bytes of template source
	Nesting int           // nested expressions and blocks in the source
	Steps   int           // evaluated nodes, visited items, and one for each 64 bytes of text made or searched
	Alloc   int           // bytes of strings, lists and dicts made in total
	Output  int           // bytes of one rendered text
	Depth   int           // nested macro and recursive loop calls
	Range   int           // items of one range(); Jinja's sandbox allows 100000
	Time    time.Duration // wall time of one render
}

// DefaultLimits is generous for real templates: a thousand messages take about
// a hundredth of the steps.
var DefaultLimits = Limits{
	Source: 1 << 20, Nesting: 200, Steps: 10_000_000, Alloc: 128 << 20,
	Output: 32 << 20, Depth: 200, Range: 100_000, Time: 5 * time.Second,
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits
	for _, f := range []struct{ v, d *int }{
		{&l.Source, &d.Source}, {&l.Nesting, &d.Nesting}, {&l.Steps, &d.Steps}, {&l.Alloc, &d.Alloc},
		{&l.Output, &d.Output}, {&l.Depth, &d.Depth}, {&l.Range, &d.Range},
	} {
		if *f.v <= 0 {
			*f.v = *f.d
		}
	}
	if l.Time <= 0 {
		l.Time = d.Time
	}
	return l
}

// Template is a parsed template. It is immutable and safe for use by many
// goroutines at once.
type Template struct {
	body []stmt
}

// Parse reads a template. Errors: *SyntaxError with the line, *LimitError when
// the source is too long or nested too deeply.
func Parse(source string, lim Limits) (*Template, error) {
	lim = lim.withDefaults()
	if len(source) > lim.Source {
		return nil, &LimitError{Limit: "source bytes", Max: int64(lim.Source), Line: 1}
	}
	toks, err := lex(source)
	if err != nil {
		return nil, err
	}
	p := &parser{toks: toks, maxDepth: lim.Nesting}
	body, err := p.template()
	if err != nil {
		return nil, err
	}
	return &Template{body: body}, nil
}

// Output is a rendered text and the byte ranges of it that came from user
// strings: sorted, not empty, not touching each other.
type Output struct {
	Text string
	User []Span
}

// Options of one render.
type Options struct {
	Now    time.Time // what strftime_now sees; zero is time.Now()
	Limits Limits
}

// Render evaluates the template with the given variables. Errors: *RaiseError
// when the template calls raise_exception, *LimitError, *RuntimeError, or the
// context's error.
func (t *Template) Render(ctx context.Context, vars map[string]Value, o Options) (Output, error) {
	lim := o.Limits.withDefaults()
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	in := &interp{ctx: ctx, lim: lim, now: o.Now, deadline: time.Now().Add(lim.Time)}
	if err := ctx.Err(); err != nil {
		return Output{}, err
	}
	root := &scope{vars: make(map[string]Value, len(vars))}
	for k, v := range vars {
		root.vars[k] = v
	}
	in.root = &scope{vars: map[string]Value{}, parent: root}
	out := in.push()
	if _, err := in.execBlock(t.body, in.root); err != nil {
		return Output{}, in.locate(err)
	}
	s := out.str()
	return Output{Text: s.s, User: s.user}, nil
}
