package spec

import (
	"fmt"

	"glassbox/engine/backend"
	"glassbox/engine/graph"
	"glassbox/engine/kv"
	"glassbox/engine/token"
	"glassbox/trace"
)

// catchUp is the most tokens of a text that a draft model reads before one pass of the model it guesses for. A prompt takes
// several such turns, in which nothing is guessed for it: a long one must not hold up others.
const catchUp = 256

// Model guesses with a smaller model that has the same vocabulary (Leviathan et al. 2023). It has its own weights, pages
// and passes; sequences share a pass here too. The engine loop uses it.
type Model struct {
	g         *graph.Graph
	be        backend.Backend
	pool      *kv.Pool
	maxScores int
	batch     backend.Batch
	ops       trace.PassOps
	active    []*Job
}

// Cache is what a draft model keeps of one sequence. The zero value keeps nothing.
type Cache struct {
	ran   []int32 // tokens whose keys and values are in the pages: the sequence's, then guesses
	pages []kv.Page
}

// Job asks for a guess for one sequence.
type Job struct {
	Cache  *Cache
	Tokens []int32
	Want   int                                     // tokens to guess
	Draw   func(logits []float32, ahead int) int32 // takes one from logits that it may change; ahead counts the guesses before it
	Ran    func(ops *trace.PassOps, p trace.Pass)  // nil, or told of each pass that had tokens of this job
	Guess  []int32                                 // what was guessed; empty where the text is not read yet or no page is free
	first  int                                     // position of its tokens in the pass at hand
	n      int                                     // how many they are
	logits bool                                    // a token is drawn after the pass
}

// NewModel opens a draft model's graph. o is for the backend; sequences may be slots.
func NewModel(g *graph.Graph, open backend.Opener, o backend.Options, slots int) (*Model, error) {
	o.MaxTokens, o.MaxOut = max(catchUp, slots), slots
	be, err := open(g, o)
	if err != nil {
		return nil, fmt.Errorf("draft model: %w", err)
	}
	return &Model{g: g, be: be, pool: kv.NewPool(o.Pages), maxScores: o.MaxScores}, nil
}

// Close ends the backend.
func (m *Model) Close() error { return m.be.Close() }

// Drop forgets a sequence.
func (m *Model) Drop(c *Cache) {
	m.pool.Release(c.pages)
	c.pages, c.ran = nil, nil
}

// Pages returns how many pages sequences hold.
func (m *Model) Pages() int { return m.pool.Total() - m.pool.Free() }

// Run guesses for all jobs, one token of each in a pass.
func (m *Model) Run(jobs []*Job) error {
	m.active = m.active[:0]
	for _, j := range jobs {
		if j.Guess = j.Guess[:0]; j.Want > 0 && m.known(j) {
			m.active = append(m.active, j)
		}
	}
	for len(m.active) > 0 {
		m.fill()
		if len(m.batch.Tokens) == 0 {
			return nil
		}
		if err := m.pass(); err != nil {
			return err
		}
		m.draw()
	}
	return nil
}

// known keeps what the cache has of the job's text, and tells whether the draft model can read the rest.
func (m *Model) known(j *Job) bool {
	for _, id := range j.Tokens {
		if int(id) >= m.g.Vocab {
			return false // a row that only the larger model has
		}
	}
	c := j.Cache
	n := 0
	for n < min(len(c.ran), len(j.Tokens)-1) && c.ran[n] == j.Tokens[n] {
		n++
	}
	c.ran = c.ran[:n]
	return len(j.Tokens) > 0
}

// fill lays the next tokens of the active jobs out: what is left of the text, or the last guess.
func (m *Model) fill() {
	b := &m.batch
	b.Tokens, b.Pos, b.Seq, b.Seqs, b.Out = b.Tokens[:0], b.Pos[:0], b.Seq[:0], b.Seqs[:0], b.Out[:0]
	scores, kept := 0, m.active[:0]
	for _, j := range m.active {
		c := j.Cache
		at := len(c.ran)
		all := len(j.Tokens) + len(j.Guess)
		pages, ok := m.pool.Grow(c.pages, all)
		if c.pages = pages; !ok {
			m.Drop(c)
			j.Guess = j.Guess[:0]
			continue
		}
		j.first, j.n = len(b.Tokens), 0
		for at < all && len(b.Tokens) < catchUp {
			if scores += m.g.Attn.Heads * kv.PagesFor(at+1) * kv.PageTokens; scores > m.maxScores {
				break
			}
			id := int32(0)
			if at < len(j.Tokens) {
				id = j.Tokens[at]
			} else {
				id = j.Guess[at-len(j.Tokens)]
			}
			b.Tokens, b.Pos, b.Seq = append(b.Tokens, id), append(b.Pos, int32(at)), append(b.Seq, int32(len(b.Seqs)))
			c.ran = append(c.ran, id)
			at++
			j.n++
		}
		if j.n == 0 {
			continue // no room in this pass: nothing is guessed for it now
		}
		b.Seqs = append(b.Seqs, backend.Seq{Pages: c.pages})
		if j.logits = at == all; j.logits {
			b.Out = append(b.Out, int32(len(b.Tokens)-1))
		}
		kept = append(kept, j)
	}
	m.active = kept
}

// pass runs the batch, with times where a job wants them.
func (m *Model) pass() error {
	traced := false
	for _, j := range m.active {
		traced = traced || j.Ran != nil
	}
	if !traced {
		return m.be.Run(&m.batch, nil)
	}
	p := trace.Pass{Kind: trace.Draft, Batch: len(m.batch.Tokens), Requests: len(m.active), Start: trace.Now()}
	if err := m.be.Run(&m.batch, &m.ops); err != nil {
		return err
	}
	shape := m.batch.Shape(m.be.KV(), m.g.Window)
	for i, n := range m.g.Nodes {
		w := n.Work(m.g, shape)
		m.ops.Ops[i].Bytes, m.ops.Ops[i].Flops = w.Bytes, w.Flops
	}
	last := m.ops.Ops[len(m.ops.Ops)-1]
	p.Dur = last.Start + last.Dur - p.Start
	for _, j := range m.active {
		if j.Ran != nil {
			p.Tokens = j.n
			j.Ran(&m.ops, p)
		}
	}
	return nil
}

// draw takes a token for each job whose text is read; jobs that have what they want, or whose text is not read yet, are
// done.
func (m *Model) draw() {
	row, kept := 0, m.active[:0]
	for _, j := range m.active {
		if !j.logits {
			continue
		}
		j.Guess = append(j.Guess, j.Draw(m.be.Logits(row), len(j.Guess)))
		row++
		if len(j.Guess) < j.Want {
			kept = append(kept, j)
		}
	}
	m.active = kept
}

// SameVocabulary tells what keeps a draft model's tokens from being those of the model it guesses for; nil if nothing does.
func SameVocabulary(target, draft *token.Tokenizer) error {
	if target.Size() != draft.Size() {
		return fmt.Errorf("wanted the same vocabulary, of %d tokens, found one of %d: choose a smaller model of the same family", target.Size(), draft.Size())
	}
	for id := range target.Size() {
		if a, b := target.Text(id), draft.Text(id); a != b {
			return fmt.Errorf("wanted the same vocabulary, found that token %d is %q there and %q here: choose a smaller model of the same family", id, a, b)
		}
	}
	return nil
}
