package jinja

import "strings"

// binary computes a op b for the arithmetic operators.
func (in *interp) binary(op string, a, b Value) (Value, error) {
	for _, v := range []Value{a, b} {
		if u, ok := v.(*Undefined); ok {
			if s, isStr := a.(Str); isStr && op == "%" {
				return in.percent(s, b)
			}
			return nil, u.fail()
		}
	}
	if v, ok, err := arith(op, a, b); ok {
		return v, err
	}
	switch op {
	case "+":
		if v, ok, err := in.join2(a, b); ok {
			return v, err
		}
	case "*":
		if n, ok := asInt(b); ok {
			return in.repeat(a, n)
		}
		if n, ok := asInt(a); ok {
			return in.repeat(b, n)
		}
	case "%":
		if s, ok := a.(Str); ok {
			return in.percent(s, b)
		}
	}
	return nil, typeErr("unsupported operand type(s) for %s: '%s' and '%s'", op, typeName(a), typeName(b))
}

// join2 concatenates two strings, lists or tuples.
func (in *interp) join2(a, b Value) (Value, bool, error) {
	switch x := a.(type) {
	case Str:
		y, ok := b.(Str)
		if !ok {
			return nil, false, nil
		}
		safe := x.safe || y.safe
		if safe {
			x, y = x.escape(), y.escape()
		}
		if err := in.alloc(len(x.s) + len(y.s) + 16*(len(x.user)+len(y.user))); err != nil {
			return nil, true, err
		}
		s := concatStr(x, y)
		s.safe = safe
		return s, true, nil
	case *List:
		if y, ok := b.(*List); ok {
			items, err := in.joinItems(x.items, y.items)
			return &List{items}, true, err
		}
	case Tuple:
		if y, ok := b.(Tuple); ok {
			items, err := in.joinItems(x, y)
			return Tuple(items), true, err
		}
	}
	return nil, false, nil
}

func (in *interp) joinItems(a, b []Value) ([]Value, error) {
	if err := in.alloc(16 * (len(a) + len(b))); err != nil {
		return nil, err
	}
	return append(append(make([]Value, 0, len(a)+len(b)), a...), b...), nil
}

// repeat is v * n for strings, lists and tuples.
func (in *interp) repeat(v Value, n int64) (Value, error) {
	n = max(n, 0)
	size := 0
	switch x := v.(type) {
	case Str:
		size = len(x.s) + 16*len(x.user)
	case *List:
		size = 16 * len(x.items)
	case Tuple:
		size = 16 * len(x)
	default:
		return nil, typeErr("can't multiply sequence by non-int of type '%s'", typeName(v))
	}
	if size == 0 {
		return v, nil
	}
	if n > int64(in.lim.Alloc/size) {
		return nil, in.tooBig()
	}
	if err := in.alloc(int(n) * size); err != nil {
		return nil, err
	}
	switch x := v.(type) {
	case Str:
		var b strBuf
		for ; n > 0; n-- {
			b.add(x)
		}
		s := b.str()
		s.safe = x.safe
		return s, nil
	case *List:
		return &List{repeatItems(x.items, int(n))}, nil
	}
	return Tuple(repeatItems(v.(Tuple), int(n))), nil
}

func repeatItems(items []Value, n int) []Value {
	out := make([]Value, 0, n*len(items))
	for ; n > 0; n-- {
		out = append(out, items...)
	}
	return out
}

// compare computes one comparison operator.
func (in *interp) compare(op string, a, b Value) (bool, error) {
	switch op {
	case "==", "!=":
		eq, err := in.equal(a, b, 0)
		return eq == (op == "=="), err
	case "in", "not in":
		ok, err := in.contains(b, a)
		return ok == (op == "in"), err
	}
	c, ordered, err := in.order(a, b, op, 0)
	if err != nil || !ordered {
		return false, err
	}
	switch op {
	case "<":
		return c < 0, nil
	case "<=":
		return c <= 0, nil
	case ">":
		return c > 0, nil
	}
	return c >= 0, nil
}

// equal is Python's ==.
func (in *interp) equal(a, b Value, depth int) (bool, error) {
	if err := in.step(1); err != nil {
		return false, err
	}
	if err := in.nested(depth); err != nil {
		return false, err
	}
	if x, ok := asFloat(a); ok {
		y, ok := asFloat(b)
		i, iok := asInt(a)
		j, jok := asInt(b)
		if iok && jok {
			return i == j, nil
		}
		return ok && x == y, nil
	}
	switch x := a.(type) {
	case nil:
		return b == nil, nil
	case Str:
		y, ok := b.(Str)
		return ok && x.s == y.s, in.step(len(x.s) / 64)
	case *List:
		if y, ok := b.(*List); ok {
			return in.equalItems(x.items, y.items, depth)
		}
		return false, nil
	case Tuple:
		if y, ok := b.(Tuple); ok {
			return in.equalItems(x, y, depth)
		}
		return false, nil
	case *Dict:
		if y, ok := b.(*Dict); ok {
			return in.equalDicts(x, y, depth)
		}
		return false, nil
	case *Undefined:
		_, ok := b.(*Undefined)
		return ok, nil
	case rangeVal:
		y, ok := b.(rangeVal)
		return ok && x.n == y.n && (x.n == 0 || x.start == y.start && (x.n == 1 || x.step == y.step)), nil
	case dictView:
		y, ok := b.(dictView)
		return ok && x == y && x.kind != "values", nil
	}
	switch b.(type) {
	case Tuple, unsetType:
		return false, nil
	}
	return a == b, nil
}

func (in *interp) equalItems(a, b []Value, depth int) (bool, error) {
	if len(a) != len(b) {
		return false, nil
	}
	for i := range a {
		if ok, err := in.equal(a[i], b[i], depth+1); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (in *interp) equalDicts(a, b *Dict, depth int) (bool, error) {
	if a.Len() != b.Len() {
		return false, nil
	}
	for i, k := range a.keys {
		v, ok, err := b.lookup(in, k)
		if err != nil || !ok {
			return false, err
		}
		if ok, err := in.equal(a.vals[i], v, depth+1); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// order compares two values; ordered is false for NaN.
func (in *interp) order(a, b Value, op string, depth int) (c int, ordered bool, err error) {
	if err := in.step(1); err != nil {
		return 0, false, err
	}
	if err := in.nested(depth); err != nil {
		return 0, false, err
	}
	i, iok := asInt(a)
	j, jok := asInt(b)
	if iok && jok {
		return cmp3(i, j), true, nil
	}
	x, xok := asFloat(a)
	y, yok := asFloat(b)
	if xok && yok {
		return cmp3(x, y), x == x && y == y, nil
	}
	switch x := a.(type) {
	case Str:
		if y, ok := b.(Str); ok {
			return strings.Compare(x.s, y.s), true, in.step(len(x.s) / 64)
		}
	case *List:
		if y, ok := b.(*List); ok {
			return in.orderItems(x.items, y.items, op, depth)
		}
	case Tuple:
		if y, ok := b.(Tuple); ok {
			return in.orderItems(x, y, op, depth)
		}
	}
	for _, v := range []Value{a, b} {
		if u, ok := v.(*Undefined); ok {
			return 0, false, u.fail()
		}
	}
	return 0, false, typeErr("'%s' not supported between instances of '%s' and '%s'", op, typeName(a), typeName(b))
}

func cmp3[T int64 | float64 | int](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (in *interp) orderItems(a, b []Value, op string, depth int) (int, bool, error) {
	for i := 0; i < len(a) && i < len(b); i++ {
		eq, err := in.equal(a[i], b[i], depth+1)
		if err != nil {
			return 0, false, err
		}
		if !eq {
			return in.order(a[i], b[i], op, depth+1)
		}
	}
	return cmp3(len(a), len(b)), true, nil
}

// contains is Python's `x in seq`.
func (in *interp) contains(seq, x Value) (bool, error) {
	switch s := seq.(type) {
	case Str:
		sub, ok := x.(Str)
		if !ok {
			return false, typeErr("'in <string>' requires string as left operand, not %s", typeName(x))
		}
		return strings.Contains(s.s, sub.s), in.step(len(s.s) / 64)
	case *Dict:
		_, ok, err := s.lookup(in, x)
		return ok, err
	case dictView:
		if s.kind == "keys" {
			return in.contains(s.d, x)
		}
	case rangeVal:
		i, ok := asInt(x)
		if f, isF := x.(float64); isF {
			i, ok = exactInt(f)
		}
		if ok {
			off := i - s.start
			return s.n > 0 && off%s.step == 0 && off/s.step >= 0 && off/s.step < s.n, nil
		}
	}
	next, err := in.iterate(seq)
	if err != nil {
		return false, typeErr("argument of type '%s' is not iterable", typeName(seq))
	}
	for {
		v, ok, err := next()
		if err != nil || !ok {
			return false, err
		}
		if eq, err := in.equal(x, v, 0); err != nil || eq {
			return eq, err
		}
	}
}
