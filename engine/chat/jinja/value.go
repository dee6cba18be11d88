package jinja

import "fmt"

// Value is what a template computes with: nil (None), bool, int64, float64,
// Str, *List, Tuple, *Dict, *Undefined, and the callables, iterators and
// objects of this package.
type Value interface{}

// List is a list. The sandbox lets no template change one.
type List struct{ items []Value }

// NewList makes a list value of the items.
func NewList(items ...Value) *List { return &List{items} }

// Tuple is an immutable sequence that can be a key of a dict.
type Tuple []Value

// Undefined is the value of a missing variable or attribute. Most operations
// on it fail with its message.
type Undefined struct {
	msg      string
	security bool // the attribute exists but the sandbox hides it
}

func undefined(format string, args ...any) *Undefined {
	return &Undefined{msg: fmt.Sprintf(format, args...)}
}

func (u *Undefined) fail() error {
	if u.security {
		return errf("SecurityError", "%s", u.msg)
	}
	return errf("UndefinedError", "%s", u.msg)
}

// namespace is a mutable object made by namespace().
type namespace struct{ attrs *Dict }

// builtin is a function or a method bound to its object.
type builtin struct {
	name string
	fn   func(in *interp, a args) (Value, error)
}

// rangeVal is a range object.
type rangeVal struct{ start, stop, step, n int64 }

func (r rangeVal) at(i int64) int64 { return r.start + i*r.step }

// dictView is what keys, values and items of a dict give.
type dictView struct {
	d    *Dict
	kind string // "keys", "values", "items"
}

// iterator is a generator: it can be read once.
type iterator struct {
	name string
	next func() (Value, bool, error)
}

func sliceIter(name string, items []Value) *iterator {
	i := 0
	return &iterator{name, func() (Value, bool, error) {
		if i >= len(items) {
			return nil, false, nil
		}
		i++
		return items[i-1], true, nil
	}}
}

func typeName(v Value) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int64:
		return "int"
	case float64:
		return "float"
	case Str:
		return "str"
	case *List:
		return "list"
	case Tuple:
		return "tuple"
	case *Dict:
		return "dict"
	case *Undefined:
		return "Undefined"
	case *namespace:
		return "Namespace"
	case *builtin:
		return "builtin_function_or_method"
	case *macro:
		return "Macro"
	case rangeVal:
		return "range"
	case dictView:
		return "dict_" + v.kind
	case *iterator:
		return v.name
	case *loopVal:
		return "LoopContext"
	}
	return "object"
}

func truth(v Value) bool {
	switch v := v.(type) {
	case nil, *Undefined:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case Str:
		return v.s != ""
	}
	n, ok := length(v)
	return !ok || n > 0
}

// length is Python's len.
func length(v Value) (int, bool) {
	switch v := v.(type) {
	case Str:
		return v.runes(), true
	case *List:
		return len(v.items), true
	case Tuple:
		return len(v), true
	case *Dict:
		return v.Len(), true
	case dictView:
		return v.d.Len(), true
	case rangeVal:
		return int(v.n), true
	case *Undefined:
		return 0, true
	case *loopVal:
		n, err := v.length()
		return n, err == nil
	}
	return 0, false
}

// iterate gives a function that yields the items of v one by one.
func (in *interp) iterate(v Value) (func() (Value, bool, error), error) {
	n := int64(0)
	count := func(at func(i int64) Value, size int64) func() (Value, bool, error) {
		return func() (Value, bool, error) {
			if n >= size {
				return nil, false, nil
			}
			n++
			return at(n - 1), true, in.step(1)
		}
	}
	switch v := v.(type) {
	case *List:
		return count(func(i int64) Value { return v.items[i] }, int64(len(v.items))), nil
	case Tuple:
		return count(func(i int64) Value { return v[i] }, int64(len(v))), nil
	case rangeVal:
		return count(func(i int64) Value { return v.at(i) }, v.n), nil
	case *Dict:
		return count(func(i int64) Value { return v.keys[i] }, int64(v.Len())), nil
	case dictView:
		return count(v.at, int64(v.d.Len())), nil
	case Str:
		off := v.runeOffsets()
		return count(func(i int64) Value { s := v.cut(off[i], off[i+1]); s.safe = false; return s }, int64(len(off)-1)), nil
	case *Undefined:
		return count(nil, 0), nil
	case *iterator:
		return func() (Value, bool, error) {
			if err := in.enter(); err != nil {
				return nil, false, err
			}
			defer in.exit()
			return v.next()
		}, nil
	}
	return nil, typeErr("'%s' object is not iterable", typeName(v))
}

// collect reads all items of v into a new slice.
func (in *interp) collect(v Value) ([]Value, error) {
	next, err := in.iterate(v)
	if err != nil {
		return nil, err
	}
	out := []Value{}
	for {
		x, ok, err := next()
		if err != nil || !ok {
			return out, err
		}
		if err := in.alloc(16); err != nil {
			return nil, err
		}
		out = append(out, x)
	}
}
