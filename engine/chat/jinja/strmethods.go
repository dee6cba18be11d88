package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type strMethod = func(in *interp, s Str, a args) (Value, error)

var strMethods map[string]strMethod

func init() {
	strMethods = map[string]strMethod{
		"upper": mapped(Str.upper), "lower": mapped(Str.lower), "casefold": mapped(Str.lower),
		"capitalize": mapped(Str.capitalize), "title": mapped(Str.title), "swapcase": mapped(Str.swapcase),
		"strip": stripper(true, true), "lstrip": stripper(true, false), "rstrip": stripper(false, true),
		"split": strSplit, "rsplit": strRsplit, "splitlines": strSplitlines,
		"partition": strPartition, "rpartition": strRpartition,
		"startswith": affix(strings.HasPrefix), "endswith": affix(strings.HasSuffix),
		"removeprefix": strRemovePrefix, "removesuffix": strRemoveSuffix,
		"replace": strReplace, "join": strJoin,
		"find": finder(false, false), "rfind": finder(true, false),
		"index": finder(false, true), "rindex": finder(true, true), "count": strCount,
		"zfill": strZfill, "ljust": pad("ljust", '<'), "rjust": pad("rjust", '>'), "center": strCenter,
		"format": strFormat, "format_map": strFormatMap, "expandtabs": strExpandtabs,
		"isdigit": asks(isDigit), "isdecimal": asks(unicode.IsDigit), "isnumeric": asks(isNumeric),
		"isalpha": asks(unicode.IsLetter), "isspace": asks(pySpace),
		"isalnum": asks(func(r rune) bool { return unicode.IsLetter(r) || isDigit(r) || isNumeric(r) }),
		"isascii": func(_ *interp, s Str, _ args) (Value, error) { return s.ascii(), nil },
		"islower": func(_ *interp, s Str, _ args) (Value, error) { return s.isCase(isLower, isUpper), nil },
		"isupper": func(_ *interp, s Str, _ args) (Value, error) { return s.isCase(isUpper, isLower), nil },
		"istitle": func(_ *interp, s Str, _ args) (Value, error) { return s.isTitle(), nil },
		"isprintable": func(_ *interp, s Str, _ args) (Value, error) {
			return s.s == "" || s.all(unicode.IsPrint), nil
		},
		"isidentifier": func(_ *interp, s Str, _ args) (Value, error) {
			first, _ := utf8.DecodeRuneInString(s.s)
			return s.all(nameRune) && (first == '_' || unicode.IsLetter(first)), nil
		},
	}
}

func mapped(f func(Str) Str) strMethod {
	return func(in *interp, s Str, a args) (Value, error) {
		if _, err := a.bind("str method", 0); err != nil {
			return nil, err
		}
		if err := in.alloc(4 * len(s.s)); err != nil {
			return nil, err
		}
		return f(s), nil
	}
}

func asks(f func(rune) bool) strMethod {
	return func(in *interp, s Str, a args) (Value, error) { return s.all(f), in.step(len(s.s) / 64) }
}

func wantStr(v Value, what string) (Str, error) {
	switch v := v.(type) {
	case Str:
		return v, nil
	case *Undefined:
		return Str{}, typeErr("%s must be str, not Undefined", what)
	}
	return Str{}, typeErr("%s must be str, not %s", what, typeName(v))
}

func wantInt(v Value, what string) (int, error) {
	if u, ok := v.(*Undefined); ok {
		return 0, u.fail()
	}
	i, ok := asInt(v)
	if !ok {
		return 0, typeErr("%s: '%s' object cannot be interpreted as an integer", what, typeName(v))
	}
	return int(i), nil
}

// strip trims the characters in set, or white space when set is nil.
func (s Str) strip(set *Str, left, right bool) Str {
	cut := pySpace
	if set != nil {
		in := map[rune]bool{}
		for _, r := range set.s {
			in[r] = true
		}
		cut = func(r rune) bool { return in[r] }
	}
	from, to := 0, len(s.s)
	if left {
		from = len(s.s) - len(strings.TrimLeftFunc(s.s, cut))
	}
	if right {
		to = from + len(strings.TrimRightFunc(s.s[from:], cut))
	}
	return s.cut(from, to)
}

func stripper(left, right bool) strMethod {
	return func(in *interp, s Str, a args) (Value, error) {
		b, err := a.bind("strip", 0, "chars")
		if err != nil {
			return nil, err
		}
		var set *Str
		if given(b[0]) && b[0] != nil {
			c, err := wantStr(b[0], "strip arg")
			if err != nil {
				return nil, err
			}
			set = &c
		}
		return s.strip(set, left, right), in.alloc(len(s.s))
	}
}

func (in *interp) strList(parts []Str) (Value, error) {
	out := make([]Value, len(parts))
	for i, p := range parts {
		out[i] = p
	}
	return &List{out}, in.alloc(64 * len(parts))
}

// splitArgs reads (sep, maxsplit); sep is nil for white space.
func splitArgs(in *interp, s Str, a args) (*Str, int, error) {
	if err := in.alloc(len(s.s)); err != nil {
		return nil, 0, err
	}
	b, err := a.bind("split", 0, "sep", "maxsplit")
	if err != nil {
		return nil, 0, err
	}
	limit := -1
	if given(b[1]) {
		if limit, err = wantInt(b[1], "maxsplit"); err != nil {
			return nil, 0, err
		}
	}
	if !given(b[0]) || b[0] == nil {
		return nil, limit, nil
	}
	sep, err := wantStr(b[0], "sep")
	if err == nil && sep.s == "" {
		err = valueErr("empty separator")
	}
	// The pieces cost about 64 bytes each; charge for the worst case they allow.
	if err == nil {
		err = in.alloc(64 * strings.Count(s.s, sep.s))
	}
	return &sep, limit, err
}

func strSplit(in *interp, s Str, a args) (Value, error) {
	sep, limit, err := splitArgs(in, s, a)
	if err != nil {
		return nil, err
	}
	var parts []Str
	at := 0
	if sep == nil {
		for {
			at = len(s.s) - len(strings.TrimLeftFunc(s.s[at:], pySpace))
			if at == len(s.s) {
				return in.strList(parts)
			}
			n := strings.IndexFunc(s.s[at:], pySpace)
			if n < 0 || limit >= 0 && len(parts) >= limit {
				return in.strList(append(parts, s.cut(at, len(s.s))))
			}
			if err := in.alloc(64); err != nil {
				return nil, err
			}
			parts = append(parts, s.cut(at, at+n))
			at += n
		}
	}
	for limit < 0 || len(parts) < limit {
		i := strings.Index(s.s[at:], sep.s)
		if i < 0 {
			break
		}
		parts = append(parts, s.cut(at, at+i))
		at += i + len(sep.s)
	}
	return in.strList(append(parts, s.cut(at, len(s.s))))
}

func strRsplit(in *interp, s Str, a args) (Value, error) {
	sep, limit, err := splitArgs(in, s, a)
	if err != nil {
		return nil, err
	}
	var parts []Str // last first
	end := len(s.s)
	if sep == nil {
		for {
			end = len(strings.TrimRightFunc(s.s[:end], pySpace))
			if end == 0 {
				break
			}
			i := strings.LastIndexFunc(s.s[:end], pySpace)
			if limit >= 0 && len(parts) >= limit {
				parts = append(parts, s.cut(0, end))
				break
			}
			from := 0
			if i >= 0 {
				_, n := utf8.DecodeRuneInString(s.s[i:])
				from = i + n
			}
			if err := in.alloc(64); err != nil {
				return nil, err
			}
			parts = append(parts, s.cut(from, end))
			end = from
		}
	} else {
		for limit < 0 || len(parts) < limit {
			i := strings.LastIndex(s.s[:end], sep.s)
			if i < 0 {
				break
			}
			parts = append(parts, s.cut(i+len(sep.s), end))
			end = i
		}
		parts = append(parts, s.cut(0, end))
	}
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return in.strList(parts)
}

func lineBreak(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

// lines cuts at line breaks, which keep leaves in.
func (s Str) lines(keep bool) []Str {
	var out []Str
	for at := 0; at < len(s.s); {
		n := strings.IndexFunc(s.s[at:], lineBreak)
		if n < 0 {
			return append(out, s.cut(at, len(s.s)))
		}
		_, w := utf8.DecodeRuneInString(s.s[at+n:])
		if strings.HasPrefix(s.s[at+n:], "\r\n") {
			w = 2
		}
		end := at + n
		if keep {
			end += w
		}
		out = append(out, s.cut(at, end))
		at += n + w
	}
	return out
}

func strSplitlines(in *interp, s Str, a args) (Value, error) {
	b, err := a.bind("splitlines", 0, "keepends")
	if err != nil {
		return nil, err
	}
	// A line costs about 64 bytes, and one byte can make a line.
	if err := in.alloc(len(s.s) + 64*strings.Count(s.s, "\n")); err != nil {
		return nil, err
	}
	return in.strList(s.lines(given(b[0]) && truth(b[0])))
}

func strPartition(in *interp, s Str, a args) (Value, error) {
	return partition(in, s, a, strings.Index, false)
}

func strRpartition(in *interp, s Str, a args) (Value, error) {
	return partition(in, s, a, strings.LastIndex, true)
}

func partition(in *interp, s Str, a args, find func(s, sub string) int, last bool) (Value, error) {
	b, err := a.bind("partition", 1, "sep")
	if err != nil {
		return nil, err
	}
	sep, err := wantStr(b[0], "sep")
	if err != nil {
		return nil, err
	}
	if sep.s == "" {
		return nil, valueErr("empty separator")
	}
	if err := in.alloc(len(s.s)); err != nil {
		return nil, err
	}
	i := find(s.s, sep.s)
	switch {
	case i >= 0:
		return Tuple{s.cut(0, i), s.cut(i, i+len(sep.s)), s.cut(i+len(sep.s), len(s.s))}, nil
	case last:
		return Tuple{Str{safe: s.safe}, Str{safe: s.safe}, s}, nil
	}
	return Tuple{s, Str{safe: s.safe}, Str{safe: s.safe}}, nil
}

// window reads optional start and end, in characters, and gives the part of s
// between them and the start used.
func (s Str) window(start, end Value) (Str, int, error) {
	for _, v := range []*Value{&start, &end} {
		if !given(*v) {
			*v = nil
		}
	}
	if start == nil && end == nil {
		return s, 0, nil
	}
	n := int64(s.runes())
	from, count, err := sliceIndices([3]Value{start, end, nil}, n)
	if err != nil {
		return Str{}, 0, err
	}
	if i, ok := asInt(start); ok && start != nil && i > n {
		return Str{}, -1, nil // past the end not even "" is found
	}
	off := s.runeOffsets()
	return s.cut(off[from], off[from+count]), int(from), nil
}

func affix(has func(s, sub string) bool) strMethod {
	return func(in *interp, s Str, a args) (Value, error) {
		b, err := a.bind("startswith", 1, "prefix", "start", "end")
		if err != nil {
			return nil, err
		}
		w, from, err := s.window(b[1], b[2])
		if err != nil {
			return nil, err
		}
		options, isTuple := b[0].(Tuple)
		if !isTuple {
			options = Tuple{b[0]}
		}
		for _, o := range options {
			p, err := wantStr(o, "startswith first arg")
			if err != nil {
				return nil, err
			}
			if err := in.step(1); err != nil {
				return nil, err
			}
			if from >= 0 && has(w.s, p.s) {
				return true, nil
			}
		}
		return false, nil
	}
}

func strRemovePrefix(in *interp, s Str, a args) (Value, error) {
	return removeAffix(in, s, a, func(p Str) Str { return s.cut(len(s.s)-len(strings.TrimPrefix(s.s, p.s)), len(s.s)) })
}

func strRemoveSuffix(in *interp, s Str, a args) (Value, error) {
	return removeAffix(in, s, a, func(p Str) Str { return s.cut(0, len(strings.TrimSuffix(s.s, p.s))) })
}

func removeAffix(in *interp, s Str, a args, f func(Str) Str) (Value, error) {
	b, err := a.bind("removeprefix", 1, "prefix")
	if err != nil {
		return nil, err
	}
	p, err := wantStr(b[0], "prefix")
	if err != nil {
		return nil, err
	}
	return f(p), in.step(len(s.s) / 64)
}
