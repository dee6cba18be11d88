//go:build race

package kern

// The race detector makes plain Go some thirty times slower, and has nothing to find in arithmetic: small shapes do.
func init() { mulShapes, mulMost = mulShapes[4:], 9 }
