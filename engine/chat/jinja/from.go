package jinja

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sort"
	"strconv"
)

const maxInputDepth = 200

// From turns a Go value into a template value: nil, bool, integers, floats,
// strings, json.Number, json.RawMessage (key order kept), slices and maps with
// string keys (sorted, as a Go map has no order), and template values as they
// are. All strings and keys count as the user's when user is set.
func From(v any, user bool) (Value, error) { return from(v, user, 0) }

func from(v any, user bool, depth int) (Value, error) {
	if depth > maxInputDepth {
		return nil, &LimitError{Limit: "nested input values", Max: maxInputDepth}
	}
	switch v := v.(type) {
	case nil, bool, int64, float64, Str, *List, Tuple, *Dict:
		return v, nil
	case string:
		return String(v, user), nil
	case int:
		return int64(v), nil
	case int32:
		return int64(v), nil
	case uint32:
		return int64(v), nil
	case float32:
		return float64(v), nil
	case json.Number:
		return fromNumber(v)
	case json.RawMessage:
		return FromJSON(v, user)
	case []string:
		l := &List{}
		for _, s := range v {
			l.items = append(l.items, String(s, user))
		}
		return l, nil
	case []any:
		l := &List{}
		for _, x := range v {
			y, err := from(x, user, depth+1)
			if err != nil {
				return nil, err
			}
			l.items = append(l.items, y)
		}
		return l, nil
	case []map[string]any:
		l := &List{}
		for _, x := range v {
			y, err := from(x, user, depth+1)
			if err != nil {
				return nil, err
			}
			l.items = append(l.items, y)
		}
		return l, nil
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		d := NewDict()
		for _, k := range keys {
			y, err := from(v[k], user, depth+1)
			if err != nil {
				return nil, err
			}
			d.SetKey(String(k, user), y)
		}
		return d, nil
	}
	return nil, fmt.Errorf("template input: a %T cannot be given to a template; use strings, numbers, bools, slices, maps or json.RawMessage", v)
}

func fromNumber(n json.Number) (Value, error) {
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return i, nil
	}
	if !bytes.ContainsAny([]byte(n), ".eE") {
		return nil, fmt.Errorf("template input: the integer %.40s does not fit 64 bits", n)
	}
	f, err := n.Float64()
	if err != nil {
		return nil, fmt.Errorf("template input: the number %.40s does not fit a double", n)
	}
	return f, nil
}

// FromJSON reads one JSON value and keeps the order of keys.
func FromJSON(data []byte, user bool) (Value, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	v, err := readJSON(dec, user, 0)
	if err != nil {
		return nil, fmt.Errorf("template input: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("template input: text after the JSON value at byte %d", dec.InputOffset())
	}
	return v, nil
}

func readJSON(dec *json.Decoder, user bool, depth int) (Value, error) {
	if depth > maxInputDepth {
		return nil, &LimitError{Limit: "nested input values", Max: maxInputDepth}
	}
	t, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case string:
		return String(t, user), nil
	case json.Number:
		return fromNumber(t)
	case json.Delim:
		if t == '[' {
			l := &List{}
			for dec.More() {
				x, err := readJSON(dec, user, depth+1)
				if err != nil {
					return nil, err
				}
				l.items = append(l.items, x)
			}
			_, err = dec.Token()
			return l, err
		}
		d := NewDict()
		for dec.More() {
			k, err := dec.Token()
			if err != nil {
				return nil, err
			}
			x, err := readJSON(dec, user, depth+1)
			if err != nil {
				return nil, err
			}
			d.SetKey(String(k.(string), user), x)
		}
		_, err = dec.Token()
		return d, err
	}
	return t, nil
}
