package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/trace/file"
)

const vllmRecording = "../../static/recordings/chat-in-vllm.gbx"

func TestAnchorsOfOtherEnginesAreLookedFor(t *testing.T) {
	empty := t.TempDir()
	stdout, stderr, code := output(t, "steps", "check", "vllm", "--src", empty)
	require.Equal(t, 1, code)
	require.Contains(t, stdout, "gone       vllm/v1/engine/core.py:")
	oneLine(t, "steps check", stderr, "anchors of vLLM 0.32.0 are renamed or gone")
	for _, args := range [][]string{{"steps", "check", "none", "--src", empty}, {"steps", "check", "vllm", "--src", filepath.Join(empty, "x")}, {"steps", "check", "vllm"}} {
		_, _, code := output(t, args...)
		require.Equal(t, 2, code, args)
	}
}

func TestAttachRefusesWhatItCannotDo(t *testing.T) {
	for want, args := range map[string][]string{
		`engine "none": wanted one of [llamacpp sglang vllm]`: {"attach", "--engine", "none", "-o", "x.gbx", "--", "python"},
		"wanted a name that ends in .gbx or .json":            {"attach", "--engine", "vllm", "-o", "x", "--", "python"},
		"wanted the engine's command behind --":               {"attach", "--engine", "vllm", "-o", "x.gbx"},
	} {
		_, stderr, code := output(t, args...)
		require.Equal(t, 2, code, args)
		oneLine(t, want, stderr, want)
	}
	_, stderr, code := output(t, "attach", "--engine", "vllm", "-o", "x.gbx", "--", "/no/such/python")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "\nglassbox: the engine does not start: ", "behind the lines that tell how far it is")
	require.NoFileExists(t, "x.gbx")
}

// The walk can be laid over a recording again; with a checkout at hand the code comes along.
func TestAWalkIsLaidAgain(t *testing.T) {
	src, out := t.TempDir(), filepath.Join(t.TempDir(), "again.gbx")
	_, stderr, code := output(t, "steps", "lay", vllmRecording, "-o", out, "--src", src)
	require.Equal(t, 1, code)
	oneLine(t, "--src", stderr, "none of the walk's files is there")
	require.NoError(t, os.MkdirAll(filepath.Join(src, "vllm/v1/engine"), 0o777))
	text := make([]byte, 3000)
	for i := range text {
		text[i] = '\n'
	}
	require.NoError(t, os.WriteFile(filepath.Join(src, "vllm/v1/engine/core.py"), text, 0o666))
	_, stderr, code = output(t, "steps", "lay", vllmRecording, "-o", out, "--src", src, "--model-name", "other")
	require.Equal(t, 0, code, stderr)
	rec, err := file.Read(out)
	require.NoError(t, err)
	was, err := file.Read(vllmRecording)
	require.NoError(t, err)
	require.Equal(t, "other", rec.Model.Name)
	require.Len(t, rec.Spans, len(was.Spans))
	coded := 0
	for i, w := range rec.Walk {
		require.Equal(t, was.Walk[i].TimeNs, w.TimeNs, w.ID)
		if w.Source.Code != nil {
			coded++
			require.Equal(t, "vllm/v1/engine/core.py", w.Source.Path)
		}
		require.Nil(t, was.Walk[i].Source.Code, "nothing of another engine's source is shipped")
	}
	require.Positive(t, coded)
	_, stderr, code = output(t, "steps", "lay", "../../static/recordings/why-is-the-sky-blue.gbx", "-o", out)
	require.Equal(t, 1, code)
	oneLine(t, "our own", stderr, `engine "glassbox": wanted one of [llamacpp sglang vllm]`)
}
