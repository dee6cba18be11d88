package main

import (
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/cmd/internal/bench/mock"
	"glassbox/cmd/internal/bench/report"
	"glassbox/web"
)

// The three loads of the page reach the client, with limits; what they found is told in sentences; the run is deleted whole.
func TestBenchPageLoadsAndDeletion(t *testing.T) {
	h := httptest.NewServer(mock.New(mock.Behaviour{Base: time.Millisecond, PerToken: time.Millisecond, Template: 7, Running: true}))
	defer h.Close()
	dir := t.TempDir()
	b := newBenches(dir, false, listening, "")
	require.Len(t, b.About().Presets, 10)
	require.Equal(t, web.BenchPreset{Name: "mlperf-llama3.1-8b", Text: "TTFT 2000 ms, TPOT 100 ms"}, b.About().Presets[2])

	ask := short(h.URL)
	ask.Concurrency, ask.Rates, ask.SLO = nil, []float64{40}, []string{"e2e=100000", "ttft=0.001"}
	require.NoError(t, b.Start(ask))
	st := ended(t, b)
	require.Empty(t, st.Failed)
	require.Equal(t, "open loop, 40 requests/s", st.Done[len(st.Done)-1].Name)
	require.Empty(t, st.Knee, "an open loop has none")
	require.Len(t, st.Goodput, 2)
	require.Positive(t, *st.Goodput[0].Rate)
	require.Equal(t, []any{"e2e=100000", 1.0, "40 requests/s"}, []any{st.Goodput[0].Limits, st.Goodput[0].Share, st.Goodput[0].With})
	require.Equal(t, []any{"ttft=0.001", 0.0, 0.0}, []any{st.Goodput[1].Limits, *st.Goodput[1].Rate, st.Goodput[1].Share})
	r, err := report.Read(filepath.Join(dir, st.Kept+".json"))
	require.NoError(t, err)
	require.Len(t, r.Config.SLO, 2)
	require.Equal(t, benchInFlight, r.Config.InFlight)
	for _, row := range r.Rows {
		require.Positive(t, row.Times.Scheduled, "an open loop counts from the schedule")
	}

	ask.Rates, ask.SLO, ask.Sweep = nil, nil, 4
	require.NoError(t, b.Start(ask))
	second := ended(t, b)
	require.Empty(t, second.Failed)
	require.Empty(t, second.Goodput, "nobody chose limits")
	require.Regexp(t, `^Knee: [124] at a time, .* output tok/s, median e2e `, second.Knee)

	ask.SLO = []string{"nonsense"}
	var refused *web.BenchError
	require.ErrorAs(t, b.Start(ask), &refused)
	require.Contains(t, refused.Text, "Goodput, nonsense: wanted limits in ms")

	other := filepath.Join(dir, "notes.json")
	require.NoError(t, os.WriteFile(other, []byte(`{"a":1}`), 0o600))
	outside := filepath.Join(filepath.Dir(dir), "outside.json")
	require.NoError(t, os.WriteFile(outside, []byte(`{"a":1}`), 0o600))
	defer os.Remove(outside)
	for _, name := range []string{"", ".", "..", "../outside", `..\outside`, st.Kept + ".json", "no-such-run", "a:b"} {
		require.ErrorIs(t, b.Delete(name), fs.ErrNotExist, name)
	}
	require.ErrorContains(t, b.Delete("notes"), "notes.json is no run of glassbox bench")
	require.FileExists(t, other)
	require.FileExists(t, outside)
	kept := func(name string) []string {
		files, err := filepath.Glob(filepath.Join(dir, name+".*"))
		require.NoError(t, err)
		return files
	}
	require.Len(t, kept(st.Kept), 4)
	require.NoError(t, b.Delete(st.Kept))
	require.Empty(t, kept(st.Kept))
	require.Len(t, kept(second.Kept), 4, "the other run stays")
	require.Equal(t, second.Kept, b.State().Kept)
	require.NoError(t, b.Delete(second.Kept))
	require.Empty(t, b.State().Kept, "the page links to no run that is gone")
	require.ErrorIs(t, b.Delete(second.Kept), fs.ErrNotExist)
	runs, bad := b.Runs()
	require.Empty(t, runs)
	require.Len(t, bad, 1)
}
