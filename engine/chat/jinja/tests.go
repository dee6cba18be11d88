package jinja

type testFunc = func(in *interp, v Value, a args) (bool, error)

// tests are what may follow "is".
var tests map[string]testFunc

func init() {
	tests = map[string]testFunc{
		"defined":   plain(func(v Value) bool { _, u := v.(*Undefined); return !u }),
		"undefined": plain(func(v Value) bool { _, u := v.(*Undefined); return u }),
		"none":      plain(func(v Value) bool { return v == nil }),
		"boolean":   plain(func(v Value) bool { _, ok := v.(bool); return ok }),
		"true":      plain(func(v Value) bool { b, ok := v.(bool); return ok && b }),
		"false":     plain(func(v Value) bool { b, ok := v.(bool); return ok && !b }),
		"integer":   plain(func(v Value) bool { _, ok := v.(int64); return ok }),
		"float":     plain(func(v Value) bool { _, ok := v.(float64); return ok }),
		"number":    plain(func(v Value) bool { _, ok := asFloat(v); return ok }),
		"string":    plain(func(v Value) bool { _, ok := v.(Str); return ok }),
		"mapping":   plain(func(v Value) bool { _, ok := v.(*Dict); return ok }),
		"sequence":  plain(isSequence),
		"iterable":  plain(isIterable),
		"callable":  plain(isCallable),
		"escaped":   plain(func(v Value) bool { s, ok := v.(Str); return ok && s.safe }),
		"lower":     caseTest(isLower, isUpper),
		"upper":     caseTest(isUpper, isLower),
		"odd":       parity(1),
		"even":      parity(0),
		"divisibleby": func(in *interp, v Value, a args) (bool, error) {
			b, err := a.bind("divisibleby", 1, "num")
			if err != nil {
				return false, err
			}
			r, err := in.binary("%", v, b[0])
			if err != nil {
				return false, err
			}
			return in.equal(r, int64(0), 0)
		},
		"sameas": func(in *interp, v Value, a args) (bool, error) {
			b, err := a.bind("sameas", 1, "other")
			return err == nil && same(v, b[0]), err
		},
		"in": func(in *interp, v Value, a args) (bool, error) {
			b, err := a.bind("in", 1, "seq")
			if err != nil {
				return false, err
			}
			return in.contains(b[0], v)
		},
		"filter": named(func(n string) bool { _, ok := filters[n]; return ok }),
		"test":   named(func(n string) bool { _, ok := tests[n]; return ok }),
	}
	for op, names := range map[string][]string{
		"==": {"==", "eq", "equalto"}, "!=": {"!=", "ne"}, ">": {">", "gt", "greaterthan"},
		">=": {">=", "ge"}, "<": {"<", "lt", "lessthan"}, "<=": {"<=", "le"},
	} {
		for _, n := range names {
			tests[n] = func(in *interp, v Value, a args) (bool, error) {
				b, err := a.bind(n, 1, "other")
				if err != nil {
					return false, err
				}
				return in.compare(op, v, b[0])
			}
		}
	}
}

func plain(f func(Value) bool) testFunc {
	return func(_ *interp, v Value, a args) (bool, error) {
		_, err := a.bind("test", 0)
		return err == nil && f(v), err
	}
}

func named(f func(string) bool) testFunc {
	return func(_ *interp, v Value, _ args) (bool, error) {
		s, ok := v.(Str)
		return ok && f(s.s), nil
	}
}

func isSequence(v Value) bool {
	switch v.(type) {
	case Str, *List, Tuple, *Dict, *Undefined, rangeVal:
		return true
	}
	return false
}

func isIterable(v Value) bool {
	switch v.(type) {
	case dictView, *iterator, *loopVal:
		return true
	}
	return isSequence(v)
}

func isCallable(v Value) bool {
	switch v.(type) {
	case *builtin, *macro, *joiner, *loopVal, *Undefined:
		return true
	}
	return false
}

func caseTest(want, other func(rune) bool) testFunc {
	return func(in *interp, v Value, _ args) (bool, error) {
		s, err := in.toStr(v)
		return err == nil && s.isCase(want, other), err
	}
}

func parity(want int64) testFunc {
	return func(in *interp, v Value, _ args) (bool, error) {
		r, err := in.binary("%", v, int64(2))
		if err != nil {
			return false, err
		}
		return in.equal(r, want, 0)
	}
}

// same is Python's `is`, as far as values of this package have an identity.
func same(a, b Value) bool {
	switch x := a.(type) {
	case Str:
		y, ok := b.(Str)
		return ok && x.s == y.s
	case Tuple:
		y, ok := b.(Tuple)
		return ok && len(x) == len(y) && (len(x) == 0 || &x[0] == &y[0])
	}
	if _, ok := b.(Tuple); ok {
		return false
	}
	if _, ok := b.(Str); ok {
		return false
	}
	return a == b
}
