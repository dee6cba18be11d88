package roof

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"glassbox/trace/file"

	"github.com/stretchr/testify/require"
)

// The figures are this machine's; what holds on every machine is their order and their units.
func TestMeasure(t *testing.T) {
	var said []string
	o := Options{Machine: "m", Threads: 2, Kernels: "k", Runs: 3, Reads: []int64{1 * mib, 64 * mib}, Progress: func(s string) { said = append(said, s) }}
	r, err := Measure(context.Background(), o)
	require.NoError(t, err)
	require.Len(t, said, 4)
	require.Equal(t, []int64{1 * mib, 64 * mib}, []int64{r.Reads[0].Bytes, r.Reads[1].Bytes})
	for _, s := range []file.Spread{r.Reads[0].GBPerS, r.Reads[1].GBPerS, r.Int8, r.Float32} {
		require.Equal(t, 3, s.Runs)
		require.NotEmpty(t, s.How)
		require.Positive(t, s.Min)
		require.LessOrEqual(t, s.Min, s.Median)
		require.LessOrEqual(t, s.Median, s.Max)
	}
	// No machine of today reads or computes outside these: a figure in bytes instead of gigabytes, or of nothing, does.
	require.Less(t, r.Reads[1].GBPerS.Max, 5_000.0)
	require.Less(t, r.Int8.Max, 1e6)
	require.Less(t, r.Float32.Max, 1e6)
	require.Greater(t, r.Float32.Max, 0.1)
}

func TestMeasureStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Measure(ctx, Options{Threads: 1, Reads: []int64{mib}})
	require.ErrorIs(t, err, context.Canceled)
	_, err = Measure(context.Background(), Options{Threads: 1, Reads: []int64{512}})
	require.ErrorContains(t, err, "4096")
}

// Loops that do no work, or not as often as they say, would give roofs that are too high: twice the rounds take longer.
func TestPeakLoopsDoWhatTheyCount(t *testing.T) {
	i, _ := int8Peak()
	f, _ := floatPeak()
	pi, pf := plainPeaks()
	for _, w := range []work{i, f, pi, pf} {
		const n = 1 << 21
		best := func(n int) (d int64) {
			d = 1 << 62
			for range 5 {
				d = min(d, together(1, func(int) { w.run(n) }).Nanoseconds())
			}
			return d
		}
		require.Greater(t, float64(best(8*n)), 3*float64(best(n)))
	}
}

func TestCache(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "roof.json")
	got, err := Load(path, "m", 2, "k")
	require.NoError(t, err)
	require.Nil(t, got)

	first := &file.Roof{Machine: "m", Threads: 2, Kernels: "k", Measured: "2026-01-02T03:04:05Z", Int8: file.Spread{Median: 1}}
	require.NoError(t, Save(path, first))
	require.NoError(t, Save(path, &file.Roof{Machine: "m", Threads: 4, Kernels: "k"}))
	again := *first
	again.Int8.Median = 2
	require.NoError(t, Save(path, &again))
	got, err = Load(path, "m", 2, "k")
	require.NoError(t, err)
	require.Equal(t, &again, got)
	for _, other := range []file.Roof{{Machine: "x", Threads: 2, Kernels: "k"}, {Machine: "m", Threads: 3, Kernels: "k"}, {Machine: "m", Threads: 2, Kernels: "x"}} {
		got, err = Load(path, other.Machine, other.Threads, other.Kernels)
		require.NoError(t, err)
		require.Nil(t, got)
	}
	all, err := list(path)
	require.NoError(t, err)
	require.Len(t, all, 2)

	require.NoError(t, os.WriteFile(path, []byte("{}"), 0o644))
	_, err = Load(path, "m", 2, "k")
	require.ErrorContains(t, err, path)
	require.ErrorContains(t, Save(path, first), "delete the file")
}
