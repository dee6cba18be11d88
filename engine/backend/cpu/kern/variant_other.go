//go:build !amd64 || purego

package kern

// builtVariants lists the variants: here only plain Go.
func builtVariants() []*Kernels { return []*Kernels{goKernels()} }

// ReadRoof has no kernel here and returns 0.
func ReadRoof(b []byte) int { return 0 }
