package model

import (
	"fmt"
	"math"

	"glassbox/engine/graph"
	"glassbox/engine/tensor"
)

// RopeScaling is how a file stretches rotary positions beyond the context of its first training. The zero value is none.
// Keys: GGUF specification, "ARCH.rope.scaling.*".
type RopeScaling struct {
	Type        string  // "", "linear" or "yarn"
	Factor      float64 // by which positions are stretched
	OrigContext int     // yarn: positions of the first training
	AttnFactor  float64 // yarn: a further factor of sines and cosines, 1 as a rule
	BetaFast    float64 // yarn: turns within OrigContext from which on a pair is left as it is
	BetaSlow    float64 // yarn: turns within OrigContext up to which a pair is stretched in full
}

// scaling reads the keys, with llama.cpp's defaults.
func (r *configReader) scaling(context int) (s RopeScaling) {
	if r.err != nil {
		return s
	}
	if s.Type, r.err = r.f.StringOr(r.arch+".rope.scaling.type", "none"); r.err != nil || s.Type == "none" {
		return RopeScaling{}
	}
	if s.Type != "linear" && s.Type != "yarn" {
		r.err = r.fail("rope.scaling.type", `"none", "linear" or "yarn"`, fmt.Sprintf("%q", s.Type))
		return s
	}
	s.Factor = r.float("rope.scaling.factor", math.NaN())
	if s.Type != "yarn" {
		return s
	}
	s.OrigContext = r.count("rope.scaling.original_context_length", context, maxContext)
	s.AttnFactor = r.float("rope.scaling.attn_factor", 1)
	s.BetaFast = r.float("rope.scaling.yarn_beta_fast", 32)
	s.BetaSlow = r.float("rope.scaling.yarn_beta_slow", 1)
	for key, only := range map[string]float64{"yarn_ext_factor": 1, "yarn_attn_factor": 1, "yarn_log_multiplier": 0} {
		if v := r.float("rope.scaling."+key, only); r.err == nil && v != only {
			r.err = r.fail("rope.scaling."+key, fmt.Sprintf("%v, or none: no other is computed", only), v)
		}
	}
	return s
}

// check refuses what makes no sense or is not computed.
func (s *RopeScaling) check(r *configReader, base float64) error {
	if s.Type == "" {
		return nil
	}
	if !(s.Factor >= 1) || math.IsInf(s.Factor, 0) {
		return r.fail("rope.scaling.factor", "a number from 1 on", s.Factor)
	}
	if s.Type == "linear" {
		return nil
	}
	if !(s.BetaSlow > 0 && s.BetaFast > s.BetaSlow) || math.IsInf(s.BetaFast, 0) {
		return r.fail("rope.scaling.yarn_beta_fast", fmt.Sprintf("a number above yarn_beta_slow, which is %v and is to be positive", s.BetaSlow), s.BetaFast)
	}
	if !(s.AttnFactor > 0) || math.IsInf(s.AttnFactor, 0) {
		return r.fail("rope.scaling.attn_factor", "a positive number", s.AttnFactor)
	}
	if !(base > 1) {
		return r.fail("rope.freq_base", "a number above 1, for yarn", base)
	}
	return nil
}

// rope returns how positions turn queries and keys: the file's base, its scaling, and the divisors of Llama 3's scaling,
// which files carry as a tensor (see ropeFactors).
func (l *loader) rope(c *Config, halves bool) *graph.Rope {
	r := &graph.Rope{Base: c.RopeBase, Dim: c.RopeDim, Halves: halves, Factors: l.ropeFactors(c.RopeDim)}
	if c.Scaling.Type == "" {
		return r
	}
	if r.Factors == nil {
		r.Factors = make([]float64, c.RopeDim/2)
		for i := range r.Factors {
			r.Factors[i] = 1
		}
	}
	if c.Scaling.Type == "linear" { // positions divided by the factor (Chen et al. 2023)
		for i := range r.Factors {
			r.Factors[i] *= c.Scaling.Factor
		}
		return r
	}
	for i := range r.Factors {
		r.Factors[i] *= c.Scaling.yarn(c.RopeBase, c.RopeDim, i)
	}
	// On queries and keys alike, so squared on the scores: it takes softmax's temperature down (Peng et al. 2023, section 3.4).
	r.Scale = c.Scaling.AttnFactor * (1 + 0.1*math.Log(c.Scaling.Factor))
	return r
}

// yarn returns the divisor of pair i's frequency (Peng et al. 2023, "NTK-by-parts"): 1 for pairs that turn often within the
// original context, the factor for those that turn less than once, and a frequency in between on the way.
func (s *RopeScaling) yarn(base float64, dim, i int) float64 {
	// pair returns the pair that makes so many turns within the original context.
	pair := func(turns float64) float64 {
		return float64(dim) * math.Log(float64(s.OrigContext)/(2*math.Pi*turns)) / (2 * math.Log(base))
	}
	low, high := max(0, math.Floor(pair(s.BetaFast))), min(float64(dim-1), math.Ceil(pair(s.BetaSlow)))
	stretched := min(1, max(0, (float64(i)-low)/max(0.001, high-low)))
	return 1 / (stretched/s.Factor + 1 - stretched)
}

// ropeFactors reads the frequency divisors that files of Llama 3.1 and later carry (rope_freqs.weight, Dim/2 values), nil
// where there are none. Converters work them out from transformers' factor, low_freq_factor, high_freq_factor and
// original_max_position_embeddings; the file has no keys of these.
func (l *loader) ropeFactors(dim int) []float64 {
	w := l.optional("rope_freqs.weight", 1, dim/2)
	if w == nil {
		return nil
	}
	vals := make([]float32, dim/2)
	if err := tensor.Dequant(w.Type, vals, w.Data); err != nil {
		l.fail(w.Name, "values", err)
		return nil
	}
	f := make([]float64, len(vals))
	for i, v := range vals {
		if !(v > 0) {
			l.fail(w.Name, "positive divisors", v)
			return nil
		}
		f[i] = float64(v)
	}
	return f
}
