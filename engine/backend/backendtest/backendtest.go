// Package backendtest holds what every backend must pass: the distance to reference logits, and that a token's logits do
// not depend on what else is in the batch.
//
// It does not know about any one backend, and only tests import it.
package backendtest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/backend"
	"glassbox/engine/golden"
	"glassbox/engine/graph"
	"glassbox/engine/kv"
	"glassbox/engine/model"
	"glassbox/engine/testmodel"
	"glassbox/trace"
)

// Part is a run of tokens of one sequence in a batch: ids at positions From and following.
type Part struct {
	Seq  backend.Seq
	From int
	IDs  []int32
	All  bool // logits of all tokens are wanted, else of the last
}

// Batch lays parts out as a batch.
func Batch(parts ...Part) *backend.Batch {
	b := &backend.Batch{}
	for i, p := range parts {
		b.Seqs = append(b.Seqs, p.Seq)
		for j, id := range p.IDs {
			if p.All || j == len(p.IDs)-1 {
				b.Out = append(b.Out, int32(len(b.Tokens)))
			}
			b.Tokens, b.Pos, b.Seq = append(b.Tokens, id), append(b.Pos, int32(p.From+j)), append(b.Seq, int32(i))
		}
	}
	return b
}

// Pages returns a page table of n positions, from page first on; the numbers run down so that order matters.
func Pages(first, n int) backend.Seq {
	var s backend.Seq
	for i := kv.PagesFor(n) - 1; i >= 0; i-- {
		s.Pages = append(s.Pages, kv.Page(first+i))
	}
	return s
}

// Golden runs every prompt of the golden data with its answer forced, and returns the distances at all prompt positions
// and along all answers.
func Golden(t *testing.T, open backend.Opener, o backend.Options) (prompts, answers golden.Tally) {
	set, err := golden.Load()
	require.NoError(t, err)
	m := testmodel.Builtin(t)
	o.MaxTokens, o.MaxOut, o.MaxScores, o.Pages = 512, 512, 16<<20, 64
	be, err := open(m.Graph, o)
	require.NoError(t, err)
	defer func() { require.NoError(t, be.Close()) }()
	for _, p := range set.Prompts {
		ids := p.Forced()
		require.NoError(t, be.Run(Batch(Part{Seq: Pages(0, len(ids)), IDs: ids, All: true}), nil))
		for i, row := range p.Positions {
			d, err := set.Compare(&row, be.Logits(i))
			require.NoError(t, err)
			prompts.Add(fmt.Sprintf("%s[%d]", p.Name, i), &row, d)
		}
		for k, row := range p.Answers {
			d, err := set.Compare(&row, be.Logits(len(p.PromptIDs)-1+k))
			require.NoError(t, err)
			answers.Add(fmt.Sprintf("%s answer[%d]", p.Name, k), &row, d)
		}
	}
	require.Greater(t, prompts.Positions, 300)
	require.Equal(t, 64*8, answers.Positions)
	return prompts, answers
}

// Residuals compares the residual stream after every block with the reference's, for the prompt that has them, and
// returns the worst distance relative to the stream's length, with the layer.
func Residuals(t *testing.T, open backend.Opener, o backend.Options) (worst float64, layer int) {
	set, err := golden.Load()
	require.NoError(t, err)
	m := testmodel.Builtin(t)
	o.MaxTokens, o.MaxOut, o.MaxScores, o.Pages = 512, 8, 16<<20, 64
	be, err := open(m.Graph, o)
	require.NoError(t, err)
	defer func() { require.NoError(t, be.Close()) }()
	p := set.Prompt(set.Traced)
	b := Batch(Part{Seq: Pages(0, len(p.PromptIDs)), IDs: p.PromptIDs})
	seen := 0
	b.Tap = func(n *graph.Node, row func(graph.Buf, int) []float32) {
		if n.Op.String() != "ffn_residual" {
			return
		}
		seen++
		want := p.Residuals.Last[n.Layer+1]
		got := row(n.Out, len(p.PromptIDs)-1)
		if d := golden.MaxAbs(want, got) / float64(p.Residuals.Norm[n.Layer+1][len(p.PromptIDs)-1]); d > worst {
			worst, layer = d, n.Layer
		}
	}
	require.NoError(t, be.Run(b, nil))
	require.Equal(t, m.Config.Layers, seen)
	return worst, layer
}

// Rows runs batches one after the other on a fresh backend and returns a copy of all logits, in order.
func Rows(t *testing.T, m *model.Model, open backend.Opener, o backend.Options, batches ...*backend.Batch) [][]float32 {
	o.MaxTokens, o.MaxOut, o.MaxScores, o.Pages = 512, 512, 16<<20, 64
	be, err := open(m.Graph, o)
	require.NoError(t, err)
	defer func() { require.NoError(t, be.Close()) }()
	var rows [][]float32
	for _, b := range batches {
		require.NoError(t, be.Run(b, nil))
		for i := range b.Out {
			rows = append(rows, slices.Clone(be.Logits(i)))
		}
	}
	return rows
}

// SameBits checks, for n tokens of a model, that logits are bit for bit the same whether the prompt runs whole, in
// chunks, or token by token, alone or beside others, on one thread or several.
func SameBits(t *testing.T, m *model.Model, open backend.Opener, o backend.Options, ids []int32) {
	n := len(ids)
	a := Pages(0, n)
	one := o
	one.Threads = 1
	want := Rows(t, m, open, one, Batch(Part{Seq: a, IDs: ids, All: true}))
	require.Len(t, want, n)
	part := func(from, to int) Part { return Part{Seq: a, From: from, IDs: ids[from:to], All: true} }
	other := func(seq, from, to int) Part {
		return Part{Seq: Pages(16+8*seq, n), From: from, IDs: ids[from:to]}
	}
	var steps, beside []*backend.Batch
	for i := range n {
		steps = append(steps, Batch(part(i, i+1)))
		b := Batch(other(1, i, i+1), part(i, i+1), other(2, i, i+1))
		beside = append(beside, b)
	}
	runs := map[string][]*backend.Batch{
		"whole":           {Batch(part(0, n))},
		"two chunks":      {Batch(part(0, n/3)), Batch(part(n/3, n))},
		"token by token":  steps,
		"beside a prompt": {Batch(other(1, 0, n/2), part(0, n), other(2, 0, n/4))},
	}
	for name, batches := range runs {
		for _, threads := range []int{1, 2, 3} {
			o.Threads = threads
			var got [][]float32
			if name == "beside a prompt" {
				rows := Rows(t, m, open, o, batches...)
				got = rows[1 : 1+n]
			} else {
				got = Rows(t, m, open, o, batches...)
			}
			requireSame(t, want, got, fmt.Sprintf("%s, %d threads", name, threads))
		}
	}
	o.Threads = 2
	rows := Rows(t, m, open, o, beside...)
	var got [][]float32
	for i := range n {
		got = append(got, rows[3*i+1])
	}
	requireSame(t, want, got, "decoded beside two others")
}

func requireSame(t *testing.T, want, got [][]float32, how string) {
	require.Len(t, got, len(want), how)
	for i := range want {
		if !slices.Equal(want[i], got[i]) {
			t.Fatalf("%s: logits of token %d differ by up to %g", how, i, golden.MaxAbs(want[i], got[i]))
		}
	}
}

// Times checks the times of a pass: one op a node, in order, without overlap, between before and after, no worker busier
// than the op is long.
func Times(t *testing.T, g *graph.Graph, ops *trace.PassOps, before, after int64) {
	require.Len(t, ops.Ops, len(g.Nodes))
	require.Len(t, ops.Busy, len(g.Nodes)*ops.Workers)
	end := before
	for i, o := range ops.Ops {
		n := g.Nodes[i]
		require.Equal(t, n.Op, o.Op)
		require.EqualValues(t, n.Layer, o.Layer)
		require.Equal(t, n.PC, o.PC)
		require.NotZero(t, o.Fn)
		require.GreaterOrEqual(t, o.Start, end, "op %d begins before the one before it has ended", i)
		require.Positive(t, o.Dur, "op %d", i)
		end = o.Start + o.Dur
		for w := range ops.Workers {
			require.LessOrEqual(t, int64(ops.Busy[i*ops.Workers+w]), o.Dur, "op %d, worker %d", i, w)
		}
	}
	require.LessOrEqual(t, end, after)
}
