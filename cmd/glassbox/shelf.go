package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"glassbox/engine/openai"
	"glassbox/trace/file"
)

// shelf is a folder of models. Each is opened when a request first names it; when as many are loaded as may be, the one
// that was idle longest is closed. It is an openai.Loader.
type shelf struct {
	dir    string
	except string // file of the model that the server was started with
	flags  engineFlags
	store  *file.Store
	most   int

	mu     sync.Mutex
	loaded map[string]*shelved
	clock  int64 // counts uses, to tell the longest idle
}

// shelved is a model that is loaded, or being loaded.
type shelved struct {
	ready chan struct{} // closed when opened or err is set
	o     *opened
	api   *openai.Server
	err   error
	users int
	used  int64
}

// modelName is how a file is called in the API.
func modelName(path string) string {
	return strings.ToLower(strings.TrimSuffix(filepath.Base(path), ".gguf"))
}

// files maps names to files of the folder.
func (s *shelf) files() map[string]string {
	list, err := os.ReadDir(s.dir)
	if err != nil {
		return nil
	}
	m := map[string]string{}
	for _, f := range list {
		path := filepath.Join(s.dir, f.Name())
		if filepath.Ext(f.Name()) == ".gguf" && !f.IsDir() && !sameFile(path, s.except) {
			m[modelName(path)] = path
		}
	}
	return m
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// Names implements openai.Loader.
func (s *shelf) Names() []string {
	var names []string
	for n := range s.files() {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Root implements openai.Loader.
func (s *shelf) Root(name string) string { return filepath.Base(s.files()[name]) }

// Load implements openai.Loader.
func (s *shelf) Load(ctx context.Context, name string) (*openai.Server, func(), error) {
	path, ok := s.files()[name]
	if !ok {
		return nil, nil, fmt.Errorf("%s: there is no such file any more", name)
	}
	s.mu.Lock()
	e := s.loaded[name]
	var old *shelved
	if e == nil {
		if len(s.loaded) >= s.most {
			if old = s.evict(); old == nil {
				s.mu.Unlock()
				return nil, nil, openai.ErrNoRoom
			}
		}
		e = &shelved{ready: make(chan struct{})}
		s.loaded[name] = e
		go s.open(e, name, path, old) // it goes on when this client leaves: others may wait for it
	}
	e.users++
	s.mu.Unlock()
	release := sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		e.users--
		s.clock++
		e.used = s.clock
	})
	select {
	case <-e.ready:
	case <-ctx.Done():
		release()
		return nil, nil, ctx.Err()
	}
	if e.err != nil {
		release()
		return nil, nil, e.err
	}
	return e.api, release, nil
}

// evict takes the model out that was idle longest; nil where all are at work.
func (s *shelf) evict() *shelved {
	name := ""
	for n, e := range s.loaded {
		if e.users == 0 && (name == "" || e.used < s.loaded[name].used) {
			name = n
		}
	}
	e := s.loaded[name]
	delete(s.loaded, name)
	return e
}

// open loads a model, after another has made room.
func (s *shelf) open(e *shelved, name, path string, old *shelved) {
	defer close(e.ready)
	if old != nil {
		<-old.ready
		old.close()
	}
	f := s.flags
	f.Model, f.ChatTemplate = path, ""
	if draftKind(f.Draft) != f.Draft { // a draft model fits one vocabulary
		f.Draft = "off"
	}
	if e.o, e.err = f.open(); e.err == nil {
		if e.api, e.err = newAPI(e.o, openai.Config{Tracer: s.store.As(e.o.head())}); e.err != nil {
			e.err = errors.Join(e.err, e.o.close())
		}
	}
	if e.err != nil {
		s.mu.Lock()
		delete(s.loaded, name)
		s.mu.Unlock()
	}
}

func (e *shelved) close() {
	if e.err == nil && e.o != nil {
		if err := e.o.close(); err != nil {
			fmt.Fprintln(os.Stderr, "glassbox: warning:", err)
		}
	}
}

// close closes all models. No request may be running.
func (s *shelf) close() {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.loaded))
	clear(s.loaded)
	s.mu.Unlock()
	for _, e := range all {
		<-e.ready
		e.close()
	}
}
