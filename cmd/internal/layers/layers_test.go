package layers

import (
	"sort"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// longFiles may have more than 500 lines, each for a reason that a reader would accept.
var longFiles = map[string]string{}

func repository(t *testing.T) *Tree {
	t.Helper()
	tree, err := Open("../../..")
	require.NoError(t, err)
	require.Contains(t, tree.Files, "go.mod", "the tests must read the repository's root")
	require.Contains(t, tree.Go, "trace/trace.go")
	return tree
}

func none(t *testing.T, problems []string) {
	t.Helper()
	require.Empty(t, problems, "\n"+strings.Join(problems, "\n"))
}

func TestImportsOfThisRepository(t *testing.T)   { none(t, Imports(repository(t))) }
func TestPackageCommentsAreThere(t *testing.T)   { none(t, PackageComments(repository(t))) }
func TestFilesAreShort(t *testing.T)             { none(t, Lengths(repository(t), longFiles)) }
func TestNothingForbiddenIsWritten(t *testing.T) { none(t, Texts(repository(t))) }
func TestNoBuildOutputsAreKept(t *testing.T)     { none(t, Outputs(repository(t))) }

// made builds a tree from path to text.
func made(t *testing.T, files map[string]string) *Tree {
	t.Helper()
	root, names := fstest.MapFS{}, []string{}
	for name, text := range files {
		root[name] = &fstest.MapFile{Data: []byte(text)}
		names = append(names, name)
	}
	sort.Strings(names)
	tree, err := Read(root, names)
	require.NoError(t, err)
	return tree
}

// Every import rule, broken once and kept once.
func TestEachImportRuleRefuses(t *testing.T) {
	cases := []struct{ file, imports, why string }{
		{"trace/a.go", "github.com/yuin/goldmark", "standard library only"},
		{"trace/a.go", "glassbox/trace/file", "standard library only"},
		{"trace/a.go", "encoding/json", ""},
		{"trace/a_test.go", "github.com/stretchr/testify/require", ""},
		{"trace/file/a.go", "glassbox/engine", "nothing of ours"},
		{"trace/file/a.go", "glassbox/trace", ""},
		{"trace/export/a.go", "go.opentelemetry.io/proto/otlp/trace/v1", ""},
		{"engine/a.go", "glassbox/web", "never imports web"},
		{"engine/kv/a_test.go", "glassbox/steps/catalog", "never imports web or steps"},
		{"engine/a.go", "glassbox/trace", ""},
		{"engine/a.go", "glassbox/webby", ""},
		{"web/a.go", "glassbox/engine", "never imports engine"},
		{"web/view/a.go", "glassbox/engine/openai/wire", "never imports engine"},
		{"web/a.go", "glassbox/steps", ""},
		{"engine/x/a_test.go", "glassbox/engine/builtin", "only cmd"},
		{"web/a.go", "glassbox/engine/builtin", "never imports engine"},
		{"cmd/glassbox/a.go", "glassbox/engine/builtin", ""},
		{"engine/x/a.go", "glassbox/engine/golden", "for tests"},
		{"engine/x/a.go", "glassbox/engine/backend/backendtest", "for tests"},
		{"cmd/glassbox/a.go", "glassbox/engine/testmodel", "for tests"},
		{"engine/backend/backendtest/a.go", "glassbox/engine/golden", ""},
		{"engine/backend/cpu/a_test.go", "glassbox/engine/backend/backendtest", ""},
		{"engine/x/a_test.go", "glassbox/engine/golden", ""},
		{"cmd/internal/bench/a.go", "glassbox/engine", "bench client"},
		{"cmd/internal/bench/load/a.go", "glassbox/web", "bench client"},
		{"cmd/internal/bench/a.go", "glassbox/engine/openai/wire", ""},
		{"cmd/internal/bench/a.go", "glassbox/cmd/internal/bench/load", ""},
		{"engine/a.go", "glassbox/cmd/glassbox", "only cmd"},
		{"engine/a.go", "C", "no cgo"},
		{"engine/a.go", "gorgonia.org/cu", "cuda"},
		{"engine/a.go", "github.com/NVIDIA/go-nvml/pkg/nvml", "cuda"},
	}
	for _, c := range cases {
		tree := made(t, map[string]string{c.file: "package a\n\nimport _ \"" + c.imports + "\"\n"})
		bad := Imports(tree)
		if c.why == "" {
			require.Empty(t, bad, "%s may import %s", c.file, c.imports)
			continue
		}
		require.Len(t, bad, 1, "%s must not import %s", c.file, c.imports)
		require.Contains(t, bad[0], c.file+":3: imports "+c.imports)
		require.Contains(t, bad[0], c.why)
	}
}

func TestTheTagCudaOpensTheDoor(t *testing.T) {
	for tag, allowed := range map[string]bool{"cuda": true, "cuda && linux": true, "linux": false, "!cuda": false,
		"cuda || linux": false, "ignore": true, "!windows": false} {
		tree := made(t, map[string]string{"engine/a.go": "//go:build " + tag + "\n\npackage a\n\nimport _ \"gorgonia.org/cu\"\n"})
		require.Equal(t, allowed, len(Imports(tree)) == 0, tag)
	}
}

func TestPackageCommentRules(t *testing.T) {
	const good = "// Package a is a.\n//\n// It does not know\n// about b.\npackage a\n"
	none(t, PackageComments(made(t, map[string]string{"a/a.go": good, "a/b.go": "package a\n", "a/a_test.go": "// Note.\npackage a\n"})))
	for want, files := range map[string]map[string]string{
		"a: no package comment":    {"a/a.go": "package a\n"},
		"a: 2 package comments":    {"a/a.go": good, "a/b.go": good},
		"a/a.go: the package comm": {"a/a.go": "// Package a is a.\npackage a\n"},
	} {
		bad := PackageComments(made(t, files))
		require.Len(t, bad, 1)
		require.Contains(t, bad[0], want)
	}
}

func TestLengthRules(t *testing.T) {
	long := strings.Repeat("// x\n", 501)
	tree := made(t, map[string]string{"a/long.go": "package a\n" + long, "a/fits.go": "package a\n" + long[:5*499],
		"a/gen.go": "// Code generated by x. DO NOT EDIT.\n\npackage a\n" + long, "a/testdata/x.py": long, "static/js/x.js": long,
		"a/long.s": long, "a/page_templ.go": "package a\n" + long})
	require.Equal(t, []string{"a/long.go: 502 lines, wanted at most 500; is it still one thing?",
		"a/long.s: 501 lines, wanted at most 500; is it still one thing?"}, Lengths(tree, nil))
	reason := "a table that reads better in one piece"
	none(t, Lengths(tree, map[string]string{"a/long.go": reason, "a/long.s": reason}))
	bad := Lengths(tree, map[string]string{"a/long.go": "", "a/long.s": reason, "a/fits.go": reason, "a/gone.go": reason})
	require.Len(t, bad, 3)
	require.Contains(t, bad[0], "take it off")
	require.Contains(t, bad[1], "no such file")
	require.Contains(t, bad[2], "no reason")
}

func TestTextRules(t *testing.T) {
	bad := func(name, text string) []string {
		return Texts(made(t, map[string]string{name: "package a\n" + text + "\n"}))
	}
	for text, why := range map[string]string{
		`var p = "/ro` + `ot/x"`:               "path of one machine",
		`// see /wor` + `k/main/x`:             "path of one machine",
		`// /hom` + `e/anna/x`:                 "path of one machine",
		`// https://pypi.o` + `rg/simple`:      "registry",
		`// registry.npmj` + `s.org`:           "registry",
		`// TO` + `DO later`:                   "unfinished",
		`// Copyri` + `ght (c) 2020 Somebody`:  "third-party",
		`// SPDX-Licens` + `e-Identifier: MIT`: "third-party",
	} {
		got := bad("a/a.go", text)
		require.Len(t, got, 1, text)
		require.Contains(t, got[0], "a/a.go:2: ")
		require.Contains(t, got[0], why)
	}
	require.Len(t, bad("a/a_test.go", "func f() { t.Ski"+`p("x") }`), 1)
	for _, fine := range []string{`"/v1/work/x"`, `"../root/x"`, `// golang.org/x/sys`, `// network/work/`, `https://a.b/work/x`} {
		require.Empty(t, bad("a/a.go", fine), fine)
	}
	require.Empty(t, bad("LICENSE", "Copyri"+"ght 2020 Somebody"))
	require.Empty(t, bad("docs/x.md", "TO"+"DO"), "prose may use the word")
	require.Len(t, bad("a/testdata/x.json", `"/ro`+`ot/x"`), 1, "data must not carry paths either")
}

func TestOutputRules(t *testing.T) {
	big := strings.Repeat("x", maxBytes+1)
	tree := made(t, map[string]string{"a/libx.so": "x", "a/x.min.js": "x", "a/x.bin": big, "engine/builtin/m.gguf": big, "a/x.go": "package a\n",
		"node_modules/a/x.so": "x", "vendor/a/x.so": "x", ".venv-bench/x.so": "x", "bin/x.so": "x", "cabin/x.so": "x"})
	bad := Outputs(tree)
	require.Len(t, bad, 4)
	require.Contains(t, strings.Join(bad, "\n"), "a/x.bin: 3000001 bytes")
	require.Contains(t, strings.Join(bad, "\n"), "cabin/x.so")
}
