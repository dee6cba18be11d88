package jinja

import "slices"

type filterFunc = func(in *interp, v Value, a args) (Value, error)

// filters are what may follow "|".
var filters map[string]filterFunc

func init() {
	filters = map[string]filterFunc{
		"abs": filterAbs, "batch": filterBatch, "slice": filterSlice, "count": filterLength, "length": filterLength,
		"default": filterDefault, "d": filterDefault, "dictsort": filterDictsort,
		"first": filterFirst, "last": filterLast, "float": filterFloat, "int": filterInt,
		"groupby": filterGroupby, "items": filterItems, "join": filterJoin, "list": filterList,
		"map": filterMap, "max": extreme("max", ">"), "min": extreme("min", "<"),
		"select": picker(false, true), "reject": picker(false, false),
		"selectattr": picker(true, true), "rejectattr": picker(true, false),
		"reverse": filterReverse, "round": filterRound, "sort": filterSort, "sum": filterSum, "unique": filterUnique,
		"attr": filterAttr, "tojson": filterToJSON,
	}
	addTextFilters()
}

func filterLength(_ *interp, v Value, a args) (Value, error) {
	n, ok := length(v)
	if !ok {
		return nil, typeErr("object of type '%s' has no len()", typeName(v))
	}
	return int64(n), nil
}

func filterAbs(_ *interp, v Value, a args) (Value, error) {
	if f, ok := v.(float64); ok {
		if f < 0 {
			return -f, nil
		}
		return f + 0, nil
	}
	i, ok := asInt(v)
	if !ok {
		return nil, typeErr("bad operand type for abs(): '%s'", typeName(v))
	}
	if i < 0 {
		return negate("-", i)
	}
	return i, nil
}

func filterDefault(_ *interp, v Value, a args) (Value, error) {
	b, err := a.bind("default", 0, "default_value", "boolean")
	if err != nil {
		return nil, err
	}
	_, missing := v.(*Undefined)
	if !missing && !(given(b[1]) && truth(b[1]) && !truth(v)) {
		return v, nil
	}
	if !given(b[0]) {
		return Str{}, nil
	}
	return b[0], nil
}

func filterList(in *interp, v Value, _ args) (Value, error) {
	items, err := in.collect(v)
	return &List{items}, err
}

func filterFirst(in *interp, v Value, _ args) (Value, error) {
	next, err := in.iterate(v)
	if err != nil {
		return nil, err
	}
	x, ok, err := next()
	if err == nil && !ok {
		return undefined("No first item, sequence was empty."), nil
	}
	return x, err
}

func filterLast(in *interp, v Value, _ args) (Value, error) {
	if _, ok := v.(*iterator); ok {
		return nil, typeErr("'%s' object is not reversible", typeName(v))
	}
	items, err := in.collect(v)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return undefined("No last item, sequence was empty."), nil
	}
	return items[len(items)-1], nil
}

func filterReverse(in *interp, v Value, _ args) (Value, error) {
	if s, ok := v.(Str); ok {
		return in.slice(s, [3]Value{nil, nil, int64(-1)})
	}
	items, err := in.collect(v)
	if err != nil {
		return nil, errf("FilterArgumentError", "argument must be iterable")
	}
	slices.Reverse(items)
	if _, ok := v.(*iterator); ok {
		return &List{items}, nil
	}
	return sliceIter("list_reverseiterator", items), nil
}

func filterItems(in *interp, v Value, _ args) (Value, error) {
	if d, ok := v.(*Dict); ok {
		next, err := in.iterate(dictView{d, "items"})
		return &iterator{"generator", next}, err
	}
	if _, ok := v.(*Undefined); ok {
		return sliceIter("generator", nil), nil
	}
	return nil, typeErr("Can only get item pairs from a mapping.")
}

func filterAttr(in *interp, v Value, a args) (Value, error) {
	b, err := a.bind("attr", 1, "name")
	if err != nil {
		return nil, err
	}
	name, err := wantStr(b[0], "attribute name")
	if err != nil {
		return nil, err
	}
	if u, ok := v.(*Undefined); ok {
		return nil, u.fail()
	}
	r, ok, err := in.attr(v, name.s)
	if err == nil && !ok {
		return undefined("'%s object' has no attribute '%s'", typeName(v), name.s), nil
	}
	return r, err
}

func filterJoin(in *interp, v Value, a args) (Value, error) {
	b, err := a.bind("join", 0, "d", "attribute")
	if err != nil {
		return nil, err
	}
	sep := Str{}
	if given(b[0]) {
		if sep, err = in.toStr(b[0]); err != nil {
			return nil, err
		}
	}
	if given(b[1]) && b[1] != nil {
		if v, err = in.mapAttr(v, b[1], unset); err != nil {
			return nil, err
		}
	}
	return in.joinStrs(sep, v, true)
}

func filterBatch(in *interp, v Value, a args) (Value, error) {
	b, err := a.bind("batch", 1, "linecount", "fill_with")
	if err != nil {
		return nil, err
	}
	size, err := wantInt(b[0], "linecount")
	if err != nil {
		return nil, err
	}
	items, err := in.collect(v)
	if err != nil {
		return nil, err
	}
	var out []Value
	row := []Value{}
	for _, x := range items {
		if len(row) == size {
			out, row = append(out, &List{row}), []Value{}
		}
		row = append(row, x)
	}
	if len(row) > 0 {
		if given(b[1]) && b[1] != nil && len(row) < size {
			if err := in.alloc(min(size, in.lim.Alloc) * 16); err != nil {
				return nil, err
			}
			for len(row) < size {
				row = append(row, b[1])
			}
		}
		out = append(out, &List{row})
	}
	return sliceIter("generator", out), in.alloc(48 * len(out))
}

func filterSlice(in *interp, v Value, a args) (Value, error) {
	b, err := a.bind("slice", 1, "slices", "fill_with")
	if err != nil {
		return nil, err
	}
	n, err := wantInt(b[0], "slices")
	if err != nil {
		return nil, err
	}
	items, err := in.collect(v)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, errf("ZeroDivisionError", "integer division or modulo by zero")
	}
	if err := in.alloc(max(0, min(n, in.lim.Alloc)) * 64); err != nil {
		return nil, err
	}
	var out []Value
	for i, at := 0, 0; i < n; i++ {
		size := len(items) / n
		if i < len(items)%n {
			size++
		}
		row := slices.Clone(items[at : at+size])
		at += size
		if given(b[1]) && b[1] != nil && i >= len(items)%n {
			row = append(row, b[1])
		}
		out = append(out, &List{row})
	}
	return sliceIter("generator", out), nil
}

func filterSum(in *interp, v Value, a args) (Value, error) {
	b, err := a.bind("sum", 0, "attribute", "start")
	if err != nil {
		return nil, err
	}
	if given(b[0]) && b[0] != nil {
		if v, err = in.mapAttr(v, b[0], unset); err != nil {
			return nil, err
		}
	}
	var total Value = int64(0)
	if given(b[1]) {
		total = b[1]
	}
	if _, ok := total.(Str); ok {
		return nil, typeErr("sum() can't sum strings [use ''.join(seq) instead]")
	}
	next, err := in.iterate(v)
	if err != nil {
		return nil, err
	}
	for {
		x, ok, err := next()
		if err != nil || !ok {
			return total, err
		}
		if total, err = in.binary("+", total, x); err != nil {
			return nil, err
		}
	}
}
