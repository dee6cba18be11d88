package sched

import (
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/kv"
)

func sharing(slots, pages int) (*Scheduler, *kv.Pool) {
	pool := kv.NewPool(pages)
	return New(Config{Slots: slots, Queue: 16, Budget: 64, BusyChunk: 16, Heads: 2, MaxScores: 1 << 16, Prefixes: true}, pool), pool
}

func TestAPromptThatWasComputedRunsItsLastTokenOnly(t *testing.T) {
	s, pool := sharing(2, 16)
	a := seq("a", 48)
	require.NoError(t, s.Enqueue(a))
	pass(t, s)
	s.Finish(a)
	require.Equal(t, 3, pool.Kept())
	b := seq("b", 48)
	require.NoError(t, s.Enqueue(b))
	items := pass(t, s)
	require.Equal(t, []int{47, 1}, []int{items[0].From, items[0].N})
	require.Equal(t, 47, b.Matched)
	c := seq("c", 60)
	require.NoError(t, s.Enqueue(c))
	items = pass(t, s)
	require.Equal(t, []int{48, 12}, []int{items[1].From, items[1].N})
	require.Equal(t, 48, c.Matched)
	require.EqualValues(t, 95, s.Totals().Matched)
}

func TestPrivateSequencesShareNothing(t *testing.T) {
	s, pool := sharing(2, 16)
	a := seq("a", 48)
	require.NoError(t, s.Enqueue(a))
	pass(t, s)
	s.Finish(a)
	b := seq("b", 48)
	b.Private = true
	b.Tokens[47] = 9
	require.NoError(t, s.Enqueue(b))
	require.Equal(t, 0, pass(t, s)[0].From, "captured values have to be computed")
	s.Finish(b)
	require.Equal(t, 3, pool.Kept(), "what may have been changed is not for others")
	c := seq("c", 48)
	c.Salt = "mine"
	require.NoError(t, s.Enqueue(c))
	require.Equal(t, 0, pass(t, s)[0].From)
}

func TestChoicesOfOnePromptShareItsPages(t *testing.T) {
	s, pool := sharing(4, 16)
	s.c.Prefixes = false
	a := seq("a", 24)
	require.NoError(t, s.Enqueue(a))
	kids := []*Sequence{seq("b", 24), seq("c", 24)}
	for _, k := range kids {
		k.Parent = a
		require.NoError(t, s.Enqueue(k))
	}
	require.Len(t, pass(t, s), 1, "the choices wait for the prompt")
	items := pass(t, s)
	require.Len(t, items, 3)
	for i, k := range kids {
		require.Equal(t, a.Pages[0], k.Pages[0], "a full page is held by all")
		require.NotEqual(t, a.Pages[1], k.Pages[1], "each writes into a copy of the last")
		require.Equal(t, 23, items[1+i].From)
	}
	require.Equal(t, 3, pool.Holders(a.Pages[0]))
	require.Equal(t, 12, pool.Free())
	require.EqualValues(t, 2, s.Totals().Copied)
	s.Finish(a)
	require.NoError(t, s.Check())
	s.Finish(kids[0])
	s.Finish(kids[1])
	require.Equal(t, 16, pool.Free())
}

func TestUrgentRequestsComeFirstAndNobodyWaitsForEver(t *testing.T) {
	s, _ := sharing(1, 16)
	low, high := seq("low", 2), seq("high", 2)
	low.Priority, high.Priority = 1, -1
	for _, q := range []*Sequence{low, seq("plain", 2), high} {
		require.NoError(t, s.Enqueue(q))
	}
	for _, want := range []string{"high", "plain", "low"} {
		items := pass(t, s)
		require.Equal(t, want, items[0].Seq.ID)
		s.Finish(items[0].Seq)
	}
	low = seq("low", 2)
	low.Priority = 1
	require.NoError(t, s.Enqueue(low))
	turns := 0
	for ; low.Passes == 0; turns++ { // one more urgent request after the other
		require.NoError(t, s.Enqueue(seq("plain", 2)))
		s.Finish(pass(t, s)[0].Seq)
		require.NoError(t, s.Check())
		require.Less(t, turns, 2*patience)
	}
	require.Greater(t, turns, patience/2)
}

func TestTheLeastUrgentGivesItsPagesUp(t *testing.T) {
	s, _ := sharing(2, 4)
	a, b := seq("a", 30), seq("b", 30)
	a.Priority = 1
	b.Tokens[0] = 7
	require.NoError(t, s.Enqueue(a))
	require.NoError(t, s.Enqueue(b))
	for len(b.Tokens) < 40 {
		pass(t, s)
	}
	require.Equal(t, -1, a.Slot)
	require.EqualValues(t, 1, s.Totals().Preempted)
}

func TestAShortPromptDoesNotWaitForALongOne(t *testing.T) {
	s, _ := sharing(4, 100)
	long, short := seq("long", 400), seq("short", 20)
	short.Tokens[0] = 7
	require.NoError(t, s.Enqueue(long))
	require.NoError(t, s.Enqueue(short))
	items := pass(t, s)
	require.Len(t, items, 2)
	require.Equal(t, 20, items[0].N, "the short one gets all it needs")
	require.Equal(t, 44, items[1].N, "and the long one the rest")
	other := seq("other", 400)
	other.Tokens[0] = 8
	require.NoError(t, s.Enqueue(other))
	s.Finish(short)
	items = pass(t, s)
	require.Equal(t, []int{32, 32}, []int{items[0].N, items[1].N}, "two long ones share the budget")
}

func TestMoreAnswersThanTheBudgetTakeTurns(t *testing.T) {
	pool := kv.NewPool(16)
	s := New(Config{Slots: 3, Queue: 8, Budget: 2, BusyChunk: 2, Heads: 2, MaxScores: 1 << 16}, pool)
	qs := []*Sequence{seq("a", 1), seq("b", 1), seq("c", 1)}
	for _, q := range qs {
		require.NoError(t, s.Enqueue(q))
	}
	for range 30 {
		pass(t, s)
	}
	for _, q := range qs {
		require.InDelta(t, 20, q.Answered(), 2, q.ID)
	}
}

func TestTruncatedPositionsRunAgain(t *testing.T) {
	s, pool := sharing(1, 8)
	a := seq("a", 40)
	require.NoError(t, s.Enqueue(a))
	pass(t, s)
	a.Tokens = a.Tokens[:20]
	s.Truncate(a, 17)
	require.Equal(t, 6, pool.Free())
	items := pass(t, s)
	require.Equal(t, []int{17, 3}, []int{items[0].From, items[0].N})
}
