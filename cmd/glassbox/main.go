// Command glassbox is an LLM inference engine that can be seen through: it serves a model, and records and shows every
// step of a request.
//
// This package wires the parts together: it is the only one that knows both the engine and the pages.
//
// It does not know about how anything works inside: it parses flags, opens things, and closes them in order.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/alecthomas/kong"
)

// version is the release this tree becomes.
const version = "0.1.0"

// cli is the command line; kong reads the flags off the tags.
type cli struct {
	Serve      serveCmd      `cmd:"" default:"withargs" help:"Serve the model and the tracer on one address (default)."`
	Trace      traceCmd      `cmd:"" help:"Send one prompt through the server and record every step."`
	Export     exportCmd     `cmd:"" help:"Turn a recording into another form: Perfetto, speedscope, CSV, JSON."`
	Import     importCmd     `cmd:"" help:"Make a recording of a profile, of spans or of timings that another program wrote."`
	Attach     attachCmd     `cmd:"" help:"Run another engine so that one request is recorded inside it."`
	Steps      stepsCmd      `cmd:"" help:"Check the catalogues of other engines."`
	Modmap     modmapCmd     `cmd:"" help:"Draw the modules of a program as a map: who imports whom, and the way of a recorded request over it."`
	Bench      benchCmd      `cmd:"" help:"Measure any OpenAI-compatible endpoint."`
	Model      modelCmd      `cmd:"" help:"What is in a model file."`
	Roof       roofCmd       `cmd:"" help:"Measure what this machine can read and compute; recordings are held against it."`
	KVCheck    kvcheckCmd    `cmd:"" name:"kvcheck" help:"Show what each number format of the KV cache costs in quality and memory."`
	BenchLocal benchLocalCmd `cmd:"" hidden:"" help:"Measure the engine in this process; make bench uses it."`
	Version    versionCmd    `cmd:"" help:"Print version and commit."`
}

func main() {
	os.Exit(run(os.Args[1:]))
}

// run returns the exit code: 0 done, 1 failed, 2 wrong usage. A failure is one line on stderr.
func run(args []string) int {
	var c cli
	parser, err := kong.New(&c, kong.Name("glassbox"), kong.Description(description), kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.Help(helpWithExamples))
	if err != nil {
		fmt.Fprintln(os.Stderr, "glassbox:", err)
		return 1
	}
	k, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "glassbox: %v; see glassbox --help\n", err)
		return 2
	}
	if os.Getenv("GOGC") == "" {
		// The Go heap is small beside the weights, which lie outside it: collect less often, so that the collector's
		// workers do not take a core from a pass.
		debug.SetGCPercent(400)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	k.BindTo(ctx, (*context.Context)(nil))
	if err := k.Run(); err != nil {
		if errors.Is(err, context.Canceled) {
			fmt.Fprintln(os.Stderr, "glassbox: stopped")
			return 1
		}
		fmt.Fprintln(os.Stderr, "glassbox:", err)
		var usage *usageError
		if errors.As(err, &usage) {
			return 2
		}
		return 1
	}
	return 0
}

// usageError is a mistake on the command line that only running it shows.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

type versionCmd struct{}

// Run prints one line.
func (versionCmd) Run() error {
	fmt.Println("glassbox", version, commit())
	return nil
}

// commit is the revision the binary was built from, as far as the build knows it.
func commit() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && s.Value != "" {
				return s.Value
			}
		}
	}
	return "unknown"
}
