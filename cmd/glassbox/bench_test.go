//go:build !windows

// The stand-in for nvidia-smi is a shell script.

package main

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/cmd/internal/bench/mock"
	"glassbox/cmd/internal/bench/report"
)

// The command asks the machine's driver, here a stand-in, for its GPUs; they are in the JSON and on the page.
func TestBenchTellsTheGPUs(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte("#!/bin/sh\necho '0, NVIDIA H200, 570.86.15, 143771, 1980, 1980, 3201, 78.06, 31, 4, 0'\n"), 0o755))
	t.Setenv("PATH", dir)
	h := httptest.NewServer(mock.New(mock.Behaviour{Base: time.Millisecond, PerToken: time.Millisecond, Template: 7, Running: true}))
	defer h.Close()
	out := filepath.Join(t.TempDir(), "runs")
	c := benchRunCmd{URL: h.URL, Concurrency: []int{1}, PromptTokens: 40, OutputTokens: 4, Requests: 3, NoPrefill: true, Record: "none", Timeout: 10, Out: out}
	silent(t, func() { require.NoError(t, c.Run(context.Background())) })
	files, err := filepath.Glob(filepath.Join(out, "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	r, err := report.Read(files[0])
	require.NoError(t, err)
	require.Equal(t, "nvidia-smi", r.Env.GPUSource)
	require.Len(t, r.Env.GPUs, 1)
	g := r.Env.GPUs[0]
	require.Equal(t, []any{"NVIDIA H200", "570.86.15", 143771.0, 1980.0}, []any{g.Name, g.Driver, g.MemoryMB, g.MaxSMMHz})
	require.Equal(t, []float64{1980, 3201, 78.06, 31, 4, 0}, []float64{*g.After.SMMHz, *g.After.MemoryMHz, *g.After.PowerW, *g.After.TempC, *g.After.UsedMB, *g.After.Busy})
	page, err := os.ReadFile(files[0][:len(files[0])-len("json")] + "html")
	require.NoError(t, err)
	require.Contains(t, string(page), "NVIDIA H200, driver 570.86.15, 143771 MiB, SM at most 1980 MHz; before: SM 1980 MHz, memory 3201 MHz, 78.06 W, 31 °C, 4 MiB in use; after: ")
	raw, err := json.Marshal(r.Env)
	require.NoError(t, err)
	require.Contains(t, string(raw), `"lowest_sm_clock_mhz":null`, "a run of a second has no look in between: not measured")
}

// silent runs f with stdout and stderr thrown away.
func silent(t *testing.T, f func()) {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	out, errs := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = null, null
	defer func() {
		os.Stdout, os.Stderr = out, errs
		_ = null.Close()
	}()
	f()
}
