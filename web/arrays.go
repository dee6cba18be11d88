package web

import (
	"errors"
	"fmt"
	"log"
	"maps"
	"net/http"
	"slices"
	"strings"

	"glassbox/trace/file"
)

// apiArray sends one captured array of a recording as a .npy: views fetch the large ones one by one, as they need them.
// The name may have slashes (tape_in/17/ffn_gate).
func (s *Server) apiArray(w http.ResponseWriter, r *http.Request) {
	id, name := r.PathValue("id"), r.PathValue("array")
	rec, err := s.recording(r.Context(), id, waitFor)
	switch {
	case errors.Is(err, file.ErrUnknown):
		apiError(w, http.StatusNotFound, "not_found", fmt.Sprintf("there is no recording %q; GET /api/traces lists them", id))
		return
	case errors.Is(err, file.ErrRunning):
		w.Header().Set("Retry-After", "1")
		apiError(w, http.StatusConflict, "running", fmt.Sprintf("the request of recording %q is not over; its arrays come with its end", id))
		return
	case err != nil:
		log.Printf("web: %v", err)
		apiError(w, http.StatusInternalServerError, "unreadable", fmt.Sprintf("recording %q could not be read; the server's log says why", id))
		return
	}
	a := rec.Arrays[name]
	if a == nil || a.Raw == nil {
		apiError(w, http.StatusNotFound, "not_found", noArray(rec, id, name))
		return
	}
	raw := file.NPY(a)
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Cache-Control", "no-cache")
	p := payload{tag: fmt.Sprintf(`"%s-%d-%x"`, id, rec.Numbers.E2ENs, name), plain: raw, size: int64(len(raw))}
	p.serve(w, r)
}

// noArray says why an array cannot be sent and what there is instead.
func noArray(rec *file.Recording, id, name string) string {
	if a := rec.Arrays[name]; a != nil {
		return fmt.Sprintf("the values of array %.80q are not in recording %q: %s", name, id, a.Omitted)
	}
	if len(rec.Arrays) == 0 {
		return fmt.Sprintf("recording %q has no arrays; ask for them with the request: glassbox trace --capture attention,lens,values", id)
	}
	const most = 20
	names, more := slices.Sorted(maps.Keys(rec.Arrays)), ""
	if len(names) > most {
		names, more = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	return fmt.Sprintf("recording %q has no array %.80q; it has %s%s", id, name, strings.Join(names, ", "), more)
}
