package jinja

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
)

// jsonWriter writes like Python's json.dumps.
type jsonWriter struct {
	in       *interp
	b        strBuf
	ascii    bool
	sortKeys bool
	pretty   bool
	indent   Str
	itemSep  Str
	keySep   Str
}

// filterToJSON is the tojson filter as transformers overrides it: no HTML
// escaping, no ASCII escaping, keys in their order.
func filterToJSON(in *interp, v Value, a args) (Value, error) {
	b, err := a.bind("tojson", 0, "ensure_ascii", "indent", "separators", "sort_keys")
	if err != nil {
		return nil, err
	}
	w := &jsonWriter{in: in, ascii: isSet(b[0]), sortKeys: isSet(b[3]), itemSep: lit(", "), keySep: lit(": ")}
	if given(b[1]) && b[1] != nil {
		w.pretty, w.itemSep = true, lit(",")
		if s, ok := b[1].(Str); ok {
			w.indent = s
		} else {
			n, err := wantInt(b[1], "indent")
			if err != nil {
				return nil, err
			}
			if w.indent, err = in.padded(Str{}, n, '<', lit(" ")); err != nil {
				return nil, err
			}
		}
	}
	if given(b[2]) && b[2] != nil {
		seps, err := in.collect(b[2])
		if err != nil {
			return nil, err
		}
		if len(seps) != 2 {
			return nil, valueErr("separators: expected 2 items, got %d", len(seps))
		}
		for i, to := range []*Str{&w.itemSep, &w.keySep} {
			if *to, err = wantStr(seps[i], "separator"); err != nil {
				return nil, err
			}
		}
	}
	if err := w.value(v, 0); err != nil {
		return nil, err
	}
	return w.b.str(), nil
}

func (w *jsonWriter) newline(depth int) error {
	if !w.pretty {
		return nil
	}
	if err := w.in.alloc(1 + depth*len(w.indent.s)); err != nil {
		return err
	}
	w.b.lit("\n")
	for ; depth > 0; depth-- {
		w.b.add(w.indent)
	}
	return nil
}

func (w *jsonWriter) value(v Value, depth int) error {
	if err := w.in.nested(depth); err != nil {
		return err
	}
	if err := w.in.alloc(8); err != nil {
		return err
	}
	switch v := v.(type) {
	case Str:
		return w.string(v)
	case *List:
		return w.items(v.items, depth)
	case Tuple:
		return w.items(v, depth)
	case *Dict:
		return w.dict(v, depth)
	}
	s, ok := scalarJSON(v)
	if !ok {
		return typeErr("Object of type %s is not JSON serializable", typeName(v))
	}
	w.b.lit(s)
	return nil
}

func scalarJSON(v Value) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "null", true
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		switch {
		case math.IsNaN(v):
			return "NaN", true
		case math.IsInf(v, 1):
			return "Infinity", true
		case math.IsInf(v, -1):
			return "-Infinity", true
		}
		return floatRepr(v), true
	}
	return "", false
}

func (w *jsonWriter) items(items []Value, depth int) error {
	if len(items) == 0 {
		w.b.lit("[]")
		return nil
	}
	w.b.lit("[")
	for i, x := range items {
		if i > 0 {
			w.b.add(w.itemSep)
		}
		if err := w.newline(depth + 1); err != nil {
			return err
		}
		if err := w.value(x, depth+1); err != nil {
			return err
		}
	}
	err := w.newline(depth)
	w.b.lit("]")
	return err
}

func (w *jsonWriter) dict(d *Dict, depth int) error {
	if d.Len() == 0 {
		w.b.lit("{}")
		return nil
	}
	ks, err := w.order(d)
	if err != nil {
		return err
	}
	w.b.lit("{")
	for i, k := range ks {
		if i > 0 {
			w.b.add(w.itemSep)
		}
		if err := w.newline(depth + 1); err != nil {
			return err
		}
		key, ok := k.key.(Str)
		if !ok {
			text, ok := scalarJSON(k.key)
			if !ok {
				return typeErr("keys must be str, int, float, bool or None, not %s", typeName(k.key))
			}
			key = lit(text)
		}
		if err := w.string(key); err != nil {
			return err
		}
		w.b.add(w.keySep)
		if err := w.value(k.item, depth+1); err != nil {
			return err
		}
	}
	err = w.newline(depth)
	w.b.lit("}")
	return err
}

func (w *jsonWriter) order(d *Dict) ([]keyed, error) {
	if err := w.in.alloc(32 * d.Len()); err != nil {
		return nil, err
	}
	ks := make([]keyed, d.Len())
	for i := range ks {
		ks[i] = keyed{d.keys[i], d.vals[i]}
	}
	if w.sortKeys {
		return ks, w.in.sortKeyed(ks, false)
	}
	return ks, nil
}

func (w *jsonWriter) string(s Str) error {
	if err := w.in.alloc(len(s.s) + 16*len(s.user)); err != nil {
		return err
	}
	w.b.lit(`"`)
	if !w.ascii && !strings.ContainsFunc(s.s, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' }) {
		w.b.add(s)
	} else {
		for i, r := range s.s {
			w.b.put(jsonRune(r, w.ascii), s.isUser(i))
		}
	}
	w.b.lit(`"`)
	return nil
}

func jsonRune(r rune, ascii bool) string {
	switch r {
	case '"', '\\':
		return `\` + string(r)
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	case '\f':
		return `\f`
	case '\b':
		return `\b`
	}
	if r >= 0x10000 && ascii {
		hi, lo := utf16.EncodeRune(r)
		return fmt.Sprintf(`\u%04x\u%04x`, hi, lo)
	}
	if r < ' ' || ascii && r > '~' {
		return fmt.Sprintf(`\u%04x`, r)
	}
	return string(r)
}
