package stops

import (
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/capture"
	"glassbox/engine/graph"
	"glassbox/trace"
)

// A step follows its token to the end of the pass and then the last of the next one. A pass that only computes again what
// was taken away is run through.
func TestWhatAPassIsLookedAtFor(t *testing.T) {
	s := &Session{g: &graph.Graph{}, points: []Point{{trace.OpMix, 1, 30}}}
	begin := func(from, n int) bool { return s.Begin(9, capture.Rows{From: from, N: n}) }
	require.False(t, begin(0, 30), "its token is not in it: no op is tapped")
	require.True(t, begin(0, 31))
	require.Equal(t, []int{30}, s.tokens())
	require.False(t, begin(31, 1))
	s.on = step{kind: "op", from: Point{trace.OpDown, 0, 20}}
	require.False(t, begin(0, 10), "computed again")
	require.False(t, begin(0, 21), "computed again, up to the same token")
	require.True(t, begin(0, 24))
	require.Equal(t, 23, s.on.token)
	require.True(t, begin(21, 1))
	require.Equal(t, []int{21}, s.tokens())
	s.on, s.points = step{}, nil
	require.False(t, begin(0, 40))
	s.edits = []applied{{token: 7}}
	require.True(t, begin(0, 8), "the edit is to be made again")
	require.False(t, begin(8, 9))
}
