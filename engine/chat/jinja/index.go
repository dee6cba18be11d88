package jinja

import "strings"

// getItem is environment.getitem: the item, else for a string key the
// attribute, else undefined.
func (in *interp) getItem(v, key Value) (Value, error) {
	switch x := v.(type) {
	case *Undefined:
		return nil, x.fail()
	case *Dict:
		r, ok, err := x.lookup(in, key)
		if err != nil && !isKind(err, "TypeError") {
			return nil, err
		}
		if ok {
			return r, nil
		}
	default:
		if i, ok := asInt(key); ok {
			if r, ok, err := in.at(v, i); ok || err != nil {
				return r, err
			}
		}
	}
	if s, ok := key.(Str); ok {
		if r, ok, err := in.attr(v, s.s); ok || err != nil {
			return r, err
		}
		return undefined("'%s object' has no attribute %s", typeName(v), quote(s).s), nil
	}
	text, err := in.repr(key)
	return undefined("%s object has no element %s", typeName(v), text.s), err
}

// at is v[i] for sequences.
func (in *interp) at(v Value, i int64) (Value, bool, error) {
	pick := func(n int64) (int64, bool) {
		if i < 0 {
			i += n
		}
		return i, i >= 0 && i < n
	}
	switch x := v.(type) {
	case *List:
		if i, ok := pick(int64(len(x.items))); ok {
			return x.items[i], true, nil
		}
	case Tuple:
		if i, ok := pick(int64(len(x))); ok {
			return x[i], true, nil
		}
	case rangeVal:
		if i, ok := pick(x.n); ok {
			return x.at(i), true, nil
		}
	case Str:
		if err := in.step(len(x.s) / 64); err != nil {
			return nil, false, err
		}
		if i, ok := pick(int64(x.runes())); ok {
			from := x.byteAt(int(i))
			to := from + x.cut(from, len(x.s)).byteAt(1)
			return x.cut(from, to), true, nil
		}
	}
	return nil, false, nil
}

// getAttr is environment.getattr: the attribute, else the item, else undefined.
func (in *interp) getAttr(v Value, name string) (Value, error) {
	if u, ok := v.(*Undefined); ok {
		return nil, u.fail()
	}
	if r, ok, err := in.attr(v, name); ok || err != nil {
		return r, err
	}
	if d, ok := v.(*Dict); ok {
		if r, ok := d.Get(name); ok {
			return r, nil
		}
	}
	return undefined("'%s object' has no attribute '%s'", typeName(v), name), nil
}

// unsafeAttrs are attributes that change a list or dict; the sandbox hides them.
var unsafeAttrs = map[string]string{
	"list": " append clear pop reverse insert sort extend remove ",
	"dict": " clear pop popitem setdefault update ",
}

const objectAttrs = " __class__ __init__ __doc__ __len__ __getitem__ __eq__ __ne__ __hash__ __iter__ __new__ __repr__ __str__ __dir__ __reduce__ __contains__ __add__ __getattribute__ __init_subclass__ __subclasshook__ __sizeof__ __format__ __lt__ __gt__ __le__ __ge__ __delattr__ __setattr__ __reduce_ex__ "

func hidden(v Value, name string) *Undefined {
	return &Undefined{security: true, msg: "access to attribute '" + name + "' of '" + typeName(v) + "' object is unsafe."}
}

// attr reads a Python attribute; ok is false when there is none.
func (in *interp) attr(v Value, name string) (Value, bool, error) {
	if _, isNS := v.(*namespace); !isNS && strings.Contains(objectAttrs, " "+name+" ") {
		return hidden(v, name), true, nil
	}
	if strings.Contains(unsafeAttrs[typeName(v)], " "+name+" ") {
		return hidden(v, name), true, nil
	}
	switch x := v.(type) {
	case Str:
		if m, ok := strMethods[name]; ok {
			return method(name, x, m), true, nil
		}
	case *List:
		if m, ok := seqMethods[name]; ok || name == "copy" {
			if name == "copy" {
				m = copyList
			}
			return method(name, Value(x), m), true, nil
		}
	case Tuple:
		if m, ok := seqMethods[name]; ok {
			return method(name, Value(x), m), true, nil
		}
	case *Dict:
		if m, ok := dictMethods[name]; ok {
			return method(name, x, m), true, nil
		}
	case *namespace:
		r, ok := x.attrs.Get(name)
		return r, ok, nil
	case rangeVal:
		if m, ok := seqMethods[name]; ok {
			return method(name, Value(x), m), true, nil
		}
		r, ok := map[string]Value{"start": x.start, "stop": x.stop, "step": x.step}[name]
		return r, ok, nil
	case *loopVal:
		return x.attr(name)
	case *macro:
		return x.attr(name)
	case *cycler:
		return x.attr(name)
	}
	return nil, false, nil
}

func method[T any](name string, self T, f func(in *interp, self T, a args) (Value, error)) *builtin {
	return &builtin{name, func(in *interp, a args) (Value, error) { return f(in, self, a) }}
}

func (m *macro) attr(name string) (Value, bool, error) {
	switch name {
	case "name":
		return lit(m.def.name), true, nil
	case "arguments":
		t := Tuple{}
		for _, p := range m.def.params {
			t = append(t, lit(p))
		}
		return t, true, nil
	case "catch_kwargs":
		return m.def.kwargs, true, nil
	case "catch_varargs":
		return m.def.varargs, true, nil
	case "caller":
		return m.def.wantsCaller, true, nil
	}
	return nil, false, nil
}

// slice is v[from:to:step]; a nil bound is left out.
func (in *interp) slice(v Value, bounds [3]Value) (Value, error) {
	if u, ok := v.(*Undefined); ok {
		return nil, u.fail()
	}
	n, ok := length(v)
	switch v.(type) {
	case Str, *List, Tuple, rangeVal:
	default:
		ok = false
	}
	if !ok {
		return nil, typeErr("'%s' object is not subscriptable", typeName(v))
	}
	start, stop, step, err := sliceBounds(bounds, int64(n))
	if err != nil {
		return nil, err
	}
	count := sliceCount(start, stop, step)
	if err := in.step(n / 64); err != nil {
		return nil, err
	}
	pick := func(items []Value) ([]Value, error) {
		if err := in.alloc(16 * int(count)); err != nil {
			return nil, err
		}
		out := make([]Value, count)
		for i := range out {
			out[i] = items[start+int64(i)*step]
		}
		return out, nil
	}
	switch x := v.(type) {
	case *List:
		items, err := pick(x.items)
		return &List{items}, err
	case Tuple:
		items, err := pick(x)
		return Tuple(items), err
	case rangeVal:
		return rangeVal{x.at(start), x.at(stop), x.step * step, count}, nil
	}
	return in.sliceStr(v.(Str), start, step, count)
}

func (in *interp) sliceStr(s Str, start, step, count int64) (Value, error) {
	if err := in.alloc(len(s.s)); err != nil {
		return nil, err
	}
	if count == 0 {
		return Str{safe: s.safe}, nil
	}
	if step == 1 && s.ascii() {
		return s.cut(int(start), int(start+count)), nil
	}
	off := s.runeOffsets()
	if step == 1 {
		return s.cut(off[start], off[start+count]), nil
	}
	var b strBuf
	for i := int64(0); i < count; i++ {
		at := start + i*step
		b.put(s.s[off[at]:off[at+1]], s.isUser(off[at]))
	}
	out := b.str()
	out.safe = s.safe
	return out, nil
}

// sliceIndices is where a slice starts and how many items it has.
func sliceIndices(bounds [3]Value, n int64) (start, count int64, err error) {
	start, stop, step, err := sliceBounds(bounds, n)
	return start, sliceCount(start, stop, step), err
}

func sliceCount(start, stop, step int64) int64 {
	if step > 0 && start < stop {
		return (stop-start-1)/step + 1
	} else if step < 0 && stop < start {
		return (start-stop-1)/-step + 1
	}
	return 0
}

// sliceBounds is Python's slice.indices for a sequence of n items.
func sliceBounds(bounds [3]Value, n int64) (start, stop, step int64, err error) {
	get := func(v Value, def int64) int64 {
		if u, ok := v.(*Undefined); ok && err == nil {
			err = u.fail()
		}
		if v == nil {
			return def
		}
		i, ok := asInt(v)
		if !ok && err == nil {
			err = typeErr("slice indices must be integers or None or have an __index__ method")
		}
		return i
	}
	step = get(bounds[2], 1)
	if err == nil && step == 0 {
		err = valueErr("slice step cannot be zero")
	}
	low, high := int64(0), n
	if step < 0 {
		low, high = -1, n-1
	}
	clamp := func(i int64) int64 {
		if i < 0 {
			return max(i+n, low)
		}
		return min(i, high)
	}
	first, last := low, high
	if step < 0 {
		first, last = high, low
	}
	start = first
	if bounds[0] != nil {
		start = clamp(get(bounds[0], 0))
	}
	stop = last
	if bounds[1] != nil {
		stop = clamp(get(bounds[1], 0))
	}
	if err != nil {
		return 0, 0, 0, err
	}
	return start, stop, max(min(step, n+1), -n-1), nil
}
