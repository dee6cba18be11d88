package tensor

import "math"

// F16ToF32 widens an IEEE 754 binary16 number. It is exact for every input; a NaN
// keeps its payload.
func F16ToF32(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	abs := uint32(h & 0x7fff)
	if abs >= 0x7c00 {
		return math.Float32frombits(sign | 0x7f800000 | (abs&0x3ff)<<13)
	}
	// Read the bits as a float32 whose exponent is 112 too small, then scale.
	// The product is exact, and turns half subnormals into normal numbers.
	f := math.Float32frombits(abs<<13) * 0x1p112
	return math.Float32frombits(sign | math.Float32bits(f))
}

// F32ToF16 narrows to IEEE 754 binary16, rounding to nearest even. Values from
// 65520 become infinite; a NaN stays a (quiet) NaN.
func F32ToF16(f float32) uint16 {
	b := math.Float32bits(f)
	sign := uint16(b>>16) & 0x8000
	abs := b & 0x7fffffff
	switch {
	case abs > 0x7f800000:
		return sign | 0x7e00 | uint16(abs>>13)&0x3ff
	case abs >= 0x47800000: // 65536 and more, infinity
		return sign | 0x7c00
	case abs < 0x38800000: // below 2^-14: subnormal
		// One unit of the last place of 0.5 is 2^-24, the step of half
		// subnormals, so the addition itself rounds to nearest even.
		return sign | uint16(math.Float32bits(math.Float32frombits(abs)+0.5)-0x3f000000)
	}
	abs += 0xfff + abs>>13&1
	return sign | uint16((abs-112<<23)>>13)
}

// BF16ToF32 widens a bfloat16 number. It is exact for every input.
func BF16ToF32(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// F32ToBF16 narrows to bfloat16, rounding to nearest even; a NaN stays a (quiet)
// NaN. As ggml_compute_fp32_to_bf16 in ggml-impl.h.
func F32ToBF16(f float32) uint16 {
	b := math.Float32bits(f)
	if b&0x7fffffff > 0x7f800000 {
		return uint16(b>>16) | 64
	}
	return uint16((uint64(b) + 0x7fff + uint64(b>>16&1)) >> 16)
}
