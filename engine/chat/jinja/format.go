package jinja

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// spec is one format specification of % or str.format.
type spec struct {
	fill      string
	fillUser  bool // the fill came from the user
	align     byte // '<', '>', '^', '=' or 0
	sign      byte // '+', ' ' or 0
	alt       bool
	group     string // "," or "_"
	width     int
	precision int // -1 when not given
	verb      byte
}

// number formats v, an int or a float, without padding.
func (sp spec) number(v Value) (string, error) {
	switch sp.verb {
	case 'd', 'i', 'u', 'n', 'x', 'X', 'o', 'b', 'c':
		i, ok := asInt(v)
		if !ok {
			return "", typeErr("%%%c format: an integer is required, not %s", sp.verb, typeName(v))
		}
		return sp.integer(i)
	}
	f, ok := asFloat(v)
	if !ok {
		return "", typeErr("must be real number, not %s", typeName(v))
	}
	prec := sp.precision
	if prec < 0 {
		prec = 6
	}
	if prec > 1000 {
		return "", &LimitError{Limit: "digits of precision", Max: 1000}
	}
	lower := sp.verb | 0x20
	s := ""
	switch {
	case math.IsInf(f, 0) || math.IsNaN(f):
		s = strings.TrimPrefix(floatRepr(f), "-")
	case lower == 'f':
		s = strconv.FormatFloat(math.Abs(f), 'f', prec, 64)
	case sp.verb == '%':
		s = strconv.FormatFloat(math.Abs(f)*100, 'f', prec, 64) + "%"
	case lower == 'e':
		s = strconv.FormatFloat(math.Abs(f), 'e', prec, 64)
	default:
		s = general(math.Abs(f), max(prec, 1), sp.alt)
	}
	if sp.verb >= 'A' && sp.verb <= 'Z' {
		s = strings.ToUpper(s)
	}
	return sp.signed(grouped(s, sp.group), math.Signbit(f) && !math.IsNaN(f)), nil
}

// general is the g format: prec significant digits, without trailing zeros.
func general(f float64, prec int, alt bool) string {
	s := strconv.FormatFloat(f, 'e', prec-1, 64)
	mant, es, _ := strings.Cut(s, "e")
	e, _ := strconv.Atoi(es)
	trim := func(s string) string {
		if alt || !strings.Contains(s, ".") {
			return s
		}
		return strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if e < -4 || e >= prec {
		return trim(mant) + "e" + es
	}
	return trim(strconv.FormatFloat(f, 'f', prec-1-e, 64))
}

func (sp spec) signed(s string, neg bool) string {
	if neg {
		return "-" + s
	}
	if sp.sign != 0 {
		return string(sp.sign) + s
	}
	return s
}

func (sp spec) integer(i int64) (string, error) {
	base, prefix := 10, ""
	switch sp.verb {
	case 'x', 'X':
		base, prefix = 16, "0x"
	case 'o':
		base, prefix = 8, "0o"
	case 'b':
		base, prefix = 2, "0b"
	case 'c':
		if i < 0 || i > utf8.MaxRune {
			return "", errf("OverflowError", "%%c arg not in range(0x110000)")
		}
		return string(rune(i)), nil
	}
	s := strconv.FormatUint(absU(i), base)
	if sp.precision > 1000 {
		return "", &LimitError{Limit: "digits of precision", Max: 1000}
	}
	if n := sp.precision - len(s); n > 0 {
		s = strings.Repeat("0", n) + s
	}
	s = grouped(s, sp.group)
	if sp.alt {
		s = prefix + s
	}
	if sp.verb == 'X' {
		s = strings.ToUpper(s)
	}
	return sp.signed(s, i < 0), nil
}

func grouped(s, sep string) string {
	if sep == "" {
		return s
	}
	end := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(s)
	}
	for i := end - 3; i > 0; i -= 3 {
		s = s[:i] + sep + s[i:]
	}
	return s
}

// pad lays s in the width; '=' pads between the sign and the digits.
func (sp spec) pad(in *interp, s Str, def byte) (Str, error) {
	align := sp.align
	if align == 0 {
		align = def
	}
	fill := sp.fill
	if fill == "" {
		fill = " "
	}
	if align != '=' {
		return in.padded(s, sp.width, align, String(fill, sp.fillUser))
	}
	n := 0
	if s.s != "" && strings.IndexByte("+- ", s.s[0]) >= 0 {
		n = 1
	}
	if len(s.s) >= n+2 && s.s[n] == '0' && strings.IndexByte("xXob", s.s[n+1]) >= 0 {
		n += 2
	}
	rest, err := in.padded(s.cut(n, len(s.s)), sp.width-n, '>', String(fill, sp.fillUser))
	return concatStr(s.cut(0, n), rest), err
}

// percent is str % value.
func (in *interp) percent(s Str, v Value) (Value, error) {
	f := &percentFmt{in: in, s: s, vals: Tuple{v}}
	if t, ok := v.(Tuple); ok {
		f.vals = t
	} else if d, ok := v.(*Dict); ok {
		f.dict = d
	}
	for f.at < len(s.s) {
		i := strings.IndexByte(s.s[f.at:], '%')
		if i < 0 {
			break
		}
		f.b.add(s.cut(f.at, f.at+i))
		f.at += i + 1
		if err := f.item(); err != nil {
			return nil, err
		}
	}
	f.b.add(s.cut(f.at, len(s.s)))
	_, isTuple := v.(Tuple)
	if f.next < len(f.vals) && f.dict == nil && (isTuple || !mappingLike(v)) {
		return nil, typeErr("not all arguments converted during string formatting")
	}
	out := f.b.str()
	out.safe = s.safe
	return out, in.alloc(len(s.s))
}

// mappingLike values may be left unused by %.
func mappingLike(v Value) bool {
	switch v.(type) {
	case *List, *Dict, rangeVal, *Undefined:
		return true
	}
	return false
}

type percentFmt struct {
	in   *interp
	s    Str
	at   int
	b    strBuf
	vals Tuple
	next int
	dict *Dict
}

func (f *percentFmt) peek() byte {
	if f.at < len(f.s.s) {
		return f.s.s[f.at]
	}
	return 0
}

func (f *percentFmt) arg() (Value, error) {
	if f.next >= len(f.vals) {
		return nil, typeErr("not enough arguments for format string")
	}
	f.next++
	return f.vals[f.next-1], nil
}

func (f *percentFmt) count() (int, error) {
	if f.peek() == '*' {
		f.at++
		v, err := f.arg()
		if err != nil {
			return 0, err
		}
		return wantInt(v, "* wants int")
	}
	n := digits(f.s.s[f.at:], decimal)
	v, err := strconv.Atoi("0" + f.s.s[f.at:f.at+n])
	f.at += n
	if err != nil || v > 1<<30 {
		return 0, valueErr("width too big")
	}
	return v, nil
}

func (f *percentFmt) item() error {
	sp := spec{precision: -1}
	named := false
	var v Value
	if f.peek() == '(' {
		end := strings.IndexByte(f.s.s[f.at:], ')')
		if f.dict == nil {
			return typeErr("format requires a mapping")
		}
		if end < 0 {
			return valueErr("incomplete format key")
		}
		key := f.s.s[f.at+1 : f.at+end]
		var ok bool
		if v, ok = f.dict.Get(key); !ok {
			return errf("KeyError", "'%s'", key)
		}
		named = true
		f.at += end + 1
	}
	for ; strings.IndexByte("-+ #0", f.peek()) >= 0 && f.peek() != 0; f.at++ {
		switch c := f.peek(); c {
		case '-':
			sp.align = '<'
		case '+':
			sp.sign = '+'
		case ' ':
			if sp.sign == 0 {
				sp.sign = ' '
			}
		case '#':
			sp.alt = true
		case '0':
			sp.fill = "0"
		}
	}
	var err error
	if sp.width, err = f.count(); err != nil {
		return err
	}
	if sp.width < 0 {
		sp.width, sp.align = -sp.width, '<'
	}
	if f.peek() == '.' {
		f.at++
		if sp.precision, err = f.count(); err != nil {
			return err
		}
	}
	for strings.IndexByte("hlL", f.peek()) >= 0 && f.peek() != 0 {
		f.at++
	}
	sp.verb = f.peek()
	if sp.verb == 0 {
		return valueErr("incomplete format")
	}
	f.at++
	if sp.verb == '%' {
		f.b.add(f.s.cut(f.at-1, f.at))
		return nil
	}
	if !named {
		if v, err = f.arg(); err != nil {
			return err
		}
	}
	return f.convert(sp, v)
}

func (f *percentFmt) convert(sp spec, v Value) error {
	in := f.in
	var s Str
	var err error
	switch sp.verb {
	case 's', 'r', 'a':
		if sp.verb == 's' {
			s, err = in.soft(v)
		} else {
			s, err = in.repr(v)
		}
		if err != nil {
			return err
		}
		if f.s.safe {
			s = s.escape()
		}
		s.safe = false
		if sp.precision >= 0 && s.runes() > sp.precision {
			s = s.cut(0, s.byteAt(sp.precision))
		}
		sp.fill = ""
	case 'd', 'i', 'u', 'x', 'X', 'o', 'c', 'e', 'E', 'f', 'F', 'g', 'G':
		if c, ok := v.(Str); ok && sp.verb == 'c' && c.runes() == 1 {
			s = c
			break
		}
		if fl, ok := v.(float64); ok && strings.IndexByte("diu", sp.verb) >= 0 {
			if v, err = floatToInt(fl); err != nil {
				return err
			}
		}
		text, err := sp.number(v)
		if err != nil {
			return err
		}
		s = lit(text)
		if sp.fill == "0" && sp.align == 0 {
			sp.align = '='
		}
	default:
		return valueErr("unsupported format character '%c' (0x%x)", sp.verb, sp.verb)
	}
	if sp.align == '<' {
		sp.fill = ""
	}
	if s, err = sp.pad(in, s, '>'); err != nil {
		return err
	}
	if err := in.alloc(len(s.s) + 16*len(s.user)); err != nil {
		return err
	}
	f.b.add(s)
	return nil
}

// formatValue is Python's format(v, spec).
func (in *interp) formatValue(v Value, text Str) (Str, error) {
	if text.s == "" {
		return in.toStr(v)
	}
	sp, err := parseSpec(text.s)
	sp.fillUser = len(text.user) > 0
	if err != nil {
		return Str{}, err
	}
	if s, ok := v.(Str); ok {
		if sp.verb != 0 && sp.verb != 's' || sp.sign != 0 || sp.align == '=' {
			return Str{}, valueErr("Unknown format code for object of type 'str'")
		}
		if sp.precision >= 0 && s.runes() > sp.precision {
			s = s.cut(0, s.byteAt(sp.precision))
		}
		s.safe = false
		return sp.pad(in, s, '<')
	}
	f, isFloat := v.(float64)
	if _, ok := asInt(v); !ok && !isFloat {
		return Str{}, typeErr("unsupported format string passed to %s.__format__", typeName(v))
	}
	if isFloat && strings.IndexByte("dxXobc", sp.verb) >= 0 && sp.verb != 0 {
		return Str{}, valueErr("Unknown format code '%c' for object of type 'float'", sp.verb)
	}
	var s string
	switch {
	case sp.verb == 0 && isFloat && sp.precision < 0:
		s = sp.signed(grouped(floatRepr(math.Abs(f)), sp.group), math.Signbit(f))
	case sp.verb == 0 && isFloat:
		sp.verb = 'g'
		s, err = sp.number(v)
	default:
		if sp.verb == 0 {
			sp.verb = 'd'
		}
		s, err = sp.number(v)
	}
	if err != nil {
		return Str{}, err
	}
	return sp.pad(in, lit(s), '>')
}

func parseSpec(t string) (spec, error) {
	sp := spec{precision: -1}
	bad := valueErr("Invalid format specifier '%s'", t)
	r, n := utf8.DecodeRuneInString(t)
	switch {
	case len(t) > n && strings.IndexByte("<>^=", t[n]) >= 0:
		sp.fill, sp.align, t = string(r), t[n], t[n+1:]
	case strings.IndexByte("<>^=", t[0]) >= 0:
		sp.align, t = t[0], t[1:]
	}
	take := func(set string) byte {
		if t != "" && strings.IndexByte(set, t[0]) >= 0 {
			c := t[0]
			t = t[1:]
			return c
		}
		return 0
	}
	if c := take("+- "); c != '-' {
		sp.sign = c
	}
	sp.alt = take("#") != 0
	if take("0") != 0 && sp.align == 0 {
		sp.fill, sp.align = "0", '='
	}
	num := func() (int, bool) {
		n := digits(t, decimal)
		v, err := strconv.Atoi("0" + t[:n])
		t = t[n:]
		return v, n > 0 && err == nil && v < 1<<30
	}
	sp.width, _ = num()
	if c := take(",_"); c != 0 {
		sp.group = string(c)
	}
	if take(".") != 0 {
		var ok bool
		if sp.precision, ok = num(); !ok {
			return sp, valueErr("Format specifier missing precision")
		}
	}
	sp.verb = take("bcdeEfFgGnosxX%")
	if t != "" {
		return sp, bad
	}
	return sp, nil
}

func fieldError(name string) error { return errf("KeyError", "%s", fmt.Sprintf("'%s'", name)) }
