package openai

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"reflect"
	"runtime/debug"
	"strings"
	"time"

	"glassbox/engine/openai/wire"
	"glassbox/trace"
)

// call is one HTTP request on its way through the server. It belongs to the goroutine of its connection.
type call struct {
	s       *Server // of the model that is asked
	home    *Server // that has the listener
	release func()  // of the model; nil: nothing to do
	rw      http.ResponseWriter
	r       *http.Request
	rc      *http.ResponseController
	route   *route
	first   int64 // when the first byte arrived, clock of trace.Now
	body    []byte
	w       *trace.Writer // nil: not recorded
	rec     *trace.Recorder

	id        string // of the answer: "chatcmpl-..."
	requestID string // the client's x-request-id, else id
	entered   bool   // counted by Server.enter
	sent      bool   // the status is on its way: errors can only be told inside a stream
	err       error  // why the request failed, for the recording and the metrics
	cancelled bool   // the client went away
	status    int    // sent, or that of the error that a stream ended with; 0 = none
	job       *job   // what was asked, once it is known to be right
	before    []part // what was measured before the engine had the request
	facts     outcome
}

// outcome is what the metrics count of a request.
type outcome struct {
	finish         string
	prompt, output int
	choices        int
	cached         int
	finishes       []string // of each answer, where all have ended
	submitted      int64    // to the engine, clock of trace.Now; 0 = not told
	started        int64    // the first pass
	first          int64    // the engine's first token
	firstToken     int64    // clock of trace.Now; 0 = none came
	lastToken      int64
}

// readBody reads the body to its end. Then it is known whether the request is to be recorded.
//
//go:noinline
func (c *call) readBody() error {
	if !c.route.body {
		return nil
	}
	start := trace.Now()
	_ = c.rc.SetReadDeadline(time.Now().Add(c.s.c.Limits.ReadTimeout)) // a client that stops sending ends here
	hurry := context.AfterFunc(c.s.closing, func() { _ = c.rc.SetReadDeadline(time.Unix(1, 0)) })
	body, err := c.readAll()
	if !hurry() && err != nil {
		return errShutdown
	}
	if err != nil {
		return err
	}
	_ = c.rc.SetReadDeadline(time.Time{})
	c.body = body
	end := trace.Now()
	if err := c.choose(); err != nil {
		return err
	}
	if err := c.startTrace(); err != nil {
		return err
	}
	m := c.w.BeginAt(trace.StepReadBody, start)
	if m.On() {
		m.Set("in", fmt.Sprintf("a body of %s", lengthNote(c.r.ContentLength)))
		m.Set("out", fmt.Sprintf("%d bytes: %s", len(body), shorten(string(body), 120)))
	}
	m.EndAt(end)
	return nil
}

func lengthNote(n int64) string {
	if n < 0 {
		return "unknown length, in chunks"
	}
	return fmt.Sprintf("Content-Length %d", n)
}

// readAll reads up to the limit. Of a longer body it swallows some more, because a client that is still sending does not
// read the answer.
func (c *call) readAll() ([]byte, error) {
	limit := c.s.c.Limits.Body
	tooLarge := &RequestError{http.StatusRequestEntityTooLarge, invalidRequest,
		fmt.Sprintf("the body is larger than %d bytes, the most this server reads", limit), "", "body_too_large"}
	if c.r.ContentLength > limit && c.r.Header.Get("Expect") != "" {
		return nil, tooLarge // the client waits for our word before it sends
	}
	var b bytes.Buffer
	if n := c.r.ContentLength; n > 0 && n <= limit {
		b.Grow(int(n) + bytes.MinRead)
	}
	_, err := b.ReadFrom(io.LimitReader(c.r.Body, limit+1))
	switch {
	case int64(b.Len()) > limit:
		_, _ = io.CopyN(io.Discard, c.r.Body, 8*limit)
		c.rw.Header().Set("Connection", "close")
		return nil, tooLarge
	case err != nil:
		c.rw.Header().Set("Connection", "close")
		e := &RequestError{http.StatusBadRequest, invalidRequest, fmt.Sprintf("the body broke off after %d bytes: %v", b.Len(), err), "", "incomplete_body"}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			e.Status, e.Message = http.StatusRequestTimeout, fmt.Sprintf("the body stopped after %d bytes: the rest did not come within %v", b.Len(), c.s.c.Limits.ReadTimeout)
		}
		return nil, e
	}
	return b.Bytes(), nil
}

// startTrace starts a recording if the header or the body asks for one. The body is looked at before it is decoded, so
// that decoding is in the recording.
func (c *call) startTrace() error {
	if !c.route.trace {
		return nil
	}
	header := c.r.Header.Get("X-Glassbox-Trace")
	wanted := header != "" && header != "0" && header != "false"
	var asked struct{ Glassbox *wire.Glassbox }
	if bytes.Contains(c.body, []byte(`"glassbox"`)) && json.Unmarshal(c.body, &asked) == nil && asked.Glassbox != nil {
		wanted = wanted || asked.Glassbox.Trace || len(asked.Glassbox.Capture) > 0
	}
	if !wanted {
		return nil
	}
	var kinds []string
	if asked.Glassbox != nil {
		kinds = asked.Glassbox.Capture
	}
	capture, err := checkCapture(kinds, c.s.c.Captures)
	if err != nil {
		return err
	}
	if c.s.c.Tracer == nil {
		return unsupported("unsupported_parameter", "glassbox", "glassbox: this server keeps no recordings")
	}
	c.rec, err = c.s.c.Tracer.Start(c.first, capture)
	if err != nil {
		return fmt.Errorf("the recording could not be started: %w", err)
	}
	c.w = c.rec.Writer(trace.LaneHTTP)
	c.rw.Header().Set("X-Glassbox-Trace-Id", c.rec.ID)
	c.rec.Update(func(f *trace.Facts) {
		f.TraceParent = traceParent(c.r.Header.Get("Traceparent"))
		f.Endpoint = c.r.URL.Path
	})
	return nil
}

// checkCapture reads the kinds of values a recording is asked to hold, and refuses what the engine cannot copy out. This
// is the only place that knows: a kind is possible as soon as Config.Captures has it.
func checkCapture(kinds []string, can trace.CaptureSpec) (trace.CaptureSpec, error) {
	const param = "glassbox.capture"
	want, err := trace.ParseCapture(kinds)
	if err != nil {
		return want, invalid(param, "glassbox.%v", err)
	}
	var missing, possible []string
	for _, k := range []struct {
		name      string
		want, can bool
	}{{"logits", want.Logits, can.Logits}, {"attention", want.Attention, can.Attention}, {"lens", want.Lens, can.Lens}, {"values", want.Values, can.Values}} {
		if k.want && !k.can {
			missing = append(missing, k.name)
		}
		if k.can {
			possible = append(possible, k.name)
		}
	}
	if len(missing) == 0 {
		return want, nil
	}
	text := "leave the field out: times, tokens and texts are recorded without it"
	if len(possible) > 0 {
		text = "possible are " + strings.Join(possible, ", ")
	}
	return want, unsupported("unsupported_value", param, "glassbox.capture: %s not recorded by this build yet; %s", strings.Join(missing, ", "), text)
}

// decodeJSON parses the body into one of the structs of package wire.
//
//go:noinline
func (c *call) decodeJSON(v any) error {
	m := c.w.Begin(trace.StepDecodeJSON)
	defer m.End()
	if m.On() {
		m.Set("in", fmt.Sprintf("%d bytes of JSON", len(c.body)))
	}
	if err := json.Unmarshal(c.body, v); err != nil {
		return decodeError(err, c.body)
	}
	end := trace.Now() // what only the recording needs is not part of the step
	if string(bytes.TrimSpace(c.body)) == "null" {
		return decodeError(&json.UnmarshalTypeError{Value: "null", Type: reflect.TypeOf(v)}, c.body)
	}
	if m.On() {
		m.Set("out", fmt.Sprintf("a %s with %s", strings.TrimPrefix(fmt.Sprintf("%T", v), "*"), keys(c.body)))
		m.EndAt(end)
	}
	return nil
}

// keys lists a JSON object's keys for the recording.
func keys(body []byte) string {
	var all []string
	d := json.NewDecoder(bytes.NewReader(body))
	_, _ = d.Token()
	for d.More() {
		key, err := d.Token()
		var skip json.RawMessage
		if err != nil || d.Decode(&skip) != nil {
			break
		}
		all = append(all, fmt.Sprint(key))
	}
	return shorten(strings.Join(all, ", "), 160)
}

// newID gives the request its name: the answer's id, and the one it is known by in headers and the recording, which is the
// client's own where it sent one.
//
//go:noinline
func (c *call) newID(prefix string) {
	m := c.w.Begin(trace.StepRequestID)
	var random [12]byte
	_, _ = rand.Read(random[:]) // crypto/rand does not fail
	c.id = prefix + hex.EncodeToString(random[:])
	c.requestID = c.id
	if given := c.r.Header.Get("X-Request-Id"); printable(given) {
		c.requestID = given
	}
	c.rw.Header().Set("X-Request-Id", c.requestID)
	if m.On() {
		c.rec.Update(func(f *trace.Facts) { f.RequestID = c.requestID })
		m.Set("in", fmt.Sprintf("x-request-id %q, traceparent %q", c.r.Header.Get("X-Request-Id"), c.r.Header.Get("Traceparent")))
		m.Set("out", fmt.Sprintf("id %s, request id %s", c.id, c.requestID))
	}
	m.End()
}

// printable tells whether a client's id can go into headers and logs as it is.
func printable(id string) bool {
	for _, r := range id {
		if r <= ' ' || r > '~' {
			return false
		}
	}
	return id != "" && len(id) <= 128
}

// traceParent returns a W3C trace context header, or "" where its form is wrong (W3C Trace Context, 3.2.2): a later
// version counts by its first four fields.
func traceParent(h string) string {
	f := strings.Split(h, "-")
	if len(f) < 4 || f[0] == "ff" || f[0] == "00" && len(f) != 4 || strings.Trim(f[1], "0") == "" || strings.Trim(f[2], "0") == "" {
		return ""
	}
	for i, n := range []int{2, 32, 16, 2} {
		if len(f[i]) != n || strings.Trim(f[i], "0123456789abcdef") != "" {
			return ""
		}
	}
	return h
}

// refuse answers with an error, if anything can still be answered.
func (c *call) refuse(err error) {
	c.err = err
	if errors.Is(err, errGone) {
		c.cancelled = true
		return
	}
	if c.requestID == "" {
		c.newID("req-")
	}
	e := explain(err)
	if c.sent {
		return
	}
	if e.Status == http.StatusTooManyRequests {
		c.rw.Header().Set("Retry-After", "1")
	}
	_ = c.writeJSON(e.Status, e.body())
}

// writeJSON sends a whole answer. A client that does not take it within the limit is given up.
func (c *call) writeJSON(status int, v any) error {
	b, err := compact(v)
	if err != nil {
		return err
	}
	h := c.rw.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", fmt.Sprint(len(b)))
	c.sent, c.status = true, status
	c.mayWrite()
	c.rw.WriteHeader(status)
	if _, err := c.rw.Write(b); err != nil {
		return errGone
	}
	if err := c.rc.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return errGone
	}
	return nil
}

// mayWrite gives the client time to take what is written next: little when the server is stopping. net/http lifts the
// limit before the connection's next request.
func (c *call) mayWrite() {
	_ = c.rc.SetWriteDeadline(time.Now().Add(c.s.c.Limits.WriteTimeout))
	if c.s.closing.Err() != nil { // asked after the first call, so that Shutdown's own is not undone
		_ = c.rc.SetWriteDeadline(time.Now().Add(min(c.s.c.Limits.WriteTimeout, time.Second)))
	}
}

// finish ends the request, whatever became of it: the recording is closed after the last byte.
func (c *call) finish() {
	if p := recover(); p != nil && p != http.ErrAbortHandler {
		log.Printf("glassbox: request %s: internal error: %v\n%s", c.requestID, p, debug.Stack())
		c.refuse(fmt.Errorf("internal error: %v", p))
	}
	c.s.metrics.done(c)
	c.s.spans(c)
	c.rec.Update(func(f *trace.Facts) {
		switch {
		case c.cancelled:
			f.Finish, f.Err = "cancelled", ""
		case c.err != nil:
			f.Finish, f.Err = "error", explain(c.err).Message
		}
	})
	c.rec.End()
	if c.release != nil {
		c.release()
	}
	if c.entered {
		c.home.running.Done()
	}
}

// context returns a context that ends with the request, or with the server.
func (c *call) context() (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(c.r.Context())
	stop := context.AfterFunc(c.s.closing, func() { cancel(errShutdown) })
	return ctx, func(err error) {
		stop()
		cancel(err)
	}
}

// shorten cuts a text for one line of a recording.
func shorten(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	count := 0
	for i := range s {
		if count++; count > n {
			return s[:i] + "…"
		}
	}
	return s
}

// fieldName takes the names of embedded structs out of a path that encoding/json gives.
func fieldName(path string) string { return strings.TrimPrefix(path, "Common.") }
