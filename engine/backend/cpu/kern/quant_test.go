package kern

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/tensor"
)

// TestQuantiseIsBitEqual: all variants make the bytes of plain Go.
func TestQuantiseIsBitEqual(t *testing.T) {
	rnd := newRand(4)
	x := randomX(1, 2048, 2048, rnd)
	clear(x[256:512])
	x[600], x[900] = 1e30, -1e-38
	copy(x[1024:1280], edges())
	for _, q := range []Quant{Per32, Per256} {
		want := make([]byte, q.Size(2048))
		plain(t).quantRow(q, want, x, 2048)
		for _, k := range all(t) {
			got := make([]byte, len(want))
			k.quantRow(q, got, x, 2048)
			require.Equal(t, want, got, "%s, kind %d", k.name, q)
		}
	}
}

// edges are 256 values where halves turn over: whole numbers of the step 1/32512, with the largest in each block of 32.
func edges() []float32 {
	var x []float32
	for _, hi := range []int{-127, -126, -1, 0, 1, 2, 126, 127} {
		x = append(x, 1, -1)
		for i := range 30 {
			x = append(x, max(min(float32(256*hi+128-15+i)/32512, 1), -1))
		}
	}
	return x
}

// TestHalves: hi and lo put together are the input to within half a step, or a step and a half where lo would be -128; both
// have a negative; and the sums beside them are theirs.
func TestHalves(t *testing.T) {
	x := append(edges(), randomX(1, 4096, 4096, newRand(6))...)
	q := make([]byte, Per32.Size(len(x)))
	plain(t).quantRow(Per32, q, x, len(x))
	seen := 0
	for b := 0; b < len(x)/32; b++ {
		o := q[b*x32 : (b+1)*x32]
		d, sum := getF32(o), int32(0)
		for i := range 32 {
			hi, lo := int8(o[atHi+i]), int8(o[atLo+i])
			require.GreaterOrEqual(t, hi, int8(-127))
			require.GreaterOrEqual(t, lo, int8(-127))
			v := 256*int32(hi) + int32(lo)
			sum += v
			off := math.Abs(float64(x[32*b+i])/float64(d) - float64(v))
			if lo == -127 && off > 0.51 {
				seen++
				require.LessOrEqual(t, off, 1.51)
				continue
			}
			require.LessOrEqual(t, off, 0.51, "value %d: %v", 32*b+i, x[32*b+i])
		}
		require.Equal(t, -128*sum, getI32(o[4:]))
		require.Equal(t, d*float32(sum), getF32(o[8:]))
	}
	require.Greater(t, seen, 5)
	require.Less(t, seen, 50, "one in 256")
}

// TestSumsOf32: the pieces of 7 bits of a super-block are its sums, and so are the biases.
func TestSumsOf32(t *testing.T) {
	x := make([]float32, 512)
	for i := range x[:256] {
		x[i] = 1 - 2*float32(i/32%2) // sums of +-32*32512
	}
	copy(x[256:], randomX(1, 256, 256, newRand(7)))
	q := make([]byte, Per256.Size(len(x)))
	plain(t).quantRow(Per256, q, x, len(x))
	for b := range 2 {
		o := q[b*x256 : (b+1)*x256]
		for j := range 8 {
			var half [2]int32
			for i := range 32 {
				half[i/16] += int32(value(o[kHi:], o[kLo:], 32*j+i))
			}
			require.Equal(t, half[0]+half[1], int32(int8(o[4+j]))<<14+int32(o[12+j])<<7+int32(o[20+j]))
			require.Less(t, o[12+j]|o[20+j], byte(128))
			for h := range 2 {
				require.Equal(t, -32*half[h], getI32(o[kC+8*j+4*h:]))
			}
		}
	}
}

// TestMulExtremes: the largest weights of either sign against the largest inputs of either sign, and against those whose
// lower bytes are at their ends, overflow nothing: not the 16-bit sums of AVX2, not the 32-bit ones.
func TestMulExtremes(t *testing.T) {
	const rows, cols = 32, 512
	step := float32(1) / 32512
	inputs := map[string]func(i int) float32{
		"all most":    func(int) float32 { return 1 },
		"all least":   func(int) float32 { return -1 },
		"turns":       func(i int) float32 { return 1 - 2*float32(i%2) },
		"lower bytes": func(i int) float32 { return [2]float32{1, (256*126 + 127) * step}[min(i%32, 1)] },
		"lower least": func(i int) float32 { return [2]float32{-1, (-256*126 - 127) * step}[min(i%32, 1)] },
		"lower apart": func(i int) float32 { return [2]float32{1, (256*126 - 127) * step}[min(i%32, 1)] },
		"only lower":  func(i int) float32 { return [2]float32{1, 127 * step}[min(i%256, 1)] },
		"lower clamp": func(i int) float32 { return [2]float32{1, -128 * step}[min(i%32, 1)] },
	}
	for _, ty := range mulTypes {
		for _, fill := range []byte{0xff, 0x00, 0x80, 0x7f} {
			src := extremeRows(ty, rows, cols, fill)
			w := make([]float32, cols)
			require.NoError(t, tensor.Dequant(ty, w, src[:ty.RowBytes(cols)]))
			for name, f := range inputs {
				const n = 7
				x := make([]float32, n*cols)
				var exact, most float64 // most: a step and a half of every input, and float32 rounding
				for i := range x {
					x[i] = f(i)
				}
				for i, v := range w {
					exact += float64(v) * float64(x[i])
					most += math.Abs(float64(v)) * (1.51*float64(step) + 1e-6*math.Abs(float64(x[i])))
				}
				truth := truthOf(t, pack(t, plain(t), ty, rows, cols, src), x, cols, n)
				require.InDelta(t, exact, truth[0], most+1e-9, "%v of %#x, %s", ty, fill, name)
				for _, k := range all(t) {
					m := pack(t, k, ty, rows, cols, src)
					for _, n := range []int{1, n} {
						sameBits(t, truth[:n*rows], multiply(m, x, cols, n, 1, 1), fmt.Sprintf("%v of %#x, %s, %s, %d tokens", ty, fill, name, k.name, n))
					}
				}
			}
		}
	}
}

// extremeRows fills the weights of all blocks with one byte and their float16 scales with 0.004.
func extremeRows(t tensor.Type, rows, cols int, fill byte) []byte {
	b := make([]byte, rows*t.RowBytes(cols))
	for i := range b {
		b[i] = fill
	}
	for o := 0; o < len(b); o += t.BlockBytes() {
		for _, k := range scalesAt[t] {
			binary.LittleEndian.PutUint16(b[o+k:], 0x1c19)
		}
		switch t {
		case tensor.F32:
			binary.LittleEndian.PutUint32(b[o:], math.Float32bits(float32(fill)))
		case tensor.BF16:
			binary.LittleEndian.PutUint16(b[o:], tensor.F32ToBF16(float32(fill)))
		}
	}
	return b
}
