package openai

import (
	"fmt"

	"glassbox/engine/openai/wire"
	"glassbox/engine/token"
	"glassbox/trace"
)

type completionRequest struct{ wire.CompletionRequest }

// completion serves POST /v1/completions.
func (s *Server) completion(c *call) error {
	var r completionRequest
	if err := c.decodeJSON(&r.CompletionRequest); err != nil {
		return err
	}
	j, err := s.validate(c, &r)
	if err != nil {
		return err
	}
	c.newID("cmpl-")
	if r.Prompt.Len() > s.c.Limits.Prompts/j.n {
		return invalid("prompt", "prompt: wanted at most %d answers, prompts times n, found %d: send several requests", s.c.Limits.Prompts, r.Prompt.Len()*j.n)
	}
	if err := s.encode(j, r.Prompt); err != nil {
		return err
	}
	if is(r.Echo) {
		if j.echo, err = s.echoes(j, r.Prompt); err != nil {
			return err
		}
	}
	return s.generate(j)
}

// encode makes ids of the prompts. Marks in a text count, as the caller writes the whole prompt here.
func (s *Server) encode(j *job, p *wire.Prompt) error {
	w, start := j.c.w, trace.Now()
	j.prompts = p.IDs
	for _, text := range p.Texts {
		j.prompts = append(j.prompts, s.tok.Encode(text, token.Options{AddSpecial: true, ParseSpecial: true, Trace: w}))
	}
	j.c.before = append(j.c.before, part{"tokenize", start, trace.Now(), nil})
	for n, ids := range j.prompts {
		for i, id := range ids {
			if err := s.tok.Check(id); err != nil {
				return invalid("prompt", "prompt %d, token %d: %v", n, i, err)
			}
		}
	}
	if w.On() {
		texts, err := s.echoes(j, p)
		if err != nil {
			return err
		}
		j.c.rec.Update(func(f *trace.Facts) { f.Prompt = texts[0] })
		j.c.prompt(texts[0], j.prompts[0])
	}
	return nil
}

// echoes returns the prompts as text.
func (s *Server) echoes(j *job, p *wire.Prompt) ([]string, error) {
	if p.Texts != nil {
		return p.Texts, nil
	}
	texts := make([]string, len(j.prompts))
	for i, ids := range j.prompts {
		var err error
		if texts[i], err = s.tok.Decode(ids); err != nil {
			return nil, fmt.Errorf("prompt %d: %w", i, err)
		}
	}
	return texts, nil
}

func (r *completionRequest) shared() *wire.Common { return &r.Common }

// check looks at what only completion requests have.
func (r *completionRequest) check(j *job) error {
	switch {
	case r.Prompt == nil || r.Prompt.Len() == 0:
		return invalid("prompt", "prompt: wanted a text, token ids or a list of them, found none")
	case j.c.w.On() && r.Prompt.Len() > 1:
		return unsupported("unsupported_value", "glassbox", "a recording shows one prompt, found %d: send each in a request of its own", r.Prompt.Len())
	}
	j.request.MaxTokens = completionMax
	if r.Logprobs != nil {
		if n := *r.Logprobs; n < 0 || n > maxTop {
			return invalid("logprobs", "logprobs: wanted 0 to %d, found %d", maxTop, n)
		}
		j.logs, j.request.Logprobs = true, int(*r.Logprobs)
	}
	return tokenLimit("max_tokens", r.MaxTokens, &j.request.MaxTokens)
}
