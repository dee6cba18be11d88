package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"glassbox/engine/spec"
)

// checkFlags refuses values that no model and no machine could take, before anything is opened: they are wrong usage.
// What depends on the model, such as its context, is refused when it is known.
func (c *traceCmd) checkFlags() error {
	for _, f := range []struct {
		name      string
		v         float64
		low, high float64
	}{
		{"max-tokens", float64(c.MaxTokens), 1, math.MaxInt32}, {"temp", c.Temp, 0, 2}, {"top-k", float64(c.TopK), 0, math.MaxInt32},
		{"top-p", c.TopP, 0, 1}, {"min-p", c.MinP, 0, 1}, {"repeat-penalty", c.RepeatPenalty, math.SmallestNonzeroFloat64, 100},
		{"logprobs", float64(c.Logprobs), 0, 20}, {"beside", float64(c.Beside), 0, 64},
	} {
		if !(f.v >= f.low && f.v <= f.high) { // also of what is no number
			return &usageError{fmt.Sprintf("--%s: wanted %s, found %v", f.name, span(f.low, f.high), f.v)}
		}
	}
	if c.Seed > math.MaxInt64 {
		return &usageError{fmt.Sprintf("--seed: wanted 0 to %d, found %d", math.MaxInt64, c.Seed)}
	}
	return c.checkOut()
}

// span says a range in words.
func span(low, high float64) string {
	switch {
	case low == math.SmallestNonzeroFloat64:
		return fmt.Sprintf("more than 0, up to %v", high)
	case high == math.MaxInt32:
		return fmt.Sprintf("%v or more", low)
	}
	return fmt.Sprintf("%v to %v", low, high)
}

// checkOut refuses a place where the recording could not be written, before anything is computed.
func (c *traceCmd) checkOut() error {
	if c.Out == "" {
		return nil
	}
	if ext := filepath.Ext(c.Out); ext != ".gbx" && ext != ".json" {
		return &usageError{fmt.Sprintf("-o %s: wanted a name that ends in .gbx or .json", c.Out)}
	}
	dir := filepath.Dir(c.Out)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("-o %s: wanted an existing folder, found none called %s", c.Out, dir)
	}
	if info, err := os.Stat(c.Out); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("-o %s: wanted the name of a file, found something else that has it: choose another", c.Out)
	}
	probe, err := os.CreateTemp(dir, ".glassbox-*.part")
	if err != nil {
		return fmt.Errorf("-o %s: wanted a folder that can be written to: %w", c.Out, err)
	}
	probe.Close()
	return os.Remove(probe.Name())
}

// kernels are the names that --cpu-features takes; which of them this machine has, the engine knows.
var kernels = []string{"amx-bf16", "avx512-vnni", "avx2", "generic"}

// check refuses values that no machine could take.
func (f *engineFlags) check() error {
	for _, n := range []struct {
		name string
		v    int
		high int
	}{{"threads", f.Threads, 1024}, {"slots", f.Slots, 1024}, {"context", f.Context, math.MaxInt32}, {"chunk", f.Chunk, 1 << 16}, {"draft-tokens", f.DraftTokens, spec.MaxTokens}, {"shards", f.Shards, 1024}} {
		if n.v < 0 || n.v > n.high {
			return &usageError{fmt.Sprintf("--%s: wanted %s (0 leaves the choice to the engine), found %d", n.name, span(0, float64(n.high)), n.v)}
		}
	}
	if f.CPUFeatures != "" && !slices.Contains(kernels, f.CPUFeatures) {
		return &usageError{fmt.Sprintf("--cpu-features: wanted one of %s, found %q", strings.Join(kernels, ", "), f.CPUFeatures)}
	}
	if draftKind(f.Draft) == spec.ByModel && f.Draft != "builtin" && filepath.Ext(f.Draft) != ".gguf" {
		return &usageError{fmt.Sprintf("--draft: wanted %s, %s, builtin or a file FILE.gguf, found %q", spec.Off, spec.Ngram, f.Draft)}
	}
	return nil
}
