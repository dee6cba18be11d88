package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/steps/modmap"
	"glassbox/trace/file"
)

// printed runs the command line and returns what it says on standard output.
func printed(t *testing.T, want int, args ...string) string {
	t.Helper()
	old := os.Stdout
	r, w, err := os.Pipe()
	require.NoError(t, err)
	os.Stdout = w
	code := run(args)
	os.Stdout = old
	require.NoError(t, w.Close())
	var b strings.Builder
	buf := make([]byte, 1<<16)
	for {
		n, err := r.Read(buf)
		b.Write(buf[:n])
		if err != nil {
			break
		}
	}
	require.Equal(t, want, code, b.String())
	return b.String()
}

// Each command of the documentation about our own packages is run as it is written there, from the root of the repository.
func TestModmapCommandsOfTheDocumentation(t *testing.T) {
	t.Chdir("../..")
	text, err := os.ReadFile("docs/modules.md")
	require.NoError(t, err)
	out, said := filepath.Join(t.TempDir(), "glassbox.json"), ""
	commands := 0
	for _, line := range strings.Split(string(text), "\n") {
		if args := strings.Fields(line); strings.HasPrefix(line, "glassbox modmap --src . --go") {
			for i, a := range args {
				if a == "glassbox.json" {
					args[i] = out
				}
			}
			said += printed(t, 0, args[1:]...)
			commands++
		}
	}
	require.Equal(t, 4, commands)
	require.Contains(t, said, "stops of the route of why-is-the-sky-blue")
	require.Contains(t, said, "engine/sched/admit.go:")
	raw, err := os.ReadFile(out)
	require.NoError(t, err)
	m, err := modmap.Read(raw)
	require.NoError(t, err)
	require.Greater(t, len(m.Modules), 40)
}

func TestModmapRefusesWrongUse(t *testing.T) {
	for _, args := range []string{"--src .", "--src . --go --package x", "--src nowhere --go", "--src ../../steps/modmap/testdata/src --package trap --path trap.main"} {
		printed(t, 2, append([]string{"modmap"}, strings.Fields(args)...)...)
	}
	for _, args := range []string{"--package gone --entry x", "--package trap", "--package trap --entry trap.nobody", "--package trap --who trap.nobody", "--package trap --path trap.util.text,trap.main",
		"--package trap --entry trap.main --recording ../../static/recordings/why-is-the-sky-blue.gbx"} {
		printed(t, 1, append([]string{"modmap", "--src", "../../steps/modmap/testdata/src"}, strings.Fields(args)...)...)
	}
}

// The maps that ship go with the recordings that ship: all that ran is on them, in that state, and the bounds of size hold.
func TestShippedMapsFitTheirRecordings(t *testing.T) {
	least := map[string][2]int{"vllm": {164, 18}, "sglang": {100, 18}, "glassbox": {40, 8}}
	names, err := filepath.Glob("../../static/modmaps/*.json")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(names), 2)
	for _, name := range names {
		raw, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Less(t, len(raw), 300_000, name)
		m, err := modmap.Read(raw)
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(m.Modules), least[m.Engine][0], name)
		require.GreaterOrEqual(t, m.Stops(), least[m.Engine][1], name)
		rec, err := file.Read("../../static/recordings/" + m.Recording + ".gbx")
		require.NoError(t, err)
		require.Equal(t, m.Engine, rec.Engine.Name)
		if m.Language == "go" {
			continue // its spans have no files, and its packages grow with every commit
		}
		require.Equal(t, m.Version, rec.Engine.Version)
		calls := map[string]int{}
		for _, s := range rec.Spans {
			if p, ok := s.Attrs["file"].(string); ok {
				calls[strings.TrimPrefix(p, m.Prefix)]++
			}
		}
		for _, q := range m.Modules {
			require.Equal(t, calls[q.Path], q.Calls, "%s: %s: make the map again: make modmaps", name, q.Path)
			require.Equal(t, q.Calls > 0, q.State == modmap.Ran || q.State == modmap.ByName, q.Path)
			delete(calls, q.Path)
		}
		require.Empty(t, calls, "%s: ran, and is not on the map: make modmaps", name)
	}
}
