//go:build !linux

package roof

// memory is what is read.
type memory struct{ b []byte }

// newMemory makes n bytes and writes to every page: pages never written are one page of zeros, read from a cache.
func newMemory(n int) (*memory, error) {
	b := make([]byte, n)
	touch(b)
	return &memory{b}, nil
}

func (m *memory) free() { m.b = nil }
