package jinja

import "slices"

func (p *parser) call(fn expr) (expr, error) {
	line := p.cur().line
	args, err := p.callArgs()
	return &callExpr{fn, args, line}, err
}

func (p *parser) callArgs() (callArgs, error) {
	var a callArgs
	line := p.next().line
	bad := p.failAt(line, "invalid syntax for function call expression")
	for first := true; !p.isOp(")"); first = false {
		if !first {
			if err := p.expectOp(","); err != nil {
				return a, err
			}
			if p.isOp(")") {
				break
			}
		}
		var err error
		switch {
		case a.dstar != nil:
			return a, bad
		case p.skipOp("*"):
			if a.star != nil {
				return a, bad
			}
			a.star, err = p.expression(true)
		case p.skipOp("**"):
			a.dstar, err = p.expression(true)
		case p.cur().kind == tName && p.look().kind == tOp && p.look().text == "=":
			name := p.next().text
			p.next()
			if slices.Contains(a.names, name) {
				return a, p.fail("keyword argument repeated: %s", name)
			}
			var v expr
			v, err = p.expression(true)
			a.names, a.vals = append(a.names, name), append(a.vals, v)
		case a.star != nil || a.names != nil:
			return a, bad
		default:
			var x expr
			x, err = p.expression(true)
			a.pos = append(a.pos, x)
		}
		if err != nil {
			return a, err
		}
	}
	return a, p.expectOp(")")
}

func (p *parser) dotted() (string, error) {
	t, err := p.expectKind(tName, "a name")
	name := t.text
	for err == nil && p.skipOp(".") {
		t, err = p.expectKind(tName, "a name")
		name += "." + t.text
	}
	return name, err
}

func (p *parser) filters(x expr, inline bool) (expr, error) {
	for inline || p.isOp("|") {
		if !inline {
			p.next()
		}
		inline = false
		f := &filterExpr{x: x, line: p.cur().line}
		var err error
		if f.name, err = p.dotted(); err != nil {
			return nil, err
		}
		if p.isOp("(") {
			if f.args, err = p.callArgs(); err != nil {
				return nil, err
			}
		}
		x = f
	}
	return x, nil
}

func (p *parser) test(x expr) (expr, error) {
	line := p.next().line
	not := p.skipName("not")
	t := &testExpr{x: x, line: line}
	var err error
	if t.name, err = p.dotted(); err != nil {
		return nil, err
	}
	c := p.cur()
	switch {
	case p.isOp("("):
		t.args, err = p.callArgs()
	case p.isName("else", "or", "and"):
	case p.isName("is"):
		return nil, p.fail("You cannot chain multiple tests with is")
	case c.kind == tName, c.kind == tString, c.kind == tInt, c.kind == tFloat, p.anyOp("[", "{"):
		var a expr
		if a, err = p.primary(); err == nil {
			a, err = p.postfix(a)
		}
		t.args.pos = []expr{a}
	}
	if err != nil || !not {
		return t, err
	}
	return &unaryExpr{"not", t, line}, nil
}
