package jinja

import (
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// fullCase holds the characters whose upper or title case is more than the one
// character that package unicode gives (Unicode SpecialCasing, as Python does
// it), such as "ß". A Caser is not safe to share, so they are listed once.
var fullCase = sync.OnceValue(func() (t struct{ upper, title map[rune]string }) {
	t.upper, t.title = map[rune]string{}, map[rune]string{}
	up, title := cases.Upper(language.Und), cases.Title(language.Und)
	for _, block := range [][2]rune{{0xDF, 0x590}, {0x1E96, 0x2000}, {0xFB00, 0xFB18}} {
		for r := block[0]; r < block[1]; r++ {
			if s := up.String(string(r)); s != string(unicode.ToUpper(r)) {
				t.upper[r] = s
			}
			if s := title.String(string(r)); s != string(unicode.ToTitle(r)) {
				t.title[r] = s
			}
		}
	}
	return t
})

func upperRune(r rune) string {
	if r >= 0xDF {
		if s, ok := fullCase().upper[r]; ok {
			return s
		}
	}
	return string(unicode.ToUpper(r))
}

func lowerRune(r rune) string {
	if r == 'İ' {
		return "i\u0307"
	}
	return string(unicode.ToLower(r))
}

func titleRune(r rune) string {
	if r >= 0xDF {
		if s, ok := fullCase().title[r]; ok {
			return s
		}
	}
	return string(unicode.ToTitle(r))
}

func cased(r rune) bool {
	return unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) || unicode.Is(unicode.Other_Lowercase, r) || unicode.Is(unicode.Other_Uppercase, r)
}

func isLower(r rune) bool { return unicode.IsLower(r) || unicode.Is(unicode.Other_Lowercase, r) }
func isUpper(r rune) bool { return unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r) }

func caseIgnorable(r rune) bool {
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) || strings.ContainsRune("'.:·’․‧﹒﹕．：", r)
}

// finalSigma says whether the capital sigma at byte i ends a word.
func finalSigma(s string, i int) bool {
	before, after := false, false
	for _, r := range s[:i] {
		if !caseIgnorable(r) {
			before = cased(r)
		}
	}
	for _, r := range s[i+len("Σ"):] {
		if !caseIgnorable(r) {
			after = cased(r)
			break
		}
	}
	return before && !after
}

func (s Str) upper() Str { return s.mapRunes(upperRune) }

// mapCase rewrites every character with its byte offset at hand.
func (s Str) mapCase(f func(i int, r rune) string) Str {
	i := 0
	return s.mapRunes(func(r rune) string {
		out := f(i, r)
		i += len(string(r))
		return out
	})
}

func (s Str) lowerAt(i int, r rune, sigma *int) string {
	if r != 'Σ' {
		return lowerRune(r)
	}
	// The context of a sigma costs a scan; a text of nothing but sigmas must
	// not cost a square, so only so many are looked at.
	if *sigma++; *sigma <= 4096 && finalSigma(s.s, i) {
		return "ς"
	}
	return "σ"
}

func (s Str) lower() Str {
	n := 0
	return s.mapCase(func(i int, r rune) string { return s.lowerAt(i, r, &n) })
}

func (s Str) capitalize() Str {
	n := 0
	return s.mapCase(func(i int, r rune) string {
		if i == 0 {
			return titleRune(r)
		}
		return s.lowerAt(i, r, &n)
	})
}

// title is Python's str.title: a cased character after one that is not starts
// a word.
func (s Str) title() Str {
	n, prev := 0, false
	return s.mapCase(func(i int, r rune) string {
		out := ""
		if prev {
			out = s.lowerAt(i, r, &n)
		} else {
			out = titleRune(r)
		}
		prev = cased(r)
		return out
	})
}

func (s Str) swapcase() Str {
	n := 0
	return s.mapCase(func(i int, r rune) string {
		switch {
		case isUpper(r):
			return s.lowerAt(i, r, &n)
		case isLower(r):
			return upperRune(r)
		}
		return string(r)
	})
}

// all says whether the text is not empty and f holds for each character.
func (s Str) all(f func(r rune) bool) bool {
	for _, r := range s.s {
		if !f(r) {
			return false
		}
	}
	return s.s != ""
}

func isDigit(r rune) bool {
	return unicode.IsDigit(r) || strings.ContainsRune("²³¹⁰⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉", r) ||
		r >= 0x2460 && r <= 0x2468 || r >= 0x2474 && r <= 0x247C || r >= 0x2488 && r <= 0x2490
}

func isNumeric(r rune) bool {
	return unicode.IsNumber(r) || strings.ContainsRune("一二三四五六七八九十百千万億兆零〇", r)
}

// isCase is Python's islower or isupper: some cased character, none of the other case.
func (s Str) isCase(want, other func(rune) bool) bool {
	some := false
	for _, r := range s.s {
		if other(r) || unicode.IsTitle(r) {
			return false
		}
		some = some || want(r)
	}
	return some
}

func (s Str) isTitle() bool {
	some, prev := false, false
	for _, r := range s.s {
		switch {
		case isUpper(r) || unicode.IsTitle(r):
			if prev {
				return false
			}
			some, prev = true, true
		case isLower(r):
			if !prev {
				return false
			}
			some, prev = true, true
		default:
			prev = false
		}
	}
	return some
}
