//go:build !windows

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/backend"
)

// The engine's device is found by its name; where two have it and some are hidden, nobody can tell which it is.
func TestStateOfTheEnginesDevice(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	smi := func(lines string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte("#!/bin/sh\necho '"+lines+"'\n"), 0o755))
	}
	d := backend.Device{Kind: "cuda", Name: "NVIDIA H200", Driver: "driver for CUDA 12.8"}
	smi("0, Tesla T4, 570.86.15, 15360, 1590, [N/A], 405, [N/A], 40, 0, [N/A]\n1, NVIDIA H200, 570.86.15, 143771, 1980, 1980, 3201, 78.06, 31, 4, 0")
	require.Equal(t, "NVIDIA 570.86.15, driver for CUDA 12.8", driverOf(d))
	s := stateOf(d)()
	require.Equal(t, []float64{1980, 3201, 78.06, 31, 4}, []float64{*s.SMMHz, *s.MemoryMHz, *s.PowerW, *s.TempC, *s.UsedMB})
	smi("0, NVIDIA H200, 570.86.15, 143771, 1980, 1980, 3201, 78.06, 31, 4, 0\n1, NVIDIA H200, 570.86.15, 143771, 1980, 1980, 3201, 80, 32, 5, 0")
	t.Setenv("CUDA_VISIBLE_DEVICES", "1")
	require.Nil(t, stateOf(d)())
	require.Equal(t, d.Driver, driverOf(d))
	require.Nil(t, stateOf(backend.Device{Kind: "emulated"}))
	require.Nil(t, stateOf(backend.Device{Kind: "cpu"}))
}
