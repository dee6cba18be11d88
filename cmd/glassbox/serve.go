package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"glassbox/engine"
	"glassbox/engine/openai"
	"glassbox/trace/otlp"
	"glassbox/web"
	"glassbox/web/live"
)

// serveCmd serves the API and the pages.
type serveCmd struct {
	engineFlags
	workshopFlags
	Addr       string       `placeholder:"HOST:PORT" help:"Where to listen; by default 127.0.0.1:8080, or the next free port."`
	Traces     string       `placeholder:"DIR" help:"Keep recordings in this folder as well."`
	Host       []string     `placeholder:"NAME" help:"Let browsers call under this host name too; addresses and localhost always may, * lets all."`
	AllowBench bool         `help:"Let the Bench page measure endpoints on other machines, and readers on other machines start runs."`
	BenchDir   string       `placeholder:"DIR" help:"Where the Bench page keeps its runs; by default a folder in your cache."`
	Source     []string     `placeholder:"REPO=DIR" help:"Where the code of a repository lies on this machine, such as github.com/vllm-project/vllm=/src/vllm: its lines link to the editor. A checkout of Glassbox around the working folder is found by itself."`
	Editor     string       `default:"vscode://file{path}:{line}" placeholder:"URL" help:"What such a link opens, with {path} and {line}; empty turns them off."`
	Loaded     int          `default:"1" placeholder:"N" help:"How many models of the --models folder may be open at once, beside the one of --model."`
	CORS       []string     `name:"cors" placeholder:"ORIGIN" help:"Let pages of this origin call the API, such as https://app.example; * lets all."`
	OTLP       string       `name:"otlp-endpoint" env:"OTEL_EXPORTER_OTLP_ENDPOINT" placeholder:"URL" help:"Send the spans of every request to this OpenTelemetry collector, such as http://127.0.0.1:4318."`
	Gateway    gatewayFlags `embed:""`
	APIKey     string       `name:"api-key" env:"GLASSBOX_API_KEY" placeholder:"KEY" help:"Ask clients for this key (or set GLASSBOX_API_KEY)."`
}

// Run listens first, so that a taken port is told at once, then opens the model and serves until Ctrl-C.
func (c *serveCmd) Run(ctx context.Context) error {
	workshop, err := c.room()
	if err != nil {
		return err
	}
	first := defaultAddr
	if workshop != nil {
		first = everywhere
	}
	l, err := listen(c.Addr, first)
	if err != nil {
		return err
	}
	var join []string
	if workshop != nil {
		join = joinAt(l)
	}
	if c.Gateway.Upstream != "" {
		if workshop != nil {
			l.Close()
			return &usageError{"--workshop and --upstream: wanted one of them"}
		}
		return c.gateway(ctx, l)
	}
	o, err := c.open()
	if err != nil {
		l.Close()
		return err
	}
	defer o.close()
	roots, err := sourceRoots(c.Source)
	if err != nil {
		l.Close()
		return err
	}
	hub := live.New(live.Config{Lay: catalogue().Apply})
	ends, configure, err := c.more()
	if err != nil {
		l.Close()
		return err
	}
	defer ends()
	s, err := newServer(o, c.Traces, hub, c.APIKey, configure)
	if err != nil {
		l.Close()
		return err
	}
	head := o.head()
	runs := newBenches(c.BenchDir, c.AllowBench, l.Addr(), c.APIKey)
	pages := web.New(web.Config{Store: s.store, Weights: newWeights(head.Model.Tensors, o.engine.Weights()), Stops: desk{o.engine}, Benches: runs, Experiments: &experiments{flags: c.engineFlags, o: o, store: s.store}, Hub: hub, Catalogue: catalogue(), Sources: engine.Sources, SourceRoots: roots, Editor: c.Editor, Model: head.Model, Device: head.Device, Engine: head.Engine,
		ModelID: o.name, Builtin: c.Model == "builtin", Hosts: c.Host, Room: workshop, Join: join})
	defer pages.Close()
	defer runs.Close()
	mux := s.mux()
	mux.Handle("/", withKey(c.APIKey, pages))
	d := o.engine.Device()
	fmt.Printf("glassbox: http://%s (%s, %d threads on %s; Ctrl-C stops)\n", reachable(l), o.name, d.Threads, d.Name)
	printShards(o.engine)
	handler := inRoom(workshop, l, join, mux)
	// A run against this very server ends while it still answers.
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	context.AfterFunc(ctx, func() {
		runs.Close()
		stop()
	})
	if err := s.serve(serving, l, handler); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "glassbox: stopped; running requests were told")
	return nil
}

// more is what the server has beside its model: who may call, further models, and a collector of spans. ends closes them.
func (c *serveCmd) more() (ends func(), configure func(*server, *openai.Config), err error) {
	var others *shelf
	var spans *otlp.Exporter
	if c.Loaded < 1 {
		return nil, nil, &usageError{fmt.Sprintf("--loaded: wanted 1 or more, found %d", c.Loaded)}
	}
	if c.Models != "" {
		if info, err := os.Stat(c.Models); err != nil || !info.IsDir() {
			return nil, nil, fmt.Errorf("--models %s: wanted a folder of .gguf files, found none", c.Models)
		}
		others = &shelf{dir: c.Models, except: c.Model, flags: c.engineFlags, most: c.Loaded, loaded: map[string]*shelved{}}
	}
	if spans, err = c.exporter("glassbox"); err != nil {
		return nil, nil, err
	}
	ends = func() {
		if others != nil {
			others.close()
		}
		closeExporter(spans)
	}
	return ends, func(s *server, conf *openai.Config) {
		conf.Hosts, conf.Origins = c.Host, c.CORS
		if others != nil {
			others.store, conf.Others = s.store, others
		}
		if spans != nil {
			conf.Spans = spans
		}
	}, nil
}

// exporter sends spans where --otlp-endpoint says; nil without it.
func (c *serveCmd) exporter(service string) (*otlp.Exporter, error) {
	if c.OTLP == "" {
		return nil, nil
	}
	spans, err := otlp.NewExporter(c.OTLP, otlp.Resource{Service: service, Version: version}, func(err error) { fmt.Fprintln(os.Stderr, "glassbox: warning:", err) })
	if err != nil {
		return nil, &usageError{"--otlp-endpoint: " + err.Error()}
	}
	return spans, nil
}

// closeExporter sends what waits, for a few seconds.
func closeExporter(spans *otlp.Exporter) {
	if spans == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := spans.Close(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "glassbox: warning:", err)
	}
}

// withKey asks browsers for the key too: recordings hold what was asked and answered. Everything but the looks of a page
// is behind it.
func withKey(key string, pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !openai.HasKey(r, key) && !strings.HasPrefix(r.URL.Path, "/static/") {
			w.Header().Set("WWW-Authenticate", `Basic realm="glassbox: any name, the API key as password"`)
			http.Error(w, "This server asks for its API key: send it as 'Authorization: Bearer KEY', or as the password.", http.StatusUnauthorized)
			return
		}
		pages.ServeHTTP(w, r)
	})
}
