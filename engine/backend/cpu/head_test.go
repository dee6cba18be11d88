package cpu

import (
	"testing"

	"glassbox/engine/backend"
	"glassbox/engine/backend/backendtest"
	"glassbox/engine/testmodel"
)

func TestHeadIsThatOfAPass(t *testing.T) {
	ids := make([]int32, 19)
	for i := range ids {
		ids[i] = int32(i * 977 % 49152)
	}
	m := testmodel.Builtin(t)
	for _, chunk := range []int{1, 5, 19} {
		backendtest.HeadBits(t, m, Open, backend.Options{Threads: 2}, ids, chunk)
	}
}
