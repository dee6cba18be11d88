package gguf

import (
	"fmt"
	"math"
)

// The getters find a key and decode it. A missing key and a value of another
// type are an *Error that names the key and what was found. Those that end in
// Or give the default for a missing key, and still refuse another type.

// String gives a string.
func (f *File) String(key string) (string, error) {
	v, err := f.typed(key, "a string", func(v Value) bool { return v.typ == TypeString })
	return v.raw, err
}

// Bool gives a bool.
func (f *File) Bool(key string) (bool, error) {
	v, err := f.typed(key, "a bool", func(v Value) bool { return v.typ == TypeBool })
	return v.raw == "\x01", err
}

// Uint gives an integer of any stored type that is not negative.
func (f *File) Uint(key string) (uint64, error) {
	v, err := f.typed(key, "an integer from 0", func(v Value) bool {
		if !v.typ.integer() {
			return false
		}
		_, negative := integer(v.typ, v.raw)
		return !negative
	})
	return word(v.raw), err
}

// Int gives an integer of any stored type that fits 64 bits with a sign.
func (f *File) Int(key string) (int64, error) {
	v, err := f.typed(key, "an integer that fits int64", func(v Value) bool {
		if !v.typ.integer() {
			return false
		}
		bits, negative := integer(v.typ, v.raw)
		return negative || bits <= math.MaxInt64
	})
	if err != nil {
		return 0, err
	}
	bits, _ := integer(v.typ, v.raw)
	return int64(bits), nil
}

// Float gives a number: a float32 or float64, which may be infinite or NaN, or
// an integer.
func (f *File) Float(key string) (float64, error) {
	v, err := f.typed(key, "a number", func(v Value) bool { return v.typ.float() || v.typ.integer() })
	if err != nil {
		return 0, err
	}
	return number(v.typ, v.raw), nil
}

// Strings gives an array of strings, which share memory with the metadata.
func (f *File) Strings(key string) ([]string, error) {
	v, err := f.array(key, "strings", func(t ValueType) bool { return t == TypeString })
	if err != nil {
		return nil, err
	}
	return v.strings(), nil
}

// Bools gives an array of bools.
func (f *File) Bools(key string) ([]bool, error) {
	v, err := f.array(key, "bools", func(t ValueType) bool { return t == TypeBool })
	if err != nil {
		return nil, err
	}
	return decode(v, func(b string) bool { return b[0] != 0 }), nil
}

// Floats gives an array of numbers, as Float does.
func (f *File) Floats(key string) ([]float64, error) {
	v, err := f.array(key, "numbers", func(t ValueType) bool { return t.float() || t.integer() })
	if err != nil {
		return nil, err
	}
	return decode(v, func(b string) float64 { return number(v.elem, b) }), nil
}

// Ints gives an array of integers of any stored type, each of which must fit
// int64.
func (f *File) Ints(key string) ([]int64, error) {
	v, err := f.array(key, "integers", ValueType.integer)
	if err != nil {
		return nil, err
	}
	tooBig := -1
	out := decode(v, func(b string) int64 {
		bits, _ := integer(v.elem, b)
		return int64(bits)
	})
	if v.elem == TypeUint64 {
		for i, n := range out {
			if n < 0 {
				tooBig = i
			}
		}
	}
	if tooBig >= 0 {
		return nil, f.bad(key, "integers that fit int64", fmt.Sprintf("%d at index %d", uint64(out[tooBig]), tooBig), doDamaged)
	}
	return out, nil
}

// StringOr is String with a default.
func (f *File) StringOr(key, def string) (string, error) { return getOr(f, key, def, f.String) }

// BoolOr is Bool with a default.
func (f *File) BoolOr(key string, def bool) (bool, error) { return getOr(f, key, def, f.Bool) }

// UintOr is Uint with a default.
func (f *File) UintOr(key string, def uint64) (uint64, error) { return getOr(f, key, def, f.Uint) }

// IntOr is Int with a default.
func (f *File) IntOr(key string, def int64) (int64, error) { return getOr(f, key, def, f.Int) }

// FloatOr is Float with a default.
func (f *File) FloatOr(key string, def float64) (float64, error) { return getOr(f, key, def, f.Float) }

// StringsOr is Strings with a default.
func (f *File) StringsOr(key string, def []string) ([]string, error) {
	return getOr(f, key, def, f.Strings)
}

// BoolsOr is Bools with a default.
func (f *File) BoolsOr(key string, def []bool) ([]bool, error) { return getOr(f, key, def, f.Bools) }

// FloatsOr is Floats with a default.
func (f *File) FloatsOr(key string, def []float64) ([]float64, error) {
	return getOr(f, key, def, f.Floats)
}

// IntsOr is Ints with a default.
func (f *File) IntsOr(key string, def []int64) ([]int64, error) { return getOr(f, key, def, f.Ints) }

func getOr[T any](f *File, key string, def T, get func(string) (T, error)) (T, error) {
	if _, ok := f.index[key]; !ok {
		return def, nil
	}
	return get(key)
}

// typed finds a value that ok accepts; wanted is for the error.
func (f *File) typed(key, wanted string, ok func(Value) bool) (Value, error) {
	v, found := f.Value(key)
	if !found {
		return Value{}, f.bad(key, wanted, "no such key", "use a model file that has it, or "+doConvert)
	}
	if !ok(v) {
		return Value{}, f.bad(key, wanted, v.describe(), doConvert)
	}
	return v, nil
}

func (f *File) array(key, what string, ok func(ValueType) bool) (Value, error) {
	return f.typed(key, "an array of "+what, func(v Value) bool { return v.typ == TypeArray && ok(v.elem) })
}

// bad is an error about the value of a key.
func (f *File) bad(key, wanted, found, do string) *Error {
	at := int64(-1)
	if v, ok := f.Value(key); ok {
		at = v.off
	}
	return &Error{File: f.Name, Key: key, Offset: at, Wanted: wanted, Found: found, Do: do}
}

// number gives any numeric scalar as a float64.
func number(t ValueType, raw string) float64 {
	switch t {
	case TypeFloat32:
		return float64(math.Float32frombits(uint32(word(raw))))
	case TypeFloat64:
		return math.Float64frombits(word(raw))
	}
	bits, negative := integer(t, raw)
	if negative {
		return float64(int64(bits))
	}
	return float64(bits)
}
