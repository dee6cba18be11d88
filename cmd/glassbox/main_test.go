package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine"
	"glassbox/engine/builtin"
	"glassbox/engine/gguf"
	"glassbox/engine/tensor"
	"glassbox/engine/testmodel"
	"glassbox/steps"
	"glassbox/trace/file"
)

// TestMain lets the test binary be the program, so that tests run it as a process, with signals and exit codes.
func TestMain(m *testing.M) {
	if os.Getenv("GLASSBOX_TEST_AS_PROGRAM") == "1" {
		os.Exit(run(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// program returns the program with arguments, not started.
func program(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "GLASSBOX_TEST_AS_PROGRAM=1", "GLASSBOX_API_KEY=")
	return cmd
}

// output runs the program to its end.
func output(t *testing.T, args ...string) (stdout, stderr string, code int) {
	cmd := program(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		require.NoError(t, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// oneLine checks that a failure was told in one line that has all of words, and no Go panic.
func oneLine(t *testing.T, name, stderr string, words ...string) {
	var lines []string
	for _, l := range strings.Split(strings.TrimSpace(stderr), "\n") {
		if !strings.HasPrefix(l, "glassbox: warning:") {
			lines = append(lines, l)
		}
	}
	require.Len(t, lines, 1, "%s: %s", name, stderr)
	require.NotContains(t, stderr, "goroutine", name)
	for _, w := range words {
		require.Contains(t, lines[0], w, name)
	}
}

func TestBadModelFilesAreRefusedInOneLine(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, data, 0o644))
		return path
	}
	tiny := testmodel.Bytes(t, testmodel.Spec{})
	huge := bytes.Clone(tiny)
	binary.LittleEndian.PutUint64(huge[8:], 1<<60) // tensors
	flipped := bytes.Clone(tiny)
	flipped[0] ^= 0x20
	nan := testmodel.Bytes(t, testmodel.Spec{Template: "{{ messages[0].content }}"})
	opened, err := gguf.Parse("nan.gguf", nan)
	require.NoError(t, err)
	norm, ok := opened.Tensor("output_norm.weight")
	require.True(t, ok)
	for i := range norm.Data {
		norm.Data[i] = 0xff
	}
	iq := func(typ tensor.Type) string {
		f, err := gguf.Parse("iq.gguf", testmodel.Bytes(t, testmodel.Spec{Width: 256, FFN: 256}))
		require.NoError(t, err)
		var tensors []gguf.Tensor
		for _, w := range f.Tensors() {
			if tensors = append(tensors, *w); w.Name == "blk.0.ffn_up.weight" {
				last := &tensors[len(tensors)-1]
				last.Type, last.Data = typ, make([]byte, w.Rows()*typ.RowBytes(w.Cols()))
			}
		}
		var b bytes.Buffer
		require.NoError(t, gguf.Write(&b, f.Keys(), tensors))
		return write(typ.String()+".gguf", b.Bytes())
	}
	for name, c := range map[string]struct {
		path string
		want []string
	}{
		"IQ2_XXS":      {iq(tensor.IQ2_XXS), []string{"blk.0.ffn_up.weight", "found IQ2_XXS", "Q6_K"}},
		"IQ4_NL":       {iq(tensor.IQ4_NL), []string{"blk.0.ffn_up.weight", "found IQ4_NL", "Q6_K"}},
		"IQ4_XS":       {iq(tensor.IQ4_XS), []string{"blk.0.ffn_up.weight", "found IQ4_XS", "Q6_K"}},
		"no numbers":   {write("nan.gguf", nan), []string{"wanted logits that are numbers"}},
		"no file":      {filepath.Join(dir, "none.gguf"), []string{"none.gguf", "no such file"}},
		"a directory":  {dir, []string{"directory"}},
		"empty":        {write("empty.gguf", nil), []string{"empty.gguf"}},
		"text":         {write("text.gguf", []byte("this is no model at all, only words")), []string{"text.gguf", "GGUF"}},
		"cut":          {write("cut.gguf", tiny[:len(tiny)/2]), []string{"cut.gguf"}},
		"bit flipped":  {write("flipped.gguf", flipped), []string{"flipped.gguf"}},
		"hostile":      {write("huge.gguf", huge), []string{"huge.gguf"}},
		"architecture": {write("arch.gguf", testmodel.Bytes(t, testmodel.Spec{Extra: []gguf.KV{gguf.NewKV("general.architecture", "mamba")}})), []string{"arch.gguf", "mamba", "llama"}},
	} {
		stdout, stderr, code := output(t, "trace", "hi", "--model", c.path, "-o", filepath.Join(dir, "out.json"))
		require.Equal(t, 1, code, name)
		require.Empty(t, stdout, name)
		oneLine(t, name, stderr, c.want...)
		require.NoFileExists(t, filepath.Join(dir, "out.json"), name)
	}
}

func TestWrongUsageExitsWith2(t *testing.T) {
	for name, args := range map[string][]string{
		"unknown command": {"explode"},
		"unknown flag":    {"trace", "hi", "--frobnicate"},
		"no prompt":       {"trace"},
		"bad number":      {"trace", "hi", "--max-tokens", "many"},
		"bad extension":   {"trace", "hi", "-o", "out.txt"},
		"bad backend":     {"trace", "hi", "--backend", "abacus"},
		"no tokens":       {"trace", "hi", "--max-tokens", "0"},
		"too cold":        {"trace", "hi", "--temp=-1"},
		"no temperature":  {"trace", "hi", "--temp", "nan"},
		"no penalty":      {"trace", "hi", "--repeat-penalty", "0"},
		"infinite":        {"trace", "hi", "--repeat-penalty", "inf"},
		"top-p of 2":      {"trace", "hi", "--top-p", "2"},
		"min-p of 2":      {"trace", "hi", "--min-p", "2"},
		"top-k below 0":   {"trace", "hi", "--top-k=-1"},
		"21 logprobs":     {"trace", "hi", "--logprobs", "21"},
		"large seed":      {"trace", "hi", "--seed", "18446744073709551615"},
		"bad kernels":     {"trace", "hi", "--cpu-features", "abacus"},
		"no such draft":   {"serve", "--draft", "luck"},
		"100 drafts":      {"serve", "--draft", "ngram", "--draft-tokens", "100"},
		"threads below 0": {"serve", "--threads=-1"},
		"many slots":      {"serve", "--slots", "100000"},
		"context below 0": {"serve", "--context=-1"},
	} {
		stdout, stderr, code := output(t, args...)
		require.Equal(t, 2, code, "%s: %s", name, stderr)
		oneLine(t, name, stderr)
		require.Empty(t, stdout, name)
	}
}

func TestPlacesThatCannotBeWrittenAreRefusedFirst(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "taken.gbx"), 0o755))
	for name, path := range map[string]string{"no folder": filepath.Join(dir, "none", "a.gbx"), "a folder": filepath.Join(dir, "taken.gbx"),
		"a read-only folder": "/proc/a.gbx"} {
		if name == "a read-only folder" && runtime.GOOS != "linux" {
			continue
		}
		stdout, stderr, code := output(t, "trace", "hi", "--max-tokens", "1", "-o", path)
		require.Equal(t, 1, code, name)
		oneLine(t, name, stderr, path)
		require.Empty(t, stdout, "%s: nothing was computed", name)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
}

func TestPromptsOfAnyBytes(t *testing.T) {
	out := filepath.Join(t.TempDir(), "a.json")
	_, stderr, code := output(t, "trace", "--raw", "a\xffb", "--max-tokens", "1", "-o", out)
	require.Zero(t, code, stderr)
	require.Contains(t, stderr, "warning: the prompt is not UTF-8")
	rec, err := file.Read(out)
	require.NoError(t, err)
	require.Equal(t, "a\uFFFDb", rec.Request.Prompt)
}

func TestHelpTeaches(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"trace", "--help"}, {"serve", "--help"}, {"model", "info", "--help"}} {
		stdout, _, code := output(t, args...)
		require.Zero(t, code, args)
		require.True(t, strings.HasPrefix(stdout, "Examples:\n"), "%v: an example comes first: %s", args, stdout)
	}
}

// byOption are the steps that run where a request or the server asks for them.
var byOption = map[string]bool{"draft": true, "verify": true, "accept": true, "reject": true, "grammar": true, "all_reduce": true}

func TestTraceWritesARecordingOfTheWholeWalk(t *testing.T) {
	dir := t.TempDir()
	gbx, js := filepath.Join(dir, "a.gbx"), filepath.Join(dir, "b.json")
	args := []string{"trace", "Why is the sky blue?", "--max-tokens", "8", "--temp", "0.7", "--top-k", "40", "--top-p", "0.95", "--min-p", "0.02",
		"--repeat-penalty", "1.1", "--seed", "7"}
	answer, stderr, code := output(t, append(args, "-o", gbx)...)
	require.Zero(t, code, stderr)
	require.Contains(t, stderr, gbx)
	again, stderr, code := output(t, append(args, "-o", js, "--threads", "1")...)
	require.Zero(t, code, stderr)
	require.Equal(t, answer, again, "same seed, same prompt, same file: the same tokens on any number of threads")
	for _, path := range []string{gbx, js} {
		rec, err := file.Read(path)
		require.NoError(t, err)
		require.Equal(t, strings.TrimSuffix(answer, "\n"), rec.Request.Text)
		require.Equal(t, builtin.SHA256, rec.Model.SHA256)
		require.GreaterOrEqual(t, len(rec.Walk), 55)
		require.Zero(t, rec.Dropped.Spans)
		for _, s := range rec.Walk {
			if byOption[s.ID] {
				require.Zero(t, s.Count, s.ID)
				require.Contains(t, s.Text, "Not reached: ", s.ID)
			} else {
				require.Positive(t, s.Count, "step %s is not reached by the standard request", s.ID)
			}
			require.NotEmpty(t, s.Source.Code.Lines, s.ID)
		}
	}
	require.NoFileExists(t, gbx+".part")
}

func TestEverySpanComesFromInsideTheSymbolOfItsStep(t *testing.T) {
	for _, backend := range []string{"cpu", "ref"} {
		c := traceCmd{engineFlags: engineFlags{Model: "builtin", Backend: backend}, MaxTokens: 3, Temp: 0.7, TopK: 40, TopP: 0.95, MinP: 0.02, RepeatPenalty: 1.1, Seed: 1}
		rec := record(t, &c, "Hi")
		catalogue := steps.Glassbox(engine.Sources)
		require.Empty(t, catalogue.CheckSpans(rec), backend)
		for _, s := range catalogue.Walk(rec.Model.Architecture) {
			require.Equal(t, byOption[s.ID], len(rec.RawSources[s.ID]) == 0, "%s: step %s", backend, s.ID)
		}
	}
}

// record runs a trace command in this process and returns the recording with its raw sources.
func record(t *testing.T, c *traceCmd, prompt string) *file.Recording {
	o, err := c.open()
	require.NoError(t, err)
	defer func() { require.NoError(t, o.close()) }()
	s, err := newServer(o, "", nil, "")
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.serve(ctx, l, s.mux()) }()
	rec, err := c.ask(ctx, s, "http://"+l.Addr().String(), prompt)
	require.NoError(t, err)
	stop()
	require.NoError(t, <-ended)
	return rec
}

func TestModelInfo(t *testing.T) {
	stdout, _, code := output(t, "model", "info", "--json")
	require.Zero(t, code)
	var info struct {
		SHA256   string
		Metadata map[string]any
		Tensors  []tensorInfo
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &info))
	require.Equal(t, builtin.SHA256, info.SHA256)
	require.Equal(t, "llama", info.Metadata["general.architecture"])
	require.Len(t, info.Tensors, 272)
	stdout, _, code = output(t, "model", "info")
	require.Zero(t, code)
	require.Contains(t, stdout, "llama.block_count")
}

func TestExportToOtherForms(t *testing.T) {
	dir := t.TempDir()
	gbx := filepath.Join(dir, "a.gbx")
	_, stderr, code := output(t, "trace", "Hi", "--max-tokens", "2", "-o", gbx)
	require.Zero(t, code, stderr)
	for _, to := range []string{"json", "gbx", "html", "perfetto", "speedscope", "csv"} {
		out := filepath.Join(dir, "out."+to)
		_, stderr, code := output(t, "export", gbx, "--to", to, "-o", out)
		require.Zero(t, code, "%s: %s", to, stderr)
		info, err := os.Stat(out)
		require.NoError(t, err)
		require.Greater(t, info.Size(), int64(1000), to)
		require.NoFileExists(t, out+".part")
	}
	one, err := file.Read(gbx)
	require.NoError(t, err)
	two, err := file.Read(filepath.Join(dir, "out.json"))
	require.NoError(t, err)
	require.Equal(t, one.Spans, two.Spans)
	csv, _, code := output(t, "export", gbx, "--to", "csv", "-o", "-")
	require.Zero(t, code)
	require.Equal(t, len(one.Spans)+1, strings.Count(csv, "\n"))
	_, stderr, code = output(t, "export", gbx, "--to", "csv", "-o", filepath.Join(dir, "no", "such", "folder.csv"))
	require.Equal(t, 1, code)
	oneLine(t, "no folder", stderr, "folder.csv")
	walk, _, code := output(t, "export", gbx, "--to", "csv", "--view", "request", "-o", "-")
	require.Zero(t, code)
	require.Equal(t, len(one.Walk)+1, strings.Count(walk, "\n"))
	_, stderr, code = output(t, "export", gbx, "--to", "csv", "--view", "lens", "-o", "-")
	require.Equal(t, 1, code)
	oneLine(t, "no capture", stderr, "--capture lens")
	for _, wrong := range [][]string{{"--to", "poem"}, {"--to", "csv", "--view", "smell"}, {"--to", "json", "--view", "lens"}} {
		_, _, code = output(t, append([]string{"export", gbx, "-o", "-"}, wrong...)...)
		require.Equal(t, 2, code, wrong)
	}
}

func TestExportDestroysNothing(t *testing.T) {
	dir := t.TempDir()
	gbx := filepath.Join(dir, "a.gbx")
	_, stderr, code := output(t, "trace", "Hi", "--max-tokens", "1", "-o", gbx)
	require.Zero(t, code, stderr)
	raw, err := os.ReadFile(gbx)
	require.NoError(t, err)
	_, stderr, code = output(t, "export", gbx, "--to", "csv", "-o", gbx)
	require.Equal(t, 2, code)
	oneLine(t, "onto itself", stderr, "another file")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b.gbx.part"), raw, 0o644)) // stands for a journal
	_, stderr, code = output(t, "export", filepath.Join(dir, "b.gbx.part"), "--to", "gbx", "-o", filepath.Join(dir, "b.gbx"))
	require.Zero(t, code, stderr)
	for _, name := range []string{"a.gbx", "b.gbx.part"} {
		now, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err, name)
		require.Equal(t, raw, now, name)
	}
	if runtime.GOOS != "linux" {
		return
	}
	full := filepath.Join(dir, "full") // a device's name, in a place where replacing it would do no harm
	require.NoError(t, os.Symlink("/dev/full", full))
	_, stderr, code = output(t, "export", gbx, "--to", "csv", "-o", full)
	require.Equal(t, 1, code, "written to the device, which is full")
	oneLine(t, "full", stderr, "no space left")
	at, err := os.Readlink(full)
	require.NoError(t, err, "still a link")
	require.Equal(t, "/dev/full", at)
}

func TestCapturesAndSwitchedOffParts(t *testing.T) {
	dir := t.TempDir()
	out := func(name string) string { return filepath.Join(dir, name) }
	args := []string{"trace", "Why is the sky blue?", "--max-tokens", "3"}
	plain, stderr, code := output(t, append(args, "-o", out("a.gbx"), "--capture", "all")...)
	require.Zero(t, code, stderr)
	rec, err := file.Read(out("a.gbx"))
	require.NoError(t, err)
	n := len(rec.Request.PromptTokens) + len(rec.Request.OutputTokens) - 1
	for name, shape := range map[string][]int{"attention": {30, 9, n, n}, "lens_ids": {30, n, 5}, "lens_logprob": {30, n, 5}, "lens_mid_ids": {30, n, 5},
		"logits": {49152}, "tape_out/0/attn_q": {576}, "tape_in/29/ffn_down": {1536}} {
		require.Contains(t, rec.Arrays, name)
		require.Equal(t, shape, rec.Arrays[name].Shape, name)
	}
	off, stderr, code := output(t, append(args, "-o", out("b.gbx"), "--ablate", "L0.ffn,L10.H3,L2.attn=mean")...)
	require.Zero(t, code, stderr)
	require.NotEqual(t, plain, off)
	_, stderr, code = output(t, append(args, "-o", out("c.gbx"), "--ablate", "L99.H3")...)
	require.Equal(t, 2, code)
	oneLine(t, "no such layer", stderr, "L99")
	_, stderr, code = output(t, append(args, "-o", out("c.gbx"), "--capture", "smell")...)
	require.Equal(t, 2, code)
	oneLine(t, "no such capture", stderr, "smell", "attention")
	require.NoFileExists(t, out("c.gbx"))
}
