//go:build cuda

package cuda

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/engine/backend"
	"glassbox/engine/backend/backendtest"
	"glassbox/engine/backend/cuda/driver"
	"glassbox/engine/golden"
	"glassbox/engine/graph"
	"glassbox/engine/model"
	"glassbox/engine/testmodel"
	"glassbox/engine/tp"
	"glassbox/trace"
)

// greedy decodes n tokens after a prompt, with the logits behind each.
func greedy(t *testing.T, be backend.Backend, prompt []int32, n int) (ids []int32, rows [][]float32) {
	at, next := 0, prompt
	for len(ids) < n {
		b := backendtest.Batch(backendtest.Part{Seq: backendtest.Pages(0, len(prompt)+n), From: at, IDs: next})
		at += len(next)
		require.NoError(t, be.Run(b, nil))
		row := slices.Clone(be.Logits(0))
		ids, rows = append(ids, int32(slices.Index(row, slices.Max(row)))), append(rows, row)
		next = ids[len(ids)-1:]
	}
	return ids, rows
}

var twoDevices = backend.Options{MaxTokens: 32, MaxOut: 4, MaxScores: 1 << 16, Pages: 8}

// Every way of summing up over two devices gives the tokens of one; a second run has the same bits.
func TestTinyModelsSayTheSameOnTwoDevices(t *testing.T) {
	models, err := golden.LoadTiny()
	require.NoError(t, err)
	prompt := []int32{1, 5, 9, 17, 3, 44, 2, 60, 7, 12, 31, 8, 19, 25, 4, 11, 6, 2, 33}
	cut := 0
	for _, g := range models {
		m := testmodel.OpenReference(t, g)
		if m.Config.KVHeads%2 != 0 {
			continue
		}
		cut++
		one, err := Open(m.Graph, twoDevices)
		require.NoError(t, err)
		want, rows := greedy(t, one, prompt, 6)
		require.NoError(t, one.Close())
		for _, how := range []string{tp.Direct, tp.Ring, tp.NCCL} {
			var first [][]float32
			for range 2 {
				be, err := tp.Open(m.Graph, Open, twoDevices, tp.Options{Shards: 2, AllReduce: how})
				require.NoError(t, err, how)
				require.Contains(t, be.Device().Features, "all-reduce "+how)
				got, gotRows := greedy(t, be, prompt, 6)
				require.Equal(t, want, got, "%s, %s", g.Name, how)
				for i := range rows {
					require.LessOrEqual(t, golden.MaxAbs(rows[i], gotRows[i]), 0.01, "%s, %s", g.Name, how)
				}
				require.NoError(t, be.Close())
				if first == nil {
					first = gotRows
				}
				require.Equal(t, first, gotRows, "%s, %s: the same bits again", g.Name, how)
			}
		}
	}
	require.GreaterOrEqual(t, cut, 3, "models of enough KV heads")
}

// The sums are in the recording: copies between the devices, or the library's call, for each all-reduce.
func TestSumsOverDevicesAreTimed(t *testing.T) {
	m := tinyModel(t, testmodel.Spec{})
	for how, kind := range map[string]trace.CallKind{tp.Direct: trace.CallCopy, tp.Ring: trace.CallCopy, tp.NCCL: trace.CallSum} {
		be, err := tp.Open(m.Graph, Open, twoDevices, tp.Options{Shards: 2, AllReduce: how})
		require.NoError(t, err)
		var ops trace.PassOps
		require.NoError(t, be.Run(backendtest.Batch(backendtest.Part{Seq: backendtest.Pages(0, 3), IDs: []int32{1, 2, 3}}), &ops))
		sums := map[int32]bool{}
		for _, c := range ops.Calls {
			if c.Kind == kind {
				sums[c.Op] = true
				require.Equal(t, trace.OpAllReduce, ops.Ops[c.Op].Op)
				require.Positive(t, c.Bytes)
				require.Positive(t, c.Took)
			}
		}
		require.Len(t, sums, 2*m.Graph.Layers, how)
		require.NoError(t, be.Close())
	}
}

// A device that fails takes the pass and those after it along; the other shard does not wait for it.
func TestALostDeviceOfTwoEndsRequestsWithAnError(t *testing.T) {
	m := tinyModel(t, testmodel.Spec{})
	var shards []*Backend
	be, err := tp.Open(m.Graph, func(g *graph.Graph, o backend.Options) (backend.Backend, error) {
		b, err := Open(g, o)
		if err == nil {
			shards = append(shards, b.(*Backend))
		}
		return b, err
	}, twoDevices, tp.Options{Shards: 2, AllReduce: tp.Direct})
	require.NoError(t, err)
	batch := backendtest.Batch(backendtest.Part{Seq: backendtest.Pages(0, 3), IDs: []int32{1, 2, 3}})
	require.NoError(t, be.Run(batch, nil))
	keep := shards[1].bufs[0]
	shards[1].bufs[0] = keep + 1<<40 // no memory of the device
	done := make(chan error, 1)
	go func() { done <- be.Run(batch, nil) }()
	select {
	case err = <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("the other shard waits for the one that failed")
	}
	require.ErrorContains(t, err, "shard 1: cuda: Emulated device: the device failed")
	shards[1].bufs[0] = keep
	require.ErrorContains(t, be.Run(batch, nil), "start the program again")
	require.NoError(t, be.Close())
}

// exchange tells words as they are, also those that are no numbers as floats.
func TestWordsAreToldAsTheyAre(t *testing.T) {
	groups, err := tp.NewGroup(2, "")
	require.NoError(t, err)
	words := []uint32{0x7fa00001, 0xffc12345, 0, 0x80000000, 1, 0x7f800000}
	go exchange(groups[1], make([]uint32, len(words)))
	require.Equal(t, [][]uint32{words, make([]uint32, len(words))}, exchange(groups[0], words))
}

func TestWaysToSumUpThatCannotBe(t *testing.T) {
	m := tinyModel(t, testmodel.Spec{})
	_, err := tp.Open(m.Graph, Open, twoDevices, tp.Options{Shards: 2, AllReduce: "tree"})
	require.ErrorContains(t, err, `wanted direct or ring, or nccl between GPUs, found "tree"`)
	n, err := driver.Count()
	require.NoError(t, err)
	require.Equal(t, 2, n, "the emulated driver shows two devices")
	m, err = model.Load(testmodel.Tiny(t, testmodel.Spec{Heads: 4, KVHeads: 4}))
	require.NoError(t, err)
	_, err = tp.Open(m.Graph, Open, twoDevices, tp.Options{Shards: 4})
	require.ErrorContains(t, err, "cuda: wanted a device for each of 4 shards, found 2: choose fewer --shards")
}
