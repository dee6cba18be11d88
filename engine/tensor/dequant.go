package tensor

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Dequant turns whole blocks into float32: len(src) must be the bytes of exactly
// len(dst) weights. The result is bit for bit that of ggml's plain-C reference
// (dequantize_row_* in ggml-quants.c) on every platform. A type that is not
// Supported, and lengths that do not match, are errors; dst is then untouched.
func Dequant(t Type, dst []float32, src []byte) error {
	l := t.layout()
	if l.dequant == nil {
		return unsupported("dequantize", t)
	}
	if err := checkLengths("dequantize", l, len(dst), len(src)); err != nil {
		return err
	}
	l.dequant(dst, src)
	return nil
}

func unsupported(verb string, t Type) error {
	return fmt.Errorf("tensor: cannot %s %s: wanted one of F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K, Q6_K%s; use a model file in one of these formats",
		verb, t, map[bool]string{true: " (reading only for the K formats)"}[verb == "quantize to"])
}

func checkLengths(verb string, l layout, weights, bytes int) error {
	if weights%l.weights != 0 || bytes%l.bytes != 0 || weights/l.weights != bytes/l.bytes {
		return fmt.Errorf("tensor: cannot %s %s: wanted whole blocks of %d weights in %d bytes, found %d weights and %d bytes; pass whole rows",
			verb, l.name, l.weights, l.bytes, weights, bytes)
	}
	return nil
}

func f16At(b []byte) float32 { return F16ToF32(binary.LittleEndian.Uint16(b)) }

func dequantF32(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
	}
}

func dequantF16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = f16At(src[2*i:])
	}
}

func dequantBF16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = BF16ToF32(binary.LittleEndian.Uint16(src[2*i:]))
	}
}

// The loops below write float32(a*b)+c: the conversion keeps the compiler from
// fusing the two roundings into one on platforms that have such an instruction.

// Q8_0: f16 d; 32 int8 q. Weight = d*q.
func dequantQ8_0(dst []float32, src []byte) {
	for ; len(dst) >= 32; dst, src = dst[32:], src[34:] {
		d := f16At(src)
		for i, q := range src[2:34] {
			dst[i] = d * float32(int8(q))
		}
	}
}

// Q4_0: f16 d; 16 bytes, low nibbles are weights 0-15, high nibbles 16-31.
// Weight = d*(q-8).
func dequantQ4_0(dst []float32, src []byte) {
	for ; len(dst) >= 32; dst, src = dst[32:], src[18:] {
		d := f16At(src)
		for i, b := range src[2:18] {
			dst[i] = d * float32(int(b&15)-8)
			dst[i+16] = d * float32(int(b>>4)-8)
		}
	}
}

// Q4_1: f16 d; f16 m; nibbles as in Q4_0. Weight = d*q + m.
func dequantQ4_1(dst []float32, src []byte) {
	for ; len(dst) >= 32; dst, src = dst[32:], src[20:] {
		d, m := f16At(src), f16At(src[2:])
		for i, b := range src[4:20] {
			dst[i] = float32(d*float32(b&15)) + m
			dst[i+16] = float32(d*float32(b>>4)) + m
		}
	}
}

// Q5_0: f16 d; 4 bytes, bit i is the fifth bit of weight i; nibbles as in Q4_0.
// Weight = d*(q-16).
func dequantQ5_0(dst []float32, src []byte) {
	for ; len(dst) >= 32; dst, src = dst[32:], src[22:] {
		d, high := f16At(src), binary.LittleEndian.Uint32(src[2:])
		for i, b := range src[6:22] {
			dst[i] = d * float32(int(b&15|byte(high>>i&1)<<4)-16)
			dst[i+16] = d * float32(int(b>>4|byte(high>>(i+16)&1)<<4)-16)
		}
	}
}

// Q5_1: f16 d; f16 m; fifth bits and nibbles as in Q5_0. Weight = d*q + m.
func dequantQ5_1(dst []float32, src []byte) {
	for ; len(dst) >= 32; dst, src = dst[32:], src[24:] {
		d, m, high := f16At(src), f16At(src[2:]), binary.LittleEndian.Uint32(src[4:])
		for i, b := range src[8:24] {
			dst[i] = float32(d*float32(b&15|byte(high>>i&1)<<4)) + m
			dst[i+16] = float32(d*float32(b>>4|byte(high>>(i+16)&1)<<4)) + m
		}
	}
}
