package jinja

import (
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokKind uint8

const (
	tEOF tokKind = iota
	tData
	tVarBegin
	tVarEnd
	tBlockBegin
	tBlockEnd
	tName
	tString
	tInt
	tFloat
	tOp
)

type token struct {
	kind tokKind
	line int
	text string // data, name, operator, or unescaped string
	i    int64
	f    float64
}

// lexer follows jinja2.lexer.Lexer with trim_blocks and lstrip_blocks.
type lexer struct {
	src          string
	pos          int
	line         int
	lineStarting bool
	balance      []byte
	out          []token
}

func lex(source string) ([]token, error) {
	source = normalizeNewlines(strings.ToValidUTF8(source, "\uFFFD"))
	source = strings.TrimSuffix(source, "\n")
	l := &lexer{src: source, line: 1, lineStarting: true}
	for l.pos < len(l.src) {
		if err := l.root(); err != nil {
			return nil, err
		}
	}
	l.emit(token{kind: tEOF})
	return l.out, nil
}

func normalizeNewlines(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

func (l *lexer) emit(t token) {
	t.line = l.line
	l.out = append(l.out, t)
}

func (l *lexer) fail(msg string) error { return &SyntaxError{Line: l.line, Msg: msg} }

// take moves over n bytes of source and counts their lines.
func (l *lexer) take(n int) string {
	s := l.src[l.pos : l.pos+n]
	l.pos += n
	l.line += strings.Count(s, "\n")
	if n > 0 {
		l.lineStarting = s[n-1] == '\n'
	}
	return s
}

// data emits text before a tag, stripped as the tag's sign asks.
func (l *lexer) data(text string, sign byte, isVar bool) {
	full := len(text)
	if sign == '-' {
		text = strings.TrimRightFunc(text, pySpace)
	} else if sign != '+' && !isVar {
		at := strings.LastIndexByte(text, '\n') + 1
		if (at > 0 || l.lineStarting) && strings.TrimLeftFunc(text[at:], pySpace) == "" {
			text = text[:at]
		}
	}
	if text != "" {
		l.emit(token{kind: tData, text: text})
	}
	l.take(full)
}

func signAt(s string) (byte, int) {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return s[0], 1
	}
	return 0, 0
}

// nextTag finds the next "{{", "{%" or "{#".
func (l *lexer) nextTag() int {
	for i := l.pos; i+1 < len(l.src); i++ {
		j := strings.IndexByte(l.src[i:], '{')
		if j < 0 {
			return -1
		}
		i += j
		if i+1 < len(l.src) && strings.IndexByte("{%#", l.src[i+1]) >= 0 {
			return i
		}
	}
	return -1
}

func (l *lexer) root() error {
	at := l.nextTag()
	if at < 0 {
		l.emit(token{kind: tData, text: l.src[l.pos:]})
		l.take(len(l.src) - l.pos)
		return nil
	}
	kind := l.src[at+1]
	sign, n := signAt(l.src[at+2:])
	if kind == '%' {
		if m := rawTag(l.src[at+2+n:], "raw", false); m >= 0 {
			l.data(l.src[l.pos:at], sign, false)
			l.take(2 + n + m)
			return l.raw()
		}
	}
	l.data(l.src[l.pos:at], sign, kind == '{')
	switch kind {
	case '#':
		l.take(2 + n)
		return l.comment()
	case '%':
		l.emit(token{kind: tBlockBegin})
	default:
		l.emit(token{kind: tVarBegin})
	}
	l.take(2 + n)
	return l.tag(kind == '{')
}

// rawTag matches `\s*WORD\s*` and the end of a block tag; it returns the
// length matched or -1. Only the end of raw trims a newline or takes "+".
func rawTag(s, word string, end bool) int {
	t := strings.TrimLeftFunc(s, pySpace)
	if !strings.HasPrefix(t, word) {
		return -1
	}
	t = strings.TrimLeftFunc(t[len(word):], pySpace)
	switch {
	case strings.HasPrefix(t, "-%}"):
		t = strings.TrimLeftFunc(t[3:], pySpace)
	case end && strings.HasPrefix(t, "+%}"):
		t = t[3:]
	case strings.HasPrefix(t, "%}"):
		t = t[2:]
		if end {
			t = strings.TrimPrefix(t, "\n")
		}
	default:
		return -1
	}
	return len(s) - len(t)
}

func (l *lexer) raw() error {
	for at := l.pos; ; at += 2 {
		i := strings.Index(l.src[at:], "{%")
		if i < 0 {
			return l.fail("Missing end of raw directive")
		}
		at += i
		sign, n := signAt(l.src[at+2:])
		if m := rawTag(l.src[at+2+n:], "endraw", true); m >= 0 {
			l.data(l.src[l.pos:at], sign, false)
			l.take(2 + n + m)
			return nil
		}
	}
}

func (l *lexer) comment() error {
	i := strings.Index(l.src[l.pos:], "#}")
	if i < 0 {
		return l.fail("Missing end of comment tag")
	}
	end := l.pos + i + 2
	switch {
	case i > 0 && l.src[end-3] == '-':
		rest := strings.TrimLeftFunc(l.src[end:], pySpace)
		end = len(l.src) - len(rest)
	case i > 0 && l.src[end-3] == '+':
	case strings.HasPrefix(l.src[end:], "\n"):
		end++
	}
	l.take(end - l.pos)
	return nil
}

// endTag matches the end of a variable or block tag, or returns -1.
func (l *lexer) endTag(isVar bool) int {
	s := l.src[l.pos:]
	mark := "%}"
	if isVar {
		mark = "}}"
	}
	switch {
	case strings.HasPrefix(s, "-"+mark):
		return len(s) - len(strings.TrimLeftFunc(s[3:], pySpace))
	case !isVar && strings.HasPrefix(s, "+"+mark):
		return 3
	case strings.HasPrefix(s, mark):
		if !isVar && strings.HasPrefix(s[2:], "\n") {
			return 3
		}
		return 2
	}
	return -1
}

func (l *lexer) tag(isVar bool) error {
	for l.pos < len(l.src) {
		if len(l.balance) == 0 {
			if n := l.endTag(isVar); n >= 0 {
				k := tBlockEnd
				if isVar {
					k = tVarEnd
				}
				l.emit(token{kind: k})
				l.take(n)
				return nil
			}
		}
		if err := l.item(); err != nil {
			return err
		}
	}
	return nil
}

func (l *lexer) item() error {
	s := l.src[l.pos:]
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case pySpace(r):
		l.take(len(s) - len(strings.TrimLeftFunc(s, pySpace)))
		return nil
	case r >= '0' && r <= '9':
		return l.number(s)
	case nameRune(r):
		n := strings.IndexFunc(s, func(r rune) bool { return !nameRune(r) })
		if n < 0 {
			n = len(s)
		}
		if !unicode.IsLetter(r) && r != '_' {
			return l.fail("Invalid character in identifier")
		}
		l.emit(token{kind: tName, text: s[:n]})
		l.take(n)
		return nil
	case r == '"' || r == '\'':
		return l.str(s, byte(r))
	}
	for _, op := range []string{"//", "**", "==", "!=", ">=", "<="} {
		if strings.HasPrefix(s, op) {
			l.emit(token{kind: tOp, text: op})
			l.take(2)
			return nil
		}
	}
	if strings.IndexByte("+-/*%~[](){}><=.:|,;", s[0]) < 0 {
		return l.fail("unexpected char " + strconv.QuoteRune(r))
	}
	if err := l.pair(s[0]); err != nil {
		return err
	}
	l.emit(token{kind: tOp, text: s[:1]})
	l.take(size)
	return nil
}

func (l *lexer) pair(c byte) error {
	switch c {
	case '(':
		l.balance = append(l.balance, ')')
	case '[':
		l.balance = append(l.balance, ']')
	case '{':
		l.balance = append(l.balance, '}')
	case ')', ']', '}':
		n := len(l.balance)
		if n == 0 {
			return l.fail("unexpected '" + string(c) + "'")
		}
		if want := l.balance[n-1]; want != c {
			return l.fail("unexpected '" + string(c) + "', expected '" + string(want) + "'")
		}
		l.balance = l.balance[:n-1]
	}
	return nil
}

func nameRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Mc, r)
}

// digits matches `\d+(_\d+)*` made of the given digits and returns its length.
func digits(s, set string) int {
	n := 0
	for n < len(s) && (strings.IndexByte(set, s[n]) >= 0 ||
		s[n] == '_' && n > 0 && n+1 < len(s) && s[n-1] != '_' && strings.IndexByte(set, s[n+1]) >= 0) {
		n++
	}
	return n
}

const decimal = "0123456789"

func (l *lexer) number(s string) error {
	if n := floatLen(s); n > 0 && (l.pos == 0 || l.src[l.pos-1] != '.') {
		f, err := strconv.ParseFloat(strings.ReplaceAll(s[:n], "_", ""), 64)
		if err != nil && f == 0 {
			return l.fail("bad number " + s[:n])
		}
		l.emit(token{kind: tFloat, f: f})
		l.take(n)
		return nil
	}
	n := intLen(s)
	v, ok := new(big.Int).SetString(strings.ReplaceAll(s[:n], "_", ""), 0)
	if s[0] == '0' && strings.Trim(s[:n], "0_") == "" {
		v, ok = new(big.Int), true
	}
	if !ok || !v.IsInt64() {
		return l.fail("integer " + s[:n] + " does not fit 64 bits")
	}
	l.emit(token{kind: tInt, i: v.Int64()})
	l.take(n)
	return nil
}

func intLen(s string) int {
	if s[0] != '0' {
		return digits(s, decimal)
	}
	if len(s) > 2 {
		for _, b := range []struct{ mark, set string }{{"bB", "01"}, {"oO", "01234567"}, {"xX", "0123456789abcdefABCDEF"}} {
			if strings.IndexByte(b.mark, s[1]) < 0 {
				continue
			}
			under := 0
			if s[2] == '_' {
				under = 1
			}
			if n := digits(s[2+under:], b.set); n > 0 {
				return 2 + under + n
			}
		}
	}
	return digits(s, "0")
}

func floatLen(s string) int {
	n := digits(s, decimal)
	frac := 0
	if n < len(s) && s[n] == '.' {
		if d := digits(s[n+1:], decimal); d > 0 {
			frac = 1 + d
		}
	}
	m := n + frac
	if m < len(s) && (s[m] == 'e' || s[m] == 'E') {
		e := m + 1
		if e < len(s) && (s[e] == '+' || s[e] == '-') {
			e++
		}
		if d := digits(s[e:], decimal); d > 0 {
			return e + d
		}
	}
	if frac > 0 {
		return m
	}
	return 0
}

func (l *lexer) str(s string, quote byte) error {
	i := 1
	for i < len(s) && s[i] != quote {
		if s[i] == '\\' {
			i++
		}
		i++
	}
	if i >= len(s) {
		return l.fail("unexpected char " + strconv.QuoteRune(rune(quote)) + ": the string is not closed")
	}
	text, err := unescape(s[1:i])
	if err != "" {
		return l.fail(err)
	}
	l.emit(token{kind: tString, text: text})
	l.take(i + 1)
	return nil
}
