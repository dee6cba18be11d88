package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"glassbox/engine"
	"glassbox/engine/openai"
	"glassbox/steps"
	"glassbox/trace"
	"glassbox/trace/file"
)

// server is the engine's API and the recordings, on one listener.
type server struct {
	opened *opened
	api    *openai.Server
	store  *file.Store
	http   *http.Server
}

// catalogue is parsed when it is first needed.
var catalogue = sync.OnceValue(func() *steps.Catalogue { return steps.Glassbox(engine.Sources) })

// newServer puts API and recordings together. sink, if not nil, is told of running recordings.
func newServer(o *opened, tracesDir string, sink file.Sink, apiKey string, more ...func(*server, *openai.Config)) (*server, error) {
	s := &server{opened: o}
	var err error
	s.store, err = file.NewStore(file.StoreOptions{Head: o.head(), Dir: tracesDir, Finish: catalogue().Apply, Sink: sink, State: stateOf(o.engine.Device()),
		OnError: func(err error) { fmt.Fprintln(os.Stderr, "glassbox: warning:", err) }})
	if err != nil {
		return nil, err
	}
	c := openai.Config{Tracer: s.store, APIKey: apiKey}
	for _, f := range more {
		f(s, &c)
	}
	s.api, err = newAPI(o, c)
	return s, err
}

// newAPI makes the API of an opened model.
func newAPI(o *opened, c openai.Config) (*openai.Server, error) {
	tmpl, err := o.template()
	if err != nil {
		return nil, err
	}
	c.Engine, c.Model, c.Root, c.Version, c.Commit = openai.Wrap(o.engine), o.name, o.base, version, commit()
	c.Captures = trace.CaptureSpec{Attention: true, Lens: true, Values: true, Logits: true}
	if tmpl != nil {
		c.Template = openai.WrapTemplate(tmpl, o.engine.Tokenizer())
	}
	return openai.New(c), nil
}

// mux mounts the API; more can be mounted beside it.
func (s *server) mux() *http.ServeMux {
	m := http.NewServeMux()
	for _, p := range openai.Paths() {
		m.Handle(p, s.api)
	}
	return m
}

// serve answers on l until ctx ends, then lets running requests end with an error event.
func (s *server) serve(ctx context.Context, l net.Listener, h http.Handler) error {
	s.http = &http.Server{Handler: h}
	openai.Prepare(s.http)
	failed := make(chan error, 1)
	go func() { failed <- s.http.Serve(openai.Listener(l)) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	return s.shutdown()
}

// shutdown ends requests, connections and recordings, in this order, within a few seconds.
func (s *server) shutdown() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := s.api.Shutdown(ctx)
	if e := s.http.Shutdown(ctx); e != nil {
		err = errors.Join(err, s.http.Close())
	}
	s.store.Close()
	return err
}

// defaultAddr is where the server listens when nothing else is asked for.
const defaultAddr = "127.0.0.1:8080"

// listen opens the address that was asked for, or the next free port after that of the default one.
func listen(addr, standard string) (net.Listener, error) {
	if addr != "" {
		l, err := net.Listen("tcp", addr)
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf("--addr %s: the port is taken by another program: choose another, or leave --addr out to take the next free one", addr)
		}
		if err != nil {
			return nil, fmt.Errorf("--addr %s: wanted HOST:PORT such as %s: %w", addr, defaultAddr, err)
		}
		return l, nil
	}
	host, port, _ := strings.Cut(standard, ":")
	first, _ := strconv.Atoi(port)
	for p := first; p < first+100; p++ {
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(p)))
		if err == nil || !errors.Is(err, syscall.EADDRINUSE) {
			return l, err
		}
	}
	return nil, fmt.Errorf("ports %d to %d are all taken: choose one with --addr", first, first+99)
}
