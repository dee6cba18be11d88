//go:build !windows

// The stand-in for nvidia-smi is a shell script.

package gpu

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// fake puts a program called nvidia-smi first on PATH, and nothing else.
func fake(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if script != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte("#!/bin/sh\n"+script), 0o755))
	}
}

func is(x float64) *float64 { return &x }

// The lines are what drivers of two generations print for this query.
func TestDevicesOfNvidiaSMI(t *testing.T) {
	fake(t, `[ "$1" = "--query-gpu=`+smiFields+`" ] && [ "$2" = "--format=csv,noheader,nounits" ] || { echo "asked $*" >&2; exit 2; }
echo "0, NVIDIA H200, 570.86.15, 143771, 1980, 1980, 3201, 78.06, 31, 4, 0"
echo "1, Tesla T4, 570.86.15, 15360, 1590, [N/A], 405, [Not Supported], 40, 0, [N/A]"
echo
`)
	devices, source := fromSMI(context.Background())
	require.Equal(t, "nvidia-smi", source)
	require.Equal(t, []Device{
		{Index: 0, Name: "NVIDIA H200", Driver: "570.86.15", MemoryMB: 143771, MaxSMMHz: 1980,
			State: State{SMMHz: is(1980), MemoryMHz: is(3201), PowerW: is(78.06), TempC: is(31), UsedMB: is(4), Busy: is(0)}},
		{Index: 1, Name: "Tesla T4", Driver: "570.86.15", MemoryMB: 15360, MaxSMMHz: 1590,
			State: State{MemoryMHz: is(405), TempC: is(40), UsedMB: is(0)}},
	}, devices)
}

func TestWhyThereIsNoDevice(t *testing.T) {
	for name, c := range map[string]struct{ script, says string }{
		"no program":       {"", "no nvidia-smi on this machine"},
		"no driver":        {"echo \"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\"\necho more\nexit 9\n", "nvidia-smi failed: NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."},
		"a field it lacks": {"echo 'Field \"x\" is not a valid field to query.' >&2\nexit 2\n", `nvidia-smi failed: Field "x" is not a valid field to query.`},
		"silence":          {"exit 3\n", "nvidia-smi failed: exit status 3"},
		"no devices":       {"exit 0\n", "nvidia-smi lists no device"},
		"other words":      {"echo 'No devices were found'\n", `nvidia-smi, without a line that has not its 11 values: "No devices were found"`},
	} {
		t.Run(name, func(t *testing.T) {
			fake(t, c.script)
			devices, source := fromSMI(context.Background())
			require.Empty(t, devices)
			require.Equal(t, c.says, source)
		})
	}
}

func TestTheCallerMayGiveUp(t *testing.T) {
	fake(t, "while :; do :; done\n")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	devices, source := fromSMI(ctx)
	require.Empty(t, devices)
	require.Contains(t, source, "nvidia-smi failed")
}

func TestValuesThatAreNone(t *testing.T) {
	for _, s := range []string{"", "[N/A]", "N/A", "[Unknown Error]", "NaN", "-1", "1e300"} {
		require.Nil(t, said(s), s)
	}
	require.Equal(t, is(12.5), said("12.5"))
}
