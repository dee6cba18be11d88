package otlp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector takes posts and answers with the statuses given, then with 200.
type collector struct {
	*httptest.Server
	mu    sync.Mutex
	spans []*tracepb.Span
	posts atomic.Int32
}

func collect(t *testing.T, statuses ...int) *collector {
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(c.posts.Add(1))
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("post: %v %s %s", err, r.URL.Path, r.Header.Get("Content-Type"))
		}
		if n <= len(statuses) {
			w.WriteHeader(statuses[n-1])
			return
		}
		var d tracepb.TracesData
		if err := proto.Unmarshal(body, &d); err != nil {
			t.Error(err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, rs := range d.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				c.spans = append(c.spans, ss.Spans...)
			}
		}
	}))
	t.Cleanup(c.Server.Close)
	return c
}

func TestSpansReachACollector(t *testing.T) {
	c := collect(t, http.StatusServiceUnavailable)
	e, err := NewExporter(c.URL, Resource{"glassbox", "1"}, func(err error) { t.Error(err) })
	require.NoError(t, err)
	parent := Span{Trace: NewTrace(), ID: NewID(), Name: "POST /x", Kind: Server, Start: 5, End: 9, Error: "bad \xff",
		Attrs: []Attr{{"s", "a\xff"}, {"i", 7}, {"f", 0.5}, {"b", true}, {"l", []string{"x"}}}, Events: []Event{{Name: "e", Time: 6}}}
	e.Add([]Span{parent, {Trace: parent.Trace, ID: NewID(), Parent: parent.ID, Name: "in", Kind: Internal, Start: 6, End: 7}})
	require.NoError(t, e.Close(t.Context()))
	require.EqualValues(t, 2, c.posts.Load(), "a 503 is tried again")
	require.Len(t, c.spans, 2)
	require.Equal(t, parent.Trace[:], c.spans[1].TraceId)
	require.Equal(t, c.spans[0].SpanId, c.spans[1].ParentSpanId)
	require.Equal(t, tracepb.Status_STATUS_CODE_ERROR, c.spans[0].Status.Code)
	require.Equal(t, "a\uFFFD", c.spans[0].Attributes[0].Value.GetStringValue())
	require.EqualValues(t, 7, c.spans[0].Attributes[1].Value.GetIntValue())
	require.EqualValues(t, 2, e.Sent.Load())
	e.Add([]Span{parent})
	require.EqualValues(t, 1, e.Dropped.Load(), "after Close spans are counted, not kept")
}

// A collector that refuses, hangs or is not there costs nothing but the spans, which are counted.
func TestACollectorThatFails(t *testing.T) {
	hang := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer slow.Close()
	defer close(hang)
	gone := httptest.NewServer(nil)
	gone.Close()
	for name, url := range map[string]string{"refuses": collect(t, 400, 400).URL, "is gone": gone.URL, "hangs": slow.URL} {
		t.Run(name, func(t *testing.T) {
			told := make(chan error, 10)
			e, err := NewExporter(url, Resource{}, func(err error) { told <- err })
			require.NoError(t, err)
			start := time.Now()
			for range 3 * queued {
				e.Add([]Span{{Name: "x"}})
			}
			require.Less(t, time.Since(start), time.Second, "Add never waits")
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			_ = e.Close(ctx)
			require.EqualValues(t, 3*queued, e.Dropped.Load()+e.Sent.Load(), "every span is sent or counted")
			require.Positive(t, e.Dropped.Load())
			require.NotEmpty(t, told)
		})
	}
	for _, bad := range []string{"", "localhost:4318", "ftp://x", "http://"} {
		_, err := NewExporter(bad, Resource{}, nil)
		require.ErrorContains(t, err, "wanted a URL", bad)
	}
}

func TestJoin(t *testing.T) {
	tr, parent, sampled, ok := Join("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03")
	require.True(t, ok && sampled)
	require.Equal(t, "4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7", fmt.Sprintf("%x %x", tr, parent))
	_, _, sampled, ok = Join("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00")
	require.True(t, ok)
	require.False(t, sampled)
	_, _, _, ok = Join("")
	require.False(t, ok)
}
