package grammar

import "slices"

// apart tells whether no value can satisfy both schemas, as far as their types, values and discriminating properties show it.
func (s *schema) apart(a, b *value, depth int) bool {
	a, b = s.target(a), s.target(b)
	if depth > 4 || a.kind != '{' || b.kind != '{' {
		return false
	}
	va, vb := values(a), values(b)
	switch {
	case va != nil && vb != nil:
		return !slices.ContainsFunc(va, func(x *value) bool {
			return slices.ContainsFunc(vb, func(y *value) bool { return same(x, y) })
		})
	case va != nil || vb != nil:
		if vb != nil {
			va, b = vb, a
		}
		names := s.kinds(b)
		return names != nil && !slices.ContainsFunc(va, func(x *value) bool { return isOf(x, names) })
	}
	ta, tb := s.kinds(a), s.kinds(b)
	if ta == nil || tb == nil {
		return false
	}
	var both []string
	for _, t := range ta {
		for _, u := range tb {
			if t == u || t == "integer" && u == "number" || t == "number" && u == "integer" {
				both = append(both, t)
			}
		}
	}
	return len(both) == 0 || len(both) == 1 && both[0] == "object" && s.discriminated(a, b, depth)
}

// same tells whether two values may be equal; numbers count as equal unless both are different integers.
func same(x, y *value) bool {
	if x.kind == '0' && y.kind == '0' {
		i, ok := x.integer()
		j, too := y.integer()
		return !ok || !too || i == j
	}
	return x.compact() == y.compact()
}

// discriminated tells whether both ask for a property whose schemas are apart.
func (s *schema) discriminated(a, b *value, depth int) bool {
	pa, pb := a.by["properties"], b.by["properties"]
	if pa == nil || pb == nil {
		return false
	}
	return slices.ContainsFunc(pa.keys, func(name string) bool {
		return pb.by[name] != nil && requires(a, name) && requires(b, name) && s.apart(pa.by[name], pb.by[name], depth+1)
	})
}

func requires(v *value, name string) bool {
	r := v.by["required"]
	return r != nil && slices.ContainsFunc(r.items, func(x *value) bool { return x.kind == '"' && x.text == name })
}

// target follows references.
func (s *schema) target(v *value) *value {
	for range maxDepth {
		ref := v.by["$ref"]
		if v.kind != '{' || ref == nil || ref.kind != '"' || ref.text == "" {
			return v
		}
		to, err := s.find(ref.text)
		if err != nil {
			return v
		}
		v = to
	}
	return v
}

// values are those of const or enum; nil where there is neither.
func values(v *value) []*value {
	if c := v.by["const"]; c != nil {
		return []*value{c}
	}
	if e := v.by["enum"]; e != nil {
		return e.items
	}
	return nil
}

// kinds are the types a schema allows; nil is any.
func (s *schema) kinds(v *value) []string {
	t := v.by["type"]
	if t == nil {
		return nil
	}
	names, _ := typesOf(t, "")
	return names
}
