package tensor

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// golden is testdata/golden.json; testdata/golden.py says how it was made.
type golden struct {
	Dequant, Quantize []struct {
		Type     string
		Src, Dst []byte
	}
	F16WidenSHA256 string `json:"f16_widen_sha256"`
	Narrow         struct{ Src, F16, BF16 []byte }
}

func loadGolden(t testing.TB) golden {
	t.Helper()
	text, err := os.ReadFile("testdata/golden.json")
	require.NoError(t, err)
	var g golden
	require.NoError(t, json.Unmarshal(text, &g))
	return g
}

func floats(b []byte) []float32 {
	f := make([]float32, len(b)/4)
	dequantF32(f, b)
	return f
}

func bytesOf(f []float32) []byte {
	b := make([]byte, 4*len(f))
	_ = quantizeF32(b, f)
	return b
}

func typeNamed(t testing.TB, name string) Type {
	t.Helper()
	ty, ok := ParseType(name)
	require.True(t, ok, name)
	return ty
}

func TestDequantIsBitExact(t *testing.T) {
	g := loadGolden(t)
	seen := map[Type]bool{}
	for _, c := range g.Dequant {
		ty := typeNamed(t, c.Type)
		dst := make([]float32, len(c.Dst)/4)
		require.NoError(t, Dequant(ty, dst, c.Src))
		require.Equal(t, c.Dst, bytesOf(dst), c.Type)
		seen[ty] = true
	}
	for id := range Type(64) {
		require.Equal(t, id.Supported(), seen[id], "%s has a golden", id)
	}
	require.Len(t, seen, 11)
}

func TestQuantizeIsBitExact(t *testing.T) {
	g := loadGolden(t)
	require.Len(t, g.Quantize, 8)
	for _, c := range g.Quantize {
		dst := make([]byte, len(c.Dst))
		require.NoError(t, Quantize(typeNamed(t, c.Type), dst, floats(c.Src)))
		require.Equal(t, c.Dst, dst, c.Type)
	}
}

// The error of one weight is at most half a step of its block.
func TestQuantizeRoundTripError(t *testing.T) {
	src := make([]float32, 256)
	for i := range src {
		src[i] = float32(math.Sin(float64(i)*0.7)) * float32(1+i/32)
	}
	for ty, steps := range map[Type]float64{Q8_0: 254, Q4_0: 15, Q4_1: 15, Q5_0: 31, Q5_1: 31} {
		blocks := make([]byte, ty.RowBytes(len(src)))
		require.NoError(t, Quantize(ty, blocks, src))
		back := make([]float32, len(src))
		require.NoError(t, Dequant(ty, back, blocks))
		for i := range src {
			span := 2.2 * float64(1+i/32)
			require.InDelta(t, src[i], back[i], span/steps, "%s weight %d", ty, i)
		}
	}
}

func TestHalfConversions(t *testing.T) {
	g := loadGolden(t)
	hash := sha256.New()
	for h := range 1 << 16 {
		f := F16ToF32(uint16(h))
		if h&0x7fff > 0x7c00 {
			require.True(t, f != f, "f16 %#x", h)
			require.Equal(t, uint16(h)|0x200, F32ToF16(f), "a NaN keeps sign and payload, quiet")
			continue
		}
		require.Equal(t, uint16(h), F32ToF16(f), "f16 %#x there and back", h)
		hash.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(f)))
	}
	require.Equal(t, g.F16WidenSHA256, hex.EncodeToString(hash.Sum(nil)))

	for i, f := range floats(g.Narrow.Src) {
		require.Equal(t, binary.LittleEndian.Uint16(g.Narrow.F16[2*i:]), F32ToF16(f), "f16 of %v", f)
		require.Equal(t, binary.LittleEndian.Uint16(g.Narrow.BF16[2*i:]), F32ToBF16(f), "bf16 of %v", f)
	}
	// A NaN whose payload sits in the dropped bits must not become infinity.
	low := math.Float32frombits(0xff800001)
	require.Equal(t, uint16(0xfe00), F32ToF16(low))
	require.Equal(t, uint16(0xffc0), F32ToBF16(low))
	require.Equal(t, float32(-2.5), BF16ToF32(0xc020))
}

func TestSizes(t *testing.T) {
	require.Equal(t, 18*18, Q4_0.RowBytes(576))
	require.Equal(t, 144, Q4_K.RowBytes(256))
	require.Equal(t, 36, Q8_1.BlockBytes())
	for _, c := range []struct {
		t    Type
		cols int
	}{{Q4_0, 31}, {Q4_0, 0}, {Q4_0, -32}, {Q6_K, 128}, {99, 32}, {5, 32}, {F32, math.MaxInt}, {math.MaxUint32, 1}} {
		require.Zero(t, c.t.RowBytes(c.cols), "%s of %d", c.t, c.cols)
	}
	require.Equal(t, "type 4294967295", Type(math.MaxUint32).String())
	require.True(t, Type(5).Removed())
	require.False(t, Type(5).Known())
	require.True(t, IQ2_XS.Known())
	_, ok := ParseType("Q4_2")
	require.False(t, ok)
}

func TestRefusals(t *testing.T) {
	for id := range Type(64) {
		if !id.Supported() {
			require.ErrorContains(t, Dequant(id, nil, nil), fmt.Sprintf("cannot dequantize %s: wanted one of F32", id))
		}
	}
	require.ErrorContains(t, Quantize(Q4_K, make([]byte, 144), make([]float32, 256)), "cannot quantize to Q4_K")
	require.ErrorContains(t, Dequant(Q8_0, make([]float32, 32), make([]byte, 33)), "found 32 weights and 33 bytes")
	require.ErrorContains(t, Dequant(Q8_0, make([]float32, 64), make([]byte, 34)), "whole blocks of 32 weights in 34 bytes")
	require.ErrorContains(t, Quantize(Q8_0, make([]byte, 34), make([]float32, 31)), "found 31 weights")

	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, ty := range []Type{Q8_0, Q4_0, Q4_1, Q5_0, Q5_1} {
		for _, bad := range []float32{nan, inf, -inf, 3e38} {
			for _, at := range []int{0, 5, 63} {
				src := make([]float32, 64)
				src[3], src[at] = 7, bad
				require.ErrorContains(t, Quantize(ty, make([]byte, ty.RowBytes(64)), src), "wanted finite weights", "%s %v at %d", ty, bad, at)
			}
		}
		// Too small for any scale: zeros, not garbage.
		src, dst, back := make([]float32, 32), make([]byte, ty.RowBytes(32)), make([]float32, 32)
		src[9] = math.SmallestNonzeroFloat32
		require.NoError(t, Quantize(ty, dst, src))
		require.NoError(t, Dequant(ty, back, dst))
		for _, f := range back {
			require.Zero(t, f)
		}
	}
}

// FuzzDequant holds that no bytes and no lengths make Dequant panic or write
// outside dst, and that K-scale unpacking stays within six bits.
func FuzzDequant(f *testing.F) {
	for _, c := range loadGolden(f).Dequant {
		ty, _ := ParseType(c.Type)
		f.Add(uint32(ty), uint16(ty.BlockSize()), c.Src[:ty.BlockBytes()])
	}
	f.Add(uint32(16), uint16(256), make([]byte, 66))
	f.Fuzz(func(t *testing.T, id uint32, weights uint16, src []byte) {
		ty, n := Type(id), int(weights)
		dst := make([]float32, n+1)
		dst[n] = 42
		err := Dequant(ty, dst[:n:n], src)
		require.Equal(t, float32(42), dst[n])
		fits := ty.Supported() && (n == 0 && len(src) == 0 || n > 0 && ty.RowBytes(n) == len(src) && len(src) > 0)
		require.Equal(t, fits, err == nil, "%s, %d weights, %d bytes: %v", ty, n, len(src), err)
		if len(src) >= 12 {
			scales, mins := ScaleMinK4((*[12]byte)(src))
			for i := range scales {
				require.Less(t, scales[i]|mins[i], byte(64))
			}
		}
	})
}

func BenchmarkDequant(b *testing.B) {
	for _, ty := range []Type{F16, Q8_0, Q4_1, Q4_K, Q6_K} {
		b.Run(ty.Name(), func(b *testing.B) {
			src, dst := make([]byte, ty.RowBytes(1<<16)), make([]float32, 1<<16)
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				if err := Dequant(ty, dst, src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
