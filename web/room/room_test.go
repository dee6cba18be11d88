package room

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
)

// rig is a room behind its guard, and what stands behind it: 204 for everything.
type rig struct {
	t   *testing.T
	rm  *Room
	srv *httptest.Server
	ws  string
}

func newRig(t *testing.T, c Config) *rig {
	rm := New(c)
	mux := http.NewServeMux()
	mux.HandleFunc("/api/workshop", rm.Serve)
	mux.HandleFunc("/api/workshop/key", rm.ServeKey)
	mux.HandleFunc("/api/workshop/notes", rm.ServeNotes)
	mux.HandleFunc("/api/workshop/notes/{step}", rm.ServeNotes)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	srv := httptest.NewServer(rm.Guard(mux))
	t.Cleanup(func() {
		rm.Close()
		srv.Close()
	})
	return &rig{t, rm, srv, "ws" + strings.TrimPrefix(srv.URL, "http") + "/api/workshop"}
}

// dial joins; as the teacher it shows the key in the cookie that ServeKey sets.
func (r *rig) dial(teacher bool, d *websocket.Dialer) *websocket.Conn {
	h := http.Header{}
	if teacher {
		h.Set("Cookie", r.cookie())
	}
	if d == nil {
		d = websocket.DefaultDialer
	}
	ws, _, err := d.Dial(r.ws, h)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { ws.Close() })
	return ws
}

func (r *rig) cookie() string {
	resp, err := http.Post(r.srv.URL+"/api/workshop/key", "application/json", strings.NewReader(fmt.Sprintf(`{"key":%q}`, r.rm.Key())))
	require.NoError(r.t, err)
	defer resp.Body.Close()
	require.Equal(r.t, http.StatusNoContent, resp.StatusCode)
	c := resp.Cookies()[0]
	require.True(r.t, c.HttpOnly)
	require.Equal(r.t, http.SameSiteStrictMode, c.SameSite)
	return c.Name + "=" + c.Value
}

// heard is any message to a page.
type heard struct {
	Type, You, Recording, Query, Message string
	Seq, Gather                          int64
	Quiet, Tasks                         bool
	People                               *numbers
}

func read(t *testing.T, ws *websocket.Conn) heard {
	var h heard
	require.NoError(t, ws.SetReadDeadline(time.Now().Add(10*time.Second)))
	require.NoError(t, ws.ReadJSON(&h))
	return h
}

// until reads until a message is as wanted.
func until(t *testing.T, ws *websocket.Conn, want func(heard) bool) heard {
	for {
		if h := read(t, ws); want(h) {
			return h
		}
	}
}

func send(t *testing.T, ws *websocket.Conn, text string) {
	require.NoError(t, ws.WriteMessage(websocket.TextMessage, []byte(text)))
}

const at37 = `{"type":"go","recording":"sky","query":"view=request&step=attn_softmax&layer=3"}`

func TestFollowersGoWhereTheTeacherGoes(t *testing.T) {
	r := newRig(t, Config{})
	teacher, follower := r.dial(true, nil), r.dial(false, nil)
	require.Equal(t, "teacher", read(t, teacher).You)
	first := read(t, follower)
	require.Equal(t, "follower", first.You)
	require.Empty(t, first.Recording)
	require.True(t, first.Quiet)
	require.Nil(t, first.People, "how many others there are is the teacher's")

	send(t, teacher, at37)
	h := until(t, follower, func(h heard) bool { return h.Seq == 1 })
	require.Equal(t, "sky", h.Recording)
	require.Equal(t, "view=request&step=attn_softmax&layer=3", h.Query)

	late := r.dial(false, nil) // who joins, or comes back, is told at once
	h = read(t, late)
	require.Equal(t, "sky", h.Recording)
	require.Equal(t, int64(1), h.Seq)

	send(t, teacher, `{"type":"gather"}`)
	until(t, late, func(h heard) bool { return h.Gather == 1 })
	send(t, teacher, `{"type":"set","quiet":false,"tasks":true}`)
	h = until(t, follower, func(h heard) bool { return h.Tasks })
	require.False(t, h.Quiet)
}

func TestTeacherSeesNumbersWithoutNames(t *testing.T) {
	r := newRig(t, Config{})
	teacher, a, b := r.dial(true, nil), r.dial(false, nil), r.dial(false, nil)
	send(t, a, `{"type":"along","along":false}`)
	send(t, b, `{"type":"done","task":1,"done":true}`)
	h := until(t, teacher, func(h heard) bool { return h.People.Here == 2 && h.People.Along == 1 && h.People.Done[1] == 1 })
	require.Equal(t, 0, h.People.Done[0])
	a.Close()
	until(t, teacher, func(h heard) bool { return h.People.Here == 1 && h.People.Along == 1 })
}

func TestOnlyTheTeacherSteers(t *testing.T) {
	r := newRig(t, Config{})
	for _, key := range []string{"", "wrong", r.rm.Key() + "x", strings.ToUpper(r.rm.Key())} {
		ws, _, err := websocket.DefaultDialer.Dial(r.ws, http.Header{"X-Glassbox-Teacher": {key}})
		require.NoError(t, err)
		require.Equal(t, "follower", read(t, ws).You, key)
		for _, m := range []string{at37, `{"type":"gather"}`, `{"type":"set","quiet":false}`} {
			send(t, ws, m)
			require.Contains(t, until(t, ws, func(h heard) bool { return h.Type == "error" }).Message, "only the teacher's page steers")
		}
		ws.Close()
	}
	require.Equal(t, Place{}, r.rm.Place())
	resp, err := http.Post(r.srv.URL+"/api/workshop/key", "application/json", strings.NewReader(`{"key":"guess"}`))
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusForbidden, resp.StatusCode)
	require.Empty(t, resp.Cookies())
}

func TestWrongMessagesAreToldAndEndTheConnection(t *testing.T) {
	r := newRig(t, Config{})
	ws := r.dial(true, nil)
	read(t, ws)
	long := strings.Repeat("x", 3000)
	for _, c := range []struct{ send, told string }{
		{`hello`, "JSON object"}, {`[]`, "JSON object"}, {`{"type":"fly"}`, `found "fly"`}, {`{"type":"done","task":99,"done":true}`, "0 to 11"}, {`{"type":"done","task":-1,"done":true}`, "0 to 11"},
		{`{"type":"along"}`, "true or false"}, {`{"type":"go"}`, "1 to 128 bytes"}, {`{"type":"go","recording":"a","query":"` + long + `"}`, "at most 2048"}, {strings.Repeat(" ", 5000) + "{}", "at most 4096 bytes, this one 5002"},
	} {
		send(t, ws, c.send)
		require.Contains(t, until(t, ws, func(h heard) bool { return h.Type == "error" }).Message, c.told, c.send)
	}
	send(t, ws, `the tenth`)
	for {
		if _, _, err := ws.ReadMessage(); err != nil {
			require.True(t, websocket.IsCloseError(err, websocket.CloseTryAgainLater), "%v", err)
			require.Contains(t, err.Error(), "too many")
			break
		}
	}
	require.Equal(t, Place{}, r.rm.Place())

	huge := r.dial(false, nil)
	read(t, huge)
	_ = huge.WriteMessage(websocket.TextMessage, bytes.Repeat([]byte("x"), 1<<20)) // it may be cut off before its end
	_, _, err := huge.ReadMessage()
	require.True(t, websocket.IsCloseError(err, websocket.CloseMessageTooBig), "%v", err)
}

func TestFloodIsCutOff(t *testing.T) {
	r := newRig(t, Config{})
	ws := r.dial(false, nil)
	for range 2 * burst {
		if ws.WriteMessage(websocket.TextMessage, []byte(`{"type":"along","along":true}`)) != nil {
			break
		}
	}
	for {
		if _, _, err := ws.ReadMessage(); err != nil {
			require.True(t, websocket.IsCloseError(err, websocket.CloseTryAgainLater), "%v", err)
			return
		}
	}
}

func TestRoomIsBounded(t *testing.T) {
	r := newRig(t, Config{Seats: 2})
	r.dial(false, nil)
	r.dial(false, nil)
	_, resp, err := websocket.DefaultDialer.Dial(r.ws, nil)
	require.Error(t, err)
	require.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
}

func TestQuietRoomTakesNobodysPromptsButTheTeachers(t *testing.T) {
	r := newRig(t, Config{})
	status := func(method, path, cookie string) int {
		req, err := http.NewRequest(method, r.srv.URL+path, strings.NewReader("{}"))
		require.NoError(t, err)
		if cookie != "" {
			req.Header.Set("Cookie", cookie)
		}
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		if resp.StatusCode == http.StatusForbidden {
			var e struct{ Error map[string]any }
			require.NoError(t, json.NewDecoder(resp.Body).Decode(&e))
			require.Len(t, e.Error, 4)
		}
		return resp.StatusCode
	}
	prompt, always := []string{"/v1/chat/completions", "/v1/completions", "/api/experiments", "/tokenize"}, []string{"/traces/x/delete", "/bench", "/bench/stop", "/api/bench", "//bench", "/bench/../bench"}
	cookie := r.cookie()
	for _, path := range append(prompt, always...) {
		require.Equal(t, http.StatusForbidden, status("POST", path, ""), path)
		if path[1] != '/' && !strings.Contains(path, "..") {
			require.Equal(t, http.StatusNoContent, status("POST", path, cookie), path)
		}
	}
	require.Equal(t, http.StatusNoContent, status("GET", "/v1/models", ""))
	ws := r.dial(true, nil)
	send(t, ws, `{"type":"set","quiet":false}`)
	until(t, ws, func(h heard) bool { return !h.Quiet })
	for _, path := range prompt {
		require.Equal(t, http.StatusNoContent, status("POST", path, ""), path)
	}
	for _, path := range always {
		require.Equal(t, http.StatusForbidden, status("POST", path, ""), path)
	}
	require.Equal(t, http.StatusForbidden, status("DELETE", "/api/traces/x", ""))
	require.Equal(t, http.StatusNoContent, status("DELETE", "/api/traces/x", cookie))
}

func TestSilentAndSlowPagesAreDropped(t *testing.T) {
	r := newRig(t, Config{Ping: 20 * time.Millisecond})
	ws := r.dial(false, nil)
	ws.SetPingHandler(func(string) error { return nil }) // never answers
	require.NoError(t, ws.SetReadDeadline(time.Now().Add(5*time.Second)))
	for {
		if _, _, err := ws.ReadMessage(); err != nil {
			require.NotContains(t, err.Error(), "timeout", "the server ends it, not our deadline")
			break
		}
	}
	require.Eventually(t, func() bool { r.rm.mu.Lock(); defer r.rm.mu.Unlock(); return len(r.rm.seats) == 0 }, 5*time.Second, 5*time.Millisecond)
}

func TestClosingTellsPages(t *testing.T) {
	r := newRig(t, Config{})
	ws := r.dial(false, nil)
	read(t, ws)
	go r.rm.Close()
	_, _, err := ws.ReadMessage()
	require.True(t, websocket.IsCloseError(err, websocket.CloseGoingAway), "%v", err)
}

// counted is a connection that counts what comes over it.
type counted struct {
	net.Conn
	n *atomic.Int64
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.n.Add(int64(n))
	return n, err
}

// A class of 60, one of whom never reads: every page gets every place that lasts, soon, and within 2 Mbit/s; the server's
// memory does not grow with the number of moves.
func TestSixtyPages(t *testing.T) {
	r := newRig(t, Config{Ping: time.Second})
	teacher := r.dial(true, nil)
	const pages, moves = 60, 200
	var bytes atomic.Int64
	dialer := &websocket.Dialer{NetDial: func(network, addr string) (net.Conn, error) {
		c, err := net.Dial(network, addr)
		return counted{c, &bytes}, err
	}}
	r.dial(false, nil) // never reads
	var mu sync.Mutex
	last, worst := map[string]time.Time{}, time.Duration(0)
	final := fmt.Sprintf("step=s%d", moves)
	var done sync.WaitGroup
	for range pages {
		ws := r.dial(false, dialer)
		done.Add(1)
		go func() {
			defer done.Done()
			for {
				_ = ws.SetReadDeadline(time.Now().Add(20 * time.Second))
				var h heard
				if err := ws.ReadJSON(&h); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if at, ok := last[h.Query]; ok {
					worst = max(worst, time.Since(at))
				}
				mu.Unlock()
				if h.Query == final {
					return
				}
			}
		}()
	}
	until(t, teacher, func(h heard) bool { return h.People != nil && h.People.Here == pages+1 })
	go func() {
		for {
			if _, _, err := teacher.ReadMessage(); err != nil {
				return
			}
		}
	}()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	begun := time.Now()
	for i := 1; i <= moves; i++ {
		q := fmt.Sprintf("step=s%d", i)
		mu.Lock()
		last[q] = time.Now()
		mu.Unlock()
		send(t, teacher, fmt.Sprintf(`{"type":"go","recording":"sky","query":%q}`, q))
		time.Sleep(30 * time.Millisecond) // a held key
	}
	done.Wait()
	took := time.Since(begun)
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := float64(bytes.Load()) * 8 / pages / took.Seconds() / 1e6
	grown := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("%d pages, %d moves in %v: slowest %v, %.3f Mbit/s a page, heap %+d kB", pages, moves, took.Round(time.Millisecond), worst.Round(time.Millisecond), each, grown/1000)
	require.Less(t, each, 2.0)
	require.Less(t, worst, 3*time.Second, "make bench-web holds 300 ms; this machine may be busy")
	require.Less(t, grown, int64(4<<20))
}
