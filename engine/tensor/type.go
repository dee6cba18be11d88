// Package tensor knows the number formats of model files: their ids, block
// layouts and sizes, how to turn blocks into float32 and, for the plain ones,
// how to turn float32 into blocks.
//
// It does not know about files, models, shapes beyond one row, or how fast a
// backend multiplies.
package tensor

import (
	"fmt"
	"math"
)

// Type is a ggml tensor type id as stored in GGUF files (ggml.h, enum
// ggml_type).
type Type uint32

// The ids of ggml. The gaps are formats that ggml removed.
const (
	F32     Type = 0
	F16     Type = 1
	Q4_0    Type = 2
	Q4_1    Type = 3
	Q5_0    Type = 6
	Q5_1    Type = 7
	Q8_0    Type = 8
	Q8_1    Type = 9
	Q2_K    Type = 10
	Q3_K    Type = 11
	Q4_K    Type = 12
	Q5_K    Type = 13
	Q6_K    Type = 14
	Q8_K    Type = 15
	IQ2_XXS Type = 16
	IQ2_XS  Type = 17
	IQ3_XXS Type = 18
	IQ1_S   Type = 19
	IQ4_NL  Type = 20
	IQ3_S   Type = 21
	IQ2_S   Type = 22
	IQ4_XS  Type = 23
	I8      Type = 24
	I16     Type = 25
	I32     Type = 26
	I64     Type = 27
	F64     Type = 28
	IQ1_M   Type = 29
	BF16    Type = 30
	TQ1_0   Type = 34
	TQ2_0   Type = 35
	MXFP4   Type = 39
	NVFP4   Type = 40
	Q1_0    Type = 41
)

// layout is one row of the type table: how many weights share a block of how
// many bytes, and the two directions this package can convert.
type layout struct {
	name            string
	weights, bytes  int
	dequant         func(dst []float32, src []byte)
	quantize        func(dst []byte, src []float32) error
	removedFromGGML bool
}

// layouts is indexed by Type; an entry without a name is an unknown id.
var layouts = [...]layout{
	F32:  {name: "F32", weights: 1, bytes: 4, dequant: dequantF32, quantize: quantizeF32},
	F16:  {name: "F16", weights: 1, bytes: 2, dequant: dequantF16, quantize: quantizeF16},
	BF16: {name: "BF16", weights: 1, bytes: 2, dequant: dequantBF16, quantize: quantizeBF16},
	Q4_0: {name: "Q4_0", weights: 32, bytes: 18, dequant: dequantQ4_0, quantize: quantizeQ4_0},
	Q4_1: {name: "Q4_1", weights: 32, bytes: 20, dequant: dequantQ4_1, quantize: quantizeQ4_1},
	Q5_0: {name: "Q5_0", weights: 32, bytes: 22, dequant: dequantQ5_0, quantize: quantizeQ5_0},
	Q5_1: {name: "Q5_1", weights: 32, bytes: 24, dequant: dequantQ5_1, quantize: quantizeQ5_1},
	Q8_0: {name: "Q8_0", weights: 32, bytes: 34, dequant: dequantQ8_0, quantize: quantizeQ8_0},
	Q8_1: {name: "Q8_1", weights: 32, bytes: 36},
	Q2_K: {name: "Q2_K", weights: 256, bytes: 84},
	Q3_K: {name: "Q3_K", weights: 256, bytes: 110},
	Q4_K: {name: "Q4_K", weights: 256, bytes: 144, dequant: dequantQ4_K},
	Q5_K: {name: "Q5_K", weights: 256, bytes: 176, dequant: dequantQ5_K},
	Q6_K: {name: "Q6_K", weights: 256, bytes: 210, dequant: dequantQ6_K},
	Q8_K: {name: "Q8_K", weights: 256, bytes: 292},

	IQ2_XXS: {name: "IQ2_XXS", weights: 256, bytes: 66},
	IQ2_XS:  {name: "IQ2_XS", weights: 256, bytes: 74},
	IQ3_XXS: {name: "IQ3_XXS", weights: 256, bytes: 98},
	IQ1_S:   {name: "IQ1_S", weights: 256, bytes: 50},
	IQ4_NL:  {name: "IQ4_NL", weights: 32, bytes: 18},
	IQ3_S:   {name: "IQ3_S", weights: 256, bytes: 110},
	IQ2_S:   {name: "IQ2_S", weights: 256, bytes: 82},
	IQ4_XS:  {name: "IQ4_XS", weights: 256, bytes: 136},
	IQ1_M:   {name: "IQ1_M", weights: 256, bytes: 56},
	TQ1_0:   {name: "TQ1_0", weights: 256, bytes: 54},
	TQ2_0:   {name: "TQ2_0", weights: 256, bytes: 66},
	MXFP4:   {name: "MXFP4", weights: 32, bytes: 17},
	NVFP4:   {name: "NVFP4", weights: 64, bytes: 36},
	Q1_0:    {name: "Q1_0", weights: 128, bytes: 18},

	I8:  {name: "I8", weights: 1, bytes: 1},
	I16: {name: "I16", weights: 1, bytes: 2},
	I32: {name: "I32", weights: 1, bytes: 4},
	I64: {name: "I64", weights: 1, bytes: 8},
	F64: {name: "F64", weights: 1, bytes: 8},

	4: {name: "Q4_2", removedFromGGML: true}, 5: {name: "Q4_3", removedFromGGML: true},
	31: {name: "Q4_0_4_4", removedFromGGML: true}, 32: {name: "Q4_0_4_8", removedFromGGML: true},
	33: {name: "Q4_0_8_8", removedFromGGML: true}, 36: {name: "IQ4_NL_4_4", removedFromGGML: true},
	37: {name: "IQ4_NL_4_8", removedFromGGML: true}, 38: {name: "IQ4_NL_8_8", removedFromGGML: true},
}

func (t Type) layout() layout {
	if int64(t) < int64(len(layouts)) {
		return layouts[t]
	}
	return layout{}
}

// Name is ggml's name of the type ("Q4_K"), or "type 77" for an unknown id.
func (t Type) Name() string {
	if l := t.layout(); l.name != "" {
		return l.name
	}
	return fmt.Sprintf("type %d", uint32(t))
}

// String is Name.
func (t Type) String() string { return t.Name() }

// BlockSize is the number of weights that share one block; 0 for an id without
// a known layout.
func (t Type) BlockSize() int { return t.layout().weights }

// BlockBytes is the number of bytes of one block; 0 for an id without a known
// layout.
func (t Type) BlockBytes() int { return t.layout().bytes }

// Known says whether the size of a tensor of this type can be computed.
func (t Type) Known() bool { return t.BlockSize() > 0 }

// Removed says whether ggml once had this type and dropped it.
func (t Type) Removed() bool { return t.layout().removedFromGGML }

// Supported says whether Dequant can read the type.
func (t Type) Supported() bool { return t.layout().dequant != nil }

// RowBytes is the number of bytes of a row of cols weights. It is 0 when cols is
// not a positive whole number of blocks, when the result does not fit an int,
// or when the type is not Known.
func (t Type) RowBytes(cols int) int {
	l := t.layout()
	if l.weights == 0 || cols <= 0 || cols%l.weights != 0 || cols/l.weights > math.MaxInt/l.bytes {
		return 0
	}
	return cols / l.weights * l.bytes
}

// ParseType finds a type by its ggml name, as in "Q8_0". ok is false for a name
// without a known layout.
func ParseType(name string) (t Type, ok bool) {
	for i, l := range layouts {
		if l.name == name && l.weights > 0 {
			return Type(i), true
		}
	}
	return 0, false
}
