package openai

import "glassbox/engine/openai/wire"

// whole gathers the answer and sends it in one piece.
func (r *reply) whole() error {
	for r.g.open > 0 {
		ch, ev, err := r.g.next(never)
		if err != nil {
			return err
		}
		r.texts[ch.index].WriteString(ev.Text)
	}
	if err := r.usage(); err != nil {
		return err
	}
	return r.end(r.answer())
}

// answer is the whole answer as JSON has it.
func (r *reply) answer() any {
	if r.j.chat {
		a := wire.ChatAnswer{ID: r.c.id, Object: "chat.completion", Created: r.created, Model: r.j.model, Usage: r.counts(), SystemFingerprint: r.c.s.fingerprint(), Timings: r.g.timings()}
		for _, ch := range r.g.choices {
			c := wire.ChatChoice{Index: ch.index, Message: wire.ChatMessage{Role: "assistant", Content: r.texts[ch.index].String()}, FinishReason: ch.finish}
			if ch.logs != nil {
				r.settle(ch)
				c.Logprobs = r.c.s.chatLogs(ch.logs.take())
			}
			a.Choices = append(a.Choices, c)
		}
		return a
	}
	u := r.counts()
	a := wire.Completion{ID: r.c.id, Object: "text_completion", Created: r.created, Model: r.j.model, Usage: &wire.OptionalUsage{Usage: &u}, SystemFingerprint: r.c.s.fingerprint(), Timings: r.g.timings()}
	for _, ch := range r.g.choices {
		c := wire.CompletionChoice{Index: ch.index, Text: r.texts[ch.index].String(), FinishReason: &ch.finish}
		if ch.logs != nil {
			r.settle(ch)
			c.Logprobs = r.c.s.completionLogs(ch.logs.take(), r.before(ch))
		}
		if r.j.echo != nil {
			c.Text = r.j.echo[ch.index/r.j.n] + c.Text
			if ch.logs != nil {
				c.Logprobs = joinLogs(r.c.s.echoLogs(r.j.prompts[ch.index/r.j.n], r.j.echo[ch.index/r.j.n]), c.Logprobs)
			}
		}
		a.Choices = append(a.Choices, c)
	}
	return a
}
