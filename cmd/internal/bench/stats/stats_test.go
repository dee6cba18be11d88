package stats

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// reference are values of NumPy and SciPy; testdata/make.py made them.
type reference struct {
	A, B, C, D  []float64
	PExact      float64 `json:"p_exact"`
	PTies       float64 `json:"p_ties"`
	Percentiles map[string]float64
	Std, Shift  float64
	X, Y        []float64
	Slope       float64
	Intercept   float64
	R2          float64
}

func scipy(t *testing.T) (r reference) {
	t.Helper()
	data, err := os.ReadFile("testdata/reference.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &r))
	return r
}

func TestAgainstSciPy(t *testing.T) {
	r := scipy(t)
	sorted := slices.Sorted(slices.Values(r.A))
	require.Len(t, r.Percentiles, 7)
	for name, want := range r.Percentiles {
		p, err := strconv.ParseFloat(name, 64)
		require.NoError(t, err)
		require.InDelta(t, want, Percentile(sorted, p), 1e-12, name)
	}
	require.InDelta(t, r.Std, Std(r.A), 1e-12)
	require.InDelta(t, r.PExact, MannWhitney(r.A, r.B), 1e-12)
	require.InDelta(t, r.PExact, MannWhitney(r.B, r.A), 1e-12, "two-sided")
	require.InDelta(t, r.PTies, MannWhitney(r.C, r.D), 1e-12)
	require.InDelta(t, r.Shift, Shift(r.A, r.B), 1e-12)
	l, ok := Fit(r.X, r.Y)
	require.True(t, ok)
	require.InDelta(t, r.Slope, l.Slope, 1e-12)
	require.InDelta(t, r.Intercept, l.Intercept, 1e-12)
	require.InDelta(t, r.R2, l.R2, 1e-12)
}

// A percentile is refused where no value lies beyond it.
func TestSmallSamplesAreRefusedTheirTails(t *testing.T) {
	values := func(n int) (v []float64) {
		for i := range n {
			v = append(v, float64(i))
		}
		return v
	}
	for _, c := range []struct {
		n    int
		thin []string
	}{{2, []string{"p50", "p90", "p95", "p99"}}, {9, []string{"p90", "p95", "p99"}}, {10, []string{"p95", "p99"}}, {20, []string{"p99"}}, {99, []string{"p99"}}, {100, nil}} {
		d := Describe(values(c.n))
		require.Equal(t, c.thin, d.Thin, c.n)
		require.Equal(t, c.n >= 100, d.P99 != nil)
		require.Equal(t, c.n >= 20, d.P95 != nil)
	}
	require.Equal(t, []int{3, 10, 20, 100, 1000}, []int{MinN(50), MinN(90), MinN(95), MinN(99), MinN(99.9)})
}

func TestEmptyAndBroken(t *testing.T) {
	d := Describe([]float64{math.NaN(), math.Inf(1)})
	require.Zero(t, d.N)
	require.Nil(t, d.Mean)
	_, err := json.Marshal(WithInterval([]float64{math.NaN(), 1, 2, 3, 4, 5}))
	require.NoError(t, err, "no NaN may reach a file")
	require.True(t, math.IsNaN(MannWhitney(nil, []float64{1})))
	require.Equal(t, 1.0, MannWhitney([]float64{1, 1}, []float64{1, 1}))
	_, ok := Fit([]float64{3, 3}, []float64{1, 2})
	require.False(t, ok)
}

// Holm's example of four: the smallest times four, and never below one before it.
func TestHolm(t *testing.T) {
	p := []float64{0.01, 0.04, 0.03, 0.005}
	Holm(p)
	require.InDeltaSlice(t, []float64{0.03, 0.06, 0.06, 0.02}, p, 1e-12)
}

// Under no difference the test names one about as often as it says; the interval covers the median about as often.
func TestRatesOfError(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	draw := func(n int) (v []float64) {
		for range n {
			v = append(v, r.ExpFloat64()+5)
		}
		return v
	}
	found, covered := 0, 0
	const rounds = 300
	median := 5 + math.Ln2
	for range rounds {
		if MannWhitney(draw(30), draw(30)) < 0.05 {
			found++
		}
		if lo, hi := Bootstrap(draw(40), 200, Median); lo <= median && median <= hi {
			covered++
		}
	}
	require.InDelta(t, 0.05*rounds, found, 12)
	require.InDelta(t, 0.94*rounds, covered, 14)
}
