package modmap

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"glassbox/trace/file"
)

// python runs the script that asks Python's own parser.
func pythonSays(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("../../.venv/bin/python", append([]string{"testdata/imports.py"}, args...)...).Output()
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// same compares all import statements of files with what Python's ast module finds: line, dots, names, and when they run.
func same(t *testing.T, root string, names ...string) (files, statements int) {
	t.Helper()
	for _, line := range pythonSays(t, append([]string{root}, names...)...) {
		var path string
		var want [][]any
		require.NoError(t, json.Unmarshal([]byte(line), &[]any{&path, &want}))
		text, err := os.ReadFile(root + "/" + path)
		require.NoError(t, err)
		raw, err := json.Marshal(Rows(Statements(string(text))))
		require.NoError(t, err)
		var got [][]any
		require.NoError(t, json.Unmarshal(raw, &got))
		require.Equal(t, want, got, path)
		files, statements = files+1, statements+len(want)
	}
	return files, statements
}

func TestStatementsAreThoseThatPythonSees(t *testing.T) {
	files, statements := same(t, "testdata/src", "trap")
	require.Equal(t, 20, files)
	require.Equal(t, 59, statements)
}

// The standard library and two packages of the test environment: some hundred files that were not written for this test.
func TestStatementsOfFilesThatOthersWrote(t *testing.T) {
	out, err := exec.Command("../../.venv/bin/python", "-c", "import os, openai, site; print(os.path.dirname(os.__file__)); print(os.path.dirname(os.path.dirname(openai.__file__)))").Output()
	require.NoError(t, err)
	dirs := strings.Fields(string(out))
	files, statements := same(t, dirs[0], "asyncio", "importlib", "typing.py", "tokenize.py", "inspect.py")
	more, also := same(t, dirs[1], "numpy/lib/_npyio_impl.py", "numpy/__init__.py", "openai/_utils", "openai/__init__.py")
	require.Greater(t, files+more, 50)
	require.Greater(t, statements+also, 500)
}

// Strings of Python 3.12 hold any quote in their fields; the Python of the tests may be older and refuse them.
func TestStringsOfNewerPython(t *testing.T) {
	text := "x = f\"{a[\"import x\"]} {f'{f\"{1}\"}'}\"; import one\n" +
		"y = f'''{\n  b[1\n]  # import two }\n}''' ; import three\n" +
		"z = f\"{w:{\"}\"}>3}{{\" rf'\\{d[':']}' ; import four\n"
	var got []any
	for _, s := range Statements(text) {
		got = append(got, s.Line, s.Names[0])
	}
	require.Equal(t, []any{1, "one", 5, "three", 6, "four"}, got)
}

// With every import followed, what is loaded is what Python's modulefinder finds.
func TestClosureIsWhatModulefinderFinds(t *testing.T) {
	tree := trap(t)
	for _, entry := range []string{"trap.main", "trap.core.loop", "trap.kernels.secret", "trap.util"} {
		var got []string
		for i, in := range tree.closure([]int{tree.at(entry)}, Typing) {
			if in {
				got = append(got, tree.Modules[i].Name)
			}
		}
		want := pythonSays(t, "--closure", "testdata/src", entry)
		require.Equal(t, want, got, entry)
	}
}

func trap(t *testing.T) *Tree {
	t.Helper()
	tree, err := ReadPython(os.DirFS("testdata/src"), "trap")
	require.NoError(t, err)
	return tree
}

// recorded is a run that went through these files, in this order.
func recorded(paths ...string) *file.Recording {
	rec := &file.Recording{Engine: file.Engine{Name: "trap"}}
	for i, p := range paths {
		rec.Spans = append(rec.Spans, file.Span{Step: p, Attrs: file.Attrs{"file": p}})
		rec.Walk = append(rec.Walk, file.Step{ID: p, Count: 1, Spans: []int{i}, Source: file.Source{Path: p}})
	}
	return rec
}

func mapOf(t *testing.T, o Options) *Map {
	t.Helper()
	m, err := New(trap(t), o)
	require.NoError(t, err)
	return m
}

func states(m *Map) map[string]State {
	out := map[string]State{}
	for _, q := range m.Modules {
		out[q.Name] = q.State
	}
	return out
}

func TestWhatRanWhatWasImportedAndWhatWasPickedByName(t *testing.T) {
	rec := recorded("trap/core/engine.py", "trap/core/loop.py", "src/trap/kernels/secret.py", "trap/gone.py", "trap/core/loop.py")
	rec.Walk = append(rec.Walk, file.Step{ID: "never", Source: file.Source{Path: "trap/util/text.py"}})
	m := mapOf(t, Options{Entries: []string{"trap.core.engine"}, Recording: rec, RecordingID: "run"})
	require.Equal(t, map[string]State{"trap": Imported, "trap.version": Imported, "trap.core": Imported, "trap.core.engine": Ran, "trap.core.loop": Ran, "trap.util": Imported,
		"trap.util.text": Imported, "trap.util.paths": Imported, "trap.kernels.secret": ByName}, states(m))
	var route []string
	for _, s := range m.Route {
		route = append(route, m.Modules[s.Module].Name)
	}
	require.Equal(t, []string{"trap.core.engine", "trap.core.loop", "trap.kernels.secret", "trap.core.loop"}, route)
	require.Equal(t, 4, m.Stops())
	// entries, loaded, with functions, with type checkers, or seen, loaded with what ran, on the map, ran, by name, imported only
	var counts []int
	for _, r := range m.Rules {
		counts = append(counts, r.Modules)
	}
	require.Equal(t, []int{1, 7, 11, 11, 12, 12, 9, 3, 1, 6}, counts)
}

func TestLazyModulesAreOnTheMapWhenAskedFor(t *testing.T) {
	o := Options{Entries: []string{"trap.core.engine"}}
	require.NotContains(t, states(mapOf(t, o)), "trap.core.loop")
	o.Lazy = true
	require.Equal(t, None, states(mapOf(t, o))["trap.core.loop"])
	_, err := New(trap(t), Options{Entries: []string{"trap.engine"}})
	require.ErrorContains(t, err, "entry trap.engine: no such module in trap; there is trap.core.engine")
	_, err = New(trap(t), Options{})
	require.ErrorContains(t, err, "no entry")
}

func TestWhoAndPath(t *testing.T) {
	tree := trap(t)
	who, err := tree.Who("trap.kernels.cpu")
	require.NoError(t, err)
	require.Equal(t, []string{"trap/core/loop.py:3 trap.core.loop (lazy)", "trap/kernels/secret.py:1 trap.kernels.secret (top)", "trap/main.py:4 trap.main (top)"}, who)
	way, err := tree.Path("trap.core.engine", "trap.kernels.cpu")
	require.NoError(t, err)
	require.Equal(t, []string{"trap.core.engine  imports at trap/core/engine.py:8 (lazy)", "trap.core.loop  imports at trap/core/loop.py:3 (lazy)", "trap.kernels.cpu"}, way)
	_, err = tree.Path("trap.kernels.cpu", "trap.main")
	require.ErrorContains(t, err, "no chain of imports")
	_, err = tree.Who("trap.cpu")
	require.ErrorContains(t, err, "there is trap.kernels.cpu")
}

// Boxes lie in the map, in their folders, and on no other box; the same source gives the same bytes, and reading gives back
// what was written.
func TestLayoutHoldsStill(t *testing.T) {
	o := Options{Entries: []string{"trap.main"}, Lazy: true}
	m := mapOf(t, o)
	in := func(b, a Box) bool {
		return b[0] >= a[0]-.2 && b[1] >= a[1]-.2 && b[0]+b[2] <= a[0]+a[2]+.2 && b[1]+b[3] <= a[1]+a[3]+.2
	}
	folders := map[string]Box{"": {0, 0, m.Width, m.Height}}
	for _, f := range m.Folders {
		require.True(t, in(f.Box, folders[""]), f.Path)
		folders[f.Path] = f.Box
	}
	for i, a := range m.Modules {
		require.True(t, in(a.Box, folders["trap"]), a.Name)
		require.Positive(t, a.Box[2]*a.Box[3], a.Name)
		for _, b := range m.Modules[:i] {
			x, y := min(a.Box[0]+a.Box[2], b.Box[0]+b.Box[2])-max(a.Box[0], b.Box[0]), min(a.Box[1]+a.Box[3], b.Box[1]+b.Box[3])-max(a.Box[1], b.Box[1])
			require.False(t, x > .1 && y > .1, "%s lies on %s", a.Name, b.Name)
		}
	}
	var one, two bytes.Buffer
	require.NoError(t, m.Write(&one))
	require.NoError(t, mapOf(t, o).Write(&two))
	require.Equal(t, one.String(), two.String())
	back, err := Read(one.Bytes())
	require.NoError(t, err)
	require.Equal(t, m, back)
}

func TestAreaFollowsLines(t *testing.T) {
	files := fstest.MapFS{"p/__init__.py": {Data: []byte("from . import a, b, c")}}
	for name, n := range map[string]int{"a": 100, "b": 400, "c": 3} {
		files["p/"+name+".py"] = &fstest.MapFile{Data: []byte(strings.Repeat("x\n", n))}
	}
	tree, err := ReadPython(files, "p")
	require.NoError(t, err)
	m, err := New(tree, Options{Entries: []string{"p"}})
	require.NoError(t, err)
	area := map[string]float64{}
	for _, q := range m.Modules {
		area[q.Name] = q.Box[2] * q.Box[3]
	}
	require.InEpsilon(t, 4, area["p.b"]/area["p.a"], .03)
	require.InEpsilon(t, 100.0/leastLines, area["p.a"]/area["p.c"], .03)
}

func TestBadInputIsAnError(t *testing.T) {
	_, err := ReadPython(fstest.MapFS{"other/a.py": {}}, "p")
	require.ErrorContains(t, err, "wanted the folder that holds p/")
	_, err = ReadPython(fstest.MapFS{"p/a.txt": {}}, "p")
	require.ErrorContains(t, err, "no .py files")
	for raw, want := range map[string]string{
		`{`: "module map: unexpected end", `{"schema":{"name":"x","version":"1.0"}}`: `found "x" "1.0"`,
		`{"schema":{"name":"glassbox-modmap","version":"2.0"}}`:                                   `found "glassbox-modmap" "2.0"`,
		`{"schema":{"name":"glassbox-modmap","version":"1.0"},"modules":[{"imports":[[4,1,0]]}]}`: "wanted an index below 1, found 4",
		`{"schema":{"name":"glassbox-modmap","version":"1.0"},"route":[{"step":"a","module":0}]}`: "route[0].module",
	} {
		_, err = Read([]byte(raw))
		require.ErrorContains(t, err, want)
	}
}

// Hostile text ends, and is no panic.
func FuzzStatements(f *testing.F) {
	for _, s := range []string{"import a", "f\"{", "if x:\n import y\n", "from . import (", "x = '''", "\\", "lambda: {", "f'{a:{b:{c", "\x00\xff import é", "if(:\nelse:\n\timport x;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, st := range Statements(s) {
			if st.Line < 1 || len(st.Names) == 0 {
				t.Fatalf("%q: %+v", s, st)
			}
		}
	})
}

// Glassbox's own packages: the go command's word for who imports whom.
func TestGoPackages(t *testing.T) {
	tree, err := ReadGo("../..")
	require.NoError(t, err)
	m, err := New(tree, Options{Entries: []string{"glassbox/cmd/glassbox"}, Language: "go"})
	require.NoError(t, err)
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if .Module}}{{if .Module.Main}}{{.ImportPath}}{{end}}{{end}}", "glassbox/cmd/glassbox").Output()
	require.NoError(t, err)
	var got []string
	for _, q := range m.Modules {
		got = append(got, q.Name)
	}
	require.ElementsMatch(t, strings.Fields(string(out)), got)
	way, err := tree.Path("glassbox/cmd/glassbox", "glassbox/engine/backend/cpu/kern")
	require.NoError(t, err)
	require.Contains(t, way[len(way)-1], "kern")
}
