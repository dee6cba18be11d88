//go:build cuda

package cuda

import (
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/backend"
	"glassbox/engine/backend/backendtest"
	"glassbox/engine/backend/ref"
	"glassbox/engine/golden"
	"glassbox/engine/graph"
	"glassbox/engine/kv"
	"glassbox/engine/model"
	"glassbox/engine/tensor"
	"glassbox/engine/testmodel"
	"glassbox/trace"
)

func tinyModel(t testing.TB, s testmodel.Spec) *model.Model {
	m, err := model.Load(testmodel.Tiny(t, s))
	require.NoError(t, err)
	return m
}

// The distance of the tiny models, whose weights are float32, is the rounding of keys and values to float16.
func TestTinyModelsOfEveryArchitectureAgreeWithTransformers(t *testing.T) {
	for name, near := range backendtest.Tiny(t, Open, backend.Options{}) {
		require.GreaterOrEqual(t, near.Cosine, 0.99999, name)
		require.LessOrEqual(t, near.MaxAbs, 0.05, name)
	}
}

func TestTinyModelsHaveTheSameBits(t *testing.T) {
	backendtest.TinySameBits(t, Open, backend.Options{})
}

func TestTimesCoverEveryOpInOrder(t *testing.T) {
	m := tinyModel(t, testmodel.Spec{})
	be, err := Open(m.Graph, backend.Options{MaxTokens: 8, MaxOut: 1, MaxScores: 1 << 12, Pages: 2})
	require.NoError(t, err)
	defer func() { require.NoError(t, be.Close()) }()
	for i := range 3 {
		var ops trace.PassOps
		b := backendtest.Batch(backendtest.Part{Seq: backendtest.Pages(0, 3), IDs: []int32{1, 2, 3}})
		if i == 2 { // looked at as well
			b.Tap = func(n *graph.Node, row func(graph.Buf, int) []float32) {
				if n.Out != graph.NoBuf {
					row(n.Out, 0)
				}
			}
		}
		before := trace.Now()
		require.NoError(t, be.Run(b, &ops))
		after := trace.Now()
		backendtest.Times(t, m.Graph, &ops, before, after)
		calls(t, m.Graph, &ops, before, after)
		t.Logf("the clocks: residual %d ns, drift over the pass %d ns", ops.Clocks.Residual, ops.Clocks.Drift)
	}
	var ops trace.PassOps
	require.NoError(t, be.Run(backendtest.Batch(backendtest.Part{Seq: backendtest.Pages(0, 3), IDs: []int32{1}}), nil))
	require.Empty(t, ops.Calls)
	require.False(t, be.(*Backend).log.on, "an untimed pass notes nothing")
}

// calls checks the calls of a pass: on the host one after the other; on the device one after the other, none begun before
// its call, and an op's time from the first of its own to the end of its last.
func calls(t *testing.T, g *graph.Graph, ops *trace.PassOps, before, after int64) {
	host, device := before, before
	kinds := map[trace.CallKind]int{}
	first, last := map[int32]int64{}, map[int32]int64{}
	for i, c := range ops.Calls {
		kinds[c.Kind]++
		require.GreaterOrEqual(t, c.Start, host, "call %d, %s", i, c.API)
		host = c.Start + c.Dur
		if c.Kind == trace.CallLaunch {
			require.NotEmpty(t, c.Kernel.String())
			require.Positive(t, c.Grid[0]*c.Grid[1]*c.Grid[2]*c.Threads)
			require.GreaterOrEqual(t, c.Op, int32(0))
			require.Positive(t, c.Took, "a kernel has a time on the device")
		}
		if c.Took == 0 {
			continue
		}
		require.GreaterOrEqual(t, c.Began, max(device, c.Start-ops.Clocks.Residual), "call %d, %s", i, c.API)
		device = c.Began + c.Took
		if _, ok := first[c.Op]; !ok {
			first[c.Op] = c.Began
		}
		last[c.Op] = device
	}
	require.LessOrEqual(t, max(host, device), after)
	for i, o := range ops.Ops {
		if start, ok := first[int32(i)]; ok {
			require.Equal(t, []int64{start, last[int32(i)]}, []int64{o.Start, o.Start + o.Dur}, "op %d", i)
		}
	}
	require.GreaterOrEqual(t, kinds[trace.CallLaunch], len(g.Nodes))
	for _, k := range []trace.CallKind{trace.CallUpload, trace.CallDownload, trace.CallWait} {
		require.Positive(t, kinds[k], k)
	}
	require.Positive(t, ops.Clocks.Residual)
	require.Less(t, ops.Clocks.Residual, (after-before)/2)
}

func TestHeadIsThatOfAPass(t *testing.T) {
	backendtest.HeadBits(t, tinyModel(t, testmodel.Spec{}), Open, backend.Options{}, []int32{5, 3, 200, 7, 7, 9, 11}, 3)
}

func BenchmarkOpen(b *testing.B) {
	m := tinyModel(b, testmodel.Spec{})
	for b.Loop() {
		be, err := Open(m.Graph, backend.Options{MaxTokens: 8, MaxOut: 1, MaxScores: 1 << 12, Pages: 2})
		require.NoError(b, err)
		require.NoError(b, be.Close())
	}
}

func BenchmarkDecode(b *testing.B) {
	m := tinyModel(b, testmodel.Spec{})
	be, err := Open(m.Graph, backend.Options{MaxTokens: 8, MaxOut: 1, MaxScores: 1 << 12, Pages: 2})
	require.NoError(b, err)
	for b.Loop() {
		require.NoError(b, be.Run(backendtest.Batch(backendtest.Part{Seq: backendtest.Pages(0, 3), IDs: []int32{1}}), nil))
	}
	require.NoError(b, be.Close())
}

// Every kind of node has a function, and every kernel that the Go code names for any format is in the PTX.
func TestEveryOpAndKernelExists(t *testing.T) {
	for k := graph.Embed; k <= graph.AllReduce; k++ {
		require.NotNil(t, ops[k].fn, k)
	}
	require.Len(t, ops, int(graph.AllReduce)+1)
	be, err := Open(tinyModel(t, testmodel.Spec{}).Graph, backend.Options{MaxTokens: 8, MaxOut: 1, MaxScores: 1 << 12, Pages: 2})
	require.NoError(t, err)
	defer func() { require.NoError(t, be.Close()) }()
	b := be.(*Backend)
	named := map[string]bool{"arg_max": true, "top_k": true, "quantize_q14": true, "rope_table": true, "attention_join": true, "add_rms_norm": true}
	for _, types := range []backend.KV{kvF16, kvQ8Q4} {
		b.kv = types
		for _, n := range []string{"2", "4", "8"} {
			named["attention_"+b.kvName()+"_"+n] = true
		}
		for kind, o := range ops {
			for _, ty := range append(quants, plains...) {
				few, many := b.kernelNames(&graph.Node{Kind: kind, W: &graph.Weight{Type: ty}}, o.kernel)
				named[few], named[many] = true, true
				if kind == graph.MatMul {
					named[few+"_x4"] = true
					if quantised(ty) {
						named["gate_up_swiglu_"+format(ty)] = true
					}
				}
			}
		}
	}
	for name := range named {
		require.NotNil(t, b.k[name], name)
	}
	for name := range b.k {
		require.True(t, named[name], "the PTX has %s, which nothing runs", name)
	}
	require.ErrorContains(t, b.dev.Do(func() error { return b.launch("oops", [3]int{1}, 32, 0) }), "kernel oops: wanted an entry")
}

// Each of these opens a backend in a process of its own, whose driver has something wrong.
func TestOpenSaysWhatIsWrong(t *testing.T) {
	for env, want := range map[string]string{
		"CUDA_DRIVER_LIBRARY=libnone.so.1": "cuda: no NVIDIA driver: libnone.so.1: cannot open shared object file",
		"CUEMU_FAIL_INIT=100":              "the NVIDIA driver does not start: error 100 (no device): choose --backend cpu",
		"CUEMU_DEVICES=0":                  "the NVIDIA driver shows no device: choose --backend cpu",
		"CUEMU_CC=7.5":                     "wanted compute capability 8.0 or more, found 7.5: choose --backend cpu",
		"CUEMU_DRIVER=11.4":                "the driver knows CUDA 11.4, wanted 11.8 or later: update it",
		"CUEMU_MEM_MB=0":                   "found 0 MiB free of 0: choose a smaller --context or fewer --slots",
		"CUEMU_MEM_MB=1000":                "opened Emulated device\nerror: <nil>",
	} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "OPEN_CUDA=1", env)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", env, out)
		require.Contains(t, string(out), want, env)
	}
}

// A device that fails in a pass: that pass and all later ones end with an error, and so does nothing else.
func TestALostDeviceEndsRequestsWithAnError(t *testing.T) {
	m := tinyModel(t, testmodel.Spec{})
	be, err := Open(m.Graph, backend.Options{MaxTokens: 8, MaxOut: 1, MaxScores: 1 << 12, Pages: 2})
	require.NoError(t, err)
	b := be.(*Backend)
	batch := backendtest.Batch(backendtest.Part{Seq: backendtest.Pages(0, 3), IDs: []int32{1, 2, 3}})
	require.NoError(t, be.Run(batch, nil))
	keep := b.bufs[0]
	b.bufs[0] = keep + 1<<40 // no memory of the device
	require.ErrorContains(t, be.Run(batch, nil), "the device failed, and with it all that runs on it")
	b.bufs[0] = keep
	require.ErrorContains(t, be.Run(batch, nil), "start the program again")
	require.ErrorContains(t, be.Head([][]float32{make([]float32, 64)}, nil), "start the program again")
	require.NoError(t, be.Close())
}

// Tap may change what it sees: the pass goes on with that. Scores that were changed are mixed as they are.
func TestWhatTapChangesCounts(t *testing.T) {
	m := tinyModel(t, testmodel.Spec{})
	o := backend.Options{MaxTokens: 8, MaxOut: 1, MaxScores: 1 << 12, Pages: 2}
	run := func(open backend.Opener, op trace.OpID) []float32 {
		be, err := open(m.Graph, o)
		require.NoError(t, err)
		defer func() { require.NoError(t, be.Close()) }()
		b := backendtest.Batch(backendtest.Part{Seq: backendtest.Pages(0, 5), IDs: []int32{1, 2, 3, 4, 5}})
		b.Tap = func(n *graph.Node, row func(graph.Buf, int) []float32) {
			if n.Op != op || n.Layer != 0 {
				return
			}
			x := row(n.Out, 4*m.Graph.Bufs[n.Out].Width*boolInt(m.Graph.Bufs[n.Out].Kind == graph.PerKey)+4*boolInt(m.Graph.Bufs[n.Out].Kind != graph.PerKey))
			for i := range x {
				x[i] = float32(i%3) / 3
			}
		}
		require.NoError(t, be.Run(b, nil))
		return slices.Clone(be.Logits(0))
	}
	plain := run(Open, trace.OpNone)
	for _, op := range []trace.OpID{trace.OpSoftmax, trace.OpScores, trace.OpSwiGLU, trace.OpAttnResidual} {
		got, want := run(Open, op), run(ref.Open, op)
		require.Less(t, golden.MaxAbs(want, got), 0.05, op)
		require.Greater(t, golden.MaxAbs(plain, got), 0.0, op)
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A sequence that goes on in a copy of another's page computes what the other does.
func TestCopiedPages(t *testing.T) {
	m := tinyModel(t, testmodel.Spec{})
	be, err := Open(m.Graph, backend.Options{MaxTokens: 32, MaxOut: 1, MaxScores: 1 << 14, Pages: 4})
	require.NoError(t, err)
	defer func() { require.NoError(t, be.Close()) }()
	ids := make([]int32, 20)
	for i := range ids {
		ids[i] = int32(3 * i)
	}
	first := backend.Seq{Pages: []kv.Page{0, 1}}
	require.NoError(t, be.Run(backendtest.Batch(backendtest.Part{Seq: first, IDs: ids}), nil))
	be.CopyPage(0, 3)
	be.CopyPage(1, 2)
	next := func(s backend.Seq) []float32 {
		require.NoError(t, be.Run(backendtest.Batch(backendtest.Part{Seq: s, From: len(ids), IDs: []int32{9}}), nil))
		return slices.Clone(be.Logits(0))
	}
	require.Equal(t, next(first), next(backend.Seq{Pages: []kv.Page{3, 2}}))
}

// The quantised KV cache: as near to the reference with the same cache as the products' rounded inputs allow; here, with float32
// weights, as near as float sums are.
func TestTheQuantisedCacheComputesWhatTheReferenceDoes(t *testing.T) {
	m := tinyModel(t, testmodel.Spec{Width: 128})
	o := backend.Options{MaxTokens: 64, MaxOut: 64, MaxScores: 1 << 16, Pages: 4, KV: &kvQ8Q4}
	var rows [][][]float32
	for _, open := range []backend.Opener{Open, ref.Open} {
		be, err := open(m.Graph, o)
		require.NoError(t, err)
		require.Equal(t, kvQ8Q4, be.KV())
		ids := make([]int32, 40)
		for i := range ids {
			ids[i] = int32(i * 5 % 256)
		}
		require.NoError(t, be.Run(backendtest.Batch(backendtest.Part{Seq: backendtest.Pages(0, 40), IDs: ids, All: true}), nil))
		var out [][]float32
		for i := range ids {
			out = append(out, slices.Clone(be.Logits(i)))
		}
		rows = append(rows, out)
		require.NoError(t, be.Close())
	}
	for i := range rows[0] {
		require.Less(t, golden.MaxAbs(rows[1][i], rows[0][i]), 0.01, i)
	}
	_, err := Open(m.Graph, backend.Options{MaxTokens: 1, MaxOut: 1, Pages: 1, MaxScores: 1 << 12, KV: &backend.KV{Keys: tensor.Q4_0, Values: tensor.F16}})
	require.ErrorContains(t, err, "kv-type: wanted f16 or k8v4, found q4_0/f16")
}
