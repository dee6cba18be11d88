package token

import (
	"math"

	"glassbox/engine/gguf"
)

// FromGGUF reads the vocabulary of a model file (keys tokenizer.ggml.*, GGUF specification). Where the file does not say,
// the values are llama.cpp's: SentencePiece adds BOS and a space in front, byte-level vocabularies do so by their
// pre-tokenizer.
func FromGGUF(f *gguf.File) (*Tokenizer, error) {
	r := reader{f: f}
	v := Vocab{
		Model:  read(&r, f.StringOr, "model", ""),
		Pre:    read(&r, f.StringOr, "pre", ""),
		Merges: read(&r, f.StringsOr, "merges", nil),
		BOS:    r.id("bos"), EOS: r.id("eos"), EOT: r.id("eot"), EOM: r.id("eom"), UNK: r.id("unknown"), PAD: r.id("padding"),
	}
	if r.err == nil {
		v.Tokens, r.err = f.Strings(prefix + "tokens")
	}
	for _, kind := range read(&r, f.IntsOr, "token_type", nil) {
		// A value that int32 cannot hold is no type; New refuses it and names it.
		v.Types = append(v.Types, int32(min(max(kind, math.MinInt32), math.MaxInt32)))
	}
	for _, s := range read(&r, f.FloatsOr, "scores", nil) {
		v.Scores = append(v.Scores, float32(s))
	}
	sentence := v.Model == "llama"
	v.AddBOS = read(&r, f.BoolOr, "add_bos_token", v.BOS >= 0 && (sentence || preTokenizers[v.Pre].addBOS))
	v.AddEOS = read(&r, f.BoolOr, "add_eos_token", false)
	v.AddSpacePrefix = read(&r, f.BoolOr, "add_space_prefix", sentence)
	if r.err != nil {
		return nil, r.err
	}
	return New(v)
}

const prefix = "tokenizer.ggml."

// reader keeps the first error.
type reader struct {
	f   *gguf.File
	err error
}

func read[T any](r *reader, get func(key string, def T) (T, error), key string, def T) T {
	if r.err != nil {
		return def
	}
	v, err := get(prefix+key, def)
	r.err = err
	return v
}

// id reads the key of a special token, -1 if the file does not have it. Some converters write -1 as 2^32-1.
func (r *reader) id(name string) int {
	n := read(r, r.f.IntOr, name+"_token_id", -1)
	if n == math.MaxUint32 {
		return -1
	}
	return int(min(max(n, math.MinInt32), math.MaxInt32))
}
