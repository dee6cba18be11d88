// Package web serves the site: the pages, the recordings that the server holds and those that ship, and the live channel.
//
// Read web.go for the routes, guard.go for who may call them, static.go and shipped.go for what is inside the binary,
// api.go for recordings, pages.go and docs.go for pages. The engine's own API is mounted beside this handler by the one
// who makes both; pages reach it over HTTP like any other client.
//
// It does not know about the engine, how a request is served, or where a recording comes from.
package web

import (
	"context"
	"io/fs"
	"net/http"
	"runtime/debug"
	"sync"

	"glassbox/docs"
	"glassbox/static"
	"glassbox/steps"
	"glassbox/trace/file"
	"glassbox/web/live"
	"glassbox/web/room"
	"glassbox/web/view"
)

// Store holds the recordings of this server; *file.Store is one.
type Store interface {
	List() []file.Summary
	Get(id string) (*file.Recording, error)
	Wait(ctx context.Context, id string) (*file.Recording, error)
	Ended(id string) bool
	Delete(id string) error
}

// Config is what a Server is made of. Store and Hub are needed.
type Config struct {
	Store     Store
	Hub       *live.Hub        // the sink of the store
	Catalogue *steps.Catalogue // nil: /api/catalogue is empty

	Weights Weights // nil: no model file; /api/weights says so
	Stops   Stops   // nil: no engine that stands still
	Benches Benches // nil: the Bench page says so

	Experiments Experiments // nil: the walk's controls that need an engine of their own say so

	Files bool // the pages are for a copy of the site as files (Write): what needs an engine is left out

	Room *room.Room // nil: no workshop
	Join []string   // addresses under which the workshop's pages are reached, the best first

	Model   file.Model  // what the engine runs
	Device  file.Device // on what
	Engine  file.Engine // who
	ModelID string      // asked for by the prompt box; "" = the engine's default
	Builtin bool        // the model is the one inside the binary

	// Hosts are the names, without port, under which a browser may call. Loopback names and IP addresses always may, and "*"
	// lets every name. Without it a page elsewhere could point its own name at this server and read the recordings.
	Hosts []string

	Sources fs.FS // the engine's own source, for the lines of Every stage; nil: it names functions alone
	// SourceRoots are the folders on this machine where the code of repositories lies, by the names that recordings use. A reader
	// on this machine gets links that open a line there. Editor is their form, with {path} and {line}.
	SourceRoots map[string]string
	Editor      string

	Static fs.FS // nil: package static
	Docs   fs.FS // nil: package docs
}

// Server is an http.Handler for everything that is not the engine's API.
type Server struct {
	c       Config
	mux     *http.ServeMux
	assets  assets
	shipped shipped
	docs    func() []doc

	walkthrough func() []view.Chapter
	cards       func() []view.Card
	film        func() view.Film
	stages      func() view.Stages
	catalogues  func() []*steps.Stage
	maps        func() []view.ModuleMap
}

// New returns a server. Nothing is read or computed before it is asked for.
func New(c Config) *Server {
	if c.Static == nil {
		c.Static = static.Files
	}
	if c.Docs == nil {
		c.Docs = docs.Files
	}
	s := &Server{c: c, assets: assets{fs: c.Static}, shipped: shipped{fs: c.Static}}
	s.docs, s.walkthrough, s.cards = sync.OnceValue(s.readDocs), sync.OnceValue(s.readChapters), sync.OnceValue(s.readCards)
	s.film, s.stages = sync.OnceValue(s.readFilm), sync.OnceValue(s.readStages)
	s.catalogues = sync.OnceValue(func() []*steps.Stage { return steps.Stages(c.Sources) })
	s.maps = sync.OnceValue(s.readMaps)
	if c.Room != nil {
		c.Room.OnRefuse(s.refuseInRoom)
	}
	s.mux = http.NewServeMux()
	for pattern, f := range map[string]http.HandlerFunc{
		"GET /{$}":                               s.home,
		"GET /traces":                            s.traces,
		"POST /traces/{id}/delete":               s.deleteForm,
		"GET /trace/{id}":                        s.tracer,
		"GET /trace/{id}/print":                  s.walk,
		"GET /modules":                           s.modules,
		"GET /modules/{name}":                    s.toModules,
		"GET /embed/{id}":                        s.embed,
		"GET /live":                              s.livePage,
		"GET /walk":                              s.chapters,
		"GET /film":                              s.filmPage,
		"GET /stages":                            s.stagesPage,
		"GET /stages/{stage}/{a}/{b}":            s.sidePage,
		"POST /api/experiments":                  s.apiExperiment,
		"GET /docs":                              s.toDocs,
		"GET /docs/{name...}":                    s.docsPage,
		"GET /static/{path...}":                  s.static,
		"GET /favicon.ico":                       s.favicon,
		"GET /api/traces":                        s.apiList,
		"GET /api/traces/{name}":                 s.apiTrace,
		"GET /api/traces/{id}/arrays/{array...}": s.apiArray,
		"DELETE /api/traces/{name}":              s.apiDelete,
		"GET /api/live":                          s.apiLive,
		"GET /api/catalogue/{engine}":            s.apiCatalogue,
		"/":                                      s.notFound,
	} {
		s.mux.HandleFunc(pattern, f)
	}
	for _, e := range steps.Engines() {
		s.mux.HandleFunc("GET /"+e.Name, s.engine(e.Name))
	}
	for _, more := range []map[string]http.HandlerFunc{s.weightRoutes(), s.stopRoutes(), s.benchRoutes(), s.roomRoutes()} {
		for pattern, f := range more {
			s.mux.HandleFunc(pattern, f)
		}
	}
	return s
}

// Has tells whether a request is for a page or recording of this handler, for one who mounts it beside other addresses.
func (s *Server) Has(r *http.Request) bool {
	_, pattern := s.mux.Handler(r)
	return pattern != "/" && pattern != ""
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	headers(w, r)
	if why := s.refuse(r); why != "" {
		s.fault(w, r, http.StatusForbidden, "This address may not be used", why, "")
		return
	}
	defer s.recoverFault(w, r)
	debug.SetPanicOnFault(true) // of a model's file that was cut short while it is mapped; for this connection's goroutine
	s.mux.ServeHTTP(w, r)
}

// Close ends the live connections. Call it when the HTTP server shuts down: it does not know of them.
func (s *Server) Close() {
	s.c.Hub.Close()
	if s.c.Room != nil {
		s.c.Room.Close()
	}
}
