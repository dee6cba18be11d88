//go:build !race

// The reference backend computes some 10^11 products here, which the race detector would slow down twentyfold; the
// same paths run under it on tiny models.

package capture_test

import (
	"math"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine"
	"glassbox/engine/backend"
	"glassbox/engine/backend/backendtest"
	"glassbox/engine/backend/ref"
	"glassbox/engine/capture"
	"glassbox/engine/golden"
	"glassbox/engine/graph"
	"glassbox/engine/testmodel"
	"glassbox/trace"
)

// reference opens the built-in model on a backend, beside what the reference library says of it.
func reference(t *testing.T, backend string) (*engine.Engine, *golden.Set, *golden.Captures) {
	set, err := golden.Load()
	require.NoError(t, err)
	c, err := set.LoadCaptures()
	require.NoError(t, err)
	return open(t, testmodel.File(t), engine.Options{Backend: backend, Context: 512, Captures: 1 << 30}), set, c
}

// weight is a weight of attention: how far it is from the reference, and how many weights of its prompt it stands for.
type weight struct{ d, stands float64 }

// distances are how far captures are from the reference.
type distances struct {
	weights     []weight
	signed      float64 // largest, of the signed sums of rows
	sums        float64 // largest distance of a row's sum from 1
	cells, same int     // of the lens; with the same leading word
	apart       int     // with another one, though the reference's leads by 0.05 or more
	logprob     float64 // largest, of the leading word where it is the same
}

// percentile is over all weights below the diagonal, of which some are kept as a sample.
func (d *distances) percentile(p float64) float64 {
	sort.Slice(d.weights, func(i, j int) bool { return d.weights[i].d < d.weights[j].d })
	total, sum := 0.0, 0.0
	for _, w := range d.weights {
		total += w.stands
	}
	for _, w := range d.weights {
		if sum += w.stands; sum >= p*total {
			return w.d
		}
	}
	return d.weights[len(d.weights)-1].d
}

// attention holds a prompt's maps, n x n for each head, against the reference's.
func (d *distances) attention(t *testing.T, att []float32, heads, n int, p *golden.Captured) {
	kept := 0
	for _, row := range p.Attention {
		kept += len(row)
	}
	stands := float64(len(p.Signed)/n*n*(n+1)/2) / float64(kept)
	for i, want := range p.Attention {
		m, q := p.Maps[i/len(p.Rows)], p.Rows[i%len(p.Rows)]
		for k, v := range att[((m[0]*heads+m[1])*n+q)*n:][:q+1] {
			d.weights = append(d.weights, weight{math.Abs(float64(v) - float64(want[k])), stands})
		}
	}
	for i, want := range p.Signed {
		signed, sum := 0.0, 0.0
		for k, v := range att[i*n : (i+1)*n] {
			if k > i%n {
				require.Zero(t, v, "a key after the query")
			}
			sum += float64(v)
			signed += golden.Sign(k) * float64(v)
		}
		d.signed = max(d.signed, math.Abs(signed-float64(want)))
		d.sums = max(d.sums, math.Abs(sum-1))
	}
}

// cell holds a cell of the lens against the reference's: leading word and log-probability.
func (d *distances) cell(id int32, lp float32, want golden.Lens, i int) {
	d.cells++
	switch {
	case id == want.IDs[i][0]:
		d.same++
		d.logprob = max(d.logprob, math.Abs(float64(lp)-float64(want.Logprobs[i][0])))
	case want.Logprobs[i][0]-want.Logprobs[i][1] >= 0.05:
		d.apart++
	}
}

// lens holds all cells of a prompt.
func (d *distances) lens(t *testing.T, a *answer, layers, n int, p *golden.Captured) {
	for name, want := range map[string]golden.Lens{"lens": p.Lens, "lens_mid": p.Mid} {
		ids, lps := a.i4(t, name+"_ids", layers, n, 5), a.f4(t, name+"_logprob", layers, n, 5)
		for i := range want.IDs {
			d.cell(ids[5*i], lps[5*i], want, i)
		}
	}
}

// within prints how far a prompt's captures are from the reference, and holds them to bounds: of attention's weights at
// most and at their 99.9th percentile, of the signed sums of rows, and the share of cells with the same leading word.
func (d *distances) within(t *testing.T, backend, prompt string, most, most999, signed, same float64) {
	t.Logf("%s, %s: attention |Δ| at most %.2e, 99.9th percentile %.2e (%d weights); signed sums of all rows %.2e; rows sum to 1 within %.1e; lens: the same word in %d of %d cells, another one despite a margin of 0.05 in %d, |Δlogprob| at most %.2e",
		backend, prompt, d.percentile(1), d.percentile(0.999), len(d.weights), d.signed, d.sums, d.same, d.cells, d.apart, d.logprob)
	require.LessOrEqual(t, d.percentile(1), most, prompt)
	require.LessOrEqual(t, d.percentile(0.999), most999, prompt)
	require.LessOrEqual(t, d.signed, signed, prompt)
	require.LessOrEqual(t, d.sums, 1e-5, prompt)
	require.Positive(t, d.cells, prompt)
	require.GreaterOrEqual(t, float64(d.same), same*float64(d.cells), prompt)
	require.Zero(t, d.apart, prompt)
}

// everyCell is one in how many cells of the lens the reference backend is asked for on the two longer prompts: all of
// them would take it minutes. They are spread over all layers and positions.
const everyCell = 97

func TestCapturesOfTheReferenceBackendAreTheReferenceLibrarys(t *testing.T) {
	e, set, c := reference(t, "ref")
	require.Len(t, c.Prompts, 3)
	for i, p := range c.Prompts {
		var d distances
		ids := set.Prompt(p.Name).PromptIDs
		if i == 0 {
			n := len(ids)
			a := ask(t, e, request(wide(ids), 1, trace.CaptureSpec{Attention: true, Lens: true}, capture.Ablation{}))
			require.NoError(t, a.err)
			d.attention(t, a.f4(t, "attention", set.Model.Layers, c.Heads, n, n), c.Heads, n, p)
			d.lens(t, a, set.Model.Layers, n, p)
			require.LessOrEqual(t, writers(t, a, set, c), 1e-4)
			addUp(t, a, 1, 1e-3, absolute, "the built-in model on ref")
		} else {
			d.sampled(t, ids, c.Heads, p)
		}
		d.within(t, "ref", p.Name, 1e-4, 1e-5, 1e-4, 0.99)
		require.LessOrEqual(t, d.logprob, 1e-3)
	}
}

// sampled runs a prompt on the reference backend itself, with the session's view of attention and some cells of the lens.
func (d *distances) sampled(t *testing.T, ids []int32, heads int, p *golden.Captured) {
	n := len(ids)
	m := testmodel.Builtin(t)
	be, err := ref.Open(m.Graph, backend.Options{MaxTokens: n, MaxOut: 32, MaxScores: 16 << 20, Pages: 64})
	require.NoError(t, err)
	s, err := capture.New(m.Graph, trace.CaptureSpec{Attention: true}, capture.Ablation{}, n, 1, 1<<30)
	require.NoError(t, err)
	type cell struct {
		want golden.Lens
		i    int
	}
	var cells []cell
	var rows [][]float32
	b := backendtest.Batch(backendtest.Part{Seq: backendtest.Pages(0, n), IDs: ids})
	b.Tap = func(node *graph.Node, row func(graph.Buf, int) []float32) {
		s.Node(node, row, capture.Rows{N: n})
		half := map[trace.OpID]golden.Lens{trace.OpAttnResidual: p.Mid, trace.OpFFNResidual: p.Lens}
		want, ok := half[node.Op]
		for pos := 0; ok && pos < n; pos++ {
			if i := node.Layer*n + pos; (i+int(node.Op))%everyCell == 0 {
				cells, rows = append(cells, cell{want, i}), append(rows, slices.Clone(row(node.Out, pos)))
			}
		}
	}
	require.NoError(t, be.Run(b, nil))
	d.attention(t, s.Arrays(nil)[0].Data.([]float32), heads, n, p)
	require.Greater(t, len(rows), 50)
	require.NoError(t, be.Head(rows, func(i int, logits []float32) {
		best, sum := 0, 0.0
		for id, v := range logits {
			if v > logits[best] {
				best = id
			}
			sum += math.Exp(float64(v))
		}
		d.cell(int32(best), float32(float64(logits[best])-math.Log(sum)), cells[i].want, cells[i].i)
	}))
}

func TestCapturesOfTheCPUBackendAreNearTheReferenceLibrarys(t *testing.T) {
	e, set, c := reference(t, "cpu")
	for _, p := range c.Prompts {
		var d distances
		n := len(set.Prompt(p.Name).PromptIDs)
		a := ask(t, e, request(wide(set.Prompt(p.Name).PromptIDs), 1, trace.CaptureSpec{Attention: true, Lens: true}, capture.Ablation{}))
		require.NoError(t, a.err)
		d.attention(t, a.f4(t, "attention", set.Model.Layers, c.Heads, n, n), c.Heads, n, p)
		d.lens(t, a, set.Model.Layers, n, p)
		d.within(t, "cpu", p.Name, 0.01, 0.002, 0.02, 0.998)
		require.LessOrEqual(t, d.logprob, 0.05)
		if p.Name == "sky" {
			require.LessOrEqual(t, writers(t, a, set, c), 0.02)
			addUp(t, a, 1, 0.01, share, "the built-in model on cpu")
		}
	}
}

// writers returns how far each head's and each feed-forward's share of a word's logit is from the reference, at most.
func writers(t *testing.T, a *answer, set *golden.Set, c *golden.Captures) (worst float64) {
	n := 1 + set.Model.Layers*(c.Heads+1)
	require.Equal(t, c.Words[:], a.i4(t, "attr_ids", 2, 1))
	for i, name := range []string{"attr", "attr_second"} {
		got := a.f4(t, name, n, 1)
		for j, want := range c.Writers[i] {
			worst = max(worst, math.Abs(float64(got[j])-float64(want)))
		}
	}
	t.Logf("who wrote a word: within %.2e of the reference, of logits of %.3f and %.3f", worst, c.LogitFirst, c.LogitSecond)
	return worst
}

// Without a part the model says what the reference says without it.
func TestPartsThatAreSwitchedOffAreSoInTheReferenceLibrary(t *testing.T) {
	e, set, c := reference(t, "ref")
	ids := wide(set.Prompt("sky").PromptIDs)
	clean := ask(t, e, request(ids, 1, trace.CaptureSpec{Logits: true}, capture.Ablation{})).f4(t, "logits", set.Model.Vocab)
	for i, part := range c.Ablate {
		got := ask(t, e, request(ids, 1, trace.CaptureSpec{Logits: true}, off(t, e, part))).f4(t, "logits", set.Model.Vocab)
		worst, moved := 0.0, 0.0
		for j, id := range set.FixedIDs {
			worst = max(worst, math.Abs(float64(got[id])-float64(c.Without[i][j])))
			moved = max(moved, math.Abs(float64(got[id])-float64(clean[id])))
		}
		t.Logf("%s: within %.2e of the reference, %.2f from the whole model", part, worst, moved)
		require.LessOrEqual(t, worst, 1e-3, part)
		require.Greater(t, moved, 100*worst, part)
	}
}
