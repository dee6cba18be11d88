package room

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gorilla/websocket"
)

var (
	errGoingAway = errors.New("the server is shutting down")
	errGone      = errors.New("the connection is closed")
	errTalks     = errors.New("too many messages or errors: wait a moment, then connect again")
)

const (
	writeWait = 5 * time.Second // for one message to be taken off our hands
	maxWrong  = 10              // messages that were refused, before the connection ends
	burst     = 60              // messages at once; a held key makes 30 a second
	perSecond = 40              // messages a second, on and on
)

// seat is one page. Nothing is queued for it: when it is woken it is sent the state of that moment, so a slow page costs no
// memory and skips what it missed.
type seat struct {
	teacher bool
	along   bool
	done    [Tasks]bool

	woken chan struct{} // holds one
	ended chan struct{} // closed when why is set
	why   error
	say   chan string // one refusal that waits to be told
	ws    *websocket.Conn
}

func (s *seat) wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

// Serve makes a websocket of the request: the teacher's, if it comes from the teacher's page, else a follower's. The caller
// has checked where the request comes from. Serve returns when the connection ends.
func (rm *Room) Serve(w http.ResponseWriter, r *http.Request) {
	s := &seat{teacher: rm.Teaches(r) && r.URL.Query().Get("as") != "follower", along: true, woken: make(chan struct{}, 1), ended: make(chan struct{}), say: make(chan string, 1)}
	if err := rm.join(s); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer rm.wg.Done()
	defer rm.leave(s, errGone)
	up := websocket.Upgrader{ReadBufferSize: 1024, WriteBufferSize: 1024, CheckOrigin: func(*http.Request) bool { return true }}
	ws, err := up.Upgrade(w, r, nil)
	if err != nil {
		return // the upgrader has answered
	}
	defer ws.Close()
	s.ws = ws
	go rm.listen(s)
	rm.pump(s)
}

func (rm *Room) join(s *seat) error {
	rm.mu.Lock()
	defer rm.mu.Unlock()
	switch {
	case rm.closed:
		return errGoingAway
	case len(rm.seats) >= rm.c.Seats:
		return fmt.Errorf("the room is full: it has %d seats", rm.c.Seats)
	}
	rm.seats[s] = true
	rm.wg.Add(1)
	s.wake()
	rm.recount()
	return nil
}

func (rm *Room) leave(s *seat, why error) {
	rm.mu.Lock()
	defer rm.mu.Unlock()
	rm.drop(s, why)
}

// drop ends a seat. The room is locked.
func (rm *Room) drop(s *seat, why error) {
	if rm.seats[s] {
		delete(rm.seats, s)
		s.why = why
		close(s.ended)
		rm.recount()
	}
}

// pump sends the state whenever it has changed, refusals, and pings. A page that does not take a message within writeWait is
// dropped.
func (rm *Room) pump(s *seat) {
	ping := time.NewTicker(rm.c.Ping)
	defer ping.Stop()
	for {
		var err error
		select {
		case <-s.ended:
			s.bye()
			return
		case <-s.woken:
			err = s.send(rm.stateFor(s))
		case text := <-s.say:
			b, _ := json.Marshal(map[string]string{"type": "error", "message": text}) // strings always can
			err = s.send(b)
		case <-ping.C:
			err = s.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeWait))
		}
		if err != nil {
			return
		}
	}
}

func (s *seat) send(b []byte) error {
	if err := s.ws.SetWriteDeadline(time.Now().Add(writeWait)); err != nil {
		return err
	}
	return s.ws.WriteMessage(websocket.TextMessage, b)
}

// bye says why the connection ends.
func (s *seat) bye() {
	code := websocket.ClosePolicyViolation
	switch s.why {
	case errGone:
		return
	case errGoingAway:
		code = websocket.CloseGoingAway
	case errTalks:
		code = websocket.CloseTryAgainLater
	}
	_ = s.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, s.why.Error()), time.Now().Add(time.Second))
}

// listen takes what a page sends until it goes away, is silent, or says too much. A message over the limit is
// refused; one far over it ends the connection with "message too big" (1009) before it is in memory.
func (rm *Room) listen(s *seat) {
	silent := 3 * rm.c.Ping
	s.ws.SetReadLimit(16 * maxMessage)
	_ = s.ws.SetReadDeadline(time.Now().Add(silent))
	s.ws.SetPongHandler(func(string) error { return s.ws.SetReadDeadline(time.Now().Add(silent)) })
	wrong, left, last := 0, float64(burst), time.Now()
	for {
		kind, raw, err := s.ws.ReadMessage()
		if err != nil {
			rm.leave(s, errGone)
			return
		}
		now := time.Now()
		left = min(burst, left+now.Sub(last).Seconds()*perSecond) - 1
		last = now
		if left < 0 {
			rm.leave(s, errTalks)
			return
		}
		_ = s.ws.SetReadDeadline(now.Add(silent))
		switch {
		case kind != websocket.TextMessage:
			err = errors.New("wanted text, found bytes")
		case len(raw) > maxMessage:
			err = fmt.Errorf("a message has at most %d bytes, this one %d", maxMessage, len(raw))
		default:
			err = rm.take(s, raw)
		}
		if err == nil {
			continue
		}
		if wrong++; wrong >= maxWrong {
			rm.leave(s, errTalks)
			return
		}
		select {
		case s.say <- err.Error():
		default:
		}
	}
}
