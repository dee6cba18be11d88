package engine

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/engine/sched"
	"glassbox/engine/testmodel"
)

// machine is a made-up one: passes take as long as attention and products would.
type machine struct {
	quiet, fixed, token, position float64 // ns: of a pass without prompts, of any with one, of a prompt token, and of each position before it
	beyond                        float64 // ns: of a pass of more than 12 prompt tokens
	noise                         func() float64
}

func (m machine) pass(prompt, at int) float64 {
	if prompt == 0 {
		return m.quiet * m.noise()
	}
	step := 0.0
	if prompt > 12 {
		step = m.beyond
	}
	return (m.quiet + m.fixed + step + float64(prompt)*(m.token+m.position*float64(at+prompt/2))) * m.noise()
}

// decoders are n sequences in the middle of their answers.
func decoders(n int) []sched.Item {
	var out []sched.Item
	for range n {
		out = append(out, sched.Item{Seq: &sched.Sequence{Prompt: 20}, From: 40, N: 1, Logits: true})
	}
	return out
}

// reading reads a prompt of so many tokens beside four answers, and returns the passes' times in quiet ones of the machine.
func (m machine) reading(s *stall, tokens int) (ratios []float64) {
	four := decoders(4)
	for at := 0; at < tokens; {
		n := min(s.chunk(4, at), tokens-at)
		ns := m.pass(n, at)
		ratios = append(ratios, ns/m.quiet)
		s.note(append(slices.Clone(four), sched.Item{Seq: &sched.Sequence{Prompt: tokens}, From: at, N: n, Logits: at+n == tokens}), int64(ns))
		at += n
	}
	return ratios
}

// Whatever tokens and positions cost, passes stay near what is aimed at while a prompt of 4,000 tokens is read: a first one,
// of whose costs nothing is known, and later ones.
func TestPromptsBesideAnswersAreBoundByMeasuredTimes(t *testing.T) {
	var r *rand.Rand // one for each machine: maps have no order
	steady := func() float64 { return 1 }
	uneven := func() float64 { return 0.9 + 0.2*r.Float64() + 0.3*float64(r.IntN(50)/49) }
	for name, m := range map[string]machine{
		"products cost most":   {20e6, 0, 1e6, 10, 0, steady},
		"attention costs most": {20e6, 0, 1e5, 500, 0, steady},
		"a dear beginning":     {20e6, 8e6, 2e5, 100, 0, steady},
		"uneven":               {20e6, 1e6, 2e5, 300, 0, uneven},
		"fast":                 {2e6, 1e5, 1e4, 10, 0, uneven},
		"dear beyond a size":   {16e6, 0, 5e5, 50, 30e6, uneven},
	} {
		r = rand.New(rand.NewPCG(1, 2))
		s := newStall(128)
		var quiet []float64
		for range 200 {
			ns := m.pass(0, 0)
			quiet = append(quiet, ns/m.quiet)
			s.note(decoders(4), int64(ns))
		}
		for prompt := range 3 {
			got := m.reading(&s, 4000)
			late := got
			if prompt == 0 {
				late = got[min(12, len(got)):] // the first passes teach
			}
			require.Less(t, quantile(late, .99), 2.4*quantile(quiet, .99), "%s, prompt %d", name, prompt)
			require.Less(t, quantile(got, .5), 2.1*quantile(quiet, .5), "%s, prompt %d", name, prompt)
			require.Greater(t, quantile(got, .5), 1.25*quantile(quiet, .5), "%s, prompt %d: it reads as fast as it may", name, prompt)
		}
	}
}

func TestChunksHaveBounds(t *testing.T) {
	s := newStall(128)
	require.Equal(t, 128, s.chunk(0, 0), "nobody waits for a token")
	require.Equal(t, 4, s.chunk(4, 0), "nothing is known yet")
	pass := func(n, at int, ns int64) {
		s.note(append(decoders(2), sched.Item{Seq: &sched.Sequence{Prompt: 5000}, From: at, N: n}), ns)
	}
	s.note(decoders(2), 10e6)
	pass(4, 0, 12e6)
	require.Equal(t, 8, s.chunk(2, 0), "2 ms for 4 tokens: 8 are tried next, and not 16 at once")
	pass(8, 0, 14e6)
	pass(12, 0, 16e6)
	require.Equal(t, 16, s.chunk(2, 0))
	pass(16, 0, 35e6)
	require.Equal(t, 12, s.chunk(2, 0), "16 were too many")
	require.Equal(t, 12, s.chunk(3, 4000), "the nearest that is known")
	pass(4, 100, 12e6)
	require.Equal(t, 8, s.chunk(2, 0), "not more than a step up")
	for range 8 {
		pass(12, 4000, 60e6)
	}
	require.Equal(t, 8, s.chunk(2, 4000))
	for range 8 {
		pass(8, 4000, 60e6)
		pass(4, 4000, 60e6)
	}
	require.Equal(t, 4, s.chunk(2, 4000), "prompts get on")
	pass(8, 100, 14e6)
	require.Equal(t, 12, s.chunk(2, 100), "tokens at the beginning cost what they did")
	pass(5, 0, 90e6)
	require.Equal(t, 12, s.chunk(2, 0), "what is far from a size says nothing of it")
	for range 2 {
		pass(12, 0, 60e6)
	}
	require.Equal(t, 8, s.chunk(2, 0), "passes that took too long count at once")
	pass(12, 0, 11e6)
	require.Equal(t, 8, s.chunk(2, 0), "a short one by and by")
	for range 1500 {
		pass(12, 0, 16e6)
	}
	require.Equal(t, 16, s.chunk(2, 0), "what was too dear is tried again")
	s.most = 2
	require.Equal(t, 2, s.chunk(2, 0))
}

// BenchmarkLongPrompt prints what four running answers feel of a prompt of 4,000 tokens: the 99th percentile of the time
// between two of their tokens, quiet and while the prompt is read, both for as long, so that what else the machine does falls
// on both alike. It fails at three times the quiet value. make bench runs it.
func BenchmarkLongPrompt(b *testing.B) {
	const rounds, longest = 3, 25 * time.Second
	e, err := Open(testmodel.File(b), Options{Threads: 2, KVTokens: 32768, NoPrefix: true})
	require.NoError(b, err)
	defer e.Close()
	for range b.N {
		ctx, stop := context.WithCancel(context.Background())
		var calm, busy []float64
		var quarters [4][]float64 // of the time in which the prompt is read: its tokens attend to ever more
		var took time.Duration
		for round := range rounds + 1 {
			inner, leave := context.WithCancel(ctx)
			gaps := answersOf(b, e, inner, 4)
			time.Sleep(time.Second)
			quiet := time.Now()
			time.Sleep(min(took, longest))
			from, to := readLong(b, e, ctx, round)
			leave()
			if took = to.Sub(from); round == 0 {
				continue // the first one teaches the engine what a token costs
			}
			for len(gaps) > 0 {
				g := <-gaps
				ms := float64(g[1].Sub(g[0])) / 1e6
				switch {
				case g[0].After(quiet) && g[1].Before(from):
					calm = append(calm, ms)
				case g[0].After(from) && g[1].Before(to):
					busy = append(busy, ms)
					q := int(4 * g[1].Sub(from) / (to.Sub(from) + 1))
					quarters[q] = append(quarters[q], ms)
				}
			}
		}
		stop()
		p50c, p99c, p50b, p99b := quantile(calm, .5), quantile(calm, .99), quantile(busy, .5), quantile(busy, .99)
		b.ReportMetric(p99c, "quiet-p99-ms")
		b.ReportMetric(p99b, "busy-p99-ms")
		b.ReportMetric(p99b/p99c, "ratio")
		b.Logf("4 running answers, %d and %d gaps: quiet p50 %.1f p99 %.1f ms; while 4,000 tokens are read (%.2f s) p50 %.1f p99 %.1f ms: p50 %.2f times, p99 %.2f times", len(calm), len(busy), p50c, p99c, took.Seconds(), p50b, p99b, p50b/p50c, p99b/p99c)
		for i, q := range quarters {
			b.Logf("quarter %d of the reading: %d gaps, p50 %.1f p90 %.1f p99 %.1f ms", i+1, len(q), quantile(q, .5), quantile(q, .9), quantile(q, .99))
		}
		if p99b >= 3*p99c {
			b.Errorf("inter-token p99: wanted less than 3 times the quiet value, found %.2f times", p99b/p99c)
		}
	}
}

// answersOf starts n answers that end with ctx, and gives the moments of each two tokens that follow each other.
func answersOf(b *testing.B, e *Engine, ctx context.Context, n int) chan [2]time.Time {
	gaps := make(chan [2]time.Time, 1<<16)
	for i := range n {
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
	return gaps
}

// readLong has a prompt of 4,000 tokens read, and tells from when to when.
func readLong(b *testing.B, e *Engine, ctx context.Context, round int) (from, to time.Time) {
	long := make([]int, 4000)
	for i := range long {
		long[i] = 300 + (i+round)*7919%40000
	}
	from = time.Now()
	s, err := e.Submit(ctx, Request{Tokens: long, MaxTokens: 1, Logprobs: -1, IgnoreEOS: true})
	require.NoError(b, err)
	_, err = s.Next(ctx)
	require.NoError(b, err)
	return from, time.Now()
}

func quantile(x []float64, p float64) float64 {
	slices.Sort(x)
	return x[min(int(p*float64(len(x))), len(x)-1)]
}
