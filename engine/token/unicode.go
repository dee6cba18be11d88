package token

import (
	"unicode"
	"unicode/utf8"
)

// class is what the patterns ask of a character.
type class uint8

const (
	symbolic class = iota // none of the others: [^\s\p{L}\p{N}]
	letter                // \p{L}
	number                // \p{N}: Nd, Nl and No, so ½, ², Ⅷ and ٣ too
	space                 // \s
)

var asciiClass = func() (c [utf8.RuneSelf]class) {
	for r := range rune(utf8.RuneSelf) {
		c[r] = runeClass(r)
	}
	return c
}()

// classAt returns the class of the character at s[i:] and its length; a byte that is not UTF-8 is a symbol of length 1.
func classAt(s string, i int) (class, int) {
	if b := s[i]; b < utf8.RuneSelf {
		return asciiClass[b], 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	return runeClass(r), n
}

func runeClass(r rune) class {
	switch {
	case unicode.Is(unicode.L, r) || unicode.Is(newLetters, r):
		return letter
	case unicode.Is(unicode.N, r) || unicode.Is(newNumbers, r):
		return number
	case unicode.Is(unicode.White_Space, r):
		return space
	}
	return symbolic
}

// Go's tables are Unicode 15.0. The regular expressions of Hugging Face tokenizers 0.23 know Unicode 16.0, its Digits
// step 17.0; these are the additions (DerivedGeneralCategory.txt, Unicode 15.1, 16.0 and, for two ranges of digits, 17.0).
// A test compares every code point.
var (
	newLetters = &unicode.RangeTable{
		R16: []unicode.Range16{{0x1C89, 0x1C8A, 1}, {0xA7CB, 0xA7CD, 1}, {0xA7DA, 0xA7DC, 1}},
		R32: []unicode.Range32{
			{0x105C0, 0x105F3, 1}, {0x10D4A, 0x10D65, 1}, {0x10D6F, 0x10D85, 1}, {0x10EC2, 0x10EC4, 1},
			{0x11380, 0x11389, 1}, {0x1138B, 0x1138B, 1}, {0x1138E, 0x1138E, 1}, {0x11390, 0x113B5, 1},
			{0x113B7, 0x113B7, 1}, {0x113D1, 0x113D1, 1}, {0x113D3, 0x113D3, 1}, {0x11BC0, 0x11BE0, 1},
			{0x13460, 0x143FA, 1}, {0x16100, 0x1611D, 1}, {0x16D40, 0x16D6C, 1}, {0x18CFF, 0x18CFF, 1},
			{0x1E5D0, 0x1E5ED, 1}, {0x1E5F0, 0x1E5F0, 1}, {0x2EBF0, 0x2EE5D, 1},
		},
	}
	newNumbers = &unicode.RangeTable{
		R32: []unicode.Range32{
			{0x10D40, 0x10D49, 1}, {0x116D0, 0x116E3, 1}, {0x11BF0, 0x11BF9, 1}, {0x16130, 0x16139, 1},
			{0x16D70, 0x16D79, 1}, {0x1CCF0, 0x1CCF9, 1}, {0x1E5F1, 0x1E5FA, 1},
		},
	}
	// Digits isolates these too; the patterns do not count them as numbers.
	newDigits = &unicode.RangeTable{
		R32: []unicode.Range32{{0x11DE0, 0x11DE9, 1}, {0x16FF4, 0x16FF6, 1}},
	}
)

// isDigit is the test of Hugging Face's Digits step (Rust's char::is_numeric).
func isDigit(r rune, c class) bool { return c == number || unicode.Is(newDigits, r) }
