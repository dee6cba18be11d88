package openai

import (
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"strings"

	"glassbox/engine"
	"glassbox/engine/openai/wire"
	"glassbox/engine/stops"
)

// stopper is an Engine that can stand still inside a pass, such as *engine.Engine.
type stopper interface {
	ParseStops(list []stops.Asked) ([]stops.Point, error)
	Stops() *stops.Desk
}

// stopping reads where the request is to stand still. All other requests wait meanwhile, so that only someone at this
// machine may ask for it: no other machine, and no page of another site.
func (s *Server) stopping(r *http.Request, asked *wire.Glassbox, to *engine.Request) (err error) {
	if asked == nil || len(asked.Stop) == 0 {
		return nil
	}
	e, ok := s.c.Engine.(stopper)
	if !ok {
		return unsupported("unsupported_parameter", "glassbox.stop", "glassbox.stop: this engine cannot stand still inside a pass: leave the field out")
	}
	if why := distant(r); why != "" {
		return &RequestError{http.StatusForbidden, invalidRequest, "glassbox.stop: wanted a request from this machine, because all others wait meanwhile, found " + why, "glassbox.stop", "not_local"}
	}
	list := make([]stops.Asked, len(asked.Stop))
	for i, p := range asked.Stop {
		list[i] = stops.Asked{Op: p.Op, Layer: small(p.Layer), Token: small(p.Token)}
	}
	to.Stops, err = e.ParseStops(list)
	return err
}

// small takes a number of the wire; one that no int holds is out of every range all the same.
func small(n *wire.Int) *int {
	if n == nil {
		return nil
	}
	v := int(max(math.MinInt32, min(math.MaxInt32, *n)))
	return &v
}

// distant says why a request does not come from this machine, "" if it does: its address, the name it was sent to (a name
// can be pointed here by anyone), or the site whose page sent it.
func distant(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return "one from " + r.RemoteAddr
	}
	name := r.Host
	if h, _, err := net.SplitHostPort(name); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if net.ParseIP(name) == nil && name != "localhost" && !strings.HasSuffix(name, ".localhost") {
		return fmt.Sprintf("one for the host %.80q", r.Host)
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return "the page of another site"
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || !strings.EqualFold(u.Host, r.Host) {
			return fmt.Sprintf("the page of %.80q", origin)
		}
	}
	return ""
}

// standing says in a line where the engine stands still, if it does.
func (s *Server) standing() (line string, paused bool) {
	e, ok := s.c.Engine.(stopper)
	if !ok {
		return "", false
	}
	at, _ := e.Stops().State()
	if !at.Paused {
		return "", false
	}
	return fmt.Sprintf("the engine stands still at %s of request %s; it goes on by itself in %.0f s", at.At, at.Request, at.Left.Seconds()), true
}
