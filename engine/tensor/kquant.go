package tensor

// The K formats: super-blocks of 256 weights in groups of 32 (Q4_K, Q5_K) or 16
// (Q6_K), each group with its own small integer scale.

// ScaleMinK4 unpacks the eight 6-bit scales and eight 6-bit mins that Q4_K and
// Q5_K keep in 12 bytes: bytes 0-3 hold scales 0-3 and, in their top two bits,
// the high bits of scales 4-7; bytes 4-7 the same for mins; bytes 8-11 the low
// nibbles of scales 4-7 (low) and of mins 4-7 (high). get_scale_min_k4 in
// ggml-quants.c.
func ScaleMinK4(packed *[12]byte) (scales, mins [8]byte) {
	for j := range 4 {
		s, m, low := packed[j], packed[j+4], packed[j+8]
		scales[j], mins[j] = s&63, m&63
		scales[j+4] = low&15 | s>>6<<4
		mins[j+4] = low>>4 | m>>6<<4
	}
	return scales, mins
}

// Q4_K: f16 d; f16 dmin; 12 bytes of scales and mins; 128 bytes, where each run
// of 32 holds group 2g in the low and group 2g+1 in the high nibbles.
// Weight = (d*scale)*q - dmin*min.
func dequantQ4_K(dst []float32, src []byte) {
	for ; len(dst) >= 256; dst, src = dst[256:], src[144:] {
		d, dmin := f16At(src), f16At(src[2:])
		scales, mins := ScaleMinK4((*[12]byte)(src[4:16]))
		for g := range 8 {
			dl, ml := d*float32(scales[g]), dmin*float32(mins[g])
			qs, shift := src[16+g/2*32:][:32], 4*(g&1)
			for i, b := range qs {
				dst[32*g+i] = float32(dl*float32(b>>shift&15)) - ml
			}
		}
	}
}

// Q5_K: as Q4_K, with 32 bytes between the scales and the nibbles: bit g of byte
// i is the fifth bit of weight i of group g.
func dequantQ5_K(dst []float32, src []byte) {
	for ; len(dst) >= 256; dst, src = dst[256:], src[176:] {
		d, dmin := f16At(src), f16At(src[2:])
		scales, mins := ScaleMinK4((*[12]byte)(src[4:16]))
		high := src[16:48]
		for g := range 8 {
			dl, ml := d*float32(scales[g]), dmin*float32(mins[g])
			qs, shift := src[48+g/2*32:][:32], 4*(g&1)
			for i, b := range qs {
				q := b>>shift&15 | high[i]>>g&1<<4
				dst[32*g+i] = float32(dl*float32(q)) - ml
			}
		}
	}
}

// Q6_K: 128 bytes of low nibbles; 64 bytes of high bit pairs; 16 int8 scales;
// f16 d last. In each half of 128 weights, run r of 32 takes the low (r<2) or
// high nibbles of ql[32*(r&1)+i] and bits 2r of qh[i].
// Weight = (d*scale)*(q-32), one scale for 16 weights.
func dequantQ6_K(dst []float32, src []byte) {
	for ; len(dst) >= 256; dst, src = dst[256:], src[210:] {
		d := f16At(src[208:])
		for run := range 8 {
			half, r := run/4, run%4
			ql, qh := src[64*half+32*(r&1):][:32], src[128+32*half:][:32]
			nibble, pair := 4*(r/2), 2*r
			for i, b := range ql {
				q := b>>nibble&15 | qh[i]>>pair&3<<4
				dl := d * float32(int8(src[192+2*run+i/16]))
				dst[32*run+i] = dl * float32(int(q)-32)
			}
		}
	}
}
