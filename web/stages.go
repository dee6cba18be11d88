package web

import (
	"net/http"

	"glassbox/trace/file"
	"glassbox/web/pages"
	"glassbox/web/view"
)

// stagesPage compares the engines stage by stage.
func (s *Server) stagesPage(w http.ResponseWriter, r *http.Request) {
	p := s.page("Every stage of four engines - Glassbox", "stages")
	p.Description = "Four stages of a request in Glassbox, llama.cpp, vLLM and SGLang: steps, measured times, features with the places in the source that prove them, code paths."
	p.Sheet = "css/stages.css"
	s.render(w, r, http.StatusOK, pages.Stages(p, s.stages()))
}

// sidePage lays one stage of two engines side by side.
func (s *Server) sidePage(w http.ResponseWriter, r *http.Request) {
	v, ok := view.PairOf(s.catalogues(), s.ofEngine, r.PathValue("stage"), r.PathValue("a"), r.PathValue("b"))
	if !ok {
		s.notFound(w, r)
		return
	}
	p := s.page(v.Stage.Title+": "+v.A.Title+" and "+v.B.Title+" - Glassbox", "stages")
	p.Sheet = "css/stages.css"
	s.render(w, r, http.StatusOK, pages.Side(p, v))
}

// readStages makes the comparison, once.
func (s *Server) readStages() view.Stages { return view.StagesOf(s.catalogues(), s.ofEngine) }

// ofEngine is the recording of an engine that ships: the first page's, else the first by name.
func (s *Server) ofEngine(engine string) *file.Recording {
	for _, id := range s.shipped.names() {
		f := s.shipped.get(id)
		if f == nil {
			continue
		}
		if sum, err := f.summary(); err != nil || sum.Engine != engine {
			continue
		}
		if rec, err := f.decode(); err == nil {
			return rec
		}
	}
	return nil
}
