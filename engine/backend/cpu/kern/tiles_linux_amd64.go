//go:build !purego

package kern

import (
	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"
)

// hasTiles asks the system for the tile registers, once for the whole process: each thread has 8 KiB of them, which Linux
// saves only for programs that asked. It must allow both their data and, to signals, the room they take on the stack.
func hasTiles() bool {
	if !cpu.X86.HasAMXTile || !cpu.X86.HasAMXBF16 {
		return false
	}
	const request, tileData = 0x1023, 18 // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILE_DATA: asm/prctl.h
	_, _, err := unix.RawSyscall(unix.SYS_ARCH_PRCTL, request, tileData, 0)
	return err == 0
}
