package openai

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/trace"
	"glassbox/trace/file"
)

// After a load of every kind of request, whole, streamed, refused and broken off, nothing is left of it: no slot, no page,
// no goroutine, no running recording.
func TestNothingIsLeftOfALoad(t *testing.T) {
	store, err := file.NewStore(file.StoreOptions{})
	require.NoError(t, err)
	r := realServer(t, func(c *Config) { c.Tracer = store })
	client := r.http.Client()
	client.CloseIdleConnections()
	before := runtime.NumGoroutine()
	bodies := []object{
		hi("max_tokens", 30), hi("max_tokens", 30, "stream", true), hi("max_tokens", 100, "ignore_eos", true),
		hi("max_tokens", 100, "ignore_eos", true, "stream", true), hi("max_tokens", 0), hi("n", 2),
		text("max_tokens", 60, "prompt", []any{"a", "b", "c"}, "ignore_eos", true),
		text("max_tokens", 60, "prompt", []any{"a", "b", "c"}, "ignore_eos", true, "stream", true),
	}
	var all sync.WaitGroup
	for i := range 96 {
		all.Go(func() {
			path, body := chatPath, bodies[i%len(bodies)]
			if body["prompt"] != nil {
				path = textPath
			}
			b, err := compact(body)
			if err != nil {
				t.Error(err)
				return
			}
			ctx, cancel := context.WithTimeout(context.Background(), []time.Duration{time.Millisecond, 10 * time.Millisecond, time.Minute}[i%3])
			defer cancel()
			req, _ := http.NewRequestWithContext(ctx, "POST", r.http.URL+path, bytes.NewReader(b))
			if i%5 == 0 {
				req.Header.Set("X-Glassbox-Trace", "1")
			}
			res, err := client.Do(req)
			if err != nil {
				return // broken off
			}
			defer res.Body.Close()
			_, _ = io.Copy(io.Discard, res.Body)
		})
	}
	all.Wait()
	client.CloseIdleConnections()
	require.Eventually(t, func() bool { // a recording is made whole after its request is answered
		return !slices.ContainsFunc(store.List(), func(s file.Summary) bool { return s.Running })
	}, 5*time.Second, 5*time.Millisecond, "a recording goes on though its request is over")
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		stacks := make([]byte, 1<<20)
		t.Fatalf("goroutines: wanted %d again, found %d:\n%s", before, n, stacks[:runtime.Stack(stacks, true)])
	}
	stats := r.engine.Stats()
	require.Zero(t, stats.Running)
	require.Zero(t, stats.Waiting)
	require.Equal(t, stats.Pages, stats.FreePages)
	_, err = store.Start(trace.Now(), trace.CaptureSpec{})
	require.NoError(t, err)
}
