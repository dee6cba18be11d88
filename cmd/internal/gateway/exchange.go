package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"

	"glassbox/trace"
	"glassbox/trace/file"
	"glassbox/trace/otlp"
)

// exchange is a request and its answer while they pass. Times are on the clock of trace.Now; 0 is "did not happen".
type exchange struct {
	g          *Gateway
	id         string // of the recording
	method     string
	path       string
	requestID  string
	trace      [16]byte
	parent     [8]byte // the caller's span, zero = none
	span       [8]byte // ours, which the upstream is told as its parent
	sampled    bool
	remote     string
	body       []byte // up to maxBody
	whole      bool
	claimed    int64 // Content-Length of a body that is not whole, -1 = not said
	first      int64
	headed     int64
	bodied     int64
	live       *liveRun
	traceState string // the caller's traceparent as it came

	mu        sync.Mutex
	asked     int64 // for a connection
	connected int64
	reused    bool
	address   string
	sent      int64
	responded int64 // first byte of the answer's head
	status    int
	header    http.Header
	reads     []read
	more      int // reads that are not in the list
	bytes     int64
	kept      []byte // the answer up to maxAnswer
	cut       bool   // the answer was longer
	eof       int64
	ended     int64
	left      bool   // the client has gone
	broken    string // how the upstream failed
}

// read is a piece of the answer as it came from the upstream's connection.
type read struct {
	at, flushed int64
	n           int
	kept        int // of n, in exchange.kept
}

// maxReads bounds the list of reads of an answer.
const maxReads = 100_000

// begin notes what is known of a request before it goes on.
func (g *Gateway) begin(r *http.Request, first, headed int64, body []byte, whole bool) *exchange {
	x := &exchange{g: g, id: file.NewID(), method: r.Method, path: r.URL.Path, requestID: r.Header.Get("X-Request-Id"), remote: r.RemoteAddr,
		body: body, whole: whole, claimed: r.ContentLength, first: min(first, headed), headed: headed, bodied: trace.Now(), span: otlp.NewID(), sampled: true}
	if parent := r.Header.Get("Traceparent"); file.TraceID(parent) != "" {
		x.traceState = parent
		x.trace, x.parent, x.sampled, _ = otlp.Join(parent)
	} else {
		x.trace = otlp.NewTrace()
	}
	g.joins.expect(x)
	x.startLive()
	return x
}

// traceparent is what the upstream is told: the caller's trace, with our span as the parent of its spans.
func (x *exchange) traceparent() string {
	flags := 0
	if x.sampled {
		flags = 1
	}
	return fmt.Sprintf("00-%x-%x-%02x", x.trace, x.span, flags)
}

// clientTrace notes the moments of the request to the upstream. A request that is sent twice has those of the second time.
func (x *exchange) clientTrace() *httptrace.ClientTrace {
	note := func(f func()) {
		x.mu.Lock()
		f()
		x.mu.Unlock()
	}
	return &httptrace.ClientTrace{
		GetConn: func(string) { note(func() { x.asked = trace.Now() }) },
		GotConn: func(i httptrace.GotConnInfo) {
			note(func() { x.connected, x.reused, x.address = trace.Now(), i.Reused, i.Conn.RemoteAddr().String() })
		},
		WroteRequest: func(i httptrace.WroteRequestInfo) {
			if i.Err == nil {
				note(func() { x.sent = trace.Now() })
			}
		},
		GotFirstResponseByte: func() { note(func() { x.responded = trace.Now() }) },
	}
}

func (x *exchange) sentAt() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.sent
}

func (x *exchange) head(res *http.Response) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.status, x.header = res.StatusCode, res.Header.Clone()
}

func (x *exchange) fail(status int, message string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.status, x.broken = status, message
}

// took notes a piece of the answer.
func (x *exchange) took(b []byte) {
	now := trace.Now()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.bytes += int64(len(b))
	keep := b[:min(len(b), maxAnswer-len(x.kept))]
	if x.g.held.Add(int64(len(keep))) > maxHeld {
		x.g.held.Add(-int64(len(keep)))
		keep = nil
	}
	x.cut = x.cut || len(keep) < len(b)
	if x.cut && len(keep) > 0 && len(keep) < len(b) { // a piece is kept whole or not at all
		x.g.held.Add(-int64(len(keep)))
		keep = nil
	}
	x.kept = append(x.kept, keep...)
	if len(x.reads) == maxReads {
		x.more++
		x.reads[maxReads-1].n += len(b)
		x.reads[maxReads-1].kept += len(keep)
		return
	}
	x.reads = append(x.reads, read{at: now, n: len(b), kept: len(keep)})
}

// flushed notes that all that was read is on the client's connection.
func (x *exchange) flushed() {
	now := trace.Now()
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := len(x.reads) - 1; i >= 0 && x.reads[i].flushed == 0; i-- {
		x.reads[i].flushed = now
	}
}

// end notes how the request ended: whole, left by its client, or cut by the upstream.
func (x *exchange) end(ctx context.Context, panicked any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.ended = trace.Now()
	if ctx.Err() != nil && x.eof == 0 {
		x.left = true
	}
	if !x.left && panicked != nil && x.broken == "" {
		x.broken = "the answer could not be passed on"
	}
}

// tap is the answer's body, read along.
type tap struct {
	io.ReadCloser
	x *exchange
}

// Read implements io.Reader.
func (t *tap) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	if n > 0 {
		t.x.took(p[:n])
	}
	if err != nil {
		t.x.over(err)
	}
	return n, err
}

// over notes the end of the answer's body.
func (x *exchange) over(err error) {
	now := trace.Now()
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case err == io.EOF:
		x.eof = now
	case errors.Is(err, context.Canceled):
		x.left = true
	default:
		x.broken = fmt.Sprintf("the upstream's answer broke off after %d bytes: %v", x.bytes, err)
	}
}

// writer is the client's side.
type writer struct {
	http.ResponseWriter
	x *exchange
}

// FlushError implements what http.ResponseController looks for.
func (w *writer) FlushError() error {
	err := http.NewResponseController(w.ResponseWriter).Flush()
	w.x.flushed()
	return err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// apiError answers with OpenAI's four keys.
func apiError(w http.ResponseWriter, status int, kind, code, message string) {
	var e struct {
		Error struct {
			Message string  `json:"message"`
			Type    string  `json:"type"`
			Param   *string `json:"param"`
			Code    string  `json:"code"`
		} `json:"error"`
	}
	e.Error.Message, e.Error.Type, e.Error.Code = message, kind, code
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(e)
}
