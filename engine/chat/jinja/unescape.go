package jinja

import (
	"strconv"
	"strings"
	"unicode/utf16"
)

var simpleEscapes = map[byte]string{
	'\n': "", '\\': "\\", '\'': "'", '"': "\"", 'a': "\a", 'b': "\b",
	'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v",
}

// unescape reads the inside of a string literal like Python's unicode-escape
// codec; unknown escapes stay as they are. The second result is an error text.
func unescape(s string) (string, string) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, ""
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			i++
			continue
		}
		c := s[i+1]
		if rep, ok := simpleEscapes[c]; ok {
			b.WriteString(rep)
			i += 2
			continue
		}
		if c >= '0' && c <= '7' {
			n := digits(s[i+1:min(i+4, len(s))], "01234567")
			v, _ := strconv.ParseUint(s[i+1:i+1+n], 8, 32)
			b.WriteRune(rune(v))
			i += 1 + n
			continue
		}
		width := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		if c == 'N' {
			return "", "named characters (\\N) are not supported"
		}
		if width == 0 {
			b.WriteByte('\\')
			i++
			continue
		}
		r, ok := hexRune(s, i, width)
		if !ok {
			return "", "truncated \\" + string(c) + " escape"
		}
		i += 2 + width
		if utf16.IsSurrogate(r) && i+1 < len(s) && s[i] == '\\' && s[i+1] == 'u' {
			if lo, ok := hexRune(s, i, 4); ok {
				if both := utf16.DecodeRune(r, lo); both != '\uFFFD' {
					r = both
					i += 6
				}
			}
		}
		b.WriteRune(r)
	}
	return b.String(), ""
}

func hexRune(s string, at, width int) (rune, bool) {
	if at+2+width > len(s) {
		return 0, false
	}
	v, err := strconv.ParseUint(s[at+2:at+2+width], 16, 32)
	return rune(v), err == nil && v <= 0x10FFFF
}
