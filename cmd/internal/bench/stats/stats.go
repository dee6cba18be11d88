// Package stats holds the few statistics that a benchmark of requests needs: percentiles that refuse to be computed from
// too little, a line through points, a bootstrap, and a rank test for two samples.
//
// It does not know about requests, servers or files.
package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Dist describes a sample. A percentile is nil where the sample is too small for it (see MinN).
type Dist struct {
	N    int       `json:"n"`
	Mean *float64  `json:"mean"`
	Std  *float64  `json:"std"` // of the sample, n-1
	Min  *float64  `json:"min"`
	P50  *float64  `json:"p50"`
	P90  *float64  `json:"p90"`
	P95  *float64  `json:"p95"`
	P99  *float64  `json:"p99"`
	Max  *float64  `json:"max"`
	CI   []float64 `json:"p50_ci95,omitempty"` // bootstrap interval of the median, [low, high]
	Thin []string  `json:"undersampled,omitempty"`
}

// MinN is the smallest sample that has an observation beyond the p-th percentile, and at least 3: 10 for p90, 20 for p95,
// 100 for p99. Below it the percentile is the maximum under another name, and is refused.
func MinN(p float64) int { return max(3, int(math.Ceil(100/(100-p)-1e-9))) }

// Percentile returns the p-th percentile (0 to 100) of values in ascending order, interpolated linearly between the two
// nearest ranks: type 7 of Hyndman and Fan (1996), NumPy's default.
func Percentile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	h := p / 100 * float64(len(sorted)-1)
	i := min(int(h), len(sorted)-1)
	j := min(i+1, len(sorted)-1)
	return sorted[i] + (h-float64(i))*(sorted[j]-sorted[i])
}

// Median returns the 50th percentile of values in any order, NaN for none.
func Median(v []float64) float64 { return Percentile(slices.Sorted(slices.Values(v)), 50) }

// Mean returns the mean, NaN for none.
func Mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// Std returns the standard deviation of a sample (n-1), NaN for fewer than two.
func Std(v []float64) float64 {
	if len(v) < 2 {
		return math.NaN()
	}
	m, sum := Mean(v), 0.0
	for _, x := range v {
		sum += (x - m) * (x - m)
	}
	return math.Sqrt(sum / float64(len(v)-1))
}

// Describe makes a Dist. Values that are not finite are left out.
func Describe(values []float64) Dist {
	v := make([]float64, 0, len(values))
	for _, x := range values {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			v = append(v, x)
		}
	}
	slices.Sort(v)
	d := Dist{N: len(v)}
	if len(v) == 0 {
		return d
	}
	d.Mean, d.Min, d.Max = ref(Mean(v)), ref(v[0]), ref(v[len(v)-1])
	if len(v) > 1 {
		d.Std = ref(Std(v))
	}
	for _, p := range []struct {
		p    float64
		name string
		to   **float64
	}{{50, "p50", &d.P50}, {90, "p90", &d.P90}, {95, "p95", &d.P95}, {99, "p99", &d.P99}} {
		if len(v) < MinN(p.p) {
			d.Thin = append(d.Thin, p.name)
			continue
		}
		*p.to = ref(Percentile(v, p.p))
	}
	return d
}

// WithInterval is Describe with a bootstrap interval of the median, from five values on.
func WithInterval(values []float64) Dist {
	d := Describe(values)
	if d.N >= 5 && d.N == len(values) {
		lo, hi := Bootstrap(values, 500, Median)
		d.CI = []float64{lo, hi}
	}
	return d
}

func ref(x float64) *float64 { return &x }

// Bootstrap returns the 95 % percentile interval of a statistic over resamples of v (Efron 1979). The resampling has a
// fixed seed: the same sample gives the same interval. At most 2000 values, evenly taken, are resampled.
func Bootstrap(v []float64, rounds int, statistic func([]float64) float64) (low, high float64) {
	if len(v) > 2000 {
		thin := make([]float64, 2000)
		for i := range thin {
			thin[i] = v[i*len(v)/len(thin)]
		}
		v = thin
	}
	r := rand.New(rand.NewPCG(1, uint64(len(v))))
	sample, out := make([]float64, len(v)), make([]float64, rounds)
	for i := range out {
		for j := range sample {
			sample[j] = v[r.IntN(len(v))]
		}
		out[i] = statistic(sample)
	}
	slices.Sort(out)
	return Percentile(out, 2.5), Percentile(out, 97.5)
}

// Line is y = Intercept + Slope x.
type Line struct{ Slope, Intercept, R2 float64 }

// Fit returns the least-squares line through points; ok is false with fewer than two different x.
func Fit(x, y []float64) (l Line, ok bool) {
	mx, my := Mean(x), Mean(y)
	var sxx, sxy, syy float64
	for i := range x {
		sxx += (x[i] - mx) * (x[i] - mx)
		sxy += (x[i] - mx) * (y[i] - my)
		syy += (y[i] - my) * (y[i] - my)
	}
	if len(x) < 2 || sxx == 0 {
		return l, false
	}
	l.Slope = sxy / sxx
	l.Intercept = my - l.Slope*mx
	if l.R2 = 1; syy > 0 {
		l.R2 = sxy * sxy / (sxx * syy)
	}
	return l, true
}
