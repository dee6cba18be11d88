package jinja

// eval computes an expression.
func (in *interp) eval(x expr, sc *scope) (Value, error) {
	if err := in.enter(); err != nil {
		return nil, err
	}
	defer in.exit()
	switch x := x.(type) {
	case *constExpr:
		return x.v, nil
	case *nameExpr:
		return in.lookup(x.name, sc)
	case *attrExpr:
		v, err := in.eval(x.x, sc)
		if err != nil {
			return nil, err
		}
		in.line = x.line
		return in.getAttr(v, x.name)
	case *itemExpr:
		return in.evalItem(x, sc)
	case *listExpr:
		items, err := in.evalAll(x.items, sc)
		return &List{items}, err
	case *tupleExpr:
		items, err := in.evalAll(x.items, sc)
		return Tuple(items), err
	case *dictExpr:
		return in.evalDict(x, sc)
	case *unaryExpr:
		return in.evalUnary(x, sc)
	case *binExpr:
		return in.evalBinary(x, sc)
	case *concatExpr:
		return in.evalConcat(x, sc)
	case *compareExpr:
		return in.evalCompare(x, sc)
	case *condExpr:
		return in.evalCond(x, sc)
	case *callExpr:
		return in.evalCall(x, sc)
	case *filterExpr:
		return in.evalFilter(x, nil, sc)
	case *testExpr:
		return in.evalTest(x, sc)
	}
	return nil, errf("RuntimeError", "unknown expression %T", x)
}

func (in *interp) evalAll(xs []expr, sc *scope) ([]Value, error) {
	if err := in.alloc(16 * len(xs)); err != nil {
		return nil, err
	}
	out := make([]Value, len(xs))
	for i, x := range xs {
		v, err := in.eval(x, sc)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (in *interp) evalDict(x *dictExpr, sc *scope) (Value, error) {
	if err := in.alloc(96 + 64*len(x.keys)); err != nil {
		return nil, err
	}
	d := NewDict()
	for i := range x.keys {
		k, err := in.eval(x.keys[i], sc)
		if err != nil {
			return nil, err
		}
		v, err := in.eval(x.vals[i], sc)
		if err != nil {
			return nil, err
		}
		h, err := in.hash(k, 0)
		if err != nil {
			return nil, err
		}
		d.put(h, k, v)
	}
	return d, nil
}

func (in *interp) evalItem(x *itemExpr, sc *scope) (Value, error) {
	v, err := in.eval(x.x, sc)
	if err != nil {
		return nil, err
	}
	if s, ok := x.key.(*sliceExpr); ok {
		bounds := [3]Value{}
		for i, e := range []expr{s.from, s.to, s.step} {
			if e == nil {
				continue
			}
			if bounds[i], err = in.eval(e, sc); err != nil {
				return nil, err
			}
		}
		in.line = x.line
		return in.slice(v, bounds)
	}
	k, err := in.eval(x.key, sc)
	if err != nil {
		return nil, err
	}
	in.line = x.line
	return in.getItem(v, k)
}

func (in *interp) evalUnary(x *unaryExpr, sc *scope) (Value, error) {
	v, err := in.eval(x.x, sc)
	if err != nil {
		return nil, err
	}
	in.line = x.line
	if x.op == "not" {
		return !truth(v), nil
	}
	return negate(x.op, v)
}

func (in *interp) evalBinary(x *binExpr, sc *scope) (Value, error) {
	a, err := in.eval(x.a, sc)
	if err != nil {
		return nil, err
	}
	if x.op == "and" && !truth(a) || x.op == "or" && truth(a) {
		return a, nil
	}
	b, err := in.eval(x.b, sc)
	if err != nil {
		return nil, err
	}
	if x.op == "and" || x.op == "or" {
		return b, nil
	}
	in.line = x.line
	return in.binary(x.op, a, b)
}

func (in *interp) evalConcat(x *concatExpr, sc *scope) (Value, error) {
	var b strBuf
	for _, e := range x.items {
		v, err := in.eval(e, sc)
		if err != nil {
			return nil, err
		}
		s, err := in.toStr(v)
		if err != nil {
			return nil, err
		}
		if err := in.alloc(len(s.s) + 16*len(s.user)); err != nil {
			return nil, err
		}
		b.add(s)
	}
	return b.str(), nil
}

func (in *interp) evalCompare(x *compareExpr, sc *scope) (Value, error) {
	a, err := in.eval(x.x, sc)
	if err != nil {
		return nil, err
	}
	for i, op := range x.ops {
		b, err := in.eval(x.args[i], sc)
		if err != nil {
			return nil, err
		}
		in.line = x.line
		ok, err := in.compare(op, a, b)
		if err != nil || !ok {
			return false, err
		}
		a = b
	}
	return true, nil
}

func (in *interp) evalCond(x *condExpr, sc *scope) (Value, error) {
	t, err := in.eval(x.test, sc)
	if err != nil {
		return nil, err
	}
	if truth(t) {
		return in.eval(x.yes, sc)
	}
	if x.no == nil {
		return undefined("the inline if-expression on line %d evaluated to false and no else section was defined.", x.line), nil
	}
	return in.eval(x.no, sc)
}

func (in *interp) evalCall(x *callExpr, sc *scope) (Value, error) {
	fn, err := in.eval(x.fn, sc)
	if err != nil {
		return nil, err
	}
	a, err := in.evalArgs(x.args, sc)
	if err != nil {
		return nil, err
	}
	in.line = x.line
	return in.call(fn, a)
}

// evalChain applies a chain of filters whose innermost value is v.
func (in *interp) evalChain(x expr, v Value, sc *scope) (Value, error) {
	return in.evalFilter(x.(*filterExpr), v, sc)
}

func (in *interp) evalFilter(x *filterExpr, inner Value, sc *scope) (Value, error) {
	if err := in.enter(); err != nil {
		return nil, err
	}
	defer in.exit()
	v := inner
	var err error
	switch sub := x.x.(type) {
	case nil:
	case *filterExpr:
		v, err = in.evalFilter(sub, inner, sc)
	default:
		v, err = in.eval(sub, sc)
	}
	if err != nil {
		return nil, err
	}
	a, err := in.evalArgs(x.args, sc)
	if err != nil {
		return nil, err
	}
	in.line = x.line
	return in.applyFilter(x.name, v, a)
}

func (in *interp) applyFilter(name string, v Value, a args) (Value, error) {
	f, ok := filters[name]
	if !ok {
		return nil, errf("TemplateRuntimeError", "No filter named '%s' found.", name)
	}
	return f(in, v, a)
}

func (in *interp) evalTest(x *testExpr, sc *scope) (Value, error) {
	v, err := in.eval(x.x, sc)
	if err != nil {
		return nil, err
	}
	a, err := in.evalArgs(x.args, sc)
	if err != nil {
		return nil, err
	}
	in.line = x.line
	return in.applyTest(x.name, v, a)
}

func (in *interp) applyTest(name string, v Value, a args) (bool, error) {
	t, ok := tests[name]
	if !ok {
		return false, errf("TemplateRuntimeError", "No test named '%s' found.", name)
	}
	return t(in, v, a)
}
