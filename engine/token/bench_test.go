package token

import (
	"strings"
	"testing"
)

func benchmarkEncode(b *testing.B, tok *Tokenizer, text string) {
	n := len(tok.Encode(text, Options{}))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		tok.Encode(text, Options{})
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
}

// goldenText is all golden texts in one: much stranger than what people write.
func goldenText(b *testing.B) string { return strings.Join(golden(b).Texts, "\n") }

const english = "The quick brown fox jumps over the lazy dog, and 12 engineers don't mind at all.\n"

func BenchmarkEncodeEnglish(b *testing.B) {
	benchmarkEncode(b, builtin(b), strings.Repeat(english, 100))
}

func BenchmarkEncodeGolden(b *testing.B) { benchmarkEncode(b, builtin(b), goldenText(b)) }

func BenchmarkEncodeSentencePiece(b *testing.B) {
	benchmarkEncode(b, vectorVocab(b, "llama-spm"), strings.Repeat(english, 100))
}

func BenchmarkEncodeMillionSame(b *testing.B) {
	benchmarkEncode(b, builtin(b), strings.Repeat("a", 1_000_000))
}

func BenchmarkDecode(b *testing.B) {
	tok := builtin(b)
	ids := tok.Encode(strings.Repeat(english, 100), Options{})
	for b.Loop() {
		tok.Decode(ids)
	}
	b.ReportMetric(float64(len(ids))*float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
}

func BenchmarkLoad(b *testing.B) {
	v := builtinVocab(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := New(v); err != nil {
			b.Fatal(err)
		}
	}
}
