package kern

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/tensor"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// all returns every variant of this CPU, best first.
func all(t testing.TB) []*Kernels {
	t.Helper()
	var ks []*Kernels
	for _, v := range Features() {
		k, err := Select(v)
		require.NoError(t, err)
		ks = append(ks, k)
	}
	return ks
}

// TestVariants says which variants the tests of this package and of the backend run with, and counts those that this machine
// cannot run; `make unit` prints it.
func TestVariants(t *testing.T) {
	missing := 0
	for _, v := range variants {
		if v.has {
			t.Logf("kernels %s: tests run", v.name)
			continue
		}
		missing++
		t.Logf("kernels %s: tests not run, this machine lacks the instructions", v.name)
	}
	t.Logf("kernels: %d variants tested, %d not run", len(variants)-missing, missing)
	require.True(t, plain(t).has)
}

// plain returns the variant in plain Go.
func plain(t testing.TB) *Kernels {
	t.Helper()
	k, err := Select("generic")
	require.NoError(t, err)
	return k
}

// eachVariant runs f once for every variant of this CPU.
func eachVariant(t *testing.T, f func(t *testing.T, k *Kernels)) {
	t.Helper()
	for _, k := range all(t) {
		t.Run(k.name, func(t *testing.T) { f(t, k) })
	}
}

// scalesAt are the offsets of float16 values in a block.
var scalesAt = map[tensor.Type][]int{tensor.Q6_K: {208}, tensor.Q4_1: {0, 2}, tensor.Q5_1: {0, 2}, tensor.Q4_K: {0, 2},
	tensor.Q5_K: {0, 2}, tensor.Q4_0: {0}, tensor.Q5_0: {0}, tensor.Q8_0: {0}, tensor.F16: {0}}

// randomRows makes GGUF rows of random but sane blocks.
func randomRows(t tensor.Type, rows, cols int, rnd *rand.Rand) []byte {
	b := make([]byte, rows*t.RowBytes(cols))
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	half := func(o int) { // 0.002 to 0.008 and its negative
		binary.LittleEndian.PutUint16(b[o:], uint16(0x1800+rnd.IntN(0x800)|rnd.IntN(2)<<15))
	}
	for o := 0; o < len(b); o += t.BlockBytes() {
		switch t {
		case tensor.F32:
			binary.LittleEndian.PutUint32(b[o:], math.Float32bits(float32(rnd.NormFloat64())))
		case tensor.BF16:
			binary.LittleEndian.PutUint16(b[o:], tensor.F32ToBF16(float32(rnd.NormFloat64())))
		}
		for _, k := range scalesAt[t] {
			half(o + k)
		}
	}
	return b
}

// randomX makes n rows of cols values, ld apart, padded with zeros.
func randomX(n, cols, ld int, rnd *rand.Rand) []float32 {
	x := make([]float32, n*ld)
	for t := range n {
		for i := range cols {
			x[t*ld+i] = float32(rnd.NormFloat64())
		}
	}
	return x
}

func padTo(n, k int) int { return (n + k - 1) / k * k }

// pack makes a matrix in the variant's form.
func pack(tb testing.TB, k *Kernels, t tensor.Type, rows, cols int, src []byte) *Mat {
	tb.Helper()
	m, err := k.NewMat(t, rows, cols)
	require.NoError(tb, err)
	m.Data = make([]byte, m.Size())
	m.PackPairs(src, 0, m.Pairs)
	return m
}

// multiply runs a batch as the backend does, the input in pieces of inSplit tiles and the rows in pieces of rowSplit pairs.
func multiply(m *Mat, x []float32, ld, n, inSplit, rowSplit int) []float32 {
	q := m.Quant()
	in := Input{F: x, LD: ld, N: n}
	if q != AsFloat {
		size := q.Size(m.NCols)
		in.Q = make([]byte, m.k.Room(q, m.NCols, n))
		scratch := make([]byte, MaxT*size)
		for t := 0; t < m.k.Tiles(n); t += inSplit {
			m.k.Quantise(q, in.Q, x, ld, m.NCols, n, t, min(t+inSplit, m.k.Tiles(n)), scratch)
		}
	}
	ldy := m.Pairs * Pair
	y := make([]float32, n*ldy)
	scratch := make([]byte, m.Scratch())
	for p := 0; p < m.Pairs; p += rowSplit {
		m.Mul(y, ldy, in, p, min(p+rowSplit, m.Pairs), scratch)
	}
	return y
}

// sameBits fails at the first value whose bits differ.
func sameBits(t *testing.T, want, got []float32, what string) {
	t.Helper()
	require.Len(t, got, len(want), what)
	for i := range want {
		if math.Float32bits(want[i]) != math.Float32bits(got[i]) {
			require.Failf(t, "bits differ", "%s: value %d: wanted %v (%08x), found %v (%08x)", what, i, want[i], math.Float32bits(want[i]), got[i], math.Float32bits(got[i]))
		}
	}
}
