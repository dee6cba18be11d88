package main

import (
	"context"
	"os"

	"glassbox/engine/backend"
	"glassbox/engine/gpu"
	"glassbox/trace/file"
)

// deviceOf finds the engine's device among those that the driver lists; nil where there is none, or it cannot be told which.
func deviceOf(d backend.Device) *gpu.Device {
	if d.Kind != "cuda" {
		return nil
	}
	list, _ := gpu.Read(context.Background())
	var same []gpu.Device
	for _, g := range list {
		if g.Name == d.Name {
			same = append(same, g)
		}
	}
	if len(same) == 0 || len(same) > 1 && os.Getenv("CUDA_VISIBLE_DEVICES") != "" { // the driver counts those too that were hidden
		return nil
	}
	return &same[0]
}

// driverOf is the version of the device's driver, and of the interface to it.
func driverOf(d backend.Device) string {
	if g := deviceOf(d); g != nil {
		return "NVIDIA " + g.Driver + ", " + d.Driver
	}
	return d.Driver
}

// stateOf returns what tells the state of the engine's device; nil where it has no such state.
func stateOf(d backend.Device) func() *file.DeviceState {
	if d.Kind != "cuda" {
		return nil
	}
	return func() *file.DeviceState {
		g := deviceOf(d)
		if g == nil {
			return nil
		}
		s := g.State
		return &file.DeviceState{SMMHz: s.SMMHz, MemoryMHz: s.MemoryMHz, PowerW: s.PowerW, TempC: s.TempC, UsedMB: s.UsedMB}
	}
}
