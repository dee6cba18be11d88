//go:build cuda && linux

package gpu

import (
	"sync"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// started loads the library once for the life of the process; it is a few handles, and nothing is ever set.
var started = sync.OnceValue(nvml.Init)

// fromNVML asks the library. An empty source means that it is not there, so that nvidia-smi is asked.
func fromNVML() ([]Device, string) {
	if started() != nvml.SUCCESS {
		return nil, ""
	}
	count, ret := nvml.DeviceGetCount()
	if ret != nvml.SUCCESS {
		return nil, ""
	}
	driver, _ := nvml.SystemGetDriverVersion()
	var out []Device
	for i := range count {
		h, ret := nvml.DeviceGetHandleByIndex(i)
		if ret != nvml.SUCCESS {
			continue // a device that has fallen off the bus
		}
		out = append(out, describe(i, driver, h))
	}
	if len(out) == 0 {
		return nil, ""
	}
	return out, "NVML"
}

// describe reads a device. What the driver does not say stays nil or 0.
func describe(i int, driver string, h nvml.Device) Device {
	d := Device{Index: i, Driver: driver}
	d.Name, _ = h.GetName()
	if m, ret := h.GetMemoryInfo(); ret == nvml.SUCCESS {
		d.MemoryMB = float64(m.Total) / (1 << 20)
		d.State.UsedMB = value(float64(m.Used)/(1<<20), ret)
	}
	if x, ret := h.GetMaxClockInfo(nvml.CLOCK_SM); ret == nvml.SUCCESS {
		d.MaxSMMHz = float64(x)
	}
	mhz := func(of nvml.ClockType) *float64 {
		x, ret := h.GetClockInfo(of)
		return value(float64(x), ret)
	}
	d.State.SMMHz, d.State.MemoryMHz = mhz(nvml.CLOCK_SM), mhz(nvml.CLOCK_MEM)
	milliwatts, ret := h.GetPowerUsage()
	d.State.PowerW = value(float64(milliwatts)/1000, ret)
	degrees, ret := h.GetTemperature(nvml.TEMPERATURE_GPU)
	d.State.TempC = value(float64(degrees), ret)
	busy, ret := h.GetUtilizationRates()
	d.State.Busy = value(float64(busy.Gpu), ret)
	return d
}

func value(x float64, ret nvml.Return) *float64 {
	if ret != nvml.SUCCESS {
		return nil
	}
	return &x
}
