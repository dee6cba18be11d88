package anchor

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// lister prints every function of a file as Python itself has compiled it: name and first line.
const lister = `
import sys, types
def walk(c):
    for k in c.co_consts:
        if isinstance(k, types.CodeType):
            if not k.co_name.startswith("<"): print(k.co_qualname, k.co_firstlineno)
            walk(k)
walk(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"))`

func lines(defs []Def) (out []string) {
	for _, d := range defs {
		out = append(out, fmt.Sprint(d.Symbol, " ", d.Line))
	}
	return out
}

// What Python's compiler says is right; the scanner has to say the same, of our own scripts too.
func TestPythonFunctionsAreThoseThatPythonSees(t *testing.T) {
	for _, name := range []string{"testdata/sample.py", "../../cmd/internal/attach/sitecustomize.py", "../../engine/golden/make.py"} {
		out, err := exec.Command("../../.venv/bin/python", "-c", lister, name).Output()
		require.NoError(t, err)
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.ElementsMatch(t, strings.Split(strings.TrimSpace(string(out)), "\n"), lines(Defs(name, text)), name)
	}
}

func TestCppFunctions(t *testing.T) {
	text, err := os.ReadFile("testdata/sample.cpp")
	require.NoError(t, err)
	require.Equal(t, []string{"a::b::twice 8", "a::b::queue::queue 12", "a::b::queue::post 16", "a::b::queue::operator== 20", "a::b::queue::~queue 24",
		"a::b::hidden 26", "a::b::choose 34", "c_function 42", "a::b::outside::method 45"}, lines(Defs("x.cpp", text)))
}

func TestGoFunctions(t *testing.T) {
	text, err := os.ReadFile("testdata/sample.go.txt")
	require.NoError(t, err)
	require.Equal(t, []string{"Plain 6", "(*T).Method 8", "T.Value 12"}, lines(Defs("x.go", text)))
	require.Empty(t, Defs("x.txt", text))
	require.Empty(t, Defs("x.go", []byte("broken")))
}

func TestWhatBecameOfAnchors(t *testing.T) {
	files := fstest.MapFS{
		"p/a.py": {Data: []byte("class A:\n    def stays(self): pass\n\n\n    def moves(self): pass\n    def new_name(self): pass\n")},
		"p/b.py": {Data: []byte("def went_there(): pass\n")},
		"p/c.py": {Data: []byte("def twin(): pass\n")},
		"p/d.py": {Data: []byte("def twin(): pass\n")},
	}
	anchors := []Place{{"p/a.py", "A.stays", 2}, {"p/a.py", "A.moves", 3}, {"p/a.py", "A.old_name", 4}, {"p/gone.py", "went_there", 9}, {"p/a.py", "other", 50}, {"p/x.py", "twin", 1}, {"p/a.py", "A.stays", 0}}
	var got []string
	for _, f := range NewTree(files).Find(anchors) {
		got = append(got, fmt.Sprint(f.State, " ", f.Now.Path, " ", f.Now.Symbol, " ", f.Now.Line))
	}
	require.Equal(t, []string{"unchanged p/a.py A.stays 2", "moved p/a.py A.moves 5", "renamed p/a.py A.new_name 6", "moved p/b.py went_there 1", "gone   0", "gone   0", "unchanged p/a.py A.stays 2"}, got)
}
