package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"glassbox/cmd/internal/bench"
	"glassbox/cmd/internal/bench/report"
	"glassbox/cmd/internal/bench/term"
	"glassbox/engine/gpu"
)

func init() {
	examples["bench"] = `  glassbox bench http://127.0.0.1:8000                              something sensible, in under three minutes
  glassbox bench http://127.0.0.1:8000 --concurrency 1,2,4,8 --prompt-tokens 512 --output-tokens 128 --requests 40 -o runs
  glassbox bench http://127.0.0.1:8000 --rate 0.5,1,2 --slo ttft=500,tpot=30
  MY_KEY=... glassbox bench https://example.com/v1 --model NAME --key-env MY_KEY
  glassbox bench compare runs/A.json runs/B.json
  glassbox bench serve runs
  glassbox bench run --help                                         all flags`
	examples["bench run"] = examples["bench"]
}

// benchCmd measures any OpenAI-compatible endpoint.
type benchCmd struct {
	Run     benchRunCmd     `cmd:"" default:"withargs" help:"Measure an endpoint (default)."`
	Compare benchCompareCmd `cmd:"" help:"Compare two results, and say when no difference is seen."`
	Serve   benchServeCmd   `cmd:"" help:"Show the results in a folder as pages."`
	Export  benchExportCmd  `cmd:"" help:"Write a result for a hosting service (bench.report.v1)."`
}

type benchRunCmd struct {
	URL          string    `arg:"" help:"The endpoint, such as http://127.0.0.1:8000."`
	Model        string    `placeholder:"NAME" help:"The model; by default the server's first."`
	Concurrency  []int     `placeholder:"1,2,4" help:"Requests at a time, one level each; by default 1,2,4,8 as the time allows."`
	PromptTokens int       `default:"128" placeholder:"N" help:"Length of the prompts."`
	OutputTokens int       `default:"64" placeholder:"N" help:"Length of the answers."`
	Requests     int       `placeholder:"N" help:"Requests of each level; by default as many as the time allows."`
	Rate         []float64 `placeholder:"0.5,1" help:"Open loop: Poisson arrivals a second, one level each, latency from the scheduled time."`
	Sweep        int       `placeholder:"MAX" help:"Double the concurrency up to MAX until throughput stands still, and find the knee."`
	Prefill      []int     `placeholder:"N,M,K" help:"Prompt lengths of the prefill phase."`
	NoPrefill    bool      `help:"Leave the prefill phase out."`
	SLO          []string  `name:"slo" sep:"none" placeholder:"LIMITS" help:"Goodput: ttft=500,tpot=30,e2e=4000 in ms, or an MLPerf preset such as llama3.1-8b; may be repeated."`
	API          string    `name:"api" enum:",chat,completions,ollama" default:"" placeholder:"NAME" help:"chat, completions, or ollama for its own API; by default chat where there is one."`
	MaxSeconds   float64   `placeholder:"S" help:"End the run after so long; by default 170 without --requests."`
	Timeout      float64   `default:"120" placeholder:"S" help:"Give a request up after so long without a byte."`
	KeyEnv       string    `placeholder:"NAME" help:"Environment variable that holds the API key; by default GLASSBOX_BENCH_KEY. Keys are never written down."`
	Seed         uint64    `placeholder:"N" help:"Seed of prompts and arrivals; drawn by default, so that no cache knows the prompts."`
	Record       string    `enum:"all,one,none" default:"one" help:"Against Glassbox: have all requests recorded, one of each level, or none."`
	Note         string    `placeholder:"TEXT" help:"A line for the report."`
	ServerFlags  string    `placeholder:"TEXT" help:"What the server was started with, for the report."`
	Out          string    `short:"o" default:"bench-results" placeholder:"DIR" help:"Folder for the JSON, CSV, Markdown and HTML files."`
	JSON         bool      `name:"json" help:"Print the JSON to stdout instead of the Markdown."`
}

// Run measures with a live view on stderr, writes the four files and prints the tables.
func (c *benchRunCmd) Run(ctx context.Context) error {
	cfg := bench.Config{URL: c.URL, Model: c.Model, API: c.API, Concurrency: c.Concurrency, PromptTokens: c.PromptTokens, OutputTokens: c.OutputTokens,
		Requests: c.Requests, Rates: c.Rate, Sweep: c.Sweep, Prefill: c.Prefill, NoPrefill: c.NoPrefill, Seconds: c.MaxSeconds, Silence: c.Timeout,
		Seed: c.Seed, Record: c.Record, Note: c.Note, ServerFlags: c.ServerFlags, GPUs: benchGPUs}
	for _, s := range c.SLO {
		slo, err := bench.ParseSLO(s)
		if err != nil {
			return &usageError{err.Error()}
		}
		cfg.SLO = append(cfg.SLO, slo)
	}
	name := c.KeyEnv
	if name == "" {
		name = "GLASSBOX_BENCH_KEY" // no other program's: a key must not go to an address by accident
	}
	if cfg.Key = os.Getenv(name); cfg.Key == "" && c.KeyEnv != "" {
		return fmt.Errorf("--key-env %s: this environment variable is not set", name)
	}
	if err := os.MkdirAll(c.Out, 0o755); err != nil { // before minutes are spent
		return fmt.Errorf("-o %s: %w", c.Out, err)
	}
	bench.Version = version
	view := term.New(os.Stderr)
	r, failed := bench.Run(ctx, cfg, view.Show)
	view.Close()
	var usage *bench.UsageError
	if errors.As(failed, &usage) {
		return &usageError{failed.Error()}
	}
	if r == nil {
		return failed
	}
	paths, err := report.Write(c.Out, r)
	if err != nil {
		return err
	}
	if c.JSON {
		err = report.JSON(os.Stdout, r)
	} else {
		err = report.Markdown(os.Stdout, r)
	}
	if err != nil {
		return err
	}
	for _, p := range paths {
		fmt.Fprintln(os.Stderr, p)
	}
	if failed == nil && r.Stopped == bench.Interrupted {
		return context.Canceled // the files hold what was measured, but a script must not take them for the whole
	}
	return failed
}

type benchCompareCmd struct {
	A    string `arg:"" help:"JSON file of a run."`
	B    string `arg:"" help:"JSON file of another."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Run prints the comparison.
func (c *benchCompareCmd) Run() error {
	a, err := report.Read(c.A)
	if err != nil {
		return err
	}
	b, err := report.Read(c.B)
	if err != nil {
		return err
	}
	cmp := report.Compare(a, b)
	if c.JSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", " ")
		return e.Encode(cmp)
	}
	return cmp.Text(os.Stdout)
}

type benchServeCmd struct {
	Dir  string `arg:"" default:"bench-results" help:"Folder with results."`
	Addr string `default:"127.0.0.1:8090" placeholder:"HOST:PORT" help:"Where to listen."`
}

// Run serves the gallery until Ctrl-C.
func (c *benchServeCmd) Run(ctx context.Context) error {
	if info, err := os.Stat(c.Dir); err != nil || !info.IsDir() {
		return fmt.Errorf("bench serve %s: wanted a folder with results of glassbox bench", c.Dir)
	}
	l, err := net.Listen("tcp", c.Addr)
	if err != nil {
		return fmt.Errorf("--addr %s: %w", c.Addr, err)
	}
	fmt.Printf("glassbox: http://%s shows the runs in %s (Ctrl-C stops)\n", l.Addr(), c.Dir)
	s := &http.Server{Handler: report.Gallery(c.Dir), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = s.Close()
	}()
	if err := s.Serve(l); err != nil && err != http.ErrServerClosed {
		return err
	}
	return nil
}

type benchExportCmd struct {
	File string `arg:"" help:"JSON file of a run."`
	Out  string `short:"o" placeholder:"FILE" help:"Where it goes; stdout by default."`
}

// Run writes the upload.
func (c *benchExportCmd) Run() error {
	r, err := report.Read(c.File)
	if err != nil {
		return err
	}
	data, err := report.Hosted(r)
	if err != nil {
		return err
	}
	if c.Out == "" {
		_, err = fmt.Printf("%s\n", data)
		return err
	}
	return report.Atomic(filepath.Clean(c.Out), append(data, '\n'))
}

// benchGPUs lists this machine's GPUs for the client, which knows nothing of the engine.
func benchGPUs(ctx context.Context) ([]bench.GPU, string) {
	devices, source := gpu.Read(ctx)
	var out []bench.GPU
	for _, d := range devices {
		out = append(out, bench.GPU{Name: d.Name, Driver: d.Driver, MemoryMB: d.MemoryMB, MaxSMMHz: d.MaxSMMHz, Before: bench.GPUState(d.State)})
	}
	return out, source
}
