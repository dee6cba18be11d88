//go:build !amd64 || purego

package kern

// builtVariants lists the variants: here only plain Go.
func builtVariants() []*kernels { return []*kernels{goKernels()} }

// ReadRoof has no kernel here and returns 0.
func ReadRoof(b []byte) int { return 0 }
