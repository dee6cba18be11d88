package file

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"glassbox/trace"
)

// littleEndian tells whether numbers lie in memory as they do in a file.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// FromCapture turns an array that the engine copied out into one of a recording. Its values are shared, not copied, where
// the machine's byte order allows it.
func FromCapture(c trace.Array) (*Array, error) {
	var a *Array
	switch v := c.Data.(type) {
	case []float32:
		a = fromNumbers(v, "f4")
	case []int32:
		a = fromNumbers(v, "i4")
	default:
		return nil, fmt.Errorf("arrays[%q]: wanted float32 or int32 values, found %T", c.Name, c.Data)
	}
	a.Shape, a.Axes, a.Meaning, a.AttrNames = c.Shape, c.Axes, c.Meaning, c.Names
	return a, a.check(c.Name)
}

func fromNumbers[T float32 | int32](v []T, dtype string) *Array {
	if !littleEndian || len(v) == 0 {
		return NewArray(v, nil, nil, "")
	}
	return &Array{DType: dtype, Raw: unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), 4*len(v))}
}
