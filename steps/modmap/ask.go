package modmap

import (
	"fmt"
	"path"
	"slices"
)

// Names are the names of all modules, in order.
func (t *Tree) Names() []string {
	out := make([]string, len(t.Modules))
	for i, m := range t.Modules {
		out[i] = m.Name
	}
	return out
}

func (t *Tree) must(module string) (int, error) {
	i := t.at(module)
	if i < 0 {
		return i, fmt.Errorf("module %s: no such module in %s%s", module, t.Name, t.similar(module))
	}
	return i, nil
}

// place is the file and line of an edge.
func (m *Source) place(e Edge) string { return fmt.Sprintf("%s:%d", path.Join(m.Path, e.File), e.Line) }

// Who lists the imports of a module: a line each, "path:line importer (kind)".
func (t *Tree) Who(module string) ([]string, error) {
	i, err := t.must(module)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, m := range t.Modules {
		for _, e := range m.Edges {
			if e.To == i {
				out = append(out, fmt.Sprintf("%s %s (%s)", m.place(e), m.Name, e.Kind))
			}
		}
	}
	return out, nil
}

// Path lists the modules of a shortest chain of imports, each with the line that leads to the next. Imports for type checkers
// alone lead nowhere. No chain is an error.
func (t *Tree) Path(from, to string) ([]string, error) {
	a, err := t.must(from)
	if err != nil {
		return nil, err
	}
	b, err := t.must(to)
	if err != nil {
		return nil, err
	}
	before := map[int]int{a: -1}
	for todo := []int{a}; len(todo) > 0; todo = todo[1:] {
		for _, e := range t.Modules[todo[0]].Edges {
			if _, seen := before[e.To]; !seen && e.Kind < Typing {
				before[e.To] = todo[0]
				todo = append(todo, e.To)
			}
		}
	}
	if _, found := before[b]; !found {
		return nil, fmt.Errorf("no chain of imports leads from %s to %s", from, to)
	}
	out := []string{t.Modules[b].Name}
	for at := b; before[at] >= 0; at = before[at] {
		m := t.Modules[before[at]]
		e := m.Edges[slices.IndexFunc(m.Edges, func(e Edge) bool { return e.To == at })]
		out = append(out, fmt.Sprintf("%s  imports at %s (%s)", m.Name, m.place(e), e.Kind))
	}
	slices.Reverse(out)
	return out, nil
}

// Rows are statements as lists, for comparison with other readers: line, level, module or nil, names, kind. A plain import
// has level -1.
func Rows(all []Statement) [][]any {
	out := [][]any{}
	for _, s := range all {
		var module any
		level := -1
		if s.From {
			level = s.Level
			if s.Module != "" {
				module = s.Module
			}
		}
		out = append(out, []any{s.Line, level, module, s.Names, s.Kind.String()})
	}
	return out
}
