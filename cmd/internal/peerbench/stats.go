package main

import (
	"fmt"
	"math"
	"sort"
)

// sample is repeated readings of one quantity. No readings means not measured.
type sample []float64

func (s sample) sorted() sample {
	out := append(sample(nil), s...)
	sort.Float64s(out)
	return out
}

// median is the middle reading, or the mean of the two in the middle; NaN for none.
func (s sample) median() float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	o := s.sorted()
	n := len(o)
	return (o[(n-1)/2] + o[n/2]) / 2
}

// text is "median (least–most)" with a sensible number of digits.
func (s sample) text() string {
	if len(s) == 0 {
		return "not measured"
	}
	o := s.sorted()
	return fmt.Sprintf("%s (%s–%s)", figure(s.median()), figure(o[0]), figure(o[len(o)-1]))
}

func figure(x float64) string {
	switch a := math.Abs(x); {
	case math.IsNaN(x):
		return "not measured"
	case a >= 100:
		return fmt.Sprintf("%.0f", x)
	case a >= 10:
		return fmt.Sprintf("%.1f", x)
	default:
		return fmt.Sprintf("%.2f", x)
	}
}

// valid drops readings that no clock can give, so that a broken run never becomes a good figure.
func valid(xs []float64) sample {
	var out sample
	for _, x := range xs {
		if x > 0 && !math.IsInf(x, 0) {
			out = append(out, x)
		}
	}
	return out
}

// tracingCost is how much longer decoding takes traced than untraced, in percent: the median over pairs that ran next
// to each other, so that a machine whose speed drifts does not decide the answer.
func tracingCost(off, on []float64) sample {
	var out sample
	for i := range min(len(off), len(on)) {
		if off[i] > 0 && on[i] > 0 {
			out = append(out, 100*(off[i]/on[i]-1))
		}
	}
	return out
}
