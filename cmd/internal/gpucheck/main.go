//go:build cuda

package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"glassbox/engine/backend/cuda/driver"
	"glassbox/engine/gpu"
	"glassbox/engine/tensor"
)

// report is the JSON that is written. Of an emulated device it holds no times.
type report struct {
	Device   driver.Info        `json:"device"`
	Emulated bool               `json:"emulated"`
	Source   string             `json:"state_from"` // who told the states: NVML or nvidia-smi, or why nobody did
	Before   []gpu.Device       `json:"before"`
	After    []gpu.Device       `json:"after"`
	Copy     float64            `json:"copy_bytes_per_s"` // read and written; 0 = not measured
	Cosine   map[string]float64 `json:"least_cosine_to_reference"`
	Results  []result           `json:"results"`
	WallNs   int64              `json:"wall_ns"`
}

func main() {
	small := flag.Bool("small", false, "small shapes: for the emulated driver")
	out := flag.String("out", ".", "folder for gpu-check.json and gpu-check.txt")
	flag.Parse()
	if err := run(*small, *out); err != nil {
		fmt.Fprintln(os.Stderr, "gpucheck:", err)
		os.Exit(1)
	}
}

func run(small bool, out string) error {
	start := time.Now()
	p := fullPlan
	if small {
		p = smallPlan
	}
	d, err := driver.Open(0)
	if err != nil {
		return err
	}
	rep := report{Device: d.Info, Emulated: d.Name == "Emulated device", Cosine: map[string]float64{}}
	if err := d.Close(); err != nil {
		return err
	}
	if !rep.Emulated {
		rep.Before, rep.Source = gpu.Read(context.Background())
	}
	rates, err := copyBandwidth(p.Copy)
	if err != nil {
		return err
	}
	roof := copyRoof(rep.Device.Name, p.Copy, rates, rep.Emulated)
	if roof != nil {
		rep.Copy = rates[len(rates)-1]
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	fill := newFiller()
	for _, ty := range []tensor.Type{tensor.Q4_K, tensor.Q8_0, tensor.Q6_K} {
		if rep.Cosine[ty.String()], err = correct(fill, ty, shape{2, 512, 1024, 8, 2, 64, 1024}); err != nil {
			return err
		}
	}
	for _, ty := range []tensor.Type{tensor.Q4_K, tensor.Q8_0} {
		r, err := measure(fill, ty, p, roof, out)
		if err != nil {
			return fmt.Errorf("%v: %w", ty, err)
		}
		if rep.Emulated {
			r.forget()
		}
		rep.Results = append(rep.Results, r)
	}
	if !rep.Emulated {
		rep.After, _ = gpu.Read(context.Background())
		rep.WallNs = time.Since(start).Nanoseconds()
	}
	return rep.write(out)
}

// forget removes times: what an emulated device takes means nothing.
func (r *result) forget() {
	r.LoadNs, r.PrefillNs, r.TracedNs, r.ResidualNs, r.DriftNs = 0, 0, 0, 0, 0
	for i := range r.Decode {
		r.Decode[i].Ns, r.Decode[i].LeastNs, r.Decode[i].Share = 0, 0, 0
	}
	for i := range r.Ops {
		r.Ops[i].Ns = 0
	}
	slices.SortFunc(r.Ops, func(a, b opTime) int { return strings.Compare(a.Op, b.Op) }) // their order told which was longer
}

func (rep *report) write(out string) error {
	js, err := json.MarshalIndent(rep, "", " ")
	if err != nil {
		return err
	}
	text := rep.table()
	fmt.Print(text)
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "gpu-check.json"), append(js, '\n'), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "gpu-check.txt"), []byte(text), 0o644)
}

// ms and rate print a number, or that it was not measured.
func ms(ns int64) string {
	if ns == 0 {
		return "not measured"
	}
	return fmt.Sprintf("%.3f ms", float64(ns)/1e6)
}

func rate(n, ns int64, unit float64, name string) string {
	if ns == 0 {
		return "not measured"
	}
	return fmt.Sprintf("%.1f %s", float64(n)/float64(ns)*1e9/unit, name)
}

func (rep *report) table() string {
	var b strings.Builder
	line := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	line("%s, sm_%d%d, driver for CUDA %s, %d MiB, %d SMs", rep.Device.Name, rep.Device.Major, rep.Device.Minor, rep.Device.Driver, rep.Device.Memory>>20, rep.Device.SMs)
	if rep.Emulated {
		line("an emulated device: its numbers are right, its times mean nothing and are left out")
	}
	if rep.Copy > 0 {
		line("copy within the device: %.1f GB/s read and written", rep.Copy/1e9)
	} else {
		line("copy within the device: not measured")
	}
	for ty, c := range rep.Cosine {
		line("small model in %s: least cosine to the reference %.6f; alone = beside another, bit for bit", ty, c)
	}
	for _, r := range rep.Results {
		line("\n%s, %d layers x %d, weights %.2f GB a pass, loaded in %s", r.Format, r.Shape.Layers, r.Shape.Width, float64(r.WeightBytes)/1e9, ms(r.LoadNs))
		line("prefill of %d: %s, %s", r.Prompt, ms(r.PrefillNs), rate(int64(r.Prompt), r.PrefillNs, 1, "tokens/s"))
		for _, d := range r.Decode {
			share := ""
			if d.Share > 0 {
				share = fmt.Sprintf(", %.1f %% of copy", 100*d.Share)
			}
			line("decode x %-2d: %s a pass, %s, %s%s", d.Sequences, ms(d.Ns), rate(int64(d.Sequences), d.Ns, 1, "tokens/s"), rate(d.Bytes, d.Ns, 1e9, "GB/s"), share)
		}
		line("traced decode x 1, a kernel an op with events: %s; clocks: residual %s, drift %s", ms(r.TracedNs), ms(r.ResidualNs), ms(r.DriftNs))
		line("%-16s %-22s %5s %14s %14s", "op", "kernel", "count", "time", "rate")
		for _, o := range r.Ops {
			line("%-16s %-22s %5d %14s %14s", o.Op, o.Kernel, o.Count, ms(o.Ns), rate(o.Bytes, o.Ns, 1e9, "GB/s"))
		}
	}
	return b.String()
}
