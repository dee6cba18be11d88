package jinja

// loopVal is the loop variable inside a for block.
type loopVal struct {
	in       *interp
	src      Value
	next     func() (Value, bool, error)
	index0   int
	depth0   int
	size     int // -1 until asked for
	peeked   bool
	after    Value // when peeked and more
	more     bool
	before   Value
	current  Value
	changed  []Value
	recurse  func(v Value, depth int) (Value, error)
	hasValue bool
}

func (in *interp) execFor(s *forStmt, sc *scope) error {
	v, err := in.eval(s.iter, sc)
	if err != nil {
		return err
	}
	if !s.recursive {
		return in.runLoop(s, v, sc, 0, nil)
	}
	var render func(v Value, depth int) (Value, error)
	render = func(v Value, depth int) (Value, error) {
		if err := in.enterCall(); err != nil {
			return nil, err
		}
		defer func() { in.calls-- }()
		return in.capture(func() error { return in.runLoop(s, v, sc, depth, render) })
	}
	text, err := render(v, 0)
	if err != nil {
		return err
	}
	return in.write(text.(Str))
}

// filtered keeps the items that pass the loop's own test.
func (in *interp) filtered(s *forStmt, v Value, sc *scope) (Value, error) {
	next, err := in.iterate(v)
	if err != nil {
		return nil, err
	}
	return &iterator{"generator", func() (Value, bool, error) {
		for {
			x, ok, err := next()
			if err != nil || !ok {
				return nil, false, err
			}
			inner := &scope{parent: sc}
			if err := in.assign(s.target, x, inner); err != nil {
				return nil, false, err
			}
			t, err := in.eval(s.filter, inner)
			if err != nil {
				return nil, false, err
			}
			if truth(t) {
				return x, true, nil
			}
		}
	}}, nil
}

func (in *interp) runLoop(s *forStmt, v Value, sc *scope, depth int, recurse func(Value, int) (Value, error)) error {
	var err error
	if s.filter != nil {
		if v, err = in.filtered(s, v, sc); err != nil {
			return err
		}
	}
	lp := &loopVal{in: in, src: v, index0: -1, depth0: depth, size: -1, recurse: recurse}
	if lp.next, err = in.iterate(v); err != nil {
		return err
	}
	// As in Jinja's compiled code, a turn that ends by break or continue does
	// not count for the else branch.
	none := true
	for {
		x, ok, err := lp.advance()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		turn := &scope{parent: sc}
		if err := in.alloc(64); err != nil {
			return err
		}
		turn.set("loop", lp)
		if err := in.assign(s.target, x, turn); err != nil {
			return err
		}
		ctl, err := in.execBlock(s.body, turn)
		if err != nil {
			return err
		}
		if ctl == ctlBreak {
			break
		}
		if ctl == ctlNone {
			none = false
		}
	}
	if !none || s.orElse == nil {
		return nil
	}
	_, err = in.execBlock(s.orElse, &scope{parent: sc})
	return err
}

func (l *loopVal) advance() (Value, bool, error) {
	x, ok, err := l.after, l.more, error(nil)
	if !l.peeked {
		x, ok, err = l.next()
	}
	l.peeked, l.after, l.more = false, nil, false
	if err != nil || !ok {
		return nil, false, err
	}
	l.index0++
	l.before, l.current = l.current, x
	return x, true, nil
}

func (l *loopVal) peek() (Value, bool, error) {
	if !l.peeked {
		x, ok, err := l.next()
		if err != nil {
			return nil, false, err
		}
		l.peeked, l.after, l.more = true, x, ok
	}
	return l.after, l.more, nil
}

// length is the number of items; a generator is read to its end for it.
func (l *loopVal) length() (int, error) {
	if l.size >= 0 {
		return l.size, nil
	}
	if n, ok := length(l.src); ok {
		l.size = n
		return n, nil
	}
	rest, err := l.in.collect(&iterator{"generator", l.next})
	if err != nil {
		return 0, err
	}
	l.next = sliceIter("list", rest).next
	l.size = len(rest) + l.index0 + 1
	if l.peeked && l.more {
		l.size++
	}
	return l.size, nil
}

// attr reads an attribute of the loop variable; the second result says
// whether there is one of that name.
func (l *loopVal) attr(name string) (Value, bool, error) {
	i := int64(l.index0)
	switch name {
	case "index0":
		return i, true, nil
	case "index":
		return i + 1, true, nil
	case "first":
		return i == 0, true, nil
	case "depth":
		return int64(l.depth0 + 1), true, nil
	case "depth0":
		return int64(l.depth0), true, nil
	case "length", "revindex", "revindex0":
		n, err := l.length()
		v := map[string]int64{"length": int64(n), "revindex": int64(n) - i, "revindex0": int64(n) - i - 1}[name]
		return v, true, err
	case "last":
		_, more, err := l.peek()
		return !more, true, err
	case "previtem":
		if l.index0 == 0 {
			return undefined("there is no previous item"), true, nil
		}
		return l.before, true, nil
	case "nextitem":
		x, more, err := l.peek()
		if err == nil && !more {
			return undefined("there is no next item"), true, nil
		}
		return x, true, err
	case "cycle":
		return &builtin{name, l.cycle}, true, nil
	case "changed":
		return &builtin{name, l.hasChanged}, true, nil
	}
	return nil, false, nil
}

func (l *loopVal) cycle(in *interp, a args) (Value, error) {
	if len(a.pos) == 0 {
		return nil, typeErr("no items for cycling given")
	}
	return a.pos[l.index0%len(a.pos)], nil
}

func (l *loopVal) hasChanged(in *interp, a args) (Value, error) {
	if l.hasValue {
		same, err := in.equal(Tuple(l.changed), Tuple(a.pos), 0)
		if err != nil || same {
			return false, err
		}
	}
	l.changed, l.hasValue = a.pos, true
	return true, nil
}

func (l *loopVal) call(in *interp, a args) (Value, error) {
	if l.recurse == nil {
		return nil, typeErr("The loop must have the 'recursive' marker to be called recursively.")
	}
	b, err := a.bind("loop", 1, "iterable")
	if err != nil {
		return nil, err
	}
	return l.recurse(b[0], l.depth0+1)
}
