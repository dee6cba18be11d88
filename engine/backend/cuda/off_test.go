//go:build !cuda

package cuda

import (
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/backend"
)

func TestWithoutTheTagOpenSaysHowToBuildIt(t *testing.T) {
	_, err := Open(nil, backend.Options{})
	require.EqualError(t, err, "cuda: this binary was built without CUDA: build one with make glassbox-cuda (docs/cuda.md), or choose --backend cpu")
}
