package golden

import (
	"fmt"
	"math"
	"sort"
)

// MaxAbs is the largest |a-b|. NaN anywhere, or different lengths, gives +Inf: no comparison may pass by accident.
func MaxAbs(a, b []float32) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	most := 0.0
	for i := range a {
		most = worse(most, float64(a[i])-float64(b[i]))
	}
	return most
}

func worse(most, d float64) float64 {
	if math.IsNaN(d) {
		return math.Inf(1)
	}
	return math.Max(most, math.Abs(d))
}

// Cosine is a·b / |a||b|, summed in float64. NaN, an all-zero vector or different lengths give -1.
func Cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return -1
	}
	var ab, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	c := ab / math.Sqrt(aa*bb)
	if math.IsNaN(c) {
		return -1
	}
	return c
}

// LogSumExp is log Σ exp(x), in float64, safe for large x.
func LogSumExp(x []float32) float64 {
	most := math.Inf(-1)
	for _, v := range x {
		most = math.Max(most, float64(v))
	}
	sum := 0.0
	for _, v := range x {
		sum += math.Exp(float64(v) - most)
	}
	return most + math.Log(sum)
}

// KL is the Kullback-Leibler divergence KL(ref‖got) in nats of the distributions that two full rows of logits give.
// NaN in either, or different lengths, gives +Inf.
func KL(ref, got []float32) float64 {
	if len(ref) != len(got) {
		return math.Inf(1)
	}
	lr, lg, kl := LogSumExp(ref), LogSumExp(got), 0.0
	for i := range ref {
		p := float64(ref[i]) - lr
		kl += math.Exp(p) * (p - (float64(got[i]) - lg))
	}
	if math.IsNaN(kl) {
		return math.Inf(1)
	}
	return math.Max(kl, 0)
}

// Distance says how far one row of logits is from the reference at the same position.
type Distance struct {
	MaxAbs  float64 // largest |Δlogit| over the words that are kept (leaders and fixed set)
	RMS     float64 // root mean square of Δlogit over the whole vocabulary, estimated by the sketch; NaN where none is kept
	Cosine  float64 // of the two rows over the whole vocabulary, by the sketch; over the kept words where there is none
	LSE     float64 // |Δ log-sum-exp|
	L2      float64 // |Δ Euclidean length| of the whole row
	KL      float64 // KL(ref‖got) in nats over leaders and "all the rest" as one word: never above the full divergence
	Logprob float64 // mean |Δlogprob| of the reference's five leading words
	Same    bool    // the best word is the same
	Best    int32   // the best word of the compared row
	Margin  float64 // the reference's lead of its best word over its second, in logits
}

// Compare measures logits (one value a word of the vocabulary) against the reference row r.
func (s *Set) Compare(r *Row, logits []float32) (Distance, error) {
	if len(logits) != s.Model.Vocab {
		return Distance{}, fmt.Errorf("golden: wanted %d logits, found %d", s.Model.Vocab, len(logits))
	}
	lse := LogSumExp(logits)
	d := Distance{Margin: r.Margin(), RMS: math.NaN(), Best: best(logits), LSE: worse(0, lse-float64(r.LSE))}
	d.Same = d.Best == r.TopIDs[0]
	kept, ours := append([]float32(nil), r.Top...), at(logits, r.TopIDs)
	if r.Fixed != nil {
		kept, ours = append(kept, r.Fixed...), append(ours, at(logits, s.FixedIDs)...)
	}
	d.MaxAbs, d.Cosine = MaxAbs(kept, ours), Cosine(kept, ours)
	if math.IsInf(d.LSE, 1) { // NaN or Inf somewhere: also when it is in none of the kept words
		d.MaxAbs = d.LSE
	}
	d.KL = klLeaders(r, logits, lse)
	for i := range 5 {
		d.Logprob += worse(0, (float64(logits[r.TopIDs[i]])-lse)-(float64(r.Top[i])-float64(r.LSE))) / 5
	}
	length := 0.0
	for _, v := range logits {
		length += float64(v) * float64(v)
	}
	length = math.Sqrt(length)
	d.L2 = worse(0, length-float64(r.L2))
	if r.Sketch != nil {
		square := s.sketch.squareDistance(r.Sketch, logits)
		a, b := float64(r.L2), length
		d.RMS = worse(0, math.Sqrt(square/float64(len(logits))))
		d.Cosine = (a*a + b*b - square) / (2 * a * b)
		if math.IsNaN(d.Cosine) {
			d.Cosine = -1
		}
	}
	return d, nil
}

// klLeaders treats the leaders as words of their own and everything else as one word.
func klLeaders(r *Row, logits []float32, lse float64) float64 {
	kl, p, q := 0.0, 0.0, 0.0
	for i, id := range r.TopIDs {
		a, b := float64(r.Top[i])-float64(r.LSE), float64(logits[id])-lse
		kl += math.Exp(a) * (a - b)
		p, q = p+math.Exp(a), q+math.Exp(b)
	}
	if p < 1 {
		kl += (1 - p) * (math.Log1p(-p) - math.Log(math.Max(1-q, 1e-12)))
	}
	if math.IsNaN(kl) {
		return math.Inf(1)
	}
	return math.Max(kl, 0)
}

func best(x []float32) int32 {
	b := 0
	for i, v := range x {
		if v > x[b] {
			b = i
		}
	}
	return int32(b)
}

func at(x []float32, ids []int32) []float32 {
	out := make([]float32, len(ids))
	for i, id := range ids {
		out[i] = x[id]
	}
	return out
}

// Tally gathers the distances of many positions: the figures that a backend is held to.
type Tally struct {
	Positions   int
	MaxAbs      float64 // worst
	MaxAbsAt    string
	RMS         float64 // worst, of rows with a sketch
	Cosine      float64 // least
	CosineAt    string
	KL, Logprob float64 // means
	Other       []Other // positions with another best word
}

// Other is a position where the compared row has another best word than the reference.
type Other struct {
	Where     string
	Want, Got int32
	Margin    float64 // the reference's own lead, in logits
}

// Add counts the distance of the position called where.
func (t *Tally) Add(where string, r *Row, d Distance) {
	if t.Positions == 0 {
		t.Cosine = math.Inf(1)
	}
	if d.MaxAbs > t.MaxAbs {
		t.MaxAbs, t.MaxAbsAt = d.MaxAbs, where
	}
	if d.Cosine < t.Cosine {
		t.Cosine, t.CosineAt = d.Cosine, where
	}
	if d.RMS > t.RMS {
		t.RMS = d.RMS
	}
	n := float64(t.Positions)
	t.KL, t.Logprob = (t.KL*n+d.KL)/(n+1), (t.Logprob*n+d.Logprob)/(n+1)
	t.Positions++
	if !d.Same {
		t.Other = append(t.Other, Other{where, r.TopIDs[0], d.Best, d.Margin})
		sort.Slice(t.Other, func(i, j int) bool { return t.Other[i].Margin > t.Other[j].Margin })
	}
}

// WrongBeyond lists the positions with another best word where the reference led by at least margin.
func (t *Tally) WrongBeyond(margin float64) []Other {
	n := sort.Search(len(t.Other), func(i int) bool { return t.Other[i].Margin < margin })
	return t.Other[:n]
}

// String is one line with every figure.
func (t *Tally) String() string {
	return fmt.Sprintf("%d positions: max |Δlogit| %.2e (%s), rms over the vocabulary %.2e, cosine %.6f (%s), KL %.2e nats, |Δlogprob| of five leaders %.4f, other best word %d",
		t.Positions, t.MaxAbs, t.MaxAbsAt, t.RMS, t.Cosine, t.CosineAt, t.KL, t.Logprob, len(t.Other))
}
