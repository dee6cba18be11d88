// Package gateway is a reverse proxy that records: it stands before any server of OpenAI's API, hands requests and answers
// through byte for byte, and makes a recording of what can be seen from outside: when the request came, when it went on,
// when the first and each further piece of the answer arrived, what was counted, and how it ended. Where the engine exports
// spans to the same address, they are joined to the recording by their trace id, and its queue, prefill and decode come in.
//
// Read gateway.go for the way of a request, exchange.go for what is noted while it runs, answer.go for how bodies are read
// afterwards, record.go for how notes become a recording, join.go for the engine's spans, upstream.go for who answers, and
// redact.go for what is left out where prompts are not to be kept.
//
// It does not know about models, how an engine works, pages, or flags.
package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"glassbox/steps"
	"glassbox/trace"
	"glassbox/trace/file"
	"glassbox/trace/otlp"
)

// Config is what a Gateway is made of. Upstream and Store are needed.
type Config struct {
	Upstream  *url.URL
	Engine    string                       // catalogue's name of the engine behind it; "" = ask it
	Store     *file.Store                  // takes the recordings
	Sink      file.Sink                    // told of them while they run; nil = nobody
	Sample    float64                      // share of requests that are recorded, 0 to 1
	Redact    bool                         // texts of prompts and answers are not kept
	Spans     *otlp.Exporter               // takes a span a request; nil = none are made
	FirstByte func(r *http.Request) int64  // when a request's first byte arrived, clock of trace.Now; nil = when it is handled
	Foreign   func(r *http.Request) string // why a browser's page may not call, "" = it may; nil = all may
	OnError   func(error)                  // told of recordings that could not be kept; nil = ignored
}

// What is kept of a request at most.
const (
	maxBody   = 4 << 20   // of its body; a longer one is passed on as it comes, and not kept
	maxAnswer = 8 << 20   // of its answer
	maxHeld   = 256 << 20 // of the answers that run, all together
	maxWork   = 64        // recordings made at a time; further ones wait
	dialTime  = 10 * time.Second
)

// Gateway is an http.Handler for everything that is the upstream's.
type Gateway struct {
	c         Config
	catalogue *steps.Catalogue
	proxy     *httputil.ReverseProxy
	kept      *http.Transport // keeps connections: for requests that can be sent again when one has gone stale
	fresh     *http.Transport // a connection a request: for bodies that are sent once
	engine    upstream
	joins     joins

	held    atomic.Int64 // bytes of answers that run
	work    chan struct{}
	wg      sync.WaitGroup
	Dropped atomic.Int64 // requests that were not recorded since too many recordings were being made
}

// New makes a gateway. The upstream need not be there yet.
func New(c Config) *Gateway {
	if c.OnError == nil {
		c.OnError = func(error) {}
	}
	if c.FirstByte == nil {
		c.FirstByte = func(*http.Request) int64 { return trace.Now() }
	}
	u := *c.Upstream
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/v1") // clients say /v1 themselves
	u.RawPath, u.RawQuery, u.Fragment = "", "", ""
	c.Upstream = &u
	dial := (&net.Dialer{Timeout: dialTime}).DialContext
	g := &Gateway{c: c, catalogue: steps.Gateway(Sources), work: make(chan struct{}, maxWork)}
	g.kept = &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: dial, DisableCompression: true, MaxIdleConnsPerHost: 256, IdleConnTimeout: 30 * time.Second}
	g.fresh = &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: dial, DisableCompression: true, DisableKeepAlives: true}
	g.proxy = &httputil.ReverseProxy{Rewrite: g.rewrite, Transport: g, FlushInterval: -1, ModifyResponse: g.answered, ErrorHandler: g.failed,
		ErrorLog: log.New(io.Discard, "", 0), BufferPool: &buffers{}}
	g.engine.init(&g.c, g.kept)
	g.joins.init()
	return g
}

// Close waits for the recordings that are being made, and lets go of the connections.
func (g *Gateway) Close() {
	g.wg.Wait()
	g.kept.CloseIdleConnections()
}

// RoundTrip implements http.RoundTripper: a request whose body can be sent again goes over a connection that is kept. If
// that one turns out to be closed, and no byte of an answer has come, the request is sent again over a new one: llama.cpp's
// server closes its connections behind each stream, and net/http tries again only for methods that change nothing.
func (g *Gateway) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Body != http.NoBody && r.GetBody == nil {
		return g.fresh.RoundTrip(r)
	}
	var reused, answered atomic.Bool
	ctx := httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) { reused.Store(i.Reused) }, GotFirstResponseByte: func() { answered.Store(true) }})
	res, err := g.kept.RoundTrip(r.WithContext(ctx))
	if err == nil || !reused.Load() || answered.Load() || r.Context().Err() != nil {
		return res, err
	}
	again := r.Clone(r.Context())
	if r.GetBody != nil {
		body, e := r.GetBody()
		if e != nil {
			return nil, err
		}
		again.Body = body
	}
	return g.fresh.RoundTrip(again)
}

type exchangeKey struct{}

// ServeHTTP passes a request on, and its answer back.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.c.Foreign != nil {
		if why := g.c.Foreign(r); why != "" {
			apiError(w, http.StatusForbidden, "invalid_request_error", "foreign_origin", why)
			return
		}
	}
	first := g.c.FirstByte(r)
	headed := trace.Now()
	body, whole, err := g.rewindable(r)
	if err != nil {
		apiError(w, http.StatusBadRequest, "invalid_request_error", "broken_body", "the request's body broke off: "+err.Error())
		return
	}
	if !g.wanted(r, body) {
		g.proxy.ServeHTTP(w, r)
		return
	}
	x := g.begin(r, first, headed, body, whole)
	ctx := context.WithValue(r.Context(), exchangeKey{}, x)
	r = r.WithContext(httptrace.WithClientTrace(ctx, x.clientTrace()))
	defer func() {
		p := recover() // the proxy cuts the client's connection by a panic where the upstream's broke off
		x.end(r.Context(), p)
		g.finish(x)
		if p != nil {
			panic(p)
		}
	}()
	g.proxy.ServeHTTP(&writer{w, x}, r)
}

// rewindable reads a body that is not too long, so that it can be sent again where a kept connection has gone stale. whole
// is false where the body was longer: what was read is put before the rest.
func (g *Gateway) rewindable(r *http.Request) (body []byte, whole bool, err error) {
	if r.Body == nil || r.Body == http.NoBody || r.Header.Get("Upgrade") != "" {
		return nil, true, nil
	}
	from := r.Body
	body, err = io.ReadAll(io.LimitReader(from, maxBody+1))
	if err != nil {
		return nil, false, err
	}
	if len(body) > maxBody {
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), from), from}
		return body[:maxBody], false, nil
	}
	r.ContentLength, r.TransferEncoding = int64(len(body)), nil
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	return body, true, nil
}

// recorded are the ends of the paths whose requests are recorded: what makes a model answer.
var recorded = []string{"/chat/completions", "/completions", "/completion", "/responses", "/messages", "/embeddings", "/generate", "/api/chat", "/api/generate"}

// wanted tells whether a request is recorded: X-Glassbox-Trace says so, or the body's "glassbox", or chance.
func (g *Gateway) wanted(r *http.Request, body []byte) bool {
	if r.Method != http.MethodPost || r.Header.Get("Upgrade") != "" {
		return false
	}
	path := strings.TrimSuffix(r.URL.Path, "/")
	known := false
	for _, end := range recorded {
		known = known || strings.HasSuffix(path, end)
	}
	switch h := r.Header.Get("X-Glassbox-Trace"); {
	case !known || h == "0":
		return false
	case h != "" || bytes.Contains(body, []byte(`"glassbox"`)):
		return true
	}
	return g.c.Sample >= 1 || rand.Float64() < g.c.Sample
}

// rewrite makes the request to the upstream: the same, but for the host, the headers of the connection, and the
// traceparent of a request that is recorded.
func (g *Gateway) rewrite(p *httputil.ProxyRequest) {
	in, out := p.In, p.Out
	out.URL.Scheme, out.URL.Host, out.Host = g.c.Upstream.Scheme, g.c.Upstream.Host, ""
	out.URL.Path, out.URL.RawPath = g.c.Upstream.Path+in.URL.Path, ""
	if in.URL.RawPath != "" {
		out.URL.RawPath = g.c.Upstream.EscapedPath() + in.URL.RawPath
	}
	out.URL.RawQuery = in.URL.RawQuery
	for _, h := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} { // the proxy took them off
		if v, ok := in.Header[h]; ok {
			out.Header[h] = v
		}
	}
	p.SetXForwarded()
	out.GetBody = in.GetBody
	if x, _ := in.Context().Value(exchangeKey{}).(*exchange); x != nil {
		out.Header.Set("Traceparent", x.traceparent())
	}
}

// answered looks at the head of the answer. Its body is read along.
func (g *Gateway) answered(res *http.Response) error {
	x, _ := res.Request.Context().Value(exchangeKey{}).(*exchange)
	if x == nil || res.StatusCode == http.StatusSwitchingProtocols {
		return nil
	}
	x.head(res)
	res.Header.Set("X-Glassbox-Trace-Id", x.id)
	res.Body = &tap{res.Body, x}
	return nil
}

// failed answers a request that the upstream gave no answer to.
func (g *Gateway) failed(w http.ResponseWriter, r *http.Request, err error) {
	x, _ := r.Context().Value(exchangeKey{}).(*exchange)
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		if x != nil {
			x.left = true
		}
		return // the client has gone: nobody reads an answer
	}
	status, code := http.StatusBadGateway, "upstream_unreachable"
	message := fmt.Sprintf("%s did not answer: %v: is it running, and is --upstream its address?", g.c.Upstream.Redacted(), err)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		status, code = http.StatusGatewayTimeout, "upstream_timeout"
	} else if x != nil && x.sentAt() > 0 {
		code = "upstream_broke_off"
		message = fmt.Sprintf("%s took the request and closed the connection without an answer: %v: its log may say why", g.c.Upstream.Redacted(), err)
	}
	if x != nil {
		x.fail(status, message)
		w.Header().Set("X-Glassbox-Trace-Id", x.id)
	}
	apiError(w, status, "server_error", code, message)
}

// finish makes the recording of a request that is over, beside the next ones.
func (g *Gateway) finish(x *exchange) {
	g.held.Add(-int64(len(x.kept)))
	select {
	case g.work <- struct{}{}:
	default:
		g.Dropped.Add(1)
		if x.live != nil {
			x.live.stop(nil)
		}
		return
	}
	g.wg.Add(1)
	go func() {
		defer g.wg.Done()
		defer func() { <-g.work }()
		g.keep(x)
	}()
}

// buffers are what bodies are copied through.
type buffers struct{ pool sync.Pool }

// Get implements httputil.BufferPool.
func (b *buffers) Get() []byte {
	if p, ok := b.pool.Get().(*[]byte); ok {
		return *p
	}
	return make([]byte, 32<<10)
}

// Put implements httputil.BufferPool.
func (b *buffers) Put(p []byte) { b.pool.Put(&p) }
