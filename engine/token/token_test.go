package token

import (
	"bytes"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"glassbox/engine/gguf"
	"glassbox/trace"
)

func TestVocabularyErrors(t *testing.T) {
	for _, c := range []struct {
		say    string
		change func(v *Vocab)
		want   string
	}{
		{"bert", func(v *Vocab) { v.Model = "bert" }, `tokenizer.ggml.model: "bert" is not supported; wanted gpt2`},
		{"t5", func(v *Vocab) { v.Model = "t5" }, `tokenizer.ggml.model: "t5" is not supported`},
		{"no model", func(v *Vocab) { v.Model = "" }, "tokenizer.ggml.model: missing"},
		{"no tokens", func(v *Vocab) { v.Tokens, v.Types = nil, nil }, "tokenizer.ggml.tokens: no tokens"},
		{"doubles", func(v *Vocab) { v.Tokens[9] = v.Tokens[5] }, "tokenizer.ggml.tokens[9]:"},
		{"too few types", func(v *Vocab) { v.Types = v.Types[:7] }, "tokenizer.ggml.token_type: 7 entries; wanted one for each of 257"},
		{"odd type", func(v *Vocab) { v.Types[3] = 7 }, "tokenizer.ggml.token_type[3]: 7; wanted 0 to 6"},
		{"negative type", func(v *Vocab) { v.Types[3] = -1 }, "tokenizer.ggml.token_type[3]: -1"},
		{"BOS", func(v *Vocab) { v.BOS = 257 }, "tokenizer.ggml.bos_token_id: 257; wanted 0 to 256"},
		{"EOS", func(v *Vocab) { v.EOS = -2 }, "tokenizer.ggml.eos_token_id: -2"},
		{"UNK", func(v *Vocab) { v.UNK = math.MaxInt32 }, "tokenizer.ggml.unknown_token_id"},
		{"PAD", func(v *Vocab) { v.PAD = 300 }, "tokenizer.ggml.padding_token_id"},
		{"BOS wanted", func(v *Vocab) { v.AddBOS = true }, "tokenizer.ggml.add_bos_token: true, but tokenizer.ggml.bos_token_id is missing"},
		{"merge of one", func(v *Vocab) { v.Merges = []string{"a b", "ab"} }, `tokenizer.ggml.merges[1]: "ab"; wanted two pieces`},
		{"merge of three", func(v *Vocab) { v.Merges[0] = "a b c" }, `tokenizer.ggml.merges[0]: "a b c"`},
		{"merge without right", func(v *Vocab) { v.Merges[0] = "a " }, `tokenizer.ggml.merges[0]: "a "`},
		{"merge into nothing", func(v *Vocab) { v.Merges[0] = "a c" }, `tokenizer.ggml.merges[0]: "a c"; wanted both pieces and "ac" among the tokens`},
		{"no bytes", func(v *Vocab) { v.Tokens, v.Types, v.Merges = []string{"xyz"}, nil, nil }, "none of the 256 byte characters"},
		{"no scores", func(v *Vocab) { *v = tinySentence("a"); v.Scores = v.Scores[1:] }, "tokenizer.ggml.scores: 257 entries; wanted one for each of 258"},
		{"NaN score", func(v *Vocab) { *v = tinySentence("a"); v.Scores[4] = float32(math.NaN()) }, "tokenizer.ggml.scores[4]: not a number"},
		{"no byte tokens", func(v *Vocab) { *v = tinySentence("a"); v.UNK = -1; v.Tokens[7] = "q" }, "1 of 256 byte tokens"},
		{"odd byte token", func(v *Vocab) { *v = tinySentence("<0xG1>"); v.Types[257] = int32(Byte) }, `tokenizer.ggml.tokens[257]: "<0xG1>" has type byte`},
	} {
		v := tinyByteLevel([]string{"a b"}, "ab")
		c.change(&v)
		_, err := New(v)
		require.ErrorContains(t, err, c.want, c.say)
		require.NotContains(t, err.Error(), "\n")
	}
}

// file writes a GGUF of these keys and opens it.
func file(t *testing.T, kvs ...gguf.KV) *gguf.File {
	var b bytes.Buffer
	require.NoError(t, gguf.Write(&b, kvs, nil))
	f, err := gguf.Parse("test.gguf", b.Bytes())
	require.NoError(t, err)
	return f
}

func TestFromGGUF(t *testing.T) {
	v := tinySentence("▁a")
	kvs := []gguf.KV{
		gguf.NewKV("tokenizer.ggml.model", "llama"), gguf.NewKV("tokenizer.ggml.tokens", v.Tokens),
		gguf.NewKV("tokenizer.ggml.token_type", v.Types), gguf.NewKV("tokenizer.ggml.scores", v.Scores),
		gguf.NewKV("tokenizer.ggml.bos_token_id", uint32(0)), gguf.NewKV("tokenizer.ggml.eos_token_id", uint32(math.MaxUint32)),
		gguf.NewKV("tokenizer.ggml.unknown_token_id", uint32(0)),
	}
	tok, err := FromGGUF(file(t, kvs...))
	require.NoError(t, err)
	require.Equal(t, []int{0, 257}, tok.Encode("a", Options{AddSpecial: true}), "SentencePiece adds BOS and a space where the file is silent")
	require.Equal(t, []int{0, -1, 0}, []int{tok.BOS(), tok.EOS(), tok.UNK()})

	tok, err = FromGGUF(file(t, append(kvs, gguf.NewKV("tokenizer.ggml.add_bos_token", false), gguf.NewKV("tokenizer.ggml.add_space_prefix", false))...))
	require.NoError(t, err)
	require.Equal(t, []int{1 + 'a'}, tok.Encode("a", Options{AddSpecial: true}))

	_, err = FromGGUF(file(t, kvs[0]))
	require.ErrorContains(t, err, "tokenizer.ggml.tokens")
	_, err = FromGGUF(file(t, gguf.NewKV("tokenizer.ggml.model", "t5"), kvs[1]))
	require.ErrorContains(t, err, `"t5" is not supported`)
	_, err = FromGGUF(file(t, append(kvs[:1:1], gguf.NewKV("tokenizer.ggml.tokens", []int32{1}))...))
	require.ErrorContains(t, err, "tokenizer.ggml.tokens")

	w := tinyByteLevel(nil, "<s>")
	tok, err = FromGGUF(file(t, gguf.NewKV("tokenizer.ggml.model", "gpt2"), gguf.NewKV("tokenizer.ggml.pre", "llama-bpe"),
		gguf.NewKV("tokenizer.ggml.tokens", w.Tokens), gguf.NewKV("tokenizer.ggml.bos_token_id", uint32(256))))
	require.NoError(t, err)
	require.Equal(t, []int{256, 'a'}, tok.Encode("a", Options{AddSpecial: true}), "llama-bpe adds BOS where the file is silent")
	require.True(t, tok.IsSpecial(256), "BOS is a mark though the file types nothing")
}

func TestWarnings(t *testing.T) {
	v := tinyByteLevel(nil)
	require.Empty(t, mustNew(t, v).Warnings())
	v.Pre = "from-next-year"
	require.Contains(t, strings.Join(mustNew(t, v).Warnings(), "\n"), `tokenizer.ggml.pre: "from-next-year" is not known`)
	v.Pre = ""
	require.Contains(t, strings.Join(mustNew(t, v).Warnings(), "\n"), "tokenizer.ggml.pre: missing")
	require.Equal(t, []string{"tokenizer.ggml.tokens: 21 of 256 bytes have no token; they are left out of the ids"}, builtin(t).Warnings())
}

func TestIDsOutsideTheVocabulary(t *testing.T) {
	tok := builtin(t)
	d := tok.NewDetokenizer(DecodeOptions{})
	for _, id := range []int{-1, tok.Size(), math.MaxInt, math.MinInt, math.MaxInt32 + 1} {
		require.False(t, tok.Valid(id))
		require.Error(t, tok.Check(id))
		require.Empty(t, tok.Text(id))
		require.Nil(t, tok.Piece(id))
		require.Zero(t, tok.Type(id))
		require.False(t, tok.IsSpecial(id))
		require.False(t, tok.IsEOG(id))
		require.Empty(t, d.Push(id))
		_, err := tok.Decode([]int{5, id})
		require.ErrorContains(t, err, "token 1 of 2: token id")
	}
	require.NoError(t, tok.Check(tok.Size()-1))
}

func TestEndOfGeneration(t *testing.T) {
	tok := builtin(t)
	var eog []string
	for id := range tok.Size() {
		if tok.IsEOG(id) {
			eog = append(eog, tok.Text(id))
		}
	}
	require.Equal(t, []string{"<|endoftext|>", "<|im_end|>"}, eog)
	spm := vectorVocab(t, "llama-spm")
	require.True(t, spm.IsEOG(spm.EOS()))
	require.False(t, spm.IsEOG(spm.BOS()))
	// A plain word is never an end, whatever it says; a user-defined one is, and becomes a mark.
	v := tinyByteLevel(nil, "[EOT]", "<|im_end|>", "<end_of_turn>")
	v.Types[258] = int32(UserDefined)
	tok = mustNew(t, v)
	require.Equal(t, []bool{false, true, true}, []bool{tok.IsEOG(256), tok.IsEOG(257), tok.IsEOG(258)})
	require.Equal(t, []bool{false, true, true}, []bool{tok.IsSpecial(256), tok.IsSpecial(257), tok.IsSpecial(258)})
	require.NotContains(t, tok.Encode("<end_of_turn>", Options{}), 258)
	require.Equal(t, []int{258}, tok.Encode("<end_of_turn>", Options{ParseSpecial: true}))
}

func TestDecodeSentencePieceBlank(t *testing.T) {
	tok := vectorVocab(t, "llama-spm")
	ids := tok.Encode("Hello world", Options{})
	for o, want := range map[DecodeOptions]string{{}: "Hello world", {Continue: true}: " Hello world"} {
		got, err := tok.DecodeWith(ids, o)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	got, err := tok.DecodeWith(append([]int{tok.BOS()}, ids...), DecodeOptions{SkipSpecial: true})
	require.NoError(t, err)
	require.Equal(t, "Hello world", got)
}

func TestDetokenizerHoldsBack(t *testing.T) {
	tok := vectorVocab(t, "gpt-2")
	text := "a🚀é"
	d := tok.NewDetokenizer(DecodeOptions{})
	var got []string
	for _, b := range []byte(text) {
		got = append(got, d.Push(int(tok.bytes[b])))
		require.LessOrEqual(t, d.Held(), 3)
	}
	require.Equal(t, []string{"a", "", "", "", "🚀", "", "é"}, got)
	require.Empty(t, d.Flush())
	// The answer stops inside a character.
	require.Equal(t, "", d.Push(int(tok.bytes[0xF0]))+d.Push(int(tok.bytes[0x9F])))
	require.Equal(t, 2, d.Held())
	require.Equal(t, "\uFFFD", d.Flush())
	require.Empty(t, d.Flush())
}

// Long runs without a place to cut: at most three candidates a character, so the heap keeps the merge at n log n.
func TestMillionCharacters(t *testing.T) {
	toks := map[string]*Tokenizer{"smollm2": builtin(t), "llama-spm": vectorVocab(t, "llama-spm"), "deepseek-llm": vectorVocab(t, "deepseek-llm")}
	for name, tok := range toks {
		for _, unit := range []string{"a", " ", "=", "哈", "ab", "\n", "\u00a0x"} {
			n := 100_000
			if unit == "a" {
				n = 1_000_000
			}
			text := strings.Repeat(unit, n/len(unit))
			g := new(merger)
			tok.scratch.New = func() any { return g }
			tok.scratch.Get() // may hold one from before
			ids := tok.Encode(text, Options{ParseSpecial: true})
			require.LessOrEqual(t, g.tried, 3*(n+3), "%s %q", name, unit)
			got, err := tok.Decode(ids)
			require.NoError(t, err)
			require.True(t, got == text, "%s %q: other text back", name, unit)
		}
	}
}

func TestManyGoroutines(t *testing.T) {
	tok, g := builtin(t), golden(t)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := w; i < len(g.Texts); i += 2 {
				if !equal(tok.Encode(g.Texts[i], Options{}), g.IDs["smollm2"][i]) {
					t.Errorf("text %d: other ids beside other goroutines", i)
				}
			}
		})
	}
	wg.Wait()
}

func TestCacheIsBounded(t *testing.T) {
	tok := builtin(t)
	r := rand.New(rand.NewPCG(1, 2))
	for range 3 * cacheWords {
		var word [6]byte
		for i := range word {
			word[i] = 'a' + byte(r.IntN(26))
		}
		tok.Encode(string(word[:]), Options{})
	}
	require.LessOrEqual(t, len(tok.cache.words), cacheWords)
	tok.Encode(strings.Repeat("x", cacheBytes+1), Options{})
	for word := range tok.cache.words {
		require.LessOrEqual(t, len(word), cacheBytes)
	}
}

// Text that is not UTF-8 keeps its bytes.
func TestBrokenUTF8KeepsItsBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	toks := []*Tokenizer{vectorVocab(t, "gpt-2"), vectorVocab(t, "llama-spm")}
	for range 2000 {
		b := make([]byte, r.IntN(24))
		for i := range b {
			b[i] = byte(r.IntN(256))
			if r.IntN(2) == 0 {
				b[i] = "a1 \n\xE2\x82\xF0\x9F"[r.IntN(8)]
			}
		}
		for _, tok := range toks {
			var back []byte
			for _, id := range tok.Encode(string(b), Options{}) {
				back = append(back, tok.Piece(id)...)
			}
			if tok.sentence && len(b) > 0 {
				require.Equal(t, " ", string(back[:1]))
				back = back[1:]
			}
			require.Equal(t, string(b), string(back), "%s", tok.Pre())
		}
	}
}

// The four passes leave four spans, each from inside its method; without a writer nothing is recorded.
func TestTraceOfThePasses(t *testing.T) {
	tok := builtin(t)
	rec := trace.NewRecorder("x", trace.Now(), trace.CaptureSpec{})
	ids := tok.Encode(chatText, Options{ParseSpecial: true, Trace: rec.Writer(trace.LaneHTTP)})
	require.Equal(t, tok.Encode(chatText, Options{ParseSpecial: true}), ids)
	var b trace.Batch
	rec.Drain(&b)
	require.Len(t, b.Spans, 4)
	for i, want := range []struct {
		step   trace.StepID
		symbol string
		out    string
	}{
		{trace.StepSplitMarks, "splitMarks", "3 marks, 3 stretches of text"},
		{trace.StepPresplit, "presplit", "9 words and marks"},
		{trace.StepMerge, "merge", "9 pieces"},
		{trace.StepLookup, "lookUp", "9 ids: 1 4093 198 6004 216 2 665 2 198"},
	} {
		s := b.Spans[i]
		require.Equal(t, want.step, s.Step)
		frame, _ := runtime.CallersFrames([]uintptr{s.PC}).Next()
		require.True(t, strings.HasSuffix(frame.Function, "(*Tokenizer)."+want.symbol), frame.Function)
		attrs := map[string]any{}
		for _, a := range s.Attrs {
			attrs[a.Key] = a.Value
		}
		require.Equal(t, want.out, attrs["out"])
		require.NotEmpty(t, attrs["in"])
	}
}

func TestAccessors(t *testing.T) {
	tok := builtin(t)
	require.Equal(t, 49152, tok.Size())
	require.Equal(t, []any{"gpt2", "smollm", 1, 2, 0, false}, []any{tok.Model(), tok.Pre(), tok.BOS(), tok.EOS(), tok.UNK(), tok.AddBOS()})
	id, ok := tok.ID("Ġworld")
	require.True(t, ok)
	require.Equal(t, " world", string(tok.Piece(id)))
	require.Equal(t, "Ġworld", tok.Text(id))
	require.Equal(t, Normal, tok.Type(id))
	require.Equal(t, "<|im_end|>", string(tok.Piece(imEnd)))
	require.True(t, tok.IsSpecial(imEnd))
	_, ok = tok.ID("no such token")
	require.False(t, ok)
	for id := range tok.Size() {
		if tok.Type(id) == Normal && utf8.Valid(tok.Piece(id)) {
			require.NotEmpty(t, tok.Piece(id))
		}
	}
}
