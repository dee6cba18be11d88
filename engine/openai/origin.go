package openai

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// foreign says why a browser's page may not drive this server, "" when it may: the request came under a name that is not
// this server's (a page elsewhere can point its own name at it), or from the page of another site that was not opted in.
// Programs that are no browser send no Origin and call by address or localhost, or by a name the server was started with.
func (s *Server) foreign(r *http.Request) string { return Foreign(r, s.c.Hosts, s.c.Origins) }

// Foreign is foreign for a server that answers to the names hosts and lets pages of origins call; "*" is all.
func Foreign(r *http.Request, hosts, origins []string) string {
	if !namedRight(r.Host, hosts) {
		return fmt.Sprintf("this server was called %q: it answers to localhost, to IP addresses and to the names that --host gave it", shorten(r.Host, 100))
	}
	origin := r.Header.Get("Origin")
	if origin != "" && (slices.Contains(origins, origin) || slices.Contains(origins, "*")) {
		return ""
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		if r.Method == http.MethodGet && origin == "" { // a link that was followed; nothing can be read or changed with it
			return ""
		}
		return fmt.Sprintf("this request comes from the page of another site (%s): start the server with --cors ORIGIN to let it", shorten(origin, 100))
	}
	if u, err := url.Parse(origin); origin != "" && (err != nil || !strings.EqualFold(u.Host, r.Host)) {
		return fmt.Sprintf("this request comes from the page of another site (%s): start the server with --cors ORIGIN to let it", shorten(origin, 100))
	}
	return ""
}

// namedRight tells whether a Host header names this server. An address in numbers cannot be pointed elsewhere.
func namedRight(hostport string, hosts []string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if host == "" || host == "localhost" || strings.HasSuffix(host, ".localhost") || net.ParseIP(host) != nil {
		return true
	}
	return slices.ContainsFunc(hosts, func(name string) bool { return name == "*" || strings.EqualFold(name, host) })
}
