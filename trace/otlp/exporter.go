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
	queue   chan []Span
	ctx     context.Context // ends when Close gives up
	cancel  context.CancelFunc
	done    chan struct{}
	mu      sync.RWMutex // held by Add; Close shuts the queue
	shut    bool

	Sent, Dropped atomic.Int64 // spans
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
	e := &Exporter{url: u.String(), r: r, client: &http.Client{Timeout: postTime}, onError: onError, queue: make(chan []Span, queued), done: make(chan struct{})}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	go e.run()
	return e, nil
}

// Add queues the spans of a request. It never waits.
func (e *Exporter) Add(spans []Span) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if !e.shut {
		select {
		case e.queue <- spans:
			return
		default:
		}
	}
	e.Dropped.Add(int64(len(spans)))
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
		batch := append([]Span(nil), first...)
		wait := time.NewTimer(batchWait)
	gather:
		for len(batch) < batchMost {
			select {
			case more, ok := <-e.queue:
				if !ok {
					break gather
				}
				batch = append(batch, more...)
			case <-wait.C:
				break gather
			}
		}
		wait.Stop()
		if err := e.send(batch); err != nil {
			e.Dropped.Add(int64(len(batch)))
			e.onError(fmt.Errorf("otlp: %d spans were not taken by %s: %w", len(batch), e.url, err))
			continue
		}
		e.Sent.Add(int64(len(batch)))
	}
}

// send posts a batch; what may pass is tried again.
func (e *Exporter) send(batch []Span) error {
	body, err := Marshal(e.r, batch)
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		again, err := e.post(body)
		if err == nil || !again || n == tries {
			return err
		}
		select {
		case <-time.After(time.Duration(n) * 200 * time.Millisecond):
		case <-e.ctx.Done():
			return err
		}
	}
}

// post tells whether another try makes sense (OTLP 1.x, "Retryable Response Codes").
func (e *Exporter) post(body []byte) (again bool, err error) {
	req, err := http.NewRequestWithContext(e.ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
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
