package jinja

import (
	"slices"
	"strconv"
	"strings"
)

// attrPath splits "a.b.0" into its parts; numbers become indices.
func attrPath(attr Value) []Value {
	s, ok := attr.(Str)
	if !ok {
		if attr == nil || attr == unset {
			return nil
		}
		return []Value{attr}
	}
	var out []Value
	for _, part := range strings.Split(s.s, ".") {
		if lit(part).all(isDigit) {
			if n, err := strconv.ParseInt(part, 10, 64); err == nil {
				out = append(out, n)
				continue
			}
		}
		out = append(out, lit(part))
	}
	return out
}

func (in *interp) follow(v Value, path []Value, def Value) (Value, error) {
	for _, p := range path {
		var err error
		if v, err = in.getItem(v, p); err != nil {
			return nil, err
		}
		if _, missing := v.(*Undefined); missing && given(def) && def != nil {
			v = def
		}
	}
	return v, nil
}

// mapAttr is an iterator over an attribute of the items of v.
func (in *interp) mapAttr(v, attr, def Value) (Value, error) {
	next, err := in.iterate(v)
	path := attrPath(attr)
	return &iterator{"generator", func() (Value, bool, error) {
		x, ok, err := next()
		if err != nil || !ok {
			return nil, false, err
		}
		x, err = in.follow(x, path, def)
		return x, true, err
	}}, err
}

func filterMap(in *interp, v Value, a args) (Value, error) {
	if !truth(v) {
		return sliceIter("generator", nil), nil
	}
	if len(a.pos) == 0 {
		attr, ok := a.popName("attribute")
		if !ok {
			return nil, errf("FilterArgumentError", "map requires a filter argument")
		}
		def, ok := a.popName("default")
		if !ok {
			def = unset
		}
		if len(a.names) > 0 {
			return nil, errf("FilterArgumentError", "Unexpected keyword argument '%s'", a.names[0])
		}
		return in.mapAttr(v, attr, def)
	}
	name, err := wantStr(a.pos[0], "filter name")
	if err != nil {
		return nil, err
	}
	a.pos = a.pos[1:]
	next, err := in.iterate(v)
	return &iterator{"generator", func() (Value, bool, error) {
		x, ok, err := next()
		if err != nil || !ok {
			return nil, false, err
		}
		x, err = in.applyFilter(name.s, x, a)
		return x, true, err
	}}, err
}

// picker makes select, reject, selectattr and rejectattr.
func picker(byAttr, keep bool) filterFunc {
	return func(in *interp, v Value, a args) (Value, error) {
		if !truth(v) {
			return sliceIter("generator", nil), nil
		}
		var path []Value
		if byAttr {
			if len(a.pos) == 0 {
				return nil, errf("FilterArgumentError", "Missing parameter for attribute name")
			}
			path = attrPath(a.pos[0])
			a.pos = a.pos[1:]
		}
		test := ""
		if len(a.pos) > 0 {
			name, err := wantStr(a.pos[0], "test name")
			if err != nil {
				return nil, err
			}
			test = name.s
			a.pos = a.pos[1:]
		}
		next, err := in.iterate(v)
		return &iterator{"generator", func() (Value, bool, error) {
			for {
				x, ok, err := next()
				if err != nil || !ok {
					return nil, false, err
				}
				y, err := in.follow(x, path, unset)
				if err != nil {
					return nil, false, err
				}
				pass := false
				if test == "" {
					pass = truth(y)
				} else if pass, err = in.applyTest(test, y, a); err != nil {
					return nil, false, err
				}
				if pass == keep {
					return x, true, nil
				}
			}
		}}, err
	}
}

// keyed is an item and what it is sorted or compared by.
type keyed struct{ key, item Value }

func (in *interp) keys(v Value, attr Value, caseSensitive, multi bool) ([]keyed, error) {
	items, err := in.collect(v)
	if err != nil {
		return nil, err
	}
	var paths [][]Value
	if s, ok := attr.(Str); ok && multi {
		for _, p := range strings.Split(s.s, ",") {
			paths = append(paths, attrPath(lit(p)))
		}
	} else {
		paths = [][]Value{attrPath(attr)}
	}
	out := make([]keyed, len(items))
	for i, x := range items {
		key := make([]Value, len(paths))
		for j, p := range paths {
			k, err := in.follow(x, p, unset)
			if err != nil {
				return nil, err
			}
			if s, ok := k.(Str); ok && !caseSensitive {
				if err := in.alloc(len(s.s)); err != nil {
					return nil, err
				}
				k = s.lower()
			}
			key[j] = k
		}
		out[i] = keyed{key[0], x}
		if multi {
			out[i].key = &List{key}
		}
	}
	return out, nil
}

// sortKeyed sorts stably; the first failing comparison ends it.
func (in *interp) sortKeyed(ks []keyed, reverse bool) error {
	var first error
	slices.SortStableFunc(ks, func(a, b keyed) int {
		if first != nil {
			return 0
		}
		less, err := in.compare("<", a.key, b.key)
		if err == nil && less {
			return flip(-1, reverse)
		}
		more := false
		if err == nil {
			more, err = in.compare("<", b.key, a.key)
		}
		if err != nil {
			first = err
			return 0
		}
		if more {
			return flip(1, reverse)
		}
		return 0
	})
	return first
}

func flip(c int, reverse bool) int {
	if reverse {
		return -c
	}
	return c
}

func isSet(v Value) bool { return given(v) && truth(v) }

func itemsOf(ks []keyed) *List {
	out := make([]Value, len(ks))
	for i, k := range ks {
		out[i] = k.item
	}
	return &List{out}
}

func filterSort(in *interp, v Value, a args) (Value, error) {
	b, err := a.bind("sort", 0, "reverse", "case_sensitive", "attribute")
	if err != nil {
		return nil, err
	}
	ks, err := in.keys(v, b[2], isSet(b[1]), true)
	if err != nil {
		return nil, err
	}
	err = in.sortKeyed(ks, isSet(b[0]))
	return itemsOf(ks), err
}

func filterDictsort(in *interp, v Value, a args) (Value, error) {
	b, err := a.bind("dictsort", 0, "case_sensitive", "by", "reverse")
	if err != nil {
		return nil, err
	}
	if u, ok := v.(*Undefined); ok {
		return nil, u.fail()
	}
	d, ok := v.(*Dict)
	if !ok {
		return nil, errf("AttributeError", "'%s' object has no attribute 'items'", typeName(v))
	}
	at := int64(0)
	if given(b[1]) {
		by, _ := b[1].(Str)
		switch by.s {
		case "key":
		case "value":
			at = 1
		default:
			return nil, errf("FilterArgumentError", `You can only sort by either "key" or "value"`)
		}
	}
	ks, err := in.keys(dictView{d, "items"}, at, isSet(b[0]), false)
	if err != nil {
		return nil, err
	}
	err = in.sortKeyed(ks, isSet(b[2]))
	return itemsOf(ks), err
}

func filterUnique(in *interp, v Value, a args) (Value, error) {
	b, err := a.bind("unique", 0, "case_sensitive", "attribute")
	if err != nil {
		return nil, err
	}
	ks, err := in.keys(v, b[1], isSet(b[0]), false)
	if err != nil {
		return nil, err
	}
	seen := map[any]bool{}
	var out []Value
	for _, k := range ks {
		h, err := in.hash(k.key, 0)
		if err != nil {
			return nil, err
		}
		if !seen[h] {
			seen[h] = true
			out = append(out, k.item)
		}
	}
	return sliceIter("generator", out), nil
}

func extreme(name, op string) filterFunc {
	return func(in *interp, v Value, a args) (Value, error) {
		b, err := a.bind(name, 0, "case_sensitive", "attribute")
		if err != nil {
			return nil, err
		}
		ks, err := in.keys(v, b[1], isSet(b[0]), false)
		if err != nil {
			return nil, err
		}
		if len(ks) == 0 {
			return undefined("No aggregated item, sequence was empty."), nil
		}
		best := ks[0]
		for _, k := range ks[1:] {
			better, err := in.compare(op, k.key, best.key)
			if err != nil {
				return nil, err
			}
			if better {
				best = k
			}
		}
		return best.item, nil
	}
}

func filterGroupby(in *interp, v Value, a args) (Value, error) {
	b, err := a.bind("groupby", 1, "attribute", "default", "case_sensitive")
	if err != nil {
		return nil, err
	}
	items, err := in.collect(v)
	if err != nil {
		return nil, err
	}
	path := attrPath(b[0])
	ks := make([]keyed, len(items))
	for i, x := range items {
		k, err := in.follow(x, path, b[1])
		if err != nil {
			return nil, err
		}
		if s, ok := k.(Str); ok && !isSet(b[2]) {
			k = s.lower()
		}
		ks[i] = keyed{k, x}
	}
	if err := in.sortKeyed(ks, false); err != nil {
		return nil, err
	}
	var out []Value
	for from := 0; from < len(ks); {
		to := from + 1
		for ; to < len(ks); to++ {
			if eq, err := in.equal(ks[to].key, ks[from].key, 0); err != nil {
				return nil, err
			} else if !eq {
				break
			}
		}
		key, err := in.follow(ks[from].item, path, b[1])
		if err != nil {
			return nil, err
		}
		out = append(out, Tuple{key, itemsOf(ks[from:to])})
		from = to
	}
	return &List{out}, nil
}
