package web

import (
	"bytes"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"strings"

	qr "github.com/piglig/go-qr"

	"glassbox/web/pages"
)

// roomRoutes are those of a workshop. Without one they say how to start it.
func (s *Server) roomRoutes() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"GET /teach":                     s.inRoom(s.roomPage("teacher")),
		"GET /join":                      s.inRoom(s.roomPage("follower")),
		"GET /join/qr.svg":               s.inRoom(s.joinQR),
		"GET /api/workshop":              s.inRoom(s.roomSocket),
		"POST /api/workshop/key":         s.inRoom(func(w http.ResponseWriter, r *http.Request) { s.c.Room.ServeKey(w, r) }),
		"GET /api/workshop/notes":        s.inRoom(func(w http.ResponseWriter, r *http.Request) { s.c.Room.ServeNotes(w, r) }),
		"PUT /api/workshop/notes/{step}": s.inRoom(func(w http.ResponseWriter, r *http.Request) { s.c.Room.ServeNotes(w, r) }),
	}
}

func (s *Server) inRoom(f http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.c.Room == nil {
			s.fault(w, r, http.StatusNotFound, "There is no workshop here", "Start one with glassbox serve --workshop.", "", pages.Action{Href: "/docs/workshops", Text: "About workshops"})
			return
		}
		f(w, r)
	}
}

// refuseInRoom answers what the guard of a workshop refuses: as JSON, or to a browser's form as a page.
func (s *Server) refuseInRoom(w http.ResponseWriter, r *http.Request, why string) {
	headers(w, r)
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
		s.fault(w, r, http.StatusForbidden, "Not in this workshop", why, "", pages.Action{Href: "/join", Text: "Back to the workshop"})
		return
	}
	apiError(w, http.StatusForbidden, "workshop", why)
}

// roomSocket makes a websocket. Another site's page may not: it would join, or steer with the teacher's cookie.
func (s *Server) roomSocket(w http.ResponseWriter, r *http.Request) {
	if !sameOrigin(r) {
		apiError(w, http.StatusForbidden, "foreign_origin", "the workshop is for pages of this server; this one came from "+originOf(r))
		return
	}
	s.c.Room.Serve(w, r)
}

// roomStart is the recording that a workshop opens with: one that ships with captures, so that every view has something.
const roomStart = "inside-the-pass"

// roomPage is the page of the teacher or of a follower. What the key shows is up to its script: it comes in the address's
// fragment, which the server does not see.
func (s *Server) roomPage(role string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		d := pages.RoomData{Role: role, Join: s.c.Join, Model: s.c.ModelID, Recording: roomStart}
		if _, ok := s.known(roomStart); !ok {
			if _, id, _ := s.drawn(); id != "" {
				d.Recording = id
			}
		}
		for _, row := range s.rows() {
			if len(d.Recordings) < 200 {
				d.Recordings = append(d.Recordings, pages.RoomRecording{ID: row.ID, Title: row.Prompt, Note: row.Model})
			}
		}
		p := s.page("Workshop - Glassbox", "")
		p.Script, p.Sheet = pages.RoomScript, "css/room.css"
		s.render(w, r, http.StatusOK, pages.Room(p, d))
	}
}

// joinQR is the address of the workshop as a QR code: number n of the addresses, from 0. Dark modules on a light ground in
// both themes, with the quiet zone of four modules that readers need.
func (s *Server) joinQR(w http.ResponseWriter, r *http.Request) {
	n := 0
	if v := r.URL.Query().Get("n"); v != "" {
		if _, err := fmt.Sscanf(v, "%d", &n); err != nil {
			n = -1
		}
	}
	if n < 0 || n >= len(s.c.Join) {
		s.notFound(w, r)
		return
	}
	svg, err := qrSVG(s.c.Join[n])
	if err != nil {
		log.Printf("web: QR code: %v", err)
		s.fault(w, r, http.StatusInternalServerError, "The code could not be made", "The address is too long for a QR code.", url.QueryEscape(s.c.Join[n]))
		return
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(svg)
}

// qrSVG draws a QR code of level M with a user unit a module.
func qrSVG(text string) ([]byte, error) {
	code, err := qr.EncodeText(text, qr.Medium)
	if err != nil {
		return nil, err
	}
	const quiet = 4
	n := code.Size()
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" shape-rendering="crispEdges"><path fill="#ffffff" d="M0 0h%[1]dv%[1]dH0z"/><path fill="#000000" d="`, n+2*quiet, n+2*quiet)
	for y := range n {
		for x := 0; x < n; x++ {
			from := x
			for x < n && code.Module(x, y) {
				x++
			}
			if x > from {
				fmt.Fprintf(&b, "M%d %dh%dv1H%[1]dz", from+quiet, y+quiet, x-from)
			}
		}
	}
	b.WriteString(`"/></svg>`)
	return b.Bytes(), nil
}
