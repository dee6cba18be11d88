package engine

import "glassbox/trace"

// constrain gives a request's sampler what it has to keep to: the form of the answer, and its least length.
func (e *Engine) constrain(a *answer) {
	if g := a.req.Grammar; g != nil {
		a.sampler.Constrain(g.Session(e.words()))
	}
	if a.req.MinTokens > 0 {
		var ends []int32
		for id := range e.tok.Size() {
			if e.tok.IsEOG(id) {
				ends = append(ends, int32(id))
			}
		}
		a.sampler.Ends(ends, a.req.MinTokens)
	}
}

// start notes the begin of a request's first pass.
func (a *answer) start() {
	if a.started {
		return
	}
	a.started = true
	a.stream.mu.Lock()
	a.stream.usage.Started = trace.Now()
	a.stream.mu.Unlock()
}
