package kern

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// quantBlock splits q = round(x/d), d = max|x|/32512, into hi and lo, leaves q in q, and returns d.
func quantBlock(hi, lo []byte, q []int32, x []float32) (d float32) {
	var top float32
	for _, v := range x {
		top = max(top, float32(math.Abs(float64(v))))
	}
	id := 32512 / max(top, float32(1e-30))
	for i, v := range x {
		n := int32(math.RoundToEven(float64(v * id)))
		h := (n + 128) >> 8
		l := max(n-h<<8, -127)
		hi[i], lo[i], q[i] = byte(int8(h)), byte(int8(l)), h<<8+l
	}
	return top * (float32(1) / 32512)
}

func quant32Go(dst *byte, x *float32, blocks int) {
	out, in := unsafe.Slice(dst, blocks*x32), floats(x, 32*blocks)
	var q [32]int32
	for b := range blocks {
		o := out[b*x32 : (b+1)*x32]
		d := quantBlock(o[atHi:], o[atLo:], q[:], in[32*b:32*b+32])
		var s int32
		for _, v := range q {
			s += v
		}
		binary.LittleEndian.PutUint32(o, math.Float32bits(d))
		binary.LittleEndian.PutUint32(o[4:], uint32(-128*s))
		binary.LittleEndian.PutUint32(o[8:], math.Float32bits(d*float32(s)))
	}
}

func quant256Go(dst *byte, x *float32, blocks int) {
	out, in := unsafe.Slice(dst, blocks*x256), floats(x, 256*blocks)
	var q [256]int32
	for b := range blocks {
		o := out[b*x256 : (b+1)*x256]
		d := quantBlock(o[kHi:], o[kLo:], q[:], in[256*b:256*b+256])
		binary.LittleEndian.PutUint32(o, math.Float32bits(d))
		for j := range 8 {
			var t int32
			for h := range 2 {
				var s int32
				for _, v := range q[32*j+16*h:][:16] {
					s += v
				}
				binary.LittleEndian.PutUint32(o[kC+8*j+4*h:], uint32(-32*s))
				t += s
			}
			o[4+j], o[12+j], o[20+j] = byte(int8(t>>14)), byte(t>>7&127), byte(t&127)
		}
	}
}
