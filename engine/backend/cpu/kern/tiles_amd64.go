//go:build amd64 && !linux && !purego

package kern

// hasTiles is false: how to ask for tile registers is known for Linux only.
func hasTiles() bool { return false }
