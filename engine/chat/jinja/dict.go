package jinja

import (
	"math"
	"strings"
)

// Dict is a mapping that keeps the order of its keys.
type Dict struct {
	keys []Value
	vals []Value
	at   map[any]int
}

// NewDict makes an empty dict.
func NewDict() *Dict { return &Dict{at: map[any]int{}} }

// Len is the number of keys.
func (d *Dict) Len() int { return len(d.keys) }

// Set stores a value under a string key, at the end when the key is new.
func (d *Dict) Set(key string, v Value) { d.put(key, lit(key), v) }

// SetKey stores a value under a string key that may carry user text.
func (d *Dict) SetKey(key Str, v Value) { d.put(key.s, key, v) }

func (d *Dict) put(h any, key, v Value) {
	if i, ok := d.at[h]; ok {
		d.vals[i] = v
		return
	}
	d.at[h] = len(d.keys)
	d.keys, d.vals = append(d.keys, key), append(d.vals, v)
}

// Get looks a string key up.
func (d *Dict) Get(key string) (Value, bool) {
	if i, ok := d.at[key]; ok {
		return d.vals[i], true
	}
	return nil, false
}

func (d *Dict) lookup(in *interp, key Value) (Value, bool, error) {
	h, err := in.hash(key, 0)
	if err != nil {
		return nil, false, err
	}
	if i, ok := d.at[h]; ok {
		return d.vals[i], true, nil
	}
	return nil, false, nil
}

func (v dictView) at(i int64) Value {
	switch v.kind {
	case "keys":
		return v.d.keys[i]
	case "values":
		return v.d.vals[i]
	}
	return Tuple{v.d.keys[i], v.d.vals[i]}
}

type (
	tupleHash  string
	objectHash struct{ p any }
)

// hash gives a comparable stand-in for v, equal for values that Python counts
// as the same key: 1, 1.0 and true are one key.
func (in *interp) hash(v Value, depth int) (any, error) {
	switch v := v.(type) {
	case nil:
		return objectHash{nil}, nil
	case bool:
		if v {
			return int64(1), nil
		}
		return int64(0), nil
	case int64:
		return v, nil
	case float64:
		if i, ok := exactInt(v); ok {
			return i, nil
		}
		return v, nil
	case Str:
		return v.s, in.step(len(v.s) / 64)
	case Tuple:
		return in.hashTuple(v, depth)
	case dictView:
		if v.kind == "values" {
			return objectHash{v}, nil
		}
		return nil, typeErr("unhashable type: '%s'", typeName(v))
	case *List, *Dict:
		return nil, typeErr("unhashable type: '%s'", typeName(v))
	case *Undefined:
		return objectHash{"undefined"}, nil
	case rangeVal:
		return v, nil
	}
	return objectHash{v}, nil
}

func (in *interp) hashTuple(t Tuple, depth int) (any, error) {
	if err := in.nested(depth); err != nil {
		return nil, err
	}
	var b strings.Builder
	for _, x := range t {
		if err := in.step(1); err != nil {
			return nil, err
		}
		h, err := in.hash(x, depth+1)
		if err != nil {
			return nil, err
		}
		text := hashText(h)
		if err := in.alloc(len(text)); err != nil {
			return nil, err
		}
		b.WriteString(text)
	}
	return tupleHash(b.String()), nil
}

func exactInt(f float64) (int64, bool) {
	if f == math.Trunc(f) && f >= -9.2e18 && f <= 9.2e18 {
		return int64(f), true
	}
	return 0, false
}
