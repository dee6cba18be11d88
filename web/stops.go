package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"glassbox/trace"
	"glassbox/trace/file"
)

// Stops is where the one request that may stand still inside a pass is looked at, changed and let go on. An id of no
// request gives ErrNoStop, one that runs ErrNotPaused, and what cannot be done a *StopError.
type Stops interface {
	// State is the request that has stops; false when there is none.
	State() (Stop, bool)
	// Limit is how long a request may stand still when nobody says anything.
	Limit() time.Duration
	// Values are all values of a part of the op.
	Values(id, part string) (*StopValues, error)
	// Edit changes what the op wrote.
	Edit(id string, c StopChange) (trace.Edit, error)
	// Resume lets the request go on: "continue", "op", "layer" or "run".
	Resume(id, how string) error
	// Hold starts the limit anew.
	Hold(id string) error
}

// Stop is a request that has stops. The fields from At on are there while it stands still.
type Stop struct {
	ID      string      `json:"id"`
	Request string      `json:"request"`
	Trace   string      `json:"trace,omitempty"`
	Paused  bool        `json:"paused"`
	Waiting int         `json:"waiting"` // other requests
	At      *StopPlace  `json:"at,omitempty"`
	Pass    int         `json:"pass"`
	SinceMs int64       `json:"since_ms"`
	LeftMs  int64       `json:"left_ms"`
	Edits   int         `json:"edits"`
	Next    []StopPlace `json:"next,omitempty"`
	In      []StopPart  `json:"in,omitempty"`
	Out     []StopPart  `json:"out,omitempty"`
}

// StopPlace is a place inside a pass.
type StopPlace struct {
	Op    string `json:"op"`
	Layer int    `json:"layer"` // -1 outside the layers
	Token int    `json:"token"`
}

// StopPart is an input or output of the op.
type StopPart struct {
	ID    string   `json:"id"`
	Name  string   `json:"name"`
	Shape []int    `json:"shape"`
	Axes  []string `json:"axes"`
}

// StopValues is a part with its values; figures leave out what is not finite.
type StopValues struct {
	StopPart
	Stats  StopStats   `json:"stats"`
	Values file.Floats `json:"values"`
}

// StopStats are figures of a vector.
type StopStats struct {
	Min       float64 `json:"min"`
	Max       float64 `json:"max"`
	Mean      float64 `json:"mean"`
	Norm      float64 `json:"norm"`
	Zeros     int     `json:"zeros"`
	NotFinite int     `json:"not_finite"`
}

// StopChange is a change of Count values from Index on; Count 0 is to the end. One of Values, Scale and Zero.
type StopChange struct {
	Part   string    `json:"part"`
	Index  int       `json:"index"`
	Count  int       `json:"count"`
	Values []float64 `json:"values"`
	Scale  *float64  `json:"scale"`
	Zero   bool      `json:"zero"`
}

// What Stops says.
var (
	ErrNoStop    = errors.New("there is no such stop; GET /api/stops says which request has stops")
	ErrNotPaused = errors.New("the request does not stand still; GET /api/stops says when it does")
)

// StopError is something that cannot be done with a stop.
type StopError struct{ Text string }

func (e *StopError) Error() string { return e.Text }

// stopBody is the most bytes of a change: a vector as long as a vocabulary fits.
const stopBody = 8 << 20

func (s *Server) stopRoutes() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"GET /api/stops":              s.apiStops,
		"GET /api/stops/{id}/values":  s.apiStopValues,
		"POST /api/stops/{id}/edit":   s.here(s.apiStopEdit),
		"POST /api/stops/{id}/resume": s.here(s.apiStopResume),
		"POST /api/stops/{id}/hold":   s.here(s.apiStopHold),
	}
}

// here lets only this machine through. The guard has refused foreign names and other sites' pages before.
func (s *Server) here(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !local(r) {
			apiError(w, http.StatusForbidden, "not_local", "a request is touched from the machine that the server runs on; this came from "+r.RemoteAddr)
			return
		}
		if s.c.Stops == nil {
			apiError(w, http.StatusNotFound, "no_engine", "this server has no engine that stands still")
			return
		}
		next(w, r)
	}
}

// local tells whether a request comes from this machine.
func local(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback()
}

func (s *Server) apiStops(w http.ResponseWriter, _ *http.Request) {
	out := struct {
		Stops   []Stop `json:"stops"`
		LimitMs int64  `json:"limit_ms"`
	}{Stops: []Stop{}}
	if s.c.Stops != nil {
		out.LimitMs = s.c.Stops.Limit().Milliseconds()
		if st, ok := s.c.Stops.State(); ok {
			out.Stops = append(out.Stops, st)
		}
	}
	writeJSON(w, http.StatusOK, out)
}

func (s *Server) apiStopValues(w http.ResponseWriter, r *http.Request) {
	if s.c.Stops == nil {
		stopFault(w, ErrNoStop)
		return
	}
	part := r.URL.Query().Get("part")
	if part == "" {
		part = "out0"
	}
	v, err := s.c.Stops.Values(r.PathValue("id"), part)
	if err != nil {
		stopFault(w, err)
		return
	}
	writeJSON(w, http.StatusOK, v)
}

func (s *Server) apiStopEdit(w http.ResponseWriter, r *http.Request) {
	var c StopChange
	if !stopJSON(w, r, &c) {
		return
	}
	e, err := s.c.Stops.Edit(r.PathValue("id"), c)
	if err != nil {
		stopFault(w, err)
		return
	}
	writeJSON(w, http.StatusOK, struct {
		StopPlace
		Part  string      `json:"part"`
		Index int         `json:"index"`
		Count int         `json:"count"`
		How   string      `json:"how"`
		Old   file.Floats `json:"old"`
		New   file.Floats `json:"new"`
	}{StopPlace{e.Op.String(), e.Layer, e.Token}, e.Part, e.Index, len(e.New), e.How, e.Old, e.New})
}

func (s *Server) apiStopResume(w http.ResponseWriter, r *http.Request) {
	to := struct {
		To string `json:"to"`
	}{"continue"}
	if !stopJSON(w, r, &to) {
		return
	}
	if err := s.c.Stops.Resume(r.PathValue("id"), to.To); err != nil {
		stopFault(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) apiStopHold(w http.ResponseWriter, r *http.Request) {
	if err := s.c.Stops.Hold(r.PathValue("id")); err != nil {
		stopFault(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// stopJSON reads a body; none is as an empty object. A field of another name is told, so that a typing error is not an
// edit of something else.
func stopJSON(w http.ResponseWriter, r *http.Request, v any) bool {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, stopBody))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil && d.More() {
		err = errors.New("more than one JSON value")
	}
	if err == nil || errors.Is(err, io.EOF) {
		return true
	}
	var typ *json.UnmarshalTypeError
	text := strings.TrimPrefix(err.Error(), "json: ")
	if errors.As(err, &typ) {
		text = fmt.Sprintf("%s: wanted %s, found %s", typ.Field, typ.Type, typ.Value)
	}
	apiError(w, http.StatusBadRequest, "invalid_body", "the body: "+text)
	return false
}

func stopFault(w http.ResponseWriter, err error) {
	var wrong *StopError
	switch {
	case errors.Is(err, ErrNoStop):
		apiError(w, http.StatusNotFound, "not_found", err.Error())
	case errors.Is(err, ErrNotPaused):
		apiError(w, http.StatusConflict, "not_paused", err.Error())
	case errors.As(err, &wrong):
		apiError(w, http.StatusBadRequest, "invalid_value", err.Error())
	default:
		log.Printf("web: stops: %v", err)
		apiError(w, http.StatusInternalServerError, "failed", "the stop could not be reached; the server's log says why")
	}
}
