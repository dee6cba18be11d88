//go:build !cuda || !linux

package gpu

// fromNVML has no library in this build.
func fromNVML() ([]Device, string) { return nil, "" }
