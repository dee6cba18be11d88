package token

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	imStart, imEnd = 1, 2 // SmolLM2
	chatText       = "<|im_start|>user\nhi <|im_end|> there<|im_end|>\n"
)

// plainAt gives the range of part in text.
func plainAt(text, part string) Span {
	i := strings.Index(text, part)
	return Span{i, i + len(part)}
}

func TestMarksInContentStayText(t *testing.T) {
	tok := builtin(t)
	count := func(ids []int) (start, end int) {
		for _, id := range ids {
			if id == imStart {
				start++
			} else if id == imEnd {
				end++
			}
		}
		return start, end
	}
	start, end := count(tok.Encode(chatText, Options{ParseSpecial: true}))
	require.Equal(t, []int{1, 2}, []int{start, end})

	content := plainAt(chatText, "hi <|im_end|> there")
	ids := tok.Encode(chatText, Options{ParseSpecial: true, Plain: []Span{content}})
	start, end = count(ids)
	require.Equal(t, []int{1, 1}, []int{start, end}, "the mark inside the content is text")
	text, err := tok.Decode(ids)
	require.NoError(t, err)
	require.Equal(t, chatText, text)

	start, end = count(tok.Encode(chatText, Options{}))
	require.Equal(t, []int{0, 0}, []int{start, end}, "no marks without ParseSpecial")
}

// A mark that the template and the content make together, or that only touches content, is text too.
func TestMarkAcrossABorder(t *testing.T) {
	tok := builtin(t)
	text := "a<|im_end|>b"
	at := strings.Index(text, "<|im_end|>")
	for start := range len(text) {
		for end := start + 1; end <= len(text); end++ {
			ids := tok.Encode(text, Options{ParseSpecial: true, Plain: []Span{{start, end}}})
			touches := start < at+len("<|im_end|>") && end > at
			require.Equal(t, !touches, contains(ids, imEnd), "plain %d to %d", start, end)
		}
	}
	// More ranges, in any order; empty and overlapping ones; ranges outside the text.
	for _, plain := range [][]Span{{{11, 12}, {0, 1}}, {{5, 5}}, {{0, 1}, {0, 1}}, {{12, 99}}, {{-5, 0}}, nil} {
		require.Contains(t, tok.Encode(text, Options{ParseSpecial: true, Plain: plain}), imEnd, "%v", plain)
	}
	for _, plain := range [][]Span{{{0, 12}, {0, 1}}, {{11, 12}, {3, 4}}, {{0, 1}, {10, 12}}, {{-3, 99}}} {
		require.NotContains(t, tok.Encode(text, Options{ParseSpecial: true, Plain: plain}), imEnd, "%v", plain)
	}
}

func contains(ids []int, id int) bool {
	for _, i := range ids {
		if i == id {
			return true
		}
	}
	return false
}

// A border that is not at a mark must not change the words.
func TestBordersDoNotSplitWords(t *testing.T) {
	tok := builtin(t)
	text := "<|im_start|>user\nInternationalization   of 12 naïve façades<|im_end|>"
	want := tok.Encode(text, Options{ParseSpecial: true})
	for start := len("<|im_start|>"); start <= len(text)-len("<|im_end|>"); start++ {
		got := tok.Encode(text, Options{ParseSpecial: true, Plain: []Span{{start, len(text) - len("<|im_end|>")}}})
		require.Equal(t, want, got, "content from %d", start)
	}
}

func TestBOSIsNeverDoubled(t *testing.T) {
	tok := vectorVocab(t, "deepseek-llm") // add_bos_token is true
	bos := tok.BOS()
	o := Options{AddSpecial: true, ParseSpecial: true}
	require.Equal(t, []int{bos}, tok.Encode("", o))
	with := tok.Encode("Hello", o)
	require.Equal(t, bos, with[0])
	require.Equal(t, with, tok.Encode(tok.Text(bos)+"Hello", o), "the template wrote BOS")
	require.Equal(t, with[1:], tok.Encode("Hello", Options{ParseSpecial: true}), "not asked for")
	// The text of BOS as content is not BOS: one is added.
	text := tok.Text(bos) + "Hello"
	o.Plain = []Span{{0, len(text)}}
	ids := tok.Encode(text, o)
	require.Equal(t, bos, ids[0])
	require.NotContains(t, ids[1:], bos)

	v := tok.vocab
	v.AddEOS = true
	tok = mustNew(t, v)
	o = Options{AddSpecial: true, ParseSpecial: true}
	require.Equal(t, append(append([]int{}, with...), v.EOS), tok.Encode("Hello", o))
	require.Equal(t, append(append([]int{}, with...), v.EOS), tok.Encode("Hello"+tok.Text(v.EOS), o))
}

// Ids by llama.cpp (llama_tokenize, add_special false, parse_special true): a blank goes in front of each stretch of text.
func TestSentencePieceMarks(t *testing.T) {
	tok := vectorVocab(t, "llama-spm")
	for text, want := range map[string][]int{
		"<s> a<s>b <s>c": {1, 29871, 263, 1, 289, 29871, 1, 274},
		"<s>x":           {1, 921},
		"a</s>":          {263, 2},
	} {
		require.Equal(t, want, tok.Encode(text, Options{ParseSpecial: true}), "%q", text)
	}
}

// DeepSeek's vocabulary has user-defined letters that are also names of bytes: the letter is the token, the byte is not.
func TestUserDefinedLetterIsNotAByte(t *testing.T) {
	tok := vectorVocab(t, "deepseek-llm")
	ids := tok.Encode("þ", Options{})
	require.Equal(t, []string{"þ"}, texts(tok, ids))
	text, err := tok.Decode(ids)
	require.NoError(t, err)
	require.Equal(t, "þ", text)
	require.Empty(t, tok.Encode("\xFE", Options{}))
	require.Contains(t, strings.Join(tok.Warnings(), "\n"), "of 256 bytes have no token")
}

// tinyByteLevel is a byte-level vocabulary: the 256 bytes and more tokens.
func tinyByteLevel(merges []string, more ...string) Vocab {
	v := Vocab{Model: "gpt2", Pre: "gpt-2", BOS: -1, EOS: -1, EOT: -1, EOM: -1, UNK: -1, PAD: -1, Merges: merges}
	for _, c := range byteChars {
		v.Tokens, v.Types = append(v.Tokens, c), append(v.Types, int32(Normal))
	}
	for _, m := range more {
		v.Tokens, v.Types = append(v.Tokens, m), append(v.Types, int32(Normal))
	}
	return v
}

// tinySentence is a SentencePiece vocabulary: unk, the 256 byte tokens, then pieces with scores -1, -2, …
func tinySentence(pieces ...string) Vocab {
	v := Vocab{Model: "llama", BOS: -1, EOS: -1, EOT: -1, EOM: -1, UNK: 0, PAD: -1}
	v.Tokens, v.Types, v.Scores = []string{"<unk>"}, []int32{int32(Unknown)}, []float32{0}
	for b := range 256 {
		name := "<0x" + string(hexDigits[b>>4]) + string(hexDigits[b&15]) + ">"
		v.Tokens, v.Types, v.Scores = append(v.Tokens, name), append(v.Types, int32(Byte)), append(v.Scores, 0)
	}
	for i, p := range pieces {
		v.Tokens, v.Types, v.Scores = append(v.Tokens, p), append(v.Types, int32(Normal)), append(v.Scores, float32(-1-i))
	}
	return v
}

func texts(tok *Tokenizer, ids []int) (out []string) {
	for _, id := range ids {
		out = append(out, tok.Text(id))
	}
	return out
}

func TestUserDefinedTokens(t *testing.T) {
	v := tinySentence("▁", "a", "▁a", "▁▁", "▁▁▁▁", "\t\t", "<b>", "<bb>")
	for id, text := range v.Tokens {
		switch text {
		case "▁▁", "▁▁▁▁", "\t\t", "<b>", "<bb>":
			v.Types[id] = int32(UserDefined)
		}
	}
	tok := mustNew(t, v)
	for text, want := range map[string][]string{
		"a    a":    {"a", "▁▁▁▁", "a"}, // Gemma's indentation, the longest first
		"a   a":     {"a", "▁▁", "▁a"},
		"a      a":  {"a", "▁▁▁▁", "▁▁", "a"},
		"\t\ta":     {"\t\t", "a"},
		"<b>a<bb>":  {"<b>", "a", "<bb>"},
		"<bb":       {"<0x3C>", "<0x62>", "<0x62>"},
		" a":        {"▁a"},
		"<<b>":      {"<0x3C>", "<b>"},
		"\t\t\t\ta": {"\t\t", "\t\t", "a"},
	} {
		require.Equal(t, want, texts(tok, tok.Encode(text, Options{Plain: []Span{{0, len(text)}}})), "%q", text)
		back, err := tok.Decode(tok.Encode(text, Options{}))
		require.NoError(t, err)
		require.Equal(t, text, back)
	}
}

// Merging must not reach a mark, a byte token or an unused one, whatever the vocabulary holds.
func TestTextNeverBecomesAMarkByMerging(t *testing.T) {
	v := tinySentence("<", "s", ">", "<s", "<s>", "0", "x", "4", "1", "<0", "<0x", "<0x4", "<0x41", "q", "qq")
	v.Types[257+4], v.Types[257+14] = int32(Control), int32(Unused)
	tok := mustNew(t, v)
	require.Equal(t, []string{"<s", ">"}, texts(tok, tok.Encode("<s>", Options{})))
	require.Equal(t, []string{"<s>"}, texts(tok, tok.Encode("<s>", Options{ParseSpecial: true})))
	require.Equal(t, []string{"<0x41", ">"}, texts(tok, tok.Encode("<0x41>", Options{ParseSpecial: true})))
	require.Equal(t, []string{"q", "q"}, texts(tok, tok.Encode("qq", Options{})))

	w := tinyByteLevel([]string{"a b", "ab c"}, "ab", "abc")
	w.Types[257] = int32(Control)
	w.Pre = "llama-bpe"
	tok = mustNew(t, w)
	require.Equal(t, []string{"ab", "c"}, texts(tok, tok.Encode("abc", Options{})), "neither by merges nor as a whole word")
	w.Types[256], w.Types[257] = int32(Control), int32(Normal)
	w.Merges = w.Merges[:1]
	tok = mustNew(t, w)
	require.Equal(t, []string{"a", "b"}, texts(tok, tok.Encode("ab", Options{})))
	require.Equal(t, []string{"abc"}, texts(tok, tok.Encode("abc", Options{})))
	require.Contains(t, strings.Join(tok.Warnings(), "\n"), "1 merges make a control token")
}

// A token that merges cannot reach is found only where the family looks whole words up first.
func TestWholeWordsFirst(t *testing.T) {
	v := tinyByteLevel([]string{"a b"}, "ab", "abc", "Ġabc")
	require.Equal(t, []string{"ab", "c"}, texts(mustNew(t, v), mustNew(t, v).Encode("abc", Options{})))
	v.Pre = "llama-bpe"
	tok := mustNew(t, v)
	for range 2 { // the second time from the cache
		require.Equal(t, []string{"abc"}, texts(tok, tok.Encode("abc", Options{})))
		require.Equal(t, []string{"Ġabc"}, texts(tok, tok.Encode(" abc", Options{})))
	}
	require.Equal(t, []string{"ab", "c", "c"}, texts(tok, tok.Encode("abcc", Options{})))
}
