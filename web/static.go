package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"
)

// assets serves the files of package static. A file is hashed and compressed when it is first asked for.
type assets struct {
	fs fs.FS
	mu sync.Mutex
	by map[string]*asset
}

// asset is one file.
type asset struct {
	data, gz []byte
	hash     string // 16 hex
	mime     string
}

// kinds are the types of files that we serve; the system's table may lack them.
var kinds = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".json": "application/json",
	".md": "text/markdown; charset=utf-8", ".png": "image/png", ".gbx": "application/zip",
}

// get returns a file, nil when there is none. Names cannot leave the file system: fs.ValidPath refuses "..".
func (a *assets) get(name string) *asset {
	if !fs.ValidPath(name) || path.Ext(name) == ".go" {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if f := a.by[name]; f != nil {
		return f
	}
	data, err := fs.ReadFile(a.fs, name)
	if err != nil {
		return nil
	}
	f := newAsset(name, data)
	if a.by == nil {
		a.by = map[string]*asset{}
	}
	a.by[name] = f
	return f
}

func newAsset(name string, data []byte) *asset {
	sum := sha256.Sum256(data)
	f := &asset{data: data, hash: hex.EncodeToString(sum[:8]), mime: kinds[path.Ext(name)]}
	if f.mime == "" {
		f.mime = mime.TypeByExtension(path.Ext(name))
	}
	if f.mime == "" {
		f.mime = "application/octet-stream"
	}
	if len(data) > 512 && !strings.HasPrefix(f.mime, "image/png") && f.mime != "application/zip" {
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
		_, _ = z.Write(data)                                  // a buffer takes everything
		_ = z.Close()
		f.gz = b.Bytes()
	}
	return f
}

// url is the address of a file with its hash, under which it may be kept for ever.
func (a *assets) url(name string) string {
	if f := a.get(name); f != nil {
		return "/static/" + name + "?v=" + f.hash
	}
	return "/static/" + name
}

// hashed are names that change with what is in the file, made by cmd/internal/bundle.
var hashed = regexp.MustCompile(`^js/parts/.+-[0-9A-Z]{8}\.js$`)

// imports finds what a minified module cannot run without; an import with brackets is one for later.
var imports = regexp.MustCompile(`(?:\bfrom|\bimport)\s*"(\.[^"]+)"`)

// needs lists the addresses of the modules that a module imports, so that a browser asks for all of them at once.
func (a *assets) needs(name string) []string {
	var out []string
	seen := map[string]bool{name: true}
	for todo := []string{name}; len(todo) > 0; todo = todo[1:] {
		f := a.get(todo[0])
		if f == nil {
			continue
		}
		for _, m := range imports.FindAllSubmatch(f.data, -1) {
			if part := path.Join(path.Dir(todo[0]), string(m[1])); !seen[part] {
				seen[part] = true
				todo, out = append(todo, part), append(out, "/static/"+part)
			}
		}
	}
	return out
}

func (s *Server) static(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("path")
	f := s.assets.get(name)
	if f == nil {
		s.notFound(w, r)
		return
	}
	if v := r.URL.Query().Get("v"); v == f.hash || hashed.MatchString(name) {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		w.Header().Set("Cache-Control", "no-cache")
	}
	w.Header().Set("Content-Type", f.mime)
	body := payload{tag: `"` + f.hash + `"`, plain: f.data, size: int64(len(f.data))}
	if f.gz != nil {
		body.gz = []io.Reader{bytes.NewReader(f.gz)}
		body.gzSize = int64(len(f.gz))
	}
	body.serve(w, r)
}

func (s *Server) favicon(w http.ResponseWriter, r *http.Request) {
	r.SetPathValue("path", "favicon.svg")
	s.static(w, r)
}

// payload is an answer that is known in full: plain, and perhaps compressed.
type payload struct {
	tag    string // ETag
	plain  []byte
	open   func() (io.ReadCloser, error) // in place of plain
	size   int64
	gz     []io.Reader // in a row; nil = not compressed
	gzSize int64
}

// serve answers with 304 when the client has it, compressed when the client takes that.
func (p *payload) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	compressed := p.gz != nil && takesGzip(r)
	tag := p.tag
	if p.gz != nil {
		h.Add("Vary", "Accept-Encoding")
		if compressed {
			tag = strings.TrimSuffix(tag, `"`) + `-gz"` // another representation, so another strong tag
		}
	}
	h.Set("ETag", tag)
	if matches(r.Header.Get("If-None-Match"), tag) {
		h.Del("Content-Type")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body, size := io.Reader(bytes.NewReader(p.plain)), p.size
	if compressed {
		h.Set("Content-Encoding", "gzip")
		body, size = io.MultiReader(p.gz...), p.gzSize
	} else if p.open != nil {
		f, err := p.open()
		if err != nil {
			h.Del("ETag")
			http.Error(w, "the file could not be opened", http.StatusInternalServerError)
			return
		}
		defer f.Close()
		body = f
	}
	h.Set("Content-Length", itoa(size))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = io.Copy(w, body) // a client that left needs no answer
	}
}

// takesGzip reads Accept-Encoding; "gzip;q=0" is a no.
func takesGzip(r *http.Request) bool {
	for _, part := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		name, q, _ := strings.Cut(strings.ReplaceAll(part, " ", ""), ";")
		if (name == "gzip" || name == "*") && strings.TrimRight(q, ".0") != "q=" {
			return true
		}
	}
	return false
}

// matches reads If-None-Match: a list of tags, or "*".
func matches(list, tag string) bool {
	for _, t := range strings.Split(list, ",") {
		t = strings.TrimPrefix(strings.TrimSpace(t), "W/")
		if t == tag || t == "*" && tag != "" {
			return true
		}
	}
	return false
}
