package stops

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"glassbox/engine/graph"
	"glassbox/trace"
)

// DefaultLimit is how long the engine stands still at one stop when nobody says anything.
const DefaultLimit = 120 * time.Second

// mostEdited bounds the values that one request may change, all edits together: they are kept for its recording.
const mostEdited = 1 << 20

// Errors of the desk.
var (
	ErrUnknown = errors.New("there is no such stop: GET /api/stops lists the request that has stops")
	ErrRunning = errors.New("the request does not stand still: wait until GET /api/stops says that it is paused")
)

// BusyError is given to a request with stops while another has them.
type BusyError struct{ Request, Where string }

func (e *BusyError) Error() string {
	return fmt.Sprintf("stop: request %s has stops already (%s), and one request at a time may: let it go on or cancel it, or leave the field out", e.Request, e.Where)
}

// ChangeError is a change that cannot be made. Its text begins with the field.
type ChangeError struct{ text string }

func (e *ChangeError) Error() string { return e.text }

func refuse(format string, args ...any) error { return &ChangeError{fmt.Sprintf(format, args...)} }

// Steps are the ways to go on: to the next point of the request, to the next op, to the next layer, without further stops.
var Steps = []string{"continue", "op", "layer", "run"}

// Desk is where the one request that may stop is looked after. Its methods may be called from any goroutine.
type Desk struct {
	limit   time.Duration
	closing <-chan struct{}

	mu    sync.Mutex
	seat  *Session // nil: no request has stops
	count int
	spans [8][2]int64 // the last stand-stills, clock of trace.Now; Dur 0 until one is over
	n     int         // of all so far
}

// NewDesk returns a desk. A stand-still ends by itself after the limit, and when closing ends.
func NewDesk(limit time.Duration, closing <-chan struct{}) *Desk {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Desk{limit: limit, closing: closing}
}

// Limit is how long a stand-still may be.
func (d *Desk) Limit() time.Duration { return d.limit }

// Open gives a request the stops, or a *BusyError. The request's name is for people; ctx ends when nobody waits for it.
func (d *Desk) Open(ctx context.Context, g *graph.Graph, request string, rec *trace.Recorder, points []Point) (*Session, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if o := d.seat; o != nil {
		where := "running"
		if o.halt != nil {
			where = "paused at " + o.halt.at.String()
		}
		return nil, &BusyError{o.request, where}
	}
	d.count++
	d.seat = &Session{d: d, g: g, ctx: ctx, id: fmt.Sprintf("s%d", d.count), request: request, rec: rec, points: slices.Clone(points)}
	return d.seat, nil
}

// Close gives the stops back: the request is over. It may be called more than once, and on nil.
func (s *Session) Close() {
	if s == nil {
		return
	}
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if s.d.seat == s {
		s.d.seat = nil
	}
}

// halt is a stand-still.
type halt struct {
	at       Point
	node     int
	pass     int
	start    int64
	deadline int64 // clock of trace.Now
	in, out  []part
	how      string // set when someone lets it go on
	end      chan struct{}
	again    chan struct{}
}

func (d *Desk) begin(s *Session, h *halt) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h.deadline = h.start + d.limit.Nanoseconds()
	s.halt = h
	d.spans[d.n%len(d.spans)] = [2]int64{h.start, 0}
	d.n++
}

// over ends the stand-still: from here on nobody touches the values. It returns what made it go on.
func (d *Desk) over(s *Session, h *halt, why string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	s.halt = nil
	d.spans[(d.n-1)%len(d.spans)][1] = trace.Now()
	if h.how != "" {
		return h.how
	}
	return why
}

// Held is how long the engine stood still between two moments, in ns, as far as the last stand-stills are remembered.
func (d *Desk) Held(from, to int64) (ns int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.spans {
		if s[1] == 0 && s[0] != 0 {
			s[1] = to
		}
		ns += max(0, min(to, s[1])-max(from, s[0]))
	}
	return ns
}

// Part describes an input or output of the op.
type Part struct {
	ID    string // in0, in1, out0, out1
	Name  string // of the model's buffer
	Shape []int
	Axes  []string
}

// State is the request that has stops.
type State struct {
	ID      string
	Request string
	Trace   string // id of its recording, "" without one
	Paused  bool
	At      Point // where it stands, if it is paused
	Pass    int
	Since   time.Duration // it has stood so long
	Left    time.Duration // and goes on by itself after so long
	Next    []Point       // not reached yet; only while it is paused
	In, Out []Part
	Edits   int // made so far
}

// State returns the request that has stops.
func (d *Desk) State() (State, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.seat
	if s == nil {
		return State{}, false
	}
	st := State{ID: s.id, Request: s.request}
	if s.rec != nil {
		st.Trace = s.rec.ID
	}
	h := s.halt
	if h == nil {
		return st, true
	}
	now := trace.Now()
	st.Paused, st.At, st.Pass, st.Next, st.Edits = true, h.at, h.pass, slices.Clone(s.points), len(s.edits)
	st.Since, st.Left = time.Duration(now-h.start), time.Duration(max(0, h.deadline-now))
	st.In, st.Out = parts("in", h.in), parts("out", h.out)
	return st, true
}

func parts(side string, list []part) (out []Part) {
	for i, p := range list {
		out = append(out, Part{fmt.Sprint(side, i), p.name, p.shape(), p.axes})
	}
	return out
}

// paused returns the session and its stand-still. The desk is locked.
func (d *Desk) paused(id string) (*Session, *halt, error) {
	switch {
	case d.seat == nil || d.seat.id != id:
		return nil, nil, ErrUnknown
	case d.seat.halt == nil:
		return nil, nil, ErrRunning
	}
	return d.seat, d.seat.halt, nil
}

// pick finds a part by its id.
func (h *halt) pick(id string) (part, int, error) {
	var names []string
	for side, list := range map[string][]part{"in": h.in, "out": h.out} {
		for i, p := range list {
			name := fmt.Sprint(side, i)
			if name == id {
				return p, i, nil
			}
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return part{}, 0, refuse("part: wanted one of %s, found %.40q", strings.Join(names, ", "), id)
}

// Values copies a whole part, with its figures.
func (d *Desk) Values(id, name string) (Part, []float32, Stats, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, h, err := d.paused(id)
	if err != nil {
		return Part{}, nil, Stats{}, err
	}
	p, _, err := h.pick(name)
	if err != nil {
		return Part{}, nil, Stats{}, err
	}
	v := p.values(0, p.size())
	return Part{name, p.name, p.shape(), p.axes}, v, statsOf(v), nil
}

// Change is what to do with values Index to Index+Count-1 of a part; Count 0 is to its end. One of Set, Scale and Zero.
type Change struct {
	Part         string
	Index, Count int
	Set          []float64 // one value for all, or Count values
	Scale        *float64
	Zero         bool
}

// Edit changes what the op wrote. The next op reads the new values.
func (d *Desk) Edit(id string, c Change) (trace.Edit, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, h, err := d.paused(id)
	if err != nil {
		return trace.Edit{}, err
	}
	p, i, err := h.pick(c.Part)
	if err != nil {
		return trace.Edit{}, err
	}
	if strings.HasPrefix(c.Part, "in") {
		return trace.Edit{}, refuse("part: %s has run already: change what it wrote (out0), or stop at the op before and change what that wrote; found %q", h.at.Op, c.Part)
	}
	size := p.size()
	if c.Index < 0 || c.Index >= size {
		return trace.Edit{}, refuse("index: wanted 0 to %d, found %d", size-1, c.Index)
	}
	if c.Count == 0 {
		c.Count = size - c.Index
		if len(c.Set) > 0 {
			c.Count = len(c.Set)
		}
	}
	if c.Count < 0 || c.Count > size-c.Index {
		return trace.Edit{}, refuse("count: wanted 1 to %d from index %d on, found %d", size-c.Index, c.Index, c.Count)
	}
	used := 0
	for _, e := range s.edits {
		used += len(e.new)
	}
	if used+c.Count > mostEdited {
		return trace.Edit{}, refuse("count: a request may change %d values in all, and %d are changed: found %d more", mostEdited, used, c.Count)
	}
	e := trace.Edit{Op: h.at.Op, Layer: h.at.Layer, Token: h.at.Token, Pass: h.pass, Part: p.name, Index: c.Index, Old: p.values(c.Index, c.Count), At: trace.Now()}
	if err := c.fill(&e); err != nil {
		return trace.Edit{}, err
	}
	p.write(c.Index, e.New)
	s.edits = append(s.edits, applied{h.node, h.at.Token, h.pass, i, c.Index, e.New})
	s.rec.Edited(e)
	return e, nil
}

// fill works out the new values.
func (c *Change) fill(e *trace.Edit) error {
	e.New = make([]float32, len(e.Old))
	given := 0
	for _, on := range []bool{len(c.Set) > 0, c.Scale != nil, c.Zero} {
		if on {
			given++
		}
	}
	if given != 1 {
		return refuse("values, scale, zero: wanted one of them, found %d", given)
	}
	finite := func(v float64) bool { return math.Abs(v) <= math.MaxFloat32 } // false for NaN too
	switch {
	case c.Zero:
		e.How = "zero"
	case c.Scale != nil:
		if !finite(*c.Scale) {
			return refuse("scale: wanted a number that a float32 holds, found %v", *c.Scale)
		}
		e.How, e.Factor = "scale", *c.Scale
		for i, v := range e.Old {
			e.New[i] = float32(float64(v) * *c.Scale)
		}
	default:
		if len(c.Set) != 1 && len(c.Set) != len(e.Old) {
			return refuse("values: wanted 1 value or %d, found %d", len(e.Old), len(c.Set))
		}
		e.How = "set"
		for i := range e.New {
			v := c.Set[min(i, len(c.Set)-1)]
			if !finite(v) {
				return refuse("values: wanted numbers that a float32 holds, found %v", v)
			}
			e.New[i] = float32(v)
		}
	}
	return nil
}

// Resume lets the request go on, in one of the ways of Steps.
func (d *Desk) Resume(id, how string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, h, err := d.paused(id)
	if err != nil {
		return err
	}
	if !slices.Contains(Steps, how) {
		return refuse("to: wanted one of %s, found %.40q", strings.Join(Steps, ", "), how)
	}
	h.how, s.halt = how, nil // it cannot be touched any more, even before the engine has woken up
	close(h.end)
	return nil
}

// Hold starts the limit anew: someone is still looking.
func (d *Desk) Hold(id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, h, err := d.paused(id)
	if err != nil {
		return err
	}
	h.deadline = trace.Now() + d.limit.Nanoseconds()
	select {
	case h.again <- struct{}{}:
	default:
	}
	return nil
}
