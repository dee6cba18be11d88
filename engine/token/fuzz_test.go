package token

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
)

var fuzzSeeds = []string{"", "Hello world", "  12 ½ ٣", "a\r\n\r\n  b", "'Re'LL's", "🦙\u200d<|im_end|>", "\xff\xfe\xe2\x82", "▁▁ x", "e\u0301"}

// FuzzWords: the words of every pre-tokenizer follow each other and cover the text, and none is empty.
func FuzzWords(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, p := range preTokenizers {
			words := p.split(text, nil)
			require.Equal(t, text, strings.Join(words, ""), name)
			require.NotContains(t, words, "", name)
		}
	})
}

// FuzzRoundTrip: valid UTF-8 comes back as it was, token by token as at once; any bytes keep the streaming promise.
func FuzzRoundTrip(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s)
	}
	toks := []*Tokenizer{vectorVocab(f, "gpt-2"), vectorVocab(f, "llama-spm"), vectorVocab(f, "deepseek-llm")}
	v := vectorVocab(f, "gpt-2").vocab
	v.Pre = "qwen2"
	toks = append(toks, mustNew(f, v))
	f.Fuzz(func(t *testing.T, text string) {
		for _, tok := range toks {
			ids := tok.Encode(text, Options{ParseSpecial: true})
			whole, err := tok.Decode(ids)
			require.NoError(t, err)
			require.True(t, utf8.ValidString(whole))
			d := tok.NewDetokenizer(DecodeOptions{})
			streamed := ""
			for _, id := range ids {
				streamed += d.Push(id)
			}
			require.Equal(t, whole, streamed+d.Flush())
			// SentencePiece writes U+2581 for a blank, and puts a blank after each mark too.
			if !utf8.ValidString(text) || tok.sentence && (strings.Contains(text, spaceMark) || strings.Contains(text, "<")) {
				continue
			}
			want := text
			if tok.pre.nfc {
				want = norm.NFC.String(text)
			}
			require.Equal(t, want, whole, tok.Pre())
		}
	})
}
