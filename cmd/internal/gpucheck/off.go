//go:build !cuda

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "gpucheck: this binary was built without CUDA; make gpu-check builds it with")
	os.Exit(1)
}
