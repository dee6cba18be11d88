package sched

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/kv"
	"glassbox/trace"
)

func small(slots, queue, pages int) (*Scheduler, *kv.Pool) {
	pool := kv.NewPool(pages)
	return New(Config{Slots: slots, Queue: queue, Budget: 64, BusyChunk: 16, Heads: 2, MaxScores: 1 << 16}, pool), pool
}

func seq(id string, prompt int) *Sequence {
	return &Sequence{ID: id, Tokens: make([]int32, prompt), Prompt: prompt}
}

// pass runs a plan and lets each sequence that has logits answer one token.
func pass(t *testing.T, s *Scheduler) []Item {
	s.Admit()
	items := append([]Item(nil), s.Plan()...)
	require.NoError(t, s.Check())
	for _, it := range items {
		s.Ran(it)
		if it.Logits {
			it.Seq.Tokens = append(it.Seq.Tokens, 1)
		}
	}
	return items
}

func TestPromptGoesInChunksThenDecodes(t *testing.T) {
	s, _ := small(2, 4, 100)
	require.NoError(t, s.Enqueue(seq("a", 150)))
	for _, want := range []Item{{From: 0, N: 64}, {From: 64, N: 64}, {From: 128, N: 22, Logits: true}, {From: 150, N: 1, Logits: true}} {
		items := pass(t, s)
		require.Len(t, items, 1)
		require.Equal(t, want, Item{From: items[0].From, N: items[0].N, Logits: items[0].Logits})
		require.Equal(t, want.N == 1, items[0].Kind() == trace.Decode)
	}
}

func TestLongPromptDoesNotStallRunningRequests(t *testing.T) {
	s, _ := small(2, 4, 100)
	require.NoError(t, s.Enqueue(seq("a", 3)))
	pass(t, s)
	require.NoError(t, s.Enqueue(seq("b", 200)))
	for range 5 {
		items := pass(t, s)
		require.Len(t, items, 2)
		require.Equal(t, "a", items[0].Seq.ID)
		require.Equal(t, 1, items[0].N)
		require.LessOrEqual(t, items[1].N, 16)
	}
}

func TestFirstComeFirstServedAndQueueBound(t *testing.T) {
	s, _ := small(1, 2, 100)
	for _, id := range []string{"a", "b"} {
		require.NoError(t, s.Enqueue(seq(id, 2)))
	}
	require.ErrorIs(t, s.Enqueue(seq("c", 2)), ErrQueueFull)
	require.Equal(t, "a", pass(t, s)[0].Seq.ID)
	require.NoError(t, s.Enqueue(seq("c", 2)))
	for _, want := range []string{"a", "b", "c"} {
		items := pass(t, s)
		require.Equal(t, want, items[0].Seq.ID)
		s.Finish(items[0].Seq)
	}
	require.True(t, s.Idle())
}

func TestScoresBufferBoundsThePass(t *testing.T) {
	pool := kv.NewPool(100)
	s := New(Config{Slots: 2, Queue: 2, Budget: 64, BusyChunk: 64, Heads: 2, MaxScores: 2 * 16 * 16 * 3}, pool)
	require.NoError(t, s.Enqueue(seq("a", 64)))
	items := pass(t, s)
	require.Equal(t, 32, items[0].N) // 16 tokens of one page and 16 of two fill 2*16*(16+32)
}

func TestNoPageLeftTakesThemFromTheYoungest(t *testing.T) {
	s, pool := small(2, 4, 4)
	a, b := seq("a", 30), seq("b", 30)
	require.NoError(t, s.Enqueue(a))
	require.NoError(t, s.Enqueue(b))
	for len(a.Tokens) < 40 {
		pass(t, s)
	}
	require.Equal(t, -1, b.Slot, "b waits: a needed its page")
	require.Zero(t, b.Cached)
	answered := len(b.Tokens)
	s.Finish(a)
	for len(b.Tokens) == answered {
		items := pass(t, s)
		require.Equal(t, "b", items[0].Seq.ID)
	}
	require.Equal(t, len(b.Tokens)-1, b.Cached, "b computed all its positions again")
	s.Finish(b)
	require.Equal(t, 4, pool.Free())
}

func TestRandomLivesLeakNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s, pool := small(4, 6, 24)
	live := map[*Sequence]bool{}
	for i := range 10000 {
		switch n := r.IntN(10); {
		case n < 3:
			q := seq(fmt.Sprint(i), 1+r.IntN(120))
			if s.Enqueue(q) == nil {
				live[q] = true
			}
		case n < 4:
			for q := range live {
				s.Finish(q)
				delete(live, q)
				break
			}
		default:
			for _, it := range pass(t, s) {
				if it.Seq.Answered() > 200 {
					s.Finish(it.Seq)
					delete(live, it.Seq)
				}
			}
		}
		require.NoError(t, s.Check())
	}
	for q := range live {
		s.Finish(q)
	}
	require.True(t, s.Idle())
	require.Equal(t, pool.Total(), pool.Free())
}
