package engine

import (
	"fmt"
	"log"

	"glassbox/engine/backend"
	"glassbox/engine/gguf"
	"glassbox/engine/model"
	"glassbox/engine/sched"
	"glassbox/engine/spec"
	"glassbox/engine/token"
	"glassbox/trace"
)

// guesses is what a request has for guessing its next tokens.
type guesses struct {
	luck  *spec.Luck
	ngram *spec.NGram
	job   spec.Job // of the draft model
	cache spec.Cache
	mark  trace.Mark
}

// guesses returns nil where nothing is guessed: drafting is off, here or for the request, or what it looks at and changes
// while a pass runs (captures, parts switched off, stops) counts on one token a pass.
func (e *Engine) guesses(a *answer) *guesses {
	if e.pace == nil || a.req.Draft == spec.Off || a.capture != nil || len(a.req.Stops) > 0 {
		return nil
	}
	g := &guesses{ngram: spec.NewNGram(), luck: spec.NewLuck()}
	g.job = spec.Job{Cache: &g.cache, Draw: func(logits []float32, ahead int) int32 {
		return a.sampler.Ahead(logits[:min(len(logits), e.model.Config.Vocab)], ahead) // a larger table is padding
	}}
	if w := a.seq.Trace; w.On() {
		g.job.Ran = func(ops *trace.PassOps, p trace.Pass) {
			p.Index = a.seq.Passes
			a.seq.Passes++
			w.Recorder().Pass(ops, p)
		}
	}
	return g
}

// forget drops what the draft model keeps of a request.
func (e *Engine) forget(a *answer) {
	if a.guesses != nil && e.small != nil {
		e.small.Drop(&a.guesses.cache)
	}
}

// openDraft opens a draft model for a tokenizer.
func openDraft(f *gguf.File, tok *token.Tokenizer, open backend.Opener, o backend.Options, slots int) (*spec.Model, error) {
	m, err := model.Load(f)
	if err != nil {
		return nil, fmt.Errorf("draft model: %w", err)
	}
	own, err := token.FromGGUF(f)
	if err != nil {
		return nil, fmt.Errorf("draft model: %w", err)
	}
	if err := spec.SameVocabulary(tok, own); err != nil {
		return nil, fmt.Errorf("draft model %s: %w", f.Name, err)
	}
	o.KV = nil // its heads may not fit the formats of the other's cache
	return spec.NewModel(m.Graph, open, o, slots)
}

// rows is how many rows of logits a pass may need.
func (o *Options) rows() int {
	if o.Draft == spec.Off {
		return o.Slots
	}
	return o.Slots * (1 + o.Drafts)
}

// draft guesses the next tokens of the sequences that decode, where that is worth its cost.
func (e *Engine) draft() {
	if e.pace == nil {
		return
	}
	n := 0
	e.sched.Decoding(func(q *sched.Sequence) {
		q.Draft = q.Draft[:0]
		n++
	})
	if n == 0 || e.pace.Rest() {
		return
	}
	e.sched.Decoding(func(q *sched.Sequence) {
		a := q.Owner.(*answer)
		if a.guesses == nil {
			return
		}
		// The pass gives one token more than it checks; none is guessed that the answer has no room for.
		room := min(a.req.MaxTokens-q.Answered(), e.o.Context-len(q.Tokens)) - 1
		if k := e.pace.Tokens(a.guesses.luck, n, min(e.o.Drafts, room)); k > 0 {
			if e.small == nil {
				e.guess(a, k)
				return
			}
			a.guesses.job.Want = k
			e.asked, e.jobs = append(e.asked, a), append(e.jobs, &a.guesses.job)
		}
	})
	if len(e.asked) > 0 {
		e.consult()
		e.asked, e.jobs = e.asked[:0], e.jobs[:0]
	}
}

// consult lets the draft model guess, for all that ask at once.
//
//go:noinline
func (e *Engine) consult() {
	start := trace.Now()
	for _, a := range e.asked {
		q := a.seq
		q.Trace.In(q.Passes, q.Answered())
		a.guesses.mark = q.Trace.Begin(trace.StepDraft)
		a.guesses.job.Tokens = q.Tokens
	}
	err := guard("draft", func() error { return e.small.Run(e.jobs) })
	if err != nil {
		log.Printf("glassbox: the draft model failed, so nothing is guessed: %v", err)
	}
	n := 0
	for _, a := range e.asked {
		q, g := a.seq, a.guesses
		if err != nil {
			g.job.Guess = g.job.Guess[:0]
			e.small.Drop(&g.cache)
		}
		q.Draft = append(q.Draft[:0], g.job.Guess...)
		n += len(q.Draft)
		q.Trace.In(q.Passes, q.Answered())
		if m := &g.mark; m.On() {
			m.Set("in", fmt.Sprintf("%d tokens, up to %d wanted of the draft model", len(q.Tokens), g.job.Want))
			m.Set("out", fmt.Sprintf("%d tokens from the draft model: %q", len(q.Draft), e.spell(q.Draft)))
			if len(q.Draft) == 0 {
				m.Set("out", "none yet: the draft model still reads the text")
			}
			m.Set("ids", int64s(q.Draft))
			m.Set("rate", g.luck.Rate())
		}
		g.mark.End()
	}
	e.pace.Guessed(n, trace.Now()-start)
}

// guess looks the sequence's last tokens up in what it has said before.
//
//go:noinline
func (e *Engine) guess(a *answer, k int) {
	q := a.seq
	q.Trace.In(q.Passes, q.Answered())
	m := q.Trace.Begin(trace.StepDraft)
	start := trace.Now()
	var match int
	q.Draft, match = a.guesses.ngram.Guess(q.Draft[:0], q.Tokens, k)
	e.pace.Guessed(len(q.Draft), trace.Now()-start)
	if m.On() {
		m.Set("in", fmt.Sprintf("the last tokens of %d, up to %d wanted", len(q.Tokens), k))
		m.Set("out", "none: these tokens were not there before")
		if match > 0 {
			m.Set("out", fmt.Sprintf("%d tokens that followed the same %d before: %q", len(q.Draft), match, e.spell(q.Draft)))
		}
		m.Set("ids", int64s(q.Draft))
		m.Set("rate", a.guesses.luck.Rate())
	}
	m.End()
}

// spell writes tokens as text.
func (e *Engine) spell(ids []int32) string {
	var b []byte
	for _, id := range ids {
		b = append(b, e.tok.Piece(int(id))...)
	}
	return string(b)
}

func int64s(ids []int32) []int64 {
	out := make([]int64, len(ids))
	for i, id := range ids {
		out[i] = int64(id)
	}
	return out
}

// timed notes what a pass took that did nothing but decode, for the decision how much to guess.
func (e *Engine) timed(items []sched.Item, ns int64) {
	if e.pace == nil {
		return
	}
	guessed := 0
	for _, it := range items {
		if it.Kind() == trace.Prefill {
			return
		}
		guessed += it.Guessed
	}
	if guessed == 0 {
		e.pace.Plain(len(items), ns)
		return
	}
	e.pace.Checked(len(items), guessed, ns)
}

// verify delivers what a pass gave a sequence: the token after its last one, and as long as that is what was guessed, the
// token after the guessed one. Its rows of logits begin at first.
//
//go:noinline
func (e *Engine) verify(a *answer, guessed, first int) error {
	if guessed == 0 {
		finish, err := e.deliver(a, e.run.Logits(first))
		if err == nil && finish != "" {
			e.complete(a, finish)
		}
		return err
	}
	q := a.seq
	q.Trace.In(q.Passes-1, q.Answered())
	m := q.Trace.Begin(trace.StepVerify)
	before, accepted, seen := q.Answered(), 0, 0
	finish, err := "", error(nil)
	for i := 0; err == nil && finish == "" && i <= guessed; i++ {
		if finish, err = e.deliver(a, e.run.Logits(first+i)); err != nil || i == guessed {
			break
		}
		drawn := q.Tokens[len(q.Tokens)-1]
		seen++
		if drawn != q.Draft[i] {
			e.reject(a, q.Draft[i:guessed], accepted, drawn)
			break
		}
		e.accept(a, drawn, i)
		accepted++
	}
	a.guesses.luck.Saw(seen, accepted)
	e.stats.drafts.Add(1)
	e.stats.drafted.Add(int64(guessed))
	e.stats.accepted.Add(int64(accepted))
	if accepted == seen { // nothing was rejected: what the answer had no use for goes too
		e.sched.Keep(q, accepted)
	}
	if m.On() {
		q.Trace.In(q.Passes-1, before)
		m.Set("in", fmt.Sprintf("%d rows of logits, for %d guessed tokens", guessed+1, guessed))
		m.Set("out", fmt.Sprintf("%d of %d accepted: %d tokens from one pass", accepted, guessed, q.Answered()-before))
		m.Set("drafted", guessed)
		m.Set("accepted", accepted)
	}
	m.End()
	if err == nil && finish != "" {
		e.complete(a, finish)
	}
	return err
}

// accept notes that what was drawn is what was guessed: the next row of logits, computed in the same pass, is of the text
// as it is.
//
//go:noinline
func (e *Engine) accept(a *answer, id int32, at int) {
	m := a.seq.Trace.Begin(trace.StepAccept)
	if m.On() {
		m.Set("in", fmt.Sprintf("guessed %q, drawn the same", e.tok.Piece(int(id))))
		m.Set("out", fmt.Sprintf("guess %d accepted: the next row is valid", at+1))
	}
	m.End()
}

// reject drops a guess that was not drawn and all after it: their rows of logits, and what the cache has of them.
//
//go:noinline
func (e *Engine) reject(a *answer, guessed []int32, accepted int, drawn int32) {
	m := a.seq.Trace.Begin(trace.StepReject)
	dropped, wrong := len(guessed), guessed[0]
	freed := e.sched.Keep(a.seq, accepted)
	if m.On() {
		m.Set("in", fmt.Sprintf("guessed %q, drawn %q", e.tok.Piece(int(wrong)), e.tok.Piece(int(drawn))))
		m.Set("out", fmt.Sprintf("%d positions dropped from the cache, pages freed: %d", dropped, freed))
	}
	m.End()
}
