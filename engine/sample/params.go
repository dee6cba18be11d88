// Package sample draws the next token from logits: penalties, temperature, top-k, top-p, min-p, draw, in that order
// (Hugging Face's and vLLM's), or in the order that a request gives.
//
// It does not know about models, batches or text: token ids and floats only.
package sample

import (
	"fmt"
	"math"
	"slices"
)

// Params is how a request wants its tokens drawn. The zero value is greedy.
type Params struct {
	Temperature      float64           // 0 = greedy: the largest logit, the lowest id among equals
	TopK             int               // keep the k likeliest; 0 = all
	TopP             float64           // keep the likeliest until their sum reaches p (Holtzman et al. 2019); 1 or 0 = all
	MinP             float64           // keep those at least p times as likely as the likeliest (Nguyen et al. 2024); 0 = all
	RepeatPenalty    float64           // divides positive and multiplies negative logits of seen tokens (Keskar et al. 2019); 1 or 0 = off
	PresencePenalty  float64           // taken once from the logit of a token that the answer has (OpenAI)
	FrequencyPenalty float64           // taken for each time the answer has the token (OpenAI)
	LogitBias        map[int32]float32 // added before anything else
	Seed             uint64
	Order            []string // of Stages; nil = Stages
}

// Stages are the sampler's parts between reading the logits and the draw, in their usual order.
var Stages = []string{"penalties", "temperature", "top_k", "top_p", "min_p"}

// nearZero is the temperature below which sampling is greedy: dividing by less would overflow.
const nearZero = 1e-5

// Greedy tells whether the largest logit is taken.
func (p *Params) Greedy() bool { return p.Temperature < nearZero || p.TopK == 1 }

// Check tells which parameter is out of range, by its name in a request.
func (p *Params) Check(vocab int) error {
	ranges := []struct {
		name     string
		v        float64
		min, max float64
	}{
		{"temperature", p.Temperature, 0, 100}, {"top_p", p.TopP, 0, 1}, {"min_p", p.MinP, 0, 1},
		{"repeat_penalty", p.RepeatPenalty, 0, 100},
		{"presence_penalty", p.PresencePenalty, -2, 2}, {"frequency_penalty", p.FrequencyPenalty, -2, 2},
	}
	for _, r := range ranges {
		if !(r.v >= r.min && r.v <= r.max) {
			return &ParamError{r.name, fmt.Sprintf("%v to %v", r.min, r.max), fmt.Sprint(r.v)}
		}
	}
	if p.TopK < 0 {
		return &ParamError{"top_k", "0 or more", fmt.Sprint(p.TopK)}
	}
	for id, v := range p.LogitBias {
		if id < 0 || int(id) >= vocab {
			return &ParamError{"logit_bias", fmt.Sprintf("token ids 0 to %d", vocab-1), fmt.Sprint(id)}
		}
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return &ParamError{"logit_bias", "finite numbers", fmt.Sprint(v)}
		}
	}
	for i, s := range p.Order {
		if !slices.Contains(Stages, s) || slices.Contains(p.Order[:i], s) {
			return &ParamError{"samplers", fmt.Sprintf("each of %v at most once", Stages), s}
		}
	}
	return nil
}

// ParamError is a parameter out of range.
type ParamError struct{ Param, Wanted, Found string }

func (e *ParamError) Error() string {
	return fmt.Sprintf("%s: wanted %s, found %s", e.Param, e.Wanted, e.Found)
}
