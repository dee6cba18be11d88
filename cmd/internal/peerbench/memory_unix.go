//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peakMemory is the resident set at its largest, from wait4(2): kilobytes on Linux, bytes on Darwin.
func peakMemory(s *os.ProcessState) int64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) * 1024
}
