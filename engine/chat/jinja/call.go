package jinja

import "slices"

// args are the evaluated arguments of one call.
type args struct {
	pos   []Value
	names []string
	vals  []Value
	user  map[string]Str // the names that came from the user, by ** of a dict
}

// key is a keyword's name as a string value.
func (a args) key(name string) Str {
	if s, ok := a.user[name]; ok {
		return s
	}
	return lit(name)
}

// dict lays the keyword arguments out as a dict.
func (a args) dict() *Dict {
	d := NewDict()
	for i, n := range a.names {
		d.SetKey(a.key(n), a.vals[i])
	}
	return d
}

type unsetType struct{}

// unset stands for a parameter that was not given.
var unset Value = unsetType{}

func given(v Value) bool { return v != unset }

func (a *args) popName(name string) (Value, bool) {
	i := slices.Index(a.names, name)
	if i < 0 {
		return nil, false
	}
	v := a.vals[i]
	a.names = slices.Delete(slices.Clone(a.names), i, i+1)
	a.vals = slices.Delete(slices.Clone(a.vals), i, i+1)
	return v, true
}

// bind lays the arguments over named parameters, the first need of them
// required; a parameter not given is unset.
func (a args) bind(fn string, need int, params ...string) ([]Value, error) {
	if len(a.pos) > len(params) {
		return nil, typeErr("%s() takes at most %d arguments (%d given)", fn, len(params), len(a.pos))
	}
	out := make([]Value, len(params))
	for i := range out {
		out[i] = unset
	}
	copy(out, a.pos)
	for i, name := range a.names {
		at := slices.Index(params, name)
		if at < 0 {
			return nil, typeErr("%s() got an unexpected keyword argument '%s'", fn, name)
		}
		if at < len(a.pos) {
			return nil, typeErr("%s() got multiple values for argument '%s'", fn, name)
		}
		out[at] = a.vals[i]
	}
	for i := 0; i < need; i++ {
		if !given(out[i]) {
			return nil, typeErr("%s() missing required argument '%s'", fn, params[i])
		}
	}
	return out, nil
}

func (in *interp) evalArgs(c callArgs, sc *scope) (args, error) {
	var a args
	for _, x := range c.pos {
		v, err := in.eval(x, sc)
		if err != nil {
			return a, err
		}
		a.pos = append(a.pos, v)
	}
	for i, x := range c.vals {
		v, err := in.eval(x, sc)
		if err != nil {
			return a, err
		}
		a.names, a.vals = append(a.names, c.names[i]), append(a.vals, v)
	}
	if c.star != nil {
		v, err := in.eval(c.star, sc)
		if err != nil {
			return a, err
		}
		more, err := in.collect(v)
		if err != nil {
			return a, err
		}
		a.pos = append(a.pos, more...)
	}
	if c.dstar != nil {
		err := in.evalKwargs(&a, c.dstar, sc)
		return a, err
	}
	return a, nil
}

func (in *interp) evalKwargs(a *args, x expr, sc *scope) error {
	v, err := in.eval(x, sc)
	if err != nil {
		return err
	}
	d, ok := v.(*Dict)
	if !ok {
		return typeErr("argument after ** must be a mapping, not %s", typeName(v))
	}
	for i, k := range d.keys {
		name, ok := k.(Str)
		if !ok {
			return typeErr("keywords must be strings")
		}
		if slices.Contains(a.names, name.s) {
			return typeErr("got multiple values for keyword argument '%s'", name.s)
		}
		if err := in.step(1 + len(a.names)); err != nil {
			return err
		}
		a.names, a.vals = append(a.names, name.s), append(a.vals, d.vals[i])
		if len(name.user) > 0 {
			if a.user == nil {
				a.user = map[string]Str{}
			}
			a.user[name.s] = name
		}
	}
	return nil
}

func (in *interp) call(fn Value, a args) (Value, error) {
	switch f := fn.(type) {
	case *builtin:
		return f.fn(in, a)
	case *macro:
		return f.call(in, a)
	case *loopVal:
		return f.call(in, a)
	case *joiner:
		return f.call(in, a)
	case *Undefined:
		return nil, f.fail()
	}
	return nil, typeErr("'%s' object is not callable", typeName(fn))
}

// macro is a macro with the scope it was defined in.
type macro struct {
	def   *macroDef
	scope *scope
}

func (m *macro) call(in *interp, a args) (Value, error) {
	if err := in.enterCall(); err != nil {
		return nil, err
	}
	defer func() { in.calls-- }()
	sc := &scope{parent: m.scope}
	if err := m.bind(in, a, sc); err != nil {
		return nil, err
	}
	line := in.line
	text, err := in.capture(func() error {
		_, err := in.execBlock(m.def.body, sc)
		return err
	})
	if err != nil {
		return nil, err
	}
	in.line = line
	return text, nil
}

// bind follows jinja2.runtime.Macro.__call__.
func (m *macro) bind(in *interp, a args, sc *scope) error {
	d := m.def
	missing := []int{}
	for i, p := range d.params {
		if i < len(a.pos) {
			sc.set(p, a.pos[i])
		} else if v, ok := a.popName(p); ok {
			sc.set(p, v)
		} else {
			missing = append(missing, i)
		}
	}
	if d.wantsCaller {
		v, ok := a.popName("caller")
		if !ok {
			v = undefined("No caller defined")
		}
		sc.set("caller", v)
	}
	if d.kwargs {
		sc.set("kwargs", a.dict())
	} else if len(a.names) > 0 {
		return typeErr("macro '%s' takes no keyword argument '%s'", d.name, a.names[0])
	}
	if extra := a.pos[min(len(a.pos), len(d.params)):]; d.varargs {
		sc.set("varargs", Tuple(extra))
	} else if len(extra) > 0 {
		return typeErr("macro '%s' takes not more than %d argument(s)", d.name, len(d.params))
	}
	for _, i := range missing {
		at := i - (len(d.params) - len(d.defaults))
		if at < 0 {
			sc.set(d.params[i], undefined("parameter '%s' was not provided", d.params[i]))
			continue
		}
		v, err := in.eval(d.defaults[at], sc)
		if err != nil {
			return err
		}
		sc.set(d.params[i], v)
	}
	return nil
}
