package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"glassbox/cmd/internal/bench"
	"glassbox/cmd/internal/bench/report"
	"glassbox/web"
)

// Delete implements web.Benches. Only files that a run of this name was written to are removed, the JSON last: as long as it is
// there the run is listed, and can be deleted again where a file could not be.
func (b *benches) Delete(name string) error {
	if name == "" || name != filepath.Base(name) || strings.HasPrefix(name, ".") || strings.ContainsAny(name, `/\:`) {
		return fs.ErrNotExist
	}
	path := filepath.Join(b.dir, name)
	info, err := os.Lstat(path + ".json")
	if err != nil || !info.Mode().IsRegular() {
		return fs.ErrNotExist
	}
	if _, err := report.Read(path + ".json"); err != nil {
		return fmt.Errorf("%s.json is no run of glassbox bench, so it is left alone", name)
	}
	for _, ext := range []string{".html", ".csv", ".md", ".json"} {
		if err := os.Remove(path + ext); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s%s: %w", name, ext, errors.Unwrap(err)) // without the folder's path
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.st.Kept == name {
		b.st.Kept = ""
	}
	return nil
}

func kneeText(r *bench.Result) string {
	k := r.Summary.Knee
	if k == nil {
		return ""
	}
	text := fmt.Sprintf("Knee: %d at a time, %.4g output tok/s, median e2e %.4g ms", k.Concurrency, k.OutputRate, k.E2E)
	if k.Note != "" {
		text += " (" + k.Note + ")"
	}
	return sentence(text)
}

// goodput finds for each service level the load that met it best. Where nobody chose limits it is left to the report.
func goodput(r *bench.Result) []web.BenchGood {
	if slices.Equal(r.Config.SLO, bench.Presets) {
		return nil
	}
	var out []web.BenchGood
	for i, slo := range r.Config.SLO {
		best := web.BenchGood{Limits: slo.Name}
		for _, v := range r.Summary.Levels {
			if i >= len(v.Goodput) || v.Goodput[i].Rate == nil || v.Goodput[i].Share == nil {
				continue
			}
			if g := v.Goodput[i]; best.Rate == nil || *g.Rate > *best.Rate {
				best.Rate, best.Share, best.With = g.Rate, *g.Share, loadName(&v)
			}
		}
		out = append(out, best)
	}
	return out
}

func loadName(v *bench.Level) string {
	if v.Loop == "open" {
		return fmt.Sprintf("%g requests/s", v.Rate)
	}
	return fmt.Sprintf("%d at a time", v.Concurrency)
}
