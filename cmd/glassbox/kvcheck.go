package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"glassbox/engine"
	"glassbox/engine/builtin"
	"glassbox/engine/gguf"
)

// kvcheckCmd shows what each number format of the KV cache costs in quality, and what it takes.
type kvcheckCmd struct {
	Model       string   `default:"builtin" placeholder:"FILE.gguf" help:"Model file, or builtin: the one inside the binary."`
	Backend     string   `default:"cpu" enum:"cpu,ref" help:"What computes: cpu, or ref (plain Go, the slow truth)."`
	Threads     int      `placeholder:"N" help:"Worker threads; one a core by default."`
	CPUFeatures string   `name:"cpu-features" placeholder:"NAME" help:"Use these kernels instead of the best."`
	Text        string   `placeholder:"FILE" type:"existingfile" help:"Read this text instead of our own."`
	Tokens      int      `default:"512" placeholder:"N" help:"Most tokens of it."`
	Types       []string `placeholder:"TYPE,…" help:"Formats to compare with f16, as --kv-type takes them; by default all that fit the model."`
	JSON        bool     `name:"json" help:"Print JSON."`
}

// Run compares the formats and prints a table.
func (c *kvcheckCmd) Run() error {
	f, name, err := c.file()
	if err != nil {
		return err
	}
	defer f.Close()
	text := engine.KVText
	if c.Text != "" {
		b, err := os.ReadFile(c.Text)
		if err != nil {
			return err
		}
		text = string(b)
	}
	if len(c.Types) == 0 {
		if c.Types, err = engine.KVTypes(f); err != nil {
			return err
		}
	}
	rows, err := engine.KVCheck(f, engine.Options{Backend: c.Backend, Threads: c.Threads, Features: c.CPUFeatures}, text, c.Types, c.Tokens)
	if err != nil {
		return err
	}
	if c.JSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{"model": name, "backend": c.Backend, "base": "f16", "types": rows})
	}
	fmt.Printf("%s, backend %s, %d positions; each next token compared with that of an f16 cache\n", name, c.Backend, rows[0].Positions)
	fmt.Printf("%-10s %14s %12s %12s %9s %11s\n", "kv-type", "bytes a token", "mean KL", "max KL", "same top", "perplexity")
	for _, r := range rows {
		fmt.Printf("%-10s %14d %12.2e %12.2e %8.1f%% %11.3f\n", r.Type, r.BytesPerToken, r.MeanKL, r.MaxKL, 100*r.SameTop, r.Perplexity)
	}
	return nil
}

func (c *kvcheckCmd) file() (*gguf.File, string, error) {
	if strings.EqualFold(c.Model, "builtin") {
		f, err := gguf.Parse(builtin.File, builtin.Model())
		return f, builtin.Title, err
	}
	f, err := gguf.Open(c.Model)
	return f, c.Model, err
}
