package roof

import "encoding/binary"

// sink keeps what loops compute from being optimised away.
var sink struct {
	i int32
	f float32
	u uint64
}

// sum reads b with plain loads, for machines without a kernel for it.
func sum(b []byte) {
	var s0, s1, s2, s3 uint64
	for ; len(b) >= 32; b = b[32:] {
		s0 += binary.LittleEndian.Uint64(b)
		s1 += binary.LittleEndian.Uint64(b[8:])
		s2 += binary.LittleEndian.Uint64(b[16:])
		s3 += binary.LittleEndian.Uint64(b[24:])
	}
	if s0+s1+s2+s3 == 1 {
		sink.u++
	}
}

// What plain Go can do: eight sums side by side, as the compiler makes them.

func plainInt8(n int) {
	var s0, s1, s2, s3, s4, s5, s6, s7 int32
	a, b := int8(n), int8(n>>3)
	for range n {
		s0 += int32(a) * int32(b)
		s1 += int32(a) * int32(b+1)
		s2 += int32(a) * int32(b+2)
		s3 += int32(a) * int32(b+3)
		s4 += int32(a) * int32(b+4)
		s5 += int32(a) * int32(b+5)
		s6 += int32(a) * int32(b+6)
		s7 += int32(a) * int32(b+7)
		a++
	}
	if s0+s1+s2+s3+s4+s5+s6+s7 == 1 {
		sink.i++
	}
}

func plainFloat(n int) {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	a, b := float32(n)*1e-9, float32(0.5)
	for range n {
		s0 += a * b
		s1 += a * b
		s2 += a * b
		s3 += a * b
		s4 += a * b
		s5 += a * b
		s6 += a * b
		s7 += a * b
		b = s0
	}
	if s0+s1+s2+s3+s4+s5+s6+s7 == 1 {
		sink.f++
	}
}

func plainPeaks() (int8s, floats work) { return work{plainInt8, 16}, work{plainFloat, 16} }
