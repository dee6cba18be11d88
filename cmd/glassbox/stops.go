package main

import (
	"errors"
	"time"

	"glassbox/engine"
	"glassbox/engine/stops"
	"glassbox/trace"
	"glassbox/web"
)

// desk implements web.Stops with the engine's.
type desk struct{ e *engine.Engine }

// Limit implements web.Stops.
func (d desk) Limit() time.Duration { return d.e.Stops().Limit() }

// State implements web.Stops.
func (d desk) State() (web.Stop, bool) {
	st, ok := d.e.Stops().State()
	if !ok {
		return web.Stop{}, false
	}
	out := web.Stop{ID: st.ID, Request: st.Request, Trace: st.Trace, Paused: st.Paused}
	if !st.Paused {
		return out, true
	}
	n := d.e.Stats()
	at := place(st.At)
	out.At, out.Pass, out.SinceMs, out.LeftMs, out.Edits = &at, st.Pass, st.Since.Milliseconds(), st.Left.Milliseconds(), st.Edits
	out.Waiting = n.Waiting + max(0, n.Running-1)
	for _, p := range st.Next {
		out.Next = append(out.Next, place(p))
	}
	for _, p := range st.In {
		out.In = append(out.In, web.StopPart(p))
	}
	for _, p := range st.Out {
		out.Out = append(out.Out, web.StopPart(p))
	}
	return out, true
}

func place(p stops.Point) web.StopPlace {
	return web.StopPlace{Op: p.Op.String(), Layer: p.Layer, Token: p.Token}
}

// Values implements web.Stops.
func (d desk) Values(id, part string) (*web.StopValues, error) {
	p, v, s, err := d.e.Stops().Values(id, part)
	if err != nil {
		return nil, said(err)
	}
	return &web.StopValues{StopPart: web.StopPart(p), Stats: web.StopStats(s), Values: v}, nil
}

// Edit implements web.Stops.
func (d desk) Edit(id string, c web.StopChange) (trace.Edit, error) {
	e, err := d.e.Stops().Edit(id, stops.Change{Part: c.Part, Index: c.Index, Count: c.Count, Set: c.Values, Scale: c.Scale, Zero: c.Zero})
	return e, said(err)
}

// Resume implements web.Stops.
func (d desk) Resume(id, how string) error { return said(d.e.Stops().Resume(id, how)) }

// Hold implements web.Stops.
func (d desk) Hold(id string) error { return said(d.e.Stops().Hold(id)) }

// said turns the engine's errors into those of package web.
func said(err error) error {
	var change *stops.ChangeError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, stops.ErrUnknown):
		return web.ErrNoStop
	case errors.Is(err, stops.ErrRunning):
		return web.ErrNotPaused
	case errors.As(err, &change):
		return &web.StopError{Text: change.Error()}
	}
	return err
}
