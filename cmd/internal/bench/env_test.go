package bench

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMachine(t *testing.T) {
	e := machine(context.Background(), nil)
	require.Positive(t, e.Cores)
	require.NotEmpty(t, e.OS)
	require.Equal(t, "not asked", e.GPUSource)
	require.NotNil(t, e.GPUs, "a list, also when it is empty")
	e = machine(context.Background(), func(context.Context) ([]GPU, string) { return nil, "no driver" })
	require.Equal(t, "no driver", e.GPUSource)
	require.NotNil(t, e.GPUs)
	watchGPUs(context.Background(), &e, nil, time.Millisecond)(context.Background())
}

// A device that is idle, works, throttles while warm, and is idle again.
func TestGPUsAreWatched(t *testing.T) {
	p := func(x float64) *float64 { return &x }
	states := []GPUState{
		{SMMHz: p(345), PowerW: p(20), TempC: p(30), Busy: p(0)},
		{SMMHz: p(345), PowerW: p(25), TempC: p(31), Busy: p(0)},
		{SMMHz: p(1980), PowerW: p(650), TempC: p(70), Busy: p(99)},
		{SMMHz: p(1410), PowerW: p(700), TempC: p(84), Busy: p(100)},
		{SMMHz: p(1600), TempC: p(80), Busy: p(100)},
	}
	var mu sync.Mutex
	asked, seen := 0, make(chan struct{})
	ask := func(context.Context) ([]GPU, string) {
		mu.Lock()
		defer mu.Unlock()
		s := GPUState{SMMHz: p(400), TempC: p(60), Busy: p(0)}
		if asked < len(states) {
			s = states[asked]
		}
		if asked++; asked == len(states)+1 {
			close(seen)
		}
		return []GPU{{Name: "X", Driver: "1", Before: s}}, "test"
	}
	e := machine(context.Background(), ask)
	stop := watchGPUs(context.Background(), &e, ask, time.Millisecond)
	<-seen
	stop(context.Background())
	g := e.GPUs[0]
	require.Equal(t, []float64{345, 1410, 84, 700, 400}, []float64{*g.Before.SMMHz, *g.Lowest, *g.Warmest, *g.Hungriest, *g.After.SMMHz})
	require.GreaterOrEqual(t, g.Samples, len(states)-1)
}

func TestPathsOfTheServerAreShortened(t *testing.T) {
	for in, want := range map[string]string{"/srv/models/a.gguf": "a.gguf", `D:\models\a.gguf`: "a.gguf", "org/model": "org/model", "llama3:8b": "llama3:8b", "a": "a"} {
		r := &Result{}
		r.Server.Model, r.Config.Model, r.Server.Models = in, in, []string{in}
		r.hidePaths()
		require.Equal(t, []string{want, want, want}, []string{r.Server.Model, r.Config.Model, r.Server.Models[0]})
	}
}
