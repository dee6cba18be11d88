//go:build cuda && linux

package gpu

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Where the library is there, it and nvidia-smi describe the same devices: two ways to the same driver.
func TestNVMLAgreesWithNvidiaSMI(t *testing.T) {
	own, source := fromNVML()
	if source == "" {
		devices, by := Read(context.Background())
		other, otherBy := fromSMI(context.Background())
		require.Equal(t, otherBy, by, "without the library nvidia-smi is asked")
		require.Equal(t, other, devices)
		t.Log("no NVML on this machine: " + by)
		return
	}
	other, by := fromSMI(context.Background())
	require.Equal(t, "nvidia-smi", by)
	require.Len(t, own, len(other))
	for i := range own {
		a, b := own[i], other[i]
		require.Equal(t, []string{b.Name, b.Driver}, []string{a.Name, a.Driver})
		require.InDelta(t, b.MemoryMB, a.MemoryMB, 1024, "nvidia-smi may count what the driver reserves")
		require.InDelta(t, b.MaxSMMHz, a.MaxSMMHz, 0.5)
		require.NotNil(t, a.State.TempC)
		require.Less(t, math.Abs(*a.State.TempC-*b.State.TempC), 15.0)
		require.NotNil(t, a.State.SMMHz)
		require.NotNil(t, a.State.UsedMB)
	}
}
