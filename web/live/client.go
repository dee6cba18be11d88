package live

import (
	"errors"
	"net/http"
	"time"

	"github.com/gorilla/websocket"

	"glassbox/trace/file"
)

var (
	errSlow      = errors.New("too slow: connect again for the state so far")
	errGoingAway = errors.New("the server is shutting down")
	errGone      = errors.New("the connection is closed")
)

// writeWait is how long one frame may take to be taken off our hands.
const writeWait = 10 * time.Second

// client is one connection. The hub writes to out and closes it; the client's goroutine sends what is in it.
type client struct {
	want string // the id it follows; "" = all
	out  chan *message
	why  error // why out was closed
	ws   *websocket.Conn
}

// Serve makes a websocket of the request and follows a request: id, or with "" every one that runs. get looks a recording
// up as file.Store does; with an id it knows nothing of, the answer is 404. The caller has checked where the request comes
// from. Serve returns when the connection ends.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request, id string, get func(string) (*file.Recording, error)) {
	done := (*file.Recording)(nil)
	c := &client{want: id, out: make(chan *message, h.c.Queue)}
	if err := h.join(c); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer h.wg.Done()
	defer h.leave(c, errGone)
	if id != "" && !h.running(id) {
		// Joined first, asked then: a request that ends in between is told by the hub or found finished, never lost.
		rec, err := get(id)
		if err != nil && !errors.Is(err, file.ErrRunning) {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		done = rec
	}
	up := websocket.Upgrader{EnableCompression: false, CheckOrigin: func(*http.Request) bool { return true }}
	ws, err := up.Upgrade(w, r, nil)
	if err != nil {
		return // the upgrader has answered
	}
	defer ws.Close()
	c.ws = ws
	go h.listen(c)
	if done != nil {
		whole := startMessage(id, shallow(done), func(*file.Recording) {})
		for _, m := range []*message{whole, endMessage(id)} {
			if c.send(m) != nil {
				return
			}
		}
	}
	h.pump(c)
}

func shallow(rec *file.Recording) *file.Recording {
	r := *rec
	return &r
}

func (h *Hub) running(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.runs[id] != nil
}

// pump sends what the hub queues, and pings.
func (h *Hub) pump(c *client) {
	ping := time.NewTicker(h.c.Ping)
	defer ping.Stop()
	for {
		select {
		case m, open := <-c.out:
			if !open {
				c.bye()
				return
			}
			if c.send(m) != nil {
				return
			}
		case <-ping.C:
			if c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeWait)) != nil {
				return
			}
		}
	}
}

func (c *client) send(m *message) error {
	b, err := m.bytes()
	if err != nil {
		return err
	}
	if err := c.ws.SetWriteDeadline(time.Now().Add(writeWait)); err != nil {
		return err
	}
	return c.ws.WriteMessage(websocket.TextMessage, b)
}

// bye says why the connection ends.
func (c *client) bye() {
	code := websocket.CloseTryAgainLater
	if c.why == errGoingAway {
		code = websocket.CloseGoingAway
	}
	if c.why != errGone {
		_ = c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, c.why.Error()), time.Now().Add(time.Second))
	}
}

// listen reads until the client goes away. It says nothing, so anything but control frames ends the connection.
func (h *Hub) listen(c *client) {
	silent := 3 * h.c.Ping
	c.ws.SetReadLimit(1024)
	_ = c.ws.SetReadDeadline(time.Now().Add(silent))
	c.ws.SetPongHandler(func(string) error { return c.ws.SetReadDeadline(time.Now().Add(silent)) })
	_, _, _ = c.ws.NextReader() // control frames are handled inside
	h.leave(c, errGone)
}

func (h *Hub) leave(c *client, why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.drop(c, why)
}
