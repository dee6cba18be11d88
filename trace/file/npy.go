package file

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// npyMagic starts every .npy file; NumPy's own description of the format is numpy.lib.format.
const npyMagic = "\x93NUMPY"

// npyHeader returns the header of a NumPy 1.0 file for the array, byte for byte what numpy.save writes: the magic, the
// version, the length of the dictionary and the dictionary, padded so that the values begin at a multiple of 64.
func npyHeader(a *Array) []byte {
	var d strings.Builder
	order := "<"
	if itemSize[a.DType] == 1 {
		order = "|"
	}
	d.WriteString("{'descr': '" + order + a.DType + "', 'fortran_order': False, 'shape': (")
	for i, n := range a.Shape {
		if i > 0 {
			d.WriteByte(' ')
		}
		d.WriteString(strconv.Itoa(n))
		if i < len(a.Shape)-1 || len(a.Shape) == 1 {
			d.WriteByte(',')
		}
	}
	d.WriteString("), }")
	// numpy leaves room for the first (of C order) dimension to grow to 21 digits in place.
	if len(a.Shape) > 0 {
		d.WriteString(strings.Repeat(" ", 21-len(strconv.Itoa(a.Shape[0]))))
	}
	const prefix = len(npyMagic) + 4
	pad := 64 - (prefix+d.Len()+1)%64
	d.WriteString(strings.Repeat(" ", pad))
	d.WriteByte('\n')
	out := append(make([]byte, 0, prefix+d.Len()), npyMagic...)
	out = append(out, 1, 0)
	out = binary.LittleEndian.AppendUint16(out, uint16(d.Len()))
	return append(out, d.String()...)
}

// NPY returns the array as a NumPy 1.0 file, as it lies in a .gbx.
func NPY(a *Array) []byte { return append(npyHeader(a), a.Raw...) }

// parseNPY reads the header of a .npy file and returns shape, dtype and where the values begin. Versions 1.0 to 3.0 are
// read; big-endian, Fortran-ordered and object arrays are refused.
func parseNPY(b []byte) (a *Array, data int, err error) {
	if len(b) < 10 || string(b[:6]) != npyMagic {
		return nil, 0, fmt.Errorf("offset 0: wanted the start of a NumPy file, found %q", b[:min(len(b), 8)])
	}
	n, at := int(binary.LittleEndian.Uint16(b[8:])), 10
	switch {
	case b[6] == 1:
	case (b[6] == 2 || b[6] == 3) && len(b) >= 12:
		wide := binary.LittleEndian.Uint32(b[8:])
		if wide > 1<<20 {
			return nil, 0, fmt.Errorf("offset 8: header of %d bytes; wanted at most 1048576", wide)
		}
		n, at = int(wide), 12
	default:
		return nil, 0, fmt.Errorf("offset 6: wanted NumPy format 1, 2 or 3, found %d.%d", b[6], b[7])
	}
	if len(b) < at+n {
		return nil, 0, fmt.Errorf("offset %d: header of %d bytes is cut off at byte %d", at, n, len(b))
	}
	a, err = parseNPYDict(string(b[at : at+n]))
	return a, at + n, err
}

// parseNPYDict reads the Python literal of a header: a dictionary with exactly the keys descr, fortran_order and shape.
func parseNPYDict(s string) (*Array, error) {
	descr, ok1 := between(s, "'descr':", ",")
	fortran, ok2 := between(s, "'fortran_order':", ",")
	shape, ok3 := between(s, "'shape': (", ")")
	if !ok1 || !ok2 || !ok3 {
		return nil, fmt.Errorf("header: wanted descr, fortran_order and shape, found %.80q", s)
	}
	if fortran != "False" {
		return nil, fmt.Errorf("header: wanted C order ('fortran_order': False), found %q", fortran)
	}
	descr = strings.Trim(descr, "'")
	a := &Array{Shape: []int{}}
	if len(descr) != 3 || (descr[0] != '<' && descr[0] != '|') || itemSize[descr[1:]] == 0 || (descr[0] == '|') != (itemSize[descr[1:]] == 1) {
		return nil, fmt.Errorf("header: descr: wanted a little-endian number such as '<f4', found %q", descr)
	}
	a.DType = descr[1:]
	for _, f := range strings.Split(shape, ",") {
		f = strings.TrimSpace(f)
		if f == "" {
			continue
		}
		n, err := strconv.Atoi(f)
		if err != nil || n < 0 || len(a.Shape) == 32 {
			return nil, fmt.Errorf("header: shape: wanted at most 32 whole numbers, found %.80q", shape)
		}
		a.Shape = append(a.Shape, n)
	}
	return a, nil
}

// between returns what stands between two marks, without blanks.
func between(s, from, to string) (string, bool) {
	_, s, ok := strings.Cut(s, from)
	if !ok {
		return "", false
	}
	s, _, ok = strings.Cut(s, to)
	return strings.TrimSpace(s), ok
}
