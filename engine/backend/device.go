package backend

import (
	"os"
	"runtime"
	"strings"
)

// CPUName returns the processor's name as the system tells it, or the architecture where it does not.
func CPUName() string {
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for _, line := range strings.Split(string(b), "\n") {
			if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
				return strings.TrimSpace(v)
			}
		}
	}
	return runtime.GOARCH
}
