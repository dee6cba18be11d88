package web

import (
	"net/http"
	"slices"

	"glassbox/steps"
	"glassbox/trace/file"
	"glassbox/web/pages"
	"glassbox/web/view"
)

// chapters is the walk through the stack.
func (s *Server) chapters(w http.ResponseWriter, r *http.Request) {
	p := s.page("One request through the whole stack - Glassbox", "walk")
	p.Description = "How an LLM inference engine works, in nine chapters and three numbers, each with a figure drawn from a recording of a real request."
	p.Sheet = "css/chapters.css"
	s.render(w, r, http.StatusOK, pages.Chapters(p, s.walkthrough()))
}

// shelf finds a shipped recording for a figure: the first page's, else the smallest that has what the figure shows.
func (s *Server) shelf(has func(*file.Recording) bool) *file.Recording {
	names := s.shipped.names()
	if len(names) > 0 {
		slices.SortStableFunc(names[1:], func(a, b string) int { return s.shipped.size(a) - s.shipped.size(b) })
	}
	for _, id := range names {
		if f := s.shipped.get(id); f != nil {
			if rec, err := f.decode(); err == nil && has(rec) {
				return rec
			}
		}
	}
	return nil
}

// readChapters makes the walk through the stack, once: what ships does not change.
func (s *Server) readChapters() []view.Chapter {
	return view.Walkthrough(steps.Chapters(), s.shelf)
}
