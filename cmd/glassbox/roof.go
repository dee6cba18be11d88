package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"

	"glassbox/engine/backend"
	"glassbox/engine/backend/cpu/kern"
	"glassbox/engine/roof"
	"glassbox/trace/file"
)

// roofCmd measures the machine, keeps the result, and prints it.
type roofCmd struct {
	Threads     int    `placeholder:"N" help:"Threads that work together; one a core by default, as the engine's."`
	CPUFeatures string `name:"cpu-features" placeholder:"NAME" help:"Kernels of the engine that the result is for: amx-bf16, avx512-vnni, avx2 or generic."`
	Cached      bool   `help:"Print what was measured before, and measure nothing."`
	JSON        bool   `name:"json" help:"Print JSON."`
}

// Run measures unless asked not to. Recordings made afterwards on this machine carry the result.
func (c *roofCmd) Run(ctx context.Context) error {
	k, err := kern.Select(c.CPUFeatures)
	if err != nil {
		return &usageError{err.Error()}
	}
	path, err := roof.Path()
	if err != nil {
		return err
	}
	o := roof.Options{Machine: backend.CPUName(), Threads: cmp.Or(c.Threads, runtime.NumCPU()), Kernels: k.Variant(),
		Progress: func(what string) { fmt.Fprintln(os.Stderr, "glassbox:", what) }}
	var r *file.Roof
	if c.Cached {
		if r, err = roof.Load(path, o.Machine, o.Threads, o.Kernels); err != nil {
			return err
		}
		if r == nil {
			return fmt.Errorf("roof: nothing was measured on %s with %d threads and %s kernels: run glassbox roof", o.Machine, o.Threads, o.Kernels)
		}
	} else {
		if r, err = roof.Measure(ctx, o); err != nil {
			return err
		}
		if err := roof.Save(path, r); err != nil {
			return err
		}
	}
	if c.JSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	printRoof(r)
	fmt.Printf("kept in %s; recordings made from now on with %d threads and these kernels carry it\n", path, r.Threads)
	return nil
}

func printRoof(r *file.Roof) {
	fmt.Printf("%s, %d threads, %s kernels, measured %s\n\n", r.Machine, r.Threads, r.Kernels, r.Measured)
	fmt.Printf("%-34s %10s %10s %10s  %s\n", "", "least", "median", "most", "how")
	line := func(what string, s file.Spread) {
		fmt.Printf("%-34s %10.1f %10.1f %10.1f  %s, %d runs\n", what, s.Min, s.Median, s.Max, s.How, s.Runs)
	}
	for _, p := range r.Reads {
		line(fmt.Sprintf("read %d MiB again and again, GB/s", p.Bytes>>20), p.GBPerS)
	}
	line("8-bit integers, 10^9 ops/s", r.Int8)
	line("32-bit floats, 10^9 ops/s", r.Float32)
	fmt.Println()
}

// knownRoof is what was measured on this machine for a device, nil if nothing was: a recording then says so.
func knownRoof(d backend.Device) *file.Roof {
	path, err := roof.Path()
	if err != nil || d.Kind != "cpu" || len(d.Features) == 0 {
		return nil
	}
	r, err := roof.Load(path, d.Name, d.Threads, d.Features[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, "glassbox: warning:", err)
	}
	return r
}
