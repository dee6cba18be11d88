package sample

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/trace"
)

func row(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64() * 3)
	}
	return v
}

// draws counts n draws from fresh copies of the logits.
func draws(p Params, logits []float32, n int) map[int32]int {
	got := map[int32]int{}
	s := New(p, nil)
	for range n {
		got[s.Next(slices.Clone(logits), nil)]++
		clear(s.counts)
	}
	return got
}

func softmax(v []float32, t float64) []float64 {
	lse := 0.0
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = math.Exp(float64(x) / t)
		lse += out[i]
	}
	for i := range out {
		out[i] /= lse
	}
	return out
}

func TestGreedyTakesTheLargestAndLowestOfEquals(t *testing.T) {
	for _, temp := range []float64{0, 1e-9, 1e-7} {
		require.EqualValues(t, 2, New(Params{Temperature: temp}, nil).Next([]float32{1, 3, 5, 5}, nil), temp)
	}
	require.EqualValues(t, 1, New(Params{}, nil).Next([]float32{float32(math.NaN()), 1, 0}, nil))
}

func TestRowsThatAreNoDistribution(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, p := range []Params{{}, {Temperature: 1}, {Temperature: 0.7, TopK: 2, TopP: 0.9, MinP: 0.1, RepeatPenalty: 1.2, PresencePenalty: 1}} {
		for _, row := range [][]float32{{nan, nan, nan}, {-inf, nan, -inf}, {1, inf, 2}} {
			s := New(p, []int32{1})
			s.Next(slices.Clone(row), nil)
			require.True(t, s.Broken(), "%v %v", p, row)
			s.Next([]float32{1, nan, -inf}, nil)
			require.False(t, s.Broken(), "one logit is enough")
		}
	}
	// A penalty that divides by next to nothing does not end in NaN.
	require.Equal(t, map[int32]int{1: 20}, func() map[int32]int {
		got := map[int32]int{}
		for seed := range uint64(20) {
			got[New(Params{Temperature: 1, RepeatPenalty: 1e-300, Seed: seed}, []int32{1}).Next([]float32{1, 2, 3}, nil)]++
		}
		return got
	}())
}

func TestTinyTemperatureIsFiniteAndSharp(t *testing.T) {
	require.Equal(t, map[int32]int{3: 50}, draws(Params{Temperature: 1e-4}, []float32{10, 20, 1e4, 1.1e4, -1e4}, 50))
}

func TestDrawsFollowTheSoftmax(t *testing.T) {
	logits := row(12, 3)
	for _, temp := range []float64{0.5, 1, 2} {
		want := softmax(logits, temp)
		const n = 20000
		chi := 0.0
		got := draws(Params{Temperature: temp, Seed: 9}, logits, n)
		for i, p := range want {
			d := float64(got[int32(i)]) - n*p
			chi += d * d / (n * p)
		}
		require.Less(t, chi, 35.0, "chi-square of 11 degrees of freedom at temperature %v", temp)
	}
}

func TestCutsKeepExactlyWhatTheirDefinitionsSay(t *testing.T) {
	logits := row(3000, 5)
	p := softmax(logits, 1)
	ids := make([]int32, len(p))
	for i := range ids {
		ids[i] = int32(i)
	}
	slices.SortFunc(ids, func(a, b int32) int {
		return byLogit(candidate{a, logits[a]}, candidate{b, logits[b]})
	})
	left := func(prm Params) []int32 {
		prm.Temperature = 1
		s := New(prm, nil)
		s.Next(slices.Clone(logits), nil)
		var got []int32
		for _, c := range s.cand {
			got = append(got, c.id)
		}
		slices.SortFunc(got, func(a, b int32) int { return byLogit(candidate{a, logits[a]}, candidate{b, logits[b]}) })
		return got
	}
	require.Equal(t, ids[:40], left(Params{TopK: 40}))
	for _, topP := range []float64{0.05, 0.5, 0.9, 0.999} {
		sum, n := 0.0, 0
		for sum < topP {
			sum += p[ids[n]]
			n++
		}
		require.Equal(t, ids[:n], left(Params{TopP: topP}), "top_p %v", topP)
	}
	n := 0
	for p[ids[n]] >= 0.1*p[ids[0]] {
		n++
	}
	require.Equal(t, ids[:n], left(Params{MinP: 0.1}))
}

func TestPenaltiesCountWhatTheyShould(t *testing.T) {
	// The repeat penalty counts the prompt too, and makes negative logits more negative.
	s := New(Params{RepeatPenalty: 2}, []int32{0, 1})
	l := []float32{4, -4, 1.5}
	require.EqualValues(t, 0, s.Next(l, nil))
	require.Equal(t, []float32{2, -8, 1.5}, l)
	// Presence and frequency count the answer alone.
	s = New(Params{PresencePenalty: 0.5, FrequencyPenalty: 1}, []int32{0})
	for want, in := range [][]float32{{4, 1, 1}, {4, 1, 1}, {4, 1, 1}} {
		l = slices.Clone(in)
		require.EqualValues(t, 0, s.Next(l, nil), want)
	}
	require.Equal(t, []float32{4 - 0.5 - 2, 1, 1}, l)
}

func TestBiasIsAddedFirst(t *testing.T) {
	require.EqualValues(t, 1, New(Params{LogitBias: map[int32]float32{1: 100}}, nil).Next([]float32{5, 0, 1}, nil))
}

func TestSameSeedSameTokens(t *testing.T) {
	run := func(seed uint64) (ids []int32) {
		s := New(Params{Temperature: 1, TopP: 0.95, Seed: seed}, nil)
		for i := range 20 {
			ids = append(ids, s.Next(row(500, uint64(i)), nil))
		}
		return ids
	}
	require.Equal(t, run(7), run(7))
	require.NotEqual(t, run(7), run(8))
}

func TestOwnOrderOfStages(t *testing.T) {
	// min_p before temperature cuts at the model's own distribution.
	l := []float32{2, 1.9, -3}
	s := New(Params{Temperature: 100, MinP: 0.5, Order: []string{"min_p", "temperature"}}, nil)
	s.Next(slices.Clone(l), nil)
	require.Len(t, s.cand, 2)
	s = New(Params{Temperature: 100, MinP: 0.5, Order: []string{"temperature", "min_p"}}, nil)
	s.Next(slices.Clone(l), nil)
	require.Len(t, s.cand, 3)
}

func TestCheckNamesTheParameter(t *testing.T) {
	bad := map[string]Params{
		"temperature": {Temperature: math.NaN()}, "top_p": {TopP: 1.5}, "min_p": {MinP: -1}, "top_k": {TopK: -1},
		"presence_penalty": {PresencePenalty: 3}, "frequency_penalty": {FrequencyPenalty: -3},
		"repeat_penalty": {RepeatPenalty: -1}, "logit_bias": {LogitBias: map[int32]float32{10: 1}}, "samplers": {Order: []string{"mirostat"}},
	}
	for name, p := range bad {
		var e *ParamError
		require.True(t, errors.As(p.Check(10), &e), name)
		require.Equal(t, name, e.Param)
	}
	require.NoError(t, (&Params{Temperature: 2, TopP: 1, RepeatPenalty: 1.1, LogitBias: map[int32]float32{9: -100}}).Check(10))
}

func TestTopLogprobsAreTheModelsOwn(t *testing.T) {
	l := row(300, 2)
	p := softmax(l, 1)
	chosen, top := Top(l, 7, 5)
	require.InDelta(t, math.Log(p[7]), chosen.Logprob, 1e-9)
	require.Len(t, top, 5)
	for i, x := range top {
		require.InDelta(t, math.Log(p[x.ID]), x.Logprob, 1e-9)
		require.True(t, i == 0 || x.Logprob <= top[i-1].Logprob)
	}
}

func TestEachStageLeavesASpan(t *testing.T) {
	r := trace.NewRecorder("x", 0, trace.CaptureSpec{})
	p := Params{Temperature: 0.7, TopK: 40, TopP: 0.9, MinP: 0.05, RepeatPenalty: 1.1, Seed: 1}
	New(p, []int32{1, 2}).Next(row(1000, 1), r.Writer(trace.LaneLoop))
	var b trace.Batch
	r.Drain(&b)
	var got []trace.StepID
	for _, s := range b.Spans {
		got = append(got, s.Step)
	}
	require.Equal(t, []trace.StepID{trace.StepLogits, trace.StepPenalties, trace.StepTemperature, trace.StepTopK, trace.StepTopP, trace.StepMinP, trace.StepDraw}, got)
}

func BenchmarkNext(b *testing.B) {
	l := row(49152, 1)
	for name, p := range map[string]Params{"greedy": {}, "plain": {Temperature: 1}, "top_p": {Temperature: 1, TopP: 0.9},
		"usual": {Temperature: 0.7, TopK: 40, TopP: 0.95, MinP: 0.05}} {
		b.Run(name, func(b *testing.B) {
			s := New(p, nil)
			buf := make([]float32, len(l))
			for b.Loop() {
				copy(buf, l)
				s.Next(buf, nil)
			}
		})
	}
}
