// Package layers holds the rules of the house as code: who may import whom, what every package must say of itself, how
// long a file may be, and what must never be committed. Its tests run the rules over this repository, and over small
// made-up trees in which each rule is broken once.
//
// It does not know about what the packages do; it reads source text only and never builds or runs anything.
package layers

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Module is the import path of the repository's root.
const Module = "glassbox"

// Tree is the source text under one folder: paths with forward slashes, relative to the folder.
type Tree struct {
	Files map[string]string // text of every file; "" for files that are no text
	Sizes map[string]int    // bytes
	Go    map[string]*GoFile
}

// GoFile is what the rules need of one Go file.
type GoFile struct {
	Path, Package, Doc string
	Imports            map[string]int // import path to line
	Test, Generated    bool
	DefaultBuild       bool // false when its build constraint asks for the tag cuda (or ignore)
}

// Open reads the repository at dir: what git tracks or would track; every file where there is no git.
func Open(dir string) (*Tree, error) {
	names, err := gitFiles(dir)
	if err != nil {
		if names, err = walk(os.DirFS(dir)); err != nil {
			return nil, err
		}
	}
	return Read(os.DirFS(dir), names)
}

func gitFiles(dir string) ([]string, error) {
	cmd := exec.Command("git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil || len(out) == 0 {
		return nil, fmt.Errorf("git ls-files in %s: %w", dir, err)
	}
	return strings.Split(strings.TrimRight(string(out), "\x00"), "\x00"), nil
}

func walk(root fs.FS) ([]string, error) {
	var names []string
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && foreign(p+"/") {
			return fs.SkipDir
		}
		if err == nil && d.Type().IsRegular() {
			names = append(names, p)
		}
		return err
	})
	return names, err
}

// foreign tells what is in the folder but not of this project: vendored modules and build outputs.
func foreign(p string) bool {
	for _, part := range strings.Split(path.Dir(p+"x"), "/") {
		if part == ".git" || part == "vendor" || part == "node_modules" || part == "__pycache__" || strings.HasPrefix(part, ".venv") {
			return true
		}
	}
	return strings.HasPrefix(p, "bin/") || strings.HasPrefix(p, "out/")
}

// Read takes in the named files. A Go file that cannot be parsed is an error; a name that is gone is passed over.
func Read(root fs.FS, names []string) (*Tree, error) {
	t := &Tree{Files: map[string]string{}, Sizes: map[string]int{}, Go: map[string]*GoFile{}}
	for _, name := range names {
		if foreign(name) {
			continue
		}
		data, err := fs.ReadFile(root, name)
		if err != nil {
			continue
		}
		t.Sizes[name], t.Files[name] = len(data), ""
		if utf8.Valid(data) && !bytes.Contains(data, []byte{0}) {
			t.Files[name] = string(data)
		}
		if strings.HasSuffix(name, ".go") && !strings.Contains(name, "testdata/") {
			if t.Go[name], err = readGo(name, data); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

func readGo(name string, data []byte) (*GoFile, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, name, data, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("layers: %w", err)
	}
	g := &GoFile{Path: name, Package: f.Name.Name, Imports: map[string]int{}, DefaultBuild: true,
		Test: strings.HasSuffix(name, "_test.go"), Generated: ast.IsGenerated(f)}
	if f.Doc != nil {
		g.Doc = f.Doc.Text()
	}
	for _, i := range f.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("layers: %s: %w", name, err)
		}
		g.Imports[p] = set.Position(i.Pos()).Line
	}
	for _, group := range f.Comments {
		for _, c := range group.List {
			if c.Pos() < f.Package && constraint.IsGoBuild(c.Text) {
				x, err := constraint.Parse(c.Text)
				if err != nil {
					return nil, fmt.Errorf("layers: %s: %w", name, err)
				}
				// Every tag but these two may be set in a default build, negated or not.
				g.DefaultBuild = x.Eval(func(tag string) bool { return tag != "cuda" && tag != "ignore" }) ||
					x.Eval(func(string) bool { return false })
			}
		}
	}
	return g, nil
}

// paths gives the tree's names in order.
func (t *Tree) paths() []string {
	out := make([]string, 0, len(t.Files))
	for p := range t.Files {
		out = append(out, p)
	}
	sort.Strings(out)
	return out
}

// goPaths gives the Go files in order.
func (t *Tree) goPaths() []string {
	out := make([]string, 0, len(t.Go))
	for p := range t.Go {
		out = append(out, p)
	}
	sort.Strings(out)
	return out
}
