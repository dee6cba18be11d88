// Package builtin holds the model inside the binary: SmolLM2-135M-Instruct, Q4_1 (origin and licence beside this file).
//
// Only cmd/glassbox imports it, so that no other binary and no test carries the 98 MB; tests map the file instead.
//
// It does not know about the GGUF format or the engine: it is bytes with a name and a hash.
package builtin

import (
	_ "embed"
	"unsafe"
)

// Name is what the model is called on the command line and in /v1/models.
const Name = "smollm2-135m-instruct"

// Title is the model's name for people.
const Title = "SmolLM2-135M-Instruct"

// File is the base name of the embedded GGUF file.
const File = "SmolLM2-135M-Instruct.Q4_1.gguf"

// SHA256 is the hex hash of the model, checked by the test of this package, so that it need not be computed at start.
const SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

//go:embed SmolLM2-135M-Instruct.Q4_1.gguf
var model string

// Model returns the GGUF file as it was published, without a copy: it lies in the binary's read-only data, so a write
// to it faults.
func Model() []byte { return unsafe.Slice(unsafe.StringData(model), len(model)) }
