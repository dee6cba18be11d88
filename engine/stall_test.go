package engine

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/engine/sched"
	"glassbox/engine/testmodel"
)

func TestPromptsBesideAnswersAreBoundByMeasuredTimes(t *testing.T) {
	s := stall{most: 128, quiet: map[int]float64{}}
	require.Equal(t, 128, s.chunk(4), "nothing is known yet")
	q := func(from, prompt, n int) sched.Item {
		return sched.Item{Seq: &sched.Sequence{Prompt: prompt}, From: from, N: n, Logits: from+n >= prompt}
	}
	decode := []sched.Item{q(30, 20, 1), q(40, 20, 1)}
	s.note(decode, 10e6)
	s.note(append(slices.Clone(decode), q(0, 500, 100)), 50e6)
	require.InDelta(t, 400e3, s.per, 1)
	require.Equal(t, 30, s.chunk(2), "1.2 quiet passes of 10 ms, at 0.4 ms a token")
	require.Equal(t, 30, s.chunk(3), "the nearest that is known")
	require.Equal(t, 128, s.chunk(0), "nobody waits for a token")
	for range 50 {
		s.note(append(slices.Clone(decode), q(0, 500, 10)), 110e6)
	}
	require.Equal(t, leastChunk, s.chunk(2), "prompts get on")
}

// BenchmarkLongPrompt prints what four running answers feel of a prompt of 4,000 tokens: the 99th percentile of the time
// between two of their tokens, quiet and while the prompt is read. It fails at three times the quiet value. make bench runs it.
func BenchmarkLongPrompt(b *testing.B) {
	e, err := Open(testmodel.File(b), Options{Threads: 2, KVTokens: 16384, NoPrefix: true})
	require.NoError(b, err)
	defer e.Close()
	for range b.N {
		ctx, stop := context.WithCancel(context.Background())
		gaps := make(chan [2]time.Time, 1<<16)
		for i := range 4 {
			s, err := e.Submit(ctx, Request{Tokens: []int{1, 100 + i, 2000}, Logprobs: -1, IgnoreEOS: true})
			require.NoError(b, err)
			go func() {
				last := time.Time{}
				for {
					ev, err := s.Next(ctx)
					if err != nil || ev.Finish != "" || ev.Err != nil {
						return
					}
					now := time.Now()
					if !last.IsZero() {
						gaps <- [2]time.Time{last, now}
					}
					last = now
				}
			}()
		}
		long := make([]int, 4000)
		for i := range long {
			long[i] = 300 + i*7919%40000
		}
		read := func() (from, to time.Time) {
			from = time.Now()
			s, err := e.Submit(ctx, Request{Tokens: long, MaxTokens: 1, Logprobs: -1, IgnoreEOS: true})
			require.NoError(b, err)
			_, err = s.Next(ctx)
			require.NoError(b, err)
			return from, time.Now()
		}
		time.Sleep(2 * time.Second)
		read() // the first one also teaches the engine what a token costs
		quiet := time.Now()
		time.Sleep(6 * time.Second)
		from, to := read()
		stop()
		var calm, busy []float64
		for len(gaps) > 0 {
			g := <-gaps
			ms := float64(g[1].Sub(g[0])) / 1e6
			switch {
			case g[0].After(quiet) && g[1].Before(from):
				calm = append(calm, ms)
			case g[0].After(from) && g[1].Before(to):
				busy = append(busy, ms)
			}
		}
		p50c, p99c, p50b, p99b := quantile(calm, .5), quantile(calm, .99), quantile(busy, .5), quantile(busy, .99)
		b.ReportMetric(p99c, "quiet-p99-ms")
		b.ReportMetric(p99b, "busy-p99-ms")
		b.ReportMetric(p99b/p99c, "ratio")
		b.Logf("4 running answers, %d and %d gaps: quiet p50 %.1f p99 %.1f ms; while 4,000 tokens are read (%.2f s) p50 %.1f p99 %.1f ms: %.2f times", len(calm), len(busy), p50c, p99c, to.Sub(from).Seconds(), p50b, p99b, p99b/p99c)
		if p99b >= 3*p99c {
			b.Errorf("inter-token p99: wanted less than 3 times the quiet value, found %.2f times", p99b/p99c)
		}
	}
}

func quantile(x []float64, p float64) float64 {
	slices.Sort(x)
	return x[min(int(p*float64(len(x))), len(x)-1)]
}
