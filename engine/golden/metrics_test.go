package golden

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

var nan = float32(math.NaN())

func norm(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum)
}

func TestMetricsByHand(t *testing.T) {
	require.Equal(t, 3.0, MaxAbs([]float32{1, -2, 3}, []float32{1, 1, 4}))
	require.True(t, math.IsInf(MaxAbs([]float32{1, nan}, []float32{1, 1}), 1))
	require.True(t, math.IsInf(MaxAbs([]float32{1}, []float32{1, 1}), 1))

	require.InDelta(t, 1, Cosine([]float32{1, 2}, []float32{10, 20}), 1e-12)
	require.InDelta(t, 0, Cosine([]float32{1, 0}, []float32{0, 1}), 1e-12)
	require.InDelta(t, 0.6, Cosine([]float32{3, 4}, []float32{1, 0}), 1e-12)
	require.Equal(t, -1.0, Cosine([]float32{0, 0}, []float32{1, 0}))
	require.Equal(t, -1.0, Cosine([]float32{nan, 0}, []float32{1, 0}))

	require.InDelta(t, math.Log(3), LogSumExp([]float32{0, 0, 0}), 1e-12)
	require.InDelta(t, 1000+math.Log(2), LogSumExp([]float32{1000, 1000}), 1e-9)

	// KL of (3/4, 1/4) from (1/2, 1/2) is ln 2 - H(1/4), H in nats; a constant added to all logits changes nothing.
	h := -0.75*math.Log(0.75) - 0.25*math.Log(0.25)
	ref := []float32{float32(math.Log(3)), 0}
	require.InDelta(t, math.Log(2)-h, KL(ref, []float32{7, 7}), 1e-6)
	require.InDelta(t, 0, KL(ref, []float32{ref[0] + 5, 5}), 1e-6)
	require.True(t, math.IsInf(KL(ref, []float32{nan, 1}), 1))
	require.True(t, math.IsInf(KL(ref, []float32{1}), 1))
}

// An error of any single word must be seen, also of a word that is kept nowhere.
func TestCompareSeesOneWrongWord(t *testing.T) {
	s := load(t)
	p := s.Prompt("sky")
	f := p.Full[1]
	row := &p.Positions[f.Position]
	kept := map[int32]bool{}
	for _, id := range append(append([]int32(nil), s.FixedIDs...), row.TopIDs...) {
		kept[id] = true
	}
	wrong := append([]float32(nil), f.Logits...)
	for id := int32(1); id < int32(s.Model.Vocab); id += 4999 {
		wrong[id] += 0.5
		d, err := s.Compare(row, wrong)
		require.NoError(t, err)
		require.InDelta(t, 0.5/math.Sqrt(float64(s.Model.Vocab)), d.RMS, 1e-5, "word %d", id)
		require.Equal(t, kept[id], d.MaxAbs > 0.49, "word %d", id)
		wrong[id] = f.Logits[id]
	}
	wrong[777] = nan
	d, err := s.Compare(row, wrong)
	require.NoError(t, err)
	require.Equal(t, -1.0, d.Cosine)
	require.True(t, math.IsInf(d.MaxAbs, 1) && math.IsInf(d.RMS, 1))
	require.True(t, math.IsInf(d.LSE, 1) && math.IsInf(d.L2, 1) && math.IsInf(d.KL, 1) && math.IsInf(d.Logprob, 1))
	_, err = s.Compare(row, wrong[1:])
	require.ErrorContains(t, err, "wanted 49152 logits, found 49151")
}

// Noise of known size on every word: the estimates must come out near the exact figures.
func TestEstimatesAreNearTheExactFigures(t *testing.T) {
	s, r := load(t), rand.New(rand.NewPCG(1, 2))
	for _, p := range s.Prompts {
		f := p.Full[1]
		got := append([]float32(nil), f.Logits...)
		for i := range got {
			got[i] += float32(0.2 * r.NormFloat64())
		}
		row := &p.Positions[f.Position]
		d, err := s.Compare(row, got)
		require.NoError(t, err)
		require.InEpsilon(t, 0.2, d.RMS, 0.25, p.Name)
		require.InEpsilon(t, 1-Cosine(f.Logits, got), 1-d.Cosine, 0.25, p.Name)
		exact := KL(f.Logits, got)
		require.LessOrEqual(t, d.KL, exact+1e-9, "leaders and one rest never exceed the full divergence")
		require.Greater(t, d.KL, exact/4, p.Name)
		require.Greater(t, d.MaxAbs, 0.3)
		require.Less(t, d.MaxAbs, MaxAbs(f.Logits, got)+1e-6)
	}
}

func TestTally(t *testing.T) {
	a, b := &Row{TopIDs: []int32{5, 6}, Top: []float32{2, 1.9}}, &Row{TopIDs: []int32{7, 6}, Top: []float32{2, 1}}
	var all Tally
	all.Add("first", a, Distance{MaxAbs: 0.1, Cosine: 0.9, KL: 0.1, Logprob: 0.3, Best: 6, Margin: a.Margin()})
	all.Add("second", b, Distance{MaxAbs: 0.3, RMS: 0.2, Cosine: 0.99, KL: 0.3, Logprob: 0.1, Best: 6, Margin: b.Margin()})
	all.Add("third", b, Distance{Same: true, Cosine: 1, RMS: math.NaN(), KL: 0.2, Logprob: 0.2, Margin: 1})
	require.Equal(t, 3, all.Positions)
	require.Equal(t, "second", all.MaxAbsAt)
	require.Equal(t, "first", all.CosineAt)
	require.InDelta(t, 0.2, all.KL, 1e-12)
	require.InDelta(t, 0.2, all.Logprob, 1e-12)
	require.Equal(t, 0.2, all.RMS)
	require.Equal(t, []Other{{"second", 7, 6, 1}}, all.WrongBeyond(0.3))
	require.Len(t, all.WrongBeyond(0), 2)
	require.Contains(t, all.String(), "max |Δlogit| 3.00e-01 (second)")
}
