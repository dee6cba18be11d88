package cpu

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size of a large page on the common architectures.
const hugePage = 2 << 20

// memory is zeroed memory outside the Go heap, which the collector neither scans nor moves.
type memory struct {
	b      []byte
	mapped []byte
}

// allocate maps n bytes. With huge, large ones are asked for before the first touch: a matrix read from end to end then
// misses the TLB 512 times less often. The system takes pages as they are first written.
func allocate(n int, huge bool) (*memory, error) {
	size := (n+hugePage-1)/hugePage*hugePage + hugePage
	m, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("cpu: wanted %d MiB of memory, found %v: choose a smaller model, context or number of slots", size>>20, err)
	}
	off := int(-uintptr(unsafe.Pointer(&m[0])) & (hugePage - 1)) // align by hand: older kernels do not
	if huge {
		_ = unix.Madvise(m[off:off+size-hugePage], unix.MADV_HUGEPAGE) // advice: it works without, only slower
	}
	return &memory{b: m[off : off+n : off+n], mapped: m}, nil
}

// free gives the memory back. Nothing may use it any more.
func (m *memory) free() error {
	if m == nil || m.mapped == nil {
		return nil
	}
	err := unix.Munmap(m.mapped)
	m.b, m.mapped = nil, nil
	return err
}
