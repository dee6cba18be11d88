package capture

import (
	"fmt"
	"strings"

	"glassbox/engine/graph"
	"glassbox/trace"
)

// Limit is how much memory a request's captures may take unless the engine is told otherwise.
const Limit = 256 << 20

// SizeError is a request whose captures would take too much memory.
type SizeError struct {
	Bytes, Limit   int64
	Kinds          []KindSize // the largest first
	Prompt, Answer int        // tokens
	Fits           int        // most tokens of an answer with which the captures fit; 0: none
}

// KindSize is the part of one kind of capture.
type KindSize struct {
	Kind  string
	Bytes int64
}

func (e *SizeError) Error() string {
	var kinds []string
	for _, k := range e.Kinds {
		kinds = append(kinds, fmt.Sprintf("%s %s", k.Kind, megabytes(k.Bytes)))
	}
	remedy := "use a shorter prompt"
	if e.Fits > 0 {
		remedy = fmt.Sprintf("set max_tokens to %d or less", e.Fits)
	}
	return fmt.Sprintf("capture: a prompt of %d tokens and an answer of up to %d would take %s (%s), wanted at most %s: %s, or leave out %s",
		e.Prompt, e.Answer, megabytes(e.Bytes), strings.Join(kinds, ", "), megabytes(e.Limit), remedy, e.Kinds[0].Kind)
}

// megabytes words a size.
func megabytes(n int64) string {
	if n < 10_000_000 {
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%d MB", n/1_000_000)
}

// checkSize refuses captures of more than limit bytes.
func checkSize(g *graph.Graph, spec trace.CaptureSpec, prompt, answer int, limit int64) error {
	e := &SizeError{Limit: limit, Prompt: prompt, Answer: answer, Kinds: sizes(g, spec, prompt, answer)}
	e.Bytes = total(e.Kinds)
	if e.Bytes <= limit {
		return nil
	}
	low, high := 0, answer // low fits (or is 0), high does not
	for high-low > 1 {
		mid := (low + high) / 2
		if total(sizes(g, spec, prompt, mid)) <= limit {
			low = mid
		} else {
			high = mid
		}
	}
	e.Fits = low
	for i := range e.Kinds {
		for j := i; j > 0 && e.Kinds[j].Bytes > e.Kinds[j-1].Bytes; j-- {
			e.Kinds[j], e.Kinds[j-1] = e.Kinds[j-1], e.Kinds[j]
		}
	}
	return e
}

func total(kinds []KindSize) (n int64) {
	for _, k := range kinds {
		n += k.Bytes
	}
	return n
}

// Size returns the bytes that captures of a prompt and an answer take: the arrays, and for the lens the rows that are kept
// until the answer is over. Positions are those that go through the model: the answer's last token does not.
func Size(g *graph.Graph, spec trace.CaptureSpec, prompt, answer int) int64 {
	return total(sizes(g, spec, prompt, answer))
}

func sizes(g *graph.Graph, spec trace.CaptureSpec, prompt, answer int) []KindSize {
	n, a := float64(prompt+answer-1), float64(answer)
	layers, heads, vocab := float64(g.Layers), float64(g.Attn.Heads), float64(g.Vocab)
	var out []KindSize
	add := func(on bool, kind string, floats float64) {
		if on {
			out = append(out, KindSize{kind, int64(min(4*floats, 1<<60))})
		}
	}
	add(spec.Attention, "attention", layers*heads*n*n)
	width, parts := 0.0, 0.0
	for _, node := range g.Nodes {
		if node.Op == trace.OpEmbed {
			width = float64(g.Bufs[node.Out].Width)
		}
	}
	p := newParts(g, int(width))
	parts = float64(p.floats())
	add(spec.Lens, "lens", 2*layers*n*(width+2*lensRanks+2)+a*(parts+(2+lensRanks)*(1+layers*(heads+1))))
	add(spec.Values, "values", tapeFloats(g, n))
	add(spec.Logits, "logits", vocab)
	return out
}

// tapeFloats returns the floats of all vectors in and out of ops, for a position with n keys.
func tapeFloats(g *graph.Graph, n float64) (sum float64) {
	row := func(b graph.Buf) {
		if b == graph.NoBuf {
			return
		}
		w := float64(g.Bufs[b].Width)
		if g.Bufs[b].Kind == graph.PerKey {
			w *= n
		}
		sum += w
	}
	for _, node := range g.Nodes {
		row(node.A)
		row(node.B)
		row(node.Out)
	}
	return sum
}
