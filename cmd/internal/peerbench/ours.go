package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// local is what `glassbox bench-local --json` prints. Every list has one entry a repetition. Prefill and decode are timed
// apart and each from an empty cache, after one untimed run, as llama-bench does. With --trace each repetition decodes
// twice next to each other, untraced and traced, in alternating order; entry i of both lists is one such pair.
type local struct {
	Prefill      []float64 `json:"prefill_tokens_per_s"`
	Decode       []float64 `json:"decode_tokens_per_s"`
	DecodeTraced []float64 `json:"traced_decode_tokens_per_s"`
	WeightsBytes int64     `json:"weights_bytes"`     // that one decoded token reads
	Roof         float64   `json:"roof_gbps"`         // read bandwidth of this machine with these threads, 1e9 bytes/s
	Unexplained  float64   `json:"unexplained"`       // part of a traced decode pass that no op explains
	OpCost       []float64 `json:"op_recording_cost"` // % that timed passes take longer than untimed ones
	PeakRSS      int64     `json:"peak_rss"`          // bytes, by its own account
	Version      string    `json:"version"`
	Kernels      string    `json:"kernels"` // which instruction set was chosen
}

// build makes the binary that is measured, as a user would have it.
func build(dir string) (string, error) {
	out := filepath.Join(dir, "glassbox")
	cmd := exec.Command("go", "build", "-o", out, "./cmd/glassbox")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build ./cmd/glassbox: %w: %s", err, text)
	}
	return out, nil
}

// oursArgs are the arguments of one run on our side.
func (c config) oursArgs(repeat int, trace bool) []string {
	args := []string{"bench-local", "--model", c.Model, "--threads", strconv.Itoa(c.Threads), "--repeat", strconv.Itoa(repeat),
		"--prompt-tokens", strconv.Itoa(c.Prompt), "--output-tokens", strconv.Itoa(c.Output), "--json"}
	if trace {
		args = append(args, "--trace")
	}
	return args
}

func parseLocal(text string) (local, error) {
	var l local
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return l, fmt.Errorf("glassbox bench-local: wanted one JSON object on stdout: %w", err)
	}
	return l, nil
}
