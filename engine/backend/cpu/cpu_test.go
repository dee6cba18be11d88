package cpu

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/backend"
	"glassbox/engine/backend/ref"
	"glassbox/engine/graph"
	"glassbox/engine/tensor"
	"glassbox/trace"
)

// distance is the relative root mean square difference of two lists of rows.
func distance(t testing.TB, want, got [][]float32) float64 {
	t.Helper()
	require.Len(t, got, len(want))
	var e, r float64
	for i := range want {
		require.Len(t, got[i], len(want[i]))
		for j, v := range want[i] {
			d := float64(v) - float64(got[i][j])
			e, r = e+d*d, r+float64(v)*float64(v)
		}
	}
	require.Positive(t, r)
	return math.Sqrt(e / r)
}

// TestAgainstReference: what is left is the rounding of keys and values to float16, and, hardly to be seen beside it, of
// inputs to 16 bits where weights are quantised (measured: up to 0.0005, with either kind of weights).
func TestAgainstReference(t *testing.T) {
	for name, s := range shapes() {
		g := build(t, s)
		truth, err := ref.Open(g, options("", 2))
		require.NoError(t, err)
		batches := []*backend.Batch{batchOf(s.vocab, slice{0, 0, 37}), batchOf(s.vocab, slice{0, 37, 1})}
		want := logits(t, truth, 0, batches...)
		for _, v := range testVariants {
			be := open(t, g, options(v, 2))
			got := logits(t, be, 0, batches...)
			d := distance(t, want, got)
			t.Logf("%s %s: %.5f", name, v, d)
			require.LessOrEqual(t, d, 0.001, "%s %s", name, v)
		}
	}
}

// TestEverythingIsBitEqual: variant, threads, chunks of the prompt and neighbours in the batch change no bit of a logit.
func TestEverythingIsBitEqual(t *testing.T) {
	const n = 37
	for name, s := range shapes() {
		g := build(t, s)
		v := s.vocab
		var single []*backend.Batch
		for p := range n {
			single = append(single, batchOf(v, slice{0, p, 1}))
		}
		ways := map[string][]*backend.Batch{
			"at once":        {batchOf(v, slice{0, 0, n})},
			"one by one":     single,
			"chunks":         {batchOf(v, slice{0, 0, 5}), batchOf(v, slice{0, 5, 11}), batchOf(v, slice{0, 16, 20}), batchOf(v, slice{0, 36, 1})},
			"with others":    {batchOf(v, slice{1, 0, 9}, slice{0, 0, 20}), batchOf(v, slice{2, 0, 1}, slice{0, 20, 2}, slice{1, 9, 1}), batchOf(v, slice{0, 22, 15}, slice{1, 10, 30})},
			"behind another": {batchOf(v, slice{2, 0, 17}, slice{0, 0, 1}), batchOf(v, slice{2, 17, 1}, slice{0, 1, 36})},
		}
		var want [][]float32
		for _, f := range testVariants {
			for threads := 1; threads <= 3; threads++ {
				be := open(t, g, options(f, threads))
				for way, batches := range ways {
					got := logits(t, be, 0, batches...)
					if want == nil {
						want = got
					}
					require.Len(t, got, n)
					for p := range got {
						for i, x := range got[p] {
							if math.Float32bits(x) != math.Float32bits(want[p][i]) {
								require.Failf(t, "bits differ", "%s, %s, %d threads, %s: position %d, word %d: %v and %v", name, f, threads, way, p, i, x, want[p][i])
							}
						}
					}
				}
			}
		}
	}
}

// TestTap holds every buffer after every op to the reference, op by op.
func TestTap(t *testing.T) {
	for name, s := range shapes() {
		g := build(t, s)
		truth, err := ref.Open(g, options("", 1))
		require.NoError(t, err)
		be := open(t, g, options(testVariants[0], 2))
		record := func(b backend.Backend, ops *trace.PassOps) (rows [][]float32) {
			batch := batchOf(s.vocab, slice{0, 0, 30}, slice{1, 0, 1})
			batch.Tap = func(n *graph.Node, row func(b graph.Buf, t int) []float32) {
				if n.Out == graph.NoBuf {
					return
				}
				count := len(batch.Tokens)
				if g.Bufs[n.Out].Kind == graph.PerKey {
					count *= s.heads
				}
				for i := range count {
					r := append([]float32(nil), row(n.Out, i)...)
					for j, v := range r { // scores outside the window
						if math.IsInf(float64(v), -1) {
							r[j] = -1000
						}
					}
					rows = append(rows, r)
				}
			}
			require.NoError(t, b.Run(batch, ops))
			return rows
		}
		want, got := record(truth, nil), record(be, new(trace.PassOps))
		require.Len(t, got, len(want))
		for i := range want {
			require.Len(t, got[i], len(want[i]))
			for j := range want[i] {
				require.InDelta(t, want[i][j], got[i][j], 0.005*math.Max(1, math.Abs(float64(want[i][j]))), "%s row %d value %d", name, i, j)
			}
		}
	}
}

// TestTimes: ops follow each other without gaps, and name their function and kernel.
func TestTimes(t *testing.T) {
	g := build(t, small)
	for threads := 1; threads <= 2; threads++ {
		be := open(t, g, options("", threads))
		ops := &trace.PassOps{}
		before := trace.Now()
		require.NoError(t, be.Run(batchOf(small.vocab, slice{0, 0, 20}), ops))
		after := trace.Now()
		require.Len(t, ops.Ops, len(g.Nodes))
		require.Equal(t, threads, ops.Workers)
		at := ops.Ops[0].Start
		require.GreaterOrEqual(t, at, before)
		for i, o := range ops.Ops {
			n := g.Nodes[i]
			require.Equal(t, n.Op, o.Op)
			require.Equal(t, int16(n.Layer), o.Layer)
			require.Equal(t, n.PC, o.PC)
			require.Equal(t, at, o.Start, "op %d starts where the one before ended", i)
			at += o.Dur
			for w := range threads {
				require.LessOrEqual(t, int64(ops.Busy[i*threads+w]), o.Dur, "op %d worker %d", i, w)
			}
			name := runtime.FuncForPC(o.Fn).Name()
			require.True(t, strings.EqualFold(name[strings.LastIndex(name, ".")+1:], n.Kind.String()), "%s runs %v", name, n.Kind)
		}
		require.LessOrEqual(t, at, after)
		q := ops.Ops[2]
		want := "mmQ4_1 " + be.k.Variant()
		if be.k.Variant() == "generic" {
			want = "mvQ4_1 generic" // plain Go has no mat-mat
		}
		require.Equal(t, want, q.Kernel.String())
		require.NoError(t, be.Run(batchOf(small.vocab, slice{0, 20, 1}), ops))
		require.Equal(t, "mvQ4_1 "+be.k.Variant(), ops.Ops[2].Kernel.String())
		require.Equal(t, "attnQK "+be.k.Variant(), ops.Ops[7].Kernel.String())
	}
}

// TestTimesOfAllWorkersAgree: an op ends at one time for all workers, also when one has left the next op before another
// has looked at the times of this one. Worker 1 comes last to every other barrier, and then hurries.
func TestTimesOfAllWorkersAgree(t *testing.T) {
	be := open(t, build(t, small), options("", 2))
	be.batch, be.active = batchOf(small.vocab, slice{0, 0, 1}), 2
	be.ops = new(trace.PassOps)
	be.ops.Reset(len(be.steps), 2)
	ends := make([][2]int64, len(be.steps))
	for range 200 {
		be.team.run(func(w int) {
			at := trace.Now()
			for i := range be.steps {
				for begin := trace.Now(); w == 1 && i%2 == 0 && trace.Now() < begin+2000; {
				}
				at = be.timed(i, w, at)
				ends[i][w] = at
			}
		})
		for i, e := range ends {
			require.Equal(t, e[0], e[1], "op %d", i)
		}
	}
}

// TestNothingIsAllocated: a pass takes no memory, alone and in a team, timed or not.
func TestNothingIsAllocated(t *testing.T) {
	for name, s := range shapes() {
		g := build(t, s)
		for threads := 1; threads <= 2; threads++ {
			be := open(t, g, options(testVariants[0], threads))
			one, many, ops := batchOf(s.vocab, slice{0, 20, 1}), batchOf(s.vocab, slice{0, 0, 20}, slice{1, 0, 3}), new(trace.PassOps)
			run := func(b *backend.Batch, ops *trace.PassOps) {
				if err := be.Run(b, ops); err != nil {
					panic(err)
				}
			}
			run(many, ops)
			require.Zero(t, testing.AllocsPerRun(5, func() { run(many, nil); run(one, nil); run(many, ops); run(one, ops) }), "%s, %d threads", name, threads)
		}
	}
}

func TestRefusals(t *testing.T) {
	g := build(t, small)
	_, err := Open(g, options("sse9", 1))
	require.ErrorContains(t, err, "sse9")
	o := options("", 1)
	o.Pages = math.MaxInt / 1000
	_, err = Open(g, o)
	require.ErrorContains(t, err, "KV cache")
	be := open(t, g, options("", 1))
	require.ErrorContains(t, be.Run(&backend.Batch{}, nil), "wanted 1 to 64 tokens")
	bad := batchOf(small.vocab, slice{0, 0, 1})
	bad.Tokens[0] = 1 << 20
	require.ErrorContains(t, be.Run(bad, nil), "token 0 has id 1048576")
	cut := *g.Nodes[2].W
	cut.Data = cut.Data[:len(cut.Data)-1]
	node := *g.Nodes[2]
	node.W = &cut
	broken := *g
	broken.Nodes = append([]*graph.Node(nil), g.Nodes...)
	broken.Nodes[2] = &node
	_, err = Open(&broken, options("", 1))
	require.ErrorContains(t, err, "tensor matrix: wanted")
	node.Kind = 99
	_, err = Open(&broken, options("", 1))
	require.Error(t, err)
}

// TestAlone: when workers keep giving up at barriers, small passes are done by one worker for a while, with the same bits.
func TestAlone(t *testing.T) {
	g := build(t, small)
	be := open(t, g, options("", 2))
	batch := batchOf(small.vocab, slice{0, 0, 3})
	want := logits(t, be, 0, batch)
	be.solo, be.soloNext, be.active = 0, 0, 2
	require.NoError(t, be.Run(batch, nil))
	require.True(t, be.mayLeave)
	be.solo, be.soloNext, be.active = 0, 0, 2
	be.team.bar.parks.Store(100)
	be.dismiss()
	require.Equal(t, soloFirst, be.solo)
	for range soloFirst {
		require.Equal(t, want, logits(t, be, 0, batch))
		require.Equal(t, 1, be.active)
	}
	require.NoError(t, be.Run(batch, nil))
	require.True(t, be.mayLeave, "the team tries again")
	be.solo = 0
	be.team.bar.parks.Store(100) // in the middle of a pass: from the second barrier on worker 0 is alone
	require.Equal(t, want, logits(t, be, 0, batch))
	require.Equal(t, 1, be.active)
	require.Positive(t, be.solo)
	require.NoError(t, be.Run(batchOf(small.vocab, slice{0, 0, 20}), nil))
	require.Equal(t, 2, be.active)
}

func TestDevice(t *testing.T) {
	be := open(t, build(t, small), options("generic", 2))
	d := be.Device()
	require.Equal(t, "cpu", d.Kind)
	require.Equal(t, 2, d.Threads)
	require.Equal(t, "generic", d.Features[0])
	require.Equal(t, "cpu", be.Name())
	require.Equal(t, backend.KV{Keys: tensor.F16, Values: tensor.F16}, be.KV())
	require.NotEmpty(t, fmt.Sprint(d.Name))
}
