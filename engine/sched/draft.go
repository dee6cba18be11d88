package sched

import "glassbox/engine/kv"

// Decoding calls f for every running sequence whose next pass draws a token of its answer from one token: those whose next
// tokens can be guessed.
func (s *Scheduler) Decoding(f func(*Sequence)) {
	for _, q := range s.running {
		if len(q.Tokens)-q.Cached == 1 && q.Answered() > 0 {
			f(q)
		}
	}
}

// fitDraft returns how many tokens of a sequence's draft the pass has room for: in the budget, the scores buffer and the
// cache, where nobody's pages are taken for a guess and one is left for each running sequence. budget is what is left when
// every sequence has had its token.
func (s *Scheduler) fitDraft(q *Sequence, budget, scores int) int {
	n := 0
	for n < min(len(q.Draft), budget) && scores >= s.scores(q.Cached+1+n) {
		scores -= s.scores(q.Cached + 1 + n)
		n++
	}
	room := (len(q.Pages)+max(s.pool.Free()-len(s.running), 0))*kv.PageTokens - len(q.Tokens)
	if n = min(n, max(room, 0)); n > 0 && !s.reserve(q, len(q.Tokens)+n) {
		return 0
	}
	return n
}

// Keep ends the check of a sequence's draft: the first n guessed tokens were right and are part of Tokens by now, so what
// the cache has of them is valid. What it has of the others is as if it had never been written, and pages that only they
// needed are freed. It returns how many.
func (s *Scheduler) Keep(q *Sequence, n int) (freed int) {
	q.Draft = q.Draft[:0]
	q.Cached += n
	before := len(q.Pages)
	s.Truncate(q, q.Cached)
	return before - len(q.Pages)
}
