package sched

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/kv"
)

// world stands for a backend: what each position of each page holds is a hash of all tokens up to it, as keys and values
// depend on nothing else. A token drawn is a function of that hash, so a sequence's answer is known without any of this.
type world struct {
	t     *testing.T
	s     *Scheduler
	pages [][kv.PageTokens]uint64
	live  map[*Sequence]int // the answer's length
	ended int
}

func upTo(before uint64, token int32) uint64 {
	h := (before + uint64(token) + 1) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// drawn is the token after a prefix: one of few, so that sequences run alike for a while.
func drawn(prefix uint64) int32 { return int32(prefix % 3) }

// alone is what a sequence answers when it is the only one.
func alone(prompt []int32, n int) []int32 {
	var h uint64
	out := append([]int32(nil), prompt...)
	for i := 0; ; i++ {
		h = upTo(h, out[i])
		if i == len(out)-1 {
			if len(out) == len(prompt)+n {
				return out
			}
			out = append(out, drawn(h))
		}
	}
}

func (w *world) at(q *Sequence, pos int) *uint64 {
	return &w.pages[q.Pages[pos/kv.PageTokens]][pos%kv.PageTokens]
}

// pass plans and runs: copies first, then all writes, then all reads.
func (w *world) pass() {
	w.s.Admit()
	require.NoError(w.t, w.s.Check())
	items := append([]Item(nil), w.s.Plan()...)
	require.NoError(w.t, w.s.Check())
	for _, c := range w.s.Copies() {
		w.pages[c.To] = w.pages[c.From]
	}
	for _, it := range items {
		for p := it.From; p < it.From+it.N; p++ {
			var before uint64
			if p > 0 {
				before = *w.at(it.Seq, p-1)
			}
			*w.at(it.Seq, p) = upTo(before, it.Seq.Tokens[p])
		}
	}
	for _, it := range items {
		q := it.Seq
		var h uint64
		for p := range it.From + it.N {
			h = upTo(h, q.Tokens[p])
			if h != *w.at(q, p) {
				w.t.Fatalf("sequence %s reads position %d of %d in page %d", q.ID, p, it.From+it.N, q.Pages[p/kv.PageTokens])
			}
		}
		w.s.Ran(it)
		if !it.Logits {
			continue
		}
		q.Tokens = append(q.Tokens, drawn(h))
		if q.Answered() == w.live[q] {
			require.Equal(w.t, alone(q.Tokens[:q.Prompt], w.live[q]), q.Tokens, "sequence %s", q.ID)
			w.s.Finish(q)
			delete(w.live, q)
			w.ended++
		}
	}
	require.NoError(w.t, w.s.Check())
}

// prompt is one of few beginnings with an end of its own, so that prefixes are shared, in whole pages and in parts.
func prompt(r *rand.Rand) []int32 {
	out := make([]int32, 1+r.IntN(120))
	kind, same := r.IntN(4), r.IntN(140)
	for i := range out {
		if out[i] = int32(kind + i%7); i >= same {
			out[i] = int32(r.IntN(3))
		}
	}
	return out
}

func (w *world) submit(r *rand.Rand, id int) {
	q := &Sequence{ID: fmt.Sprint(id), Tokens: prompt(r), Priority: r.IntN(3) - 1, Private: r.IntN(10) == 0}
	if r.IntN(8) == 0 {
		q.Salt = "other"
	}
	q.Prompt = len(q.Tokens)
	n := 1
	if r.IntN(3) == 0 {
		n = 2 + r.IntN(3)
	}
	for i := range n {
		c := q
		if i > 0 { // a choice of the same prompt
			c = &Sequence{ID: fmt.Sprintf("%d-%d", id, i), Tokens: append([]int32(nil), q.Tokens[:q.Prompt]...), Prompt: q.Prompt, Priority: q.Priority, Parent: q, Salt: q.Salt}
		}
		if w.s.Enqueue(c) == nil {
			w.live[c] = 1 + r.IntN(60)
		}
	}
}

// 10,000 events: requests come with one choice or several, end, are cancelled, lose their pages and find them again. After
// each pass no page is leaked or shared wrongly, each read finds what the same request alone would find, and each answer
// is that of the request alone.
func TestLivesOfRequests(t *testing.T) {
	for _, prefixes := range []bool{true, false} {
		r := rand.New(rand.NewPCG(3, 5))
		pool := kv.NewPool(28)
		s := New(Config{Slots: 5, Queue: 12, Budget: 64, BusyChunk: 24, Heads: 2, MaxScores: 1 << 16, Prefixes: prefixes}, pool)
		w := &world{t: t, s: s, pages: make([][kv.PageTokens]uint64, pool.Total()), live: map[*Sequence]int{}}
		for i := range 10000 {
			switch n := r.IntN(100); {
			case n < 12:
				w.submit(r, i)
			case n < 15:
				s.All(func(q *Sequence) {
					if r.IntN(6) == 0 {
						s.Finish(q)
						delete(w.live, q)
					}
				})
			case n < 17 && len(s.running) > 0:
				s.preempt(s.running[r.IntN(len(s.running))])
			case n < 20 && len(s.running) > 0: // as a draft that was not accepted; the last token stays to be run
				q := s.running[r.IntN(len(s.running))]
				s.Truncate(q, r.IntN(q.Cached+1))
			default:
				w.pass()
			}
			require.NoError(t, s.Check())
		}
		totals := s.Totals()
		t.Logf("prefixes %t: %d answers, %+v, %d pages evicted", prefixes, w.ended, totals, pool.Evicted())
		require.Greater(t, w.ended, 300)
		require.Greater(t, totals.Copied, int64(20))
		require.Greater(t, totals.Preempted, int64(50))
		require.Greater(t, totals.Matched, int64(2000))
		for range 2000 {
			w.pass()
		}
		require.True(t, s.Idle(), "nobody waits for ever")
		require.Equal(t, pool.Total(), pool.Free())
		require.NoError(t, s.Check())
	}
}
