package gguf

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
)

// Native are the Go types that NewKV turns into metadata values.
type Native interface {
	uint8 | int8 | uint16 | int16 | uint32 | int32 | uint64 | int64 | float32 | float64 | bool | string |
		[]uint8 | []int8 | []uint16 | []int16 | []uint32 | []int32 | []uint64 | []int64 | []float32 | []float64 |
		[]bool | []string | [][]int32 | [][]string
}

// NewKV makes a metadata pair whose type follows from v: NewKV("a.b", uint32(3)).
func NewKV[T Native](key string, v T) KV { return KV{key, valueOf(any(v))} }

func valueOf(v any) Value {
	switch v := v.(type) {
	case string:
		return Value{typ: TypeString, raw: v}
	case []uint8:
		return listOf(TypeUint8, v)
	case []int8:
		return listOf(TypeInt8, v)
	case []uint16:
		return listOf(TypeUint16, v)
	case []int16:
		return listOf(TypeInt16, v)
	case []uint32:
		return listOf(TypeUint32, v)
	case []int32:
		return listOf(TypeInt32, v)
	case []uint64:
		return listOf(TypeUint64, v)
	case []int64:
		return listOf(TypeInt64, v)
	case []float32:
		return listOf(TypeFloat32, v)
	case []float64:
		return listOf(TypeFloat64, v)
	case []bool:
		return listOf(TypeBool, v)
	case []string:
		return listOf(TypeString, v)
	case [][]int32:
		return listOf(TypeArray, v)
	case [][]string:
		return listOf(TypeArray, v)
	default:
		return scalarOf(v)
	}
}

func listOf[T any](elem ValueType, list []T) Value {
	var raw []byte
	for _, e := range list {
		raw = appendValue(raw, valueOf(any(e)))
	}
	return Value{typ: TypeArray, elem: elem, n: len(list), raw: string(raw)}
}

func scalarOf(v any) Value {
	le := binary.LittleEndian
	switch v := v.(type) {
	case uint8:
		return Value{typ: TypeUint8, raw: string([]byte{v})}
	case int8:
		return Value{typ: TypeInt8, raw: string([]byte{byte(v)})}
	case uint16:
		return Value{typ: TypeUint16, raw: string(le.AppendUint16(nil, v))}
	case int16:
		return Value{typ: TypeInt16, raw: string(le.AppendUint16(nil, uint16(v)))}
	case uint32:
		return Value{typ: TypeUint32, raw: string(le.AppendUint32(nil, v))}
	case int32:
		return Value{typ: TypeInt32, raw: string(le.AppendUint32(nil, uint32(v)))}
	case float32:
		return Value{typ: TypeFloat32, raw: string(le.AppendUint32(nil, math.Float32bits(v)))}
	case uint64:
		return Value{typ: TypeUint64, raw: string(le.AppendUint64(nil, v))}
	case int64:
		return Value{typ: TypeInt64, raw: string(le.AppendUint64(nil, uint64(v)))}
	case float64:
		return Value{typ: TypeFloat64, raw: string(le.AppendUint64(nil, math.Float64bits(v)))}
	case bool:
		if v {
			return Value{typ: TypeBool, raw: "\x01"}
		}
	}
	return Value{typ: TypeBool, raw: "\x00"}
}

// appendValue writes a value as it stands in an array: without its type.
func appendValue(b []byte, v Value) []byte {
	switch v.typ {
	case TypeString:
		b = binary.LittleEndian.AppendUint64(b, uint64(len(v.raw)))
	case TypeArray:
		b = binary.LittleEndian.AppendUint32(b, uint32(v.elem))
		b = binary.LittleEndian.AppendUint64(b, uint64(v.n))
	}
	return append(b, v.raw...)
}

func appendString(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...)
}

// Write writes a little-endian GGUF 3 file: kvs and tensors in their order, with
// the alignment that kvs names or 32. Of a tensor it uses Name, Type, Dims and
// Data. What Parse would refuse is refused here, with the same errors, before
// the first byte is written.
func Write(w io.Writer, kvs []KV, tensors []Tensor) error {
	le := binary.LittleEndian
	f := &File{Name: "file to write", kvs: kvs, index: map[string]int{}}
	head := le.AppendUint32([]byte("GGUF"), 3)
	head = le.AppendUint64(head, uint64(len(tensors)))
	head = le.AppendUint64(head, uint64(len(kvs)))
	for i, kv := range kvs {
		f.index[kv.Key] = i
		head = appendString(head, kv.Key)
		head = le.AppendUint32(head, uint32(kv.Value.typ))
		head = appendValue(head, kv.Value)
	}
	align, err := f.alignment()
	if err != nil {
		return err
	}
	offset := int64(0)
	for _, t := range tensors {
		if err := checkData(f.Name, &t); err != nil {
			return err
		}
		head = appendString(head, t.Name)
		head = le.AppendUint32(head, uint32(len(t.Dims)))
		for _, d := range t.Dims {
			head = le.AppendUint64(head, uint64(d))
		}
		head = le.AppendUint32(head, uint32(t.Type))
		head = le.AppendUint64(head, uint64(offset))
		offset = pad(offset+int64(len(t.Data)), align)
	}
	start := pad(int64(len(head)), align)
	back := &File{Name: f.Name, index: map[string]int{}, byName: map[string]*Tensor{}}
	if err := back.header(&reader{file: f.Name, buf: string(head), size: start + offset}); err != nil {
		return err
	}
	if _, err := w.Write(append(head, make([]byte, start-int64(len(head)))...)); err != nil {
		return fmt.Errorf("gguf: cannot write the metadata: %w", err)
	}
	for _, t := range tensors {
		gap := make([]byte, pad(int64(len(t.Data)), align)-int64(len(t.Data)))
		for _, b := range [][]byte{t.Data, gap} {
			if _, err := w.Write(b); err != nil {
				return fmt.Errorf("gguf: cannot write tensor %s: %w", quote(t.Name), err)
			}
		}
	}
	return nil
}

// checkData compares the length of a tensor's data with its shape. A shape that
// is wrong in itself is left to the reader's checks.
func checkData(name string, t *Tensor) error {
	if len(t.Dims) == 0 {
		return nil
	}
	row := t.Type.RowBytes(t.Cols())
	if row == 0 || slices.Min(t.Dims) < 1 || row*t.Rows() == len(t.Data) {
		return nil
	}
	return &Error{File: name, Tensor: t.Name, Offset: -1, Wanted: fmt.Sprintf("%d bytes of data for %s %v", row*t.Rows(), t.Type, t.Dims),
		Found: fmt.Sprint(len(t.Data)), Do: "pass Rows() rows of RowBytes(Cols()) bytes"}
}

func pad(n, align int64) int64 { return (n + align - 1) / align * align }
