package steps

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestSymbolsAsTheRuntimeWritesThemFindTheFunctionAround(t *testing.T) {
	for symbol, want := range map[string][2]string{
		"glassbox/engine/kv.(*Pool).Grow":                 {"engine/kv", "(*Pool).Grow"},
		"glassbox/engine/model.llama":                     {"engine/model", "llama"},
		"glassbox/engine/model.llamaMap.func1":            {"engine/model", "llamaMap"},
		"glassbox/engine/kv.(*Pool).Grow.func2.1":         {"engine/kv", "(*Pool).Grow"},
		"glassbox/engine/trace.Stage.String":              {"engine/trace", "Stage.String"},
		"glassbox/engine.(*Engine).loop.gowrap1":          {"engine", "(*Engine).loop"},
		"glassbox/engine.(*Engine).loop-fm":               {"engine", "(*Engine).loop"},
		"glassbox/trace.(*ring[...]).push":                {"trace", "(*ring).push"},
		"glassbox/trace/file.orEmpty[go.shape.int]":       {"trace/file", "orEmpty"},
		"glassbox/trace/file.orEmpty[glassbox/x.T].func1": {"trace/file", "orEmpty"},
	} {
		dir, name, ours := cutSymbol(symbol)
		require.True(t, ours, symbol)
		require.Equal(t, want, [2]string{dir, name}, symbol)
	}
	for _, other := range []string{"net/http.(*conn).serve", "main.main", "", "glassbox", "glassbox/x"} {
		_, _, ours := cutSymbol(other)
		require.False(t, ours, other)
	}
}

func source(lines ...string) fs.FS {
	return fstest.MapFS{"engine/x/x.go": {Data: []byte(strings.Join(lines, "\n") + "\n")}}
}

func TestFunctionIsShownWholeWithItsCommentWhenShort(t *testing.T) {
	s := NewSources(source("package x", "", "// F is short.", "func F() int {", "\treturn 1", "}", "", "func G() {}"))
	src, ok := s.Find("glassbox/engine/x.F", "", 0)
	require.True(t, ok)
	require.Equal(t, "engine/x/x.go", src.Path)
	require.Equal(t, 4, src.Line)
	require.Equal(t, 3, src.Code.First)
	require.Equal(t, []string{"// F is short.", "func F() int {", "\treturn 1", "}"}, src.Code.Lines)
	require.Equal(t, "F", src.Symbol)

	src, ok = s.Find("glassbox/engine/x.F", "engine/x/x.go", 5)
	require.True(t, ok)
	require.Equal(t, 5, src.Line, "the line that ran is lit")
	require.Equal(t, "\treturn 1", src.Code.Lines[src.Line-src.Code.First])

	src, ok = s.Find("glassbox/engine/x.F", "engine/x/x.go", 8)
	require.True(t, ok)
	require.Equal(t, 4, src.Line, "a line outside the function is not lit")
}

func TestLongFunctionIsShownAroundTheLitLine(t *testing.T) {
	lines := []string{"package x", "// F is long.", "func F() {"}
	for range 60 {
		lines = append(lines, "\tprintln()")
	}
	s := NewSources(source(append(lines, "}", "", "func H() {}")...))
	for lit, want := range map[int][2]int{3: {3, 23}, 5: {3, 23}, 30: {22, 42}, 62: {44, 64}, 64: {44, 64}} {
		src, ok := s.Find("glassbox/engine/x.F", "x.go", lit)
		require.True(t, ok)
		require.Equal(t, lit, src.Line)
		require.Equal(t, want, [2]int{src.Code.First, src.Code.First + len(src.Code.Lines) - 1}, "line %d", lit)
	}
}

func TestOfSeveralFilesTheOneThatWasBuiltIsTaken(t *testing.T) {
	s := NewSources(fstest.MapFS{
		"engine/x/a.go":         {Data: []byte("//go:build never\n\npackage x\n\nfunc F() {}\n")},
		"engine/x/x_plan9.go":   {Data: []byte("package x\n\nfunc F() {}\n")},
		"engine/x/y.go":         {Data: []byte("package x\n\nfunc F() {}\n")},
		"engine/x/a_test.go":    {Data: []byte("package x\n\nfunc T() {}\n")},
		"engine/x/broken.go":    {Data: []byte("package x\n\nfunc {\n")},
		"engine/x/k_noarch.txt": {Data: []byte("TEXT ·k(SB)\n")},
		"engine/x/k.s":          {Data: []byte("#include \"textflag.h\"\n\n// func k(n int)\nTEXT ·k(SB), NOSPLIT, $0-8\n\tRET\n\nTEXT ·k2(SB), NOSPLIT, $0\n\tRET\n")},
	})
	src, ok := s.Find("glassbox/engine/x.F", "", 0)
	require.True(t, ok)
	require.Equal(t, "engine/x/y.go", src.Path)
	src, ok = s.Find("glassbox/engine/x.F", "engine/x/a.go", 5)
	require.True(t, ok)
	require.Equal(t, "engine/x/a.go", src.Path, "the file that ran comes first")
	_, ok = s.Find("glassbox/engine/x.T", "", 0)
	require.False(t, ok, "tests are no source")
	src, ok = s.Find("glassbox/engine/x.Gone", "x.go", 7)
	require.False(t, ok)
	require.Nil(t, src.Code)
	require.Equal(t, "engine/x/x.go", src.Path)

	src, ok = s.Assembly("engine/x", "k")
	require.True(t, ok)
	require.Equal(t, 4, src.Line)
	require.Equal(t, []string{"// func k(n int)", "TEXT ·k(SB), NOSPLIT, $0-8", "\tRET", ""}, src.Code.Lines)
	_, ok = s.Assembly("engine/x", "k3")
	require.False(t, ok)
}

func TestWithoutSourcesASymbolHasNoCode(t *testing.T) {
	var s *Sources
	src, ok := s.Find("glassbox/engine/kv.(*Pool).Grow", "engine/kv/pool.go", 43)
	require.True(t, ok)
	require.Nil(t, src.Code)
	require.Equal(t, "(*Pool).Grow", src.Symbol)
	require.Equal(t, 43, src.Line)
	require.Equal(t, "unknown", src.Commit)
}

// Each symbol of each page must be a function in the tree. A renamed function fails here, with the page to change.
func TestSymbolsOfThePagesExist(t *testing.T) {
	c := Glassbox(ours)
	for _, s := range c.Steps {
		for _, backend := range []string{"ref", "cpu"} {
			for _, symbol := range append([]string{s.Symbol}, s.Also...) {
				symbol = Values{Backend: backend}.symbol(symbol)
				src, ok := c.sources.Find(symbol, "", 0)
				require.True(t, ok, "%s:%d: symbol %s is not in the tree", s.File, s.lines["symbol"], symbol)
				require.NotNil(t, src.Code, s.File)
				require.Contains(t, src.Code.Lines[src.Line-src.Code.First], "func ", s.File)
			}
		}
		if s.Op != "" {
			require.NotEmpty(t, s.Also, "%s: also: wanted the backend's functions", s.File)
		}
	}
}
