package otlp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Exporter collects spans and posts them. Its zero value is not usable; see NewExporter.
type Exporter struct {
	url     string
	r       Resource
	client  *http.Client
	onError func(error)
	queue   chan batch
	ctx     context.Context // ends when Close gives up
	cancel  context.CancelFunc
	done    chan struct{}
	mu      sync.RWMutex // held by Add; Close shuts the queue
	shut    bool

	Sent, Dropped atomic.Int64 // spans
}

// batch is what was added at once: spans of ours, or a post of another program that goes on as it came.
type batch struct {
	spans []Span
	kind  string // Content-Type of body
	body  []byte
	n     int // spans in all
}

const (
	queued    = 1024            // requests whose spans wait
	batchMost = 512             // spans of one post
	batchWait = time.Second     // for more spans before a post
	postTime  = 5 * time.Second // for one try
	tries     = 3
)

// NewExporter posts to a collector at an endpoint such as http://127.0.0.1:4318; /v1/traces is added where the URL has no
// path. onError is told of posts that failed for good.
func NewExporter(endpoint string, r Resource, onError func(error)) (*Exporter, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("otlp endpoint: wanted a URL such as http://127.0.0.1:4318, found %q", endpoint)
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1/traces"
	}
	e := &Exporter{url: u.String(), r: r, client: &http.Client{Timeout: postTime}, onError: onError, queue: make(chan batch, queued), done: make(chan struct{})}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	go e.run()
	return e, nil
}

// Add queues the spans of a request. It never waits.
func (e *Exporter) Add(spans []Span) { e.add(batch{spans: spans, n: len(spans)}) }

// Forward queues what another program exported, n spans as a body of the given Content-Type. It never waits.
func (e *Exporter) Forward(kind string, body []byte, n int) {
	e.add(batch{kind: kind, body: body, n: n})
}

func (e *Exporter) add(b batch) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if !e.shut {
		select {
		case e.queue <- b:
			return
		default:
		}
	}
	e.Dropped.Add(int64(b.n))
}

// Close sends what waits, until ctx ends.
func (e *Exporter) Close(ctx context.Context) error {
	e.mu.Lock()
	if !e.shut {
		e.shut = true
		close(e.queue)
	}
	e.mu.Unlock()
	defer e.cancel()
	defer e.client.CloseIdleConnections()
	select {
	case <-e.done:
		return nil
	case <-ctx.Done():
		e.cancel()
		<-e.done
		return fmt.Errorf("otlp: %d spans were not sent: %w", e.Dropped.Load(), ctx.Err())
	}
}

// run gathers spans for a moment and posts them together.
func (e *Exporter) run() {
	defer close(e.done)
	for first := range e.queue {
		if first.body != nil {
			e.send(first.kind, first.body, first.n)
			continue
		}
		spans, forward := e.gather(first.spans)
		body, err := Marshal(e.r, spans)
		if err != nil {
			e.lost(len(spans), err)
		} else {
			e.send(protobuf, body, len(spans))
		}
		if forward.body != nil {
			e.send(forward.kind, forward.body, forward.n)
		}
	}
}

// gather takes more spans for a moment, until there are many, or a post of another program comes.
func (e *Exporter) gather(first []Span) (spans []Span, forward batch) {
	spans = append(spans, first...)
	wait := time.NewTimer(batchWait)
	defer wait.Stop()
	for len(spans) < batchMost {
		select {
		case more, ok := <-e.queue:
			if !ok || more.body != nil {
				return spans, more
			}
			spans = append(spans, more.spans...)
		case <-wait.C:
			return spans, forward
		}
	}
	return spans, forward
}

// send posts n spans; what may pass is tried again.
func (e *Exporter) send(kind string, body []byte, n int) {
	for try := 1; ; try++ {
		again, err := e.post(kind, body)
		if err == nil {
			e.Sent.Add(int64(n))
			return
		}
		if !again || try == tries {
			e.lost(n, err)
			return
		}
		select {
		case <-time.After(time.Duration(try) * 200 * time.Millisecond):
		case <-e.ctx.Done():
			e.lost(n, err)
			return
		}
	}
}

func (e *Exporter) lost(n int, err error) {
	e.Dropped.Add(int64(n))
	e.onError(fmt.Errorf("otlp: %d spans were not taken by %s: %w", n, e.url, err))
}

// post tells whether another try makes sense (OTLP 1.x, "Retryable Response Codes").
func (e *Exporter) post(kind string, body []byte) (again bool, err error) {
	req, err := http.NewRequestWithContext(e.ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	req.Header.Set("Content-Type", kind)
	res, err := e.client.Do(req)
	if err != nil {
		return !errors.Is(err, context.Canceled), err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<16))
	switch res.StatusCode {
	case http.StatusOK:
		return false, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true, errors.New(res.Status)
	}
	return false, errors.New(res.Status)
}
