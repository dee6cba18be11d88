//go:build cuda

package main

import (
	"time"

	"glassbox/trace/file"
)

// copyRoof is what a recording says of the device's memory: bytes read and written each second by copies of n bytes
// within it, from rates in bytes a second, ascending. Arithmetic is not measured: no runs. An emulated device has no roof (nil).
func copyRoof(name string, n int64, rates []float64, emulated bool) *file.Roof {
	if emulated || len(rates) == 0 {
		return nil
	}
	last := len(rates) - 1
	s := file.Spread{Min: rates[0] / 1e9, Median: rates[len(rates)/2] / 1e9, Max: rates[last] / 1e9, Runs: len(rates), How: "copies within the device, read and written"}
	return &file.Roof{Machine: name, Threads: 1, Kernels: "copy", Measured: time.Now().UTC().Format(time.RFC3339), Reads: []file.ReadRoof{{Bytes: n, GBPerS: s}}}
}
