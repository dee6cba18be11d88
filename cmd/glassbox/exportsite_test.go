package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/trace/file"
)

const shippedSky = "../../static/recordings/why-is-the-sky-blue.gbx"

// The copy has the reader's recordings beside those that ship; it replaces an older copy and nothing else.
func TestExportSite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "public")
	require.Equal(t, 0, run([]string{"export", "../../static/recordings/on-three-shards.gbx", "../../static/recordings/on-three-shards.gbx", "--to", "site", "-o", dir}))
	for _, name := range []string{"index.html", "film/index.html", "trace/on-three-shards/index.html", "trace/on-three-shards-2/index.html", "api/traces/on-three-shards-2.gbx", "api/traces/why-is-the-sky-blue.gbx", "static/js/tracer.js"} {
		require.FileExists(t, filepath.Join(dir, filepath.FromSlash(name)))
	}
	rec, err := file.Read(filepath.Join(dir, "api", "traces", "on-three-shards-2.gbx"))
	require.NoError(t, err)
	require.NotEmpty(t, rec.Spans)
	stale := filepath.Join(dir, "stale.html")
	require.NoError(t, os.WriteFile(stale, nil, 0o600))
	require.Equal(t, 0, run([]string{"export", "--to", "site", "-o", dir}))
	require.NoFileExists(t, stale, "a copy is replaced as a whole")
	require.NoDirExists(t, filepath.Join(dir, "trace", "on-three-shards-2"))

	other := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(other, "mine.txt"), nil, 0o600))
	require.Equal(t, 2, run([]string{"export", "--to", "site", "-o", other}), "a folder with other files is left alone")
	require.FileExists(t, filepath.Join(other, "mine.txt"))
	require.Equal(t, 1, run([]string{"export", "nothing.gbx", "--to", "site", "-o", filepath.Join(other, "x")}))
	require.NoDirExists(t, filepath.Join(other, "x"))
}

func TestExportDoc(t *testing.T) {
	out := filepath.Join(t.TempDir(), "trace.json")
	require.Equal(t, 0, run([]string{"export", shippedSky, "--to", "doc", "-o", out}))
	info, err := os.Stat(out)
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(200_000))
	require.Equal(t, 2, run([]string{"export", "--to", "doc", "-o", out}), "a form of one recording wants one")
	require.Equal(t, 2, run([]string{"export", shippedSky, shippedSky, "--to", "doc", "-o", out}))
	require.Equal(t, 0, run([]string{"trace", "Hi", "--max-tokens", "2", "--threads", "1", "--doc", "-o", out}))
	rec, err := file.Read(out)
	require.NoError(t, err)
	require.Equal(t, "Hi", file.PromptStart(&rec.Request))
	require.NoFileExists(t, out+".new.part")
}
