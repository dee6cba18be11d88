// Package trace is the vocabulary that the engine, the recording and the tracer share: stages, steps, ops, kernels, the
// clock, and the Recorder that one traced request carries through the engine.
//
// A nil *Recorder is "tracing off": every method of it, and of the Writer and Mark it hands out, returns at once and
// allocates nothing, so the code that does the work calls them without asking.
//
// It imports the standard library only. It does not know about models, HTTP, files or pages.
package trace

import "time"

var epoch = time.Now()

// Now reads the monotonic clock: nanoseconds since the process began to trace. All spans of a process share it.
func Now() int64 { return int64(time.Since(epoch)) }

// Wall turns a reading of Now into wall-clock time.
func Wall(ns int64) time.Time { return epoch.Add(time.Duration(ns)) }

// At turns a time with a monotonic reading (time.Now) into the clock of Now.
func At(t time.Time) int64 { return int64(t.Sub(epoch)) }

// Resolution measures the smallest step of the clock in nanoseconds: the least non-zero difference of n readings.
func Resolution() int64 {
	least := int64(1 << 62)
	for i := 0; i < 2000; i++ {
		a := Now()
		b := Now()
		for b == a {
			b = Now()
		}
		least = min(least, b-a)
	}
	return least
}

// Stage is one of the four parts of a request's life.
type Stage uint8

// The four stages, in the order of the walk.
const (
	Receive Stage = iota
	Schedule
	Compute
	Deliver
)

// String returns the stage's name in a recording.
func (s Stage) String() string {
	return [...]string{"receive", "schedule", "compute", "deliver"}[s]
}

// Lane is a thread of execution: spans of one lane follow each other or nest, they never overlap by halves.
type Lane uint8

// The lanes of the engine.
const (
	LaneHTTP    Lane = iota // the goroutine that serves the request's connection
	LaneLoop                // the engine loop: scheduling, sampling, detokenizing
	LaneWorkers             // the worker threads, which run one op together at a time
	lanes
)

// String returns the lane's id in a recording.
func (l Lane) String() string { return [...]string{"http", "loop", "workers"}[l] }

// Title returns the lane's name on a page.
func (l Lane) Title() string { return [...]string{"HTTP goroutine", "Engine loop", "Workers"}[l] }

// Prov says where a number comes from.
type Prov uint8

// Provenances of a number.
const (
	Measured Prov = iota // read off a clock or a counter
	Derived              // computed from measured numbers
	Declared             // taken from a file or a vendor
)

// String returns the provenance's name in a recording.
func (p Prov) String() string { return [...]string{"measured", "derived", "declared"}[p] }
