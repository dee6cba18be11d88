//go:build cuda

package cuda

import (
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/backend"
	"glassbox/engine/backend/backendtest"
	"glassbox/engine/model"
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
	for range 2 {
		var ops trace.PassOps
		before := trace.Now()
		require.NoError(t, be.Run(backendtest.Batch(backendtest.Part{Seq: backendtest.Pages(0, 3), IDs: []int32{1, 2, 3}}), &ops))
		backendtest.Times(t, m.Graph, &ops, before, trace.Now())
	}
	a := be.(*Backend).Anchors()
	require.Positive(t, a.Offset)
	require.GreaterOrEqual(t, a.Residual, int64(0))
	t.Logf("the clocks: residual %d ns, drift over the pass %d ns", a.Residual, a.Drift)
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
