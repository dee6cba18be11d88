package exec

import (
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/backend"
	"glassbox/engine/capture"
	"glassbox/engine/graph"
	"glassbox/engine/sched"
	"glassbox/trace"
)

// still is a backend that computes nothing and calls the tap for each op.
type still struct {
	backend.Backend
	g      *graph.Graph
	tapped []bool // by pass
}

func (s *still) Run(b *backend.Batch, _ *trace.PassOps) error {
	s.tapped = append(s.tapped, b.Tap != nil)
	if b.Tap != nil {
		for _, n := range s.g.Nodes {
			b.Tap(n, func(graph.Buf, int) []float32 { return make([]float32, 8) })
		}
	}
	return nil
}

// owner has a session or none.
type owner struct{ s *capture.Session }

func (o *owner) Capture() *capture.Session { return o.s }

func TestOpsAreTappedOnlyWhereSomethingIsAsked(t *testing.T) {
	b := graph.NewBuilder()
	b.Embed(trace.OpEmbed, &graph.Weight{Rows: 8, Cols: 8})
	b.LMHead(trace.OpLMHead, b.OutNorm(trace.OpOutNorm, 0, &graph.Weight{Cols: 8}, 1), &graph.Weight{Rows: 8, Cols: 8})
	g := b.Graph()
	be := &still{g: g, tapped: make([]bool, 0, 1000)}
	r := New(g, be)
	seq := func(o any) *sched.Sequence { return &sched.Sequence{Tokens: []int32{1, 2, 3}, Prompt: 3, Owner: o} }
	plain := []sched.Item{{Seq: seq(nil), N: 3}, {Seq: seq(&owner{}), N: 3, Logits: true}}
	require.NoError(t, r.Run(plain))
	require.Equal(t, []bool{false}, be.tapped)
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = r.Run(plain) }), "a pass without captures allocates nothing")

	s, err := capture.New(g, trace.CaptureSpec{Values: true}, capture.Ablation{}, 3, 2, 1<<20)
	require.NoError(t, err)
	be.tapped = nil
	require.NoError(t, r.Run(append(plain, sched.Item{Seq: seq(&owner{s}), N: 3, Logits: true})))
	require.Positive(t, r.tapNs)
	require.NoError(t, r.Run(plain))
	require.Equal(t, []bool{true, false}, be.tapped, "the next pass is free of it")
	require.Zero(t, r.tapNs)
	require.Equal(t, []capture.Rows{{First: 6, N: 3, Out: 1}}, looked(r, append(plain, sched.Item{Seq: seq(&owner{s}), N: 3, Logits: true})))
}

// looked returns where the runner finds the sessions' rows.
func looked(r *Runner, items []sched.Item) (rows []capture.Rows) {
	r.look(items)
	for _, t := range r.taps {
		rows = append(rows, t.at)
	}
	return rows
}
