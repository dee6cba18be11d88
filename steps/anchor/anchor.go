// Package anchor finds functions again in a checkout of source code: by their name where it is still there, else by their
// neighbours. It reads Python, C++ and Go with small scanners of its own.
//
// Read anchor.go for how a place is found, python.go, cpp.go and golang.go for the scanners.
//
// It does not know about catalogues, engines or recordings.
package anchor

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Def is a function, method or class in a file.
type Def struct {
	Symbol string // "EngineCore.step", "llama_context::decode", "(*Pool).Grow"
	Line   int    // where it begins, from 1: in Python at its first decorator, as Python itself counts
}

// Defs scans a file's text; the name's ending says which language it is. Other files have none.
func Defs(name string, text []byte) []Def {
	switch path.Ext(name) {
	case ".py":
		return pythonDefs(string(text))
	case ".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp":
		return cppDefs(string(text))
	case ".go":
		return goDefs(text)
	}
	return nil
}

// Place is where a symbol was, and where it is.
type Place struct {
	Path, Symbol string
	Line         int
}

// State says what became of an anchor.
type State string

// The states. Renamed and Gone mean that the words around the anchor have to be read again.
const (
	Unchanged State = "unchanged"
	Moved     State = "moved"
	Renamed   State = "renamed"
	Gone      State = "gone"
)

// Finding is the answer for one anchor. Now is empty for one that is gone.
type Finding struct {
	Was, Now Place
	State    State
}

// Tree is a checkout; files are scanned when they are first asked for.
type Tree struct {
	files fs.FS
	defs  map[string][]Def
	names []string // of all source files; nil = not listed yet
}

// NewTree reads below a folder.
func NewTree(files fs.FS) *Tree { return &Tree{files: files, defs: map[string][]Def{}} }

// Defs are the functions, methods and classes of a file of the checkout.
func (t *Tree) Defs(name string) []Def { return t.of(name) }

func (t *Tree) of(name string) []Def {
	if d, ok := t.defs[name]; ok {
		return d
	}
	text, err := fs.ReadFile(t.files, name)
	var d []Def
	if err == nil {
		d = Defs(name, text)
	}
	t.defs[name] = d
	return d
}

// Find looks for all anchors; a line of 0 is one that nobody has pinned: it is found, or gone.
func (t *Tree) Find(anchors []Place) []Finding {
	out := make([]Finding, len(anchors))
	for i, a := range anchors {
		out[i] = Finding{Was: a, State: Gone}
		if now, ok := t.bySymbol(a); ok {
			out[i].Now, out[i].State = now, Moved
			if now.Path == a.Path && (now.Line == a.Line || a.Line == 0) {
				out[i].State = Unchanged
			}
		}
	}
	for i := range out {
		if out[i].State == Gone {
			if now, ok := t.byNeighbours(out[i].Was, out); ok {
				out[i].Now, out[i].State = now, Renamed
			}
		}
	}
	return out
}

// bySymbol finds the symbol in its file, the nearest to its line where there are several, or in the only other file that
// has it.
func (t *Tree) bySymbol(a Place) (Place, bool) {
	best := Place{}
	for _, d := range t.of(a.Path) {
		if d.Symbol == a.Symbol && (best.Line == 0 || distance(d.Line, a.Line) < distance(best.Line, a.Line)) {
			best = Place{a.Path, d.Symbol, d.Line}
		}
	}
	if best.Line > 0 {
		return best, true
	}
	found := 0
	for _, name := range t.list() {
		if path.Ext(name) != path.Ext(a.Path) || name == a.Path {
			continue
		}
		for _, d := range t.of(name) {
			if d.Symbol == a.Symbol {
				best = Place{name, d.Symbol, d.Line}
				found++
			}
		}
	}
	return best, found == 1
}

func distance(a, b int) int { return max(a-b, b-a) }

// list returns the names of all files that a scanner reads.
func (t *Tree) list() []string {
	if t.names == nil {
		t.names = []string{}
		_ = fs.WalkDir(t.files, ".", func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil // unreadable: nothing is found there
			case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
				return fs.SkipDir
			case slices.Contains([]string{".py", ".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".go"}, path.Ext(name)):
				t.names = append(t.names, name)
			}
			return nil
		})
	}
	return t.names
}

// near is how many lines from where it should be a renamed function is looked for.
const near = 12

// byNeighbours guesses the new name of a function: the one in the same scope, and not another anchor, that lies where the
// nearest anchors of the same file, that were found, have moved to.
func (t *Tree) byNeighbours(a Place, all []Finding) (Place, bool) {
	shift, nearest := 0, -1
	taken := map[string]bool{}
	for _, f := range all {
		if f.Was.Path != a.Path || f.Now.Path != a.Path {
			continue
		}
		taken[f.Now.Symbol] = true
		if d := distance(f.Was.Line, a.Line); f.Was.Line > 0 && (nearest < 0 || d < nearest) {
			shift, nearest = f.Now.Line-f.Was.Line, d
		}
	}
	if a.Line == 0 {
		return Place{}, false
	}
	var candidates []Def
	for _, d := range t.of(a.Path) {
		if !taken[d.Symbol] && scope(d.Symbol) == scope(a.Symbol) && distance(d.Line, a.Line+shift) <= near {
			candidates = append(candidates, d)
		}
	}
	if len(candidates) == 0 {
		return Place{}, false
	}
	best := slices.MinFunc(candidates, func(x, y Def) int {
		return cmp.Compare(distance(x.Line, a.Line+shift), distance(y.Line, a.Line+shift))
	})
	return Place{a.Path, best.Symbol, best.Line}, true
}

// scope is the symbol without its last part.
func scope(symbol string) string {
	if i := strings.LastIndex(symbol, "::"); i >= 0 {
		return symbol[:i]
	}
	if i := strings.LastIndexByte(symbol, '.'); i >= 0 {
		return symbol[:i]
	}
	return ""
}
