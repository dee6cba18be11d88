// Package capture copies values out of a request's passes, where the ops ran: attention maps, the rows from which the
// logit lens is made, the vectors in and out of every op, the logits of the first token. It also switches parts of the
// model off for a request, and works out who wrote a word.
//
// A Session is one request's. The runner calls Begin and Node while a pass runs; the loop calls First, then, when the
// answer is over, Project until it is done; Arrays needs the backend no more.
//
// It does not know about backends, scheduling or files.
package capture

import (
	"glassbox/engine/graph"
	"glassbox/trace"
)

// Rows says where a request's tokens are in a batch: rows First to First+N-1 are its positions From to From+N-1. Out is
// the row of its logits, -1 where none are wanted.
type Rows struct{ First, From, N, Out int }

// Session is what is captured and switched off for one request. It is used by one goroutine at a time.
type Session struct {
	g         *graph.Graph
	edit      *editor // nil: nothing is switched off
	attention *attention
	lens      *lens
	tape      *tape
	logits    []float32 // of the first output token
	wants     trace.CaptureSpec
	prompt    int
	buf       [][]float32 // logits of the rows at hand in Project
}

// New returns the session of a request whose prompt has the given number of tokens and whose answer at most as many as
// answer says; nil when there is nothing to do for it. It refuses with *SizeError what would take more than limit bytes.
func New(g *graph.Graph, spec trace.CaptureSpec, off Ablation, prompt, answer int, limit int64) (*Session, error) {
	if !spec.Any() && !off.Any() {
		return nil, nil
	}
	if err := checkSize(g, spec, prompt, answer, limit); err != nil {
		return nil, err
	}
	s := &Session{g: g, wants: spec, prompt: prompt}
	if off.Any() {
		s.edit = newEditor(g, off, prompt)
	}
	if spec.Attention {
		s.attention = &attention{layers: g.Layers, heads: g.Attn.Heads}
	}
	if spec.Lens {
		s.lens = newLens(g, s.edit, prompt)
	}
	if spec.Values {
		s.tape = &tape{}
	}
	return s, nil
}

// Measuring tells whether the prompt is still run for the means of switched off parts, with all parts on.
func (s *Session) Measuring() bool { return s.edit != nil && s.edit.measuring }

// Measured ends the measuring: the prompt is to run again, from its first token on.
func (s *Session) Measured() { s.edit.measured() }

// Begin says that a pass of a kind is about to run; index counts the passes of the request.
func (s *Session) Begin(kind trace.PassKind, index int, at Rows) {
	if s.tape != nil && !s.Measuring() {
		s.tape.begin(kind, index, at)
	}
}

// Node looks at the request's rows after a node has run, and changes those of parts that are switched off. row is what
// backend.Batch.Tap is given.
func (s *Session) Node(n *graph.Node, row func(graph.Buf, int) []float32, at Rows) {
	if s.edit != nil {
		s.edit.node(n, row, at)
		if s.edit.measuring {
			return
		}
	}
	if s.attention != nil && n.Op == trace.OpSoftmax {
		s.attention.node(n, row, at)
	}
	if s.lens != nil {
		s.lens.node(n, row, at)
	}
	if s.tape != nil && s.tape.on {
		s.tape.node(s.g, n, row, at)
	}
}

// First takes a copy of the first output token's logits, before they are changed by sampling. Later calls do nothing.
func (s *Session) First(logits []float32) {
	if s.wants.Logits && s.logits == nil {
		s.logits = append([]float32{}, logits...)
	}
}

// Captures tells whether there will be arrays.
func (s *Session) Captures() bool { return s.wants.Any() }

// Arrays returns what was captured. answer are the ids of the answer's tokens, the same that Project was given. It takes
// its time: call it where nobody waits. The session is empty afterwards.
func (s *Session) Arrays(answer []int32) []trace.Array {
	var out []trace.Array
	if s.attention != nil {
		out = append(out, s.attention.array())
	}
	if s.lens != nil {
		out = append(out, s.lens.arrays()...)
		out = append(out, s.lens.writers(answer)...)
	}
	if s.logits != nil {
		out = append(out, trace.Array{Name: "logits", Shape: []int{len(s.logits)}, Axes: []string{"vocab"}, Data: s.logits,
			Meaning: "the model's logits for the first output token, before sampling"})
	}
	if s.tape != nil {
		out = append(out, s.tape.arrays(s.g)...)
	}
	s.attention, s.lens, s.tape, s.logits = nil, nil, nil, nil
	return out
}

// attention holds the softmax rows of every head.
type attention struct {
	layers, heads int
	rows          [][]float32 // by position p: layer x head x p+1 weights
}

// node copies one layer's rows.
func (a *attention) node(n *graph.Node, row func(graph.Buf, int) []float32, at Rows) {
	for i := range at.N {
		pos := at.From + i
		a.rows = grow(a.rows, pos, a.layers*a.heads*(pos+1))
		for h := range a.heads {
			copy(a.rows[pos][(n.Layer*a.heads+h)*(pos+1):], row(n.Out, (at.First+i)*a.heads+h))
		}
	}
}

// array lays the rows out as a square for each head, zero above the diagonal.
func (a *attention) array() trace.Array {
	n := len(a.rows)
	data := make([]float32, a.layers*a.heads*n*n)
	for q, row := range a.rows {
		for m := range a.layers * a.heads {
			copy(data[(m*n+q)*n:], row[m*(q+1):(m+1)*(q+1)])
		}
		a.rows[q] = nil
	}
	return trace.Array{Name: "attention", Shape: []int{a.layers, a.heads, n, n}, Axes: []string{"layer", "head", "query", "key"}, Data: data,
		Meaning: "softmax rows of every head for the prompt and the answer's tokens that were read; each row sums to 1 within 1e-4, keys after the query are 0"}
}

// grow makes room for a row of n floats at a position.
func grow(rows [][]float32, pos, n int) [][]float32 {
	for len(rows) <= pos {
		rows = append(rows, nil)
	}
	if rows[pos] == nil {
		rows[pos] = make([]float32, n)
	}
	return rows
}
