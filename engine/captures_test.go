package engine

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/capture"
	"glassbox/trace"
)

// Captures of all requests together are bounded, and every way a request ends gives its share back.
func TestCapturesOfAllRequestsShareMemory(t *testing.T) {
	lens := func() Request {
		return Request{Tokens: ids("some prompt of twenty"), MaxTokens: 90, Logprobs: -1, IgnoreEOS: true, Trace: trace.NewRecorder("r", trace.Now(), trace.CaptureSpec{Lens: true})}
	}
	e := tiny(t, Options{Slots: 1})
	size := capture.Size(e.model.Graph, trace.CaptureSpec{Lens: true}, len(lens().Tokens), 90)
	e = tiny(t, Options{Slots: 1, Captures: size})
	ctx, cancel := context.WithCancel(context.Background())
	var streams []*Stream
	for range captureShare {
		s, err := e.Submit(ctx, lens())
		require.NoError(t, err)
		streams = append(streams, s)
	}
	_, err := e.Submit(ctx, lens())
	require.ErrorIs(t, err, ErrCapturesFull)
	_, err = e.Submit(ctx, Request{Tokens: ids("no captures"), MaxTokens: 2, Logprobs: -1, Ablate: ablation(t, e, "L0.H1")})
	require.NoError(t, err, "who captures nothing is not held up")
	require.Equal(t, "length", read(t, streams[0]).finish)
	cancel()
	for _, s := range streams[1:] {
		read(t, s)
	}
	require.Equal(t, "length", ask(t, e, lens()).finish)
	settle(t, e)
	require.Zero(t, e.captured.Load())

	var large *capture.SizeError
	r := lens()
	r.MaxTokens++
	_, err = e.Submit(context.Background(), r)
	require.ErrorAs(t, err, &large)
	require.Equal(t, 90, large.Fits)
	require.Zero(t, e.captured.Load())

	full := tiny(t, Options{Slots: 1, Queue: 1})
	for range 50 { // some are refused because the queue is full
		_, _ = full.Submit(context.Background(), lens())
	}
	require.NoError(t, full.Close())
	_, err = full.Submit(context.Background(), lens())
	require.ErrorIs(t, err, ErrClosed)
	require.Zero(t, full.captured.Load())
}

func ablation(t *testing.T, e *Engine, names ...string) capture.Ablation {
	a, err := e.ParseAblate(names)
	require.NoError(t, err)
	return a
}

// A part of another model is refused, not reached for.
func TestAblationOfAnotherModelIsRefused(t *testing.T) {
	e := tiny(t, Options{})
	other, err := capture.ParseAblate([]string{"L29.H8"}, 30, 9)
	require.NoError(t, err)
	_, err = e.Submit(context.Background(), Request{Tokens: ids("x"), MaxTokens: 1, Ablate: other})
	require.ErrorContains(t, err, "L29.H8: wanted a part of a model with 2 layers of 4 heads")
}
