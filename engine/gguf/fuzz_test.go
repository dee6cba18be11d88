package gguf

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzParse holds that no bytes make Parse panic, that what it accepts is
// consistent, and that it survives being written again.
func FuzzParse(f *testing.F) {
	v3 := written(f, everything(), someTensors())
	v2 := bytes.Clone(v3)
	v2[4] = 2
	python, err := os.ReadFile("testdata/python.gguf")
	require.NoError(f, err)
	for _, seed := range [][]byte{v3, v2, python, v3[:len(v3)/2], written(f, nil, nil)} {
		f.Add(seed)
	}
	for _, c := range hostile {
		if len(c.data) < 1<<12 {
			f.Add([]byte(c.data))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse("fuzz", data)
		if err != nil {
			require.Nil(t, file)
			require.IsType(t, (*Error)(nil), err)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		tensors := make([]Tensor, 0, len(file.Tensors()))
		for _, ts := range file.Tensors() {
			require.Len(t, ts.Data, ts.Type.RowBytes(ts.Cols())*ts.Rows())
			require.Equal(t, data[ts.Offset:ts.Offset+int64(len(ts.Data))], ts.Data)
			tensors = append(tensors, *ts)
		}
		for _, kv := range file.Keys() {
			_ = kv.Value.Any()
			for _, get := range []func(string) error{
				func(k string) error { _, err := file.Ints(k); return err },
				func(k string) error { _, err := file.Floats(k); return err },
				func(k string) error { _, err := file.Strings(k); return err },
				func(k string) error { _, err := file.Uint(k); return err },
				func(k string) error { _, err := file.Int(k); return err },
				func(k string) error { _, err := file.Bool(k); return err },
			} {
				if err := get(kv.Key); err != nil {
					require.NotContains(t, err.Error(), "\n")
				}
			}
		}
		var out bytes.Buffer
		if align, err := file.alignment(); err != nil || align > 1<<16 {
			return // legal, but writing it is megabytes of padding
		}
		require.NoError(t, Write(&out, file.Keys(), tensors))
		again, err := Parse("again", out.Bytes())
		require.NoError(t, err)
		requireSame(t, again, file.Keys(), tensors)
	})
}
