package capture

import (
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/graph"
	"glassbox/engine/model"
	"glassbox/engine/testmodel"
	"glassbox/trace"
)

// Rows of the prompt that are computed twice, because their pages were given away, count once in the mean; rows of an
// answer count not at all.
func TestEachRowOfThePromptCountsOnceInTheMean(t *testing.T) {
	m, err := model.Load(testmodel.Tiny(t, testmodel.Spec{}))
	require.NoError(t, err)
	off, err := ParseAblate([]string{"L1.ffn=mean"}, 2, 4)
	require.NoError(t, err)
	s, err := New(m.Graph, trace.CaptureSpec{}, off, 4, 4, Limit)
	require.NoError(t, err)
	var down *graph.Node
	for _, n := range m.Graph.Nodes {
		if n.Layer == 1 && n.Op == trace.OpDown {
			down = n
		}
	}
	width := m.Graph.Bufs[down.Out].Width
	rows := make([][]float32, 6)
	row := func(_ graph.Buf, i int) []float32 { return rows[i] }
	fill := func() {
		for i := range rows {
			rows[i] = make([]float32, width)
			rows[i][3] = float32(int(1) << i)
		}
	}
	fill()
	require.True(t, s.Measuring())
	s.Node(down, row, Rows{N: 2})
	s.Node(down, row, Rows{N: 3})                    // again from the start
	s.Node(down, row, Rows{First: 3, From: 3, N: 3}) // two rows of an answer come with it
	require.EqualValues(t, 1, rows[0][3], "measuring changes nothing")
	s.Measured()
	require.False(t, s.Measuring())
	s.Node(down, row, Rows{First: 1, From: 5, N: 1})
	require.Equal(t, float32(1+2+4+8)/4, rows[1][3])
	require.EqualValues(t, 1, rows[0][3], "another request's row")
	require.EqualValues(t, 4, rows[2][3])
}
