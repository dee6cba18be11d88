package trace

import "sync"

// KernelID names the code that did an op's arithmetic, such as "mvQ4_1 avx512-vnni". Zero is "none recorded".
type KernelID uint16

var kernels = struct {
	sync.RWMutex
	names []string
	ids   map[string]KernelID
}{names: []string{""}, ids: map[string]KernelID{"": 0}}

// Kernel returns the id of a kernel's name, a new one when the name is new. Backends call it when they load a model,
// never in a pass.
func Kernel(name string) KernelID {
	kernels.Lock()
	defer kernels.Unlock()
	if id, ok := kernels.ids[name]; ok {
		return id
	}
	id := KernelID(len(kernels.names))
	kernels.names = append(kernels.names, name)
	kernels.ids[name] = id
	return id
}

// String returns the kernel's name.
func (k KernelID) String() string {
	kernels.RLock()
	defer kernels.RUnlock()
	if int(k) >= len(kernels.names) {
		return ""
	}
	return kernels.names[k]
}
