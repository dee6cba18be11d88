package jinja

import (
	"math"
	"strconv"
	"strings"
	"unicode"
)

func addTextFilters() {
	method := func(m strMethod) filterFunc {
		return func(in *interp, v Value, a args) (Value, error) {
			s, err := in.soft(v)
			if err != nil {
				return nil, err
			}
			return m(in, s, a)
		}
	}
	for name, m := range map[string]strMethod{
		"upper": mapped(Str.upper), "lower": mapped(Str.lower), "capitalize": mapped(Str.capitalize),
		"title": mapped(Str.filterTitle), "trim": stripper(true, true), "format": filterFormat,
		"string": mapped(func(s Str) Str { return s }), "wordcount": filterWordcount, "center": filterCenter,
		"safe":        mapped(func(s Str) Str { s.safe = true; return s }),
		"e":           mapped(Str.escape),
		"escape":      mapped(Str.escape),
		"forceescape": mapped(func(s Str) Str { s.safe = false; return s.escape() }),
	} {
		filters[name] = method(m)
	}
	filters["replace"] = filterReplace
	filters["indent"] = filterIndent
	filters["truncate"] = filterTruncate
}

// soft is str(v), but leaves a Markup one.
func (in *interp) soft(v Value) (Str, error) {
	if s, ok := v.(Str); ok {
		return s, nil
	}
	return in.toStr(v)
}

// filterTitle is Jinja's title, which splits words at blanks and brackets only.
func (s Str) filterTitle() Str {
	n, start := 0, true
	return s.mapCase(func(i int, r rune) string {
		was := start
		start = pySpace(r) || strings.ContainsRune("-({[<", r)
		if start {
			return string(r)
		}
		if was {
			return upperRune(r)
		}
		return s.lowerAt(i, r, &n)
	})
}

func filterReplace(in *interp, v Value, a args) (Value, error) {
	b, err := a.bind("replace", 2, "old", "new", "count")
	if err != nil {
		return nil, err
	}
	var p [3]Str
	for i, x := range []Value{v, b[0], b[1]} {
		if p[i], err = in.toStr(x); err != nil {
			return nil, err
		}
	}
	limit := -1
	if given(b[2]) && b[2] != nil {
		if limit, err = wantInt(b[2], "count"); err != nil {
			return nil, err
		}
	}
	return in.replace(p[0], p[1], p[2], limit)
}

func filterFormat(in *interp, s Str, a args) (Value, error) {
	if len(a.pos) > 0 && len(a.names) > 0 {
		return nil, errf("FilterArgumentError", "can't handle positional and keyword arguments at the same time")
	}
	if len(a.names) == 0 {
		return in.percent(s, Tuple(a.pos))
	}
	return in.percent(s, a.dict())
}

func filterWordcount(_ *interp, s Str, _ args) (Value, error) {
	n, inside := int64(0), false
	for _, r := range s.s {
		word := r == '_' || unicode.IsLetter(r) || isNumeric(r) || isDigit(r)
		if word && !inside {
			n++
		}
		inside = word
	}
	return n, nil
}

func filterCenter(in *interp, s Str, a args) (Value, error) {
	b, err := a.bind("center", 0, "width")
	if err != nil {
		return nil, err
	}
	width := 80
	if given(b[0]) {
		if width, err = wantInt(b[0], "width"); err != nil {
			return nil, err
		}
	}
	return in.centered(s, width, lit(" "))
}

func filterIndent(in *interp, v Value, a args) (Value, error) {
	b, err := a.bind("indent", 0, "width", "first", "blank")
	if err != nil {
		return nil, err
	}
	s, ok := v.(Str)
	if !ok {
		if u, ok := v.(*Undefined); ok {
			return nil, u.fail()
		}
		return nil, typeErr("unsupported operand type(s) for +=: '%s' and 'str'", typeName(v))
	}
	by := lit("    ")
	if given(b[0]) {
		if w, isStr := b[0].(Str); isStr {
			by = w
		} else {
			n, err := wantInt(b[0], "width")
			if err != nil {
				return nil, err
			}
			if by, err = in.padded(Str{}, n, '<', lit(" ")); err != nil {
				return nil, err
			}
		}
	}
	if s.safe {
		by.safe = true
	}
	lines := concatStr(s, lit("\n")).lines(true)
	if err := in.alloc(len(s.s) + (len(lines)+1)*(len(by.s)+64)); err != nil {
		return nil, err
	}
	var out strBuf
	if isSet(b[1]) {
		out.add(by)
	}
	brokenByUser := false
	for i, line := range lines {
		end := strings.IndexFunc(line.s, lineBreak)
		if i > 0 {
			out.put("\n", brokenByUser)
			if end > 0 || isSet(b[2]) {
				out.add(by)
			}
		}
		out.add(line.cut(0, end))
		brokenByUser = line.isUser(end)
	}
	r := out.str()
	r.safe = s.safe
	return r, nil
}

func filterTruncate(in *interp, v Value, a args) (Value, error) {
	b, err := a.bind("truncate", 0, "length", "killwords", "end", "leeway")
	if err != nil {
		return nil, err
	}
	n, ok := length(v)
	if !ok {
		return nil, typeErr("object of type '%s' has no len()", typeName(v))
	}
	size, leeway, end := 255, 5, lit("...")
	if given(b[0]) {
		if size, err = wantInt(b[0], "length"); err != nil {
			return nil, err
		}
	}
	if given(b[2]) {
		if end, err = wantStr(b[2], "end"); err != nil {
			return nil, err
		}
	}
	if given(b[3]) && b[3] != nil {
		if leeway, err = wantInt(b[3], "leeway"); err != nil {
			return nil, err
		}
	}
	if size < end.runes() || leeway < 0 {
		return nil, errf("AssertionError", "expected length >= %d, got %d", end.runes(), size)
	}
	if n <= size+leeway {
		return v, nil
	}
	s, ok := v.(Str)
	if !ok {
		return nil, typeErr("'%s' object cannot be truncated", typeName(v))
	}
	head := s.cut(0, s.byteAt(size-end.runes()))
	if !isSet(b[1]) {
		if i := strings.LastIndexByte(head.s, ' '); i >= 0 {
			head = head.cut(0, i)
		}
	}
	return concatStr(head, end), in.alloc(len(s.s))
}

func filterInt(_ *interp, v Value, a args) (Value, error) {
	b, err := a.bind("int", 0, "default", "base")
	if err != nil {
		return nil, err
	}
	def, base := Value(int64(0)), 10
	if given(b[0]) {
		def = b[0]
	}
	if given(b[1]) {
		if base, err = wantInt(b[1], "base"); err != nil {
			return nil, err
		}
		if base != 0 && (base < 2 || base > 36) {
			return def, nil
		}
	}
	switch x := v.(type) {
	case *Undefined:
		return nil, x.fail()
	case Str:
		n, err := parseInt(x.s, base)
		if err == nil {
			return n, nil
		}
		if isKind(err, "OverflowError") {
			return nil, err
		}
		f, err := parseFloat(x.s)
		if err != nil {
			return def, nil
		}
		if n, err = floatToInt(f); err != nil {
			return def, nil
		}
		return n, nil
	case float64:
		n, err := floatToInt(x)
		if err != nil && math.IsNaN(x) {
			return def, nil
		}
		return n, err
	}
	if n, ok := asInt(v); ok {
		return n, nil
	}
	return def, nil
}

func filterFloat(_ *interp, v Value, a args) (Value, error) {
	b, err := a.bind("float", 0, "default")
	if err != nil {
		return nil, err
	}
	if u, ok := v.(*Undefined); ok {
		return nil, u.fail()
	}
	if s, ok := v.(Str); ok {
		if f, err := parseFloat(s.s); err == nil {
			return f, nil
		}
	} else if f, ok := asFloat(v); ok {
		return f, nil
	}
	if given(b[0]) {
		return b[0], nil
	}
	return 0.0, nil
}

func filterRound(_ *interp, v Value, a args) (Value, error) {
	b, err := a.bind("round", 0, "precision", "method")
	if err != nil {
		return nil, err
	}
	places := 0
	if given(b[0]) {
		if places, err = wantInt(b[0], "precision"); err != nil {
			return nil, err
		}
	}
	how := "common"
	if given(b[1]) {
		s, _ := b[1].(Str)
		how = s.s
	}
	if how != "common" && how != "ceil" && how != "floor" {
		return nil, errf("FilterArgumentError", "method must be common, ceil or floor")
	}
	f, ok := asFloat(v)
	if !ok {
		return nil, typeErr("type %s doesn't define __round__ method", typeName(v))
	}
	if how != "common" {
		p := math.Pow(10, float64(places))
		if how == "ceil" {
			return math.Ceil(f*p) / p, nil
		}
		return math.Floor(f*p) / p, nil
	}
	if i, ok := asInt(v); ok && places >= 0 {
		return i, nil
	} else if ok {
		return int64(math.RoundToEven(float64(i)/math.Pow(10, float64(-places))) * math.Pow(10, float64(-places))), nil
	}
	if places >= 0 && places < 400 {
		f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'f', places, 64), 64)
		return f, nil
	}
	if places < 0 {
		p := math.Pow(10, float64(-places))
		return math.RoundToEven(f/p) * p, nil
	}
	return f, nil
}
