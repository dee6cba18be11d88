//go:build !unix

package gguf

import "os"

// mapFile reads a file into memory; mapping is only done on Unix systems.
func mapFile(path string) ([]byte, func() error, error) {
	data, err := os.ReadFile(path)
	return data, nil, err
}
