// Package kernels carries the CUDA kernels: CUDA C++ in .cu files, one a family of ops, compiled to PTX (ptx.sh, make cuda)
// and embedded.
//
// It does not know about drivers or devices, nor about who launches the kernels.
package kernels

import "embed"

// PTX are the compiled kernels: ptx/NAME.ptx for each NAME.cu.
//
//go:embed ptx/*.ptx
var PTX embed.FS
