package layers

import (
	"fmt"
	"path"
	"sort"
	"strings"
)

// Imports checks who imports whom. Each answer is "file:line: what; why".
func Imports(t *Tree) []string {
	var bad []string
	for _, name := range t.goPaths() {
		f := t.Go[name]
		for _, imp := range sorted(f.Imports) {
			if why := refuse(f, imp); why != "" {
				bad = append(bad, fmt.Sprintf("%s:%d: imports %s: %s", name, f.Imports[imp], imp, why))
			}
		}
	}
	return bad
}

func sorted(m map[string]int) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// under tells whether a folder or import path is root or below it.
func under(p, root string) bool { return p == root || strings.HasPrefix(p, root+"/") }

// refuse gives the broken rule, or "".
func refuse(f *GoFile, imp string) string {
	from := path.Dir(f.Path)
	ours, isOurs := strings.CutPrefix(imp, Module+"/")
	standard := !strings.Contains(strings.SplitN(imp, "/", 2)[0], ".") && !isOurs
	switch {
	case from == "trace" && !f.Test && !standard:
		return "package trace imports the standard library only"
	case under(from, "trace") && isOurs && !under(ours, "trace"):
		return "trace imports nothing of ours"
	case under(from, "engine") && (under(ours, "web") || under(ours, "steps")):
		return "engine never imports web or steps"
	case under(from, "web") && under(ours, "engine"):
		return "web never imports engine; it declares the interface it needs and cmd wires the engine in"
	case under(ours, "engine/builtin") && !under(from, "cmd") && !under(from, "engine/builtin"):
		return "only cmd imports engine/builtin, so that no library carries the model"
	case testSupport(ours) && !f.Test && !testSupport(from):
		return "golden data and test support are for tests; they must not reach a binary"
	case under(from, "cmd/internal/bench") && !f.Test && isOurs && !benchMay(ours):
		return "the bench client imports only engine/openai/wire and trace"
	case !under(from, "cmd") && under(ours, "cmd"):
		return "only cmd imports cmd"
	case f.DefaultBuild && (imp == "C" || under(imp, "gorgonia.org/cu") || under(imp, "github.com/NVIDIA/go-nvml")):
		return "the default build has no cgo; put the file behind //go:build cuda"
	}
	return ""
}

// testSupport tells packages that only tests may import: the golden data, and by their name backendtest, testmodel, ...
func testSupport(p string) bool {
	last := path.Base(p)
	return p == "engine/golden" || strings.HasPrefix(last, "test") || len(last) > 4 && strings.HasSuffix(last, "test")
}

func benchMay(ours string) bool {
	return under(ours, "engine/openai/wire") || under(ours, "trace") || under(ours, "cmd/internal/bench")
}
