package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/trace/file"
	"glassbox/web"
)

// An experiment runs on an engine with the setting changed, and its recording says so.
func TestExperimentsChangeOneSetting(t *testing.T) {
	flags := engineFlags{Model: "builtin", Backend: "cpu", Draft: "off", PrefixCache: "on", AllReduce: "direct"}
	o, err := flags.open()
	require.NoError(t, err)
	defer o.close()
	s, err := newServer(o, "", nil, "")
	require.NoError(t, err)
	defer s.store.Close()
	x := &experiments{flags: flags, o: o, store: s.store}

	got, err := x.Run(t.Context(), web.Experiment{KV: "k8v4"})
	require.NoError(t, err)
	require.Equal(t, "KV k8v4", got.Settings)
	require.Positive(t, got.TTFTMs)
	require.Positive(t, got.TPOTMs)
	rec, err := s.store.Get(got.Trace)
	require.NoError(t, err)
	require.Equal(t, []string{"Q8_0", "Q4_0"}, []string{rec.Memory.Keys, rec.Memory.Values})
	require.EqualValues(t, rec.Memory.BytesPerToken, got.KVBytesPerToken)

	got, err = x.Run(t.Context(), web.Experiment{Threads: "1"})
	require.NoError(t, err)
	rec, err = s.store.Get(got.Trace)
	require.NoError(t, err)
	require.Equal(t, 1, rec.Device.Threads, "the recording tells of the experiment's engine, not of the server's")

	got, err = x.Run(t.Context(), web.Experiment{Batch: "3"})
	require.NoError(t, err)
	rec, err = s.store.Get(got.Trace)
	require.NoError(t, err)
	shared := 0
	for _, p := range rec.Passes {
		shared = max(shared, p.Requests)
	}
	require.Greater(t, shared, 1, "requests of a batch share passes")
}

// What a CPU that pretends to be a device takes says nothing: the answer has counts and no times.
func TestExperimentsOnAnEmulatedDeviceHaveNoTimes(t *testing.T) {
	rec := &file.Recording{Numbers: file.Numbers{TTFTNs: 2e6, TPOTNs: 1e6}, Memory: &file.Memory{BytesPerToken: 512}}
	for kind, want := range map[string]web.ExperimentResult{
		"cuda":     {TTFTMs: 2, TPOTMs: 1, TokensPerS: 90, KVBytesPerToken: 512},
		"emulated": {KVBytesPerToken: 512},
	} {
		rec.Device.Kind = kind
		var got web.ExperimentResult
		fillResult(&got, rec, 90)
		require.Equal(t, want, got, kind)
	}
}

func TestExperimentsThatCannotBe(t *testing.T) {
	flags := engineFlags{Model: "builtin", Backend: "cpu", Draft: "off", AllReduce: "direct"}
	o, err := flags.open()
	require.NoError(t, err)
	defer o.close()
	x := &experiments{flags: flags, o: o}
	for _, c := range []struct {
		e    web.Experiment
		want string
	}{
		{web.Experiment{}, "wanted one setting to change, found 0"},
		{web.Experiment{Threads: "1", Batch: "2"}, "wanted one setting to change, found 2"},
		{web.Experiment{Threads: "0"}, `threads: wanted 1 to 64, found "0"`},
		{web.Experiment{Batch: "many"}, `batch: wanted 1 to 8, found "many"`},
		{web.Experiment{KV: "q2"}, "q2"},
		{web.Experiment{Shards: "2"}, "shards"},
		{web.Experiment{Draft: "a.gguf"}, `draft: wanted off or ngram, found "a.gguf"`},
	} {
		_, err := x.Run(t.Context(), c.e)
		var bad *web.ExperimentError
		require.ErrorAs(t, err, &bad, "%+v", c.e)
		require.ErrorContains(t, err, c.want)
	}
	x.one.Lock()
	_, err = x.Run(context.Background(), web.Experiment{Threads: "1"})
	require.ErrorIs(t, err, web.ErrExperimentRuns)
}
