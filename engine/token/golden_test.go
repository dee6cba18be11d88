package token

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"glassbox/engine/gguf"
)

// builtinModel is SmolLM2-135M-Instruct, the model of the binary.
const builtinModel = "../builtin/SmolLM2-135M-Instruct.Q4_1.gguf"

// goldenFile is testdata/golden.json.gz, made by testdata/make.py.
type goldenFile struct {
	Texts   []string            `json:"texts"`
	IDs     map[string][][]int  `json:"ids"`
	Decoded []string            `json:"decoded"` // of ids "smollm2+special"
	Words   map[string][][]int  `json:"words"`   // lengths in bytes, by pre-tokenizer
	Classes map[string][][2]int `json:"classes"` // ranges of code points
	Random  map[string][]struct {
		IDs  []int  `json:"ids"`
		Text string `json:"text"`
	} `json:"random"` // any ids at all, mostly parts of characters
}

func readGzip(t testing.TB, name string, into any) {
	f, err := os.Open(filepath.Join("testdata", name))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	require.NoError(t, json.NewDecoder(z).Decode(into))
}

var (
	goldenOnce sync.Once
	goldenData goldenFile
)

func golden(t testing.TB) *goldenFile {
	goldenOnce.Do(func() { readGzip(t, "golden.json.gz", &goldenData) })
	require.Greater(t, len(goldenData.Texts), 2000)
	return &goldenData
}

func builtinVocab(t testing.TB) Vocab {
	f, err := gguf.Open(builtinModel)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	tok, err := FromGGUF(f)
	require.NoError(t, err)
	return tok.vocab
}

func builtin(t testing.TB) *Tokenizer { return mustNew(t, builtinVocab(t)) }

func mustNew(t testing.TB, v Vocab) *Tokenizer {
	tok, err := New(v)
	require.NoError(t, err)
	return tok
}

func vectorVocab(t testing.TB, name string) *Tokenizer {
	var v Vocab
	readGzip(t, "vocab-"+name+".json.gz", &v)
	return mustNew(t, v)
}

var vectorNames = []string{"gpt-2", "starcoder", "deepseek-llm", "llama-spm"}

// requireIDs reports every text whose ids are not the golden ones, the first few in full.
func requireIDs(t *testing.T, tok *Tokenizer, name string, o Options) {
	g := golden(t)
	require.Len(t, g.IDs[name], len(g.Texts))
	wrong := 0
	for i, text := range g.Texts {
		got := tok.Encode(text, o)
		if want := g.IDs[name][i]; len(got)+len(want) > 0 && !equal(got, want) {
			if wrong++; wrong <= 5 {
				t.Errorf("%s: text %d %+q:\n got %v\nwant %v", name, i, text, got, want)
			}
		}
	}
	require.Zero(t, wrong, "%s: texts of %d with other ids", name, len(g.Texts))
}

func equal(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// The built-in vocabulary against Hugging Face tokenizers, marks as text and as tokens; and with the same vocabulary the
// steps that only qwen2 and llama-bpe have (NFC; whole words first).
func TestBuiltinMatchesHuggingFace(t *testing.T) {
	v := builtinVocab(t)
	tok := mustNew(t, v)
	requireIDs(t, tok, "smollm2", Options{})
	requireIDs(t, tok, "smollm2+special", Options{ParseSpecial: true})
	v.Pre = "llama-bpe"
	requireIDs(t, mustNew(t, v), "smollm2 as llama-bpe", Options{})
	v.Pre = "qwen2"
	requireIDs(t, mustNew(t, v), "smollm2 as qwen2", Options{})
}

// Other vocabularies against Hugging Face tokenizers and sentencepiece.
func TestVocabulariesMatchTheirMakers(t *testing.T) {
	for _, name := range vectorNames {
		t.Run(name, func(t *testing.T) { requireIDs(t, vectorVocab(t, name), name, Options{}) })
	}
}

// llama.cpp's own cases for the same vocabularies.
func TestVectorsOfLlamaCpp(t *testing.T) {
	var vectors map[string][]struct {
		Text string
		IDs  []int
	}
	readGzip(t, "vectors.json.gz", &vectors)
	require.Len(t, vectors, len(vectorNames))
	for _, name := range vectorNames {
		tok := vectorVocab(t, name)
		require.Greater(t, len(vectors[name]), 40)
		for _, c := range vectors[name] {
			require.Equal(t, append([]int{}, c.IDs...), tok.Encode(c.Text, Options{}), "%s: %q", name, c.Text)
		}
	}
}

func TestDecodeMatchesHuggingFace(t *testing.T) {
	g, tok := golden(t), builtin(t)
	for i, ids := range g.IDs["smollm2+special"] {
		got, err := tok.Decode(ids)
		require.NoError(t, err)
		require.Equal(t, g.Decoded[i], got, "text %d", i)
	}
}

// Ids in any order, so that characters break off everywhere, against the decoders of Hugging Face and sentencepiece.
func TestDecodeRandomIDs(t *testing.T) {
	g := golden(t)
	for name, tok := range map[string]*Tokenizer{"smollm2": builtin(t), "llama-spm": vectorVocab(t, "llama-spm")} {
		require.Greater(t, len(g.Random[name]), 300)
		broken := 0
		for _, c := range g.Random[name] {
			got, err := tok.Decode(c.IDs)
			require.NoError(t, err)
			require.Equal(t, c.Text, got, "%s: %v", name, c.IDs)
			broken += strings.Count(got, "\uFFFD")
		}
		require.Greater(t, broken, 500, name)
	}
}

// The scanners against the words of Hugging Face's Split, Digits and ByteLevel.
func TestWordsMatchHuggingFace(t *testing.T) {
	g := golden(t)
	require.Len(t, g.Words, 6)
	for name, all := range g.Words {
		split := preTokenizers[name].split
		wrong := 0
		for i, text := range g.Texts {
			var lengths []int
			for _, w := range split(text, nil) {
				lengths = append(lengths, len(w))
			}
			if !equal(lengths, all[i]) {
				if wrong++; wrong <= 5 {
					t.Errorf("%s: %+q: words of %v bytes, want %v", name, text, lengths, all[i])
				}
			}
		}
		require.Zero(t, wrong, name)
	}
}

// Every code point against the classes that the regular expressions and Digits use.
func TestUnicodeClasses(t *testing.T) {
	g := golden(t)
	for name, is := range map[string]func(r rune) bool{
		`\p{L}`:  func(r rune) bool { return runeClass(r) == letter },
		`\p{N}`:  func(r rune) bool { return runeClass(r) == number },
		`\s`:     func(r rune) bool { return runeClass(r) == space },
		"Digits": func(r rune) bool { return isDigit(r, runeClass(r)) },
	} {
		in := make([]bool, unicode.MaxRune+1)
		require.NotEmpty(t, g.Classes[name])
		for _, r := range g.Classes[name] {
			for c := r[0]; c <= r[1]; c++ {
				in[c] = true
			}
		}
		for c := range in {
			if (c < 0xD800 || c > 0xDFFF) && in[c] != is(rune(c)) {
				require.Fail(t, "other class", "%s: U+%04X: got %v", name, c, !in[c])
			}
		}
	}
}

// The golden list must have texts that NFC changes, or the qwen2 test shows less than it says.
func TestGoldenTextsNeedNFC(t *testing.T) {
	n := 0
	for _, text := range golden(t).Texts {
		if !norm.NFC.IsNormalString(text) {
			n++
		}
	}
	require.Greater(t, n, 20)
}
