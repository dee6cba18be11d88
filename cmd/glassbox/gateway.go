package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"glassbox/cmd/internal/gateway"
	"glassbox/engine/openai"
	"glassbox/trace/file"
	"glassbox/trace/otlp"
	"glassbox/web"
	"glassbox/web/live"
)

// gatewayFlags make serve a gateway before another server.
type gatewayFlags struct {
	Upstream string        `placeholder:"URL" help:"Be a gateway before this OpenAI-compatible server (vLLM, SGLang, llama.cpp) and record what passes; no model is opened. The engine's OpenTelemetry spans are taken at the same address, over HTTP and gRPC."`
	Engine   string        `name:"upstream-engine" placeholder:"NAME" help:"Gateway: what the upstream is (vllm, sglang, llamacpp); by default it is asked."`
	Sample   float64       `default:"1" placeholder:"RATE" help:"Gateway: share of the requests that are recorded, 0 to 1. A request with the header X-Glassbox-Trace: 1 always is."`
	Prompts  string        `default:"auto" enum:"auto,keep,redact" help:"Gateway: keep or redact the texts of prompts and answers in recordings; auto keeps them where only this machine can connect."`
	KeepFor  time.Duration `name:"keep-for" placeholder:"TIME" help:"Gateway: delete recordings that are older, such as 24h."`
	KeepMB   int64         `name:"keep-mb" default:"1024" placeholder:"N" help:"Gateway: delete the oldest recordings where all together take more megabytes; 0 sets no bound."`
}

// check looks at the flags.
func (f *gatewayFlags) check() (*url.URL, error) {
	u, err := url.Parse(f.Upstream)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, &usageError{fmt.Sprintf("--upstream: wanted a URL such as http://127.0.0.1:8000, found %q", f.Upstream)}
	case !(f.Sample >= 0 && f.Sample <= 1):
		return nil, &usageError{fmt.Sprintf("--sample: wanted a share from 0 to 1, found %v", f.Sample)}
	case f.KeepMB < 0 || f.KeepFor < 0:
		return nil, &usageError{"--keep-mb and --keep-for: wanted 0 or more"}
	}
	return u, nil
}

// redact tells whether texts are left out: by default where other machines can connect, and so read recordings.
func (f *gatewayFlags) redact(l net.Listener) bool {
	if f.Prompts != "auto" {
		return f.Prompts == "redact"
	}
	a, ok := l.Addr().(*net.TCPAddr)
	return !ok || !a.IP.IsLoopback()
}

// retainEvery is between two looks at how old and large the recordings are.
const retainEvery = 20 * time.Second

// gateway serves as a gateway until ctx ends.
func (c *serveCmd) gateway(ctx context.Context, l net.Listener) error {
	defer l.Close()
	u, err := c.Gateway.check()
	if err != nil {
		return err
	}
	spans, err := c.exporter("glassbox-gateway")
	if err != nil {
		return err
	}
	defer closeExporter(spans)
	warn := func(err error) { fmt.Fprintln(os.Stderr, "glassbox: warning:", err) }
	var g *gateway.Gateway
	hub := live.New(live.Config{Lay: func(rec *file.Recording) { g.Lay(rec) }})
	store, err := file.NewStore(file.StoreOptions{Dir: c.Traces, Sink: hub, OnError: warn})
	if err != nil {
		return err
	}
	defer store.Close()
	redact := c.Gateway.redact(l)
	g = gateway.New(gateway.Config{Upstream: u, Engine: c.Gateway.Engine, Store: store, Sink: hub, Sample: c.Gateway.Sample, Redact: redact, Spans: spans,
		FirstByte: openai.FirstByte, Foreign: func(r *http.Request) string { return openai.Foreign(r, c.Host, c.CORS) }, OnError: warn})
	defer g.Close()
	asking, cancel := context.WithTimeout(ctx, 5*time.Second)
	engine, release, model := g.Ask(asking)
	cancel()
	runs := newBenches(c.BenchDir, c.AllowBench, l.Addr(), c.APIKey)
	defer runs.Close()
	pages := web.New(web.Config{Store: store, Hub: hub, Benches: runs, Engine: file.Engine{Name: engine, Version: release}, Model: file.Model{Name: model},
		Device: file.Device{Kind: "unknown"}, ModelID: model, Hosts: c.Host})
	defer pages.Close()
	go retain(ctx, store, &c.Gateway)
	srv := &http.Server{Handler: c.route(g, pages, receiver(g, spans, warn)), Protocols: new(http.Protocols)}
	srv.Protocols.SetHTTP1(true)
	srv.Protocols.SetUnencryptedHTTP2(true) // gRPC of span exporters
	openai.Prepare(srv)
	fmt.Printf("glassbox: http://%s (a gateway before %s: %s; %s; Ctrl-C stops)\n", l.Addr(), u.Redacted(), behind(engine, release), prompts(redact))
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(openai.Listener(l)) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	runs.Close()
	return stopGateway(srv)
}

// stopGateway lets running answers end for a few seconds, then cuts them.
func stopGateway(srv *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var err error
	if e := srv.Shutdown(ctx); e != nil && !errors.Is(e, context.DeadlineExceeded) {
		err = e
	}
	err = errors.Join(err, srv.Close())
	fmt.Fprintln(os.Stderr, "glassbox: stopped")
	return err
}

// route gives each request to whom it is for: spans to the receiver, pages and recordings to the site, all else to the
// upstream. The key guards what is ours; the upstream has a key of its own, which passes through.
func (c *serveCmd) route(g *gateway.Gateway, pages *web.Server, spans http.Handler) http.Handler {
	site := withKey(c.APIKey, pages)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == otlp.HTTPPath || strings.HasPrefix(r.URL.Path, "/opentelemetry.proto."):
			if !openai.HasKey(r, c.APIKey) {
				http.Error(w, "spans are taken with the API key: set OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20KEY", http.StatusUnauthorized)
				return
			}
			spans.ServeHTTP(w, r)
		case pages.Has(r):
			site.ServeHTTP(w, r)
		default:
			g.ServeHTTP(w, r)
		}
	})
}

// receiver takes the engine's spans; where there is a collector they go on to it.
func receiver(g *gateway.Gateway, out *otlp.Exporter, warn func(error)) *otlp.Receiver {
	rc := &otlp.Receiver{Take: g.Take, Refused: func(n int, from, why string) {
		warn(fmt.Errorf("otlp: %d spans from %s were not taken: %s", n, from, why))
	}}
	if out != nil {
		rc.Forward = out.Forward
	}
	return rc
}

// retain deletes recordings that are too old, or too much, until ctx ends.
func retain(ctx context.Context, store *file.Store, f *gatewayFlags) {
	tick := time.NewTicker(retainEvery)
	defer tick.Stop()
	for {
		store.Retain(f.KeepFor, f.KeepMB<<20, time.Now())
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func behind(engine, version string) string {
	switch {
	case engine == "":
		return "its engine is not known yet"
	case version == "":
		return engine
	}
	return engine + " " + version
}

func prompts(redact bool) string {
	if redact {
		return "texts are not kept"
	}
	return "texts of prompts and answers are kept"
}
