package live

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"glassbox/steps"
	"glassbox/trace"
	"glassbox/trace/file"
	"glassbox/web/testrec"
)

// rig is a hub that watches a store, served over HTTP.
type rig struct {
	t     *testing.T
	hub   *Hub
	store *file.Store
	url   string
}

func newRig(t *testing.T, c Config) *rig {
	walk := steps.Glassbox(nil)
	c.Lay = walk.Apply
	if c.Interval == 0 {
		c.Interval = 5 * time.Millisecond
	}
	h := New(c)
	store, err := file.NewStore(file.StoreOptions{Head: file.Head{Engine: file.Engine{Name: "glassbox"}, Model: file.Model{Layers: 2}}, Finish: walk.Apply, Sink: h})
	require.NoError(t, err)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.Serve(w, r, r.URL.Query().Get("id"), store.Get) }))
	t.Cleanup(func() {
		store.Close()
		h.Close()
		srv.Close()
	})
	return &rig{t, h, store, "ws" + strings.TrimPrefix(srv.URL, "http")}
}

func (r *rig) start() *trace.Recorder {
	rec, err := r.store.Start(trace.Now(), trace.CaptureSpec{})
	require.NoError(r.t, err)
	return rec
}

func (r *rig) dial(id string) *websocket.Conn {
	u := r.url
	if id != "" {
		u += "?id=" + id
	}
	ws, _, err := websocket.DefaultDialer.Dial(u, nil)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { ws.Close() })
	return ws
}

// frame is any message.
type frame struct {
	Type      string
	ID        string
	Recording *struct {
		Schema struct{ Name string }
		Walk   []struct {
			ID, Text, Lane string
			Count          int
			TimeNs         int64 `json:"time_ns"`
			Source         struct{ Symbol string }
		}
		Spans   []struct{ ID, Step string }
		Passes  []struct{ Index int }
		Request struct {
			Rendered string
			Output   []struct{ Text string } `json:"output_tokens"`
		}
	}
	Spans   []struct{ ID, Step string }
	Passes  []struct{ Index int }
	Output  []struct{ Text string } `json:"output_tokens"`
	Text    string
	Message string
	Request map[string]json.RawMessage
}

func read(t *testing.T, ws *websocket.Conn) frame {
	var f frame
	require.NoError(t, ws.SetReadDeadline(time.Now().Add(10*time.Second)))
	require.NoError(t, ws.ReadJSON(&f))
	return f
}

// watched is what a client knows in the end.
type watched struct {
	types  []string
	spans  []string
	text   string
	pieces []string
	passes map[int]bool
	walk   int
	asked  string
}

// watch reads until the end.
func watch(t *testing.T, ws *websocket.Conn) watched {
	w := watched{passes: map[int]bool{}}
	for {
		f := read(t, ws)
		w.types = append(w.types, f.Type)
		switch f.Type {
		case "start":
			w.walk = len(f.Recording.Walk)
			for _, s := range f.Recording.Spans {
				w.spans = append(w.spans, s.ID)
			}
			for _, p := range f.Recording.Passes {
				w.passes[p.Index] = true
			}
			for _, o := range f.Recording.Request.Output {
				w.pieces = append(w.pieces, o.Text)
			}
			w.asked = f.Recording.Request.Rendered
		case "request":
			if raw, ok := f.Request["rendered"]; ok {
				require.NoError(t, json.Unmarshal(raw, &w.asked))
			}
			require.NotContains(t, f.Request, "output_tokens", "they have their own message and must not be replaced")
		case "spans":
			for _, s := range f.Spans {
				w.spans = append(w.spans, s.ID)
			}
			for _, p := range f.Passes {
				w.passes[p.Index] = true
			}
		case "tokens":
			for _, o := range f.Output {
				w.pieces = append(w.pieces, o.Text)
			}
			w.text = f.Text
		case "end":
			return w
		default:
			require.Fail(t, "unknown type", f.Type)
		}
	}
}

// same holds what a client saw against the recording in the end: every span once, the same ids, every token once.
func same(t *testing.T, w watched, rec *file.Recording) {
	var ids []string
	for _, s := range rec.Spans {
		ids = append(ids, s.ID)
	}
	require.ElementsMatch(t, ids, w.spans)
	require.Len(t, w.passes, len(rec.Passes))
	require.Equal(t, []string{" w0", " w1", " w2"}, w.pieces)
	require.Equal(t, rec.Request.Rendered, w.asked)
	require.Equal(t, len(rec.Walk), w.walk)
}

func TestClientSeesTheRequestFromItsStart(t *testing.T) {
	r := newRig(t, Config{})
	ws := r.dial("")
	rec := r.start()
	f := read(t, ws)
	require.Equal(t, "start", f.Type)
	require.Equal(t, rec.ID, f.ID)
	require.Equal(t, "glassbox-trace", f.Recording.Schema.Name)
	require.NotEmpty(t, f.Recording.Walk)
	for _, s := range f.Recording.Walk {
		require.Zero(t, s.Count)
		require.NotEmpty(t, s.Text)
		require.NotContains(t, s.Text, "Not reached", "it may still be reached")
		require.NotEmpty(t, s.Source.Symbol)
	}
	testrec.Whole(rec, "Why?")
	rec.End()
	w := watch(t, ws)
	w.walk = len(f.Recording.Walk)
	whole, err := r.store.Wait(t.Context(), rec.ID)
	require.NoError(t, err)
	same(t, w, whole)
	require.Equal(t, " w0 w1 w2", w.text)
	require.Equal(t, "end", w.types[len(w.types)-1])
}

func TestLateClientGetsTheStateSoFarAndThenTheRest(t *testing.T) {
	r := newRig(t, Config{})
	rec := r.start()
	testrec.Head(rec, "Why?")
	testrec.Token(rec, 0, " w0")
	first := r.dial(rec.ID)
	for read(t, first).Type != "tokens" { // the first token has been told
	}
	late := r.dial(rec.ID)
	f := read(t, late)
	require.Equal(t, "start", f.Type)
	require.NotEmpty(t, f.Recording.Spans)
	require.Equal(t, " w0", f.Recording.Request.Output[0].Text)
	sum := 0
	for _, s := range f.Recording.Walk {
		sum += s.Count
	}
	require.Equal(t, len(f.Recording.Spans), sum, "the walk counts the spans that are in it")
	seen := []string{}
	for _, s := range f.Recording.Spans {
		seen = append(seen, s.ID)
	}
	testrec.Token(rec, 1, " w1")
	testrec.Token(rec, 2, " w2")
	rec.End()
	w := watch(t, late)
	whole, err := r.store.Wait(t.Context(), rec.ID)
	require.NoError(t, err)
	require.Len(t, w.spans, len(whole.Spans)-len(seen))
	w.spans = append(w.spans, seen...)
	w.pieces = append([]string{" w0"}, w.pieces...)
	w.passes[0], w.asked, w.walk = true, f.Recording.Request.Rendered, len(f.Recording.Walk)
	same(t, w, whole)
}

func TestClientOfAFinishedRequestGetsItWhole(t *testing.T) {
	r := newRig(t, Config{})
	rec := r.start()
	testrec.Whole(rec, "Why?")
	rec.End()
	whole, err := r.store.Wait(t.Context(), rec.ID)
	require.NoError(t, err)
	w := watch(t, r.dial(rec.ID))
	require.Equal(t, []string{"start", "end"}, w.types)
	same(t, w, whole)
}

func TestUnknownRequestIsRefused(t *testing.T) {
	r := newRig(t, Config{})
	_, resp, err := websocket.DefaultDialer.Dial(r.url+"?id=nothing", nil)
	require.Error(t, err)
	require.Equal(t, http.StatusNotFound, resp.StatusCode)
}

func TestFailedRequestSaysWhy(t *testing.T) {
	r := newRig(t, Config{})
	ws := r.dial("")
	rec := r.start()
	testrec.Head(rec, "Why?")
	rec.Update(func(f *trace.Facts) { f.Err = "no pages left" })
	rec.End()
	for {
		if f := read(t, ws); f.Type == "error" {
			require.Equal(t, "no pages left", f.Message)
			return
		} else {
			require.NotEqual(t, "end", f.Type)
		}
	}
}

func TestManyClientsSeeTheSame(t *testing.T) {
	r := newRig(t, Config{Interval: time.Millisecond})
	rec := r.start()
	var wg sync.WaitGroup
	seen := make([]watched, 8)
	for i := range seen {
		ws := r.dial(rec.ID)
		wg.Add(1)
		go func() {
			defer wg.Done()
			seen[i] = watch(t, ws)
		}()
		if i == 3 {
			testrec.Head(rec, "Why?")
		}
		if i >= 4 && i < 7 {
			testrec.Token(rec, i-4, []string{" w0", " w1", " w2"}[i-4])
			time.Sleep(20 * time.Millisecond)
		}
	}
	rec.End()
	wg.Wait()
	whole, err := r.store.Wait(t.Context(), rec.ID)
	require.NoError(t, err)
	for _, w := range seen {
		same(t, w, whole)
	}
}

// A client that does not read is dropped when its queue is full; the sink never waits for it.
func TestSlowClientIsDropped(t *testing.T) {
	h := New(Config{Queue: 4, Interval: time.Hour})
	c := &client{out: make(chan *message, 4)}
	require.NoError(t, h.join(c))
	defer h.wg.Done()
	h.Started("a", &file.Recording{ID: "a"})
	begun := time.Now()
	for range 100 {
		h.Delta("a", &file.Delta{Spans: []file.Span{{ID: "s", Step: "queue"}}})
		h.mu.Lock()
		h.flush("a", h.runs["a"])
		h.mu.Unlock()
	}
	require.Less(t, time.Since(begun), time.Second)
	n := 0
	for range c.out {
		n++
	}
	require.Equal(t, 4, n, "what was queued before is still sent")
	require.Equal(t, errSlow, c.why)
	h.mu.Lock()
	defer h.mu.Unlock()
	require.Empty(t, h.clients)
	require.Len(t, h.runs["a"].spans, 100, "nothing is lost for the others")
}

func TestClosingTellsClients(t *testing.T) {
	r := newRig(t, Config{})
	ws := r.dial("")
	rec := r.start()
	require.Equal(t, "start", read(t, ws).Type)
	r.hub.Close()
	_, _, err := ws.ReadMessage()
	require.True(t, websocket.IsCloseError(err, websocket.CloseGoingAway), "%v", err)
	_, resp, err := websocket.DefaultDialer.Dial(r.url, nil)
	require.Error(t, err)
	require.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
	rec.End()
}

func TestSilentClientIsDropped(t *testing.T) {
	r := newRig(t, Config{Ping: 20 * time.Millisecond})
	ws := r.dial("")
	ws.SetPingHandler(func(string) error { return nil }) // never answers
	require.NoError(t, ws.SetReadDeadline(time.Now().Add(5*time.Second)))
	_, _, err := ws.ReadMessage()
	require.Error(t, err)
	require.NotContains(t, err.Error(), "timeout", "the server ends it, not our deadline")
}

func TestTalkingClientIsDropped(t *testing.T) {
	r := newRig(t, Config{})
	ws := r.dial("")
	require.NoError(t, ws.WriteMessage(websocket.TextMessage, []byte("hello")))
	require.NoError(t, ws.SetReadDeadline(time.Now().Add(5*time.Second)))
	_, _, err := ws.ReadMessage()
	require.Error(t, err)
	require.NotContains(t, err.Error(), "timeout")
}
