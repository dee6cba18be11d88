// Package live passes running requests on to browsers over websockets: a client gets the state so far in one message and
// then what is new, in the order in which it happened. web/client/LIVE.md describes the messages.
//
// Read hub.go for what is kept of a request, message.go for what is sent, client.go for one connection.
//
// It does not know about pages, where recordings are kept, or how a request is served.
package live

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"glassbox/trace/file"
)

// Config is what a Hub is made of. The zero value works.
type Config struct {
	Lay      func(*file.Recording) // lays the catalogue over a recording: walk, texts, sources; nil leaves the walk empty
	Interval time.Duration         // least time between two messages about the spans of a request; 0 = 50 ms
	Queue    int                   // messages that a client may fall behind before it is dropped; 0 = 1024
	Ping     time.Duration         // between pings; a client that is silent for three of them is dropped; 0 = 20 s
}

// Hub is a file.Sink whose requests can be watched. Its methods may be called from any goroutine.
type Hub struct {
	c Config

	mu      sync.Mutex
	runs    map[string]*run
	clients map[*client]bool
	closed  bool
	wg      sync.WaitGroup
}

// run is a request that is being recorded: everything known of it so far. Slices only grow, so a copy of their headers is
// a state that does not change.
type run struct {
	head    *file.Recording
	request file.Request
	spans   []file.Span
	passes  []file.Pass
	tokens  []file.Token
	calls   []file.Call
	turns   []file.Turn
	pages   []file.PageChange
	sources map[string][]file.SourceRef
	dropped int64

	sent  struct{ spans, passes, tokens, calls, turns, pages int } // what messages have told already
	timer *time.Timer                                              // set while something is untold
}

var _ file.Sink = (*Hub)(nil)

// New returns a hub without requests or clients.
func New(c Config) *Hub {
	if c.Lay == nil {
		c.Lay = func(*file.Recording) {}
	}
	if c.Interval <= 0 {
		c.Interval = 50 * time.Millisecond
	}
	if c.Queue <= 0 {
		c.Queue = 1024
	}
	if c.Ping <= 0 {
		c.Ping = 20 * time.Second
	}
	return &Hub{c: c, runs: map[string]*run{}, clients: map[*client]bool{}}
}

// Started implements file.Sink.
func (h *Hub) Started(id string, head *file.Recording) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := &run{head: head, request: head.Request, sources: map[string][]file.SourceRef{}}
	h.runs[id] = r
	h.tell(id, h.start(id, r))
}

// Watching implements file.Watched.
func (h *Hub) Watching() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.clients) > 0
}

// Request implements file.Sink. The tokens of the answer come with the deltas.
func (h *Hub) Request(id string, q *file.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.runs[id]
	if r == nil {
		return
	}
	h.flush(id, r)
	r.request = *q
	h.tell(id, requestMessage(id, *q))
}

// Delta implements file.Sink. What is new is kept here and told a little later, together with what else comes until then.
func (h *Hub) Delta(id string, d *file.Delta) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.runs[id]
	if r == nil {
		return
	}
	r.spans = append(r.spans, d.Spans...)
	r.passes = append(r.passes, d.Passes...)
	r.tokens = append(r.tokens, d.Tokens...)
	r.calls = append(r.calls, d.Calls...)
	r.turns = append(r.turns, d.Turns...)
	r.pages = append(r.pages, d.Pages...)
	r.dropped = d.Dropped
	for step, refs := range d.Sources {
		r.sources[step] = append(r.sources[step], refs...)
	}
	if r.timer == nil {
		r.timer = time.AfterFunc(h.c.Interval, func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.runs[id] == r {
				h.flush(id, r)
			}
		})
	}
}

// Finished implements file.Sink.
func (h *Hub) Finished(id string, rec *file.Recording) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.runs[id]
	if r == nil {
		return
	}
	h.flush(id, r)
	delete(h.runs, id)
	switch {
	case rec.Request.Error != "":
		h.tell(id, errorMessage(id, rec.Request.Error))
	case rec.Partial:
		h.tell(id, errorMessage(id, "The server stopped before this request was over. What has come is whole up to there."))
	default:
		h.tell(id, endMessage(id))
	}
}

// flush tells what has not been told of a request. The hub is locked.
func (h *Hub) flush(id string, r *run) {
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	spans, passes, tokens := r.spans[r.sent.spans:], r.passes[r.sent.passes:], r.tokens[r.sent.tokens:]
	calls, turns, pages := r.calls[r.sent.calls:], r.turns[r.sent.turns:], r.pages[r.sent.pages:]
	r.sent.spans, r.sent.passes, r.sent.tokens = len(r.spans), len(r.passes), len(r.tokens)
	r.sent.calls, r.sent.turns, r.sent.pages = len(r.calls), len(r.turns), len(r.pages)
	if len(spans)+len(passes)+len(calls)+len(turns)+len(pages) > 0 {
		h.tell(id, spansMessage(id, spans, passes, calls, turns, pages))
	}
	if len(tokens) > 0 {
		h.tell(id, tokensMessage(id, tokens, textOf(r.tokens)))
	}
}

// tell queues a message for every client that follows the request. One that has fallen behind is dropped. The hub is locked.
func (h *Hub) tell(id string, m *message) {
	for c := range h.clients {
		if c.want == "" || c.want == id {
			h.queue(c, m)
		}
	}
}

func (h *Hub) queue(c *client, m *message) {
	select {
	case c.out <- m:
	default:
		h.drop(c, errSlow)
	}
}

// drop ends a client. The hub is locked.
func (h *Hub) drop(c *client, why error) {
	if h.clients[c] {
		delete(h.clients, c)
		c.why = why
		close(c.out)
	}
}

// start is the message with the state so far. It holds a copy of the slices' headers and is written out by the goroutine
// of the first client that sends it. The hub is locked.
func (h *Hub) start(id string, r *run) *message {
	rec := *r.head
	rec.Request = r.request
	n := r.sent
	rec.Request.OutputTokens = r.tokens[:n.tokens:n.tokens]
	rec.Request.Text = textOf(rec.Request.OutputTokens)
	rec.Spans = r.spans[:n.spans:n.spans]
	rec.Passes = r.passes[:n.passes:n.passes]
	rec.Calls = r.calls[:n.calls:n.calls]
	rec.Turns = r.turns[:n.turns:n.turns]
	if rec.Memory != nil {
		m := *rec.Memory
		m.Changes = r.pages[:n.pages:n.pages]
		rec.Memory = &m
	}
	rec.Dropped.Spans = r.dropped
	rec.RawSources = map[string][]file.SourceRef{}
	for step, refs := range r.sources {
		rec.RawSources[step] = refs[:len(refs):len(refs)]
	}
	return startMessage(id, &rec, func(rec *file.Recording) {
		h.c.Lay(rec)
		notReachedYet(rec)
	})
}

// notReachedYet takes off the reason why a step was not reached: while the request runs, it may still be.
func notReachedYet(rec *file.Recording) {
	for i := range rec.Walk {
		if w := &rec.Walk[i]; w.Count == 0 {
			w.Text, _, _ = strings.Cut(w.Text, "\nNot reached: ")
		}
	}
}

// join adds a client. It gets the state of each request that it follows and that is running.
func (h *Hub) join(c *client) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return errors.New("the server is shutting down")
	}
	h.clients[c] = true
	h.wg.Add(1)
	ids := make([]string, 0, len(h.runs))
	for id := range h.runs {
		if c.want == "" || c.want == id {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return strings.Compare(h.runs[a].head.Started, h.runs[b].head.Started) })
	for _, id := range ids {
		h.queue(c, h.start(id, h.runs[id]))
	}
	return nil
}

// Close ends all connections with "going away" and waits for them. Requests go on unwatched.
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	for c := range h.clients {
		h.drop(c, errGoingAway)
	}
	for _, r := range h.runs {
		if r.timer != nil {
			r.timer.Stop()
			r.timer = nil
		}
	}
	h.mu.Unlock()
	h.wg.Wait()
}
