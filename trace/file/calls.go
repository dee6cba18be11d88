package file

import (
	"fmt"
	"slices"

	"glassbox/trace"
)

// Call is one call to the driver of a device in a pass: when the host made it, and when the device did what it asked for.
type Call struct {
	What    string   `json:"what"` // launch, upload, download, copy, sum or wait
	API     string   `json:"api"`  // the driver's function
	Pass    int      `json:"pass"`
	Span    string   `json:"span,omitempty"` // id of the op it was made for
	Kernel  string   `json:"kernel,omitempty"`
	StartNs int64    `json:"start_ns"`         // on the host
	DurNs   int64    `json:"dur_ns"`           // on the host: until the call returned
	Device  *OnClock `json:"device,omitempty"` // nil: it has no time of its own on the device
	Bytes   int64    `json:"bytes,omitempty"`  // of a copy
	Grid    []int    `json:"grid,omitempty"`   // of a launch: blocks in x, y and z
	Threads int      `json:"threads,omitempty"`
}

// OnClock is an interval on a device, told on the recording's clock.
type OnClock struct {
	StartNs int64 `json:"start_ns"`
	DurNs   int64 `json:"dur_ns"`
}

// Clocks tells how well a device's clock was tied to the host's in a pass.
type Clocks struct {
	ResidualNs int64 `json:"residual_ns"` // by which times on the device may be off
	DriftNs    int64 `json:"drift_ns"`    // what the host's clock counted more from the pass's start to its end
}

// calls takes in the calls of a pass; ops are its spans, in order.
func (b *Builder) calls(p *trace.PassOps, ops []Span) {
	for i := range p.Calls {
		c := &p.Calls[i]
		at := Span{}
		b.place(&at, c.Start, c.Dur)
		o := Call{What: c.Kind.String(), API: c.API, Pass: p.Index, Kernel: b.kernel(c.Kernel), StartNs: at.StartNs, DurNs: at.DurNs, Bytes: c.Bytes}
		if int(c.Op) >= 0 && int(c.Op) < len(ops) {
			o.Span = ops[c.Op].ID
		}
		if c.Took > 0 {
			b.place(&at, c.Began, c.Took)
			o.Device = &OnClock{at.StartNs, at.DurNs}
		}
		if c.Kind == trace.CallLaunch {
			o.Grid, o.Threads = []int{int(c.Grid[0]), int(c.Grid[1]), int(c.Grid[2])}, int(c.Threads)
		}
		b.out.Calls = append(b.out.Calls, o)
	}
}

var calls = []string{"launch", "upload", "download", "copy", "sum", "wait"}

// validateCalls checks calls and the clocks of passes.
func validateCalls(rec *Recording) error {
	bad := func(ns int64) bool { return ns < 0 || ns > longest }
	for i := range rec.Calls {
		c := &rec.Calls[i]
		if !slices.Contains(calls, c.What) || c.Pass < 0 || c.Bytes < 0 {
			return fmt.Errorf("calls[%d]: wanted one of %v, a pass and bytes of 0 or more, found %.80q, %d and %d", i, calls, c.What, c.Pass, c.Bytes)
		}
		if bad(c.StartNs) || bad(c.DurNs) || c.Device != nil && (bad(c.Device.StartNs) || bad(c.Device.DurNs)) {
			return fmt.Errorf("calls[%d] (%.80q): start_ns and dur_ns: wanted 0 or more, found %d for %d and %+v", i, c.API, c.StartNs, c.DurNs, c.Device)
		}
	}
	for i, p := range rec.Passes {
		if p.Clocks != nil && bad(p.Clocks.ResidualNs) {
			return fmt.Errorf("passes[%d].clocks: wanted a residual_ns of 0 or more, found %d", i, p.Clocks.ResidualNs)
		}
	}
	return nil
}
