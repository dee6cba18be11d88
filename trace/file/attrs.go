package file

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Attrs are the facts of a span or the parameters of a request. Values are string, bool, int64, float64, nil, []string,
// []int64, []float64, []any or Attrs. Written and read again they have the same types: a float64 is always written with a
// point or an exponent. JSON has no NaN and no infinities; such a number is written as the string "NaN", "+Inf" or "-Inf".
type Attrs map[string]any

// AppendJSON appends the object with its keys in alphabetical order.
func (a Attrs) AppendJSON(b []byte) []byte {
	if len(a) == 1 { // the usual case of an op, without the sort
		for k, v := range a {
			b = appendKeyString(b, "{", k)
			return append(appendValue(append(b, ':'), v), '}')
		}
	}
	b = append(b, '{')
	for i, k := range slices.Sorted(maps.Keys(a)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(AppendString(b, k), ':')
		b = appendValue(b, a[k])
	}
	return append(b, '}')
}

// MarshalJSON writes the object as AppendJSON does.
func (a Attrs) MarshalJSON() ([]byte, error) { return a.AppendJSON(nil), nil }

// UnmarshalJSON reads an object and keeps whole numbers exact.
func (a *Attrs) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var m map[string]any
	if err := d.Decode(&m); err != nil {
		return err
	}
	if m == nil {
		*a = nil
		return nil
	}
	for k, v := range m {
		m[k] = fromJSON(v)
	}
	*a = m
	return nil
}

// Int returns the whole number under a key.
func (a Attrs) Int(key string) (int64, bool) {
	n, ok := a[key].(int64)
	return n, ok
}

func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case string:
		return AppendString(b, v)
	case bool:
		return strconv.AppendBool(b, v)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case float64:
		return appendFloat(b, v)
	case []int64:
		return appendList(b, v, func(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) })
	case []float64:
		return appendList(b, v, appendFloat)
	case []string:
		return appendList(b, v, AppendString)
	case []any:
		return appendList(b, v, appendValue)
	case Attrs:
		return v.AppendJSON(b)
	}
	return appendValue(b, clean(v))
}

func appendList[T any](b []byte, list []T, one func([]byte, T) []byte) []byte {
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, v)
	}
	return append(b, ']')
}

func appendFloat(b []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(strconv.AppendFloat(append(b, '"'), f, 'g', -1, 64), '"')
	}
	at := len(b)
	b = strconv.AppendFloat(b, f, 'g', -1, 64)
	if !bytes.ContainsAny(b[at:], ".e") {
		b = append(b, ".0"...)
	}
	return b
}

// clean turns a value of any type into one of the types of Attrs.
func clean(v any) any {
	switch v := v.(type) {
	case nil, string, bool, int64, float64, []string, []int64, []float64, []any, Attrs:
		return v
	case int:
		return int64(v)
	case int32:
		return int64(v)
	case uint32:
		return int64(v)
	case float32:
		return float64(v)
	case []int:
		out := make([]int64, len(v))
		for i, n := range v {
			out[i] = int64(n)
		}
		return out
	case map[string]any:
		return Attrs(v)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var x any
	if d.Decode(&x) != nil {
		return string(raw)
	}
	return fromJSON(x)
}

// fromJSON turns what a decoder with UseNumber made into the types of Attrs.
func fromJSON(v any) any {
	switch v := v.(type) {
	case json.Number:
		if !strings.ContainsAny(string(v), ".eE") {
			if n, err := v.Int64(); err == nil {
				return n
			}
		}
		f, err := v.Float64()
		if err != nil { // beyond the range of a float64: keep the digits
			return string(v)
		}
		return f
	case map[string]any:
		for k, x := range v {
			v[k] = fromJSON(x)
		}
		return Attrs(v)
	case []any:
		for i, x := range v {
			v[i] = fromJSON(x)
		}
		return narrow(v)
	}
	return v
}

// narrow gives a list whose elements are of one type that type.
func narrow(list []any) any {
	if len(list) == 0 {
		return list
	}
	switch list[0].(type) {
	case int64:
		return narrowTo[int64](list)
	case float64:
		return narrowTo[float64](list)
	case string:
		return narrowTo[string](list)
	}
	return list
}

func narrowTo[T any](list []any) any {
	out := make([]T, len(list))
	for i, v := range list {
		t, ok := v.(T)
		if !ok {
			return list
		}
		out[i] = t
	}
	return out
}

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string (RFC 8259): quotes, backslashes and control characters escaped, U+2028 and
// U+2029 too, and every byte that is not part of whole UTF-8 as U+FFFD.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		r, n := rune(c), 1
		if c >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
			if (r != utf8.RuneError || n != 1) && r != '\u2028' && r != '\u2029' {
				i += n
				continue
			}
		}
		b = append(b, s[done:i]...)
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r == '\r':
			b = append(b, `\r`...)
		default:
			b = append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
		}
		i += n
		done = i
	}
	return append(append(b, s[done:]...), '"')
}
