package jinja

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// toStr is Python's str(v).
func (in *interp) toStr(v Value) (Str, error) {
	switch v := v.(type) {
	case Str:
		v.safe = false
		return v, nil
	case *Undefined:
		return Str{}, nil
	}
	return in.repr(v)
}

// repr is Python's repr(v).
func (in *interp) repr(v Value) (Str, error) {
	var b strBuf
	err := in.reprTo(&b, v, 0)
	return b.str(), err
}

func (in *interp) reprTo(b *strBuf, v Value, depth int) error {
	if err := in.nested(depth); err != nil {
		return err
	}
	if err := in.alloc(8); err != nil {
		return err
	}
	switch v := v.(type) {
	case nil:
		b.lit("None")
	case bool:
		b.lit(map[bool]string{true: "True", false: "False"}[v])
	case int64:
		b.lit(strconv.FormatInt(v, 10))
	case float64:
		b.lit(floatRepr(v))
	case Str:
		if err := in.alloc(len(v.s) + 16*len(v.user)); err != nil {
			return err
		}
		q := quote(v)
		if v.safe {
			q = concatStr(lit("Markup("), q, lit(")"))
		}
		b.add(q)
	case *List:
		return in.reprItems(b, "[", v.items, "]", depth)
	case Tuple:
		if len(v) == 1 {
			return in.reprItems(b, "(", v, ",)", depth)
		}
		return in.reprItems(b, "(", v, ")", depth)
	case *Dict:
		return in.reprDict(b, v, depth)
	case *Undefined:
		b.lit("Undefined")
	case *namespace:
		b.lit("<Namespace ")
		if err := in.reprDict(b, v.attrs, depth+1); err != nil {
			return err
		}
		b.lit(">")
	case rangeVal:
		b.lit(fmt.Sprintf("range(%d, %d", v.start, v.stop))
		if v.step != 1 {
			b.lit(fmt.Sprintf(", %d", v.step))
		}
		b.lit(")")
	case dictView:
		items := make([]Value, v.d.Len())
		if err := in.alloc(48 * len(items)); err != nil {
			return err
		}
		for i := range items {
			items[i] = v.at(int64(i))
		}
		return in.reprItems(b, "dict_"+v.kind+"([", items, "])", depth)
	case *macro:
		b.lit("<Macro " + quote(lit(v.def.name)).s + ">")
	case *loopVal:
		n, err := v.length()
		if err != nil {
			return err
		}
		b.lit(fmt.Sprintf("<LoopContext %d/%d>", v.index0+1, n))
	default:
		b.lit("<" + typeName(v) + " object>")
	}
	return nil
}

func (in *interp) reprItems(b *strBuf, open string, items []Value, end string, depth int) error {
	b.lit(open)
	for i, x := range items {
		if i > 0 {
			b.lit(", ")
		}
		if err := in.reprTo(b, x, depth+1); err != nil {
			return err
		}
	}
	b.lit(end)
	return nil
}

func (in *interp) reprDict(b *strBuf, d *Dict, depth int) error {
	b.lit("{")
	for i, k := range d.keys {
		if i > 0 {
			b.lit(", ")
		}
		if err := in.reprTo(b, k, depth+1); err != nil {
			return err
		}
		b.lit(": ")
		if err := in.reprTo(b, d.vals[i], depth+1); err != nil {
			return err
		}
	}
	b.lit("}")
	return nil
}

// quote is Python's repr of a string.
func quote(s Str) Str {
	q := "'"
	if strings.Contains(s.s, "'") && !strings.Contains(s.s, `"`) {
		q = `"`
	}
	var b strBuf
	b.lit(q)
	for i, r := range s.s {
		b.put(quoteRune(r, q), s.isUser(i))
	}
	b.lit(q)
	return b.str()
}

func quoteRune(r rune, q string) string {
	switch {
	case string(r) == q, r == '\\':
		return `\` + string(r)
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < ' ' || r == 0x7f || r < 0x100 && !unicode.IsPrint(r):
		return fmt.Sprintf(`\x%02x`, r)
	case unicode.IsPrint(r):
		return string(r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

func hashText(h any) string {
	switch h := h.(type) {
	case string:
		return "s" + strconv.Itoa(len(h)) + ":" + h
	case tupleHash:
		return "t" + strconv.Itoa(len(h)) + ":" + string(h)
	case int64:
		return "i" + strconv.FormatInt(h, 10) + ";"
	case float64:
		return "f" + strconv.FormatFloat(h, 'g', -1, 64) + ";"
	case objectHash:
		if _, ok := h.p.(string); ok || h.p == nil {
			return fmt.Sprintf("o%v;", h.p)
		}
		if v, ok := h.p.(dictView); ok {
			return fmt.Sprintf("v%p;", v.d)
		}
		return fmt.Sprintf("o%p;", h.p)
	}
	return fmt.Sprintf("%T%v;", h, h)
}
