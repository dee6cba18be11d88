package openai

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"glassbox/trace"
)

// route is a handler and how its requests are treated before it is called.
type route struct {
	name  string
	serve func(s *Server, c *call) error
	body  bool // the body is read, and decoded by the handler
	trace bool // a recording may be asked for
	open  bool // no API key is needed
}

// table are the routes, by http.ServeMux pattern.
var table = map[string]*route{
	"POST /v1/chat/completions": {name: "chat", serve: (*Server).chat, body: true, trace: true},
	"POST /v1/completions":      {name: "text_completion", serve: (*Server).completion, body: true, trace: true},
	"GET /v1/models":            {name: "models", serve: (*Server).models},
	"GET /v1/models/{id...}":    {name: "models", serve: (*Server).model},
	"POST /tokenize":            {name: "tokenize", serve: (*Server).tokenize, body: true},
	"POST /detokenize":          {name: "detokenize", serve: (*Server).detokenize, body: true},
	"POST /apply-template":      {name: "apply_template", serve: (*Server).applyTemplate, body: true},
	"GET /health":               {name: "health", serve: (*Server).health, open: true},
	"GET /v1/health":            {name: "health", serve: (*Server).health, open: true},
	"GET /metrics":              {name: "metrics", serve: (*Server).scrape, open: true},
	"GET /version":              {name: "version", serve: (*Server).version, open: true},
}

// ServeHTTP implements http.Handler.
func (r *route) ServeHTTP(http.ResponseWriter, *http.Request) {} // the mux is asked for routes; it never calls them

// routes fills the multiplexer.
func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, r := range table {
		mux.Handle(pattern, r)
	}
	return mux
}

// ServeHTTP finds the route of a request, reads its body, starts its recording if one is asked for, and calls the handler.
// The spans of what happened before there was a recording are written here, once there is one.
func (s *Server) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	entered := trace.Now()
	c := &call{s: s, home: s, rw: rw, r: r, rc: http.NewResponseController(rw), first: firstByte(r, entered)}
	if s.cors(rw, r) {
		return
	}
	h, pattern := s.mux.Handler(r)
	c.route, _ = h.(*route)
	routed := trace.Now()
	defer c.finish()
	if err := s.admit(c); err != nil {
		c.refuse(err)
		return
	}
	if err := c.readBody(); err != nil {
		c.refuse(err)
		return
	}
	m := c.w.BeginAt(trace.StepFirstByte, c.first)
	if m.On() {
		m.Set("in", fmt.Sprintf("%s %s %s, from %s", r.Method, r.URL.RequestURI(), r.Proto, r.RemoteAddr))
		m.Set("out", fmt.Sprintf("a request with %d headers", len(r.Header)))
	}
	m.EndAt(entered)
	m = c.w.BeginAt(trace.StepRoute, entered)
	if m.On() {
		m.Set("in", r.Method+" "+r.URL.Path)
		m.Set("out", fmt.Sprintf("the handler of %q, operation %s", pattern, c.route.name))
	}
	m.EndAt(routed)
	if !c.route.trace {
		c.newID("req-")
	}
	if err := c.route.serve(c.s, c); err != nil {
		c.refuse(err)
	}
}

// admit refuses what has no route or no key, and everything while the server shuts down.
func (s *Server) admit(c *call) error {
	if why := s.foreign(c.r); why != "" {
		return &RequestError{http.StatusForbidden, invalidRequest, why, "", "foreign_origin"}
	}
	if c.route == nil {
		return s.notFound(c)
	}
	if !c.route.open && !s.hasKey(c.r) {
		c.rw.Header().Set("WWW-Authenticate", "Bearer")
		return &RequestError{http.StatusUnauthorized, invalidRequest, "wrong API key: send the key that the server was started with as 'Authorization: Bearer KEY'", "", "invalid_api_key"}
	}
	if c.entered = s.enter(); !c.entered {
		return errShutdown
	}
	return nil
}

// hasKey tells whether the request carries the server's key.
func (s *Server) hasKey(r *http.Request) bool { return HasKey(r, s.c.APIKey) }

// HasKey tells whether a request carries a key: as "Authorization: Bearer KEY", as API clients send it, or as the password
// of basic authentication, as a browser asks for it. No key, "", is carried by all. It compares in constant time, so that
// the time of an answer tells nothing about the key.
func HasKey(r *http.Request, key string) bool {
	if key == "" {
		return true
	}
	_, given, ok := r.BasicAuth()
	if !ok {
		const scheme = "Bearer "
		h := r.Header.Get("Authorization")
		if ok = len(h) > len(scheme) && strings.EqualFold(h[:len(scheme)], scheme); ok {
			given = h[len(scheme):]
		}
	}
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(key))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && ok
}

// notFound tells a wrong path from a wrong method.
func (s *Server) notFound(c *call) error {
	var allowed []string
	for _, m := range []string{http.MethodGet, http.MethodPost} {
		probe := &http.Request{Method: m, URL: c.r.URL, Host: c.r.Host}
		if h, _ := s.mux.Handler(probe); h != nil {
			if _, ok := h.(*route); ok {
				allowed = append(allowed, m)
			}
		}
	}
	if len(allowed) == 0 {
		return &RequestError{http.StatusNotFound, invalidRequest, fmt.Sprintf("there is nothing at %s %s", c.r.Method, c.r.URL.Path), "", "not_found"}
	}
	c.rw.Header().Set("Allow", strings.Join(allowed, ", "))
	return &RequestError{http.StatusMethodNotAllowed, invalidRequest,
		fmt.Sprintf("%s: wanted %s, found %s", c.r.URL.Path, strings.Join(allowed, " or "), c.r.Method), "", "method_not_allowed"}
}

// cors answers for origins that were opted in, and tells whether the request was a preflight, which is done with.
func (s *Server) cors(rw http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || !slices.Contains(s.c.Origins, origin) && !slices.Contains(s.c.Origins, "*") {
		return false
	}
	h := rw.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Expose-Headers", "X-Request-Id, X-Glassbox-Trace-Id, Retry-After")
	if r.Method != http.MethodOptions {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, OPTIONS")
	if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
		h.Set("Access-Control-Allow-Headers", asked)
	}
	rw.WriteHeader(http.StatusNoContent)
	return true
}

func (s *Server) health(c *call) error {
	at, _ := s.standing()
	return c.writeJSON(http.StatusOK, struct {
		Status string `json:"status"`
		Paused string `json:"paused,omitempty"`
	}{"ok", at})
}

func (s *Server) version(c *call) error {
	return c.writeJSON(http.StatusOK, map[string]string{"version": s.c.Version, "commit": s.c.Commit})
}

func (s *Server) scrape(c *call) error {
	s.metrics.handler.ServeHTTP(c.rw, c.r)
	return nil
}

// compact is JSON as it goes over the wire: < > & are not escaped, as in Python's and Node's.
func compact(v any) ([]byte, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("the answer could not be written as JSON: %w", err)
	}
	return []byte(strings.TrimSuffix(b.String(), "\n")), nil
}
