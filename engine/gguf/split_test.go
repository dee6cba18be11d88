package gguf

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"glassbox/engine/tensor"

	"github.com/stretchr/testify/require"
)

// writeSplit writes the tensors of someTensors over three parts, the first with
// metadata only, as gguf-split --no-tensor-first-split does. change may alter
// the metadata of a part.
func writeSplit(t *testing.T, change func(part int, kvs []KV) []KV) (paths []string, whole []byte) {
	t.Helper()
	dir := t.TempDir()
	all := someTensors()
	for i, tensors := range [][]Tensor{nil, all[:3], all[3:]} {
		kvs := []KV{NewKV(keySplitNo, uint16(i)), NewKV(keySplitCount, uint16(3)), NewKV(keySplitTensors, int32(4))}
		if i == 0 {
			kvs = append(everything(), kvs...)
		}
		if change != nil {
			kvs = change(i, kvs)
		}
		data := written(t, kvs, tensors)
		path := filepath.Join(dir, fmt.Sprintf("m-%05d-of-00003.gguf", i+1))
		require.NoError(t, os.WriteFile(path, data, 0o600))
		paths, whole = append(paths, path), append(whole, data...)
	}
	return paths, whole
}

func TestSplitRoundTrip(t *testing.T) {
	paths, whole := writeSplit(t, nil)
	for _, path := range paths {
		f, err := Open(path)
		require.NoError(t, err)
		require.Equal(t, paths[0], f.Name)
		require.EqualValues(t, len(whole), f.Size)
		require.Len(t, f.Keys(), len(everything())+3)
		require.Len(t, f.Tensors(), 4)
		for i, want := range someTensors() {
			got, ok := f.Tensor(want.Name)
			require.True(t, ok)
			require.Equal(t, want.Data, got.Data)
			require.Equal(t, []int{1, 1, 1, 2}[i], got.Part)
		}
		sum := sha256.Sum256(whole)
		require.Equal(t, hex.EncodeToString(sum[:]), f.SHA256())
		require.NoError(t, f.Close())
	}
}

func TestSplitErrors(t *testing.T) {
	set := func(part int, key string, v uint16) func(int, []KV) []KV {
		return func(i int, kvs []KV) []KV {
			for j := range kvs {
				if i == part && kvs[j].Key == key {
					kvs[j] = NewKV(key, v)
				}
			}
			return kvs
		}
	}
	for want, change := range map[string]func(int, []KV) []KV{
		"part 2 of 3, found part 1 of 3":                             set(1, keySplitNo, 0),
		"part 3 of 3, found part 3 of 4":                             set(2, keySplitCount, 4),
		"part 2 of 3, found part 1 of 0":                             set(1, keySplitCount, 0),
		`"split.no" at byte`:                                         set(1, keySplitNo, 3),
		"wanted 9 tensors in all parts, found 4":                     set(0, keySplitTensors, 9),
		"wanted a file called NAME-00001-of-00005.gguf":              set(0, keySplitCount, 5),
		`key "split.no": wanted an integer from 0, found no such ke`: func(i int, kvs []KV) []KV { return kvs[i%2:] },
	} {
		paths, _ := writeSplit(t, change)
		_, err := Open(paths[0])
		require.ErrorContains(t, err, want)
	}

	paths, _ := writeSplit(t, nil)
	require.NoError(t, os.Remove(paths[2]))
	_, err := Open(paths[0])
	require.ErrorContains(t, err, "m-00003-of-00003.gguf: wanted a GGUF file, found no such file")
	data, err := os.ReadFile(paths[1])
	require.NoError(t, err)
	_, err = Parse("embedded", data)
	require.ErrorContains(t, err, "wanted a whole model, found one of 3 parts")

	// The same tensor in two parts.
	require.NoError(t, os.WriteFile(paths[2], written(t,
		[]KV{NewKV(keySplitNo, uint16(2)), NewKV(keySplitCount, uint16(3))}, someTensors()[:1]), 0o600))
	_, err = Open(paths[0])
	require.ErrorContains(t, err, `tensor "tok"`)
	require.ErrorContains(t, err, "wanted each tensor in one part, found it in part 2 too")

	// A count that would name far more files than there are.
	lone := filepath.Join(t.TempDir(), "m-00001-of-99999.gguf")
	require.NoError(t, os.WriteFile(lone, written(t, []KV{NewKV(keySplitNo, uint32(0)), NewKV(keySplitCount, uint32(99999))}, nil), 0o600))
	_, err = Open(lone)
	require.ErrorContains(t, err, "m-00002-of-99999.gguf: wanted a GGUF file, found no such file")
	require.NoError(t, os.WriteFile(lone, written(t, []KV{NewKV(keySplitNo, uint32(0)), NewKV(keySplitCount, uint32(1<<31))}, nil), 0o600))
	_, err = Open(lone)
	require.ErrorContains(t, err, "at most 99999 parts, found 2147483648")
}

// testdata/python.gguf was written by the gguf package for Python.
func TestFileOfAnotherWriter(t *testing.T) {
	f, err := Open("testdata/python.gguf")
	require.NoError(t, err)
	defer f.Close()
	for key, want := range map[string]any{"general.architecture": "llama", "x.u32": uint32(7), "x.i8": int8(-7), "x.f64": 0.1,
		"x.bool": true, "x.strings": []string{"", "Ġa", "b"}, "x.ints": []int32{1, -2, 3}, "general.alignment": uint32(64),
		"x.nested": []any{[]int32{1, 2}, []int32{3}}} {
		v, ok := f.Value(key)
		require.True(t, ok, key)
		require.Equal(t, want, v.Any(), key)
	}
	half, _ := f.Tensor("half")
	require.Equal(t, []int{3, 2}, half.Dims)
	dst := make([]float32, 6)
	require.NoError(t, tensor.Dequant(half.Type, dst, half.Data))
	require.Equal(t, []float32{0, 1, 2, 3, 4, 5}, dst)
	q8, _ := f.Tensor("q8")
	dst = make([]float32, 64)
	require.NoError(t, tensor.Dequant(q8.Type, dst, q8.Data))
	require.InDelta(t, -1, dst[0], 0.001)
	require.InDelta(t, 1, dst[63], 0.001)
}
