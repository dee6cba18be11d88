package gpu

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// smiFields are asked of nvidia-smi, in the order in which parseSMI reads them (nvidia-smi --help-query-gpu).
const smiFields = "index,name,driver_version,memory.total,clocks.max.sm,clocks.sm,clocks.mem,power.draw,temperature.gpu,memory.used,utilization.gpu"

// smiWait is how long nvidia-smi may take: it loads the driver where nothing else holds it.
const smiWait = 10 * time.Second

// fromSMI runs nvidia-smi.
func fromSMI(ctx context.Context) ([]Device, string) {
	path, err := exec.LookPath("nvidia-smi")
	if err != nil {
		return nil, "no nvidia-smi on this machine"
	}
	ctx, cancel := context.WithTimeout(ctx, smiWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--query-gpu="+smiFields, "--format=csv,noheader,nounits")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return nil, "nvidia-smi failed: " + smiError(err, out)
	}
	devices, bad := parseSMI(string(out))
	switch {
	case bad != "":
		return devices, fmt.Sprintf("nvidia-smi, without a line that has not its %d values: %q", strings.Count(smiFields, ",")+1, bad)
	case len(devices) == 0:
		return nil, "nvidia-smi lists no device"
	}
	return devices, "nvidia-smi"
}

// smiError is why it failed, in one line: it writes its reason to stdout or stderr, by version.
func smiError(err error, out []byte) string {
	text := string(out)
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		text = string(exit.Stderr)
	}
	if line, _, _ := strings.Cut(strings.TrimSpace(text), "\n"); line != "" {
		return clip(line)
	}
	return err.Error()
}

func clip(s string) string {
	if len(s) > 200 {
		return strings.ToValidUTF8(s[:200], "") + "..."
	}
	return s
}

// parseSMI reads lines of comma-separated values. Names hold no comma. bad is the first line that is none of a device.
func parseSMI(text string) (devices []Device, bad string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		f := strings.Split(line, ",")
		if len(f) != strings.Count(smiFields, ",")+1 {
			if bad == "" {
				bad = clip(line)
			}
			continue
		}
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		index, _ := strconv.Atoi(f[0])
		d := Device{Index: index, Name: f[1], Driver: f[2], State: State{SMMHz: said(f[5]), MemoryMHz: said(f[6]), PowerW: said(f[7]),
			TempC: said(f[8]), UsedMB: said(f[9]), Busy: said(f[10])}}
		if x := said(f[3]); x != nil {
			d.MemoryMB = *x
		}
		if x := said(f[4]); x != nil {
			d.MaxSMMHz = *x
		}
		devices = append(devices, d)
	}
	return devices, bad
}

// said reads a value; "[N/A]", "[Not Supported]" and the like are none.
func said(s string) *float64 {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || x < 0 || x > 1e12 || x != x {
		return nil
	}
	return &x
}
