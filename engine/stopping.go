package engine

import "glassbox/engine/stops"

// ParseStops reads where a request wants to stop, see stops.Parse.
func (e *Engine) ParseStops(list []stops.Asked) ([]stops.Point, error) {
	return stops.Parse(e.model.Graph, list)
}

// Stops is the desk at which the request that stands still is looked at, changed and let go on.
func (e *Engine) Stops() *stops.Desk { return e.stops }

// stopping gives a request its stops. From here on it must be released.
func (e *Engine) stopping(a *answer) error {
	if len(a.req.Stops) == 0 {
		return nil
	}
	points, err := stops.Fit(e.model.Graph, a.req.Stops, a.seq.Prompt, a.req.MaxTokens)
	if err != nil {
		return err
	}
	a.stops, err = e.stops.Open(a.ctx, e.model.Graph, a.req.ID, a.req.Trace, points)
	return err
}

// Stops is whom the runner asks in each pass, nil for most requests. The run of a prompt that only measures means does not stop.
func (a *answer) Stops() *stops.Session {
	if a.capture != nil && a.capture.Measuring() {
		return nil
	}
	return a.stops
}
