package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSourceRoots(t *testing.T) {
	dir := t.TempDir()
	got, err := sourceRoots([]string{"https://github.com/a/b.git=" + dir})
	require.NoError(t, err)
	require.Equal(t, dir, got["github.com/a/b"])
	require.FileExists(t, filepath.Join(got["glassbox"], "cmd", "glassbox", "sourceroots.go"), "the tests run inside the checkout")
	for _, bad := range []string{"x", "=x", "x=", "x=" + filepath.Join(dir, "nothing")} {
		_, err := sourceRoots([]string{bad})
		require.ErrorContains(t, err, "--source", bad)
	}
	t.Chdir(dir)
	require.Empty(t, checkoutAround())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module other\n"), 0o600))
	require.Empty(t, checkoutAround())
}
