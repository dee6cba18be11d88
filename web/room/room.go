// Package room keeps a workshop together: one teacher steers, everybody else's page goes along, lets go, and comes back.
//
// Read room.go for what is kept and who may do what, seat.go for one connection, notes.go for the teacher's notes.
// web/client/ROOM.md describes the messages.
//
// It does not know about recordings, views or how a request is served: a place is a name and the query of an address.
package room

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

// Bounds on what a message may carry.
const (
	maxMessage = 4 << 10 // bytes of a message from a page
	maxQuery   = 2 << 10 // of a place
	maxID      = 128     // of a recording
	// Tasks is how many exercises a page may report on.
	Tasks = 12
)

// Config is what a Room is made of. The zero value works: a new key, no notes.
type Config struct {
	Key   string        // the teacher's; "" = a new one
	Notes *Notes        // nil: notes are not kept
	Ping  time.Duration // between pings; a page that is silent for three of them is dropped; 0 = 10 s
	Seats int           // most connections at once; 0 = 300
	Loud  bool          // followers' prompts are accepted from the start
}

// Place is where the teacher is.
type Place struct {
	Recording string `json:"recording"`
	Query     string `json:"query"`          // view, step, selection, as in the address of a tracer's page
	Live      bool   `json:"live,omitempty"` // its request still runs
}

// Room is a workshop. Its methods may be called from any goroutine.
type Room struct {
	c      Config
	cookie string
	fault  func(http.ResponseWriter, *http.Request, string)

	mu     sync.Mutex
	place  Place
	seq    int64 // grows with each change of the place
	gather int64 // grows when everybody is called
	quiet  bool
	tasks  bool // the exercises are open
	seats  map[*seat]bool
	count  *time.Timer // set while teachers wait for the numbers
	closed bool
	wg     sync.WaitGroup
}

// New returns a room at no place, quiet unless Loud is set.
func New(c Config) *Room {
	if c.Key == "" {
		var b [15]byte
		_, _ = rand.Read(b[:]) // it never fails (crypto/rand)
		c.Key = strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))
	}
	if c.Ping <= 0 {
		c.Ping = 10 * time.Second
	}
	if c.Seats <= 0 {
		c.Seats = 300
	}
	return &Room{c: c, cookie: "glassbox-teacher", fault: refused, quiet: !c.Loud, seats: map[*seat]bool{}}
}

// OnRefuse sets what answers a refused request with 403; without it that is an error with OpenAI's four keys. Call it before
// the first request.
func (rm *Room) OnRefuse(f func(w http.ResponseWriter, r *http.Request, why string)) { rm.fault = f }

// Key is what makes a page the teacher's. It belongs into the fragment of an address, which no server log sees.
func (rm *Room) Key() string { return rm.c.Key }

// Place is where the teacher is.
func (rm *Room) Place() Place {
	rm.mu.Lock()
	defer rm.mu.Unlock()
	return rm.place
}

// Teaches tells whether a request comes from the teacher: from a page that has shown the key, or with the header
// X-Glassbox-Teacher.
func (rm *Room) Teaches(r *http.Request) bool {
	key := r.Header.Get("X-Glassbox-Teacher")
	if c, err := r.Cookie(rm.cookie); err == nil && key == "" {
		key = c.Value
	}
	return subtle.ConstantTimeCompare([]byte(key), []byte(rm.c.Key)) == 1
}

// Guard lets the teacher do everything and others look. While the room is quiet nobody else's prompts are accepted; what
// deletes, and the bench, are the teacher's at all times.
func (rm *Room) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if why := rm.refuse(r); why != "" {
			rm.fault(w, r, why)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (rm *Room) refuse(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return ""
	}
	if r.URL.Path == "/api/workshop/key" || rm.Teaches(r) {
		return ""
	}
	at := path.Clean(r.URL.Path)
	if r.Method == http.MethodDelete || strings.HasSuffix(at, "/delete") || at == "/bench" || strings.HasPrefix(at, "/bench/") || strings.HasPrefix(at, "/api/bench") ||
		strings.HasPrefix(at, "/api/workshop/") {
		return "In a workshop only the teacher may do this."
	}
	rm.mu.Lock()
	defer rm.mu.Unlock()
	if rm.quiet {
		return "The workshop is quiet: prompts are accepted from the teacher's page alone, until the teacher opens them. On the command line send the header X-Glassbox-Teacher: KEY."
	}
	return ""
}

// refused is a 403 with the four keys of OpenAI's errors.
func refused(w http.ResponseWriter, _ *http.Request, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusForbidden)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": why, "type": "invalid_request_error", "param": nil, "code": "workshop"}})
}

// ServeKey makes the page that shows the key the teacher's, with a cookie that scripts cannot read.
func (rm *Room) ServeKey(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Key string `json:"key"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1024)).Decode(&in); err != nil {
		rm.fault(w, r, `The body: wanted {"key": "..."} of at most 1,024 bytes.`)
		return
	}
	if subtle.ConstantTimeCompare([]byte(strings.TrimSpace(in.Key)), []byte(rm.c.Key)) != 1 {
		rm.fault(w, r, "That is not this workshop's key. The server printed it when it started, at the end of the teacher's address.")
		return
	}
	http.SetCookie(w, &http.Cookie{Name: rm.cookie, Value: rm.c.Key, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil})
	w.WriteHeader(http.StatusNoContent)
}

// ServeNotes answers GET with all notes by step, and keeps one with PUT (path value step). They are the teacher's.
func (rm *Room) ServeNotes(w http.ResponseWriter, r *http.Request) {
	if !rm.Teaches(r) {
		rm.fault(w, r, "Notes are the teacher's.")
		return
	}
	if rm.c.Notes == nil {
		rm.fault(w, r, "This server keeps no notes: it was started without a file for them.")
		return
	}
	if r.Method == http.MethodGet {
		all, err := rm.c.Notes.All()
		if err != nil {
			rm.fault(w, r, err.Error())
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_ = json.NewEncoder(w).Encode(struct {
			File  string            `json:"file"`
			Notes map[string]string `json:"notes"`
		}{rm.c.Notes.path, all})
		return
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxNote))
	if err == nil {
		err = rm.c.Notes.Set(r.PathValue("step"), string(text))
	} else {
		err = fmt.Errorf("a note has at most %d bytes", maxNote)
	}
	if err != nil {
		rm.fault(w, r, "The note was not kept: "+err.Error()+".")
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// numbers are what the teacher sees of the others: nobody's name.
type numbers struct {
	Here  int   `json:"here"`  // followers' pages
	Along int   `json:"along"` // of them with the teacher
	Done  []int `json:"done"`  // by exercise, how many have solved it
}

// state is the one message that pages get: all there is to know, so that one that was missed is no loss.
type state struct {
	Type   string `json:"type"` // "room"
	You    string `json:"you"`  // teacher, follower
	Seq    int64  `json:"seq"`
	Gather int64  `json:"gather"`
	Place
	Quiet  bool     `json:"quiet"`
	Tasks  bool     `json:"tasks"`
	People *numbers `json:"people,omitempty"`
}

// stateFor is what a page is told now.
func (rm *Room) stateFor(s *seat) []byte {
	rm.mu.Lock()
	defer rm.mu.Unlock()
	m := state{Type: "room", You: "follower", Seq: rm.seq, Gather: rm.gather, Place: rm.place, Quiet: rm.quiet, Tasks: rm.tasks}
	if s.teacher {
		m.You, m.People = "teacher", rm.numbers()
	}
	b, _ := json.Marshal(m) // strings and numbers always can
	return b
}

// numbers counts. The room is locked.
func (rm *Room) numbers() *numbers {
	n := &numbers{Done: make([]int, Tasks)}
	for s := range rm.seats {
		if s.teacher {
			continue
		}
		n.Here++
		if s.along {
			n.Along++
		}
		for i, done := range s.done {
			if done {
				n.Done[i]++
			}
		}
	}
	return n
}

// tell wakes all pages. The room is locked.
func (rm *Room) tell() {
	for s := range rm.seats {
		s.wake()
	}
}

// recount tells teachers of changed numbers, four times a second at most: thirty pages come and go together. The room is
// locked.
func (rm *Room) recount() {
	if rm.count != nil || rm.closed {
		return
	}
	rm.count = time.AfterFunc(250*time.Millisecond, func() {
		rm.mu.Lock()
		defer rm.mu.Unlock()
		rm.count = nil
		for s := range rm.seats {
			if s.teacher {
				s.wake()
			}
		}
	})
}

// asked is any message from a page.
type asked struct {
	Type string `json:"type"`
	Place
	Quiet *bool `json:"quiet"`
	Tasks *bool `json:"tasks"`
	Along *bool `json:"along"`
	Task  *int  `json:"task"`
	Done  *bool `json:"done"`
}

// take does what a page asks, or says why not.
func (rm *Room) take(s *seat, raw []byte) error {
	var m asked
	if err := json.Unmarshal(raw, &m); err != nil {
		return errors.New("a message is a JSON object with a type")
	}
	rm.mu.Lock()
	defer rm.mu.Unlock()
	switch m.Type {
	case "go", "gather", "set":
		if !s.teacher {
			return fmt.Errorf("%s: only the teacher's page steers", m.Type)
		}
		return rm.steer(m)
	case "along":
		if m.Along == nil {
			return errors.New("along: wanted along, true or false")
		}
		s.along = *m.Along
	case "done":
		if m.Task == nil || *m.Task < 0 || *m.Task >= Tasks || m.Done == nil {
			return fmt.Errorf("done: wanted task, 0 to %d, and done, true or false", Tasks-1)
		}
		s.done[*m.Task] = *m.Done
	default:
		return fmt.Errorf("type: wanted go, gather, set, along or done, found %.20q", m.Type)
	}
	rm.recount()
	return nil
}

// steer does what the teacher asks. The room is locked.
func (rm *Room) steer(m asked) error {
	switch m.Type {
	case "go":
		if m.Recording == "" || len(m.Recording) > maxID || len(m.Query) > maxQuery {
			return fmt.Errorf("go: wanted a recording of 1 to %d bytes and a query of at most %d, found %d and %d", maxID, maxQuery, len(m.Recording), len(m.Query))
		}
		if m.Place == rm.place {
			return nil
		}
		rm.place = m.Place
		rm.seq++
	case "gather":
		rm.gather++
	case "set":
		if m.Quiet != nil {
			rm.quiet = *m.Quiet
		}
		if m.Tasks != nil {
			rm.tasks = *m.Tasks
		}
	}
	rm.tell()
	return nil
}

// Close ends all connections with "going away" and waits for them.
func (rm *Room) Close() {
	rm.mu.Lock()
	rm.closed = true
	if rm.count != nil {
		rm.count.Stop()
		rm.count = nil
	}
	for s := range rm.seats {
		rm.drop(s, errGoingAway)
	}
	rm.mu.Unlock()
	rm.wg.Wait()
}
