// Package testmodel gives tests the models they run on: the built-in file, mapped, and tiny random models written to
// order in the same format.
//
// It does not know about backends or the engine, and only tests import it.
package testmodel

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/gguf"
	"glassbox/engine/model"
	"glassbox/engine/tensor"
)

// Path returns where the built-in model's file lies: in the checkout that the test's own folder is part of.
func Path() string {
	const name = "engine/builtin/SmolLM2-135M-Instruct.Q4_1.gguf"
	dir, _ := os.Getwd()
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return filepath.Join(dir, name)
		}
	}
	return name
}

// File maps the built-in model's file for the length of the test.
func File(t testing.TB) *gguf.File {
	f, err := gguf.Open(Path())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

// Builtin loads the built-in model for the length of the test.
func Builtin(t testing.TB) *model.Model {
	m, err := model.Load(File(t))
	require.NoError(t, err)
	return m
}

// Spec is the shape of a tiny random model. Zero values are replaced by small ones.
type Spec struct {
	Layers, Width, Heads, KVHeads, FFN, Context int
	Type                                        tensor.Type // of the matrices; 0 is F32
	Seed                                        uint64
	Untied                                      bool // with an output matrix of its own
	Template                                    string
	Divisors                                    []float32 // of the rotary frequencies: rope_freqs.weight
	Extra                                       []gguf.KV // replace or add keys
	Drop                                        []string  // keys and tensors to leave out
}

func (s *Spec) fill() {
	set := func(v *int, def int) {
		if *v == 0 {
			*v = def
		}
	}
	set(&s.Layers, 2)
	set(&s.Width, 64)
	set(&s.Heads, 4)
	set(&s.KVHeads, 2)
	set(&s.FFN, 96)
	set(&s.Context, 256)
}

// Marks are the special tokens of a tiny vocabulary; ids 256 on. The first 256 ids are the bytes.
var Marks = []string{"<|endoftext|>", "<|im_start|>", "<|im_end|>"}

// Vocab is the size of a tiny vocabulary: the bytes, the marks, and filler up to a multiple of 32.
const Vocab = 288

// Bytes returns a tiny random model's file. The same spec gives the same bytes.
func Bytes(t testing.TB, s Spec) []byte {
	s.fill()
	var buf bytes.Buffer
	require.NoError(t, gguf.Write(&buf, s.keys(), s.tensors(t)))
	return buf.Bytes()
}

// Tiny returns a tiny random model's file, opened.
func Tiny(t testing.TB, s Spec) *gguf.File {
	f, err := gguf.Parse("tiny.gguf", Bytes(t, s))
	require.NoError(t, err)
	return f
}

func (s *Spec) keys() []gguf.KV {
	tokens, types := vocabulary()
	kvs := []gguf.KV{
		gguf.NewKV("general.architecture", "llama"), gguf.NewKV("general.name", "tiny"),
		gguf.NewKV("llama.block_count", uint32(s.Layers)), gguf.NewKV("llama.embedding_length", uint32(s.Width)),
		gguf.NewKV("llama.feed_forward_length", uint32(s.FFN)), gguf.NewKV("llama.attention.head_count", uint32(s.Heads)),
		gguf.NewKV("llama.attention.head_count_kv", uint32(s.KVHeads)), gguf.NewKV("llama.context_length", uint32(s.Context)),
		gguf.NewKV("llama.attention.layer_norm_rms_epsilon", float32(1e-5)),
		gguf.NewKV("tokenizer.ggml.model", "gpt2"), gguf.NewKV("tokenizer.ggml.pre", "gpt-2"),
		gguf.NewKV("tokenizer.ggml.tokens", tokens), gguf.NewKV("tokenizer.ggml.token_type", types),
		gguf.NewKV("tokenizer.ggml.merges", []string{}),
		gguf.NewKV("tokenizer.ggml.eos_token_id", uint32(258)),
	}
	if s.Template != "" {
		kvs = append(kvs, gguf.NewKV("tokenizer.chat_template", s.Template))
	}
	for _, kv := range s.Extra {
		s.Drop = append(s.Drop, kv.Key)
	}
	kept := kvs[:0]
	for _, kv := range kvs {
		if !s.drops(kv.Key) {
			kept = append(kept, kv)
		}
	}
	return append(kept, s.Extra...)
}

func (s *Spec) drops(name string) bool {
	for _, d := range s.Drop {
		if d == name {
			return true
		}
	}
	return false
}

// vocabulary spells the bytes as byte-level BPE does: printable Latin-1 as itself, the rest from U+0100 on (GPT-2).
func vocabulary() (tokens []string, types []int32) {
	next := rune(256)
	for b := range rune(256) {
		r := b
		if !(b >= '!' && b <= '~' || b >= 0xa1 && b <= 0xac || b >= 0xae) {
			r = next
			next++
		}
		tokens, types = append(tokens, string(r)), append(types, 1)
	}
	for _, m := range Marks {
		tokens, types = append(tokens, m), append(types, 3)
	}
	for i := len(tokens); i < Vocab; i++ {
		tokens, types = append(tokens, fmt.Sprintf("<|unused_%d|>", i)), append(types, 5)
	}
	return tokens, types
}

func (s *Spec) tensors(t testing.TB) []gguf.Tensor {
	r := rand.New(rand.NewPCG(s.Seed, 42))
	var out []gguf.Tensor
	add := func(name string, typ tensor.Type, cols, rows int, mean, spread float64) {
		vals := make([]float32, rows*cols)
		for i := range vals {
			vals[i] = float32(mean + spread*r.NormFloat64())
		}
		if s.drops(name) {
			return
		}
		data := make([]byte, rows*typ.RowBytes(cols))
		require.NoError(t, tensor.Quantize(typ, data, vals))
		dims := []int{cols, rows}
		if rows == 1 {
			dims = dims[:1]
		}
		out = append(out, gguf.Tensor{Name: name, Type: typ, Dims: dims, Data: data})
	}
	head := s.Width / s.Heads
	matrix := func(name string, cols, rows int) { add(name, s.Type, cols, rows, 0, 1/float64(cols)*8) }
	vector := func(name string) { add(name, tensor.F32, s.Width, 1, 1, 0.1) }
	add("token_embd.weight", s.Type, s.Width, Vocab, 0, 1)
	for i := range s.Layers {
		p := fmt.Sprintf("blk.%d.", i)
		vector(p + "attn_norm.weight")
		matrix(p+"attn_q.weight", s.Width, s.Width)
		matrix(p+"attn_k.weight", s.Width, s.KVHeads*head)
		matrix(p+"attn_v.weight", s.Width, s.KVHeads*head)
		matrix(p+"attn_output.weight", s.Width, s.Width)
		vector(p + "ffn_norm.weight")
		matrix(p+"ffn_gate.weight", s.Width, s.FFN)
		matrix(p+"ffn_up.weight", s.Width, s.FFN)
		matrix(p+"ffn_down.weight", s.FFN, s.Width)
	}
	vector("output_norm.weight")
	if s.Untied {
		matrix("output.weight", s.Width, Vocab)
	}
	if s.Divisors != nil {
		data := make([]byte, 4*len(s.Divisors))
		require.NoError(t, tensor.Quantize(tensor.F32, data, s.Divisors))
		out = append(out, gguf.Tensor{Name: "rope_freqs.weight", Type: tensor.F32, Dims: []int{len(s.Divisors)}, Data: data})
	}
	return out
}
