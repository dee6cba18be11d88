package steps

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"glassbox/steps/anchor"
	"glassbox/trace/file"
)

// shippedOf are the recordings of other engines that ship, and what is said of them.
var shippedOf = map[string]struct {
	recording string
	stops     int      // at least
	late      []string // steps whose first span is not in the order of the walk, with the reason in their page or here
}{
	// shm_read: the worker waited for the first plan since before the recording. chunk: the generator is first pulled when
	// the response begins, long before it has a token.
	"vllm": {"chat-in-vllm", 62, []string{"shm_read", "chunk"}},
	// What runs in other threads beside the inference thread.
	"llamacpp": {"chat-in-llamacpp", 55, []string{"first_result", "head", "worker_join", "barrier", "worker_products", "worker_other", "worker_barrier", "next_chunk", "write_chunks", "add_last", "release"}},
	// decode_batch and prepare_decode: from the second token on. wake and chunk: coroutines that begin when the response does,
	// and then wait for the first token.
	"sglang": {"chat-in-sglang", 48, []string{"decode_batch", "prepare_decode", "wake", "chunk"}},
}

func ofEngine(t *testing.T, e Engine) (*Catalogue, *file.Recording) {
	c, err := e.Catalogue()
	require.NoError(t, err)
	return c, recordingOf(t, shippedOf[e.Name].recording)
}

var recordings = map[string]*file.Recording{}

// recordingOf reads a recording that ships, once. Whoever matches it again leaves it as it was, or fails.
func recordingOf(t *testing.T, name string) *file.Recording {
	if recordings[name] == nil {
		rec, err := file.Read("../static/recordings/" + name + ".gbx")
		require.NoError(t, err)
		recordings[name] = rec
	}
	return recordings[name]
}

// The words of other engines keep the rules that ours do.
func TestPagesOfOtherEngines(t *testing.T) {
	for _, e := range Engines() {
		c, err := e.Catalogue()
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(c.Steps), shippedOf[e.Name].stops)
		stage := 0
		for _, s := range c.Steps {
			n := len(strings.Fields(c.Text(s, Values{})))
			require.GreaterOrEqual(t, n, 60, s.File)
			require.LessOrEqual(t, n+len(strings.Fields(s.Unreached)), 120, s.File)
			require.LessOrEqual(t, len(s.Short), 70, s.File)
			require.True(t, strings.HasPrefix(s.Wrong, "That "), s.File)
			at := map[string]int{"receive": 1, "schedule": 2, "compute": 3, "deliver": 4}[s.Stage]
			require.GreaterOrEqual(t, at, stage, "%s: stages follow each other", s.File)
			stage = at
			known := false
			for _, l := range e.Lanes {
				known = known || l.ID == s.Lane
			}
			require.True(t, known, "%s: lane %s", s.File, s.Lane)
		}
		require.Equal(t, 4, stage)
	}
}

// A catalogue tells the truth about the recording that ships: spans are where the rules say, in the order of the walk,
// each of one step, at the lines of the pages, and times add up.
func TestCataloguesOfOtherEnginesFitTheirRecordings(t *testing.T) {
	for _, e := range Engines() {
		c, rec := ofEngine(t, e)
		require.Equal(t, e.Version, rec.Engine.Version)
		require.Len(t, rec.Walk, len(c.Steps))
		owner := map[int]string{}
		reached, reachable, last := 0, 0, int64(0)
		for i, w := range rec.Walk {
			s := c.Steps[i]
			require.Equal(t, s.ID, w.ID)
			if !strings.Contains(s.Unreached, "it ran on a CPU") {
				reachable++
			}
			if len(w.Spans) == 0 {
				require.NotEmpty(t, s.Unreached, "%s: a stop that was not reached says why", s.File)
				continue
			}
			reached++
			first := rec.Spans[w.Spans[0]]
			if !contains(shippedOf[e.Name].late, w.ID) {
				require.GreaterOrEqual(t, first.StartNs, last, "%s began before the step before it", w.ID)
				last = first.StartNs
			}
			var sum int64
			for _, n := range w.Spans {
				p := &rec.Spans[n]
				if owner[n] != "" || p.Step != w.ID || !inLane(p.Lane, s.Lane) {
					t.Fatalf("span %s (step %q, lane %s) is counted to %s in lane %s, and to %q", p.ID, p.Step, p.Lane, w.ID, s.Lane, owner[n])
				}
				owner[n] = w.ID
				if line, ok := p.Attrs.Int(AttrLine); ok && p.Name == s.Symbol && line != int64(s.Line) {
					t.Fatalf("%s: the page says line %d, in the run the function began at %d", s.File, s.Line, line)
				}
				sum += p.DurNs
			}
			require.LessOrEqual(t, w.TimeNs, sum)
			require.Equal(t, len(w.Spans), w.Count)
		}
		require.GreaterOrEqual(t, reached*100, reachable*80, "%s: %d of %d stops reached", e.Name, reached, reachable)
		timesAddUp(t, rec)
	}
}

// timesAddUp checks that spans lie inside their parents and that children take no longer than the parent.
func timesAddUp(t *testing.T, rec *file.Recording) {
	at := byID(rec)
	inside := make([]int64, len(rec.Spans))
	for i := range rec.Spans {
		s := &rec.Spans[i]
		if s.Parent == "" {
			continue
		}
		p := at[s.Parent]
		around := &rec.Spans[p]
		if p >= i || around.StartNs > s.StartNs || around.EndNs() < s.EndNs() {
			t.Fatalf("%s does not lie inside its parent %s", s.ID, around.ID)
		}
		inside[p] += s.DurNs
	}
	for i := range rec.Spans {
		if inside[i] > rec.Spans[i].DurNs {
			t.Fatalf("%s takes %d ns, what is inside it %d", rec.Spans[i].ID, rec.Spans[i].DurNs, inside[i])
		}
	}
	layers := make([]map[int]bool, len(rec.Passes))
	for i := range rec.Spans {
		if s := &rec.Spans[i]; s.Pass >= 0 && s.Layer >= 0 {
			if layers[s.Pass] == nil {
				layers[s.Pass] = map[int]bool{}
			}
			layers[s.Pass][s.Layer] = true
		}
	}
	for i, p := range rec.Passes {
		require.Equal(t, i, p.Index)
		require.Len(t, layers[i], rec.Model.Layers, "pass %d", i)
	}
}

// Matching anew gives what is in the file: the rules of the pages are those the recording was laid out by.
func TestMatchingAgainChangesNothing(t *testing.T) {
	for _, e := range Engines() {
		c, rec := ofEngine(t, e)
		walk, passes := rec.Walk, slices.Clone(rec.Passes)
		c.Match(rec)
		c.Apply(rec)
		require.Equal(t, passes, rec.Passes)
		for i := range walk {
			was, now := walk[i], rec.Walk[i]
			require.True(t, slices.Equal(was.Spans, now.Spans), was.ID)
			was.Spans, now.Spans = nil, nil // many: not compared by reflection
			require.Equal(t, was, now)
		}
	}
}

// The check of all places, of catalogues and of stages, against the pinned version is kept, and is of these pages.
func TestTheCheckOfPlacesIsKept(t *testing.T) {
	docs, err := os.ReadFile("../docs/engines.md")
	require.NoError(t, err)
	for _, e := range Engines() {
		name := "testdata/anchors/" + e.Name + ".txt"
		text, err := os.ReadFile(name)
		require.NoError(t, err, "make it: glassbox steps check %s --src DIR --all > steps/%s", e.Name, name)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		c, err := e.Catalogue()
		require.NoError(t, err)
		pins := append(c.Pins(), StagePins(Stages(nil), e.Name)...)
		for _, p := range pins {
			require.True(t, slices.ContainsFunc(lines, func(l string) bool {
				where, symbol, _ := strings.Cut(strings.TrimPrefix(l, "unchanged  "), " ")
				path, line, _ := strings.Cut(where, ":")
				return path == p.Place.Path && symbol == p.Place.Symbol && (p.Place.Line == 0 || line == strconv.Itoa(p.Place.Line))
			}), "%s: %s:%d %s is not in %s: check again, and keep the report", p.File, p.Place.Path, p.Place.Line, p.Place.Symbol, name)
		}
		summary := lines[len(lines)-1]
		require.Regexp(t, fmt.Sprintf(`^%s %s: %d anchors on \d+ pages: %d unchanged, 0 moved, 0 renamed, 0 gone$`, e.Title, regexp.QuoteMeta(e.Version), len(pins), len(pins)), summary)
		require.Contains(t, string(docs), summary, "docs/engines.md says what the check said")
	}
}

// A package may lie in a folder of its repository: pages name files by their path there, and find them in an unpacked
// package as well.
func TestPackagesInAFolderOfTheRepository(t *testing.T) {
	e := Engine{Root: "python"}
	require.Equal(t, "python/e/a.py", e.InRepo("e/a.py"))
	require.Equal(t, "e/a.py", Engine{}.InRepo("e/a.py"))
	for _, name := range []string{"python/e/a.py", "e/a.py"} {
		files := e.Checkout(fstest.MapFS{name: {Data: []byte("\ndef f(): pass\n")}})
		found := LocatePins(anchor.NewTree(files), []Pin{{Place: anchor.Place{Path: "python/e/a.py", Symbol: "f", Line: 2}}})
		require.Equal(t, anchor.Unchanged, found[0].State, name)
	}
}

// Places of stages are written anew where they moved, and others are left alone.
func TestPlacesOfStagesAreWritten(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(dir+"/stages", 0o777))
	const was = "- e yes: It. [p.py:1 f] [p.py:1 g] [#gate]\n"
	require.NoError(t, os.WriteFile(dir+"/stages/1-receive.md", []byte(was), 0o666))
	pins := []Pin{{File: "stages/1-receive.md", Place: anchor.Place{Path: "p.py", Symbol: "f", Line: 1}}, {File: "stages/1-receive.md", Place: anchor.Place{Path: "p.py", Symbol: "g", Line: 1}}}
	changed, err := Repin(dir, LocatePins(anchorTree(map[string]string{"p.py": "def g(): pass\n\ndef f(): pass\n"}), pins))
	require.NoError(t, err)
	require.Len(t, changed, 1)
	text, err := os.ReadFile(changed[0])
	require.NoError(t, err)
	require.Equal(t, strings.Replace(was, "p.py:1 f", "p.py:3 f", 1), string(text))
}

func foreignPage(more string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte("---\nid: a\ntitle: A\nstage: receive\nlane: x\nsymbol: f\nform: json\nlabel: a\nshort: A.\nhands_on: a\nwrong: That a. It b.\n" + more + "---\nText.\n")}
}

func TestPagesOfOtherEnginesAreChecked(t *testing.T) {
	for more, want := range map[string]string{
		"path: p.py\nline: 0\n":                       "wanted a number from 1",
		"path: p.py\nline: x\n":                       "wanted a number from 1",
		"path: p.py\nline: 3\nspan: a\n":              "wanted no key op or span beside path",
		"path: p.py\n":                                "wanted the keys path and line",
		"path: p.py\nline: 3\nmatch: f, p.py:f\n":     "functions of no other page",
		"path: p.py\nline: 3\nmatch: f@g, f@g\n":      "functions of no other page",
		"path: p.py\nline: 3\nmatch: f@g, f@h, f\n":   "",
		"path: p.py\nline: 3\nmatch: f[a], f[b], f\n": "",
		"path: p.py\nline: 3\nmatch: f[a], f[a]\n":    "functions of no other page",
	} {
		c, err := Load(fstest.MapFS{"catalog/e/01-a.md": foreignPage(more)}, "e")
		if err == nil {
			err = c.For(Engine{Name: "e", Repo: "r"})
		}
		if want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want, more)
		}
	}
	_, err := EngineOf("none")
	require.ErrorContains(t, err, `engine "none": wanted one of [`)
}

// A rule with the nearer function around wins; one without any is for what is left.
func TestTheNearestFunctionAroundDecides(t *testing.T) {
	c, err := Load(fstest.MapFS{
		"catalog/e/01-a.md": foreignPage("path: p.py\nline: 1\nmatch: f@outer\n"),
		"catalog/e/02-b.md": {Data: []byte(strings.Replace(string(foreignPage("path: p.py\nline: 1\nmatch: f@inner\n").Data), "id: a", "id: b", 1))},
		"catalog/e/03-c.md": {Data: []byte(strings.Replace(string(foreignPage("path: p.py\nline: 1\n").Data), "id: a", "id: c", 1))},
	}, "e")
	require.NoError(t, err)
	require.NoError(t, c.For(Engine{}))
	span := func(id, name, parent, lane, path string) file.Span {
		return file.Span{ID: id, Name: name, Parent: parent, Lane: lane, Attrs: file.Attrs{AttrFile: path}}
	}
	rec := &file.Recording{Spans: []file.Span{
		span("1", "outer", "", "x", "p.py"), span("2", "f", "1", "x", "p.py"), span("3", "inner", "1", "x", "p.py"), span("4", "f", "3", "x.more", "p.py"),
		span("5", "f", "", "x", "p.py"), span("6", "f", "", "y", "p.py"), span("7", "f", "", "x", "other.py"),
	}}
	c.Match(rec)
	var got []string
	for _, s := range rec.Spans {
		got = append(got, s.Step)
	}
	require.Equal(t, []string{"", "a", "", "b", "c", "", ""}, got)
}

// A rule that names a node of the graph is for that node in any layer, and goes before one that names none.
func TestTheNodeOfTheGraphDecides(t *testing.T) {
	c, err := Load(fstest.MapFS{
		"catalog/e/01-a.md": foreignPage("path: p.c\nline: 1\nmatch: f[q]\n"),
		"catalog/e/02-b.md": {Data: []byte(strings.Replace(string(foreignPage("path: p.c\nline: 1\n").Data), "id: a", "id: b", 1))},
	}, "e")
	require.NoError(t, err)
	require.NoError(t, c.For(Engine{Pass: "run"}))
	span := func(id, name, lane, node string, start, dur int64) file.Span {
		s := file.Span{ID: id, Name: name, Lane: lane, StartNs: start, DurNs: dur, Attrs: file.Attrs{AttrNode: node}}
		if name == "f" && lane == "x" {
			s.Parent = "1"
		}
		return s
	}
	rec := &file.Recording{Spans: []file.Span{
		span("1", "run", "x", "", 0, 100), span("2", "f", "x", "q-0", 1, 2), span("3", "f", "x", "node_9", 4, 2), span("4", "f", "x", "cache_q_l1 (view)", 7, 2),
		span("5", "f", "x", "q-2", 10, 2), span("6", "f", "x", "out", 13, 2), span("7", "f", "y", "q-1", 2, 2),
	}}
	rec.Spans[6].Lane = "x.other"
	c.Match(rec)
	var got []string
	var layers []int
	for _, s := range rec.Spans {
		got = append(got, s.Step)
		layers = append(layers, s.Layer)
	}
	require.Equal(t, []string{"", "a", "b", "b", "a", "b", "a"}, got)
	require.Equal(t, []int{file.None, 0, 0, 1, 2, file.None, file.None}, layers, "of the last one the pass is not known: it is in no loop of tokens")
	require.Equal(t, 0, nearest([]file.Pass{{StartNs: 0, DurNs: 100}, {Index: 1, StartNs: 100, DurNs: 9}}, &rec.Spans[6], true), "it runs beside the first pass")
}

func TestCodeComesFromTheReadersCheckout(t *testing.T) {
	rec := &file.Recording{Walk: []file.Step{{Source: file.Source{Path: "p.py", Line: 3}, Sources: []file.Source{{Path: "p.py", Line: 3}, {Path: "../p.py", Line: 1}, {Path: "p.py", Line: 99}}}}}
	files := fstest.MapFS{"p.py": {Data: []byte("a\nb\nc\nd\ne")}}
	require.Equal(t, 2, ReadCode(rec, files))
	require.Equal(t, &file.Code{First: 1, Lines: []string{"a", "b", "c", "d", "e"}}, rec.Walk[0].Source.Code)
	require.NotNil(t, rec.Walk[0].Sources[0].Code)
	require.Nil(t, rec.Walk[0].Sources[1].Code)
	require.Nil(t, rec.Walk[0].Sources[2].Code)
}

func TestPinsAreFoundAndWritten(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(dir+"/catalog/e", 0o777))
	name := dir + "/catalog/e/01-a.md"
	require.NoError(t, os.WriteFile(name, foreignPage("path: p.py\nline: 9\n").Data, 0o666))
	c, err := Load(os.DirFS(dir), "e")
	require.NoError(t, err)
	require.NoError(t, c.For(Engine{}))
	found := c.Locate(anchorTree(map[string]string{"p.py": "\n\ndef f(): pass\n"}))
	require.Len(t, found, 1)
	changed, err := Repin(dir, found)
	require.NoError(t, err)
	require.Equal(t, []string{name}, changed)
	c, err = Load(os.DirFS(dir), "e")
	require.NoError(t, err)
	require.Equal(t, 3, c.Step("a").Line)
	require.NoError(t, c.For(Engine{}))
	changed, err = Repin(dir, c.Locate(anchorTree(map[string]string{"p.py": "\n\ndef f(): pass\n"})))
	require.NoError(t, err)
	require.Empty(t, changed)
}

func anchorTree(files map[string]string) *anchor.Tree {
	m := fstest.MapFS{}
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return anchor.NewTree(m)
}
