package web

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
)

// headers sets what every answer carries: a policy that lets a page load from this server alone, without inline scripts
// or styles, and lets no other page frame it. /embed/ may be framed: it shows and changes nothing.
func headers(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	frame := "frame-ancestors 'none'"
	if strings.HasPrefix(r.URL.Path, "/embed/") {
		frame = "frame-ancestors *"
	} else {
		h.Set("X-Frame-Options", "DENY")
	}
	connect := "'self'"
	if hostPattern(r.Host) {
		connect += " ws://" + r.Host + " wss://" + r.Host // older browsers do not take 'self' for websockets
	}
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src "+connect+
		"; form-action 'self'; base-uri 'none'; "+frame)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // "no-referrer" would take the origin off our own forms as well
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
}

// hostPattern tells whether a Host header is a plain name or address with an optional port, fit for a header of ours.
func hostPattern(host string) bool {
	return host != "" && len(host) < 256 && strings.Trim(strings.ToLower(host), "abcdefghijklmnopqrstuvwxyz0123456789.-:[]") == ""
}

// refuse says why a request may not be served, "" when it may: it came under a foreign name (DNS rebinding), or it wants to
// change something and came from another site's page.
func (s *Server) refuse(r *http.Request) string {
	if !s.allowedHost(r.Host) {
		return fmt.Sprintf("The server was called %q. It answers to localhost, to IP addresses, and to the names it was started with.", r.Host)
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead && !sameOrigin(r) {
		return fmt.Sprintf("%s was sent by the page of another site (%s).", r.Method, originOf(r))
	}
	return ""
}

// allowedHost tells whether a request's Host is a name of this server. An address in numbers cannot be rebound.
func (s *Server) allowedHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	switch {
	case slices.Contains(s.c.Hosts, "*"), net.ParseIP(host) != nil, host == "localhost", strings.HasSuffix(host, ".localhost"):
		return true
	}
	return slices.ContainsFunc(s.c.Hosts, func(name string) bool { return strings.EqualFold(name, host) })
}

// sameOrigin tells whether a request came from a page of this server, or from no page at all.
func sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && strings.EqualFold(u.Host, r.Host)
}

func originOf(r *http.Request) string {
	if o := r.Header.Get("Origin"); o != "" {
		return o
	}
	return "Sec-Fetch-Site: " + r.Header.Get("Sec-Fetch-Site")
}

// recoverFault turns a panic into a page. What happened goes to the log; the reader gets no Go text.
func (s *Server) recoverFault(w http.ResponseWriter, r *http.Request) {
	switch v := recover(); v {
	case nil:
	case http.ErrAbortHandler:
		panic(v)
	default:
		log.Printf("web: %s %s: %v\n%s", r.Method, r.URL.Path, v, debug.Stack())
		s.fault(w, r, http.StatusInternalServerError, "Something broke on our side", "The server's log has the details. Other pages are not affected.", "")
	}
}
