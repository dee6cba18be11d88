package jinja

type seqMethod = func(in *interp, v Value, a args) (Value, error)

var seqMethods map[string]seqMethod
var dictMethods map[string]func(in *interp, d *Dict, a args) (Value, error)

func init() {
	seqMethods = map[string]seqMethod{"index": seqIndex, "count": seqCount}
	dictMethods = map[string]func(in *interp, d *Dict, a args) (Value, error){
		"items": viewOf("items"), "keys": viewOf("keys"), "values": viewOf("values"),
		"get": dictGet, "copy": dictCopy,
	}
}

func copyList(in *interp, v Value, _ args) (Value, error) {
	items, err := in.collect(v)
	return &List{items}, err
}

func seqIndex(in *interp, v Value, a args) (Value, error) {
	b, err := a.bind("index", 1, "value", "start", "stop")
	if err != nil {
		return nil, err
	}
	items, err := in.collect(v)
	if err != nil {
		return nil, err
	}
	bounds := [3]Value{}
	for i, x := range b[1:] {
		if given(x) {
			bounds[i] = x
		}
	}
	from, n, err := sliceIndices(bounds, int64(len(items)))
	if err != nil {
		return nil, err
	}
	for i := from; i < from+n; i++ {
		if eq, err := in.equal(items[i], b[0], 0); err != nil || eq {
			return i, err
		}
	}
	return nil, valueErr("value is not in %s", typeName(v))
}

func seqCount(in *interp, v Value, a args) (Value, error) {
	b, err := a.bind("count", 1, "value")
	if err != nil {
		return nil, err
	}
	items, err := in.collect(v)
	n := int64(0)
	for _, x := range items {
		eq, err := in.equal(x, b[0], 0)
		if err != nil {
			return nil, err
		}
		if eq {
			n++
		}
	}
	return n, err
}

func viewOf(kind string) func(in *interp, d *Dict, a args) (Value, error) {
	return func(_ *interp, d *Dict, a args) (Value, error) {
		_, err := a.bind(kind, 0)
		return dictView{d, kind}, err
	}
}

func dictGet(in *interp, d *Dict, a args) (Value, error) {
	b, err := a.bind("get", 1, "key", "default")
	if err != nil {
		return nil, err
	}
	v, ok, err := d.lookup(in, b[0])
	if err != nil || ok {
		return v, err
	}
	if given(b[1]) {
		return b[1], nil
	}
	return nil, nil
}

func dictCopy(in *interp, d *Dict, a args) (Value, error) {
	if err := in.alloc(96 + 64*d.Len()); err != nil {
		return nil, err
	}
	out := NewDict()
	for i, k := range d.keys {
		h, err := in.hash(k, 0)
		if err != nil {
			return nil, err
		}
		out.put(h, k, d.vals[i])
	}
	return out, nil
}
