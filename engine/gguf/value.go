package gguf

import (
	"encoding/binary"
	"fmt"
	"math"
)

// ValueType is the type of a metadata value (GGUF specification, enum
// gguf_metadata_value_type).
type ValueType uint32

// The metadata value types of GGUF 2 and 3.
const (
	TypeUint8   ValueType = 0
	TypeInt8    ValueType = 1
	TypeUint16  ValueType = 2
	TypeInt16   ValueType = 3
	TypeUint32  ValueType = 4
	TypeInt32   ValueType = 5
	TypeFloat32 ValueType = 6
	TypeBool    ValueType = 7
	TypeString  ValueType = 8
	TypeArray   ValueType = 9
	TypeUint64  ValueType = 10
	TypeInt64   ValueType = 11
	TypeFloat64 ValueType = 12
)

var valueTypes = [...]struct {
	name string
	size int // bytes of a scalar; 0 for string and array
}{
	{"uint8", 1}, {"int8", 1}, {"uint16", 2}, {"int16", 2}, {"uint32", 4}, {"int32", 4}, {"float32", 4},
	{"bool", 1}, {"string", 0}, {"array", 0}, {"uint64", 8}, {"int64", 8}, {"float64", 8},
}

// String is the name of the type, such as "uint32".
func (t ValueType) String() string {
	if t.known() {
		return valueTypes[t].name
	}
	return fmt.Sprintf("value type %d", uint32(t))
}

func (t ValueType) known() bool { return uint64(t) < uint64(len(valueTypes)) }

func (t ValueType) size() int {
	if t.known() {
		return valueTypes[t].size
	}
	return 0
}

func (t ValueType) integer() bool {
	return t <= TypeInt32 || t == TypeUint64 || t == TypeInt64
}

func (t ValueType) float() bool { return t == TypeFloat32 || t == TypeFloat64 }

// Value is one metadata value. It keeps the bytes as the file has them and
// decodes when asked; it stays valid after the file is closed.
type Value struct {
	typ, elem ValueType
	n         int    // elements of an array
	raw       string // a scalar, the bytes of a string, or the elements of an array
	off       int64  // where raw starts in the file
}

// KV is one metadata pair.
type KV struct {
	Key   string
	Value Value
}

// Type is the type of the value.
func (v Value) Type() ValueType { return v.typ }

// Elem is the type of an array's elements. It is only meaningful for arrays.
func (v Value) Elem() ValueType { return v.elem }

// Len is the number of elements of an array, and 0 for anything else.
func (v Value) Len() int { return v.n }

// describe names what was found where another type was wanted.
func (v Value) describe() string {
	if v.typ == TypeArray {
		return fmt.Sprintf("an array of %d %s values", v.n, v.elem)
	}
	return fmt.Sprintf("%s %s", v.typ, v.text())
}

func (v Value) text() string {
	if v.typ == TypeString {
		return quote(v.raw)
	}
	return fmt.Sprint(v.Any())
}

// Any decodes the value: a Go scalar of the same type, a slice such as []int32
// or []string, or []any for an array of arrays.
func (v Value) Any() any {
	switch {
	case v.typ == TypeString:
		return v.raw
	case v.typ != TypeArray:
		return scalarAny(v.typ, v.raw)
	}
	switch v.elem {
	case TypeString:
		return v.strings()
	case TypeArray:
		out := make([]any, 0, v.n)
		for _, e := range v.Elems() {
			out = append(out, e.Any())
		}
		return out
	case TypeUint8:
		return []uint8(v.raw)
	case TypeInt8:
		return decode(v, func(b string) int8 { return int8(b[0]) })
	case TypeUint16:
		return decode(v, func(b string) uint16 { return uint16(word(b)) })
	case TypeInt16:
		return decode(v, func(b string) int16 { return int16(word(b)) })
	case TypeUint32:
		return decode(v, func(b string) uint32 { return uint32(word(b)) })
	case TypeInt32:
		return decode(v, func(b string) int32 { return int32(word(b)) })
	case TypeUint64:
		return decode(v, word)
	case TypeInt64:
		return decode(v, func(b string) int64 { return int64(word(b)) })
	case TypeFloat32:
		return decode(v, func(b string) float32 { return math.Float32frombits(uint32(word(b))) })
	case TypeFloat64:
		return decode(v, func(b string) float64 { return math.Float64frombits(word(b)) })
	default:
		return decode(v, func(b string) bool { return b[0] != 0 })
	}
}

// Elems are the elements of an array as values of their own; nil for a scalar.
func (v Value) Elems() []Value {
	if v.typ != TypeArray {
		return nil
	}
	out := make([]Value, 0, v.n)
	r := reader{buf: v.raw}
	for range v.n {
		e, err := r.value(v.elem, 0)
		if err != nil { // parsed once before, so the bytes are known to be whole
			return nil
		}
		e.off += v.off
		out = append(out, e)
	}
	return out
}

// strings slices an array of strings out of its bytes, without copying them.
func (v Value) strings() []string {
	out := make([]string, v.n)
	raw := v.raw
	for i := range out {
		end := 8 + word(raw[:8])
		out[i], raw = raw[8:end], raw[end:]
	}
	return out
}

func decode[T any](v Value, one func(string) T) []T {
	size := v.elem.size()
	out := make([]T, v.n)
	for i := range out {
		out[i] = one(v.raw[i*size : (i+1)*size])
	}
	return out
}

// word reads a little-endian unsigned integer of 1, 2, 4 or 8 bytes.
func word(b string) uint64 {
	var w [8]byte
	copy(w[:], b)
	return binary.LittleEndian.Uint64(w[:])
}

func scalarAny(t ValueType, raw string) any {
	w := word(raw)
	switch t {
	case TypeUint8:
		return uint8(w)
	case TypeInt8:
		return int8(w)
	case TypeUint16:
		return uint16(w)
	case TypeInt16:
		return int16(w)
	case TypeUint32:
		return uint32(w)
	case TypeInt32:
		return int32(w)
	case TypeUint64:
		return w
	case TypeInt64:
		return int64(w)
	case TypeFloat32:
		return math.Float32frombits(uint32(w))
	case TypeFloat64:
		return math.Float64frombits(w)
	default:
		return w != 0
	}
}

// integer gives a scalar integer as magnitude bits and whether it is negative.
func integer(t ValueType, raw string) (bits uint64, negative bool) {
	w := word(raw)
	switch t {
	case TypeInt8:
		w = uint64(int8(w))
	case TypeInt16:
		w = uint64(int16(w))
	case TypeInt32:
		w = uint64(int32(w))
	case TypeInt64:
	default:
		return w, false
	}
	return w, int64(w) < 0
}
