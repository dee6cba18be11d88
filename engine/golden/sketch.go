package golden

// Sketch is a count sketch (Charikar, Chen, Farach-Colton 2002) of a row of logits: every word is added, with a sign, to
// one of few bins. It is linear, so the sketch of a difference is the difference of the sketches; a wrong value of any
// single word shows in full in its bin, and the expected sum of squares of the bins is the squared length of the
// difference over the whole vocabulary (relative spread about sqrt(2/bins), 9 % with 256 bins).
type Sketch struct {
	bin  []uint8
	sign []float64
	bins int
}

// NewSketch makes the plan for a vocabulary. Bins must be a power of two up to 256. Bin and sign come from the finaliser
// of splitmix64 over the word's id (Steele, Lea, Flood 2014): the top bits choose the bin, the lowest bit the sign.
func NewSketch(vocab, bins int) *Sketch {
	s := &Sketch{bin: make([]uint8, vocab), sign: make([]float64, vocab), bins: bins}
	for i := range s.bin {
		x := uint64(i) + 0x9E3779B97F4A7C15
		x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
		x = (x ^ x>>27) * 0x94D049BB133111EB
		x ^= x >> 31
		s.bin[i], s.sign[i] = uint8(int(x>>56)%bins), 1
		if x&1 == 1 {
			s.sign[i] = -1
		}
	}
	return s
}

// Of sums one row of logits [vocab] into bins [bins], in float64.
func (s *Sketch) Of(logits []float32) []float64 {
	out := make([]float64, s.bins)
	for i, v := range logits {
		out[s.bin[i]] += s.sign[i] * float64(v)
	}
	return out
}

func (s *Sketch) squareDistance(ref []float32, logits []float32) float64 {
	sum := 0.0
	for i, v := range s.Of(logits) {
		d := v - float64(ref[i])
		sum += d * d
	}
	return sum
}
