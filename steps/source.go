package steps

import (
	"io/fs"
	"path"
	"runtime/debug"
	"strings"

	"glassbox/trace/file"
)

// module is the path of this module: the first part of every symbol of ours, and the repository's name.
const module = "glassbox"

// Sources finds functions of this module in a tree of its files, as they were when the binary was built.
type Sources struct {
	tree   *tree
	commit string
}

// NewSources reads files below their module-relative path: engine/model/llama.go. Nothing is parsed before it is asked for.
func NewSources(files fs.FS) *Sources { return &Sources{tree: newTree(files), commit: commit()} }

// below is a file tree under a folder of its own.
type below struct {
	folder string
	files  fs.FS
}

// Open opens a file by its path from above the folder.
func (b below) Open(name string) (fs.File, error) {
	rest, ok := strings.CutPrefix(name+"/", b.folder+"/")
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return b.files.Open(path.Clean(rest))
}

// commit says which state of the sources this binary was built from: the commit, else the module's version, else
// "unknown". A tree that was changed after the commit is not that commit.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	rev, dirty := "", false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			rev = s.Value
		case "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	if rev != "" && !dirty {
		return rev
	}
	if v := info.Main.Version; v != "" && v != "(devel)" && !dirty {
		return v
	}
	return "unknown"
}

// Find returns the source of a symbol as Go's runtime writes it: "glassbox/engine/kv.(*Pool).Grow". A closure's symbol
// finds the function around it. In the result the symbol is as in the file, (*Pool).Grow. The lit line is line, if it lies in file (a base name, or a path that ends in it), and
// else the function's first. Without the sources, or outside of them, the result has no code, and ok is false where the
// symbol should have been found.
func (s *Sources) Find(symbol, fileName string, line int) (file.Source, bool) {
	src := file.Source{Repo: module, Commit: "unknown", Symbol: symbol, Line: line}
	if fileName != "" {
		src.Path = modulePath(symbol, fileName)
	}
	pkg, name, ours := cutSymbol(symbol)
	if !ours {
		return src, false
	}
	src.Symbol = name
	if s == nil {
		return src, true
	}
	src.Commit = s.commit
	f := s.tree.find(pkg, name, path.Base(fileName), line)
	if f == nil {
		return src, false
	}
	src.Path = f.path
	if fileName == "" || path.Base(fileName) != path.Base(f.path) || line < f.from || line > f.to {
		line = f.line
	}
	src.Line = line
	src.Code = s.tree.window(f, line)
	return src, true
}

// Enclosing returns the symbol of the function that holds a line of a file of the package that symbol belongs to.
func (s *Sources) Enclosing(symbol, fileName string, line int) string {
	pkg, _, ours := cutSymbol(symbol)
	if s == nil || !ours {
		return ""
	}
	for _, f := range s.tree.functions(pkg) {
		if path.Base(f.path) == path.Base(fileName) && line >= f.line && line <= f.to {
			return module + "/" + pkg + "." + f.name
		}
	}
	return ""
}

// Assembly returns the source of an assembly routine of a package directory ("engine/backend/cpu"), named as in Go.
func (s *Sources) Assembly(dir, name string) (file.Source, bool) {
	if s == nil {
		return file.Source{}, false
	}
	f := s.tree.assembly(dir, name)
	if f == nil {
		return file.Source{}, false
	}
	return file.Source{Repo: module, Commit: s.commit, Path: f.path, Symbol: name,
		Line: f.line, Code: s.tree.window(f, f.line)}, true
}

// cutSymbol splits "glassbox/engine/kv.(*Pool).Grow.func1" into the package's directory, engine/kv, and the function's
// name in the source, (*Pool).Grow: without closures, wrappers and type arguments.
func cutSymbol(symbol string) (dir, name string, ours bool) {
	rest, ours := strings.CutPrefix(symbol, module+"/")
	if !ours {
		return "", "", false
	}
	if i := strings.IndexByte(rest, '['); i >= 0 {
		if j := strings.LastIndexByte(rest, ']'); j > i {
			rest = rest[:i] + rest[j+1:]
		}
	}
	slash := strings.LastIndexByte(rest, '/') + 1
	dot := strings.IndexByte(rest[slash:], '.')
	if dot < 0 {
		return "", "", false
	}
	dir, name = rest[:slash+dot], rest[slash+dot+1:]
	parts := strings.Split(name, ".")
	keep := 1
	if strings.HasPrefix(parts[0], "(") || len(parts) > 1 && !generated(parts[1]) {
		keep = min(2, len(parts)) // a method
	}
	return dir, strings.TrimSuffix(strings.Join(parts[:keep], "."), "-fm"), true
}

// generated tells whether a part of a symbol is the compiler's: func1, gowrap2, deferwrap1, or a bare number.
func generated(part string) bool {
	part = strings.TrimRight(part, "0123456789")
	return part == "" || part == "func" || part == "gowrap" || part == "deferwrap"
}

// modulePath turns the path of a source file as the compiler wrote it into one below the module's root, with the help
// of the symbol's package.
func modulePath(symbol, fileName string) string {
	dir, _, ours := cutSymbol(symbol)
	if !ours {
		return fileName
	}
	return path.Join(dir, path.Base(strings.ReplaceAll(fileName, `\`, "/")))
}
