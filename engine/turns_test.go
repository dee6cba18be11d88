package engine

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/trace"
)

// drain returns all turns and page changes that a recorder got.
func drained(r *trace.Recorder) trace.Batch {
	var b trace.Batch
	r.Drain(&b)
	return b
}

// holders plays changes and returns who holds each page.
func holders(t *testing.T, changes []trace.PageChange) map[int32][]int64 {
	held := map[int32][]int64{}
	known := map[int32]bool{}
	for i, c := range changes {
		for k, pg := range c.Pages {
			switch c.What {
			case trace.PageHold, trace.PageShare:
				held[pg] = append(held[pg], c.Request)
			case trace.PageTake:
				require.Empty(t, held[pg], "change %d takes page %d, which is held", i, pg)
				held[pg] = append(held[pg], c.Request)
			case trace.PageDrop:
				at := slices.Index(held[pg], c.Request)
				require.GreaterOrEqual(t, at, 0, "change %d: request %d drops page %d, which %v hold", i, c.Request, pg, held[pg])
				held[pg] = slices.Delete(held[pg], at, at+1)
			case trace.PageKeep, trace.PagePublish:
				known[pg] = true
			case trace.PageEvict:
				require.True(t, known[pg], "change %d: page %d was not known", i, pg)
				delete(known, pg)
			case trace.PageCopy:
				require.Equal(t, []int64{c.Request}, held[pg], "change %d: the copy is the request's alone", i)
				require.NotEmpty(t, held[c.From[k]], "change %d: somebody holds what is copied", i)
			}
		}
	}
	for pg, who := range held {
		if len(who) == 0 {
			delete(held, pg)
		}
	}
	return held
}

func TestARecordingTellsOfPagesAndOtherRequests(t *testing.T) {
	e := tiny(t, Options{Slots: 4, KVTokens: 256})
	long, stop := context.WithCancel(context.Background())
	defer stop()
	other, err := e.Submit(long, Request{Tokens: ids("another request that runs on and on"), MaxTokens: 150, Logprobs: -1, IgnoreEOS: true})
	require.NoError(t, err)
	_, err = other.Next(context.Background())
	require.NoError(t, err)

	prompt := ids("a prompt of a few pages, so that there is something to share")
	rec := trace.NewRecorder("r", trace.Now(), trace.CaptureSpec{})
	first, err := e.Submit(context.Background(), Request{Tokens: prompt, MaxTokens: 6, Logprobs: -1, IgnoreEOS: true, Trace: rec})
	require.NoError(t, err)
	second, err := e.Submit(context.Background(), Request{Tokens: prompt, MaxTokens: 6, Logprobs: -1, IgnoreEOS: true, Fork: first})
	require.NoError(t, err)
	a, b := read(t, first), read(t, second)
	require.Equal(t, a.tokens, b.tokens)
	usage := first.Usage()
	require.Equal(t, []int{len(prompt), 6, 0}, []int{usage.Prompt, usage.Output, usage.Cached})
	require.Greater(t, second.Usage().Cached, 3*16)

	got := drained(rec)
	require.EqualValues(t, 2, rec.Facts().Number)
	require.Equal(t, trace.PageHold, got.Pages[0].What)
	held := holders(t, got.Pages)
	for pg, who := range held {
		require.NotContains(t, who, int64(2), "page %d: the recorded request is over", pg)
	}
	own, with := 0, 0
	for i, turn := range got.Turns {
		require.Positive(t, turn.Dur)
		if i > 0 {
			require.GreaterOrEqual(t, turn.Start, got.Turns[i-1].Start+got.Turns[i-1].Dur)
		}
		for _, p := range turn.Parts {
			if p.Request == 2 {
				own++
			}
		}
		if len(turn.Parts) == 3 {
			with++
		}
	}
	require.Equal(t, len(got.Passes), own, "one turn a pass")
	require.Positive(t, with, "the other two were there too")
	stop()
	settle(t, e)
	require.Empty(t, drained(rec).Pages, "nothing is told after the end")
	s := e.Stats()
	require.Positive(t, s.KeptPages)
	require.EqualValues(t, second.Usage().Cached, s.CachedTokens)
}

func TestAnswersAreTheSameWithPagesSharedOrNot(t *testing.T) {
	plain := tiny(t, Options{Slots: 1, NoPrefix: true})
	shared := tiny(t, Options{Slots: 4})
	for round := range 3 {
		var streams []*Stream
		for _, r := range requests() {
			s, err := shared.Submit(context.Background(), r)
			require.NoError(t, err)
			streams = append(streams, s)
			for range round { // and choices of the same prompt
				r.Fork = s
				s, err := shared.Submit(context.Background(), r)
				require.NoError(t, err)
				streams = append(streams, s)
			}
		}
		for i, s := range streams {
			want := ask(t, plain, requests()[i/(1+round)])
			require.Equal(t, want, read(t, s), "round %d, stream %d", round, i)
		}
	}
	require.Positive(t, shared.Stats().CachedTokens)
	require.Zero(t, plain.Stats().CachedTokens)
	settle(t, shared)
}

func TestDeadlinesEndRequests(t *testing.T) {
	e := tiny(t, Options{Slots: 1})
	_, err := e.Submit(context.Background(), Request{Tokens: ids("x"), Logprobs: -1, Deadline: time.Now().Add(-time.Second)})
	require.ErrorIs(t, err, ErrDeadline)
	long, stop := context.WithCancel(context.Background())
	running, err := e.Submit(long, Request{Tokens: ids("x"), Logprobs: -1, IgnoreEOS: true, Deadline: time.Now().Add(20 * time.Millisecond)})
	require.NoError(t, err)
	r := read(t, running)
	if r.err != nil { // a fast machine answers in time
		require.ErrorIs(t, r.err, ErrDeadline)
		require.NotEmpty(t, r.tokens)
	}
	stop()
	settle(t, e)
}
