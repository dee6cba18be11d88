package kern

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// quantBlock fills q with x/d, d = max|x|/127, and returns d.
func quantBlock(q []byte, x []float32) (d float32) {
	var top float32
	for _, v := range x {
		top = max(top, float32(math.Abs(float64(v))))
	}
	id := 127 / max(top, float32(1e-30))
	for i, v := range x {
		q[i] = byte(int8(math.RoundToEven(float64(v * id))))
	}
	return top * (float32(1) / 127)
}

func quant32Go(dst *byte, x *float32, blocks int) {
	out, in := unsafe.Slice(dst, blocks*x32), floats(x, 32*blocks)
	for b := range blocks {
		o := out[b*x32 : (b+1)*x32]
		d := quantBlock(o[12:], in[32*b:32*b+32])
		var s int32
		for _, v := range o[12:] {
			s += int32(int8(v))
		}
		binary.LittleEndian.PutUint32(o, math.Float32bits(d))
		binary.LittleEndian.PutUint32(o[4:], uint32(-s))
		binary.LittleEndian.PutUint32(o[8:], math.Float32bits(d*float32(s)))
	}
}

func quant256Go(dst *byte, x *float32, blocks int) {
	out, in := unsafe.Slice(dst, blocks*x256), floats(x, 256*blocks)
	for b := range blocks {
		o := out[b*x256 : (b+1)*x256]
		d := quantBlock(o[84:], in[256*b:256*b+256])
		binary.LittleEndian.PutUint32(o, math.Float32bits(d))
		for j := range 8 {
			var t int32
			for h := range 2 {
				var s int32
				for _, v := range o[84+32*j+16*h:][:16] {
					s += int32(int8(v))
				}
				binary.LittleEndian.PutUint32(o[20+8*j+4*h:], uint32(-32*s))
				t += s
			}
			o[4+j], o[12+j] = byte(int8(t>>7)), byte(t&127)
		}
	}
}
