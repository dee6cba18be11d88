package bench

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGPULines(t *testing.T) {
	g := parseGPUs("NVIDIA H200, 570.86.15, 143771 MiB, 1980 MHz, 3201 MHz, 78.06 W, 31\nTesla T4, 535.1, 15360 MiB, [N/A], 405 MHz, [Not Supported], 40\n\nFailed to initialize NVML\n")
	require.Len(t, g, 2, "what is no device is passed over")
	require.Equal(t, GPU{Name: "NVIDIA H200", Driver: "570.86.15", Memory: "143771 MiB", Before: "SM 1980 MHz, memory 3201 MHz, 78.06 W, 31 °C"}, g[0])
	require.Empty(t, parseGPUs(""))
}

func TestMachine(t *testing.T) {
	e := machine(context.Background())
	require.Positive(t, e.Cores)
	require.NotEmpty(t, e.OS)
	require.NotEmpty(t, e.GPUSource)
	require.NotNil(t, e.GPUs, "a list, also when it is empty")
}

func TestPathsOfTheServerAreShortened(t *testing.T) {
	for in, want := range map[string]string{"/srv/models/a.gguf": "a.gguf", `D:\models\a.gguf`: "a.gguf", "org/model": "org/model", "llama3:8b": "llama3:8b", "a": "a"} {
		r := &Result{}
		r.Server.Model, r.Config.Model, r.Server.Models = in, in, []string{in}
		r.hidePaths()
		require.Equal(t, []string{want, want, want}, []string{r.Server.Model, r.Config.Model, r.Server.Models[0]})
	}
}
