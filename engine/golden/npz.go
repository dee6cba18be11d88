package golden

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
)

// arrays is an opened .npz file: a zip of NumPy arrays. The first array that is missing or has another shape or type
// than was asked for is kept in err, and every later answer is empty.
type arrays struct {
	file string
	raw  map[string][]byte
	err  error
}

func readNPZ(file string, data []byte) (*arrays, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("golden: %s: %w", file, err)
	}
	a := &arrays{file: file, raw: map[string][]byte{}}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return nil, fmt.Errorf("golden: %s: %s: %w", file, f.Name, err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			return nil, fmt.Errorf("golden: %s: %s: %w", file, f.Name, err)
		}
		a.raw[strings.TrimSuffix(f.Name, ".npy")] = b
	}
	return a, nil
}

// words gives the elements of one array as little-endian 32-bit words after checking NumPy's header
// (format 1.0: magic, two version bytes, 16-bit header length, a Python dict as text).
func (a *arrays) words(name, dtype string, rows, cols int) []uint32 {
	out := make([]uint32, rows*cols)
	if a.err != nil {
		return out
	}
	b, found := a.raw[name]
	fail := func(what string) []uint32 {
		a.err = fmt.Errorf("golden: %s: array %s: %s; run make.py again", a.file, name, what)
		return out
	}
	if !found {
		return fail("missing")
	}
	if len(b) < 10 || string(b[:8]) != "\x93NUMPY\x01\x00" {
		return fail("no NumPy 1.0 header")
	}
	end := 10 + int(binary.LittleEndian.Uint16(b[8:]))
	if end > len(b) {
		return fail("header cut short")
	}
	want := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }", dtype, rows, cols)
	flat := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }", dtype, rows*cols)
	if head := strings.TrimSpace(string(b[10:end])); head != want && head != flat {
		return fail("wanted " + want + ", found " + head)
	}
	if len(b)-end != 4*len(out) {
		return fail(fmt.Sprintf("wanted %d bytes, found %d", 4*len(out), len(b)-end))
	}
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b[end+4*i:])
	}
	return out
}

func (a *arrays) floats(name string, rows, cols int) [][]float32 {
	out := make([][]float32, rows)
	w := a.words(name, "<f4", rows, cols)
	for r := range out {
		out[r] = make([]float32, cols)
		for c := range out[r] {
			out[r][c] = math.Float32frombits(w[r*cols+c])
		}
	}
	return out
}

func (a *arrays) ints(name string, rows, cols int) [][]int32 {
	out := make([][]int32, rows)
	w := a.words(name, "<i4", rows, cols)
	for r := range out {
		out[r] = make([]int32, cols)
		for c := range out[r] {
			out[r][c] = int32(w[r*cols+c])
		}
	}
	return out
}

func (a *arrays) fill(name string, rows, cols int, put func(i int, x []float32)) {
	for i, x := range a.floats(name, rows, cols) {
		put(i, x)
	}
}

func (a *arrays) rows(prefix string, n, top int) []Row {
	out := make([]Row, n)
	for i, ids := range a.ints(prefix+"top_ids", n, top) {
		out[i].TopIDs = ids
	}
	a.fill(prefix+"top", n, top, func(i int, x []float32) { out[i].Top = x })
	a.fill(prefix+"lse", n, 1, func(i int, x []float32) { out[i].LSE = x[0] })
	a.fill(prefix+"l2", n, 1, func(i int, x []float32) { out[i].L2 = x[0] })
	return out
}
