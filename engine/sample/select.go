package sample

import (
	"math"
	"slices"
)

// argmax returns the index of the largest value, the lowest among equals.
func argmax(v []float32) int32 {
	best := 0
	for i, x := range v {
		if x > v[best] {
			best = i
		}
	}
	return int32(best)
}

// largest returns the k largest values with their indices, by falling value, then rising index. It keeps a heap of k with
// the least of them on top, so the row is read once.
func largest(dst []candidate, v []float32, k int) []candidate {
	h := dst[:0]
	for i, x := range v {
		c := candidate{int32(i), x}
		if len(h) < k {
			h = append(h, c)
			for j := len(h) - 1; j > 0 && byLogit(h[(j-1)/2], h[j]) < 0; j = (j - 1) / 2 {
				h[j], h[(j-1)/2] = h[(j-1)/2], h[j]
			}
		} else if x > h[0].v {
			h[0] = c
			sink(h)
		}
	}
	slices.SortFunc(h, byLogit)
	return h
}

// sink restores the heap after its top was replaced.
func sink(h []candidate) {
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(h) {
			return
		}
		if c+1 < len(h) && byLogit(h[c], h[c+1]) < 0 {
			c++
		}
		if byLogit(h[i], h[c]) >= 0 {
			return
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}

// Logprob is a token and its log-probability under the model's own distribution.
type Logprob struct {
	ID      int32
	Logprob float64
}

// Top returns log-probabilities: of the chosen token, and of the n likeliest by falling value. logits are the model's own,
// before biases, penalties and temperature, so that clients see what the model believes.
func Top(logits []float32, chosen int32, n int) (Logprob, []Logprob) {
	lse := LogSumExp(logits)
	at := func(id int32) Logprob { return Logprob{id, float64(logits[id]) - lse} }
	if n == 0 {
		return at(chosen), nil
	}
	top := make([]Logprob, 0, n)
	for _, c := range largest(nil, logits, n) {
		top = append(top, at(c.id))
	}
	return at(chosen), top
}

// LogSumExp returns log(sum(exp(v))) in float64.
func LogSumExp(v []float32) float64 {
	most := float32(math.Inf(-1))
	for _, x := range v {
		most = max(most, x)
	}
	sum := 0.0
	for _, x := range v {
		sum += math.Exp(float64(x - most))
	}
	return float64(most) + math.Log(sum)
}
