package gateway

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/trace/file"
)

// watcher is a sink that is looked at.
type watcher struct {
	mu       sync.Mutex
	started  *file.Recording
	request  *file.Request
	tokens   []file.Token
	spans    map[string]bool
	finished *file.Recording
}

func (w *watcher) Watching() bool { return true }

func (w *watcher) Started(_ string, head *file.Recording) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.started = head
}

func (w *watcher) Request(_ string, r *file.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.request = r
}

func (w *watcher) Delta(_ string, d *file.Delta) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tokens = append(w.tokens, d.Tokens...)
	for _, s := range d.Spans {
		w.spans[s.ID] = true
	}
}

func (w *watcher) Finished(_ string, rec *file.Recording) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.finished = rec
}

func (w *watcher) text() (s string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range w.tokens {
		s += t.Text
	}
	return s
}

// Who looks on sees the pieces while the answer comes, each once, and the whole at the end; without texts where those are
// not kept.
func TestARequestCanBeWatched(t *testing.T) {
	for _, redacted := range []bool{false, true} {
		next := make(chan bool)
		w := &watcher{spans: map[string]bool{}}
		r := newRig(t, serve(t, func(out http.ResponseWriter, q *http.Request) {
			_, _ = io.Copy(io.Discard, q.Body)
			out.Header().Set("Content-Type", "text/event-stream")
			for range 3 {
				_, _ = io.WriteString(out, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"}}]}\n\n")
				_ = http.NewResponseController(out).Flush()
			}
			<-next
			_, _ = io.WriteString(out, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"end\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
		}), func(c *Config) { c.Sink, c.Redact = w, redacted })
		res, err := http.Post(r.url+"/v1/chat/completions", "application/json", strings.NewReader(hello))
		require.NoError(t, err)
		count := func() int {
			w.mu.Lock()
			defer w.mu.Unlock()
			return len(w.tokens)
		}
		require.Eventually(t, func() bool { return count() == 3 }, 5*time.Second, time.Millisecond, "before the answer is over")
		require.Nil(t, w.finished)
		close(next)
		_, err = io.ReadAll(res.Body)
		require.NoError(t, err)
		res.Body.Close()
		rec := r.recording(res.Header.Get("X-Glassbox-Trace-Id"))
		require.Eventually(t, func() bool { w.mu.Lock(); defer w.mu.Unlock(); return w.finished != nil }, 5*time.Second, time.Millisecond)
		require.Same(t, rec, w.finished)
		require.Equal(t, 4, count())
		chunks := 0
		for _, s := range rec.Spans {
			if s.Step == stepChunk {
				chunks++
				require.True(t, w.spans[s.ID], "told under the id that it has in the end: %s", s.ID)
			}
		}
		require.Len(t, w.spans, chunks)
		if redacted {
			require.Empty(t, w.text())
			require.NotContains(t, string(w.request.Messages), "Hello")
		} else {
			require.Equal(t, "word word word end", w.text())
			require.Contains(t, string(w.request.Messages), "Hello")
		}
	}
}
