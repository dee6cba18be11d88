package tensor

import (
	"encoding/binary"
	"fmt"
)

// Part is a run of bytes of a block with one meaning.
type Part struct {
	Name  string // as in the comments above the format's dequantiser: d, m, scales, qs, high
	First int    // byte of the block
	Bytes int
	Kind  string // how it is stored, in words
}

// Parts is one quant block taken apart: weight i = Scale[i/Group]*(Code[i]-Zero) + Min[i/Group], each operation rounded to
// float32. A format without blocks has no codes.
type Parts struct {
	Parts   []Part
	Formula string
	Group   int // weights that share a scale
	Zero    int32
	Codes   []int32
	Scale   []float32
	Min     []float32 // nil where the format has none
}

// Apart takes a whole block of a type that Dequant reads.
func Apart(t Type, b []byte) (Parts, error) {
	if !t.Supported() {
		return Parts{}, unsupported("take apart", t)
	}
	if len(b) != t.BlockBytes() {
		return Parts{}, fmt.Errorf("tensor: %v: wanted a block of %d bytes, found %d", t, t.BlockBytes(), len(b))
	}
	switch t {
	case Q8_0:
		p := Parts{Parts: []Part{{"d", 0, 2, "f16"}, {"q", 2, 32, "signed bytes"}}, Formula: "w = d × q", Group: 32, Scale: []float32{f16At(b)}}
		for _, q := range b[2:] {
			p.Codes = append(p.Codes, int32(int8(q)))
		}
		return p, nil
	case Q4_0:
		return Parts{Parts: []Part{{"d", 0, 2, "f16"}, {"q", 2, 16, "nibbles"}}, Formula: "w = d × (q − 8)", Group: 32, Zero: 8,
			Scale: []float32{f16At(b)}, Codes: nibbles(b[2:], 0)}, nil
	case Q4_1:
		return Parts{Parts: []Part{{"d", 0, 2, "f16"}, {"m", 2, 2, "f16"}, {"q", 4, 16, "nibbles"}}, Formula: "w = d × q + m", Group: 32,
			Scale: []float32{f16At(b)}, Min: []float32{f16At(b[2:])}, Codes: nibbles(b[4:], 0)}, nil
	case Q5_0:
		return Parts{Parts: []Part{{"d", 0, 2, "f16"}, {"high", 2, 4, "fifth bits"}, {"q", 6, 16, "nibbles"}}, Formula: "w = d × (q − 16)", Group: 32,
			Zero: 16, Scale: []float32{f16At(b)}, Codes: nibbles(b[6:], binary.LittleEndian.Uint32(b[2:]))}, nil
	case Q5_1:
		return Parts{Parts: []Part{{"d", 0, 2, "f16"}, {"m", 2, 2, "f16"}, {"high", 4, 4, "fifth bits"}, {"q", 8, 16, "nibbles"}}, Formula: "w = d × q + m",
			Group: 32, Scale: []float32{f16At(b)}, Min: []float32{f16At(b[2:])}, Codes: nibbles(b[8:], binary.LittleEndian.Uint32(b[4:]))}, nil
	case Q4_K, Q5_K:
		return apartK(t, b), nil
	case Q6_K:
		return apartQ6K(b), nil
	}
	return Parts{Parts: []Part{{"w", 0, t.BlockBytes(), t.Name()}}, Formula: "w, as stored", Group: t.BlockSize()}, nil
}

// nibbles gives the codes of 32 weights: low nibbles first, then high ones; bit i of high is the fifth bit of code i.
func nibbles(qs []byte, high uint32) []int32 {
	c := make([]int32, 32)
	for i, q := range qs {
		c[i] = int32(q&15) | int32(high>>i&1)<<4
		c[i+16] = int32(q>>4) | int32(high>>(i+16)&1)<<4
	}
	return c
}

func apartK(t Type, b []byte) Parts {
	p := Parts{Parts: []Part{{"d", 0, 2, "f16"}, {"dmin", 2, 2, "f16"}, {"scales", 4, 12, "8 scales and 8 mins, 6 bits each"}},
		Formula: "w = (d × scale) × q − dmin × min", Group: 32, Codes: make([]int32, 256)}
	qs := b[16:]
	if t == Q5_K {
		p.Parts = append(p.Parts, Part{"high", 16, 32, "fifth bits"})
		qs = b[48:]
	}
	p.Parts = append(p.Parts, Part{"q", len(b) - 128, 128, "nibbles"})
	d, dmin := f16At(b), f16At(b[2:])
	scales, mins := ScaleMinK4((*[12]byte)(b[4:16]))
	for g := range 8 {
		p.Scale = append(p.Scale, d*float32(scales[g]))
		p.Min = append(p.Min, -(dmin * float32(mins[g])))
		for i := range 32 {
			q := qs[g/2*32+i] >> (4 * (g & 1)) & 15
			if t == Q5_K {
				q |= b[16+i] >> g & 1 << 4
			}
			p.Codes[32*g+i] = int32(q)
		}
	}
	return p
}

func apartQ6K(b []byte) Parts {
	p := Parts{Parts: []Part{{"ql", 0, 128, "low nibbles"}, {"qh", 128, 64, "high pairs of bits"}, {"scales", 192, 16, "signed bytes"}, {"d", 208, 2, "f16"}},
		Formula: "w = (d × scale) × (q − 32)", Group: 16, Zero: 32, Codes: make([]int32, 256)}
	d := f16At(b[208:])
	for g := range 16 {
		p.Scale = append(p.Scale, d*float32(int8(b[192+g])))
	}
	for run := range 8 {
		half, r := run/4, run%4
		for i := range 32 {
			q := b[64*half+32*(r&1)+i]>>(4*(r/2))&15 | b[128+32*half+i]>>(2*r)&3<<4
			p.Codes[32*run+i] = int32(q)
		}
	}
	return p
}
