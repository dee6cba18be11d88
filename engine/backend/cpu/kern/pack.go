package kern

import (
	"encoding/binary"
	"unsafe"

	"glassbox/engine/tensor"
)

// PackPairs lays rows [32*p0, 32*p1) out in Data. src holds all GGUF rows of the matrix. Pairs may be packed at the same
// time by different threads.
func (m *Mat) PackPairs(src []byte, p0, p1 int) {
	if m.Form.Packed() {
		for g := 2 * p0; g < 2*p1; g++ {
			m.packGroup(src, g)
		}
		return
	}
	n, R, block := m.NCols*info[m.Form].elem, m.k.dotRows, 16*info[m.Form].elem
	for r := p0 * Pair; r < min(p1*Pair, m.NRows); r++ {
		dst := m.Data[r/R*R*m.stride()+r%R*block:]
		for o := 0; o < n; o += block {
			copy(dst[o*R:], src[r*n+o:r*n+min(o+block, n)])
		}
	}
}

// packGroup lays one group of 16 rows out, unit after unit.
func (m *Mat) packGroup(src []byte, g int) {
	dst := m.group(g)
	rows := min(group, m.NRows-g*group)
	if rows <= 0 {
		return
	}
	src = src[g*group*m.rowBytes : (g*group+rows)*m.rowBytes]
	size := m.Type.BlockBytes()
	for b := 0; b*size < m.rowBytes; b++ {
		for r := range rows {
			packBlock(m.Type, m.Form, dst, b, r, src[r*m.rowBytes+b*size:][:size])
		}
	}
}

// packBlock places GGUF block b of lane r of a group.
func packBlock(t tensor.Type, f Form, dst []byte, b, r int, s []byte) {
	switch {
	case f == K32:
		packK32(t, dst[b*4416:][:4416], r, s)
		return
	case f == K16:
		packK16(dst[b*4416:][:4416], r, s)
		return
	}
	switch t {
	case tensor.Q4_0:
		u := dst[b/2*576:][:576]
		half(u[b%2*32+2*r:], s)
		lines(u[64+b%2*256+4*r:], s[2:], 4, 0)
	case tensor.Q4_1:
		u := dst[b*320:][:320]
		half(u[2*r:], s)
		half(u[32+2*r:], s[2:])
		lines(u[64+4*r:], s[4:], 4, 0)
	case tensor.Q8_0:
		u := dst[b/2*1088:][:1088]
		half(u[b%2*32+2*r:], s)
		lines(u[64+b%2*512+4*r:], s[2:], 8, 0x80808080)
	case tensor.Q5_0:
		u := dst[b/2*1088:][:1088]
		half(u[b%2*32+2*r:], s)
		var q [32]byte
		fiveBits(&q, s[6:], binary.LittleEndian.Uint32(s[2:]), 128-16) // as Q8_0: value + 128
		lines(u[64+b%2*512+4*r:], q[:], 8, 0)
	case tensor.Q5_1:
		u := dst[b*576:][:576]
		half(u[2*r:], s)
		half(u[32+2*r:], s[2:])
		var q [32]byte
		fiveBits(&q, s[8:], binary.LittleEndian.Uint32(s[4:]), 0)
		lines(u[64+4*r:], q[:], 8, 0)
	case tensor.Q4_K:
		u := dst[b*2304:][:2304]
		half(u[2*r:], s)
		half(u[32+2*r:], s[2:])
		lines(u[64+4*r:], s[4:], 35, 0) // 3 lines of scales, 32 of nibbles
	case tensor.Q6_K:
		packQ6K(dst[b*3392:][:3392], r, s)
	}
}

// half writes one float16: two stores, where copy would be a call.
func half(dst, src []byte) { dst[0], dst[1] = src[0], src[1] }

// lines writes n dwords of src, xor flip, 64 bytes apart.
func lines(dst, src []byte, n int, flip uint32) {
	_, _ = dst[64*(n-1)+3], src[4*n-1]
	d, s := unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0])
	for l := range n {
		*(*uint32)(unsafe.Add(d, 64*l)) = *(*uint32)(unsafe.Add(s, 4*l)) ^ flip
	}
}

// fiveBits joins nibbles and fifth bits of a Q5 block and adds bias.
func fiveBits(q *[32]byte, nib []byte, high uint32, bias byte) {
	for k := range 16 {
		q[k] = nib[k]&15 | byte(high>>k&1)<<4 + bias
		q[k+16] = nib[k]>>4 | byte(high>>(k+16)&1)<<4 + bias
	}
}

// packK32 places a block of Q4_K or Q5_K as bytes.
func packK32(t tensor.Type, u []byte, r int, s []byte) {
	half(u[2*r:], s)
	half(u[32+2*r:], s[2:])
	sc, mn := tensor.ScaleMinK4((*[12]byte)(s[4:]))
	for j := range 8 {
		u[64+16*j+r] = sc[j]
	}
	lines(u[192+4*r:], mn[:], 2, 0)
	var q [256]byte
	nib := s[len(s)-128:]
	for k := range q {
		q[k] = nib[k/64*32+k%32] >> (k / 32 % 2 * 4) & 15
		if t == tensor.Q5_K {
			q[k] |= s[16+k%32] >> (k / 32) & 1 << 4
		}
	}
	lines(u[320+4*r:], q[:], 64, 0)
}

// packK16 places a block of Q6_K as bytes.
func packK16(u []byte, r int, s []byte) {
	ql, qh, sc := s[:128], s[128:192], s[192:208]
	half(u[2*r:], s[208:])
	for k, v := range sc {
		u[64+16*k+r] = v
	}
	var q [256]byte
	for k := range q {
		n, i, l := k/128, k/32%4, k%32
		q[k] = ql[64*n+32*(i&1)+l]>>(4*(i>>1))&15 | qh[32*n+l]>>(2*i)&3<<4
	}
	lines(u[320+4*r:], q[:], 64, 0)
}

func packQ6K(u []byte, r int, s []byte) {
	ql, qh, sc := s[:128], s[128:192], s[192:208]
	half(u[2*r:], s[208:])
	for k, v := range sc {
		u[64+16*k+r] = v
	}
	for n := range 2 {
		for l := range 8 {
			o := 320 + 192*(8*n+l) + 4*r
			copy(u[o:][:4], ql[64*n+4*l:])
			copy(u[o+64:][:4], ql[64*n+32+4*l:])
			copy(u[o+128:][:4], qh[32*n+4*l:])
		}
	}
}
