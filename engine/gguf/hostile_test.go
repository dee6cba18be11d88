package gguf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"glassbox/engine/tensor"

	"github.com/stretchr/testify/require"
)

// raw builds files byte by byte, so that each field can be a lie.
type raw []byte

func (b raw) u32(v uint32) raw   { return binary.LittleEndian.AppendUint32(b, v) }
func (b raw) u64(v uint64) raw   { return binary.LittleEndian.AppendUint64(b, v) }
func (b raw) str(s string) raw   { return append(b.u64(uint64(len(s))), s...) }
func (b raw) zeros(n int) raw    { return append(b, make([]byte, n)...) }
func (b raw) padTo(n int) raw    { return b.zeros(max(0, n-len(b))) }
func (b raw) key(k string) raw   { return b.str(k) }
func (b raw) ty(t ValueType) raw { return b.u32(uint32(t)) }

func start(tensors, kvs uint64) raw { return raw("GGUF").u32(3).u64(tensors).u64(kvs) }

func (b raw) tensor(name string, t tensor.Type, offset uint64, dims ...uint64) raw {
	b = b.str(name).u32(uint32(len(dims)))
	for _, d := range dims {
		b = b.u64(d)
	}
	return b.u32(uint32(t)).u64(offset)
}

func (b raw) nest(levels int) raw {
	for range levels - 1 {
		b = b.ty(TypeArray).u64(1)
	}
	return b.ty(TypeUint8).u64(1).zeros(1)
}

const huge = math.MaxUint64

var hostile = []struct {
	name string
	data []byte
	want string // part of the error
}{
	{"empty", nil, "found an empty file"},
	{"cut magic", raw("GG"), "found only the 2 bytes"},
	{"text", raw("hello world"), `found "hell"; give the path`},
	{"web page", raw("<!DOCTYPE html>"), "a web page"},
	{"lfs", raw("version https://git-lfs.github.com/spec/v1\n"), "git lfs pull"},
	{"zip", raw("PK\x03\x04aaaa"), "zip archive"},
	{"safetensors", raw("\x10\x00\x00\x00\x00\x00\x00\x00{\"a\":1}"), "safetensors"},
	{"ggml", raw("lmggaaaa"), "before GGUF"},
	{"no version", raw("GGUF\x03"), "wanted 4 bytes of the version, found 1 bytes"},
	{"version 0", raw("GGUF").u32(0).zeros(16), "found 0x0"},
	{"version 1", raw("GGUF").u32(1).zeros(16), "version 1 (August 2023)"},
	{"version 4", raw("GGUF").u32(4).zeros(16), "found version 4; use a newer"},
	{"big-endian", raw("GGUF\x00\x00\x00\x03").zeros(16), "a big-endian one (version 3)"},
	{"no counts", raw("GGUF").u32(3).u32(0), "8 bytes of the count of tensors"},
	{"tensor count", start(huge, 0).zeros(33), "at most 1 tensors"},
	{"kv count", start(0, 1<<40).zeros(40), "at most 2 metadata pairs in the 40 bytes"},
	{"kv count of a cut file", start(0, 1), "at most 0 metadata pairs in the 0 bytes that follow, found 1"},
	{"key length", start(0, 1).u64(huge).zeros(9), "a metadata key of 1 to 65535 bytes, found a length of 18446744073709551615"},
	{"key length past the end", start(0, 1).u64(60000).zeros(9), "60000 bytes of a metadata key, found 9 bytes"},
	{"empty key", start(0, 1).key("").zeros(9), "found a length of 0"},
	{"value type", start(0, 1).key("k").u32(13).zeros(9), `key "k" at byte 33: wanted a value type from 0 to 12, found 13`},
	{"cut value", start(0, 1).key("k").ty(TypeUint64).zeros(7), `key "k" at byte 37: wanted 8 bytes of a uint64, found 7`},
	{"string length", start(0, 1).key("k").ty(TypeString).u64(1 << 62).zeros(3), "4611686018427387904 bytes of a string"},
	{"cut bool", start(0, 2).key("k").ty(TypeUint64).u64(0).key("k2").ty(TypeBool), `key "k2" at byte 59: wanted 1 bytes of a bool, found 0`},
	{"bool 2", append(start(0, 1).key("k").ty(TypeBool), 2), "at byte 37: wanted a bool of 0 or 1, found 2"},
	{"bool array", append(start(0, 1).key("k").ty(TypeArray).ty(TypeBool).u64(2), 1, 9), "at byte 50: wanted a bool of 0 or 1, found 9"},
	{"array type", start(0, 1).key("k").ty(TypeArray).u32(99).u64(0), "an array element type from 0 to 12, found 99"},
	{"array count", start(0, 1).key("k").ty(TypeArray).ty(TypeUint64).u64(1 << 61).zeros(64), "at most 8 array elements in the 64 bytes"},
	{"array of strings count", start(0, 1).key("k").ty(TypeArray).ty(TypeString).u64(9).zeros(64), "at most 8 array elements"},
	{"array of strings cut", start(0, 1).key("k").ty(TypeArray).ty(TypeString).u64(2).str("ab").zeros(7), "8 bytes of the length of a string"},
	{"array of arrays count", start(0, 1).key("k").ty(TypeArray).ty(TypeArray).u64(6).zeros(64), "at most 5 array elements"},
	{"nesting", start(0, 1).key("k").ty(TypeArray).nest(9), "at most 8 arrays inside each other, found one more"},
	{"deep nesting", start(0, 1).key("k").ty(TypeArray).nest(100000), "at most 8 arrays inside each other"},
	{"key twice", start(0, 2).key("k").ty(TypeUint8).zeros(1).key("k").ty(TypeUint8).zeros(1), `key "k" at byte 38: wanted each key once`},
	{"alignment 0", alignment(0), "power of two from 8"},
	{"alignment 24", alignment(24), "power of two from 8 to 1073741824, found 24"},
	{"alignment 4", alignment(4), "power of two from 8"},
	{"alignment 2^31", alignment(1 << 31), "power of two from 8"},
	{"alignment type", start(0, 1).key("general.alignment").ty(TypeString).str("32"), `wanted an integer from 0, found string "32"`},
	{"tensor name length", start(1, 0).u64(65).zeros(65 + 24), "a tensor name of 1 to 64 bytes"},
	{"no dimensions", start(1, 0).tensor("t", tensor.F32, 0).zeros(64), `tensor "t" at byte 33: wanted 1 to 4 dimensions, found 0`},
	{"five dimensions", start(1, 0).tensor("t", tensor.F32, 0, 1, 1, 1, 1, 1).zeros(64), "wanted 1 to 4 dimensions, found 5"},
	{"dimension count", start(1, 0).str("t").u32(math.MaxUint32).zeros(64), "found 4294967295"},
	{"first dimension 0", start(1, 0).tensor("t", tensor.F32, 0, 0, 4).zeros(64), "whole F32 blocks of 1, found 0"},
	{"other dimension 0", start(1, 0).tensor("t", tensor.F32, 0, 4, 0).zeros(64), "wanted dimensions from 1, found [4 0]"},
	{"0 hides an overflow", start(1, 0).tensor("t", tensor.F32, 0, 1<<40, 1<<40, 0).zeros(64), "wanted dimensions from 1"},
	{"product wraps to 0", start(1, 0).tensor("t", tensor.F32, 0, 1<<32, 1<<32).zeros(64), "product does not fit 64 bits"},
	{"product wraps to small", start(1, 0).tensor("t", tensor.Q8_0, 0, 32, 1<<63+1, 2).zeros(128), "product does not fit 64 bits"},
	{"dimension 2^64-1", start(1, 0).tensor("t", tensor.I8, 0, huge).zeros(64), "that need 18446744073709551615"},
	{"too big", start(1, 0).tensor("t", tensor.F32, 0, 1000, 1000).zeros(64), "dimensions [1000 1000] that need 4000000"},
	{"half a block", start(1, 0).tensor("t", tensor.Q4_K, 0, 128).padTo(512), "whole Q4_K blocks of 256, found 128"},
	{"type id", start(1, 0).tensor("t", 77, 0, 32).zeros(64), "a known tensor type, found id 77"},
	{"type id 2^32-1", start(1, 0).tensor("t", math.MaxUint32, 0, 32).zeros(64), "found id 4294967295"},
	{"removed type", start(1, 0).tensor("t", 31, 0, 32).zeros(64), "found Q4_0_4_4, which ggml removed; convert"},
	{"offset past the end", start(1, 0).tensor("t", tensor.F32, 1<<40, 1).zeros(64), "an offset inside the"},
	{"offset 2^64-32", start(1, 0).tensor("t", tensor.F32, huge-31, 1).zeros(64), "found 18446744073709551584"},
	{"offset not aligned", start(1, 0).tensor("t", tensor.F32, 8, 1).padTo(200), "an offset that is a multiple of 32, found 8"},
	{"cut weights", start(1, 0).tensor("t", tensor.F32, 0, 8).padTo(64 + 31), `tensor "t" at byte 64: wanted 32 bytes of weights, found 31 before the end`},
	{"cut before the weights", start(1, 0).tensor("t", tensor.F32, 0, 1), "found 0 before the end"},
	{"tensor twice", start(2, 0).tensor("t", tensor.F32, 0, 1).tensor("t", tensor.F32, 32, 1).padTo(256), `tensor "t" at byte 57: wanted each tensor once`},
	{"overlap", start(2, 0).tensor("a", tensor.F32, 32, 8).tensor("b", tensor.F32, 0, 9).padTo(256), `tensor "a" at byte 128: wanted weights that belong to one tensor, found an overlap with "b"`},
	{"same place", start(2, 0).tensor("a", tensor.F32, 0, 1).tensor("b", tensor.F32, 0, 1).padTo(256), "found an overlap with"},
	{"cut tensor info", start(1, 0).str("t").u32(4).zeros(31), "8 bytes of a dimension, found 7"},
	{"a part alone", start(0, 2).key(keySplitCount).ty(TypeUint16).zeros(2).key(keySplitNo).ty(TypeUint16).zeros(2), ""},
}

func alignment(n uint32) raw {
	return start(0, 1).key("general.alignment").ty(TypeUint32).u32(n).zeros(64)
}

func TestHostileFiles(t *testing.T) {
	dir := t.TempDir()
	for i, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("evil.gguf", c.data)
			path := filepath.Join(dir, fmt.Sprint(i, ".gguf"))
			require.NoError(t, os.WriteFile(path, c.data, 0o600))
			f, openErr := Open(path)
			if c.want == "" {
				require.NoError(t, err)
				require.NoError(t, openErr)
				require.NoError(t, f.Close())
				return
			}
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, openErr, c.want)
			require.Equal(t, strings.Replace(err.Error(), "evil.gguf", path, 1), openErr.Error())
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, "evil.gguf", e.File)
			require.NotContains(t, err.Error(), "\n")
			for _, part := range []string{e.Wanted, e.Found, e.Do} {
				require.NotEmpty(t, part)
			}
			require.LessOrEqual(t, e.Offset, int64(max(len(c.data), 64)))
		})
	}
}

// Cut anywhere, a file is refused: only the padding after the last weight may go.
func TestEveryCutIsRefused(t *testing.T) {
	data := written(t, everything(), someTensors())
	f, err := Parse("m", data)
	require.NoError(t, err)
	last := f.Tensors()[len(f.Tensors())-1]
	for n := range int(last.Offset) + len(last.Data) {
		_, err := Parse("m", data[:n])
		require.Error(t, err, "cut to %d of %d bytes", n, len(data))
	}
	_, err = Parse("m", data[:int(last.Offset)+len(last.Data)])
	require.NoError(t, err)
}

// A file whose counts lie makes Parse allocate in proportion to its bytes.
func TestHostileFilesAllocateLittle(t *testing.T) {
	many := start(0, 70000)
	for i := range 70000 {
		many = many.key(fmt.Sprintf("%05x", i)).ty(TypeUint8).zeros(1)
	}
	tensors := start(30000, 0)
	for i := range 30000 {
		tensors = tensors.tensor(fmt.Sprintf("%04x", i), tensor.I8, uint64(i)*32, 1)
	}
	files := map[string][]byte{"small pairs": many, "small tensors": tensors.zeros(30001 * 32)}
	for _, c := range hostile {
		files[c.name] = append(raw(c.data), make([]byte, 1<<16)...)
	}
	for name, data := range files {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = Parse("m", data)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(24*len(data)+1<<16), name)
	}
}

func TestNotAFile(t *testing.T) {
	dir := t.TempDir()
	_, err := Open(filepath.Join(dir, "none.gguf"))
	require.ErrorContains(t, err, "none.gguf: wanted a GGUF file, found no such file; check the path")
	require.True(t, errors.Is(err, fs.ErrNotExist))
	_, err = Open(dir)
	require.ErrorContains(t, err, "found a directory; give the path of the .gguf file in it")
	_, err = Open(filepath.Join(dir, "two\nlines\x00.gguf"))
	require.ErrorContains(t, err, "check the path and its permissions")
	require.NotContains(t, err.Error(), "\n")
	if _, err := os.Stat(os.DevNull); err == nil {
		_, err = Open(os.DevNull)
		require.ErrorContains(t, err, "no regular file")
	}
}

func TestWriteRefusals(t *testing.T) {
	ok := Tensor{Name: "t", Type: tensor.F32, Dims: []int{2}, Data: make([]byte, 8)}
	with := func(change func(*Tensor)) []Tensor {
		bad := ok
		change(&bad)
		return []Tensor{bad}
	}
	for want, c := range map[string]struct {
		kvs     []KV
		tensors []Tensor
	}{
		"8 bytes of data for F32 [2], found 7": {nil, with(func(t *Tensor) { t.Data = t.Data[:7] })},
		"1 to 4 dimensions, found 0":           {nil, with(func(t *Tensor) { t.Dims = nil })},
		"whole Q8_0 blocks of 32, found 2":     {nil, with(func(t *Tensor) { t.Type = tensor.Q8_0 })},
		"dimensions from 1, found [2 0]":       {nil, with(func(t *Tensor) { t.Dims = []int{2, 0} })},
		"product does not fit 64 bits":         {nil, with(func(t *Tensor) { t.Dims = []int{2, -1} })},
		"found id 99":                          {nil, with(func(t *Tensor) { t.Type = 99 })},
		"a tensor name of 1 to 64 bytes":       {nil, with(func(t *Tensor) { t.Name = strings.Repeat("x", 65) })},
		"each tensor once":                     {nil, []Tensor{ok, ok}},
		"each key once":                        {[]KV{NewKV("a", true), NewKV("a", true)}, nil},
		"power of two":                         {[]KV{NewKV("general.alignment", uint32(3))}, nil},
		"a metadata key of 1":                  {[]KV{NewKV("", "text")}, nil},
	} {
		var b strings.Builder
		require.ErrorContains(t, Write(&b, c.kvs, c.tensors), want)
		require.Zero(t, b.Len(), "nothing was written")
	}
	require.ErrorContains(t, Write(broken{}, nil, []Tensor{ok}), "cannot write the metadata: disk full")
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }
