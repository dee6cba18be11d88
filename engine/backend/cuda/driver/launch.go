//go:build cuda

package driver

/*
int cuFuncSetAttribute(void* fn, int attr, int value);

*/
import "C"

import (
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"gorgonia.org/cu"
)

// Module is loaded PTX.
type Module struct {
	m      cu.Module
	params map[string][]int
}

// Load has the driver compile PTX for the device at hand.
func Load(name, ptx string) (*Module, error) {
	p, err := EntryParams(ptx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	m, err := cu.LoadData(ptx)
	if err != nil {
		return nil, fmt.Errorf("%s: the driver refuses the PTX: %w", name, err)
	}
	return &Module{m, p}, nil
}

// Kernel is an entry point with the sizes of its parameters.
type Kernel struct {
	Name   string
	fn     cu.Function
	params []int
	shared int // most dynamic shared memory it may be given
}

// Kernel finds an entry.
func (m *Module) Kernel(name string) (*Kernel, error) {
	p, ok := m.params[name]
	if !ok {
		return nil, fmt.Errorf("kernel %s: wanted an entry of the PTX, found none of that name", name)
	}
	for i, n := range p {
		if n > 8 { // gorgonia.org/cu copies 8 bytes an argument
			return nil, fmt.Errorf("kernel %s: parameter %d has %d bytes, at most 8", name, i, n)
		}
	}
	fn, err := m.m.Function(name)
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", name, err)
	}
	return &Kernel{name, fn, p, 48 << 10}, nil
}

// Entries returns the names and parameter sizes of the module.
func (m *Module) Entries() map[string][]int { return m.params }

// Shape is a launch: blocks, threads a block, bytes of dynamic shared memory.
type Shape struct {
	Grid   [3]int
	Block  int
	Shared int
}

// Launch puts a run of the kernel into the stream. Number and sizes of args are checked against the PTX. Allowed types: Ptr,
// int (as int32), int32, uint32, float32, int64, uint64, float64.
func (k *Kernel) Launch(st Stream, c Shape, args ...any) error {
	if len(args) != len(k.params) {
		return fmt.Errorf("kernel %s: %d arguments, %d expected", k.Name, len(args), len(k.params))
	}
	if c.Shared > k.shared {
		// CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
		if r := C.cuFuncSetAttribute(*(*unsafe.Pointer)(unsafe.Pointer(&k.fn)), 8, C.int(c.Shared)); r != 0 {
			return fmt.Errorf("kernel %s: %d bytes of shared memory: %w", k.Name, c.Shared, Error(r))
		}
		k.shared = c.Shared
	}
	// Slots of 8 bytes: gorgonia.org/cu reads 8 bytes from every pointer it is given.
	var slot [20]uint64
	var ptr [20]unsafe.Pointer
	if len(args) > len(slot) {
		return fmt.Errorf("kernel %s: %d arguments, at most %d", k.Name, len(args), len(slot))
	}
	for i, a := range args {
		v, n, ok := bits(a)
		if !ok {
			return fmt.Errorf("kernel %s: argument %d has type %T", k.Name, i, a)
		}
		if n != k.params[i] {
			return fmt.Errorf("kernel %s: argument %d (%T) has %d bytes, the PTX says %d", k.Name, i, a, n, k.params[i])
		}
		slot[i], ptr[i] = v, unsafe.Pointer(&slot[i])
	}
	err := k.fn.Launch(c.Grid[0], max(c.Grid[1], 1), max(c.Grid[2], 1), c.Block, 1, 1, c.Shared, st.Stream, ptr[:len(args)])
	runtime.KeepAlive(&slot)
	if err != nil {
		return fmt.Errorf("kernel %s: %w", k.Name, err)
	}
	return nil
}

// bits returns an argument as the kernel reads it, and its size.
func bits(a any) (v uint64, size int, ok bool) {
	switch x := a.(type) {
	case Ptr:
		return uint64(x), 8, true
	case int:
		return uint64(uint32(int32(x))), 4, int(int32(x)) == x
	case int32:
		return uint64(uint32(x)), 4, true
	case uint32:
		return uint64(x), 4, true
	case float32:
		return uint64(math.Float32bits(x)), 4, true
	case int64:
		return uint64(x), 8, true
	case uint64:
		return x, 8, true
	case float64:
		return math.Float64bits(x), 8, true
	}
	return 0, 0, false
}
