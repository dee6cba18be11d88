package model

import (
	"fmt"

	"glassbox/engine/gguf"
	"glassbox/engine/graph"
)

// loader takes tensors out of a file, checks type and shape, and keeps the first error.
type loader struct {
	f    *gguf.File
	used map[string]bool
	err  error
}

// matrix returns a tensor of rows outputs and cols inputs; rows < 0 takes as many as there are.
func (l *loader) matrix(name string, rows, cols int) *graph.Weight {
	t, ok := l.f.Tensor(name)
	if !ok {
		l.fail(name, fmt.Sprintf("a tensor of %d columns", cols), "none of this name")
		return nil
	}
	return l.take(t, rows, cols)
}

// vector returns a one-dimensional tensor of n values.
func (l *loader) vector(name string, n int) *graph.Weight { return l.matrix(name, 1, n) }

// optional returns the tensor if the file has it, else nil.
func (l *loader) optional(name string, rows, cols int) *graph.Weight {
	t, ok := l.f.Tensor(name)
	if !ok {
		return nil
	}
	return l.take(t, rows, cols)
}

func (l *loader) take(t *gguf.Tensor, rows, cols int) *graph.Weight {
	if l.err != nil {
		return nil
	}
	if rows < 0 {
		rows = t.Rows()
	}
	if t.Cols() != cols || t.Rows() != rows {
		l.fail(t.Name, fmt.Sprintf("%d x %d (columns x rows)", cols, rows), fmt.Sprintf("%d x %d", t.Cols(), t.Rows()))
		return nil
	}
	if !t.Type.Supported() {
		l.fail(t.Name, "F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K or Q6_K", t.Type.String())
		return nil
	}
	if cols%t.Type.BlockSize() != 0 {
		l.fail(t.Name, fmt.Sprintf("columns in whole blocks of %d", t.Type.BlockSize()), cols)
		return nil
	}
	if want := rows * t.Type.RowBytes(cols); len(t.Data) != want {
		l.fail(t.Name, fmt.Sprintf("%d bytes", want), len(t.Data))
		return nil
	}
	l.used[t.Name] = true
	return &graph.Weight{Name: t.Name, Type: t.Type, Rows: rows, Cols: cols, Data: t.Data}
}

func (l *loader) fail(name, wanted string, found any) {
	if l.err == nil {
		l.err = fmt.Errorf("%s: tensor %s: wanted %s, found %v: the file is damaged or not for this engine", l.f.Name, name, wanted, found)
	}
}
