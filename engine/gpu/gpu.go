// Package gpu asks the driver which NVIDIA devices this machine has and what state they are in: clocks, power, temperature
// and memory. Built with the tag cuda it asks NVML (NVIDIA Management Library) through go-nvml; otherwise, and where that
// library cannot be loaded, the program nvidia-smi, which comes with every driver.
//
// It does not know about backends, models, benchmarks, or how a device is shown. It changes no setting of a device.
package gpu

import "context"

// Device is a GPU as its driver describes it.
type Device struct {
	Index    int
	Name     string
	Driver   string  // version
	MemoryMB float64 // MiB in all; 0 = not said
	MaxSMMHz float64 // highest clock of the multiprocessors; 0 = not said
	State    State
}

// State is what changes while a device works. nil = the driver does not say.
type State struct {
	SMMHz     *float64 // clock of the multiprocessors
	MemoryMHz *float64 // clock of the memory
	PowerW    *float64
	TempC     *float64
	UsedMB    *float64 // MiB of memory in use, by all processes
	Busy      *float64 // per cent of the last moments in which a kernel ran
}

// Read lists the devices and says who told. An empty list comes with the reason as the source.
func Read(ctx context.Context) (devices []Device, source string) {
	if devices, source = fromNVML(); source != "" {
		return devices, source
	}
	return fromSMI(ctx)
}
