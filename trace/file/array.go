package file

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"
)

// Array is a captured array. Raw holds the values in C order, little-endian; it is nil where the file at hand has only
// the description (see Omitted).
type Array struct {
	Shape     []int    `json:"shape"`
	DType     string   `json:"dtype"` // "f4", "f2", "u1", "i4", "u4", "i8" and their like
	Axes      []string `json:"axes"`  // one name for each dimension
	Meaning   string   `json:"meaning"`
	AttrNames []string `json:"attr_names,omitempty"` // names along the first axis, where it is a list of parts
	Omitted   string   `json:"omitted,omitempty"`    // why the values are not in this file
	Raw       []byte   `json:"-"`
}

// itemSize gives the size of a value of each dtype in bytes.
var itemSize = map[string]int{
	"f2": 2, "f4": 4, "f8": 8, "u1": 1, "u2": 2, "u4": 4, "u8": 8, "i1": 1, "i2": 2, "i4": 4, "i8": 8,
}

// Len returns the number of bytes that shape and dtype ask for. It refuses an unknown dtype, a negative dimension and a
// product that does not fit.
func (a *Array) Len() (int64, error) {
	size, ok := itemSize[a.DType]
	if !ok {
		return 0, fmt.Errorf("dtype: wanted f2, f4, f8, u1, u2, u4, u8, i1, i2, i4 or i8, found %q", a.DType)
	}
	n := int64(size)
	for i, d := range a.Shape {
		if d < 0 {
			return 0, fmt.Errorf("shape[%d]: wanted 0 or more, found %d", i, d)
		}
		if d > 0 && n > math.MaxInt64/int64(d) {
			return 0, fmt.Errorf("shape: %v is larger than any file", a.Shape)
		}
		n *= int64(d)
	}
	return n, nil
}

// check says what is wrong with an array that is about to be written, or was read.
func (a *Array) check(name string) error {
	if err := checkArrayName(name); err != nil {
		return err
	}
	want, err := a.Len()
	if err != nil {
		return fmt.Errorf("arrays[%q].%w", name, err)
	}
	if a.Raw != nil && int64(len(a.Raw)) != want {
		return fmt.Errorf("arrays[%q]: shape %v of %s wants %d bytes, found %d", name, a.Shape, a.DType, want, len(a.Raw))
	}
	return nil
}

// number is a Go type with a dtype.
type number interface {
	~float32 | ~uint8 | ~int32 | ~uint32 | ~int64 | ~uint16
}

// NewArray copies values, in C order, into an array. The dtype is that of T: f4, u1, i4, u4, i8; uint16 is taken as the
// bits of an f2.
func NewArray[T number](values []T, shape []int, axes []string, meaning string) *Array {
	a := &Array{Shape: shape, Axes: axes, Meaning: meaning}
	var zero T
	switch any(zero).(type) {
	case float32:
		a.DType = "f4"
	case uint8:
		a.DType = "u1"
	case int32:
		a.DType = "i4"
	case uint32:
		a.DType = "u4"
	case int64:
		a.DType = "i8"
	case uint16:
		a.DType = "f2"
	}
	size := int(unsafe.Sizeof(zero))
	a.Raw = make([]byte, len(values)*size)
	for i, v := range values {
		putNumber(a.Raw[i*size:], v)
	}
	return a
}

func putNumber[T number](dst []byte, v T) {
	switch v := any(v).(type) {
	case float32:
		binary.LittleEndian.PutUint32(dst, math.Float32bits(v))
	case uint8:
		dst[0] = v
	case int32:
		binary.LittleEndian.PutUint32(dst, uint32(v))
	case uint32:
		binary.LittleEndian.PutUint32(dst, v)
	case int64:
		binary.LittleEndian.PutUint64(dst, uint64(v))
	case uint16:
		binary.LittleEndian.PutUint16(dst, v)
	}
}

// Float32s returns the values as float32; f2, f4, and the integers are turned into it.
func (a *Array) Float32s() ([]float32, error) {
	size, ok := itemSize[a.DType]
	if !ok || a.Raw == nil {
		return nil, fmt.Errorf("array of %q with %d bytes: its values are not in this recording", a.DType, len(a.Raw))
	}
	out := make([]float32, len(a.Raw)/size)
	le := binary.LittleEndian
	for i := range out {
		b := a.Raw[i*size:]
		switch a.DType {
		case "f2":
			out[i] = halfToFloat(le.Uint16(b))
		case "f4":
			out[i] = math.Float32frombits(le.Uint32(b))
		case "f8":
			out[i] = float32(math.Float64frombits(le.Uint64(b)))
		case "u1":
			out[i] = float32(b[0])
		case "u2":
			out[i] = float32(le.Uint16(b))
		case "u4":
			out[i] = float32(le.Uint32(b))
		case "u8":
			out[i] = float32(le.Uint64(b))
		case "i1":
			out[i] = float32(int8(b[0]))
		case "i2":
			out[i] = float32(int16(le.Uint16(b)))
		case "i4":
			out[i] = float32(int32(le.Uint32(b)))
		case "i8":
			out[i] = float32(int64(le.Uint64(b)))
		}
	}
	return out, nil
}

// Ints returns the values of an integer array.
func (a *Array) Ints() ([]int64, error) {
	size, ok := itemSize[a.DType]
	if !ok || a.Raw == nil || a.DType[0] == 'f' {
		return nil, fmt.Errorf("array of %q with %d bytes: wanted whole numbers that are in this recording", a.DType, len(a.Raw))
	}
	out := make([]int64, len(a.Raw)/size)
	for i := range out {
		var u uint64
		for k := size - 1; k >= 0; k-- {
			u = u<<8 | uint64(a.Raw[i*size+k])
		}
		if a.DType[0] == 'i' { // sign
			shift := uint(64 - 8*size)
			u = uint64(int64(u<<shift) >> shift)
		}
		out[i] = int64(u)
	}
	return out, nil
}

// halfToFloat widens an IEEE 754 binary16.
func halfToFloat(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10&31), uint32(h&1023)
	switch {
	case exp == 31:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	case exp == 0:
		f := float32(frac) / (1 << 24)
		if sign != 0 {
			f = -f
		}
		return f
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}
