package backendtest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/backend"
	"glassbox/engine/graph"
	"glassbox/engine/model"
)

// HeadBits checks that Head gives, for the rows that Run's last norm read, bit for bit Run's logits: one row at a time,
// and all of them, in batches of at most chunk rows.
func HeadBits(t *testing.T, m *model.Model, open backend.Opener, o backend.Options, ids []int32, chunk int) {
	o.MaxTokens, o.MaxOut, o.MaxScores, o.Pages = len(ids), len(ids), 16<<20, 64
	be, err := open(m.Graph, o)
	require.NoError(t, err)
	first, most, err := backend.HeadBatch(m.Graph, o)
	require.NoError(t, err)
	require.Equal(t, len(ids), most)
	var rows, want [][]float32
	b := Batch(Part{Seq: Pages(0, len(ids)), IDs: ids, All: true})
	b.Tap = func(n *graph.Node, row func(graph.Buf, int) []float32) {
		for i := 0; i < len(ids) && n.Index == first.Index-1; i++ {
			rows = append(rows, slices.Clone(row(n.Out, i)))
		}
	}
	require.NoError(t, be.Run(b, nil))
	for i := range ids {
		want = append(want, slices.Clone(be.Logits(i)))
	}
	require.NoError(t, be.Close())

	o.MaxOut = chunk
	be, err = open(m.Graph, o)
	require.NoError(t, err)
	defer func() { require.NoError(t, be.Close()) }()
	var got [][]float32
	keep := func(i int, logits []float32) {
		require.Len(t, got, i)
		got = append(got, slices.Clone(logits))
		clear(logits) // the caller may
	}
	require.NoError(t, be.Head(rows, keep))
	requireSame(t, want, got, "all rows")
	for i := range rows {
		got = nil
		require.NoError(t, be.Head(rows[i:i+1], keep))
		requireSame(t, want[i:i+1], got, "one row")
	}
	require.ErrorContains(t, be.Head([][]float32{{1}}, keep), "row 0: wanted")

	// A pass after it is what it was.
	b = Batch(Part{Seq: Pages(0, len(ids)), IDs: ids})
	require.NoError(t, be.Run(b, nil))
	requireSame(t, want[len(want)-1:], [][]float32{be.Logits(0)}, "a pass after it")
}
