package roof

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// memory is what is read: outside the Go heap and, as the weights are, in large pages where the system gives them.
type memory struct{ b []byte }

// newMemory maps n bytes and writes to every page: pages never written are one page of zeros, read from a cache.
func newMemory(n int) (*memory, error) {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("roof: wanted %d MiB of memory to read, found %v: close other programs", n>>20, err)
	}
	_ = unix.Madvise(b, unix.MADV_HUGEPAGE) // advice: it works without, only slower
	touch(b)
	return &memory{b}, nil
}

func (m *memory) free() { _ = unix.Munmap(m.b) }
