package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommittedBundleIsWhatTheSourcesGive(t *testing.T) {
	files, err := bundleClient(checkoutRoot())
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		have, err := os.ReadFile(filepath.Join(checkoutRoot(), "static", "js", filepath.FromSlash(f.Name)))
		require.NoError(t, err)
		require.True(t, string(have) == string(f.Text), "static/js/%s is not what web/client gives: run go run . in cmd/internal/bundle", f.Name)
	}
	kept, err := filepath.Glob(filepath.Join(checkoutRoot(), "static", "js", parts, "*"))
	require.NoError(t, err)
	for _, path := range kept {
		require.True(t, slices.ContainsFunc(files, func(f file) bool { return f.Name == parts+"/"+filepath.Base(path) }), "%s is left from before: run go run . in cmd/internal/bundle", path)
	}
	require.NoError(t, tooHeavy(weigh(files)))
}

// The close-ups of the first page show the recordings that ship, as the code of today draws them.
func TestCommittedPicturesAreWhatTheRecordingsGive(t *testing.T) {
	dir, kept := t.TempDir(), filepath.Join(checkoutRoot(), "static", "pictures")
	require.NoError(t, writePictures(checkoutRoot(), dir))
	names := func(dir string) (out []string) {
		all, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, f := range all {
			out = append(out, f.Name())
		}
		return out
	}
	require.Equal(t, names(dir), names(kept), "static/pictures: run go run . -pictures in cmd/internal/bundle")
	for _, name := range names(dir) {
		want, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		have, err := os.ReadFile(filepath.Join(kept, name))
		require.NoError(t, err)
		require.True(t, string(want) == string(have), "static/pictures/%s is not what the recordings give: run go run . -pictures in cmd/internal/bundle", name)
	}
}

// What a page loads first is its module with all that it imports, but not what it asks for later.
func TestWeighTellsFirstLoadFromLater(t *testing.T) {
	text := func(s string) []byte { return []byte(s) }
	files := []file{{"glassbox.js", text("x")}, {"tracer.js", text(`import{a}from"./parts/a-1.js";import"./parts/b-2.js";import("./parts/c-3.js")`)},
		{"parts/a-1.js", text(`export{x as a}from"./b-2.js"`)}, {"parts/b-2.js", text("b")}, {"parts/c-3.js", text(`import"./b-2.js";import"./d-4.js"`)}, {"parts/d-4.js", text("d")}}
	size := func(names ...string) (n int) {
		for _, f := range files {
			if slices.Contains(names, f.Name) {
				n += gzipSize(f.Text)
			}
		}
		return n
	}
	require.Equal(t, []weight{{"glassbox.js, everything in one", size("glassbox.js"), maxWhole}, {"tracer.js, first load", size("tracer.js", "parts/a-1.js", "parts/b-2.js"), maxFirst},
		{"parts/c-3.js, on top of tracer.js", size("parts/c-3.js", "parts/d-4.js"), maxLater}, {"parts/d-4.js, on top of tracer.js", size("parts/d-4.js"), maxLater}}, weigh(files))
	require.NoError(t, tooHeavy(weigh(files)))
	require.ErrorContains(t, tooHeavy([]weight{{"a", 3, 2}}), "a: 3 bytes gzipped, wanted at most 2")
}

func TestBundleErrorsNameFileAndLine(t *testing.T) {
	root := t.TempDir()
	src := filepath.Join(root, "web", "client", "src")
	require.NoError(t, os.MkdirAll(src, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(src, "glassbox.ts"), []byte("import { a } from './gone';\nconst x: number = ;\n"), 0o644))
	_, err := bundleClient(root)
	require.ErrorContains(t, err, "glassbox.ts:2")
}

func TestClientUnitTests(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, bundleTests(checkoutRoot(), dir))
	cmd := exec.Command("node", "--test", ".")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func TestClientTypes(t *testing.T) {
	client := filepath.Join(checkoutRoot(), "web", "client")
	tsc := filepath.Join(client, "node_modules", "typescript", "bin", "tsc")
	require.FileExists(t, tsc, "run npm install in web/client")
	cmd := exec.Command("node", tsc, "--noEmit", "-p", client)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func TestUnknownCheckoutHasNoTests(t *testing.T) {
	require.ErrorContains(t, bundleTests(t.TempDir(), t.TempDir()), "no *.test.ts")
}
