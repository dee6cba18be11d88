package cpu

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/backend/cpu/kern"
)

// TestTeam: nobody passes a barrier before all have come, with spinning and with parking; shares hand every piece out once.
func TestTeam(t *testing.T) {
	for _, v := range kern.Features() {
		k, err := kern.Select(v)
		require.NoError(t, err)
		for _, n := range []int{1, 2, 4} {
			for _, spins := range []int{0, 200} {
				tm := newTeam(k, n)
				for _, b := range []*barrier{tm.bar, tm.gate} {
					require.Equal(t, int32(n), b.n)
				}
				tm.bar.spins = spins
				plain := make([]int, n) // no atomics: the barrier must order them
				var s share
				var got, wrong atomic.Int64
				for round := range 100 {
					s.next.Store(0)
					tm.run(func(w int) {
						plain[w]++
						tm.bar.wait()
						sum := 0
						for _, v := range plain {
							sum += v
						}
						if sum != n*(round+1) {
							wrong.Add(1)
						}
						for a, b := s.take(1000, n, 3); a < b; a, b = s.take(1000, n, 3) {
							got.Add(int64(b - a))
						}
						tm.bar.wait()
					})
				}
				tm.close()
				require.Zero(t, wrong.Load())
				require.Equal(t, int64(100*1000), got.Load())
			}
		}
	}
}

func TestSplit(t *testing.T) {
	for total := range 20 {
		for n := 1; n < 5; n++ {
			at := 0
			for w := range n {
				lo, hi := split(total, w, n)
				require.Equal(t, at, lo)
				at = hi
			}
			require.Equal(t, total, at)
		}
	}
}

func TestMemory(t *testing.T) {
	for _, huge := range []bool{true, false} {
		m, err := allocate(5<<20, huge)
		require.NoError(t, err)
		require.Len(t, m.b, 5<<20)
		for _, i := range []int{0, 4096, 5<<20 - 1} {
			require.Zero(t, m.b[i])
			m.b[i] = 1
		}
		require.NoError(t, m.free())
		require.NoError(t, m.free(), "twice is harmless")
	}
}
