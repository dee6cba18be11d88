package jinja

import "strings"

// replace is str.replace; limit below 0 means all. What stays keeps its
// origin, and what is put in keeps its own.
func (in *interp) replace(s, old, new Str, limit int) (Str, error) {
	count := strings.Count(s.s, old.s)
	if limit >= 0 {
		count = min(count, limit)
	}
	size := len(s.s) + count*(len(new.s)+16*len(new.user))
	if err := in.alloc(size); err != nil {
		return Str{}, err
	}
	if err := in.step(count / 4); err != nil {
		return Str{}, err
	}
	if count == 0 {
		return s, nil
	}
	var b strBuf
	at := 0
	for i := 0; i < count; i++ {
		n := strings.Index(s.s[at:], old.s)
		if old.s == "" {
			n = 0
			if i > 0 {
				n = lit(s.s[at:]).byteAt1()
			}
		}
		b.add(s.cut(at, at+n))
		b.add(new)
		at += n + len(old.s)
	}
	b.add(s.cut(at, len(s.s)))
	out := b.str()
	out.safe = s.safe
	return out, nil
}

// byteAt1 is the width of the first character.
func (s Str) byteAt1() int {
	for i := range s.s {
		if i > 0 {
			return i
		}
	}
	return len(s.s)
}

func strReplace(in *interp, s Str, a args) (Value, error) {
	b, err := a.bind("replace", 2, "old", "new", "count")
	if err != nil {
		return nil, err
	}
	old, err := wantStr(b[0], "replace() argument 1")
	if err != nil {
		return nil, err
	}
	new, err := wantStr(b[1], "replace() argument 2")
	if err != nil {
		return nil, err
	}
	limit := -1
	if given(b[2]) {
		if limit, err = wantInt(b[2], "count"); err != nil {
			return nil, err
		}
	}
	if s.safe {
		new = new.escape()
	}
	return in.replace(s, old, new, limit)
}

// joinStrs joins values with sep; with loose each is turned into a string first.
func (in *interp) joinStrs(sep Str, v Value, loose bool) (Str, error) {
	next, err := in.iterate(v)
	if err != nil {
		return Str{}, err
	}
	var b strBuf
	for i := 0; ; i++ {
		x, ok, err := next()
		if err != nil {
			return Str{}, err
		}
		if !ok {
			out := b.str()
			out.safe = sep.safe
			return out, nil
		}
		s, isStr := x.(Str)
		if !isStr && !loose {
			return Str{}, typeErr("sequence item %d: expected str instance, %s found", i, typeName(x))
		}
		if sep.safe && isStr {
			s = s.escape()
		}
		if !isStr {
			if s, err = in.toStr(x); err != nil {
				return Str{}, err
			}
		}
		if err := in.alloc(len(sep.s) + len(s.s) + 16*(len(sep.user)+len(s.user))); err != nil {
			return Str{}, err
		}
		if i > 0 {
			b.add(sep)
		}
		b.add(s)
	}
}

func strJoin(in *interp, s Str, a args) (Value, error) {
	b, err := a.bind("join", 1, "iterable")
	if err != nil {
		return nil, err
	}
	return in.joinStrs(s, b[0], false)
}

func finder(last, must bool) strMethod {
	return func(in *interp, s Str, a args) (Value, error) {
		b, err := a.bind("find", 1, "sub", "start", "end")
		if err != nil {
			return nil, err
		}
		sub, err := wantStr(b[0], "find arg")
		if err != nil {
			return nil, err
		}
		if err := in.step(len(s.s) / 16); err != nil {
			return nil, err
		}
		w, from, err := s.window(b[1], b[2])
		if err != nil {
			return nil, err
		}
		i := strings.Index(w.s, sub.s)
		if last {
			i = strings.LastIndex(w.s, sub.s)
		}
		if i < 0 || from < 0 {
			if must {
				return nil, valueErr("substring not found")
			}
			return int64(-1), nil
		}
		return int64(from + lit(w.s[:i]).runes()), nil
	}
}

func strCount(in *interp, s Str, a args) (Value, error) {
	b, err := a.bind("count", 1, "sub", "start", "end")
	if err != nil {
		return nil, err
	}
	sub, err := wantStr(b[0], "count arg")
	if err != nil {
		return nil, err
	}
	w, from, err := s.window(b[1], b[2])
	if err != nil || from < 0 {
		return int64(0), err
	}
	return int64(strings.Count(w.s, sub.s)), in.step(len(s.s) / 16)
}

// padded lays s in width characters; align is '<', '>' or '^', with the odd
// blank of '^' on the right.
func (in *interp) padded(s Str, width int, align byte, fill Str) (Str, error) {
	gap := width - s.runes()
	if gap <= 0 {
		return s, nil
	}
	if gap > in.lim.Alloc {
		return Str{}, in.tooBig()
	}
	if err := in.alloc(gap*(len(fill.s)+16*len(fill.user)) + len(s.s)); err != nil {
		return Str{}, err
	}
	left := 0
	switch align {
	case '>':
		left = gap
	case '^':
		left = gap / 2
	}
	out := concatStr(fill.times(left), s, fill.times(gap-left))
	out.safe = s.safe
	return out, nil
}

func padArgs(a args) (int, Str, error) {
	b, err := a.bind("ljust", 1, "width", "fillchar")
	if err != nil {
		return 0, Str{}, err
	}
	width, err := wantInt(b[0], "width")
	if err != nil || !given(b[1]) {
		return width, lit(" "), err
	}
	fill, err := wantStr(b[1], "fillchar")
	if err == nil && fill.runes() != 1 {
		err = typeErr("The fill character must be exactly one character long")
	}
	return width, fill, err
}

func pad(name string, align byte) strMethod {
	return func(in *interp, s Str, a args) (Value, error) {
		width, fill, err := padArgs(a)
		if err != nil {
			return nil, err
		}
		return in.padded(s, width, align, fill)
	}
}

// centered is str.center, whose odd blank goes left when the width is odd.
func (in *interp) centered(s Str, width int, fill Str) (Str, error) {
	gap := width - s.runes()
	if gap <= 0 {
		return s, nil
	}
	if gap > in.lim.Alloc {
		return Str{}, in.tooBig()
	}
	if err := in.alloc(gap * (len(fill.s) + 16*len(fill.user))); err != nil {
		return Str{}, err
	}
	left := gap/2 + (gap & width & 1)
	return in.padded(concatStr(fill.times(left), s), width, '<', fill)
}

func strCenter(in *interp, s Str, a args) (Value, error) {
	width, fill, err := padArgs(a)
	if err != nil {
		return nil, err
	}
	return in.centered(s, width, fill)
}

func strZfill(in *interp, s Str, a args) (Value, error) {
	b, err := a.bind("zfill", 1, "width")
	if err != nil {
		return nil, err
	}
	width, err := wantInt(b[0], "width")
	if err != nil {
		return nil, err
	}
	sign := 0
	if s.s != "" && (s.s[0] == '+' || s.s[0] == '-') {
		sign = 1
	}
	rest, err := in.padded(s.cut(sign, len(s.s)), width-sign, '>', lit("0"))
	return concatStr(s.cut(0, sign), rest), err
}

func strExpandtabs(in *interp, s Str, a args) (Value, error) {
	b, err := a.bind("expandtabs", 0, "tabsize")
	if err != nil {
		return nil, err
	}
	size := 8
	if given(b[0]) {
		if size, err = wantInt(b[0], "tabsize"); err != nil {
			return nil, err
		}
	}
	size = max(size, 0)
	if size > 0 && strings.Count(s.s, "\t") > in.lim.Alloc/size {
		return nil, in.tooBig()
	}
	if err := in.alloc(len(s.s) + size*strings.Count(s.s, "\t")); err != nil {
		return nil, err
	}
	col := 0
	return s.mapRunes(func(r rune) string {
		switch r {
		case '\t':
			n := 0
			if size > 0 {
				n = size - col%size
			}
			col += n
			return strings.Repeat(" ", n)
		case '\n', '\r':
			col = -1
		}
		col++
		return string(r)
	}), nil
}
