package token

import "unicode"

// splitDeepSeek is the Sequence of Splits in the tokenizer.json of deepseek-llm, each applied to every piece the one
// before left, matches and rests alike:
//
//	[\r\n]   \s?[LETTERS]+   \s?[!-/:-~！-／：-～‘-‟　-。]+   \s+$   [一-龥ࠀ-一가-퟿]+   Digits(individual)
//
// Note that :-~ holds A-Z and a-z, so the third cuts a word at each accented letter.
func splitDeepSeek(s string, out []string) []string {
	for i := 0; i < len(s); {
		if s[i] == '\r' || s[i] == '\n' {
			out = append(out, s[i:i+1])
			i++
			continue
		}
		j := i
		for j < len(s) && s[j] != '\r' && s[j] != '\n' {
			j++
		}
		out = deepSeekStage(s[i:j], 0, out)
		i = j
	}
	return out
}

// finder returns the bounds of the first match in s at or after from; start == len(s) for none.
type finder func(s string, from int) (start, end int)

var deepSeekStages = []finder{
	func(s string, from int) (int, int) { return blankAndRun(s, from, deepSeekLetters) },
	func(s string, from int) (int, int) { return blankAndRun(s, from, deepSeekSymbols) },
	trailingBlanks,
	func(s string, from int) (int, int) { return firstRun(s, from, deepSeekCJK) },
	firstDigit,
}

// deepSeekStage cuts one piece by the stage and what results by the stages after it.
func deepSeekStage(s string, stage int, out []string) []string {
	if stage == len(deepSeekStages) {
		return append(out, s)
	}
	for i := 0; i < len(s); {
		start, end := deepSeekStages[stage](s, i)
		if i < start {
			out = deepSeekStage(s[i:start], stage+1, out)
		}
		if start < len(s) {
			out = deepSeekStage(s[start:end], stage+1, out)
		}
		i = max(end, start)
	}
	return out
}

// firstRun finds [in]+.
func firstRun(s string, from int, in *unicode.RangeTable) (int, int) {
	start := len(s)
	for i, r := range s[from:] {
		if unicode.Is(in, r) {
			start = from + i
			break
		}
	}
	for i, r := range s[start:] {
		if !unicode.Is(in, r) {
			return start, start + i
		}
	}
	return start, len(s)
}

// blankAndRun finds \s?[in]+.
func blankAndRun(s string, from int, in *unicode.RangeTable) (int, int) {
	start, end := firstRun(s, from, in)
	if start == len(s) {
		return start, end
	}
	before, blank := from, false // the character before the run
	for i, r := range s[from:start] {
		before, blank = from+i, unicode.Is(unicode.White_Space, r)
	}
	if blank {
		return before, end
	}
	return start, end
}

// trailingBlanks finds \s+$.
func trailingBlanks(s string, from int) (int, int) {
	start := len(s)
	for i, r := range s[from:] {
		if !unicode.Is(unicode.White_Space, r) {
			start = len(s)
		} else if start == len(s) {
			start = from + i
		}
	}
	return start, len(s)
}

// firstDigit finds one number character.
func firstDigit(s string, from int) (int, int) {
	for i, r := range s[from:] {
		if c, n := classAt(s, from+i); isDigit(r, c) {
			return from + i, from + i + n
		}
	}
	return len(s), len(s)
}

var (
	deepSeekLetters = &unicode.RangeTable{
		R16: []unicode.Range16{
			{0x0041, 0x005A, 1}, {0x0061, 0x007A, 1}, {0x00B5, 0x00B5, 1}, {0x00C0, 0x00D6, 1}, {0x00D8, 0x00F6, 1},
			{0x00F8, 0x01BA, 1}, {0x01BC, 0x01BF, 1}, {0x01C4, 0x0293, 1}, {0x0295, 0x02AF, 1}, {0x0370, 0x0373, 1},
			{0x0376, 0x0376, 1}, {0x0377, 0x0377, 1}, {0x037B, 0x037D, 1}, {0x037F, 0x037F, 1}, {0x0386, 0x0386, 1},
			{0x0388, 0x038A, 1}, {0x038C, 0x038C, 1}, {0x038E, 0x03A1, 1}, {0x03A3, 0x03F5, 1}, {0x03F7, 0x0481, 1},
			{0x048A, 0x052F, 1}, {0x0531, 0x0556, 1}, {0x10A0, 0x10C5, 1}, {0x13A0, 0x13F5, 1}, {0x13F8, 0x13FD, 1},
			{0x1C90, 0x1CBA, 1}, {0x1CBD, 0x1CBF, 1}, {0x1D00, 0x1D2B, 1}, {0x1D6B, 0x1D77, 1}, {0x1D79, 0x1D9A, 1},
			{0x1E00, 0x1F15, 1}, {0x1F18, 0x1F1D, 1}, {0x1F20, 0x1F45, 1}, {0x1F48, 0x1F4D, 1}, {0x1F50, 0x1F57, 1},
			{0x1F59, 0x1F59, 1}, {0x1F5B, 0x1F5B, 1}, {0x1F5D, 0x1F5D, 1}, {0x1F5F, 0x1F7D, 1}, {0x1F80, 0x1FB4, 1},
			{0x1FB6, 0x1FBC, 1}, {0x1FBE, 0x1FBE, 1}, {0x1FC2, 0x1FC4, 1}, {0x1FC6, 0x1FCC, 1}, {0x1FD0, 0x1FD3, 1},
			{0x1FD6, 0x1FDB, 1}, {0x1FE0, 0x1FEC, 1}, {0x1FF2, 0x1FF4, 1}, {0x1FF6, 0x1FFC, 1}, {0x2102, 0x2102, 1},
			{0x2107, 0x2107, 1}, {0x210A, 0x2113, 1}, {0x2115, 0x2115, 1}, {0x2119, 0x211D, 1}, {0x2124, 0x2124, 1},
			{0x2126, 0x2126, 1}, {0x2128, 0x2128, 1}, {0x212A, 0x212D, 1}, {0x212F, 0x2134, 1}, {0x2139, 0x2139, 1},
			{0x213C, 0x213F, 1}, {0x2145, 0x2149, 1}, {0x214E, 0x214E, 1}, {0x2183, 0x2183, 1}, {0x2184, 0x2184, 1},
			{0x2C00, 0x2C7B, 1}, {0x2C7E, 0x2CE4, 1}, {0x2CEB, 0x2CEE, 1}, {0x2CF2, 0x2CF2, 1}, {0x2CF3, 0x2CF3, 1},
			{0xA640, 0xA66D, 1}, {0xA680, 0xA69B, 1}, {0xA722, 0xA76F, 1}, {0xA771, 0xA787, 1}, {0xA78B, 0xA78E, 1},
			{0xAB70, 0xABBF, 1}, {0xFB00, 0xFB06, 1}, {0xFB13, 0xFB17, 1}, {0xFF21, 0xFF3A, 1}, {0xFF41, 0xFF5A, 1},
		},
		R32: []unicode.Range32{
			{0x10400, 0x1044F, 1}, {0x104B0, 0x104D3, 1}, {0x104D8, 0x104FB, 1}, {0x10C80, 0x10CB2, 1},
			{0x10CC0, 0x10CF2, 1}, {0x118A0, 0x118DF, 1}, {0x1E900, 0x1E943, 1},
		},
		LatinOffset: 5,
	}
	deepSeekSymbols = &unicode.RangeTable{
		R16: []unicode.Range16{
			{0x0021, 0x002F, 1}, {0x003A, 0x007E, 1}, {0x2018, 0x201F, 1}, {0x3000, 0x3002, 1}, {0xFF01, 0xFF0F, 1},
			{0xFF1A, 0xFF5E, 1},
		},
		LatinOffset: 2,
	}
	deepSeekCJK = &unicode.RangeTable{
		R16: []unicode.Range16{{0x0800, 0x9FA5, 1}, {0xAC00, 0xD7FF, 1}},
	}
)
