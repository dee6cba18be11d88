package steps

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"

	"glassbox/trace/file"
)

// How many lines of code a step shows: a function up to maxWhole lines is shown whole, of a longer one a window.
const (
	maxWhole   = 25
	windowUp   = 8
	windowDown = 12
)

// function is a function in the source: lines count from 1.
type function struct {
	path  string
	name  string // "llama", "(*Pool).Grow", "Buf.String"
	from  int    // of the comment above it
	line  int    // of the declaration
	to    int    // its last
	built bool   // in this binary: build tags and file name fit
}

// tree parses packages of a file tree when they are first asked for.
type tree struct {
	fsys fs.FS
	mu   sync.Mutex
	pkgs map[string][]*function
	text map[string][]string // lines of a file
}

func newTree(fsys fs.FS) *tree {
	return &tree{fsys: fsys, pkgs: map[string][]*function{}, text: map[string][]string{}}
}

// find returns the function of a name. Where several files have it, for different machines, the one that holds the line
// comes first, then the one that this binary was built from.
func (t *tree) find(dir, name, base string, line int) *function {
	var best *function
	for _, f := range t.functions(dir) {
		if f.name != name {
			continue
		}
		if path.Base(f.path) == base && line >= f.from && line <= f.to {
			return f
		}
		if best == nil || f.built && !best.built {
			best = f
		}
	}
	return best
}

// functions returns the functions of a package, without its tests. Files that do not parse have none.
func (t *tree) functions(dir string) []*function {
	t.mu.Lock()
	defer t.mu.Unlock()
	if fns, ok := t.pkgs[dir]; ok {
		return fns
	}
	var fns []*function
	entries, _ := fs.ReadDir(t.fsys, dir)
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			fns = append(fns, t.parse(path.Join(dir, name))...)
		}
	}
	t.pkgs[dir] = fns
	return fns
}

func (t *tree) parse(name string) []*function {
	data, err := fs.ReadFile(t.fsys, name)
	if err != nil {
		return nil
	}
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, name, data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	built := t.built(name)
	var fns []*function
	for _, d := range parsed.Decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		f := &function{path: name, name: declName(fd), line: set.Position(fd.Pos()).Line, to: set.Position(fd.End()).Line, built: built}
		f.from = f.line
		if fd.Doc != nil {
			f.from = set.Position(fd.Doc.Pos()).Line
		}
		fns = append(fns, f)
	}
	return fns
}

// built tells whether the go command takes the file for this machine.
func (t *tree) built(name string) bool {
	ctx := build.Default
	ctx.OpenFile = func(p string) (io.ReadCloser, error) { return t.fsys.Open(p) }
	ctx.JoinPath = path.Join
	ok, err := ctx.MatchFile(path.Dir(name), path.Base(name))
	return err == nil && ok
}

// declName is the function's name as the runtime writes it behind the package.
func declName(fd *ast.FuncDecl) string {
	if fd.Recv == nil || len(fd.Recv.List) == 0 {
		return fd.Name.Name
	}
	recv, pointer := fd.Recv.List[0].Type, false
	if star, ok := recv.(*ast.StarExpr); ok {
		recv, pointer = star.X, true
	}
	switch generic := recv.(type) {
	case *ast.IndexExpr:
		recv = generic.X
	case *ast.IndexListExpr:
		recv = generic.X
	}
	id, ok := recv.(*ast.Ident)
	if !ok {
		return fd.Name.Name
	}
	if pointer {
		return "(*" + id.Name + ")." + fd.Name.Name
	}
	return id.Name + "." + fd.Name.Name
}

// assembly finds "TEXT ·name(" in the .s files of a directory.
func (t *tree) assembly(dir, name string) *function {
	entries, _ := fs.ReadDir(t.fsys, dir)
	for _, e := range entries {
		p := path.Join(dir, e.Name())
		if !strings.HasSuffix(p, ".s") || !t.built(p) {
			continue
		}
		lines := t.lines(p)
		for i, l := range lines {
			if strings.HasPrefix(l, "TEXT ·"+name+"(") {
				f := &function{path: p, name: name, from: i + 1, line: i + 1, to: len(lines)}
				for f.from > 1 && strings.HasPrefix(lines[f.from-2], "//") {
					f.from--
				}
				for j := i + 1; j < len(lines); j++ {
					if strings.HasPrefix(lines[j], "TEXT ") {
						f.to = j
						break
					}
				}
				return f
			}
		}
	}
	return nil
}

func (t *tree) lines(name string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l, ok := t.text[name]; ok {
		return l
	}
	data, err := fs.ReadFile(t.fsys, name)
	if err != nil {
		return nil
	}
	l := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	t.text[name] = l
	return l
}

// window returns the lines to show around the lit one: the whole function with its comment if it is short, without the
// comment if that makes it so, else a part of it.
func (t *tree) window(f *function, lit int) *file.Code {
	from, to := f.from, f.to
	if to-from >= maxWhole {
		from = f.line
		if lit < from {
			from = f.from
		}
	}
	if to-from >= maxWhole {
		const size = windowUp + 1 + windowDown
		first := max(from, lit-windowUp)
		last := min(to, first+size-1)
		from, to = max(from, last-size+1), last
	}
	lines := t.lines(f.path)
	if from < 1 || to > len(lines) {
		return nil
	}
	return &file.Code{First: from, Lines: append([]string(nil), lines[from-1:to]...)}
}
