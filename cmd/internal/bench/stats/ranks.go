package stats

import (
	"math"
	"slices"
	"sort"
)

// MannWhitney returns the two-sided p-value of the hypothesis that a and b come from one distribution, by the rank sum
// (Mann and Whitney 1947). It is exact where there are no ties and at most 20 values on a side, else the normal
// approximation with tie and continuity corrections. NaN if a side is empty.
func MannWhitney(a, b []float64) (p float64) {
	n, m := len(a), len(b)
	if n == 0 || m == 0 {
		return math.NaN()
	}
	u, ties, tied := rankSum(a, b)
	if !tied && n <= 20 && m <= 20 {
		return exact(u, n, m)
	}
	nf, mf := float64(n), float64(m)
	total := nf + mf
	variance := nf * mf / 12 * (total + 1 - ties/(total*(total-1)))
	if variance <= 0 {
		return 1
	}
	z := (math.Abs(u-nf*mf/2) - 0.5) / math.Sqrt(variance)
	return min(1, math.Erfc(max(z, 0)/math.Sqrt2))
}

// rankSum returns U of a, the sum of t^3-t over groups of ties, and whether there are ties.
func rankSum(a, b []float64) (u, ties float64, tied bool) {
	type value struct {
		x     float64
		fromA bool
	}
	all := make([]value, 0, len(a)+len(b))
	for _, x := range a {
		all = append(all, value{x, true})
	}
	for _, x := range b {
		all = append(all, value{x, false})
	}
	sort.Slice(all, func(i, j int) bool { return all[i].x < all[j].x })
	sum := 0.0
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j].x == all[i].x {
			j++
		}
		t := float64(j - i)
		ties += t*t*t - t
		tied = tied || j-i > 1
		for k := i; k < j; k++ {
			if all[k].fromA {
				sum += float64(i+j+1) / 2
			}
		}
		i = j
	}
	return sum - float64(len(a)*(len(a)+1))/2, ties, tied
}

// exact returns the two-sided p-value of U from the distribution over all ways to place n of n+m ranks.
func exact(u float64, n, m int) float64 {
	// ways[i][s]: how many ways i of the ranks seen so far sum to s above the smallest sum.
	ways := make([][]float64, n+1)
	for i := range ways {
		ways[i] = make([]float64, n*m+1)
	}
	ways[0][0] = 1
	for rank := 1; rank <= n+m; rank++ {
		for i := min(rank, n); i >= 1; i-- {
			shift := rank - i // the rank's distance from where the i-th would be at least
			for s := n * m; s >= shift; s-- {
				ways[i][s] += ways[i-1][s-shift]
			}
		}
	}
	all, tail := 0.0, 0.0
	low := min(u, float64(n*m)-u)
	for s, w := range ways[n] {
		all += w
		if float64(s) <= low {
			tail += w
		}
	}
	return min(1, 2*tail/all)
}

// Shift returns the Hodges-Lehmann estimate of how much larger b is than a: the median of all differences. Large samples
// are thinned evenly to 500 values a side.
func Shift(a, b []float64) float64 {
	a, b = thin(a, 500), thin(b, 500)
	d := make([]float64, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			d = append(d, y-x)
		}
	}
	return Median(d)
}

func thin(v []float64, n int) []float64 {
	if len(v) <= n {
		return v
	}
	v = slices.Sorted(slices.Values(v))
	out := make([]float64, n)
	for i := range out {
		out[i] = v[i*len(v)/n]
	}
	return out
}

// Holm adjusts p-values for their number (Holm 1979), in place: an adjusted value below 0.05 is one that a family of true
// null hypotheses would show at most once in twenty families.
func Holm(p []float64) {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(i, j int) bool { return p[order[i]] < p[order[j]] })
	floor := 0.0
	for k, i := range order {
		floor = max(floor, min(1, p[i]*float64(len(p)-k)))
		p[i] = floor
	}
}
