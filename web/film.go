package web

import (
	"net/http"

	"glassbox/trace/file"
	"glassbox/web/pages"
	"glassbox/web/view"
)

// filmPage is the tour that plays by itself. ?t=1:16 is read by its script.
func (s *Server) filmPage(w http.ResponseWriter, r *http.Request) {
	p := s.page("One request in three minutes - Glassbox", "film")
	p.Description = "A tour of about three minutes through one recorded request, from the socket to the stream, that can be paused and stepped through at any moment."
	p.Script, p.Sheet = pages.FilmScript, "css/film.css"
	s.render(w, r, http.StatusOK, pages.Film(p, s.film()))
}

// readFilm makes the film from the recordings that ship, once.
func (s *Server) readFilm() view.Film {
	return view.FilmOf(func(id string) *file.Recording {
		f := s.shipped.get(id)
		if f == nil {
			return nil
		}
		rec, err := f.decode()
		if err != nil {
			return nil
		}
		return rec
	})
}
