package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"strings"

	"github.com/a-h/templ"

	"glassbox/trace/file"
	"glassbox/web/pages"
	"glassbox/web/view"
)

// defaultPrompt stands in the prompt box.
const defaultPrompt = "Why is the sky blue?"

func (s *Server) page(title, here string) pages.Page {
	return pages.Page{Title: title, Here: here, Asset: s.assets.url, Needs: s.assets.needs, Files: s.c.Files}
}

// render writes a page. It is made in full first, so that a fault in it cannot leave half a page.
func (s *Server) render(w http.ResponseWriter, r *http.Request, status int, c templ.Component) {
	var b bytes.Buffer
	if err := c.Render(r.Context(), &b); err != nil {
		log.Printf("web: %s: %v", r.URL.Path, err)
		http.Error(w, "this page could not be made; the server's log says why", http.StatusInternalServerError)
		return
	}
	f := newAsset("page.html", b.Bytes())
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	if status != http.StatusOK {
		w.WriteHeader(status)
		_, _ = w.Write(f.data)
		return
	}
	p := payload{tag: `"` + f.hash + `"`, plain: f.data, size: int64(len(f.data))}
	if f.gz != nil {
		p.gz, p.gzSize = readers(f.gz), int64(len(f.gz))
	}
	p.serve(w, r)
}

func (s *Server) home(w http.ResponseWriter, r *http.Request) {
	rec, id, h := s.drawn()
	h.SetRows(s.rows())
	h.SetCards(s.cards())
	d := pages.HomeData{Prompt: defaultPrompt, Model: s.c.ModelID}
	p := s.page("Glassbox: one request, from socket to stream", "home")
	p.Script, p.Sheet = pages.HomeScript, "css/memory.css" // for the card of the cache
	p.Description = "An inference engine you can see through: one real request, traced from the bytes on the socket to the last streamed character."
	if rec != nil {
		d.Src, d.Open = "/api/traces/"+id+".json", "/trace/"+id
		d.Builtin = s.c.Builtin && rec.Model.SHA256 == s.c.Model.SHA256
		p.Preload = d.Src
	}
	s.render(w, r, http.StatusOK, pages.Home(p, d, h))
}

// drawn is the recording of the first page: the first that ships, else the newest finished one of the store.
func (s *Server) drawn() (*file.Recording, string, view.Home) {
	for _, id := range s.shipped.names() {
		if f := s.shipped.get(id); f != nil {
			if rec, err := f.decode(); err == nil {
				return rec, id, f.home()
			}
		}
	}
	for _, sum := range s.c.Store.List() {
		if sum.Running {
			continue
		}
		if rec, err := s.c.Store.Get(sum.ID); err == nil {
			return rec, sum.ID, view.HomeOf(rec)
		}
	}
	return nil, "", view.HomeOf(nil)
}

// rows are the recordings of the list, those that ship last.
func (s *Server) rows() []view.Row {
	rows := view.List(s.c.Store.List())
	for _, sum := range s.shippedList() {
		r := view.List([]file.Summary{sum})[0]
		r.Shipped, r.Size = true, view.Bytes(sum.Bytes, "measured", "size of the file")
		rows = append(rows, r)
	}
	return rows
}

func (s *Server) traces(w http.ResponseWriter, r *http.Request) {
	s.render(w, r, http.StatusOK, pages.Traces(s.page("Recordings - Glassbox", "traces"), s.rows()))
}

// deleteForm is what the list's button sends; the guard has refused other sites' pages.
func (s *Server) deleteForm(w http.ResponseWriter, r *http.Request) {
	if status, _, message := s.delete(r.PathValue("id")); status != http.StatusNoContent {
		s.fault(w, r, status, "The recording was not deleted", strings.ToUpper(message[:1])+message[1:]+".", "")
		return
	}
	http.Redirect(w, r, "/traces", http.StatusSeeOther)
}

// tracer is the page of a recording, finished or running. The rest of the address (view, step, ...) is the tracer's.
func (s *Server) tracer(w http.ResponseWriter, r *http.Request) { s.tracerPage(w, r, false) }

// engine leads to the recording of another engine that ships; step, view and the rest of the address go along.
func (s *Server) engine(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		to := "/trace/chat-in-" + name
		if r.URL.RawQuery != "" {
			to += "?" + r.URL.RawQuery
		}
		http.Redirect(w, r, to, http.StatusFound)
	}
}

// embed is the same for a frame in another page.
func (s *Server) embed(w http.ResponseWriter, r *http.Request) { s.tracerPage(w, r, true) }

func (s *Server) tracerPage(w http.ResponseWriter, r *http.Request, embed bool) {
	id := r.PathValue("id")
	d := pages.TracerData{ID: id, Src: "/api/traces/" + id + ".json", Embed: embed}
	title := id
	sum, known := s.known(id)
	if known && sum.Running && s.c.Store.Ended(id) { // there is nothing left to watch: the page is about the whole recording
		ctx, cancel := context.WithTimeout(r.Context(), waitFor)
		defer cancel()
		_, err := s.c.Store.Wait(ctx, id)
		sum.Running = errors.Is(err, file.ErrRunning)
	}
	switch {
	case !known:
		s.noRecording(w, r, id)
		return
	case sum.Running:
		d.Live = true
		title = sum.Prompt
	default:
		title = sum.Prompt
	}
	p := s.page(view.Cut(title, 60)+" - Glassbox", "")
	p.Script, p.Source = pages.TracerScript, s.sources(r)
	if !d.Live {
		p.Preload = d.Src
	}
	s.render(w, r, http.StatusOK, pages.Tracer(p, d))
}

// sources tells a reader on this machine where code lies on it; others need not know.
func (s *Server) sources(r *http.Request) string {
	if len(s.c.SourceRoots) == 0 || s.c.Editor == "" || !local(r) {
		return ""
	}
	b, err := json.Marshal(map[string]any{"editor": s.c.Editor, "roots": s.c.SourceRoots})
	if err != nil {
		return ""
	}
	return string(b)
}

// known looks a recording up in the list.
func (s *Server) known(id string) (file.Summary, bool) {
	if !file.ValidID(id) {
		return file.Summary{}, false
	}
	for _, sum := range s.c.Store.List() {
		if sum.ID == id {
			return sum, true
		}
	}
	if f := s.shipped.get(id); f != nil {
		sum, err := f.summary()
		return sum, err == nil
	}
	return file.Summary{}, false
}

// livePage follows whichever traced request comes next, or runs.
func (s *Server) livePage(w http.ResponseWriter, r *http.Request) {
	p := s.page("Live - Glassbox", "live")
	p.Script, p.Source = pages.TracerScript, s.sources(r)
	s.render(w, r, http.StatusOK, pages.Tracer(p, pages.TracerData{Live: true}))
}

func (s *Server) walk(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	rec, err := s.recording(r.Context(), id, waitFor)
	switch {
	case errors.Is(err, file.ErrUnknown):
		s.noRecording(w, r, id)
	case errors.Is(err, file.ErrRunning):
		w.Header().Set("Retry-After", "1")
		s.fault(w, r, http.StatusConflict, "This request is still running", "Its walk is written down when it is over. Until then it can be watched.", "",
			pages.Action{Href: "/trace/" + id, Text: "Watch it"})
	case err != nil:
		log.Printf("web: %v", err)
		s.fault(w, r, http.StatusInternalServerError, "The recording cannot be read", "Its file is damaged or cut off. The server's log says where.", id)
	default:
		v := view.WalkOf(rec)
		v.ID = id
		s.render(w, r, http.StatusOK, pages.Walk(s.page(view.Cut(v.Title, 60)+", as text - Glassbox", ""), v))
	}
}

func (s *Server) noRecording(w http.ResponseWriter, r *http.Request, id string) {
	s.fault(w, r, http.StatusNotFound, "There is no such recording", "It may have been deleted, or the server was started again: recordings are kept in memory unless it was started with --traces.", view.Cut(id, 80),
		pages.Action{Href: "/traces", Text: "All recordings"})
}

func (s *Server) notFound(w http.ResponseWriter, r *http.Request) {
	s.fault(w, r, http.StatusNotFound, "There is nothing here", "The address leads nowhere on this server.", r.Method+" "+view.Cut(r.URL.Path, 120))
}

// fault answers with what went wrong: a page, or under /api/ JSON. It always offers a way on.
func (s *Server) fault(w http.ResponseWriter, r *http.Request, status int, title, text, detail string, ways ...pages.Action) {
	if strings.HasPrefix(r.URL.Path, "/api/") {
		apiError(w, status, strings.ReplaceAll(strings.ToLower(http.StatusText(status)), " ", "_"), title+": "+text)
		return
	}
	ways = append(ways, pages.Action{Href: "/", Text: "First page"}, pages.Action{Href: "/docs/", Text: "Documentation"})
	s.render(w, r, status, pages.Error(s.page(title+" - Glassbox", ""), pages.ErrorData{Status: status, Title: title, Text: text, Detail: detail, Actions: ways}))
}
