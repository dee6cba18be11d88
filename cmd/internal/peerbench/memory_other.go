//go:build !unix

package main

import "os"

// peakMemory is not measured where there is no wait4(2).
func peakMemory(*os.ProcessState) int64 { return 0 }
