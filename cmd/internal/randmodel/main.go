// Command randmodel writes model files of real shapes with random weights, to measure speed with: what they say is noise.
//
//	go run ./cmd/internal/randmodel --shape tinyllama-1.1b --type q8_0 -o FILE.gguf
//
// The words and their ids are those of the built-in model. Weights repeat after some tens of MB, which no cache holds, so
// that a file is written as fast as the disk takes it. The same arguments give the same bytes.
//
// It does not know about the engine: the file is ordinary GGUF, which others read too.
package main

import (
	"bufio"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strings"

	"glassbox/engine/gguf"
	"glassbox/engine/tensor"
)

// shape is what decides a model's speed.
type shape struct{ layers, width, heads, kvHeads, ffn int }

// shapes are those of TinyLlama 1.1B and of Llama 3.2 1B, but for the vocabulary.
var shapes = map[string]shape{"tinyllama-1.1b": {22, 2048, 32, 4, 5632}, "llama3.2-1b": {16, 2048, 32, 8, 8192}}

// types are the matrices' types; the head of the 4-bit ones has 6 bits, as other writers have it.
var types = map[string][2]tensor.Type{"q8_0": {tensor.Q8_0, tensor.Q8_0}, "q4_0": {tensor.Q4_0, tensor.Q6_K}, "q4_1": {tensor.Q4_1, tensor.Q8_0},
	"q4_k": {tensor.Q4_K, tensor.Q6_K}}

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

func run(args []string, stderr io.Writer) int {
	f := flag.NewFlagSet("randmodel", flag.ContinueOnError)
	f.SetOutput(stderr)
	name := f.String("shape", "tinyllama-1.1b", "tinyllama-1.1b or llama3.2-1b")
	kind := f.String("type", "q8_0", "q8_0, q4_0, q4_1 or q4_k")
	vocabulary := f.String("words", "engine/builtin/SmolLM2-135M-Instruct.Q4_1.gguf", "the `file` whose vocabulary is taken")
	out := f.String("o", "", "the `file` to write")
	if f.Parse(args) != nil {
		return 2
	}
	s, ok := shapes[*name]
	t, known := types[strings.ToLower(*kind)]
	if !ok || !known || *out == "" || f.NArg() > 0 {
		fmt.Fprintln(stderr, "randmodel: wanted --shape tinyllama-1.1b or llama3.2-1b, --type q8_0, q4_0, q4_1 or q4_k, and -o FILE")
		return 2
	}
	if err := write(*out, *vocabulary, *name, s, t); err != nil {
		fmt.Fprintln(stderr, "randmodel:", err)
		return 1
	}
	return 0
}

// write writes the file under another name first, so that one cut short is never taken for whole.
func write(path, vocabulary, name string, s shape, t [2]tensor.Type) error {
	v, err := gguf.Open(vocabulary)
	if err != nil {
		return err
	}
	defer v.Close()
	words, err := v.Strings("tokenizer.ggml.tokens")
	if err != nil {
		return err
	}
	f, err := os.Create(path + ".part")
	if err != nil {
		return err
	}
	defer os.Remove(path + ".part")
	w := bufio.NewWriterSize(f, 1<<20)
	if err = gguf.Write(w, keys(v, name, s, len(words)), tensors(s, t, len(words))); err == nil {
		err = w.Flush()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}

func keys(v *gguf.File, name string, s shape, words int) []gguf.KV {
	k := []gguf.KV{gguf.NewKV("general.architecture", "llama"), gguf.NewKV("general.name", name+" (random weights)"),
		gguf.NewKV("llama.block_count", uint32(s.layers)), gguf.NewKV("llama.context_length", uint32(8192)),
		gguf.NewKV("llama.embedding_length", uint32(s.width)), gguf.NewKV("llama.feed_forward_length", uint32(s.ffn)),
		gguf.NewKV("llama.attention.head_count", uint32(s.heads)), gguf.NewKV("llama.attention.head_count_kv", uint32(s.kvHeads)),
		gguf.NewKV("llama.attention.layer_norm_rms_epsilon", float32(1e-5)), gguf.NewKV("llama.rope.dimension_count", uint32(s.width/s.heads)),
		gguf.NewKV("llama.rope.freq_base", float32(10000)), gguf.NewKV("llama.vocab_size", uint32(words))}
	for _, kv := range v.Keys() {
		if strings.HasPrefix(kv.Key, "tokenizer.") {
			k = append(k, kv)
		}
	}
	return k
}

func tensors(s shape, t [2]tensor.Type, words int) []gguf.Tensor {
	kv := s.width / s.heads * s.kvHeads
	pools := map[tensor.Type][]byte{}
	var list []gguf.Tensor
	add := func(name string, ty tensor.Type, cols, rows int) {
		n := rows * ty.RowBytes(cols)
		if len(pools[ty]) < n { // the largest matrix comes first
			pools[ty] = random(ty, n)
		}
		list = append(list, gguf.Tensor{Name: name, Type: ty, Dims: []int{cols, rows}, Data: pools[ty][:n]})
	}
	ones := make([]byte, 4*s.width)
	for i := range s.width {
		binary.LittleEndian.PutUint32(ones[4*i:], math.Float32bits(1))
	}
	norm := func(name string) {
		list = append(list, gguf.Tensor{Name: name, Type: tensor.F32, Dims: []int{s.width}, Data: ones})
	}
	add("token_embd.weight", t[0], s.width, words)
	for i := range s.layers {
		block := fmt.Sprintf("blk.%d.", i)
		norm(block + "attn_norm.weight")
		add(block+"attn_q.weight", t[0], s.width, s.width)
		add(block+"attn_k.weight", t[0], s.width, kv)
		add(block+"attn_v.weight", t[0], s.width, kv)
		add(block+"attn_output.weight", t[0], s.width, s.width)
		norm(block + "ffn_norm.weight")
		add(block+"ffn_gate.weight", t[0], s.width, s.ffn)
		add(block+"ffn_up.weight", t[0], s.width, s.ffn)
		add(block+"ffn_down.weight", t[0], s.ffn, s.width)
	}
	norm("output_norm.weight")
	add("output.weight", t[1], s.width, words)
	return list
}

// scales are the offsets of a block's float16 numbers, and how large they are: weights are about 0.02.
var scales = map[tensor.Type][][2]float64{tensor.Q8_0: {{0, 0.0003}}, tensor.Q4_0: {{0, 0.004}}, tensor.Q4_1: {{0, 0.004}, {2, -0.03}},
	tensor.Q4_K: {{0, 0.0001}, {2, 0.0008}}, tensor.Q6_K: {{208, 0.00001}}}

func random(t tensor.Type, n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(t)})
	_, _ = r.Read(b)
	for o := 0; o < n; o += t.BlockBytes() {
		for _, s := range scales[t] {
			h := tensor.F32ToF16(float32(s[1]))
			binary.LittleEndian.PutUint16(b[o+int(s[0]):], h)
		}
	}
	return b
}
