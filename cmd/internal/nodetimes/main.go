// Command nodetimes puts llama.cpp's time for each node of its graph beside ours for each op: the same model file, prompt, machine
// and threads, in turns. It compiles cpp/nodetimes.cpp against llama.cpp's headers and libraries, asks it and this engine alternately,
// and writes our recording with llama.cpp's medians in it. View Pass shows both in one table.
//
// It does not know about pages, nor how llama.cpp came to be built.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"glassbox/trace/file"
)

type config struct {
	model, src, lib, version, prompt, out, with string
	threads, tokens, rounds                     int
}

func main() {
	var c config
	flag.StringVar(&c.model, "model", "engine/builtin/SmolLM2-135M-Instruct.Q4_1.gguf", "model `file` of both engines")
	flag.StringVar(&c.src, "src", "", "llama.cpp's sources: the `folder` that has include and ggml/include")
	flag.StringVar(&c.lib, "lib", "", "the `folder` of libllama.so and libggml*.so")
	flag.StringVar(&c.version, "version", "b11434", "llama.cpp's version")
	flag.StringVar(&c.prompt, "prompt", "Why is the sky blue?", "what both compute")
	flag.IntVar(&c.threads, "threads", 1, "threads of both")
	flag.IntVar(&c.tokens, "tokens", 24, "decode passes in each run")
	flag.IntVar(&c.rounds, "rounds", 5, "runs of each, in turns")
	flag.StringVar(&c.out, "o", "", "the recording, .gbx")
	flag.StringVar(&c.with, "with", "", "`command` that starts each run, on a busy machine: \"chrt -r 1\"")
	flag.Parse()
	if err := c.run(); err != nil {
		fmt.Fprintln(os.Stderr, "nodetimes:", err)
		os.Exit(1)
	}
}

func (c *config) run() error {
	if c.src == "" || c.lib == "" || !strings.HasSuffix(c.out, ".gbx") || c.rounds < 1 {
		return errors.New("wanted -src, -lib and -o FILE.gbx; docs/engines.md says where they come from")
	}
	dir, err := os.MkdirTemp("", "nodetimes")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	theirs, ours := filepath.Join(dir, "theirs"), filepath.Join(dir, "ours")
	if err := build(exec.Command("g++", "-O2", "-std=c++17", "-I", filepath.Join(c.src, "include"), "-I", filepath.Join(c.src, "ggml/include"), "-o", theirs,
		"cmd/internal/nodetimes/cpp/nodetimes.cpp", "-L", c.lib, "-lllama", "-lggml", "-lggml-base", "-Wl,-rpath,"+c.lib)); err != nil {
		return err
	}
	if err := build(exec.Command("go", "build", "-o", ours, "./cmd/glassbox")); err != nil {
		return err
	}
	var best *file.Recording
	var plain, timed []run
	for i := range c.rounds {
		rec, err := c.ours(ours, filepath.Join(dir, fmt.Sprintf("%d.gbx", i)))
		if err != nil {
			return err
		}
		two, err := c.theirs(theirs, rec)
		if err != nil {
			return err
		}
		plain, timed = append(plain, two[0]), append(timed, two[1])
		fmt.Fprintf(os.Stderr, "nodetimes: round %d: a decode pass: ours %.2f ms traced; llama.cpp %.2f ms, %.2f ms with its nodes timed\n", i+1,
			float64(decodePass(rec))/1e6, float64(median(two[0].Passes))/1e6, float64(median(two[1].Passes))/1e6)
		if best == nil || decodePass(rec) < decodePass(best) {
			best = rec
		}
	}
	best.Peers = []file.Peer{c.peer(plain, timed)}
	return write(c.out, best)
}

func build(cmd *exec.Cmd) error {
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", cmd.Args[0], err, bytes.TrimSpace(text))
	}
	return nil
}

func (c *config) command(args ...string) *exec.Cmd {
	args = append(strings.Fields(c.with), args...)
	return exec.Command(args[0], args[1:]...)
}

func (c *config) ours(program, out string) (*file.Recording, error) {
	cmd := c.command(program, "trace", c.prompt, "--model", c.model, "--threads", strconv.Itoa(c.threads), "--max-tokens", strconv.Itoa(c.tokens+1), "--temp", "0", "-o", out)
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("glassbox trace: %w: %s", err, bytes.TrimSpace(text))
	}
	return file.Read(out)
}

// run is what nodetimes.cpp prints of a run.
type run struct {
	Timed  bool    `json:"timed"`
	Passes []int64 `json:"passes"`
	Nodes  []node  `json:"nodes"`
}

type node struct {
	Name  string `json:"name"`
	Op    string `json:"op"`
	Nth   int    `json:"nth"` // of the nodes of this name and op in a pass
	Calls int    `json:"calls"`
	Ns    int64  `json:"ns"` // median
}

func (c *config) theirs(program string, rec *file.Recording) ([]run, error) {
	var ids strings.Builder
	for _, t := range rec.Request.PromptTokens {
		fmt.Fprintln(&ids, t.ID)
	}
	cmd := c.command(program, c.model, strconv.Itoa(c.threads), strconv.Itoa(c.tokens), "1")
	cmd.Stdin = strings.NewReader(ids.String())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("llama.cpp: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	return readRuns(text)
}

// readRuns reads the two lines: without and with the callback.
func readRuns(text []byte) ([]run, error) {
	var out []run
	for i, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		var r run
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("llama.cpp: line %d: %w", i+1, err)
		}
		if len(r.Passes) == 0 {
			return nil, fmt.Errorf("llama.cpp: line %d: wanted the times of passes, found none", i+1)
		}
		out = append(out, r)
	}
	if len(out) != 2 || out[0].Timed || !out[1].Timed || len(out[1].Nodes) == 0 {
		return nil, errors.New("llama.cpp: wanted a run without nodes and one with them")
	}
	return out, nil
}

func median(v []int64) int64 {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}

// decodePass is the median decode pass of a recording, ns.
func decodePass(rec *file.Recording) int64 {
	var v []int64
	for _, p := range rec.Passes {
		if p.Kind == "decode" {
			v = append(v, p.DurNs)
		}
	}
	if len(v) == 0 {
		return 0
	}
	return median(v)
}

func write(name string, rec *file.Recording) error {
	f, err := os.Create(name + ".part")
	if err != nil {
		return err
	}
	if err := errors.Join(file.WriteGBX(f, rec), f.Close()); err != nil {
		return err
	}
	return os.Rename(name+".part", name)
}
