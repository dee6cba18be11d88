package capture

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"glassbox/engine/graph"
	"glassbox/trace"
)

const (
	lensRanks  = 5  // words kept of each row
	closeWords = 10 // words of the close-up
	closeRows  = 5  // before the last layer but one, and after attention and after feed-forward of the last two
)

// HeadFunc is backend.Backend.Head.
type HeadFunc func(x [][]float32, out func(i int, logits []float32)) error

// lens keeps the residual stream while passes run, and afterwards reads it with the model's own last norm and head (the
// logit lens: nostalgebraist 2020). Each row is normed for itself.
type lens struct {
	g             *graph.Graph
	prompt        int
	layers, width int
	vocab, ranks  int
	rows          [][]float32 // by position: 2*layers rows: row 2i after attention of layer i, row 2i+1 after its feed-forward
	parts         parts
	replaced      []bool // by layer: all of attention's branch is replaced, the heads do not reach the stream
	rest          []bool // by layer: attention's branch is more than its heads: it is replaced, or has a bias

	next   int // rows projected so far, in the order of at
	read   []reading
	words  []int32   // of the close-ups: output token x word
	close  []float32 // output token x stage x word
	chosen []float32 // logits of the answer's tokens
	tops   []int32   // of each output token, the leading words: output token x rank
	topsAt []float32 // their logits
}

// reading is what a row of the stream says.
type reading struct {
	ids      []int32 // best first
	logprobs []float32
	entropy  float32 // nats
	rank     int32   // of the final answer of the position, 1 = it leads
}

func newLens(g *graph.Graph, e *editor, prompt int) *lens {
	l := &lens{g: g, prompt: prompt, layers: g.Layers, vocab: g.Vocab, replaced: make([]bool, g.Layers), rest: make([]bool, g.Layers)}
	l.ranks = min(lensRanks, l.vocab)
	for _, n := range g.Nodes {
		if n.Op == trace.OpEmbed {
			l.width = g.Bufs[n.Out].Width
		}
		if n.Op == trace.OpAttnOut {
			l.replaced[n.Layer] = e.branch(g, branchOf(g, n.Layer, trace.OpAttnResidual))
			l.rest[n.Layer] = n.Bias != nil || l.replaced[n.Layer]
		}
	}
	l.parts = newParts(g, l.width)
	return l
}

// node copies rows of the stream, and what was written to it at positions that a token was drawn from.
func (l *lens) node(n *graph.Node, row func(graph.Buf, int) []float32, at Rows) {
	k := -1
	switch n.Op {
	case trace.OpAttnResidual:
		k = 2 * n.Layer
	case trace.OpFFNResidual:
		k = 2*n.Layer + 1
	case trace.OpEmbed, trace.OpMix, trace.OpAttnOut, trace.OpAttnPostNorm, trace.OpDown, trace.OpFFNPostNorm:
		for i := max(0, l.prompt-1-at.From); i < at.N; i++ {
			l.parts.put(n, at.From+i-(l.prompt-1), row(n.Out, at.First+i), l.replaced)
		}
		return
	default:
		return
	}
	for i := range at.N {
		pos := at.From + i
		l.rows = grow(l.rows, pos, 2*l.layers*l.width)
		copy(l.stream(k, pos), row(n.Out, at.First+i))
	}
}

// stream returns row k of a position.
func (l *lens) stream(k, pos int) []float32 { return l.rows[pos][k*l.width : (k+1)*l.width] }

// drawn returns at how many positions a token was drawn.
func (l *lens) drawn() int { return max(0, len(l.rows)-(l.prompt-1)) }

// count returns how many rows are to be projected; when there are two layers, the first rows of the close-ups are none of
// the lens.
func (l *lens) count() int {
	n := 2 * l.layers * len(l.rows)
	if l.layers == 2 {
		n += l.drawn()
	}
	return n
}

// at returns the i-th row to project: first the last rows of all positions, which say what the final answer is. k is -1
// for the embedding of a close-up's position.
func (l *lens) at(i int) (k, pos int, x []float32) {
	n := len(l.rows)
	switch {
	case i < n:
		k, pos = 2*l.layers-1, i
	case i < 2*l.layers*n:
		k, pos = i/n-1, i%n
	default:
		t := i - 2*l.layers*n
		return -1, l.prompt - 1 + t, l.parts.embed(t)
	}
	return k, pos, l.stream(k, pos)
}

// Project takes up to n more rows of the lens through the head, and tells whether all are done. answer are the ids of the
// answer's tokens, the same each time.
func (s *Session) Project(head HeadFunc, answer []int32, n int) (done bool, err error) {
	l := s.lens
	if l == nil {
		return true, nil
	}
	if l.read == nil {
		l.begin(answer)
	}
	last := l.count()
	if l.next < len(l.rows) {
		last = len(l.rows) // the others are read against these
	}
	n = min(n, last-l.next)
	x := make([][]float32, n)
	for i := range x {
		_, _, x[i] = l.at(l.next + i)
	}
	for len(s.buf) < n {
		s.buf = append(s.buf, make([]float32, l.vocab))
	}
	if err := head(x, func(i int, logits []float32) { copy(s.buf[i], logits) }); err != nil {
		return false, err
	}
	parallel(n, func(i int) { l.look(l.next+i, s.buf[i], answer) })
	l.next += n
	if l.next < l.count() {
		return false, nil
	}
	s.buf = nil
	return true, nil
}

// begin makes room for what the rows say.
func (l *lens) begin(answer []int32) {
	l.read = make([]reading, 2*l.layers*len(l.rows))
	l.chosen, l.tops, l.topsAt = make([]float32, len(answer)), make([]int32, len(answer)*l.ranks), make([]float32, len(answer)*l.ranks)
	if l.layers >= 2 {
		l.words = make([]int32, len(answer)*l.closeWords())
		l.close = make([]float32, len(answer)*closeRows*l.closeWords())
	}
}

// look reads the logits of the i-th row.
func (l *lens) look(i int, logits []float32, answer []int32) {
	k, pos, _ := l.at(i)
	final, t := k == 2*l.layers-1, pos-(l.prompt-1)
	if k >= 0 {
		r := reading{}
		r.ids = leaders(logits, l.ranks)
		said := r.ids[0]
		if !final {
			said = l.read[(2*l.layers-1)*len(l.rows)+pos].ids[0]
		}
		r.logprobs, r.entropy, r.rank = measure(logits, r.ids, said, final)
		l.read[k*len(l.rows)+pos] = r
	}
	if t < 0 || t >= len(answer) {
		return
	}
	if final {
		l.verdict(t, logits, answer[t])
	}
	if l.close != nil {
		l.closeUp(t, k, logits)
	}
}

// verdict keeps the logit of the word that was said, and the leading words.
func (l *lens) verdict(t int, logits []float32, said int32) {
	l.chosen[t] = logits[said]
	copy(l.tops[t*l.ranks:], leaders(logits, l.ranks))
	for r, id := range l.leading(t) {
		l.topsAt[t*l.ranks+r] = logits[id]
	}
}

// leading returns the leading words of an output token, best first.
func (l *lens) leading(t int) []int32 { return l.tops[t*l.ranks : (t+1)*l.ranks] }

func (l *lens) closeWords() int { return min(closeWords, l.vocab) }

// closeUp keeps the logits of the words that lead at output token t after row k of its position.
func (l *lens) closeUp(t, k int, logits []float32) {
	n, stage := l.closeWords(), k-(2*l.layers-closeRows)
	words := l.words[t*n : (t+1)*n]
	if k == 2*l.layers-1 {
		copy(words, leaders(logits, n))
	}
	if stage < 0 {
		return
	}
	for j, id := range words {
		l.close[(t*closeRows+stage)*n+j] = logits[id]
	}
}

// leaders returns the n best ids, best first; of equal ones the lower id comes first.
func leaders(logits []float32, n int) []int32 {
	ids := make([]int32, 0, n+1)
	for i, v := range logits {
		if len(ids) == n && v <= logits[ids[n-1]] {
			continue
		}
		at := len(ids)
		for at > 0 && v > logits[ids[at-1]] {
			at--
		}
		ids = slices.Insert(ids, at, int32(i))
		ids = ids[:min(len(ids), n)]
	}
	return ids
}

// measure returns the log-probabilities of ids, the entropy in nats, and the rank of a word, 1 for the best. Exact ones
// are computed as those of the answer's own tokens are, to the same bits.
func measure(logits []float32, ids []int32, word int32, exact bool) (logprobs []float32, entropy float32, rank int32) {
	most, own := logits[ids[0]], logits[word]
	rank = 1
	for i, v := range logits {
		if v >= own && (v > own || int32(i) < word) {
			rank++
		}
	}
	sum, weighted := 0.0, 0.0
	if exact {
		for _, v := range logits {
			d := float64(v - most)
			e := math.Exp(d)
			sum += e
			if e > 0 { // not 0 times -Inf
				weighted += e * d
			}
		}
	} else {
		sum, weighted = sums(logits, most)
	}
	lse := float64(most) + math.Log(sum)
	logprobs = make([]float32, len(ids))
	for j, id := range ids {
		logprobs[j] = float32(float64(logits[id]) - lse)
	}
	return logprobs, float32(math.Log(sum) - weighted/sum), rank
}

// sums returns the sum of exp(v-most) and of exp(v-most)*(v-most), each term to nine digits: 2^n times a polynomial of
// degree 8, in a third of the time of math.Exp. The lens reads the whole vocabulary a few thousand times.
func sums(logits []float32, most float32) (sum, weighted float64) {
	const round = 3 << 51 // adding it leaves the nearest whole number in the low bits (Hecker 1996)
	for _, v := range logits {
		d := float64(v - most)
		if d < -700 {
			continue
		}
		y := d * math.Log2E
		t := y + round
		f := y - (t - round)
		p := 1 + f*(0.6931471805599453+f*(0.24022650695910072+f*(0.05550410866482158+f*(0.009618129107628477+
			f*(0.0013333558146428443+f*(0.00015403530393381608+f*(1.5252733804059841e-05+f*1.3215486790144307e-06)))))))
		e := math.Float64frombits(math.Float64bits(p) + math.Float64bits(t)<<52)
		sum += e
		weighted += e * d
	}
	return sum, weighted
}

// arrays returns what the rows say.
func (l *lens) arrays() []trace.Array {
	n := len(l.rows)
	row := []string{"layer", "position"}
	var out []trace.Array
	for half, name := range []string{"lens_mid", "lens"} {
		ids, lps := make([]int32, 0, l.layers*n*l.ranks), make([]float32, 0, l.layers*n*l.ranks)
		entropy, rank := make([]float32, 0, l.layers*n), make([]int32, 0, l.layers*n)
		for i := range l.layers {
			for _, r := range l.read[(2*i+half)*n : (2*i+half+1)*n] {
				ids, lps = append(ids, r.ids...), append(lps, r.logprobs...)
				entropy, rank = append(entropy, r.entropy), append(rank, r.rank)
			}
		}
		where := [...]string{"the residual after attention and before feed-forward of each layer", "the residual after each block; the last row is the model's real output"}[half]
		deep, ranked := []int{l.layers, n, l.ranks}, append(slices.Clone(row), "rank")
		out = append(out,
			trace.Array{Name: name + "_ids", Shape: deep, Axes: ranked, Data: ids, Meaning: "leading words of " + where + ", normed for itself by the last norm, then the head"},
			trace.Array{Name: name + "_logprob", Shape: deep, Axes: ranked, Data: lps, Meaning: "log-probabilities of " + name + "_ids"},
			trace.Array{Name: name + "_entropy", Shape: deep[:2], Axes: row, Data: entropy, Meaning: "entropy in nats of the words of " + where},
			trace.Array{Name: name + "_rank", Shape: deep[:2], Axes: row, Data: rank, Meaning: "rank of the position's final answer among the words of " + where + "; 1 = it leads"})
	}
	if len(l.close) > 0 {
		words := l.closeWords()
		answer := len(l.words) / words
		out = append(out,
			trace.Array{Name: "lens_close_ids", Shape: []int{answer, words}, Axes: []string{"output_token", "word"}, Data: l.words, Meaning: "the leading words of each output token"},
			trace.Array{Name: "lens_close", Shape: []int{answer, closeRows, words}, Axes: []string{"output_token", "stage", "word"}, Data: l.close,
				Names:   l.stages(),
				Meaning: "logits of lens_close_ids from the residual before the last layer but one, then after attention and after feed-forward of the last two layers"})
	}
	return out
}

// stages names the rows of the close-up.
func (l *lens) stages() []string {
	a, b := Part{Layer: l.layers - 2, Kind: Layer}.String(), Part{Layer: l.layers - 1, Kind: Layer}.String()
	return []string{"before " + a, a + ".attn", a + ".ffn", b + ".attn", b + ".ffn"}
}

// parallel calls f for every i below n, on all processors. A panic of f is one of the caller.
func parallel(n int, f func(i int)) {
	var next atomic.Int64
	var broke atomic.Value
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() {
				if p := recover(); p != nil {
					broke.Store(fmt.Sprint(p))
				}
			}()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		}()
	}
	wg.Wait()
	if p := broke.Load(); p != nil {
		panic(p)
	}
}
