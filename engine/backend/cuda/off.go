//go:build !cuda

package cuda

import (
	"errors"

	"glassbox/engine/backend"
	"glassbox/engine/graph"
)

// Open says how to get a binary that has this backend.
func Open(*graph.Graph, backend.Options) (backend.Backend, error) {
	return nil, errors.New("cuda: this binary was built without CUDA: build one with make glassbox-cuda (docs/cuda.md), or choose --backend cpu")
}
