//go:build unix

package gguf

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps a file that is not empty, read-only.
func mapFile(path string) ([]byte, func() error, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close() // the mapping outlives the descriptor
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	size := info.Size()
	if int64(int(size)) != size {
		return nil, nil, fmt.Errorf("%d bytes, too many to map", size)
	}
	data, err := unix.Mmap(int(file.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot map %d bytes: %w", size, err)
	}
	return data, func() error { return unix.Munmap(data) }, nil
}
