package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommittedBundleIsWhatTheSourcesGive(t *testing.T) {
	files, err := bundleClient(checkoutRoot())
	require.NoError(t, err)
	require.NotEmpty(t, files)
	total := 0
	for _, f := range files {
		have, err := os.ReadFile(filepath.Join(checkoutRoot(), "static", "js", f.Name))
		require.NoError(t, err)
		require.True(t, string(have) == string(f.Text), "static/js/%s is not what web/client gives: run go run . in cmd/internal/bundle", f.Name)
		total += gzipSize(f.Text)
	}
	require.LessOrEqual(t, total, maxGzip)
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
