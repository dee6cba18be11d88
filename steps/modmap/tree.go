package modmap

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Edge is an import: the index of the module that is imported, and the first line that asks for it.
type Edge struct {
	To, Line int
	Kind     Kind
	File     string // of Go: the file of the package that the line is in
}

// Source is a module of a tree: a file of Python, or a package of Go.
type Source struct {
	Name  string // "vllm.v1.engine.core", "glassbox/engine/kv"
	Path  string // of its file (of Go: its folder), from the root of the checkout
	Lines int
	Edges []Edge // by the index of what is imported, one each

	dir        string // folder on the map
	label      string // name on the map
	parent     int    // index of the package that is loaded before it; -1 for none
	statements []Statement
	pkg        bool
}

// Tree is all modules of a package, by name.
type Tree struct {
	Modules []Source
	Name    string // of the package
	index   map[string]int
	folders map[string]bool // of Python, as dotted names, with or without __init__.py
}

// largest is the size in bytes of a file that is read; nobody writes longer ones by hand.
const largest = 8 << 20

// ReadPython reads the package of this name below the root of a checkout: every .py file, none of which is run.
func ReadPython(root fs.FS, pkg string) (*Tree, error) {
	t := &Tree{Name: pkg, folders: map[string]bool{}}
	dir := strings.ReplaceAll(pkg, ".", "/")
	err := fs.WalkDir(root, dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != dir && name(d.Name()) != d.Name(), d.IsDir() && d.Name() == "__pycache__":
			return fs.SkipDir
		case d.IsDir():
			t.folders[strings.ReplaceAll(p, "/", ".")] = true
			return nil
		case !d.Type().IsRegular() || path.Ext(p) != ".py" || name(strings.TrimSuffix(d.Name(), ".py"))+".py" != d.Name():
			return nil
		}
		if info, err := d.Info(); err != nil || info.Size() > largest {
			return fmt.Errorf("%s: wanted a source file of at most %d MB (%v)", p, largest>>20, err)
		}
		text, err := fs.ReadFile(root, p)
		if err != nil {
			return err
		}
		t.Modules = append(t.Modules, python(p, text))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("package %s: %w; wanted the folder that holds %s/", pkg, err, dir)
	}
	if len(t.Modules) == 0 {
		return nil, fmt.Errorf("package %s: no .py files in %s/", pkg, dir)
	}
	t.sort()
	for i := range t.Modules {
		t.Modules[i].parent = t.at(parentOf(t.Modules[i].Name))
	}
	for i := range t.Modules {
		t.resolve(i)
	}
	return t, nil
}

func python(p string, text []byte) Source {
	s := Source{Path: p, Lines: lines(text), statements: Statements(string(text)), dir: path.Dir(p), label: strings.TrimSuffix(path.Base(p), ".py")}
	s.Name = strings.ReplaceAll(strings.TrimSuffix(p, ".py"), "/", ".")
	if s.label == "__init__" {
		s.pkg, s.Name = true, strings.ReplaceAll(s.dir, "/", ".")
	}
	return s
}

func lines(text []byte) int {
	n := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// sort orders the modules by name. A package hides a module of the same name, as in Python.
func (t *Tree) sort() {
	slices.SortFunc(t.Modules, func(a, b Source) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return strings.Compare(b.Path, a.Path) // x/__init__.py comes before x.py, as does any longer path
	})
	t.Modules = slices.CompactFunc(t.Modules, func(a, b Source) bool { return a.Name == b.Name })
	t.index = make(map[string]int, len(t.Modules))
	for i, m := range t.Modules {
		t.index[m.Name] = i
	}
}

// at is the index of a module, -1 for none.
func (t *Tree) at(module string) int {
	if i, ok := t.index[module]; ok {
		return i
	}
	return -1
}

// parentOf is the package that a module lies in.
func parentOf(module string) string {
	if i := strings.LastIndexByte(module, '.'); i >= 0 {
		return module[:i]
	}
	return ""
}

// nearest is the longest package around a name that is a module here: what is loaded on the way to one that is not, such as
// a compiled one.
func (t *Tree) nearest(module string) int {
	for ; module != ""; module = parentOf(module) {
		if i := t.at(module); i >= 0 {
			return i
		}
	}
	return -1
}

// resolve turns the statements of a module into edges. A name behind "from a import" that is a module of the package stands
// for it; whether a/__init__.py gives that name to something else cannot be told without running it.
func (t *Tree) resolve(i int) {
	m := &t.Modules[i]
	best := map[int]Edge{}
	add := func(to int, st Statement) {
		if old, ok := best[to]; to >= 0 && to != i && (!ok || st.Kind < old.Kind) {
			best[to] = Edge{To: to, Line: st.Line, Kind: st.Kind}
		}
	}
	for _, st := range m.statements {
		if !st.From {
			for _, n := range st.Names {
				add(t.nearest(n), st)
			}
			continue
		}
		base, ok := absolute(m, st)
		if !ok {
			continue
		}
		for _, n := range st.Names {
			to := t.at(base + "." + n)
			if to < 0 {
				to = t.nearest(base)
			}
			add(to, st)
		}
	}
	for _, e := range best {
		m.Edges = append(m.Edges, e)
	}
	slices.SortFunc(m.Edges, func(a, b Edge) int { return a.To - b.To })
}

// absolute is the full name of what stands behind "from"; false when its dots lead out of the package.
func absolute(m *Source, st Statement) (string, bool) {
	if st.Level == 0 {
		return st.Module, true
	}
	base := m.Name
	if !m.pkg {
		base = parentOf(base)
	}
	for range st.Level - 1 {
		base = parentOf(base)
	}
	if base == "" {
		return "", false
	}
	return strings.TrimSuffix(base+"."+st.Module, "."), true
}

// Statements are all import statements of the modules, by path.
func (t *Tree) Statements() map[string][]Statement {
	out := map[string][]Statement{}
	for _, m := range t.Modules {
		out[m.Path] = m.statements
	}
	return out
}

// Lines is the length of all modules.
func (t *Tree) Lines() (n int) {
	for _, m := range t.Modules {
		n += m.Lines
	}
	return n
}

// set is a set of modules by index.
type set []bool

func (s set) len() (n int) {
	for _, in := range s {
		if in {
			n++
		}
	}
	return n
}

// closure is what is loaded when the modules are, following imports up to a kind. To load a module is to load the packages
// around it first.
func (t *Tree) closure(from []int, most Kind) set {
	seen := make(set, len(t.Modules))
	var todo []int
	see := func(i int) {
		if i >= 0 && !seen[i] {
			seen[i] = true
			todo = append(todo, i)
		}
	}
	for _, i := range from {
		see(i)
	}
	for len(todo) > 0 {
		m := t.Modules[todo[len(todo)-1]]
		todo = todo[:len(todo)-1]
		see(m.parent)
		for _, e := range m.Edges {
			if e.Kind <= most {
				see(e.To)
			}
		}
	}
	return seen
}
