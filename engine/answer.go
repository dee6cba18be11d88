package engine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"glassbox/engine/capture"
	"glassbox/engine/sample"
	"glassbox/engine/sched"
	"glassbox/engine/stops"
	"glassbox/engine/token"
	"glassbox/trace"
)

// detokOptions: marks such as <|im_end|> are not part of an answer's text.
var detokOptions = token.DecodeOptions{SkipSpecial: true, Continue: true}

// answer is the engine's side of a request: it belongs to the loop from Submit on.
type answer struct {
	ctx       context.Context
	req       Request
	seq       *sched.Sequence
	stream    *Stream
	sampler   *sample.Sampler
	detok     *token.Detokenizer
	stop      *stopMatcher
	submitted int64
	started   bool      // a pass had a token of it
	raw       []float32 // copy of the logits, where log-probabilities are asked for
	capture   *capture.Session
	free      func() // gives the captures' share of memory back; nil without a session
	stops     *stops.Session
	guesses   *guesses // nil: this request is decoded plainly
}

// release gives back what the request held of its own.
func (a *answer) release() {
	if a.free != nil {
		a.free()
	}
	a.stops.Close()
}

// deliver takes the logits of the sequence's last token through the sampler and onto the stream. finish is not empty where
// the answer ends with this token: then complete comes next.
func (e *Engine) deliver(a *answer, logits []float32) (finish string, err error) {
	w := a.seq.Trace
	w.In(a.seq.Passes-1, a.seq.Answered())
	if a.req.Logprobs >= 0 {
		a.raw = append(a.raw[:0], logits...)
	}
	if a.capture != nil {
		a.capture.First(logits)
	}
	id := a.sampler.Next(logits, w)
	if a.sampler.Broken() {
		return "", fmt.Errorf("token %d of the answer: wanted logits that are numbers, found none or an infinite one: the model's file is damaged, or its weights are too large for this engine", a.seq.Answered())
	}
	if a.sampler.Stuck() {
		return "", fmt.Errorf("token %d of the answer: the asked-for form allows no token that this model could say: its vocabulary lacks what the form needs", a.seq.Answered())
	}
	lp := e.append(a, id, w)
	text := e.detokenize(a, id, w)
	text, finish = e.stopCheck(a, id, text, w)
	e.emit(a, Event{Tokens: []TokenLogprob{lp}, Text: text}, w)
	return finish, nil
}

// complete ends an answer that has its last token: its sequence leaves the scheduler.
func (e *Engine) complete(a *answer, finish string) {
	e.forget(a)
	e.leave(a) // before the stream ends: whoever reads the end may close the recording
	if a.capture == nil || !a.capture.Captures() {
		a.finish(Event{Finish: finish})
		return
	}
	e.work = append(e.work, &work{a: a, finish: finish, ids: slices.Clone(a.seq.Tokens[a.seq.Prompt:])})
}

// append makes the token part of the sequence: the next pass reads it.
func (e *Engine) append(a *answer, id int32, w *trace.Writer) TokenLogprob {
	m := w.Begin(trace.StepAppend)
	lp := TokenLogprob{ID: int(id)}
	if a.req.Logprobs >= 0 {
		var own sample.Logprob
		own, lp.Top = sample.Top(a.raw, id, a.req.Logprobs)
		lp.Logprob = own.Logprob
	}
	a.seq.Tokens = append(a.seq.Tokens, id)
	a.stream.mu.Lock()
	a.stream.usage.Output++
	a.stream.usage.Cached = a.seq.Matched
	if a.stream.usage.First == 0 {
		a.stream.usage.First = trace.Now()
	}
	a.stream.mu.Unlock()
	e.stats.outputTokens.Add(1)
	if m.On() {
		m.Set("in", fmt.Sprintf("id %d", id))
		m.Set("out", fmt.Sprintf("token %d of the answer, position %d", a.seq.Answered(), len(a.seq.Tokens)-1))
		a.record(e.tok, lp)
	}
	m.End()
	return lp
}

// record adds the token to the recording.
func (a *answer) record(tok *token.Tokenizer, lp TokenLogprob) {
	t := Token(tok, lp.ID)
	t.TimeNs, t.Pass = trace.Now(), int32(a.seq.Passes-1)
	if a.req.Logprobs >= 0 {
		t.Logprob, t.HasLP = lp.Logprob, true
		for _, alt := range lp.Top {
			t.Top = append(t.Top, trace.Alternative{ID: int(alt.ID), Text: string(tok.Piece(int(alt.ID))), Logprob: alt.Logprob})
		}
	}
	a.req.Trace.AddToken(t)
}

// Token describes a token for a recording.
func Token(tok *token.Tokenizer, id int) trace.Token {
	piece := tok.Piece(id)
	t := trace.Token{ID: id, Text: string(piece), Special: tok.IsSpecial(id)}
	if t.Special && len(piece) == 0 {
		t.Text = tok.Text(id)
	}
	if !utf8.Valid(piece) {
		t.Bytes = piece
		t.Text = string([]rune(string(piece)))
	}
	return t
}

// detokenize turns the token into text; bytes of a character that is not whole yet are held back.
func (e *Engine) detokenize(a *answer, id int32, w *trace.Writer) string {
	m := w.Begin(trace.StepDetokenize)
	text := a.detok.Push(int(id))
	if m.On() {
		m.Set("in", fmt.Sprintf("id %d, bytes %q", id, e.tok.Piece(int(id))))
		m.Set("out", fmt.Sprintf("%s, %d bytes held back", strconv.Quote(text), a.detok.Held()))
	}
	m.End()
	return text
}

// stopCheck tells whether the answer ends here, and what text is certain.
func (e *Engine) stopCheck(a *answer, id int32, text string, w *trace.Writer) (certain, finish string) {
	m := w.Begin(trace.StepStopCheck)
	certain, stopped := text, false
	if a.seq.Answered() >= a.req.MinTokens {
		certain, stopped = a.stop.push(text)
	}
	switch {
	case stopped:
		finish = "stop"
	case e.tok.IsEOG(int(id)) && !a.req.IgnoreEOS, a.sampler.Done():
		finish = "stop"
	case a.seq.Answered() >= a.req.MaxTokens || len(a.seq.Tokens) >= e.o.Context:
		finish = "length"
	}
	if finish != "" && !stopped {
		rest, hit := a.stop.push(a.detok.Flush())
		certain += rest
		if hit { // by the U+FFFD that stands for half a character
			finish = "stop"
		} else {
			certain += a.stop.flush()
		}
	}
	if m.On() {
		m.Set("in", fmt.Sprintf("%q, %d of at most %d tokens", text, a.seq.Answered(), a.req.MaxTokens))
		m.Set("out", map[bool]string{true: "goes on", false: "ends: " + finish}[finish == ""])
	}
	m.End()
	return certain, finish
}

// emit puts the event on the stream that the connection's goroutine reads.
func (e *Engine) emit(a *answer, ev Event, w *trace.Writer) {
	m := w.Begin(trace.StepEmit)
	a.stream.push(ev)
	if m.On() {
		m.Set("in", fmt.Sprintf("%q", ev.Text))
		m.Set("out", "an event on the stream")
		a.req.Trace.Update(func(f *trace.Facts) { f.Text += ev.Text })
	}
	m.End()
}

// finish ends the stream. The recording is ended by whoever serves the request, after the last byte is sent.
func (a *answer) finish(ev Event) {
	a.release()
	a.req.Trace.Update(func(f *trace.Facts) {
		f.Finish = ev.Finish
		if ev.Err != nil {
			f.Finish, f.Err = "error", ev.Err.Error()
		}
	})
	a.stream.push(ev)
}
