package web

import (
	"io/fs"
	"log"
	"net/http"
	"path"
	"slices"

	"glassbox/steps/modmap"
	"glassbox/web/pages"
	"glassbox/web/view"
)

// mapOrder is the order of the maps on their page; others follow by name.
var mapOrder = []string{"vllm", "sglang", "glassbox"}

// modules is the page of all module maps. Each is walked in the tracer, over its recording: /modules/NAME leads there.
func (s *Server) modules(w http.ResponseWriter, r *http.Request) {
	p := s.page("Modules - Glassbox", "modules")
	p.Sheet = "css/modules.css"
	s.render(w, r, http.StatusOK, pages.Modules(p, s.maps()))
}

// toModules leads to a map over its recording; the rest of the address goes along.
func (s *Server) toModules(w http.ResponseWriter, r *http.Request) {
	for _, m := range s.maps() {
		if m.Name == r.PathValue("name") && m.Open != "" {
			to := m.Open
			if r.URL.RawQuery != "" {
				to += "&" + r.URL.RawQuery
			}
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
	}
	s.notFound(w, r)
}

// readMaps reads the maps that ship.
func (s *Server) readMaps() []view.ModuleMap {
	names, err := fs.Glob(s.c.Static, "modmaps/*.json")
	if err != nil {
		log.Printf("web: module maps: %v", err)
		return nil
	}
	place := func(name string) int {
		i := slices.Index(mapOrder, trimExt(name))
		if i < 0 {
			i = len(mapOrder)
		}
		return i
	}
	slices.SortStableFunc(names, func(a, b string) int { return place(a) - place(b) })
	var out []view.ModuleMap
	for _, name := range names {
		raw, err := fs.ReadFile(s.c.Static, name)
		if err == nil {
			var m *modmap.Map
			if m, err = modmap.Read(raw); err == nil {
				out = append(out, view.ModuleMapOf(m, func(id string) bool { return s.shipped.get(id) != nil }))
			}
		}
		if err != nil {
			log.Printf("web: %s: %v", name, err)
		}
	}
	return out
}

func trimExt(name string) string {
	base := path.Base(name)
	return base[:len(base)-len(path.Ext(base))]
}
