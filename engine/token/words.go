package token

// preTokenizer is how plain text is cut into words before merging.
type preTokenizer struct {
	// split appends the words of s to out: they follow each other and cover s.
	split func(s string, out []string) []string
	// wholeFirst looks a word up as a whole before merging it (ignore_merges).
	wholeFirst bool
	// nfc puts text into Unicode's composed normal form first, as the model's own tokenizer does.
	nfc bool
	// addBOS is whether BOS is added where the file does not say.
	addBOS bool
}

var (
	preGPT2      = preTokenizer{split: splitGPT2}
	preDigits    = preTokenizer{split: splitDigits}
	preLlama3    = preTokenizer{split: func(s string, out []string) []string { return splitLlama3(s, 3, out) }}
	preLlamaBPE  = preTokenizer{split: preLlama3.split, wholeFirst: true, addBOS: true}
	preQwen2     = preTokenizer{split: func(s string, out []string) []string { return splitLlama3(s, 1, out) }, nfc: true}
	preStableLM2 = preTokenizer{split: preQwen2.split}
	preDeepSeek  = preTokenizer{split: splitDeepSeek}
)

// preTokenizers by the name in tokenizer.ggml.pre. Names that llama.cpp reads with the same pattern share a row.
var preTokenizers = map[string]preTokenizer{
	"gpt-2": preGPT2, "phi-2": preGPT2, "mpt": preGPT2, "olmo": preGPT2, "jais": preGPT2, "trillion": preGPT2,
	"granite-docling": preGPT2, "exaone4": preGPT2, "gigachat": preGPT2, "a.x-4.0": preGPT2, "mellum": preGPT2,
	"jina-es": preGPT2, "jina-de": preGPT2, "jina-v2-es": preGPT2, "jina-v2-de": preGPT2, "modern-bert": preGPT2,

	"smollm": preDigits, "starcoder": preDigits, "refact": preDigits, "command-r": preDigits, "codeshell": preDigits,
	"exaone": preDigits, "minerva-7b": preDigits, "mellum2": preDigits,

	"llama-bpe": preLlamaBPE, "llama3": preLlamaBPE, "llama-v3": preLlamaBPE, "falcon3": preLlamaBPE,
	"falcon-h1": preLlamaBPE, "pixtral": preLlamaBPE, "midm-2.0": preLlamaBPE, "lfm2": preLlamaBPE,
	"dbrx": preLlama3, "smaug-bpe": preLlama3, "glm4": preLlama3, "chatglm-bpe": preLlama3,

	"qwen2": preQwen2, "deepseek-r1-qwen": preQwen2, "megrez": preQwen2, "kormo": preQwen2,
	"stablelm2": preStableLM2, "hunyuan": preStableLM2, "solar-open": preStableLM2,

	"deepseek-llm": preDeepSeek,
}

// choosePre returns the pre-tokenizer of that name; for one that is not known it warns and takes gpt-2's.
func (t *Tokenizer) choosePre(name string) preTokenizer {
	if p, ok := preTokenizers[name]; ok {
		return p
	}
	if name == "" {
		t.warn("tokenizer.ggml.pre: missing; words are cut as for gpt-2, the ids may differ from the model's own")
	} else {
		t.warn("tokenizer.ggml.pre: %q is not known; words are cut as for gpt-2, the ids may differ from the model's own", name)
	}
	return preGPT2
}

// splitGPT2 is the pattern of GPT-2's encoder.py:
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func splitGPT2(s string, out []string) []string {
	for i := 0; i < len(s); {
		n := wordGPT2(s, i)
		out = append(out, s[i:i+n])
		i += n
	}
	return out
}

// wordGPT2 returns the length of the word at s[i:].
func wordGPT2(s string, i int) int {
	if n := contraction(s[i:], false); n > 0 {
		return n
	}
	c, n := classAt(s, i)
	if c != space {
		return runOf(s, i, c) - i
	}
	if s[i] == ' ' && i+n < len(s) {
		if c, _ := classAt(s, i+n); c != space {
			return runOf(s, i+n, c) - i
		}
	}
	return spaces(s, i)
}

// splitDigits is Hugging Face's Sequence of Digits(individual_digits) and the GPT-2 pattern, used by SmolLM and
// StarCoder. Each number character is a word; the pattern sees the text between two of them alone, so blanks before a
// digit stay together.
func splitDigits(s string, out []string) []string {
	start := 0
	for i, r := range s {
		if r < 0x80 && (r < '0' || r > '9') {
			continue
		}
		c, n := classAt(s, i)
		if !isDigit(r, c) {
			continue
		}
		out = splitGPT2(s[start:i], out)
		out = append(out, s[i:i+n])
		start = i + n
	}
	return splitGPT2(s[start:], out)
}

// splitLlama3 is the pattern of Llama 3 (maxDigits 3) and Qwen2 (maxDigits 1):
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func splitLlama3(s string, maxDigits int, out []string) []string {
	for i := 0; i < len(s); {
		n := wordLlama3(s, i, maxDigits)
		out = append(out, s[i:i+n])
		i += n
	}
	return out
}

func wordLlama3(s string, i, maxDigits int) int {
	if n := contraction(s[i:], true); n > 0 {
		return n
	}
	c, n := classAt(s, i)
	next := symbolic
	if i+n < len(s) {
		next, _ = classAt(s, i+n)
	}
	switch {
	case c == letter:
		return runOf(s, i, letter) - i
	case c != number && next == letter && i+n < len(s) && s[i] != '\r' && s[i] != '\n':
		return runOf(s, i+n, letter) - i
	case c == number:
		j := i
		for range maxDigits {
			if j == len(s) {
				break
			}
			c, n := classAt(s, j)
			if c != number {
				break
			}
			j += n
		}
		return j - i
	case c == symbolic:
		return newlines(s, runOf(s, i, symbolic)) - i
	case s[i] == ' ' && next == symbolic && i+n < len(s):
		return newlines(s, runOf(s, i+n, symbolic)) - i
	}
	end := runOf(s, i, space)
	for j := end; j > i; j-- {
		if s[j-1] == '\r' || s[j-1] == '\n' {
			return j - i
		}
	}
	return spaces(s, i)
}

// runOf returns the end of the run of class c that begins at s[i:].
func runOf(s string, i int, c class) int {
	for i < len(s) {
		k, n := classAt(s, i)
		if k != c {
			break
		}
		i += n
	}
	return i
}

func newlines(s string, i int) int {
	for i < len(s) && (s[i] == '\r' || s[i] == '\n') {
		i++
	}
	return i
}

// spaces is \s+(?!\S)|\s+ : a run of blanks leaves its last one to what follows, unless it is the only one or nothing
// follows.
func spaces(s string, i int) int {
	end, last := i, i
	for end < len(s) {
		c, n := classAt(s, end)
		if c != space {
			break
		}
		last = end
		end += n
	}
	if end == len(s) || last == i {
		return end - i
	}
	return last - i
}

// contraction returns the length of 's, 't, 're, 've, 'm, 'll or 'd at the start of s, 0 if there is none. Folding
// compares without case; the long s (U+017F) then counts as an s.
func contraction(s string, fold bool) int {
	if len(s) < 2 || s[0] != '\'' {
		return 0
	}
	if fold && len(s) >= 3 && s[1:3] == "\u017F" {
		return 3
	}
	low := func(b byte) byte {
		if fold && b >= 'A' && b <= 'Z' {
			b += 'a' - 'A'
		}
		return b
	}
	switch a := low(s[1]); a {
	case 's', 't', 'm', 'd':
		return 2
	case 'r', 'v', 'l':
		if len(s) > 2 && (a == 'l' && low(s[2]) == 'l' || a != 'l' && low(s[2]) == 'e') {
			return 3
		}
	}
	return 0
}
