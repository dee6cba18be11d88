package jinja

import "slices"

// tuple parses one expression, or several with commas between as a tuple.
func (p *parser) tuple(withCond, parens bool, endNames ...string) (expr, error) {
	return p.tupleOf(func() (expr, error) { return p.expression(withCond) }, parens, endNames)
}

func (p *parser) tupleOf(item func() (expr, error), parens bool, endNames []string) (expr, error) {
	var items []expr
	isTuple := false
	for {
		if items != nil {
			if err := p.expectOp(","); err != nil {
				return nil, err
			}
		}
		t := p.cur()
		if t.kind == tVarEnd || t.kind == tBlockEnd || p.isOp(")") || p.isName(endNames...) {
			break
		}
		x, err := item()
		if err != nil {
			return nil, err
		}
		items = append(items, x)
		if !p.isOp(",") {
			break
		}
		isTuple = true
	}
	if !isTuple {
		if items != nil {
			return items[0], nil
		}
		if !parens {
			return nil, p.fail("Expected an expression, got '%s'", describe(p.cur()))
		}
	}
	return &tupleExpr{items}, nil
}

// target parses what a set, for or with may assign to.
func (p *parser) target(withNS bool, endNames ...string) (expr, error) {
	line := p.cur().line
	x, err := p.tupleOf(func() (expr, error) {
		if withNS && p.cur().kind == tName && p.look().kind == tOp && p.look().text == "." {
			name := p.next()
			p.next()
			attr, err := p.expectKind(tName, "an attribute name")
			p.note(name.text)
			return &nsTarget{name.text, attr.text, name.line}, err
		}
		return p.primary()
	}, false, endNames)
	if err != nil {
		return nil, err
	}
	return x, p.checkTarget(x, line)
}

func (p *parser) checkTarget(x expr, line int) error {
	switch x := x.(type) {
	case *nameExpr:
		if x.name == "loop" && p.forDepth > 0 {
			return p.failAt(x.line, "Can't assign to special loop variable in for-loop target")
		}
		return nil
	case *nsTarget:
		return nil
	case *tupleExpr:
		for _, i := range x.items {
			if err := p.checkTarget(i, line); err != nil {
				return err
			}
		}
		return nil
	}
	return p.failAt(line, "can't assign to this expression")
}

// note records that the body of a macro reads a special variable.
func (p *parser) note(name string) {
	for _, m := range p.macros {
		switch name {
		case "varargs":
			m.varargs = !slices.Contains(m.params, name)
		case "kwargs":
			m.kwargs = !slices.Contains(m.params, name)
		case "caller":
			m.wantsCaller = !slices.Contains(m.params, name)
		}
	}
}

func (p *parser) expression(withCond bool) (expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	if !withCond {
		return p.or()
	}
	line := p.cur().line
	x, err := p.or()
	for err == nil && p.skipName("if") {
		c := &condExpr{yes: x, line: line}
		if c.test, err = p.or(); err != nil {
			return nil, err
		}
		if p.skipName("else") {
			c.no, err = p.expression(true)
		}
		x, line = c, p.cur().line
	}
	return x, err
}

// binary parses a left-associative chain of the operator that match accepts.
func (p *parser) binary(sub func() (expr, error), match func() bool) (expr, error) {
	x, err := sub()
	for err == nil && match() {
		t := p.next()
		b := &binExpr{op: t.text, a: x, line: t.line}
		b.b, err = sub()
		x = b
	}
	return x, err
}

func (p *parser) anyOp(ops ...string) bool {
	return p.cur().kind == tOp && slices.Contains(ops, p.cur().text)
}

func (p *parser) or() (expr, error) {
	return p.binary(p.and, func() bool { return p.isName("or") })
}

func (p *parser) and() (expr, error) {
	return p.binary(p.not, func() bool { return p.isName("and") })
}

func (p *parser) not() (expr, error) {
	if !p.isName("not") {
		return p.compare()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	t := p.next()
	x, err := p.not()
	return &unaryExpr{"not", x, t.line}, err
}

func (p *parser) compare() (expr, error) {
	line := p.cur().line
	x, err := p.sum()
	if err != nil {
		return nil, err
	}
	c := &compareExpr{x: x, line: line}
	for {
		op := ""
		switch {
		case p.anyOp("==", "!=", "<", "<=", ">", ">="), p.isName("in"):
			op = p.next().text
		case p.isName("not") && p.look().kind == tName && p.look().text == "in":
			p.pos += 2
			op = "not in"
		}
		if op == "" {
			break
		}
		a, err := p.sum()
		if err != nil {
			return nil, err
		}
		c.ops, c.args = append(c.ops, op), append(c.args, a)
	}
	if c.ops == nil {
		return x, nil
	}
	return c, nil
}

func (p *parser) sum() (expr, error) {
	return p.binary(p.concat, func() bool { return p.anyOp("+", "-") })
}

func (p *parser) concat() (expr, error) {
	x, err := p.product()
	if err != nil || !p.isOp("~") {
		return x, err
	}
	c := &concatExpr{items: []expr{x}}
	for p.skipOp("~") {
		if x, err = p.product(); err != nil {
			return nil, err
		}
		c.items = append(c.items, x)
	}
	return c, nil
}

func (p *parser) product() (expr, error) {
	return p.binary(p.power, func() bool { return p.anyOp("*", "/", "//", "%") })
}

func (p *parser) power() (expr, error) {
	return p.binary(func() (expr, error) { return p.unary(true) }, func() bool { return p.isOp("**") })
}

func (p *parser) unary(withFilter bool) (expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	var x expr
	var err error
	if p.anyOp("-", "+") {
		t := p.next()
		x, err = p.unary(false)
		x = &unaryExpr{t.text, x, t.line}
	} else {
		x, err = p.primary()
	}
	if err != nil {
		return nil, err
	}
	if x, err = p.postfix(x); err != nil || !withFilter {
		return x, err
	}
	for err == nil {
		switch {
		case p.isOp("|"):
			x, err = p.filters(x, false)
		case p.isName("is"):
			x, err = p.test(x)
		case p.isOp("("):
			x, err = p.call(x)
		default:
			return x, nil
		}
	}
	return nil, err
}

func (p *parser) primary() (expr, error) {
	t := p.cur()
	switch t.kind {
	case tName:
		p.next()
		switch t.text {
		case "true", "True":
			return &constExpr{true}, nil
		case "false", "False":
			return &constExpr{false}, nil
		case "none", "None":
			return &constExpr{nil}, nil
		}
		p.note(t.text)
		return &nameExpr{t.text, t.line}, nil
	case tString:
		text := ""
		for p.cur().kind == tString {
			text += p.next().text
		}
		return &constExpr{Str{s: text}}, nil
	case tInt:
		p.next()
		return &constExpr{t.i}, nil
	case tFloat:
		p.next()
		return &constExpr{t.f}, nil
	}
	switch {
	case p.skipOp("("):
		x, err := p.tuple(true, true)
		if err != nil {
			return nil, err
		}
		return x, p.expectOp(")")
	case p.isOp("["):
		items, err := p.list()
		return &listExpr{items}, err
	case p.isOp("{"):
		return p.dict()
	}
	return nil, p.fail("unexpected '%s'", describe(t))
}

func (p *parser) list() ([]expr, error) {
	p.next()
	var items []expr
	for !p.isOp("]") {
		if items != nil {
			if err := p.expectOp(","); err != nil {
				return nil, err
			}
			if p.isOp("]") {
				break
			}
		}
		x, err := p.expression(true)
		if err != nil {
			return nil, err
		}
		items = append(items, x)
	}
	return items, p.expectOp("]")
}

func (p *parser) dict() (expr, error) {
	p.next()
	d := &dictExpr{}
	for !p.isOp("}") {
		if d.keys != nil {
			if err := p.expectOp(","); err != nil {
				return nil, err
			}
			if p.isOp("}") {
				break
			}
		}
		k, err := p.expression(true)
		if err != nil {
			return nil, err
		}
		if err := p.expectOp(":"); err != nil {
			return nil, err
		}
		v, err := p.expression(true)
		if err != nil {
			return nil, err
		}
		d.keys, d.vals = append(d.keys, k), append(d.vals, v)
	}
	return d, p.expectOp("}")
}

func (p *parser) postfix(x expr) (expr, error) {
	var err error
	for err == nil {
		switch {
		case p.isOp("."):
			t := p.next()
			a := p.next()
			switch a.kind {
			case tName:
				x = &attrExpr{x, a.text, t.line}
			case tInt:
				x = &itemExpr{x, &constExpr{a.i}, t.line}
			default:
				return nil, p.failAt(a.line, "expected name or number")
			}
		case p.isOp("["):
			x, err = p.subscript(x)
		case p.isOp("("):
			x, err = p.call(x)
		default:
			return x, nil
		}
	}
	return nil, err
}

func (p *parser) subscript(x expr) (expr, error) {
	line := p.next().line
	var args []expr
	for !p.isOp("]") {
		if args != nil {
			if err := p.expectOp(","); err != nil {
				return nil, err
			}
		}
		a, err := p.subscribed()
		if err != nil {
			return nil, err
		}
		args = append(args, a)
	}
	p.next()
	if len(args) == 1 {
		return &itemExpr{x, args[0], line}, nil
	}
	for _, a := range args {
		if _, ok := a.(*sliceExpr); ok {
			return nil, p.failAt(line, "a slice inside a tuple is not supported")
		}
	}
	return &itemExpr{x, &tupleExpr{args}, line}, nil
}

func (p *parser) subscribed() (expr, error) {
	s := &sliceExpr{}
	var err error
	if !p.isOp(":") {
		if s.from, err = p.expression(true); err != nil {
			return nil, err
		}
		if !p.isOp(":") {
			return s.from, nil
		}
	}
	p.next()
	ends := func() bool { return p.anyOp(":", "]", ",") }
	if !ends() {
		if s.to, err = p.expression(true); err != nil {
			return nil, err
		}
	}
	if p.skipOp(":") && !ends() {
		s.step, err = p.expression(true)
	}
	return s, err
}
