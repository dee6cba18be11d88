// Package kern has the arithmetic of the CPU backend: quantised and float matrix products, attention over paged keys and
// values, and the elementwise ops, in assembly (AVX-512 VNNI, AVX2) with plain Go twins.
//
// The value of one output (row, token) depends only on the weights of the row and on the input of the token: block sums
// are exact integers, floats are added in a fixed order with one rounding a step. Batch size, chunking, thread count and
// kernel variant cannot change a bit of it.
//
// It does not know about graphs, models, threads or files: callers hand it packed weights and slices.
package kern

//go:generate sh -c "cd ../../../../cmd/internal/asm && go run . -out ../../../engine/backend/cpu/kern/kern_amd64.s -stubs ../../../engine/backend/cpu/kern/stubs_amd64.go -pkg kern"
//go:generate sh -c "cd ../../../../cmd/internal/asm && KERNELS=kv go run . -out ../../../engine/backend/cpu/kern/kv_amd64.s -stubs ../../../engine/backend/cpu/kern/kvstubs_amd64.go -pkg kern"

import (
	"fmt"

	"glassbox/engine/tensor"
)

// Form is how weights lie in memory for the kernels.
type Form uint8

// The forms. In the packed ones 16 rows lie together, one in each 32-bit lane, so that one instruction works on 16 rows
// and nothing is folded across lanes. Layouts, with line = 64 bytes, 4 of each of the 16 rows:
//
//	Q4_0  576 B, 2 blocks of 32: [16 f16 d0][16 f16 d1] 4+4 lines (nibbles in GGUF order)
//	Q4_1  320 B, 1 block: [16 f16 d][16 f16 m] 4 lines
//	Q8_0 1088 B, 2 blocks: [16 f16 d0][16 f16 d1] 8+8 lines (bytes xor 0x80)
//	Q8_1  576 B, 1 block: [16 f16 d][16 f16 m] 8 lines (unsigned bytes below 128)
//	Q4_K 2304 B, 256 weights: [16 f16 d][16 f16 dmin] 3 lines of scales, 32 lines (both in GGUF order)
//	Q6_K 3392 B, 256 weights: [16 f16 d][pad] [16 scales][16 rows] 16 x (line of ql, of ql+32, of qh)
//	K32  4416 B, 256 weights: [16 f16 d][16 f16 dmin] [8 scales][16 rows] 2 lines of mins, 64 lines of bytes
//	K16  4416 B, 256 weights: [16 f16 d][pad] [16 scales][16 rows], 64 lines of bytes (value + 32)
//	F32, F16, BF16: 16 columns of each of a few rows (as many as the variant takes at once) after the other
const (
	Q4_0 Form = iota
	Q4_1
	Q8_0
	Q8_1
	Q4_K
	Q6_K
	K32
	K16
	F32
	F16
	BF16
	forms // how many there are
)

const (
	group = 16 // rows of one packed group: one per dword lane
	// Pair is the rows of the smallest piece of a matrix product; outputs need room for a multiple of it.
	Pair = 2 * group
	// MaxT is the most tokens of one register tile.
	MaxT = 16
	// Pad is what the rows of inputs must be padded to with zeros, in floats (for K forms the columns are multiples of
	// 256 anyway).
	Pad = 64
)

// formInfo describes a form. unitK weights per row and unit bytes make a unit of one group; byteUnit is its size once
// unpacked to bytes for the mat-mat; k tells that inputs are quantised per 256; elem is the size of a plain element.
type formInfo struct {
	name     string
	unitK    int
	unit     int
	byteUnit int
	k        bool
	elem     int
}

var info = [...]formInfo{
	Q4_0: {"Q4_0", 64, 576, 1088, false, 0},
	Q4_1: {"Q4_1", 32, 320, 576, false, 0},
	Q8_0: {"Q8_0", 64, 1088, 1088, false, 0},
	Q8_1: {"Q8_1", 32, 576, 576, false, 0},
	Q4_K: {"Q4_K", 256, 2304, 4416, true, 0},
	Q6_K: {"Q6_K", 256, 3392, 4416, true, 0},
	K32:  {"K32", 256, 4416, 4416, true, 0},
	K16:  {"K16", 256, 4416, 4416, true, 0},
	F32:  {"F32", 1, 0, 0, false, 4},
	F16:  {"F16", 1, 0, 0, false, 2},
	BF16: {"BF16", 1, 0, 0, false, 2},
}

// String returns the form's name as it is in kernels' names.
func (f Form) String() string { return info[f].name }

// Packed tells that rows lie in groups of 16 and inputs are quantised to 16 bits.
func (f Form) Packed() bool { return f <= K16 }

// FormOf returns the form that the variant computes a GGUF type in; ok is false for types that package tensor cannot read.
// Types of 5 bits become bytes without loss, and so do the other K types where the variant has no kernel for their own form.
func (k *Kernels) FormOf(t tensor.Type) (f Form, ok bool) {
	switch t {
	case tensor.Q4_0:
		return Q4_0, true
	case tensor.Q4_1:
		return Q4_1, true
	case tensor.Q8_0, tensor.Q5_0:
		return Q8_0, true
	case tensor.Q5_1:
		return Q8_1, true
	case tensor.Q4_K:
		if k.mv[Q4_K] != nil {
			return Q4_K, true
		}
		return K32, true
	case tensor.Q5_K:
		return K32, true
	case tensor.Q6_K:
		if k.mv[Q6_K] != nil {
			return Q6_K, true
		}
		return K16, true
	case tensor.F32:
		return F32, true
	case tensor.F16:
		return F16, true
	case tensor.BF16:
		return BF16, true
	}
	return 0, false
}

// Mat is a matrix ready for the kernels of one variant.
type Mat struct {
	k            *Kernels
	Form         Form
	Type         tensor.Type // as stored in the file
	NRows, NCols int
	Pairs        int    // of 32 rows; the last may be partly padding
	Data         []byte // packed weights
	units        int    // per group
	rowBytes     int    // of the file
}

// NewMat describes a matrix of rows x cols of type t in its form. Data is still to be set, to Size bytes, zeroed.
func (k *Kernels) NewMat(t tensor.Type, rows, cols int) (*Mat, error) {
	f, ok := k.FormOf(t)
	if !ok {
		return nil, fmt.Errorf("cpu: weights: wanted a type that package tensor reads, found %v: choose a file of another type", t)
	}
	m := &Mat{k: k, Form: f, Type: t, NRows: rows, NCols: cols, Pairs: (rows + Pair - 1) / Pair, rowBytes: t.RowBytes(cols)}
	if w := info[m.Form].unitK; m.Form.Packed() {
		m.units = (cols + w - 1) / w
	}
	return m, nil
}

// Size returns the bytes that Data needs.
func (m *Mat) Size() int {
	if m.Form.Packed() {
		return 2 * m.Pairs * m.units * info[m.Form].unit
	}
	return m.Pairs * Pair * m.stride()
}

// stride is the bytes of one row of a float form.
func (m *Mat) stride() int { return (m.NCols + 15) / 16 * 16 * info[m.Form].elem }

// group returns packed group g.
func (m *Mat) group(g int) []byte {
	n := m.units * info[m.Form].unit
	return m.Data[g*n : (g+1)*n]
}

// Scratch returns the bytes that Mul needs for itself, one piece for each thread.
func (m *Mat) Scratch() int {
	if m.k.tiles[m.Form] != nil {
		return tileScratch
	}
	if m.k.unpack[m.Form] == nil {
		return 0
	}
	return 2 * m.units * info[m.Form].byteUnit
}

// Kernel names the kernel that multiplies n tokens, with its variant: "mvQ4_1 avx512-vnni".
func (m *Mat) Kernel(n int) string {
	kind := "dot"
	if m.Form.Packed() {
		if kind = "mm"; m.tile(n) == 1 && m.k.mv[m.Form] != nil {
			kind = "mv"
		}
	}
	return kind + info[m.Form].name + " " + m.k.name
}
