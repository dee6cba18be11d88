package gguf

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"os"
	"path/filepath"
	"testing"

	"glassbox/engine/tensor"

	"github.com/stretchr/testify/require"
)

const builtin = "../builtin/SmolLM2-135M-Instruct.Q4_1.gguf"

// The facts of the model inside the binary, as the gguf package 0.19.0 for Python
// reads them.
func TestBuiltinModel(t *testing.T) {
	f, err := Open(builtin)
	require.NoError(t, err)
	defer f.Close()
	require.EqualValues(t, 3, f.Version)
	require.EqualValues(t, 98362432, f.Size)
	require.Equal(t, "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53", f.SHA256())
	require.Len(t, f.Keys(), 33)
	require.Equal(t, "general.architecture", f.Keys()[0].Key)
	require.Equal(t, "general.quantization_version", f.Keys()[32].Key)

	for key, want := range map[string]uint64{"llama.block_count": 30, "llama.embedding_length": 576,
		"llama.feed_forward_length": 1536, "llama.attention.head_count": 9, "llama.attention.head_count_kv": 3,
		"llama.vocab_size": 49152, "tokenizer.ggml.eos_token_id": 2} {
		got, err := f.Uint(key)
		require.NoError(t, err)
		require.Equal(t, want, got, key)
	}
	base, err := f.Float("llama.rope.freq_base")
	require.NoError(t, err)
	require.Equal(t, 100000.0, base)
	tokens, err := f.Strings("tokenizer.ggml.tokens")
	require.NoError(t, err)
	require.Len(t, tokens, 49152)
	require.Equal(t, []string{"<|endoftext|>", "<|im_start|>", "<|im_end|>"}, tokens[:3])
	types, err := f.Ints("tokenizer.ggml.token_type")
	require.NoError(t, err)
	require.Len(t, types, 49152)
	require.Equal(t, []int64{3, 1}, types[16:18])

	require.Len(t, f.Tensors(), 272)
	count := map[tensor.Type]int{}
	for _, ts := range f.Tensors() {
		count[ts.Type]++
		require.Len(t, ts.Data, ts.Type.RowBytes(ts.Cols())*ts.Rows())
	}
	require.Equal(t, map[tensor.Type]int{tensor.Q4_1: 210, tensor.F32: 61, tensor.Q8_0: 1}, count)
	down, ok := f.Tensor("blk.0.ffn_down.weight")
	require.True(t, ok)
	require.Equal(t, []int{1536, 576}, down.Dims)
	require.Equal(t, []int{1536, 576}, []int{down.Cols(), down.Rows()})
	require.EqualValues(t, 31868992, down.Offset)
	last, _ := f.Tensor("output_norm.weight")
	require.EqualValues(t, 98360128, last.Offset)
	require.Equal(t, []int{576}, last.Dims)
}

// everything has one key of each type, in an order that is not alphabetical.
func everything() []KV {
	return []KV{
		NewKV("general.architecture", "llama"), NewKV("b", true), NewKV("b0", false),
		NewKV("u8", uint8(200)), NewKV("i8", int8(-3)), NewKV("u16", uint16(60000)), NewKV("i16", int16(-300)),
		NewKV("u32", uint32(1<<31)), NewKV("i32", int32(-7)), NewKV("u64", uint64(1)<<63), NewKV("i64", int64(math.MinInt64)),
		NewKV("f32", float32(0.1)), NewKV("f64", 0.1), NewKV("empty", ""), NewKV("utf8", "Ġ\xff"),
		NewKV("au8", []uint8{1, 2}), NewKV("ai8", []int8{-1, 2}), NewKV("au16", []uint16{9}), NewKV("ai16", []int16{-9}),
		NewKV("au32", []uint32{9, 1 << 31}), NewKV("ai32", []int32{-9, 1}), NewKV("au64", []uint64{1, 1 << 63}), NewKV("ai64", []int64{-1}),
		NewKV("af32", []float32{0.5, -2}), NewKV("af64", []float64{0.1}), NewKV("ab", []bool{true, false, true}),
		NewKV("as", []string{"", "a", "bc"}), NewKV("none", []string{}), NewKV("aai", [][]int32{{1, 2}, {}, {3}}), NewKV("aas", [][]string{{"x"}, {"", "y"}}),
	}
}

func weights(n int, seed byte) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)*7 + seed
	}
	return b
}

func someTensors() []Tensor {
	return []Tensor{
		{Name: "tok", Type: tensor.Q8_0, Dims: []int{64, 3}, Data: weights(3*68, 1)},
		{Name: "norm", Type: tensor.F32, Dims: []int{5}, Data: weights(20, 2)},
		{Name: "cube", Type: tensor.F16, Dims: []int{3, 2, 2, 2}, Data: weights(48, 3)},
		{Name: "iq", Type: tensor.IQ4_NL, Dims: []int{32}, Data: weights(18, 4)},
	}
}

func written(t testing.TB, kvs []KV, tensors []Tensor) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Write(&b, kvs, tensors))
	return b.Bytes()
}

func requireSame(t *testing.T, f *File, kvs []KV, tensors []Tensor) {
	t.Helper()
	require.Len(t, f.Keys(), len(kvs))
	for i, kv := range f.Keys() {
		require.Equal(t, kvs[i].Key, kv.Key)
		require.Equal(t, kvs[i].Value.Any(), kv.Value.Any(), kv.Key)
		require.Equal(t, kvs[i].Value.Type(), kv.Value.Type(), kv.Key)
		require.Equal(t, kvs[i].Value.Elem(), kv.Value.Elem(), kv.Key)
	}
	require.Len(t, f.Tensors(), len(tensors))
	for i, got := range f.Tensors() {
		require.Equal(t, tensors[i].Name, got.Name)
		require.Equal(t, tensors[i].Type, got.Type)
		require.Equal(t, tensors[i].Dims, got.Dims)
		require.Equal(t, tensors[i].Data, got.Data)
		require.Zero(t, got.Offset%32)
	}
}

func TestRoundTrip(t *testing.T) {
	data := written(t, everything(), someTensors())
	f, err := Parse("memory", data)
	require.NoError(t, err)
	requireSame(t, f, everything(), someTensors())

	path := filepath.Join(t.TempDir(), "m.gguf")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	g, err := Open(path)
	require.NoError(t, err)
	requireSame(t, g, everything(), someTensors())
	sum := sha256.Sum256(data)
	require.Equal(t, hex.EncodeToString(sum[:]), g.SHA256())
	require.Equal(t, f.SHA256(), g.SHA256())

	// Metadata outlives the mapping; data does not.
	require.NoError(t, g.Close())
	require.NoError(t, g.Close())
	names, err := g.Strings("as")
	require.NoError(t, err)
	require.Equal(t, []string{"", "a", "bc"}, names)
	v, _ := g.Value("aas")
	require.Equal(t, []any{[]string{"x"}, []string{"", "y"}}, v.Any())
	require.Nil(t, g.Tensors()[0].Data)
	require.NotEmpty(t, g.SHA256(), "kept from before")

	again := written(t, g.Keys(), someTensors())
	require.Equal(t, data, again, "what was read is written back byte for byte")
}

func TestVersion2AndAlignment(t *testing.T) {
	for _, align := range []uint32{8, 64, 4096} {
		kvs := append(everything(), NewKV("general.alignment", align))
		data := written(t, kvs, someTensors())
		data[4] = 2
		f, err := Parse("v2", data)
		require.NoError(t, err)
		require.EqualValues(t, 2, f.Version)
		for i, ts := range f.Tensors() {
			require.Zero(t, ts.Offset%int64(align))
			require.Equal(t, someTensors()[i].Data, ts.Data)
		}
	}
	f, err := Parse("bare", written(t, nil, nil))
	require.NoError(t, err)
	require.Empty(t, f.Keys())
	require.Empty(t, f.Tensors())
	require.Equal(t, f.SHA256(), f.SHA256())
}

func TestGetters(t *testing.T) {
	f, err := Parse("m", written(t, everything(), nil))
	require.NoError(t, err)
	for key, want := range map[string]int64{"u8": 200, "i8": -3, "u16": 60000, "i16": -300, "u32": 1 << 31, "i32": -7, "i64": math.MinInt64} {
		got, err := f.Int(key)
		require.NoError(t, err)
		require.Equal(t, want, got, key)
		asFloat, err := f.Float(key)
		require.NoError(t, err)
		require.Equal(t, float64(want), asFloat, key)
		u, err := f.Uint(key)
		require.Equal(t, want >= 0, err == nil, key)
		if want >= 0 {
			require.EqualValues(t, want, u)
		}
	}
	u, err := f.Uint("u64")
	require.NoError(t, err)
	require.Equal(t, uint64(1)<<63, u)
	x, err := f.Float("u64")
	require.NoError(t, err)
	require.Equal(t, 0x1p63, x)
	x, err = f.Float("f32")
	require.NoError(t, err)
	require.Equal(t, float64(float32(0.1)), x)
	b, err := f.Bool("b")
	require.NoError(t, err)
	require.True(t, b)
	b, err = f.Bool("b0")
	require.NoError(t, err)
	require.False(t, b)
	bs, err := f.Bools("ab")
	require.NoError(t, err)
	require.Equal(t, []bool{true, false, true}, bs)
	is, err := f.Ints("ai8")
	require.NoError(t, err)
	require.Equal(t, []int64{-1, 2}, is)
	fs, err := f.Floats("af32")
	require.NoError(t, err)
	require.Equal(t, []float64{0.5, -2}, fs)
	v, _ := f.Value("aai")
	require.Equal(t, []int32{1, 2}, v.Elems()[0].Any())
	require.Equal(t, 3, v.Len())
}

func TestGetterErrors(t *testing.T) {
	f, err := Parse("m.gguf", written(t, everything(), nil))
	require.NoError(t, err)
	get := func(_ any, err error) error { return err }
	for want, err := range map[string]error{
		`wanted an integer that fits int64, found uint64 9223372036854775808`:     get(f.Int("u64")),
		`wanted an integer from 0, found int32 -7`:                                get(f.Uint("i32")),
		`wanted an integer from 0, found float32 0.1`:                             get(f.UintOr("f32", 1)),
		`wanted a string, found bool true`:                                        get(f.StringOr("b", "x")),
		`wanted a bool, found uint8 200`:                                          get(f.BoolOr("u8", true)),
		`wanted a number, found string "llama"`:                                   get(f.FloatOr("general.architecture", 1)),
		`wanted an array of strings, found an array of 2 int32 values`:            get(f.StringsOr("ai32", nil)),
		`wanted an array of numbers, found an array of 3 string values`:           get(f.FloatsOr("as", nil)),
		`wanted an array of bools, found bool true`:                               get(f.BoolsOr("b", nil)),
		`wanted an array of integers, found an array of 2 float32 values`:         get(f.IntsOr("af32", nil)),
		`wanted integers that fit int64, found 9223372036854775808 at index 1`:    get(f.Ints("au64")),
		`m.gguf: key "x.y": wanted an integer that fits int64, found no such key`: get(f.Int("x.y")),
	} {
		require.ErrorContains(t, err, want)
		var e *Error
		require.ErrorAs(t, err, &e)
		require.NotEmpty(t, e.Key)
		require.NotEmpty(t, e.Do)
	}
	n, err := f.IntOr("x.y", -4)
	require.NoError(t, err)
	require.EqualValues(t, -4, n)
	s, err := f.StringsOr("x.y", []string{"d"})
	require.NoError(t, err)
	require.Equal(t, []string{"d"}, s)
}

func BenchmarkOpenBuiltin(b *testing.B) {
	for b.Loop() {
		f, err := Open(builtin)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := f.Strings("tokenizer.ggml.merges"); err != nil {
			b.Fatal(err)
		}
		_ = f.Close()
	}
}
