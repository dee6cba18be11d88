package capture

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/testmodel"
	"glassbox/trace"
)

func TestSizeIsKnownBefore(t *testing.T) {
	g := testmodel.Builtin(t).Graph
	const prompt, answer = 40, 25
	n := int64(prompt + answer - 1)
	require.Equal(t, 30*9*n*n*4, Size(g, trace.CaptureSpec{Attention: true}, prompt, answer))
	require.Equal(t, int64(49152*4), Size(g, trace.CaptureSpec{Logits: true}, prompt, answer))
	lens := Size(g, trace.CaptureSpec{Lens: true}, prompt, answer)
	require.Greater(t, lens, 60*n*(576+12)*4, "rows of the stream, and what they say")
	require.Less(t, lens, int64(32<<20))
	values := Size(g, trace.CaptureSpec{Values: true}, prompt, answer)
	require.Greater(t, values, int64(30*(10*576+5*1536)*4))
	require.Less(t, values, int64(8<<20))
	all := trace.CaptureSpec{Attention: true, Lens: true, Values: true, Logits: true}
	require.Equal(t, 30*9*n*n*4+49152*4+lens+values, Size(g, all, prompt, answer))
}

func TestTooLargeIsRefusedWithTheRemedy(t *testing.T) {
	g := testmodel.Builtin(t).Graph
	spec := trace.CaptureSpec{Attention: true, Logits: true}
	_, err := New(g, spec, Ablation{}, 40, 8000, Limit)
	var size *SizeError
	require.ErrorAs(t, err, &size)
	require.Equal(t, Size(g, spec, 40, 8000), size.Bytes)
	require.Equal(t, "attention", size.Kinds[0].Kind)
	require.LessOrEqual(t, Size(g, spec, 40, size.Fits), int64(Limit))
	require.Greater(t, Size(g, spec, 40, size.Fits+1), int64(Limit))
	require.EqualError(t, err, "capture: a prompt of 40 tokens and an answer of up to 8000 would take 69795 MB (attention 69795 MB, logits 0.2 MB), wanted at most 268 MB: set max_tokens to 459 or less, or leave out attention")
	_, err = New(g, spec, Ablation{}, 40, size.Fits, Limit)
	require.NoError(t, err)

	_, err = New(g, spec, Ablation{}, 8000, 5, Limit)
	require.ErrorContains(t, err, "use a shorter prompt, or leave out attention")
	_, err = New(g, trace.CaptureSpec{Lens: true}, Ablation{}, 1<<20, 1<<20, Limit)
	require.ErrorContains(t, err, "leave out lens")
	s, err := New(g, trace.CaptureSpec{}, Ablation{}, 1<<20, 1<<20, Limit)
	require.NoError(t, err)
	require.Nil(t, s, "nothing is asked for, nothing is done")
}

func TestLeadersAreSortedAndTiesGoToTheLowerID(t *testing.T) {
	require.Equal(t, []int32{2, 4, 0, 5, 1}, leaders([]float32{3, 1, 9, 0, 5, 2}, 5))
	require.Equal(t, []int32{1, 3, 0}, leaders([]float32{3, 9, 3, 9, 3, 3}, 3))
	require.Equal(t, []int32{0, 1}, leaders([]float32{-7, -7}, 2))
}

func TestMeasuresOfARow(t *testing.T) {
	for _, exact := range []bool{true, false} {
		lps, entropy, rank := measure([]float32{0, 0, 0, 0}, []int32{0, 1}, 2, exact)
		require.InDeltaSlice(t, []float32{-1.3862944, -1.3862944}, lps, 1e-6)
		require.InDelta(t, 1.3862944, entropy, 1e-6)
		require.EqualValues(t, 3, rank)
		lps, entropy, rank = measure([]float32{-2000, 1000, 999, float32(math.Inf(-1))}, []int32{1}, 0, exact)
		require.InDelta(t, -0.31326168, lps[0], 1e-6)
		require.InDelta(t, 0.5822, entropy, 1e-4)
		require.EqualValues(t, 3, rank)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for spread := 0.01; spread < 100; spread *= 3 {
		logits := make([]float32, 5000)
		for i := range logits {
			logits[i] = float32(spread * rnd.NormFloat64())
		}
		top := leaders(logits, 5)
		most := logits[top[0]]
		sum, weighted := 0.0, 0.0
		for _, v := range logits {
			d := float64(v - most)
			sum += math.Exp(d)
			weighted += d * math.Exp(d)
		}
		s, w := sums(logits, most)
		require.InEpsilon(t, sum, s, 1e-9)
		require.InEpsilon(t, weighted, w, 1e-9)
	}
}
