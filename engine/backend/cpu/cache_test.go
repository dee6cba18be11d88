package cpu

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/backend"
	"glassbox/engine/backend/backendtest"
	"glassbox/engine/backend/ref"
	"glassbox/engine/model"
	"glassbox/engine/testmodel"
)

// long are ids of a sequence that fills more pages than are expanded at once.
func long() []int32 {
	ids := make([]int32, (expandPages+3)*16+5)
	for i := range ids {
		ids[i] = int32(i * 37 % 251)
	}
	return ids
}

// Of each format of the cache: the logits are those of the reference backend, whose keys and values are rounded by ggml's own
// rules, and they depend on nothing but the tokens.
func TestEveryFormatOfTheCache(t *testing.T) {
	m, err := model.Load(testmodel.Tiny(t, testmodel.Spec{Width: 192, Heads: 6, KVHeads: 2, Context: 512}))
	require.NoError(t, err)
	ids := long()
	n := len(ids)
	s := backendtest.Pages(0, n)
	part := func(from, to int) *backend.Batch {
		return backendtest.Batch(backendtest.Part{Seq: s, From: from, IDs: ids[from:to], All: true})
	}
	steps := []*backend.Batch{part(0, n-9)}
	for i := n - 9; i < n; i++ {
		steps = append(steps, part(i, i+1))
	}
	exact := backendtest.Rows(t, m, ref.Open, backend.Options{Threads: 2}, part(0, n))
	last := 0.0
	for _, name := range backend.KVNames {
		types, err := backend.ParseKV(name)
		require.NoError(t, err)
		require.Equal(t, name, types.String())
		o := backend.Options{Threads: 2, KV: types}
		want := backendtest.Rows(t, m, ref.Open, o, part(0, n))
		got := backendtest.Rows(t, m, Open, o, part(0, n))
		near, loss := distance(t, want, got), distance(t, exact, got)
		t.Logf("%-8s %.2e from the reference with the same format, %.2e from it with float32", name, near, loss)
		require.Less(t, near, max(1e-6, loss/8), "%s: what is lost is what the format loses", name)
		last = loss
		for how, batches := range map[string][]*backend.Batch{"in chunks": {part(0, 100), part(100, 263), part(263, n)}, "token by token": steps} {
			for _, o.Threads = range []int{1, 2, 3} {
				for i, row := range backendtest.Rows(t, m, Open, o, batches...) {
					require.True(t, slices.Equal(got[i], row), "%s %s, %d threads: token %d", name, how, o.Threads, i)
				}
			}
		}
	}
	require.Greater(t, last, 1e-3, "4 bits leave a trace")
}

func TestFormatsOfTheCacheAreChecked(t *testing.T) {
	m, err := model.Load(testmodel.Tiny(t, testmodel.Spec{}))
	require.NoError(t, err)
	for _, open := range []backend.Opener{Open, ref.Open} {
		types, err := backend.ParseKV("k8v4")
		require.NoError(t, err)
		_, err = open(m.Graph, backend.Options{Threads: 1, MaxTokens: 4, MaxOut: 1, MaxScores: 1 << 12, Pages: 2, KV: types})
		require.ErrorContains(t, err, "wanted heads whose width is a multiple of 32, found 16")
	}
	_, err = backend.ParseKV("q5_0")
	require.ErrorContains(t, err, `found "q5_0"`)
	_, err = backend.ParseKV("f16/")
	require.Error(t, err)
}

func TestCopiedPagesReadAlike(t *testing.T) {
	m, err := model.Load(testmodel.Tiny(t, testmodel.Spec{Width: 128, Heads: 4, KVHeads: 2}))
	require.NoError(t, err)
	for _, name := range backend.KVNames {
		for _, open := range []backend.Opener{Open, ref.Open} {
			types, _ := backend.ParseKV(name)
			be, err := open(m.Graph, backend.Options{Threads: 2, MaxTokens: 32, MaxOut: 1, MaxScores: 1 << 14, Pages: 4, KV: types})
			require.NoError(t, err)
			one := backend.Seq{Pages: backendtest.Pages(0, 20).Pages}
			require.NoError(t, be.Run(backendtest.Batch(backendtest.Part{Seq: one, IDs: long()[:20]}), nil))
			be.CopyPage(one.Pages[1], 3)
			run := func(s backend.Seq) []float32 {
				require.NoError(t, be.Run(backendtest.Batch(backendtest.Part{Seq: s, From: 20, IDs: []int32{9}}), nil))
				return slices.Clone(be.Logits(0))
			}
			two := run(backend.Seq{Pages: append(slices.Clone(one.Pages[:1]), 3)})
			require.Equal(t, run(one), two, fmt.Sprint(name, be.Name()))
			require.False(t, math.IsNaN(float64(two[0])))
			require.NoError(t, be.Close())
		}
	}
}
