package cpu

import (
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/graph"
	"glassbox/trace"
)

// TestRunsOn says which barriers of a layer are left out.
func TestRunsOn(t *testing.T) {
	be := open(t, build(t, small), options("", 1))
	free := map[trace.OpID]bool{}
	for i := range be.steps {
		if s := &be.steps[i]; s.n.Layer == 0 {
			free[s.n.Op] = s.runOn
		}
	}
	require.Equal(t, map[trace.OpID]bool{
		trace.OpAttnNorm: false, trace.OpAttnQ: true, trace.OpAttnK: true, trace.OpAttnV: false, trace.OpRope: true,
		trace.OpKVWrite: false, trace.OpScores: false, trace.OpSoftmax: false, trace.OpMix: false, trace.OpAttnOut: false,
		trace.OpAttnResidual: true, trace.OpFFNNorm: false, trace.OpGate: true, trace.OpUp: false, trace.OpSwiGLU: false,
		trace.OpDown: false, trace.OpFFNResidual: true,
	}, free)
	last := be.steps[len(be.steps)-2]
	require.Equal(t, trace.OpOutNorm, last.n.Op)
	require.False(t, be.steps[len(be.steps)-3].runOn, "the last norm gathers other workers' rows")
	require.False(t, last.runOn)
	require.Equal(t, graph.MatMul, be.steps[len(be.steps)-1].n.Kind)
}
