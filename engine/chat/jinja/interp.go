package jinja

import (
	"context"
	"time"
)

const (
	maxEvalDepth  = 20_000 // nested evaluations in total; bounds the stack
	maxValueDepth = 500    // nested values visited by repr, tojson, compare and hash
	checkEvery    = 1024   // steps between looks at the clock
)

// scope holds the variables of one frame: the template, one turn of a loop,
// one call of a macro, one set, filter or with block. An if block has none of
// its own, so a set inside it is seen after it; a set inside a loop is gone at
// the next turn.
type scope struct {
	vars   map[string]Value
	parent *scope
}

func (s *scope) set(name string, v Value) {
	if s.vars == nil {
		s.vars = make(map[string]Value, 4)
	}
	s.vars[name] = v
}

type interp struct {
	ctx      context.Context
	lim      Limits
	now      time.Time
	deadline time.Time
	root     *scope
	bufs     []*strBuf

	line              int
	steps, bytes      int
	untilCheck        int
	calls, evaluating int
}

// step charges n steps and sometimes looks at the clock and the context.
func (in *interp) step(n int) error {
	in.steps += n
	in.untilCheck -= n
	if in.steps > in.lim.Steps {
		return &LimitError{Limit: "steps", Max: int64(in.lim.Steps)}
	}
	if in.untilCheck > 0 {
		return nil
	}
	in.untilCheck = checkEvery
	if err := in.ctx.Err(); err != nil {
		return err
	}
	if time.Now().After(in.deadline) {
		return &LimitError{Limit: "milliseconds", Max: in.lim.Time.Milliseconds()}
	}
	return nil
}

// alloc charges n bytes before they are made.
func (in *interp) alloc(n int) error {
	if n < 0 || in.bytes > in.lim.Alloc-n {
		return in.tooBig()
	}
	in.bytes += n
	return in.step(n / 64)
}

// tooBig is the error for a size that is not even computed.
func (in *interp) tooBig() error {
	return &LimitError{Limit: "bytes of values", Max: int64(in.lim.Alloc)}
}

// nested refuses values nested too deep to visit by recursion.
func (in *interp) nested(depth int) error {
	if depth > maxValueDepth {
		return &LimitError{Limit: "nested values", Max: maxValueDepth}
	}
	return nil
}

func (in *interp) enter() error {
	in.evaluating++
	if in.evaluating > maxEvalDepth {
		return &LimitError{Limit: "nested evaluations", Max: maxEvalDepth}
	}
	return in.step(1)
}

func (in *interp) exit() { in.evaluating-- }

// enterCall guards macro calls and recursive loops.
func (in *interp) enterCall() error {
	in.calls++
	if in.calls > in.lim.Depth {
		return &LimitError{Limit: "nested calls", Max: int64(in.lim.Depth)}
	}
	return nil
}

func (in *interp) push() *strBuf {
	b := &strBuf{}
	in.bufs = append(in.bufs, b)
	return b
}

func (in *interp) pop() { in.bufs = in.bufs[:len(in.bufs)-1] }

// write appends to the innermost buffer.
func (in *interp) write(s Str) error {
	b := in.bufs[len(in.bufs)-1]
	if len(b.buf)+len(s.s) > in.lim.Output {
		return &LimitError{Limit: "bytes of output", Max: int64(in.lim.Output)}
	}
	if err := in.alloc(len(s.s) + 16*len(s.user)); err != nil {
		return err
	}
	b.add(s)
	return nil
}

// capture runs f with a buffer of its own and returns what it wrote.
func (in *interp) capture(f func() error) (Str, error) {
	b := in.push()
	err := f()
	in.pop()
	return b.str(), err
}

func (in *interp) lookup(name string, sc *scope) (Value, error) {
	hops := 0
	for s := sc; s != nil; s = s.parent {
		if v, ok := s.vars[name]; ok {
			return v, in.step(hops / 8)
		}
		hops++
	}
	if g, ok := globals[name]; ok {
		return g, nil
	}
	return undefined("'%s' is undefined", name), in.step(hops / 8)
}

type control uint8

const (
	ctlNone control = iota
	ctlBreak
	ctlContinue
)

func (in *interp) execBlock(body []stmt, sc *scope) (control, error) {
	for _, s := range body {
		ctl, err := in.exec(s, sc)
		if err != nil || ctl != ctlNone {
			return ctl, err
		}
	}
	return ctlNone, nil
}

func (in *interp) exec(s stmt, sc *scope) (control, error) {
	if err := in.step(1); err != nil {
		return 0, err
	}
	switch s := s.(type) {
	case *dataStmt:
		return 0, in.write(lit(s.text))
	case *printStmt:
		in.line = s.line
		return 0, in.print(s.x, sc)
	case *ifStmt:
		return in.execIf(s, sc)
	case *forStmt:
		in.line = s.line
		return 0, in.execFor(s, sc)
	case *setStmt:
		in.line = s.line
		return 0, in.execSet(s, sc)
	case *setBlockStmt:
		return in.execSetBlock(s, sc)
	case *filterStmt:
		return in.execFilter(s, sc)
	case *withStmt:
		return in.execWith(s, sc)
	case *scopeStmt:
		return in.execBlock(s.body, &scope{parent: sc})
	case *generationStmt:
		return 0, in.execCaptured(s.body, &scope{parent: sc})
	case *blockStmt:
		parent := in.root
		if s.scoped {
			parent = sc
		}
		return 0, in.execCaptured(s.body, &scope{parent: parent})
	case *macroStmt:
		sc.set(s.def.name, &macro{def: s.def, scope: sc})
		return 0, nil
	case *callBlockStmt:
		return 0, in.execCallBlock(s, sc)
	case *breakStmt:
		return ctlBreak, nil
	case *continueStmt:
		return ctlContinue, nil
	}
	return 0, errf("RuntimeError", "unknown statement %T", s)
}

func (in *interp) print(x expr, sc *scope) error {
	v, err := in.eval(x, sc)
	if err != nil {
		return err
	}
	s, err := in.toStr(v)
	if err != nil {
		return err
	}
	return in.write(s)
}

func (in *interp) execIf(s *ifStmt, sc *scope) (control, error) {
	in.line = s.line
	for i, test := range s.tests {
		v, err := in.eval(test, sc)
		if err != nil {
			return 0, err
		}
		if truth(v) {
			return in.execBlock(s.bodies[i], sc)
		}
	}
	return in.execBlock(s.orElse, sc)
}

func (in *interp) execSet(s *setStmt, sc *scope) error {
	if err := in.checkNamespaces(s.target, sc); err != nil {
		return err
	}
	v, err := in.eval(s.value, sc)
	if err != nil {
		return err
	}
	return in.assign(s.target, v, sc)
}

// checkNamespaces fails when a target's object is no namespace; Jinja checks
// this before it evaluates the value.
func (in *interp) checkNamespaces(target expr, sc *scope) error {
	switch t := target.(type) {
	case *nsTarget:
		v, err := in.lookup(t.name, sc)
		if err != nil {
			return err
		}
		if _, ok := v.(*namespace); !ok {
			return errf("TemplateRuntimeError", "cannot assign attribute on non-namespace object")
		}
	case *tupleExpr:
		for _, x := range t.items {
			if err := in.checkNamespaces(x, sc); err != nil {
				return err
			}
		}
	}
	return nil
}

func (in *interp) assign(target expr, v Value, sc *scope) error {
	switch t := target.(type) {
	case *nameExpr:
		sc.set(t.name, v)
	case *nsTarget:
		ns, err := in.lookup(t.name, sc)
		if err != nil {
			return err
		}
		return ns.(*namespace).set(lit(t.attr), v)
	case *tupleExpr:
		return in.unpack(t.items, v, sc)
	}
	return nil
}

func (in *interp) unpack(targets []expr, v Value, sc *scope) error {
	next, err := in.iterate(v)
	if err != nil {
		return typeErr("cannot unpack non-iterable %s object", typeName(v))
	}
	for i, t := range targets {
		x, ok, err := next()
		if err != nil {
			return err
		}
		if !ok {
			return valueErr("not enough values to unpack (expected %d, got %d)", len(targets), i)
		}
		if err := in.assign(t, x, sc); err != nil {
			return err
		}
	}
	if _, more, err := next(); err != nil || more {
		if err != nil {
			return err
		}
		return valueErr("too many values to unpack (expected %d)", len(targets))
	}
	return nil
}

func (in *interp) execSetBlock(s *setBlockStmt, sc *scope) (control, error) {
	inner := &scope{parent: sc}
	ctl := ctlNone
	text, err := in.capture(func() (err error) {
		ctl, err = in.execBlock(s.body, inner)
		return err
	})
	if err != nil || ctl != ctlNone {
		return ctl, err
	}
	in.line = s.line
	var v Value = text
	if s.filter != nil {
		if v, err = in.evalChain(s.filter, text, inner); err != nil {
			return 0, err
		}
	}
	if err := in.checkNamespaces(s.target, sc); err != nil {
		return 0, err
	}
	return 0, in.assign(s.target, v, sc)
}

func (in *interp) execFilter(s *filterStmt, sc *scope) (control, error) {
	inner := &scope{parent: sc}
	ctl := ctlNone
	text, err := in.capture(func() (err error) {
		ctl, err = in.execBlock(s.body, inner)
		return err
	})
	if err != nil || ctl != ctlNone {
		return ctl, err
	}
	in.line = s.line
	v, err := in.evalChain(s.filter, text, inner)
	if err != nil {
		return 0, err
	}
	out, err := in.toStr(v)
	if err != nil {
		return 0, err
	}
	return 0, in.write(out)
}

func (in *interp) execWith(s *withStmt, sc *scope) (control, error) {
	in.line = s.line
	inner := &scope{parent: sc}
	for i, t := range s.targets {
		v, err := in.eval(s.values[i], sc)
		if err != nil {
			return 0, err
		}
		if err := in.assign(t, v, inner); err != nil {
			return 0, err
		}
	}
	return in.execBlock(s.body, inner)
}

func (in *interp) execCaptured(body []stmt, sc *scope) error {
	text, err := in.capture(func() error {
		_, err := in.execBlock(body, sc)
		return err
	})
	if err != nil {
		return err
	}
	return in.write(text)
}

func (in *interp) execCallBlock(s *callBlockStmt, sc *scope) error {
	in.line = s.line
	fn, err := in.eval(s.call.fn, sc)
	if err != nil {
		return err
	}
	a, err := in.evalArgs(s.call.args, sc)
	if err != nil {
		return err
	}
	a.names = append(a.names, "caller")
	a.vals = append(a.vals, &macro{def: s.def, scope: sc})
	v, err := in.call(fn, a)
	if err != nil {
		return err
	}
	text, err := in.toStr(v)
	if err != nil {
		return err
	}
	return in.write(text)
}
