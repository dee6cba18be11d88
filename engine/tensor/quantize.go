package tensor

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Quantize turns len(src) weights into whole blocks of dst by rounding to
// nearest, without looking for better scales: quantize_row_*_ref of
// ggml-quants.c. It writes F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0 and Q5_1;
// other types, lengths that do not match, and, for the block formats, weights
// that are not finite or need a scale beyond f16 are errors.
func Quantize(t Type, dst []byte, src []float32) error {
	l := t.layout()
	if l.quantize == nil {
		return unsupported("quantize to", t)
	}
	if err := checkLengths("quantize to", l, len(src), len(dst)); err != nil {
		return err
	}
	return l.quantize(dst, src)
}

func quantizeF32(dst []byte, src []float32) error {
	for i, f := range src {
		binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(f))
	}
	return nil
}

func quantizeF16(dst []byte, src []float32) error {
	for i, f := range src {
		binary.LittleEndian.PutUint16(dst[2*i:], F32ToF16(f))
	}
	return nil
}

func quantizeBF16(dst []byte, src []float32) error {
	for i, f := range src {
		binary.LittleEndian.PutUint16(dst[2*i:], F32ToBF16(f))
	}
	return nil
}

func quantizeQ8_0(dst []byte, src []float32) error {
	for b := 0; b < len(src); b, dst = b+32, dst[34:] {
		x := src[b : b+32]
		_, _, peak := extremes(x)
		d := float32(math.Abs(float64(peak))) / 127
		if err := putScale(dst, b, d); err != nil {
			return err
		}
		id := inverse(d)
		for i, f := range x {
			dst[2+i] = byte(int8(math.Round(float64(f * id))))
		}
	}
	return nil
}

func quantizeQ4_0(dst []byte, src []float32) error {
	return quantizeSymmetric(dst, src, 18, 4)
}

func quantizeQ5_0(dst []byte, src []float32) error {
	return quantizeSymmetric(dst, src, 22, 5)
}

func quantizeQ4_1(dst []byte, src []float32) error { return quantizeAffine(dst, src, 20, 4) }

func quantizeQ5_1(dst []byte, src []float32) error { return quantizeAffine(dst, src, 24, 5) }

// quantizeSymmetric writes blocks without a minimum. The weight furthest from
// zero gets the most negative code, so it is kept best.
func quantizeSymmetric(dst []byte, src []float32, blockBytes, bits int) error {
	half := float32(int(1) << (bits - 1))
	for b := 0; b < len(src); b, dst = b+32, dst[blockBytes:] {
		x := src[b : b+32]
		_, _, peak := extremes(x)
		d := peak / -half
		if err := putScale(dst, b, d); err != nil {
			return err
		}
		id := inverse(d)
		var q [32]byte
		for i, f := range x {
			q[i] = code(float32(f*id)+half+0.5, bits)
		}
		putCodes(dst[2:blockBytes], &q, bits)
	}
	return nil
}

// quantizeAffine writes blocks of a scale and a minimum.
func quantizeAffine(dst []byte, src []float32, blockBytes, bits int) error {
	for b := 0; b < len(src); b, dst = b+32, dst[blockBytes:] {
		x := src[b : b+32]
		low, high, _ := extremes(x)
		d := (high - low) / float32(int(1)<<bits-1)
		if err := putScale(dst, b, d); err != nil {
			return err
		}
		if err := putScale(dst[2:], b, low); err != nil {
			return err
		}
		id := inverse(d)
		var q [32]byte
		for i, f := range x {
			q[i] = code(float32((f-low)*id)+0.5, bits)
		}
		putCodes(dst[4:blockBytes], &q, bits)
	}
	return nil
}

// extremes are the smallest and largest weight, and the first one of greatest
// magnitude. A NaN anywhere makes peak a NaN.
func extremes(x []float32) (low, high, peak float32) {
	low, high, peak = x[0], x[0], x[0]
	for _, f := range x {
		low, high = min(low, f), max(high, f)
		if f != f || math.Abs(float64(f)) > math.Abs(float64(peak)) {
			peak = f
		}
	}
	return low, high, peak
}

// inverse is 1/d, or 0 where that is not finite: the weights of such a block are
// far below what its f16 scale can hold.
func inverse(d float32) float32 {
	if id := 1 / d; !math.IsInf(float64(id), 0) {
		return id
	}
	return 0
}

// code truncates to an integer of the given bits, clipping at both ends.
func code(f float32, bits int) byte {
	top := byte(1)<<bits - 1
	if f >= float32(top) {
		return top
	}
	if f > 0 {
		return byte(f)
	}
	return 0
}

// putScale writes a block's scale or minimum as f16. first is the index of the
// block's first weight, for the error.
func putScale(dst []byte, first int, d float32) error {
	h := F32ToF16(d)
	if h&0x7c00 == 0x7c00 {
		return fmt.Errorf("tensor: cannot quantize weights %d-%d: wanted finite weights whose scale fits f16, found a scale of %v; write F32 instead",
			first, first+31, d)
	}
	binary.LittleEndian.PutUint16(dst, h)
	return nil
}

// putCodes packs 32 codes: for five bits the fifth bits come first, then the
// nibbles, weight i low and weight i+16 high.
func putCodes(dst []byte, q *[32]byte, bits int) {
	if bits == 5 {
		var high uint32
		for i, c := range q {
			high |= uint32(c>>4) << i
		}
		binary.LittleEndian.PutUint32(dst, high)
		dst = dst[4:]
	}
	for i := range 16 {
		dst[i] = q[i]&15 | q[i+16]<<4
	}
}
