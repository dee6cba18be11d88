package file

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
)

// traceName is the member of a .gbx that holds the text form.
const traceName = "trace.json"

// WriteGBX writes the zip form: trace.json, then NAME.npy for each array whose values are at hand.
func WriteGBX(w io.Writer, rec *Recording) error {
	if err := checkForWrite(rec); err != nil {
		return err
	}
	z := newPacker(w)
	if err := z.member(traceName, func(w io.Writer) error { return encodeJSON(w, rec, false) }); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(rec.Arrays)) {
		a := rec.Arrays[name]
		if a.Raw == nil {
			if a.Omitted == "" {
				return fmt.Errorf("arrays[%q]: no values; set Omitted to say why", name)
			}
			continue
		}
		err := z.member(name+".npy", func(w io.Writer) error {
			if _, err := w.Write(npyHeader(a)); err != nil {
				return err
			}
			_, err := w.Write(a.Raw)
			return err
		})
		if err != nil {
			return err
		}
	}
	return z.zip.Close()
}

// packer writes the members of a zip, each packed in memory first: its size and checksum then stand in front of it, and a
// thousand small members share one compressor.
type packer struct {
	zip  *zip.Writer
	buf  bytes.Buffer
	pack *flate.Writer
}

func newPacker(w io.Writer) *packer {
	p := &packer{zip: zip.NewWriter(w)}
	p.pack, _ = flate.NewWriter(&p.buf, flate.DefaultCompression) // a level that it knows
	return p
}

// member writes a file. Its date is fixed so that the same recording gives the same bytes.
func (p *packer) member(name string, write func(io.Writer) error) error {
	p.buf.Reset()
	p.pack.Reset(&p.buf)
	sum, size := crc32.NewIEEE(), counted(0)
	if err := write(io.MultiWriter(p.pack, sum, &size)); err != nil {
		return err
	}
	if err := p.pack.Close(); err != nil {
		return err
	}
	const firstOf1980 = 1<<5 | 1 // as MS-DOS counts
	//lint:ignore SA1019 Modified would add an extra field to every member
	w, err := p.zip.CreateRaw(&zip.FileHeader{Name: name, Method: zip.Deflate, ModifiedDate: firstOf1980, ReaderVersion: 20,
		CRC32: sum.Sum32(), CompressedSize64: uint64(p.buf.Len()), UncompressedSize64: uint64(size)})
	if err != nil {
		return err
	}
	_, err = w.Write(p.buf.Bytes())
	return err
}

// counted is how many bytes were written to it.
type counted uint64

func (c *counted) Write(b []byte) (int, error) {
	*c += counted(len(b))
	return len(b), nil
}

// checkArrayName keeps array names usable as a file's name inside the zip and as a key of numpy.load.
func checkArrayName(name string) error {
	ok := name != "" && len(name) <= 200 && path.Clean(name) == name && !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "..")
	for _, c := range name {
		ok = ok && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_-./", c))
	}
	if !ok {
		return fmt.Errorf("arrays: name %.80q: wanted letters, digits, _ - . and / between them", name)
	}
	return nil
}

// readGBX reads the zip form.
func readGBX(r io.ReaderAt, size int64, lim Limits) (*Recording, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("zip: the directory at the end is missing or broken (%v) in %d bytes: the file is cut off; open its NAME.part, or record again", err, size)
	}
	members := map[string]*zip.File{}
	for _, f := range z.File {
		if members[f.Name] != nil {
			return nil, fmt.Errorf("zip: member %.80q is there twice", f.Name)
		}
		members[f.Name] = f
	}
	f := members[traceName]
	if f == nil {
		return nil, fmt.Errorf("zip: wanted a member %s, found %d others", traceName, len(z.File))
	}
	raw, err := readMember(f, lim.JSON)
	if err != nil {
		return nil, err
	}
	rec, err := decodeJSON(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", traceName, err)
	}
	left := lim.Arrays
	for _, name := range slices.Sorted(maps.Keys(rec.Arrays)) {
		a := rec.Arrays[name]
		f := members[name+".npy"]
		if f == nil {
			if a.Omitted == "" && a.Raw == nil {
				return nil, fmt.Errorf("zip: arrays lists %q, but there is no member %s.npy", name, name)
			}
			continue
		}
		if err := readArray(f, a, left); err != nil {
			return nil, err
		}
		left -= int64(len(a.Raw))
	}
	return rec, nil
}

// readArray fills in the values of an array and holds its header against its entry in trace.json.
func readArray(f *zip.File, a *Array, most int64) error {
	raw, err := readMember(f, most)
	if err != nil {
		return err
	}
	head, at, err := parseNPY(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	if head.DType != a.DType || !slices.Equal(head.Shape, a.Shape) {
		return fmt.Errorf("%s: holds %s %v, but trace.json says %s %v", f.Name, head.DType, head.Shape, a.DType, a.Shape)
	}
	want, err := head.Len()
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	if int64(len(raw)-at) != want {
		return fmt.Errorf("%s: offset %d: shape %v of %s wants %d bytes, found %d", f.Name, at, head.Shape, head.DType, want, len(raw)-at)
	}
	a.Raw = raw[at:]
	return nil
}

// readMember unpacks a member of at most most bytes. What the zip says of the size is not trusted: memory grows with the
// bytes that really come out.
func readMember(f *zip.File, most int64) ([]byte, error) {
	if f.UncompressedSize64 > uint64(max(most, 0)) {
		return nil, fmt.Errorf("%s: unpacks to %d bytes; wanted at most %d", f.Name, f.UncompressedSize64, most)
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	defer r.Close()
	raw, err := io.ReadAll(io.LimitReader(r, most+1))
	switch {
	case errors.Is(err, zip.ErrChecksum):
		return nil, fmt.Errorf("%s: checksum does not match: the file was damaged", f.Name)
	case err != nil:
		return nil, fmt.Errorf("%s: after %d of %d bytes: %w", f.Name, len(raw), f.UncompressedSize64, err)
	case int64(len(raw)) > most:
		return nil, fmt.Errorf("%s: unpacks to more than %d bytes", f.Name, most)
	}
	return raw, nil
}
