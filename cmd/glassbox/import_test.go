package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/trace/file"
	"glassbox/trace/importer"
)

func TestAProfileBecomesARecording(t *testing.T) {
	out := filepath.Join(t.TempDir(), "p.gbx")
	stdout, stderr, code := output(t, "import", "../../trace/importer/testdata/vllm-decode.json.gz", "--engine", "vllm", "-o", out)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stderr, "Chrome JSON: 2390 events: ")
	require.Equal(t, out+"\n", stdout)
	rec, err := file.Read(out)
	require.NoError(t, err)
	require.EqualValues(t, 2390, rec.Request.Params["imported"].(file.Attrs)["events"])
	require.Equal(t, "vllm", rec.Engine.Name)
	require.Equal(t, 30, rec.Model.Layers)
	again := filepath.Join(t.TempDir(), "p.perfetto.json")
	_, stderr, code = output(t, "export", out, "--to", "perfetto", "-o", again)
	require.Equal(t, 0, code, stderr)
	_, stderr, code = output(t, "import", again, "--engine", "none", "-o", out)
	require.Equal(t, 0, code, "what we export can be imported: "+stderr)
}

func TestImportRefusesWhatItCannotRead(t *testing.T) {
	dir := t.TempDir()
	bad, out := filepath.Join(dir, "bad.json"), filepath.Join(dir, "out.gbx")
	require.NoError(t, os.WriteFile(bad, []byte(`{"traceEvents":[{"ph":"X","ts":1,`), 0o666))
	_, stderr, code := output(t, "import", bad, "--engine", "vllm", "-o", out)
	require.Equal(t, 1, code)
	oneLine(t, "cut", stderr, "bad.json: event 1: byte ", "the file is cut off")
	require.NoFileExists(t, out)
	for want, args := range map[string][]string{
		"wanted a name that ends in .gbx or .json": {"import", bad, "--engine", "vllm", "-o", "x"},
		`--engine: engine "nobody"`:                {"import", bad, "--engine", "nobody", "-o", out},
		"--most: wanted 1 or more":                 {"import", bad, "--engine", "vllm", "--most", "0", "-o", out},
		"wanted another file":                      {"import", bad, "--engine", "vllm", "-o", bad},
	} {
		_, stderr, code := output(t, args...)
		require.Equal(t, 2, code, args)
		oneLine(t, want, stderr, want)
	}
}

func TestCtrlCEndsAnImport(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := untilDone{ctx, strings.NewReader(strings.Repeat(" ", 1<<20))}
	_, err := r.Read(make([]byte, 8))
	require.NoError(t, err)
	cancel()
	_, _, err = importer.Read(r, "x", importer.Options{})
	require.ErrorIs(t, err, context.Canceled)
}
