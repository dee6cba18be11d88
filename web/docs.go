package web

import (
	"bytes"
	"io"
	"io/fs"
	"log"
	"net/http"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"glassbox/web/pages"
)

func readers(b []byte) []io.Reader { return []io.Reader{bytes.NewReader(b)} }

// doc is a Markdown page of the documentation.
type doc struct {
	name         string // "architecture"
	title, about string // its first heading and paragraph
	html         string
}

// readDocs renders the documentation: all of it, when the first page of it is asked for.
func (s *Server) readDocs() []doc {
	entries, err := fs.ReadDir(s.c.Docs, ".")
	if err != nil {
		log.Printf("web: documentation: %v", err)
		return nil
	}
	var out []doc
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".md")
		if !ok {
			continue
		}
		raw, err := fs.ReadFile(s.c.Docs, e.Name())
		if err != nil {
			log.Printf("web: documentation: %v", err)
			continue
		}
		d, err := renderDoc(name, raw)
		if err != nil {
			log.Printf("web: documentation: %s: %v", e.Name(), err)
			continue
		}
		out = append(out, d)
	}
	return out
}

// markdown is GitHub's dialect without raw HTML, each heading with an id.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.GFM),
	goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(ownLinks{}, 100))),
)

func renderDoc(name string, raw []byte) (doc, error) {
	d := doc{name: name, title: name}
	tree := markdown.Parser().Parse(text.NewReader(raw))
	for n := tree.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level == 1 && d.title == name {
			d.title = plainText(h, raw)
		}
		if p, ok := n.(*ast.Paragraph); ok {
			d.about = plainText(p, raw)
			break
		}
	}
	var b bytes.Buffer
	err := markdown.Renderer().Render(&b, raw, tree)
	d.html = b.String()
	return d, err
}

// plainText is the text of a node without its marks.
func plainText(n ast.Node, raw []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, in bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && in {
			b.Write(t.Segment.Value(raw))
			if t.SoftLineBreak() || t.HardLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// ownLinks turns links between the files (trace-format.md#spans) into links between the pages. Links to files that the
// site does not have become plain text.
type ownLinks struct{}

// Transform implements parser.ASTTransformer.
func (ownLinks) Transform(tree *ast.Document, _ text.Reader, _ parser.Context) {
	var links []*ast.Link
	_ = ast.Walk(tree, func(n ast.Node, in bool) (ast.WalkStatus, error) {
		if l, ok := n.(*ast.Link); ok && in {
			links = append(links, l)
		}
		return ast.WalkContinue, nil
	})
	for _, l := range links {
		to, known := docLink(string(l.Destination))
		if known {
			l.Destination = []byte(to)
			continue
		}
		parent := l.Parent()
		for c := l.FirstChild(); c != nil; c = l.FirstChild() {
			parent.InsertBefore(parent, l, c)
		}
		parent.RemoveChild(parent, l)
	}
}

// docLink returns where a link of a Markdown file leads on the site, and false when it leads nowhere here.
func docLink(to string) (string, bool) {
	if strings.Contains(to, "://") || strings.HasPrefix(to, "/") || strings.HasPrefix(to, "#") {
		return to, true
	}
	file, anchor, found := strings.Cut(to, "#")
	if found {
		anchor = "#" + anchor
	}
	file = strings.TrimPrefix(path.Clean(file), "docs/")
	name, isPage := strings.CutSuffix(file, ".md")
	switch {
	case strings.Contains(file, "/"):
		return "", false
	case isPage:
		return "/docs/" + name + anchor, true
	}
	return "/docs/" + file, path.Ext(file) == ".json"
}

func (s *Server) toDocs(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/docs/", http.StatusMovedPermanently)
}

func (s *Server) docsPage(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if path.Ext(name) == ".json" || path.Ext(name) == ".md" {
		s.docsFile(w, r, name)
		return
	}
	d := pages.DocsData{Name: name, Keys: name == "keys"}
	found := name == "" || d.Keys
	title := "Documentation"
	for _, one := range s.docs() {
		d.Contents = append(d.Contents, pages.DocsLink{Name: one.name, Title: one.title, About: one.about})
		if one.name == name {
			found, d.HTML, title = true, one.html, one.title
		}
	}
	d.Contents = append(d.Contents, pages.DocsLink{Name: "keys", Title: "Keys", About: "Every key of the tracer."})
	if !found {
		s.notFound(w, r)
		return
	}
	p := s.page(title+" - Glassbox", "docs")
	if d.Keys {
		p.Script = pages.KeysScript
	}
	s.render(w, r, http.StatusOK, pages.Docs(p, d))
}

// docsFile serves a file of the documentation as it is: the JSON Schema, or a page's source.
func (s *Server) docsFile(w http.ResponseWriter, r *http.Request, name string) {
	if !fs.ValidPath(name) || strings.Contains(name, "/") {
		s.notFound(w, r)
		return
	}
	raw, err := fs.ReadFile(s.c.Docs, name)
	if err != nil {
		s.notFound(w, r)
		return
	}
	f := newAsset(name, raw)
	w.Header().Set("Content-Type", f.mime)
	w.Header().Set("Cache-Control", "no-cache")
	p := payload{tag: `"` + f.hash + `"`, plain: raw, size: int64(len(raw))}
	if f.gz != nil {
		p.gz, p.gzSize = readers(f.gz), int64(len(f.gz))
	}
	p.serve(w, r)
}
