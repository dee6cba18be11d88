package jinja

import "strings"

// globals are the names every template sees unless a variable hides them.
var globals map[string]Value

func init() {
	globals = map[string]Value{
		"range":           &builtin{"range", makeRange},
		"dict":            &builtin{"dict", makeDict},
		"namespace":       &builtin{"namespace", makeNamespace},
		"cycler":          &builtin{"cycler", makeCycler},
		"joiner":          &builtin{"joiner", makeJoiner},
		"raise_exception": &builtin{"raise_exception", raiseException},
		"strftime_now":    &builtin{"strftime_now", strftimeNow},
	}
}

func raiseException(in *interp, a args) (Value, error) {
	b, err := a.bind("raise_exception", 1, "message")
	if err != nil {
		return nil, err
	}
	s, err := in.toStr(b[0])
	if err != nil {
		return nil, err
	}
	return nil, &RaiseError{Msg: s.s}
}

func strftimeNow(in *interp, a args) (Value, error) {
	b, err := a.bind("strftime_now", 1, "format")
	if err != nil {
		return nil, err
	}
	f, err := wantStr(b[0], "strftime() argument 1")
	if err != nil {
		return nil, err
	}
	if err := in.alloc(32 * len(f.s)); err != nil {
		return nil, err
	}
	return strftime(in.now, f), nil
}

func makeRange(in *interp, a args) (Value, error) {
	if len(a.names) > 0 {
		return nil, typeErr("range() takes no keyword arguments")
	}
	n := [3]int64{0, 0, 1}
	if len(a.pos) < 1 || len(a.pos) > 3 {
		return nil, typeErr("range expected 1 to 3 arguments, got %d", len(a.pos))
	}
	for i, v := range a.pos {
		x, err := wantInt(v, "range")
		if err != nil {
			return nil, err
		}
		if len(a.pos) == 1 {
			i = 1
		}
		n[i] = int64(x)
	}
	if n[2] == 0 {
		return nil, valueErr("range() arg 3 must not be zero")
	}
	r := rangeVal{n[0], n[1], n[2], 0}
	if up := n[2] > 0; up && n[0] < n[1] {
		r.n = int64((uint64(n[1])-uint64(n[0])-1)/uint64(n[2])) + 1
	} else if !up && n[1] < n[0] {
		r.n = int64((uint64(n[0])-uint64(n[1])-1)/uint64(-n[2])) + 1
	}
	if r.n < 0 || r.n > int64(in.lim.Range) {
		return nil, &LimitError{Limit: "items of a range", Max: int64(in.lim.Range)}
	}
	return r, nil
}

func makeDict(in *interp, a args) (Value, error) {
	if len(a.pos) > 1 {
		return nil, typeErr("dict expected at most 1 argument, got %d", len(a.pos))
	}
	d := NewDict()
	if len(a.pos) == 1 {
		if err := in.fillDict(d, a.pos[0]); err != nil {
			return nil, err
		}
	}
	for i, n := range a.names {
		d.SetKey(a.key(n), a.vals[i])
	}
	return d, in.alloc(96 + 64*len(a.names))
}

func (in *interp) fillDict(d *Dict, src Value) error {
	if from, ok := src.(*Dict); ok {
		src = dictView{from, "items"}
	}
	next, err := in.iterate(src)
	if err != nil {
		return err
	}
	for {
		x, ok, err := next()
		if err != nil || !ok {
			return err
		}
		pair, err := in.collect(x)
		if err != nil {
			return err
		}
		if len(pair) != 2 {
			return valueErr("dictionary update sequence element has length %d; 2 is required", len(pair))
		}
		h, err := in.hash(pair[0], 0)
		if err != nil {
			return err
		}
		if err := in.alloc(64); err != nil {
			return err
		}
		d.put(h, pair[0], pair[1])
	}
}

func makeNamespace(in *interp, a args) (Value, error) {
	v, err := makeDict(in, a)
	if err != nil {
		return nil, err
	}
	ns := &namespace{NewDict()}
	d := v.(*Dict)
	for i, k := range d.keys {
		s, ok := k.(Str)
		if !ok {
			return nil, typeErr("attribute name must be string, not %s", typeName(k))
		}
		if err := ns.set(s, d.vals[i]); err != nil {
			return nil, err
		}
	}
	return ns, nil
}

func (ns *namespace) set(name Str, v Value) error {
	if strings.HasPrefix(name.s, "_") {
		return errf("SecurityError", "Chat templates cannot store underscore-prefixed attributes on a namespace, but got '%s'. Please rename the attribute.", name.s)
	}
	ns.attrs.SetKey(name, v)
	return nil
}

// cycler goes round its items.
type cycler struct {
	items []Value
	pos   int
}

func makeCycler(_ *interp, a args) (Value, error) {
	if len(a.pos) == 0 {
		return nil, errf("RuntimeError", "at least one item has to be provided")
	}
	return &cycler{items: a.pos}, nil
}

func (c *cycler) attr(name string) (Value, bool, error) {
	switch name {
	case "current":
		return c.items[c.pos], true, nil
	case "pos":
		return int64(c.pos), true, nil
	case "items":
		return Tuple(c.items), true, nil
	case "next":
		return &builtin{name, func(*interp, args) (Value, error) {
			v := c.items[c.pos]
			c.pos = (c.pos + 1) % len(c.items)
			return v, nil
		}}, true, nil
	case "reset":
		return &builtin{name, func(*interp, args) (Value, error) { c.pos = 0; return nil, nil }}, true, nil
	}
	return nil, false, nil
}

// joiner gives nothing the first time and its separator later.
type joiner struct {
	sep  Value
	used bool
}

func makeJoiner(_ *interp, a args) (Value, error) {
	b, err := a.bind("joiner", 0, "sep")
	if err != nil {
		return nil, err
	}
	if !given(b[0]) {
		b[0] = lit(", ")
	}
	return &joiner{sep: b[0]}, nil
}

func (j *joiner) call(*interp, args) (Value, error) {
	if !j.used {
		j.used = true
		return Str{}, nil
	}
	return j.sep, nil
}
