package grammar

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// value is a JSON value that remembers the order of an object's keys: properties are written in the order of the schema.
type value struct {
	kind  byte // { [ " 0 t f n
	text  string
	keys  []string
	by    map[string]*value
	items []*value
}

const (
	maxSchema = 256 << 10 // bytes of a schema
	maxDepth  = 64        // of values in values
)

// parse reads a JSON value. A key that comes twice is refused: nobody can tell which one counts.
func parse(text []byte) (*value, error) {
	if len(text) > maxSchema {
		return nil, &SchemaError{Text: fmt.Sprintf("wanted a schema of at most %d bytes, found %d", maxSchema, len(text))}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return read(d, 0)
}

func read(d *json.Decoder, depth int) (*value, error) {
	if depth > maxDepth {
		return nil, &SchemaError{Text: fmt.Sprintf("wanted at most %d values inside each other", maxDepth)}
	}
	t, err := d.Token()
	if err != nil {
		return nil, &SchemaError{Text: "wanted JSON: " + err.Error()}
	}
	switch t := t.(type) {
	case string:
		return &value{kind: '"', text: t}, nil
	case json.Number:
		return &value{kind: '0', text: t.String()}, nil
	case bool:
		return &value{kind: strconv.FormatBool(t)[0]}, nil
	case nil:
		return &value{kind: 'n'}, nil
	case json.Delim:
		return readMany(d, byte(t), depth)
	}
	return nil, &SchemaError{Text: fmt.Sprintf("wanted JSON, found %v", t)}
}

func readMany(d *json.Decoder, kind byte, depth int) (*value, error) {
	v := &value{kind: kind, by: map[string]*value{}}
	for d.More() {
		key := ""
		if kind == '{' {
			t, err := d.Token()
			if err != nil {
				return nil, &SchemaError{Text: "wanted JSON: " + err.Error()}
			}
			key, _ = t.(string)
			if v.by[key] != nil {
				return nil, &SchemaError{Text: fmt.Sprintf("wanted each key once, found %q twice", key)}
			}
			v.keys = append(v.keys, key)
		}
		in, err := read(d, depth+1)
		if err != nil {
			return nil, err
		}
		v.by[key] = in
		v.items = append(v.items, in)
	}
	if _, err := d.Token(); err != nil {
		return nil, &SchemaError{Text: "wanted JSON: " + err.Error()}
	}
	return v, nil
}

// compact writes the value without blanks, as JSON.stringify does.
func (v *value) compact() string {
	var b bytes.Buffer
	v.write(&b)
	return b.String()
}

func (v *value) write(b *bytes.Buffer) {
	switch v.kind {
	case '"':
		b.WriteString(quote(v.text))
	case '0':
		b.WriteString(v.text)
	case 't', 'f', 'n':
		b.WriteString(map[byte]string{'t': "true", 'f': "false", 'n': "null"}[v.kind])
	default:
		b.WriteByte(v.kind)
		for i, in := range v.items {
			if i > 0 {
				b.WriteByte(',')
			}
			if v.kind == '{' {
				b.WriteString(quote(v.keys[i]) + ":")
			}
			in.write(b)
		}
		b.WriteByte(v.kind + 2) // } after {, ] after [, in ASCII
	}
}

// quote writes a JSON string; only what has to be escaped is.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can be written
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// integer tells an integer's value; ok is false for any other number.
func (v *value) integer() (int64, bool) {
	if v.kind != '0' {
		return 0, false
	}
	if n, err := strconv.ParseInt(v.text, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(v.text, 64)
	if err != nil || f != float64(int64(f)) || f > 1e15 || f < -1e15 {
		return 0, false
	}
	return int64(f), true
}
