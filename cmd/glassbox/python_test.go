//go:build clients

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPythonExampleOfTheDocumentationRuns takes the example out of docs/trace-format.md and runs it as it stands, on a
// recording made here.
func TestPythonExampleOfTheDocumentationRuns(t *testing.T) {
	python := os.Getenv("PYTHON")
	require.NotEmpty(t, python, "PYTHON is not set: run make openai-clients")
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "trace-format.md"))
	require.NoError(t, err)
	example := regexp.MustCompile("(?s)```python\n(import json, numpy.*?)```").FindSubmatch(text)
	require.NotNil(t, example, "docs/trace-format.md has no example that begins with import json, numpy")
	require.LessOrEqual(t, strings.Count(string(example[1]), "\n"), 10)
	dir := t.TempDir()
	_, stderr, code := output(t, "trace", "Why is the sky blue?", "--max-tokens", "4", "--capture", "attention", "-o", filepath.Join(dir, "x.gbx"))
	require.Zero(t, code, stderr)
	cmd := exec.Command(python, "-c", string(example[1]))
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	require.Len(t, lines, 6, "%s", out)
	require.Regexp(t, `^0\.\d{4} '`, lines[0])
	require.Regexp(t, `^rows sum to 1 within [0-9]e-0[5-9]`, lines[5])
}
