package jinja

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// Span is the byte range [Start, End) of a text.
type Span struct{ Start, End int }

// Str is an immutable string value of valid UTF-8. user lists the bytes that
// came from the user, sorted and with gaps between. safe marks what Jinja
// calls Markup: text that escapes what is joined to it.
type Str struct {
	s    string
	user []Span
	safe bool
}

// String makes a string value; user says whether all of it is the user's.
// Invalid UTF-8 becomes U+FFFD.
func String(s string, user bool) Str {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if !user || s == "" {
		return Str{s: s}
	}
	return Str{s: s, user: []Span{{0, len(s)}}}
}

func lit(s string) Str { return Str{s: s} }

// cut is s[from:to] in bytes.
func (s Str) cut(from, to int) Str {
	out := Str{s: s.s[from:to], safe: s.safe}
	i := s.spanAfter(from)
	for ; i < len(s.user) && s.user[i].Start < to; i++ {
		u := s.user[i]
		out.user = append(out.user, Span{max(u.Start, from) - from, min(u.End, to) - from})
	}
	return out
}

// spanAfter is the index of the first span that ends after byte at.
func (s Str) spanAfter(at int) int {
	return sort.Search(len(s.user), func(i int) bool { return s.user[i].End > at })
}

// isUser says whether byte at came from the user.
func (s Str) isUser(at int) bool {
	i := s.spanAfter(at)
	return i < len(s.user) && s.user[i].Start <= at
}

func (s Str) runes() int { return utf8.RuneCountInString(s.s) }

func (s Str) ascii() bool {
	for i := 0; i < len(s.s); i++ {
		if s.s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// strBuf builds a Str piece by piece, keeping what is the user's.
type strBuf struct {
	buf  []byte
	user []Span
}

func (b *strBuf) mark(from, to int) {
	if from == to {
		return
	}
	if n := len(b.user); n > 0 && b.user[n-1].End == from {
		b.user[n-1].End = to
		return
	}
	b.user = append(b.user, Span{from, to})
}

func (b *strBuf) add(s Str) {
	at := len(b.buf)
	b.buf = append(b.buf, s.s...)
	for _, u := range s.user {
		b.mark(at+u.Start, at+u.End)
	}
}

func (b *strBuf) lit(s string) { b.buf = append(b.buf, s...) }

// put adds text that is wholly the user's or wholly not.
func (b *strBuf) put(s string, user bool) {
	at := len(b.buf)
	b.buf = append(b.buf, s...)
	if user {
		b.mark(at, len(b.buf))
	}
}

func (b *strBuf) str() Str { return Str{s: string(b.buf), user: b.user} }

func concatStr(parts ...Str) Str {
	var b strBuf
	for _, p := range parts {
		b.add(p)
	}
	return b.str()
}

// mapRunes rewrites every character; what replaces a user's character is the
// user's too.
func (s Str) mapRunes(f func(r rune) string) Str {
	var b strBuf
	for i, r := range s.s {
		b.put(f(r), s.isUser(i))
	}
	out := b.str()
	out.safe = s.safe
	return out
}

// times is s n times over.
func (s Str) times(n int) Str {
	var b strBuf
	for ; n > 0; n-- {
		b.add(s)
	}
	return b.str()
}

// byteAt is the byte offset of character i, which may be the length.
func (s Str) byteAt(i int) int {
	if s.ascii() {
		return i
	}
	at := 0
	for ; i > 0; i-- {
		_, n := utf8.DecodeRuneInString(s.s[at:])
		at += n
	}
	return at
}

// runeOffsets lists the byte offset of every character, and the length.
func (s Str) runeOffsets() []int {
	out := make([]int, 0, len(s.s)+1)
	for i := range s.s {
		out = append(out, i)
	}
	return append(out, len(s.s))
}

// pySpace is Python's str.isspace for one character.
func pySpace(r rune) bool {
	switch {
	case r >= 9 && r <= 13, r >= 0x1c && r <= 0x20, r == 0x85, r == 0xa0, r == 0x1680,
		r >= 0x2000 && r <= 0x200a, r == 0x2028, r == 0x2029, r == 0x202f, r == 0x205f, r == 0x3000:
		return true
	}
	return false
}

var htmlEscapes = map[rune]string{'&': "&amp;", '<': "&lt;", '>': "&gt;", '"': "&#34;", '\'': "&#39;"}

// escape is markupsafe's escape.
func (s Str) escape() Str {
	if s.safe {
		return s
	}
	out := s
	if strings.ContainsAny(s.s, "&<>\"'") {
		out = s.mapRunes(func(r rune) string {
			if e, ok := htmlEscapes[r]; ok {
				return e
			}
			return string(r)
		})
	}
	out.safe = true
	return out
}
