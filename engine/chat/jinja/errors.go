package jinja

import (
	"errors"
	"fmt"
)

// SyntaxError says where and why a template cannot be parsed.
type SyntaxError struct {
	Line int
	Msg  string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("template line %d: syntax error: %s", e.Line, e.Msg)
}

// RaiseError carries the text a template gave to raise_exception.
type RaiseError struct {
	Line int
	Msg  string
}

func (e *RaiseError) Error() string { return e.Msg }

// LimitError says which limit a template ran into, and the limit's value.
type LimitError struct {
	Limit string
	Max   int64
	Line  int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("template line %d: exceeds the limit of %d %s", e.Line, e.Max, e.Limit)
}

// RuntimeError is any other failure while rendering. Kind is the Python
// exception that Jinja2 would raise: UndefinedError, TypeError, SecurityError…
type RuntimeError struct {
	Kind string
	Line int
	Msg  string
}

func (e *RuntimeError) Error() string {
	return fmt.Sprintf("template line %d: %s: %s", e.Line, e.Kind, e.Msg)
}

func errf(kind, format string, args ...any) error {
	return &RuntimeError{Kind: kind, Msg: fmt.Sprintf(format, args...)}
}

func typeErr(format string, args ...any) error  { return errf("TypeError", format, args...) }
func valueErr(format string, args ...any) error { return errf("ValueError", format, args...) }

func isKind(err error, kinds ...string) bool {
	var e *RuntimeError
	if !errors.As(err, &e) {
		return false
	}
	for _, k := range kinds {
		if e.Kind == k {
			return true
		}
	}
	return false
}

// locate gives an error the line being evaluated, unless it has one.
func (in *interp) locate(err error) error {
	switch e := err.(type) {
	case *RuntimeError:
		if e.Line == 0 {
			e.Line = in.line
		}
	case *LimitError:
		if e.Line == 0 {
			e.Line = in.line
		}
	case *RaiseError:
		if e.Line == 0 {
			e.Line = in.line
		}
	}
	return err
}
