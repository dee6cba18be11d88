package jinja

import (
	"strconv"
	"strings"
)

// strFormat is str.format inside the sandbox.
func strFormat(in *interp, s Str, a args) (Value, error) {
	f := &braceFmt{in: in, pos: a.pos, named: a.dict(), safe: s.safe}
	return f.run(s)
}

func strFormatMap(in *interp, s Str, a args) (Value, error) {
	b, err := a.bind("format_map", 1, "mapping")
	if err != nil {
		return nil, err
	}
	d, ok := b[0].(*Dict)
	if !ok {
		return nil, typeErr("format_map() argument must be a mapping, not %s", typeName(b[0]))
	}
	f := &braceFmt{in: in, named: d, safe: s.safe}
	return f.run(s)
}

type braceFmt struct {
	in     *interp
	pos    []Value
	named  *Dict
	auto   int
	manual bool
	safe   bool
}

func (f *braceFmt) run(s Str) (Value, error) {
	out, err := f.expand(s, 2)
	out.safe = s.safe
	return out, err
}

// expand replaces the fields of s; depth is how deep fields may nest.
func (f *braceFmt) expand(s Str, depth int) (Str, error) {
	if depth < 0 {
		return Str{}, valueErr("Max string recursion exceeded")
	}
	var b strBuf
	at := 0
	for {
		i := strings.IndexAny(s.s[at:], "{}")
		if i < 0 {
			b.add(s.cut(at, len(s.s)))
			return b.str(), f.in.alloc(len(s.s))
		}
		b.add(s.cut(at, at+i))
		at += i
		if at+1 < len(s.s) && s.s[at+1] == s.s[at] {
			b.add(s.cut(at, at+1))
			at += 2
			continue
		}
		if s.s[at] == '}' {
			return Str{}, valueErr("Single '}' encountered in format string")
		}
		end := closing(s.s, at)
		if end < 0 {
			return Str{}, valueErr("expected '}' before end of string")
		}
		v, err := f.field(s.cut(at+1, end), depth)
		if err != nil {
			return Str{}, err
		}
		if err := f.in.alloc(len(v.s) + 16*len(v.user)); err != nil {
			return Str{}, err
		}
		b.add(v)
		at = end + 1
	}
}

func closing(s string, at int) int {
	level := 0
	for i := at; i < len(s); i++ {
		switch s[i] {
		case '{':
			level++
		case '}':
			if level--; level == 0 {
				return i
			}
		}
	}
	return -1
}

func (f *braceFmt) field(text Str, depth int) (Str, error) {
	head, format, conv := text.s, Str{}, byte(0)
	if i := strings.IndexAny(text.s, "!:"); i >= 0 {
		head = text.s[:i]
		rest := text.s[i:]
		if rest[0] == '!' {
			if len(rest) < 2 || len(rest) > 2 && rest[2] != ':' {
				return Str{}, valueErr("expected ':' after conversion specifier")
			}
			conv, rest = rest[1], rest[2:]
		}
		rest = strings.TrimPrefix(rest, ":")
		format = text.cut(len(text.s)-len(rest), len(text.s))
	}
	v, err := f.value(head)
	if err != nil {
		return Str{}, err
	}
	if strings.ContainsAny(format.s, "{}") {
		if format, err = f.expand(format, depth-1); err != nil {
			return Str{}, err
		}
	}
	switch conv {
	case 0:
	case 's':
		v, err = f.in.toStr(v)
	case 'r', 'a':
		v, err = f.in.repr(v)
	default:
		err = valueErr("Unknown conversion specifier %c", conv)
	}
	if err != nil {
		return Str{}, err
	}
	if s, ok := v.(Str); ok && f.safe {
		v = s.escape()
	}
	return f.in.formatValue(v, format)
}

// value finds what a field name like "0", "name.attr" or "a[0]" means.
func (f *braceFmt) value(name string) (Value, error) {
	end := strings.IndexAny(name, ".[")
	if end < 0 {
		end = len(name)
	}
	first, rest := name[:end], name[end:]
	var v Value
	n, err := strconv.Atoi(first)
	if first == "" || err == nil {
		if first == "" {
			if f.manual {
				return nil, valueErr("cannot switch from manual field specification to automatic field numbering")
			}
			n = f.auto
			f.auto++
		} else if f.auto > 0 {
			return nil, valueErr("cannot switch from automatic field numbering to manual field specification")
		} else {
			f.manual = true
		}
		if n < 0 || n >= len(f.pos) {
			return nil, errf("IndexError", "Replacement index %d out of range for positional args tuple", n)
		}
		v = f.pos[n]
	} else {
		var ok bool
		if v, ok = f.named.Get(first); !ok {
			return nil, fieldError(first)
		}
	}
	return f.follow(v, rest)
}

func (f *braceFmt) follow(v Value, rest string) (Value, error) {
	for rest != "" {
		var err error
		if rest[0] == '.' {
			end := strings.IndexAny(rest[1:], ".[") + 1
			if end == 0 {
				end = len(rest)
			}
			v, err = f.in.getAttr(v, rest[1:end])
			rest = rest[end:]
		} else {
			end := strings.IndexByte(rest, ']')
			if end < 0 {
				return nil, valueErr("Missing ']' in format string")
			}
			var key Value = lit(rest[1:end])
			if i, e := strconv.ParseInt(rest[1:end], 10, 64); e == nil {
				key = i
			}
			v, err = f.in.getItem(v, key)
			rest = rest[end+1:]
		}
		if err != nil {
			return nil, err
		}
	}
	return v, nil
}
