package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sort"
	"strings"
	"sync"
	"time"

	"glassbox/cmd/internal/bench/client"
)

// proxy passes everything through unchanged and reads along in streamed answers.
type proxy struct {
	url     string
	server  *http.Server
	started time.Time

	mu   sync.Mutex
	rows []*client.Row
}

// newProxy listens on a free port of this machine.
func newProxy(to string) (*proxy, error) {
	u, err := url.Parse(to)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{url: "http://" + l.Addr().String(), started: time.Now()}
	h := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) }, ModifyResponse: p.listen,
		// Each request has a connection of its own: what is passed on cannot be sent again when the server has just closed a kept
		// one, as llama.cpp's does after each stream.
		Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	p.server = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), sentKey{}, p.now())))
	})}
	go func() { _ = p.server.Serve(l) }()
	return p, nil
}

// sentKey carries the time at which a request came, from where it comes to where its answer is.
type sentKey struct{}

func (p *proxy) now() time.Duration { return time.Since(p.started) + 1 }

func (p *proxy) close() { _ = p.server.Close() }

// listen reads along in an answer that is a stream.
func (p *proxy) listen(res *http.Response) error {
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		return nil
	}
	sent, _ := res.Request.Context().Value(sentKey{}).(time.Duration)
	row := &client.Row{}
	row.Times.Sent, row.Times.Scheduled = int64(sent), int64(sent)
	p.mu.Lock()
	p.rows = append(p.rows, row)
	p.mu.Unlock()
	res.Body = &ear{ReadCloser: res.Body, p: p, s: client.NewStream(row, false)}
	return nil
}

// ear is a body that is read along.
type ear struct {
	io.ReadCloser
	p    *proxy
	s    *client.Stream
	once sync.Once
}

func (e *ear) Read(b []byte) (int, error) {
	n, err := e.ReadCloser.Read(b)
	at := int64(e.p.now())
	if n > 0 {
		_ = e.s.Read(b[:n], at) // what is wrong with it stands in the row
	}
	if err == io.EOF {
		e.end(nil)
	}
	return n, err
}

func (e *ear) Close() error {
	e.end(io.ErrUnexpectedEOF)
	return e.ReadCloser.Close()
}

func (e *ear) end(err error) {
	e.once.Do(func() {
		e.p.mu.Lock()
		defer e.p.mu.Unlock()
		e.s.Close(int64(e.p.now()), err)
	})
}

// count is the number of streams so far.
func (p *proxy) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.rows)
}

// last returns the newest n streams: what clients sent before were warm-ups.
func (p *proxy) last(n int) []*client.Row {
	p.mu.Lock()
	defer p.mu.Unlock()
	sort.SliceStable(p.rows, func(i, j int) bool { return p.rows[i].Times.Sent < p.rows[j].Times.Sent })
	return append([]*client.Row{}, p.rows[max(0, len(p.rows)-n):]...)
}
