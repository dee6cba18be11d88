package modmap

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// goPackage is what "go list -json" says of a package.
type goPackage struct {
	ImportPath, Dir string
	GoFiles         []string
	Imports         []string
	Module          *struct{ Path, Dir string }
}

// ReadGo reads the module of Go at dir: its packages are the modules of the map, as built for this machine, without tests. It
// asks the go command which files belong to a build, and reads the lines of the imports itself.
func ReadGo(dir string) (*Tree, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,Imports,Module", "./...")
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w: %s", dir, err, strings.TrimSpace(stderr.String()))
	}
	t := &Tree{}
	var all []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list in %s: %w", dir, err)
		}
		if p.Module == nil || len(p.GoFiles) == 0 {
			continue
		}
		s, err := goSource(p)
		if err != nil {
			return nil, err
		}
		t.Name = p.Module.Path
		t.Modules, all = append(t.Modules, s), append(all, p)
	}
	if len(t.Modules) == 0 {
		return nil, fmt.Errorf("%s: no Go packages: wanted the root of a module", dir)
	}
	t.sort()
	for _, p := range all {
		m := &t.Modules[t.at(p.ImportPath)]
		for _, st := range m.statements {
			if to := t.at(st.Names[0]); to >= 0 {
				m.Edges = append(m.Edges, Edge{To: to, Line: st.Line, File: st.Module})
			}
		}
		m.statements = nil
	}
	return t, nil
}

// goSource counts a package's lines and finds where it first imports each other package. The statements' Module is the file.
func goSource(p goPackage) (Source, error) {
	rel, err := filepath.Rel(p.Module.Dir, p.Dir)
	if err != nil {
		return Source{}, fmt.Errorf("package %s: %w", p.ImportPath, err)
	}
	rel = filepath.ToSlash(rel)
	s := Source{Name: p.ImportPath, Path: rel, dir: path.Dir(rel), label: path.Base(rel), parent: -1, pkg: true}
	seen := map[string]bool{}
	for _, name := range p.GoFiles {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return s, err
		}
		s.Lines += lines(text)
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path.Join(rel, name), text, parser.ImportsOnly)
		if err != nil {
			return s, err
		}
		for _, spec := range f.Imports {
			if to, err := strconv.Unquote(spec.Path.Value); err == nil && !seen[to] {
				seen[to] = true
				s.statements = append(s.statements, Statement{Line: set.Position(spec.Pos()).Line, Names: []string{to}, Module: name})
			}
		}
	}
	return s, nil
}
