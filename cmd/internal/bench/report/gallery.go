package report

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"glassbox/cmd/internal/bench"
)

// card is a run in the gallery's list.
type card struct {
	File, Name, Model, Server, Started, Note, Warn string
	TTFT, TPOT, Decode, Prefill, Peak              string
	Levels                                         string
}

// Gallery shows the runs in a folder: GET / lists them, /run/NAME shows one, /run/NAME.json gives its data, and
// /compare?a=NAME&b=NAME compares two. Its links are relative, so that it can be mounted below a path that is stripped. Pages are drawn from the JSON files; HTML files in the folder are not served, since
// they may come from anywhere.
func Gallery(dir string) http.Handler {
	g := gallery(dir)
	m := http.NewServeMux()
	m.HandleFunc("GET /{$}", g.list)
	m.HandleFunc("GET /run/{name}", g.run)
	m.HandleFunc("GET /compare", g.compare)
	return m
}

type gallery string

// head sets what all pages have: nothing may be fetched, framed or sniffed, and a page is an origin of its own, since names
// and errors in it come from the servers that were measured.
func head(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; form-action 'self'; frame-ancestors 'none'; sandbox allow-scripts allow-forms allow-downloads")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
}

func (g gallery) list(w http.ResponseWriter, _ *http.Request) {
	names, err := filepath.Glob(filepath.Join(string(g), "*.json"))
	if err != nil {
		http.Error(w, "the folder cannot be read", http.StatusInternalServerError)
		return
	}
	slices.Sort(names)
	slices.Reverse(names)
	var cards []card
	var bad []string
	for _, path := range names {
		r, err := Read(path)
		if err != nil {
			bad = append(bad, err.Error())
			continue
		}
		cards = append(cards, newCard(strings.TrimSuffix(filepath.Base(path), ".json"), r))
	}
	g.show(w, "gallery", map[string]any{"Cards": cards, "Bad": bad, "Dir": filepath.Base(string(g))})
}

func newCard(file string, r *bench.Result) card {
	h := r.Summary.Headline
	c := card{File: file, Model: r.Server.Model, Server: serverName(r), Started: r.Started, Note: r.Config.Note,
		TTFT: Num(h.TTFT), TPOT: Num(h.TPOT), Decode: Num(h.Decode), Prefill: Num(h.Prefill), Peak: Num(h.Peak)}
	var levels []string
	for i := range r.Summary.Levels {
		levels = append(levels, levelLabel(&r.Summary.Levels[i]))
	}
	c.Levels = strings.Join(levels, " ")
	n := 0
	for _, f := range r.Health {
		if f.Grade == "warn" {
			n++
		}
	}
	switch {
	case n == 1:
		c.Warn = "1 warning"
	case n > 1:
		c.Warn = fmt.Sprintf("%d warnings", n)
	}
	return c
}

// load reads a run by its name, which must be a plain one.
func (g gallery) load(name string) (*bench.Result, error) {
	if name == "" || name != filepath.Base(name) || strings.HasPrefix(name, ".") || strings.ContainsAny(name, `/\`) {
		return nil, fs.ErrNotExist
	}
	return Read(filepath.Join(string(g), name+".json"))
}

func (g gallery) run(w http.ResponseWriter, req *http.Request) {
	name, asJSON := strings.CutSuffix(req.PathValue("name"), ".json")
	r, err := g.load(name)
	if err != nil {
		refuse(w, name, err)
		return
	}
	var b bytes.Buffer
	if asJSON {
		if err := JSON(&b, r); err == nil {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("X-Content-Type-Options", "nosniff")
			_, _ = w.Write(b.Bytes())
		}
		return
	}
	if err := page(&b, r, "../"); err != nil {
		http.Error(w, "the page cannot be drawn", http.StatusInternalServerError)
		return
	}
	head(w)
	_, _ = w.Write(b.Bytes())
}

func (g gallery) compare(w http.ResponseWriter, req *http.Request) {
	var runs [2]*bench.Result
	for i, key := range []string{"a", "b"} {
		name := req.FormValue(key)
		r, err := g.load(name)
		if err != nil {
			refuse(w, name, err)
			return
		}
		runs[i] = r
	}
	g.show(w, "compare", map[string]any{"C": Compare(runs[0], runs[1]), "A": req.FormValue("a"), "B": req.FormValue("b")})
}

func refuse(w http.ResponseWriter, name string, err error) {
	if errors.Is(err, fs.ErrNotExist) || os.IsNotExist(err) {
		http.Error(w, fmt.Sprintf("no run called %q here", name), http.StatusNotFound)
		return
	}
	http.Error(w, err.Error(), http.StatusUnprocessableEntity)
}

func (g gallery) show(w http.ResponseWriter, name string, data map[string]any) {
	data["CSS"], data["JS"] = template.CSS(tokensCSS+pageCSS), template.JS(pageJS)
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		http.Error(w, "the page cannot be drawn", http.StatusInternalServerError)
		return
	}
	head(w)
	_, _ = w.Write(b.Bytes())
}
