package stops_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/engine"
	"glassbox/engine/capture"
	"glassbox/engine/stops"
	"glassbox/engine/testmodel"
	"glassbox/trace"
)

var backends = []string{"ref", "cpu"}

// deep is a tiny model whose heads share keys by three.
var deep = testmodel.Spec{Layers: 3, Width: 96, Heads: 6, KVHeads: 2, FFN: 64, Context: 200}

func open(t *testing.T, o engine.Options) *engine.Engine {
	o.Threads = 2
	e, err := engine.Open(testmodel.Tiny(t, deep), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

// prompt is n ids of the tiny vocabulary.
func prompt(n int) []int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = (i*37 + 11 + i*i%7) % 256
	}
	return ids
}

// request is a greedy one that says what the model thought of each token.
func request(n, most int, at ...stops.Point) engine.Request {
	return engine.Request{ID: "r", Tokens: prompt(n), MaxTokens: most, Logprobs: 5, IgnoreEOS: true, Stops: at}
}

func recorded(r engine.Request, spec trace.CaptureSpec) engine.Request {
	r.Trace = trace.NewRecorder("rec", trace.Now(), spec)
	return r
}

func submit(t *testing.T, e *engine.Engine, r engine.Request) *engine.Stream {
	s, err := e.Submit(t.Context(), r)
	require.NoError(t, err)
	return s
}

// read waits for the end of an answer.
func read(t *testing.T, s *engine.Stream) (tokens []engine.TokenLogprob, end engine.Event) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		ev, err := s.Next(ctx)
		require.NoError(t, err)
		tokens = append(tokens, ev.Tokens...)
		if ev.Finish != "" || ev.Err != nil {
			return tokens, ev
		}
	}
}

func whole(t *testing.T, s *engine.Stream) []engine.TokenLogprob {
	tokens, end := read(t, s)
	require.NoError(t, end.Err)
	return tokens
}

// paused waits until the request stands still.
func paused(t *testing.T, e *engine.Engine) (st stops.State) {
	t.Helper()
	require.Eventually(t, func() bool {
		st, _ = e.Stops().State()
		return st.Paused
	}, 10*time.Second, time.Millisecond)
	return st
}

func at(op trace.OpID, layer, token int) stops.Point {
	return stops.Point{Op: op, Layer: layer, Token: token}
}

func resume(t *testing.T, e *engine.Engine, st stops.State, how string) {
	t.Helper()
	require.NoError(t, e.Stops().Resume(st.ID, how))
}

// walk resumes with how until the answer is over and returns where it stood.
func walk(t *testing.T, e *engine.Engine, s *engine.Stream, how string, most int) (where []stops.Point) {
	t.Helper()
	for range most {
		st := paused(t, e)
		where = append(where, st.At)
		resume(t, e, st, how)
	}
	st := paused(t, e)
	resume(t, e, st, "run")
	whole(t, s)
	return append(where, st.At)
}

func ablation(t *testing.T, e *engine.Engine, names ...string) capture.Ablation {
	a, err := e.ParseAblate(names)
	require.NoError(t, err)
	return a
}
