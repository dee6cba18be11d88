//go:build !linux

package cpu

// memory is zeroed memory, here of the Go heap.
type memory struct{ b []byte }

// allocate takes n bytes. Large ones come from the system when they are first written.
func allocate(n int, _ bool) (*memory, error) { return &memory{b: make([]byte, n)}, nil }

// free lets the collector have the memory.
func (m *memory) free() error {
	if m != nil {
		m.b = nil
	}
	return nil
}
