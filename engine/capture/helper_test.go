package capture_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/engine"
	"glassbox/engine/capture"
	"glassbox/engine/gguf"
	"glassbox/engine/sample"
	"glassbox/trace"
)

// everything asks for all kinds.
var everything = trace.CaptureSpec{Attention: true, Lens: true, Values: true, Logits: true}

func open(t testing.TB, f *gguf.File, o engine.Options) *engine.Engine {
	if o.Threads == 0 {
		o.Threads = 2
	}
	e, err := engine.Open(f, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

// answer is a finished request, with what was captured of it.
type answer struct {
	tokens []int
	lps    []engine.TokenLogprob
	arrays map[string]trace.Array
	rec    *trace.Recorder
	finish string
	err    error
}

// f4 and i4 are the values of an array that must be there, with its shape.
func (a *answer) f4(t testing.TB, name string, shape ...int) []float32 {
	v, ok := a.arrays[name].Data.([]float32)
	require.True(t, ok, "%s is not there, or not of floats", name)
	require.Equal(t, shape, a.arrays[name].Shape, name)
	require.Len(t, a.arrays[name].Axes, len(shape), name)
	n := 1
	for _, d := range shape {
		n *= d
	}
	require.Len(t, v, n, name)
	return v
}

func (a *answer) i4(t testing.TB, name string, shape ...int) []int32 {
	v, ok := a.arrays[name].Data.([]int32)
	require.True(t, ok, "%s is not there, or not of integers", name)
	require.Equal(t, shape, a.arrays[name].Shape, name)
	return v
}

// request is a greedy one of some tokens, traced if anything is captured.
func request(ids []int, most int, spec trace.CaptureSpec, off capture.Ablation) engine.Request {
	r := engine.Request{ID: "r", Tokens: ids, MaxTokens: most, Logprobs: 5, IgnoreEOS: true, Ablate: off, Sampling: sample.Params{}}
	if spec.Any() {
		r.Trace = trace.NewRecorder("r", trace.Now(), spec)
	}
	return r
}

// read waits for the end of an answer.
func read(t testing.TB, s *engine.Stream, rec *trace.Recorder) *answer {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	a := &answer{arrays: map[string]trace.Array{}, rec: rec}
	for a.finish == "" && a.err == nil {
		ev, err := s.Next(ctx)
		require.NoError(t, err)
		for _, tok := range ev.Tokens {
			a.tokens, a.lps = append(a.tokens, tok.ID), append(a.lps, tok)
		}
		a.finish, a.err = ev.Finish, ev.Err
	}
	if rec != nil {
		for _, one := range rec.TakeArrays() {
			require.NotContains(t, a.arrays, one.Name)
			require.NotEmpty(t, one.Meaning, one.Name)
			a.arrays[one.Name] = one
		}
	}
	return a
}

func ask(t testing.TB, e *engine.Engine, r engine.Request) *answer {
	s, err := e.Submit(context.Background(), r)
	require.NoError(t, err)
	return read(t, s, r.Trace)
}

func off(t testing.TB, e *engine.Engine, names ...string) capture.Ablation {
	a, err := e.ParseAblate(names)
	require.NoError(t, err)
	return a
}

func wide(ids []int32) []int {
	out := make([]int, len(ids))
	for i, id := range ids {
		out[i] = int(id)
	}
	return out
}
