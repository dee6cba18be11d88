package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"

	"glassbox/steps"
)

// Write writes the site as files: every page that can be reached, what pages load, and the recordings in their packed form.
// It lies in any folder of any host: links are relative, and nothing asks a server of ours. put gets names with slashes.
// The server must be one with Config.Files.
//
// A page /walk becomes walk/index.html, so that its address stays what it was; a recording /api/traces/ID.json is fetched as
// ID.gbx, which holds its arrays too.
func (s *Server) Write(put func(name string, data []byte) error) error {
	c := &copier{s: s, put: put, seen: map[string]bool{}}
	for _, p := range []string{"/", "/walk", "/film", "/stages", "/modules", "/traces", "/docs/"} {
		c.want(p)
	}
	for _, e := range steps.Engines() {
		a, err := c.get("/" + e.Name)
		if err == nil && a.status >= 300 && a.status < 400 { // its recording may not be here
			a, err = c.get(a.header.Get("Location"))
		}
		if err == nil && a.status == http.StatusOK {
			c.want("/" + e.Name)
		}
	}
	for _, sum := range s.list() {
		c.want("/trace/" + sum.ID)
		c.want("/embed/" + sum.ID)
	}
	for len(c.todo) > 0 {
		at := c.todo[0]
		c.todo = c.todo[1:]
		if err := c.copy(at); err != nil {
			return err
		}
	}
	if err := c.recordings(); err != nil {
		return err
	}
	return c.assets()
}

// copier follows the links from page to page.
type copier struct {
	s    *Server
	put  func(name string, data []byte) error
	seen map[string]bool // paths of pages and arrays
	todo []string
}

// alone are pages that are nothing without a server, and addresses that are no pages.
var alone = regexp.MustCompile(`^/(live|bench|workshop|api|v1|health|metrics|version|tokenize|detokenize|apply-template|traces/.+)(/|$)`)

func (c *copier) want(p string) {
	if !c.seen[p] {
		c.seen[p] = true
		c.todo = append(c.todo, p)
	}
}

// get asks the site's own handler.
func (c *copier) get(p string) (*page, error) {
	r, err := http.NewRequest(http.MethodGet, "http://localhost"+p, nil)
	if err != nil {
		return nil, err
	}
	w := &page{status: http.StatusOK, header: http.Header{}}
	c.s.ServeHTTP(w, r)
	return w, nil
}

// page is a response in memory.
type page struct {
	status int
	header http.Header
	bytes.Buffer
}

func (a *page) Header() http.Header    { return a.header }
func (a *page) WriteHeader(status int) { a.status = status }

// copy writes the page at a path, and notes what it links to.
func (c *copier) copy(p string) error {
	a, err := c.get(p)
	if err != nil {
		return err
	}
	name := fileOf(p)
	up := strings.Repeat("../", strings.Count(name, "/"))
	switch {
	case a.status >= 300 && a.status < 400:
		to := html.EscapeString(c.address(a.header.Get("Location"), up))
		return c.put(name, []byte(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Glassbox</title><meta http-equiv="refresh" content="0; url=`+to+`"><a href="`+to+`">Go on</a></html>`))
	case a.status != http.StatusOK:
		return fmt.Errorf("site: %s: the page answers %d", p, a.status)
	case !strings.HasPrefix(a.header.Get("Content-Type"), "text/html"):
		return c.put(name, a.Bytes())
	}
	return c.put(name, []byte(c.relative(a.String(), up)))
}

// fileOf is the file of a page, which a plain file server answers with at the same address.
func fileOf(p string) string {
	p = strings.Trim(p, "/")
	if p == "" {
		return "index.html"
	}
	if path.Ext(p) != "" {
		return p
	}
	return p + "/index.html"
}

// ours finds what leads to a place of this site. Pages escape quotes in text, so this is only ever an attribute.
var ours = regexp.MustCompile(` (href|src|open|home|link|action|data-array|data-src)="(/[^"]*)"`)

// filesPolicy is the policy of the pages as a file can say it. A frame of another page cannot be forbidden from inside.
const filesPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; form-action 'none'; base-uri 'none'"

// relative makes a page one of the copy: its links go up to the root, and it says where that is.
func (c *copier) relative(text, up string) string {
	text = ours.ReplaceAllStringFunc(text, func(m string) string {
		part := ours.FindStringSubmatch(m)
		if strings.HasPrefix(part[2], "//") {
			return m
		}
		to := c.address(html.UnescapeString(part[2]), up)
		if to == "" {
			return ` title="this needs a running glassbox"`
		}
		return " " + part[1] + `="` + html.EscapeString(to) + `"`
	})
	root := up
	if root == "" {
		root = "./"
	}
	text = strings.Replace(text, `<html lang="en"`, `<html lang="en" data-root="`+root+`"`, 1)
	return strings.Replace(text, `<meta charset="utf-8">`, `<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="`+filesPolicy+`">`, 1)
}

// address is where a link leads in the copy, "" when that needs a server. Pages and arrays are noted.
func (c *copier) address(to, up string) string {
	p, rest := to, ""
	if i := strings.IndexAny(to, "?#"); i >= 0 {
		p, rest = to[:i], to[i:]
	}
	if up == "" {
		up = "./"
	}
	switch trace, isTrace := strings.CutPrefix(p, "/api/traces/"); {
	case strings.HasPrefix(p, "/static/"):
		return up + p[1:] + rest
	case p == "/favicon.ico":
		return up + "static/favicon.svg"
	case isTrace && strings.Contains(trace, "/arrays/"):
		c.seen[p] = true
		return up + p[1:]
	case isTrace && !strings.HasSuffix(trace, ".html"):
		return up + strings.TrimSuffix(strings.TrimSuffix(p[1:], ".json"), ".gbx") + ".gbx"
	case alone.MatchString(p):
		return ""
	}
	c.want(p)
	if p == "/" {
		return up + rest
	}
	if path.Ext(p) != "" {
		return up + p[1:] + rest
	}
	return up + strings.Trim(p, "/") + "/" + rest
}

// recordings writes every recording, the list of them, and the arrays that pages fetch one by one.
func (c *copier) recordings() error {
	list, err := json.Marshal(c.s.list())
	if err != nil {
		return err
	}
	if err := c.put("api/traces/index.json", list); err != nil {
		return err
	}
	var files []string
	for _, sum := range c.s.list() {
		files = append(files, "/api/traces/"+sum.ID+".gbx")
	}
	for p := range c.seen {
		if strings.Contains(p, "/arrays/") {
			files = append(files, p)
		}
	}
	slices.Sort(files)
	for _, p := range files {
		a, err := c.get(p)
		if err != nil {
			return err
		}
		if a.status != http.StatusOK {
			return fmt.Errorf("site: %s answers %d", p, a.status)
		}
		if err := c.put(p[1:], a.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// assets writes the files that pages load, but the recordings, which lie elsewhere.
func (c *copier) assets() error {
	return fs.WalkDir(c.s.c.Static, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(name, "recordings/") || strings.HasPrefix(name, "pictures/") || path.Ext(name) == ".go" {
			return err
		}
		data, err := fs.ReadFile(c.s.c.Static, name)
		if err != nil {
			return err
		}
		return c.put("static/"+name, data)
	})
}
