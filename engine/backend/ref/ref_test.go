package ref

import (
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/backend"
	"glassbox/engine/backend/backendtest"
	"glassbox/engine/model"
	"glassbox/engine/testmodel"
	"glassbox/trace"
)

func TestLogitsAreThoseOfTheReferenceLibrary(t *testing.T) {
	prompts, answers := backendtest.Golden(t, Open, backend.Options{})
	t.Logf("prompts: %s", &prompts)
	t.Logf("answers: %s", &answers)
	require.LessOrEqual(t, prompts.MaxAbs, 1e-3)
	require.LessOrEqual(t, answers.MaxAbs, 1e-3)
	require.Less(t, prompts.RMS, 1e-3)
	require.Empty(t, answers.WrongBeyond(1e-3))
}

func TestResidualStreamIsThatOfTheReferenceLibrary(t *testing.T) {
	worst, layer := backendtest.Residuals(t, Open, backend.Options{})
	t.Logf("worst distance %.2e of the stream's length, after layer %d", worst, layer)
	require.Less(t, worst, 1e-5)
}

func TestLogitsDependOnTheTokensAlone(t *testing.T) {
	m, err := model.Load(testmodel.Tiny(t, testmodel.Spec{}))
	require.NoError(t, err)
	ids := make([]int32, 40)
	for i := range ids {
		ids[i] = int32(i * 7 % 256)
	}
	backendtest.SameBits(t, m, Open, backend.Options{}, ids)
}

func TestBatchesAreCheckedBeforeTheyRun(t *testing.T) {
	m, err := model.Load(testmodel.Tiny(t, testmodel.Spec{}))
	require.NoError(t, err)
	be, err := Open(m.Graph, backend.Options{Threads: 1, MaxTokens: 4, MaxOut: 1, MaxScores: 1 << 12, Pages: 2})
	require.NoError(t, err)
	good := func() *backend.Batch {
		return backendtest.Batch(backendtest.Part{Seq: backendtest.Pages(0, 3), IDs: []int32{1, 2, 3}})
	}
	require.NoError(t, be.Run(good(), nil))
	for name, spoil := range map[string]func(*backend.Batch){
		"no token":      func(b *backend.Batch) { b.Tokens = nil },
		"too many":      func(b *backend.Batch) { b.Tokens = make([]int32, 5) },
		"lengths":       func(b *backend.Batch) { b.Pos = b.Pos[:2] },
		"id":            func(b *backend.Batch) { b.Tokens[1] = testmodel.Vocab },
		"negative id":   func(b *backend.Batch) { b.Tokens[1] = -1 },
		"sequence":      func(b *backend.Batch) { b.Seq[2] = 1 },
		"no page":       func(b *backend.Batch) { b.Seqs[0].Pages = nil },
		"page":          func(b *backend.Batch) { b.Seqs[0].Pages[0] = 2 },
		"gap":           func(b *backend.Batch) { b.Pos[2] = 4 },
		"output row":    func(b *backend.Batch) { b.Out[0] = 3 },
		"too many rows": func(b *backend.Batch) { b.Out = []int32{0, 1} },
		"far position":  func(b *backend.Batch) { b.Pos = []int32{14, 15, 16} },
	} {
		b := good()
		spoil(b)
		require.Error(t, be.Run(b, nil), name)
	}
}

func TestTimesCoverEveryOpInOrder(t *testing.T) {
	m, err := model.Load(testmodel.Tiny(t, testmodel.Spec{}))
	require.NoError(t, err)
	be, err := Open(m.Graph, backend.Options{Threads: 2, MaxTokens: 8, MaxOut: 1, MaxScores: 1 << 12, Pages: 2})
	require.NoError(t, err)
	var ops trace.PassOps
	before := trace.Now()
	require.NoError(t, be.Run(backendtest.Batch(backendtest.Part{Seq: backendtest.Pages(0, 3), IDs: []int32{1, 2, 3}}), &ops))
	backendtest.Times(t, m.Graph, &ops, before, trace.Now())
}

func TestHeadIsThatOfAPass(t *testing.T) {
	m, err := model.Load(testmodel.Tiny(t, testmodel.Spec{}))
	require.NoError(t, err)
	backendtest.HeadBits(t, m, Open, backend.Options{Threads: 2}, []int32{5, 3, 200, 7, 7, 9, 11}, 3)
}
