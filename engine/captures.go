package engine

import (
	"errors"
	"fmt"
	"log"
	"slices"
	"sync"

	"glassbox/engine/capture"
	"glassbox/engine/token"
	"glassbox/trace"
)

// Rows of the logit lens that go through the head between two passes: few while other requests wait for their tokens (a
// batch of 8 costs about a decode pass), many when nobody does.
const (
	headRows     = 32
	headRowsBusy = 8
)

// captureShare is how many of the largest requests' captures may be in memory at once.
const captureShare = 4

// ErrCapturesFull is returned by Submit when the captures of other requests take all the memory that there is for them.
var ErrCapturesFull = errors.New("the captures of other requests take all the memory that there is for them: try again in a moment")

// work is an answer that is over and whose captures are still worked out. Its slot and pages are free.
type work struct {
	a      *answer
	finish string
	ids    []int32 // the answer's
}

// ParseAblate reads the names of parts to switch off, see capture.ParseAblate.
func (e *Engine) ParseAblate(list []string) (capture.Ablation, error) {
	return capture.ParseAblate(list, e.model.Config.Layers, e.model.Config.Heads)
}

// session prepares what is captured of a request and switched off for it.
func (e *Engine) session(a *answer) error {
	var spec trace.CaptureSpec
	if a.req.Trace != nil {
		spec = a.req.Trace.Capture
	}
	for _, p := range a.req.Ablate.Parts() {
		if p.Layer >= e.model.Config.Layers || p.Head >= e.model.Config.Heads {
			return fmt.Errorf("ablate: %s: wanted a part of a model with %d layers of %d heads", p, e.model.Config.Layers, e.model.Config.Heads)
		}
	}
	s, err := capture.New(e.model.Graph, spec, a.req.Ablate, a.seq.Prompt, a.req.MaxTokens, e.o.Captures)
	if err != nil || s == nil {
		return err
	}
	size := capture.Size(e.model.Graph, spec, a.seq.Prompt, a.req.MaxTokens)
	if e.captured.Add(size) > captureShare*e.o.Captures {
		e.captured.Add(-size)
		return ErrCapturesFull
	}
	a.capture, a.free = s, sync.OnceFunc(func() { e.captured.Add(-size) })
	return nil
}

// Capture is what the runner shows the sequence's rows to, nil for most requests.
func (a *answer) Capture() *capture.Session { return a.capture }

// measured tells whether the pass ended the run of the prompt that only measured means. The prompt then runs again, from
// its first token on, and overwrites its keys and values.
func (a *answer) measured() bool {
	if a.capture == nil || !a.capture.Measuring() {
		return false
	}
	a.capture.Measured()
	a.seq.Cached = 0
	return true
}

// workOut does a little of the oldest capture, between two passes. What needs no backend is done apart, and ends the
// stream.
func (e *Engine) workOut() {
	if len(e.work) == 0 {
		return
	}
	w, rows := e.work[0], headRows
	if !e.sched.Idle() {
		rows = headRowsBusy
	}
	start, done := trace.Now(), false
	err := guard("capture", func() (err error) { done, err = w.a.capture.Project(e.run.Head, w.ids, rows); return err })
	w.took(start)
	if err != nil {
		log.Printf("glassbox: captures of request %s failed: %v", w.a.req.ID, err)
		e.work = e.work[1:]
		e.stats.failed.Add(1)
		w.a.finish(Event{Err: fmt.Errorf("the engine could not work out this request's captures: %w", err)})
		return
	}
	if !done {
		return
	}
	e.work = e.work[1:]
	e.apart.Add(1)
	go func() {
		defer e.apart.Done()
		w.hand(e.tok)
	}()
}

// hand works out the arrays, names the words they speak of, gives all to the recording and ends the stream.
func (w *work) hand(tok *token.Tokenizer) {
	start := trace.Now()
	err := guard("capture", func() error {
		arrays := w.a.capture.Arrays(w.ids)
		w.a.req.Trace.Attach(append(arrays, words(arrays, tok)...)...)
		return nil
	})
	w.took(start)
	if err != nil {
		log.Printf("glassbox: captures of request %s failed: %v", w.a.req.ID, err)
		w.a.finish(Event{Err: fmt.Errorf("the engine could not work out this request's captures: %w", err)})
		return
	}
	w.a.finish(Event{Finish: w.finish})
}

// took adds to the time that the recording says went into captures.
func (w *work) took(start int64) {
	ns := trace.Now() - start
	w.a.req.Trace.Update(func(f *trace.Facts) { f.CaptureNs += ns })
}

// dropWork ends the captures for which why gives an error: the client has gone, or the engine closes.
func (e *Engine) dropWork(why func(*work) error) {
	e.work = slices.DeleteFunc(e.work, func(w *work) bool {
		err := why(w)
		if err != nil {
			e.stats.failed.Add(1)
			w.a.finish(Event{Err: err})
		}
		return err != nil
	})
}
