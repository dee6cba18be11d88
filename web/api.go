package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"strconv"
	"strings"
	"time"

	"glassbox/trace/file"
	"glassbox/web/report"
)

// waitFor is how long a recording that is still running is waited for: its request has often just ended. ?wait=SECONDS
// asks for more, up to maxWait.
const (
	waitFor = 2 * time.Second
	maxWait = 60 * time.Second
)

// apiError answers with OpenAI's four keys, as the rest of the server does.
func apiError(w http.ResponseWriter, status int, code, message string) {
	var e struct {
		Error struct {
			Message string  `json:"message"`
			Type    string  `json:"type"`
			Param   *string `json:"param"`
			Code    string  `json:"code"`
		} `json:"error"`
	}
	e.Error.Message, e.Error.Type, e.Error.Code = message, "invalid_request_error", code
	if status >= 500 {
		e.Error.Type = "server_error"
	}
	writeJSON(w, status, e)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		log.Printf("web: an answer could not be written as JSON: %v", err)
		http.Error(w, "the answer could not be written as JSON", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

// list returns the summaries of all recordings: those of the store, newest first, then those that ship.
func (s *Server) list() []file.Summary { return append(s.c.Store.List(), s.shippedList()...) }

func (s *Server) shippedList() []file.Summary {
	var out []file.Summary
	for _, id := range s.shipped.names() {
		f := s.shipped.get(id)
		if f == nil {
			continue
		}
		sum, err := f.summary()
		if err != nil {
			log.Printf("web: %v", err)
			continue
		}
		out = append(out, sum)
	}
	return out
}

// recording returns a recording by its id: of the store, else one that ships.
func (s *Server) recording(ctx context.Context, id string, wait time.Duration) (*file.Recording, error) {
	if !file.ValidID(id) {
		return nil, file.ErrUnknown
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	rec, err := s.c.Store.Wait(ctx, id)
	if !errors.Is(err, file.ErrUnknown) {
		return rec, err
	}
	if f := s.shipped.get(id); f != nil {
		return f.decode()
	}
	return nil, err
}

func (s *Server) apiList(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, s.list())
}

// split takes the form off the name of a recording: ID, ID.json, ID.gbx or ID.html.
func split(name string) (id, form string) {
	for _, form := range []string{"gbx", "html"} {
		if id, ok := strings.CutSuffix(name, "."+form); ok {
			return id, form
		}
	}
	return strings.TrimSuffix(name, ".json"), "json"
}

func (s *Server) apiTrace(w http.ResponseWriter, r *http.Request) {
	id, form := split(r.PathValue("name"))
	wait := waitFor
	if n, err := strconv.ParseFloat(r.URL.Query().Get("wait"), 64); err == nil && n >= 0 {
		wait = min(maxWait, time.Duration(n*float64(time.Second)))
	}
	w.Header().Set("Cache-Control", "no-cache")
	if f := s.shipped.get(id); f != nil && form != "html" {
		if _, err := s.c.Store.Get(id); errors.Is(err, file.ErrUnknown) {
			s.sendShipped(w, r, f, form)
			return
		}
	}
	rec, err := s.recording(r.Context(), id, wait)
	switch {
	case errors.Is(err, file.ErrUnknown):
		apiError(w, http.StatusNotFound, "not_found", fmt.Sprintf("there is no recording %q; GET /api/traces lists them", id))
	case errors.Is(err, file.ErrRunning):
		w.Header().Set("Retry-After", "1")
		apiError(w, http.StatusConflict, "running", fmt.Sprintf("the request of recording %q is not over; ask again, add ?wait=60, or follow it on /api/live?id=%s", id, id))
	case err != nil:
		log.Printf("web: %v", err)
		apiError(w, http.StatusInternalServerError, "unreadable", fmt.Sprintf("recording %q could not be read; the server's log says why", id))
	default:
		s.send(w, r, rec, id, form)
	}
}

func (s *Server) sendShipped(w http.ResponseWriter, r *http.Request, f *shippedFile, form string) {
	p := f.json()
	w.Header().Set("Content-Type", "application/json")
	if form == "gbx" {
		p = payload{tag: `"` + f.hash + `-zip"`, plain: f.raw, size: int64(len(f.raw))}
		asFile(w, f.name+".gbx", "application/zip")
	}
	p.serve(w, r)
}

// asFile makes a browser keep the answer.
func asFile(w http.ResponseWriter, name, kind string) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
}

// send writes a finished recording, which never changes: its tag is made of what tells two apart.
func (s *Server) send(w http.ResponseWriter, r *http.Request, rec *file.Recording, id, form string) {
	h := w.Header()
	packed := form != "gbx" && takesGzip(r)
	tag := fmt.Sprintf(`"%s-%d-%d-%s-%t"`, id, len(rec.Spans), rec.Numbers.E2ENs, form, packed)
	h.Set("ETag", tag)
	h.Add("Vary", "Accept-Encoding")
	if matches(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", "application/json")
	write := file.WriteJSON
	switch form {
	case "gbx":
		write = file.WriteGBX
		asFile(w, id+".gbx", "application/zip")
	case "html":
		write = func(w io.Writer, rec *file.Recording) error { return report.Write(w, rec, report.Options{}) }
		asFile(w, id+".html", "text/html; charset=utf-8")
	}
	if r.Method == http.MethodHead {
		return
	}
	out := &lateWriter{w: w}
	if err := encode(out, rec, write, packed); err != nil {
		if r.Context().Err() != nil {
			return // the client left
		}
		log.Printf("web: recording %s: %v", id, err)
		if out.begun {
			panic(http.ErrAbortHandler) // half an answer must not look whole
		}
		h.Del("ETag")
		h.Del("Content-Encoding")
		h.Del("Content-Disposition")
		apiError(w, http.StatusInternalServerError, "unwritable", fmt.Sprintf("recording %q could not be written; the server's log says why", id))
	}
}

func encode(out *lateWriter, rec *file.Recording, write func(io.Writer, *file.Recording) error, packed bool) error {
	if !packed {
		return write(out, rec)
	}
	out.w.Header().Set("Content-Encoding", "gzip")
	z, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if err := write(z, rec); err != nil {
		return err
	}
	return z.Close()
}

// lateWriter remembers whether anything has been written: until then an error can still be told.
type lateWriter struct {
	w     http.ResponseWriter
	begun bool
}

func (l *lateWriter) Write(b []byte) (int, error) {
	l.begun = l.begun || len(b) > 0
	return l.w.Write(b)
}

func (s *Server) apiDelete(w http.ResponseWriter, r *http.Request) {
	id, _ := split(r.PathValue("name"))
	switch status, code, message := s.delete(id); status {
	case http.StatusNoContent:
		w.WriteHeader(status)
	default:
		apiError(w, status, code, message)
	}
}

func (s *Server) delete(id string) (status int, code, message string) {
	err := error(file.ErrUnknown)
	if file.ValidID(id) {
		err = s.c.Store.Delete(id)
	}
	switch {
	case err == nil:
		return http.StatusNoContent, "", ""
	case errors.Is(err, file.ErrUnknown) && s.shipped.get(id) != nil:
		return http.StatusForbidden, "shipped", fmt.Sprintf("recording %q is part of the binary and cannot be deleted", id)
	case errors.Is(err, file.ErrUnknown):
		return http.StatusNotFound, "not_found", fmt.Sprintf("there is no recording %q", id)
	case errors.Is(err, file.ErrRunning):
		return http.StatusConflict, "running", fmt.Sprintf("the request of recording %q is not over; delete it when it is", id)
	}
	log.Printf("web: %v", err)
	return http.StatusInternalServerError, "undeletable", fmt.Sprintf("recording %q could not be deleted; the server's log says why", id)
}

// apiLive makes a websocket. Another site's page may not: it would read what users ask.
func (s *Server) apiLive(w http.ResponseWriter, r *http.Request) {
	if !sameOrigin(r) {
		apiError(w, http.StatusForbidden, "foreign_origin", "the live channel is for pages of this server; this one came from "+originOf(r))
		return
	}
	id := r.URL.Query().Get("id")
	if id != "" && !file.ValidID(id) {
		apiError(w, http.StatusNotFound, "not_found", fmt.Sprintf("there is no recording %q", id))
		return
	}
	s.c.Hub.Serve(w, r, id, func(id string) (*file.Recording, error) { return s.recording(r.Context(), id, 0) })
}

// apiCatalogue is the walk of an engine as the catalogue has it for the model that runs, before anything was measured.
func (s *Server) apiCatalogue(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("engine")
	if s.c.Catalogue == nil || name != s.c.Catalogue.Engine {
		apiError(w, http.StatusNotFound, "not_found", fmt.Sprintf("there is no catalogue of engine %q", name))
		return
	}
	rec := &file.Recording{Engine: s.c.Engine, Model: s.c.Model, Device: s.c.Device}
	s.c.Catalogue.Apply(rec)
	for i := range rec.Walk {
		rec.Walk[i].Text, _, _ = strings.Cut(rec.Walk[i].Text, "\nNot reached: ")
	}
	writeJSON(w, http.StatusOK, struct {
		Engine file.Engine `json:"engine"`
		Loops  []file.Loop `json:"loops,omitempty"`
		Steps  []file.Step `json:"steps"`
	}{s.c.Engine, rec.Loops, rec.Walk})
}
