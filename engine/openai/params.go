package openai

import (
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strconv"
	"time"

	"glassbox/engine"
	"glassbox/engine/openai/wire"
	"glassbox/engine/sample"
	"glassbox/trace"
)

// job is a checked request: what the engine is asked, and how the answer is to be written.
type job struct {
	c       *call
	chat    bool
	prompts [][]int        // ids
	n       int            // answers to each prompt
	echo    []string       // completions: the prompts as text, where they are to come first in the answer
	request engine.Request // without ID and Tokens
	logs    bool           // log-probabilities are asked for; request.Logprobs says of how many
	stream  bool           // answer as server-sent events
	usage   bool           // stream: an event with the counts at the end
	running bool           // stream: counts so far in every event
	model   string         // as the request named it
	common  *wire.Common
}

const (
	maxStops       = 4  // OpenAI's limit
	maxTop         = 20 // OpenAI's limit of top_logprobs
	completionMax  = 16 // OpenAI's default of max_tokens for /v1/completions
	smallestTopP   = 1e-9
	maxPriority    = 1000
	maxWithin      = 24 * 3600 * 1000 // ms
	maxSeedForJSON = 1 << 53          // a seed we draw survives a client that reads numbers as doubles
)

// checked is a request that can be validated: *wire.ChatRequest or *wire.CompletionRequest with what the server knows of it.
type checked interface {
	shared() *wire.Common
	check(j *job) error // what only this kind of request has; sets logs, Logprobs and MaxTokens
}

// validate checks every parameter before any work is queued, and fills in the defaults.
//
//go:noinline
func (s *Server) validate(c *call, r checked) (*job, error) {
	m := c.w.Begin(trace.StepValidate)
	defer m.End()
	w := r.shared()
	j := &job{c: c, common: w, model: w.Model, stream: is(w.Stream), n: 1}
	if err := refused(c.body); err != nil {
		return nil, err
	}
	j.request.Logprobs, j.request.IgnoreEOS, j.request.Stop = -1, is(w.IgnoreEOS), w.Stop
	if o := w.StreamOptions; o != nil {
		j.usage, j.running = is(o.IncludeUsage), is(o.ContinuousUsage)
	}
	if j.model == "" {
		j.model = s.c.Model
	} else if err := s.knows(j.model); err != nil {
		return nil, err
	}
	if err := r.check(j); err != nil {
		return nil, err
	}
	if err := s.limits(w, j); err != nil {
		return nil, err
	}
	var err error
	if j.request.Grammar, err = s.form(w.ResponseFormat); err != nil {
		return nil, err
	}
	if j.request.Sampling, err = sampling(w); err != nil {
		return nil, err
	}
	if err := j.request.Sampling.Check(s.tok.Size()); err != nil {
		return nil, err
	}
	if err := s.ablation(w.Glassbox, &j.request); err != nil {
		return nil, err
	}
	if err := drafting(w.Glassbox, &j.request); err != nil {
		return nil, err
	}
	if err := s.stopping(c.r, w.Glassbox, &j.request); err != nil {
		return nil, err
	}
	if m.On() {
		p := j.params()
		m.Set("in", fmt.Sprintf("model %q, stream %t", w.Model, j.stream))
		m.Set("out", fmt.Sprintf("temperature %v, top_p %v, seed %v, max_tokens %v", p["temperature"], p["top_p"], p["seed"], p["max_tokens"]))
		c.rec.Update(func(f *trace.Facts) { f.Params = p })
	}
	c.job = j
	return j, nil
}

// limits checks n, stop, the least count of tokens, priority, deadline and what of the prompt may come from the cache.
func (s *Server) limits(w *wire.Common, j *job) error {
	if w.N != nil {
		if *w.N < 1 || int64(*w.N) > int64(s.c.Limits.Prompts) {
			return invalid("n", "n: wanted 1 to %d, found %d", s.c.Limits.Prompts, *w.N)
		}
		if j.n = int(*w.N); j.n > 1 && j.c.w.On() {
			return unsupported("unsupported_value", "glassbox", "a recording shows one answer, found n %d: ask for one, or send requests of their own", j.n)
		}
	}
	if w.MinTokens != nil {
		if j.request.MinTokens = int(*w.MinTokens); j.request.MinTokens < 0 || j.request.MaxTokens > 0 && j.request.MinTokens > j.request.MaxTokens {
			return invalid("min_tokens", "min_tokens: wanted 0 up to the most tokens of the answer, found %d", *w.MinTokens)
		}
	}
	if w.Priority != nil {
		if *w.Priority < -maxPriority || *w.Priority > maxPriority {
			return invalid("priority", "priority: wanted %d to %d (lower goes first), found %d", -maxPriority, maxPriority, *w.Priority)
		}
		j.request.Priority = int(*w.Priority)
	}
	if w.CacheSalt != nil {
		j.request.Salt = "salt " + *w.CacheSalt
	}
	if w.CachePrompt != nil && !*w.CachePrompt {
		j.request.Salt = rand.Text()
	}
	if g := w.Glassbox; g != nil && g.Within != nil {
		if *g.Within < 1 || *g.Within > maxWithin {
			return invalid("glassbox.within_ms", "glassbox.within_ms: wanted 1 to %d, found %d", maxWithin, *g.Within)
		}
		j.request.Deadline = time.Now().Add(time.Duration(*g.Within) * time.Millisecond)
	}
	if len(w.Stop) > maxStops {
		return invalid("stop", "stop: wanted at most %d texts, found %d", maxStops, len(w.Stop))
	}
	return nil
}

// tokenLimit checks a limit of answer tokens.
func tokenLimit(name string, n *wire.Int, to *int) error {
	if n == nil {
		return nil
	}
	if *n < 1 {
		return invalid(name, "%s: wanted 1 or more, found %d", name, *n)
	}
	*to = int(*n)
	return nil
}

// sampling turns the request's fields into the sampler's, with OpenAI's defaults.
func sampling(w *wire.Common) (sample.Params, error) {
	p := sample.Params{Temperature: 1, TopP: 1, RepeatPenalty: 1}
	for _, f := range []struct {
		name     string
		from     *float64
		to       *float64
		min, max float64
	}{
		{"temperature", w.Temperature, &p.Temperature, 0, 2}, {"top_p", w.TopP, &p.TopP, 0, 1}, {"min_p", w.MinP, &p.MinP, 0, 1},
		{"repetition_penalty", w.RepetitionPen, &p.RepeatPenalty, 0, 100}, {"repeat_penalty", w.RepeatPenalty, &p.RepeatPenalty, 0, 100},
		{"presence_penalty", w.PresencePenalty, &p.PresencePenalty, -2, 2}, {"frequency_penalty", w.FrequencyPenalty, &p.FrequencyPenalty, -2, 2},
	} {
		if f.from == nil {
			continue
		}
		if !(*f.from >= f.min && *f.from <= f.max) || f.to == &p.RepeatPenalty && *f.from == 0 {
			return p, invalid(f.name, "%s: wanted %s, found %v", f.name, rangeOf(f.to == &p.RepeatPenalty, f.min, f.max), *f.from)
		}
		*f.to = *f.from
	}
	p.TopP = max(p.TopP, smallestTopP) // the sampler reads 0 as "off"; here it means the likeliest alone
	if w.TopK != nil {
		if *w.TopK < -1 {
			return p, invalid("top_k", "top_k: wanted 0 or more (0 or -1 for all), found %d", *w.TopK)
		}
		p.TopK = int(max(*w.TopK, 0))
	}
	p.Seed = mathrand.Uint64N(maxSeedForJSON)
	if w.Seed != nil {
		p.Seed = uint64(*w.Seed)
	}
	p.Order = w.Samplers
	return p, biases(w, &p)
}

func rangeOf(open bool, low, high float64) string {
	if open {
		return fmt.Sprintf("more than %v, up to %v", low, high)
	}
	return fmt.Sprintf("%v to %v", low, high)
}

// biases reads logit_bias: token ids as keys, numbers from -100 to 100.
func biases(w *wire.Common, p *sample.Params) error {
	for key, v := range w.LogitBias {
		id, err := strconv.ParseInt(key, 10, 32)
		if err != nil {
			return invalid("logit_bias", "logit_bias: wanted token ids as keys, found %q", shorten(key, 40))
		}
		if !(v >= -100 && v <= 100) {
			return invalid("logit_bias", "logit_bias of token %d: wanted -100 to 100, found %v", id, v)
		}
		if p.LogitBias == nil {
			p.LogitBias = make(map[int32]float32, len(w.LogitBias))
		}
		p.LogitBias[int32(id)] = float32(v)
	}
	return nil
}

// params are the parameters in force, for the recording: every value that had a part in the answer.
func (j *job) params() map[string]any {
	p := &j.request.Sampling
	order := p.Order
	if order == nil {
		order = sample.Stages
	}
	m := map[string]any{"model": j.model, "stream": j.stream, "n": j.n, "temperature": p.Temperature, "top_p": p.TopP, "top_k": p.TopK, "min_p": p.MinP,
		"repeat_penalty": p.RepeatPenalty, "presence_penalty": p.PresencePenalty, "frequency_penalty": p.FrequencyPenalty,
		"seed": int64(p.Seed), "samplers": slices.Clone(order), "ignore_eos": j.request.IgnoreEOS}
	if p.TopP == smallestTopP {
		m["top_p"] = 0.0
	}
	if j.request.MaxTokens > 0 {
		m["max_tokens"] = j.request.MaxTokens
	} else {
		m["max_tokens"] = nil // as many as the context holds
	}
	if len(j.request.Stop) > 0 {
		m["stop"] = j.request.Stop
	}
	if g := j.request.Grammar; g != nil {
		m["response_format"] = g.Name
	}
	if j.request.MinTokens > 0 {
		m["min_tokens"] = j.request.MinTokens
	}
	if j.request.Priority != 0 {
		m["priority"] = j.request.Priority
	}
	if j.logs {
		m["logprobs"] = j.request.Logprobs
	}
	if j.request.Ablate.Any() {
		m["ablate"] = j.request.Ablate.Names()
	}
	if j.request.Draft != "" {
		m["draft"] = j.request.Draft
	}
	if list := j.request.Stops; len(list) > 0 {
		names := make([]string, len(list))
		for i, p := range list {
			names[i] = p.String()
		}
		m["stops"] = names
	}
	if len(p.LogitBias) > 0 {
		bias := make(map[string]any, len(p.LogitBias))
		for id, v := range p.LogitBias {
			bias[strconv.Itoa(int(id))] = v
		}
		m["logit_bias"] = bias
	}
	return m
}

func is(b *bool) bool { return b != nil && *b }
