package gguf

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// The keys that gguf-split writes into every part.
const (
	keySplitCount   = "split.count"
	keySplitNo      = "split.no"
	keySplitTensors = "split.tensors.count"
)

// partName is how the parts of a split file are called.
var partName = regexp.MustCompile(`(?s)^(.*)-(\d{5})-of-(\d{5})\.gguf$`)

// Open maps a GGUF file into memory and reads its metadata. Of a split file
// (split.count above 1) any part may be named; the others must lie beside it as
// NAME-00001-of-0000N.gguf. Metadata comes from the first part, tensors from
// all. A file that shrinks while it is open can end the program: the mapping is
// the operating system's. Errors are *Error.
func Open(path string) (*File, error) {
	f, err := openPart(path)
	if err != nil {
		return nil, err
	}
	n, no, err := f.split()
	if err == nil && n > 1 {
		return openSplit(f, n, no)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func openPart(path string) (*File, error) {
	data, unmap, err := load(path)
	if err != nil {
		return nil, err
	}
	f, err := parsePart(path, data, true)
	if err != nil {
		if e := (*Error)(nil); errors.As(err, &e) { // its texts may lie in the mapping
			e.Key, e.Tensor = strings.Clone(e.Key), strings.Clone(e.Tensor)
		}
		if unmap != nil {
			_ = unmap()
		}
		return nil, err
	}
	f.parts[0].unmap = unmap
	return f, nil
}

// load maps a regular file; an empty one gives no bytes.
func load(path string) ([]byte, func() error, error) {
	cannot := func(found, do string, err error) error {
		return &Error{File: path, Offset: -1, Wanted: "a GGUF file", Found: found, Do: do, Err: err}
	}
	// Asked before opening, because opening a pipe waits for its other end.
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, cannot("no such file", "check the path", err)
	case err != nil:
		return nil, nil, cannot(reason(err), "check the path and its permissions", err)
	case info.IsDir():
		return nil, nil, cannot("a directory", "give the path of the .gguf file in it", nil)
	case !info.Mode().IsRegular():
		return nil, nil, cannot("something that is no regular file", "give the path of a .gguf file", nil)
	case info.Size() == 0:
		return nil, nil, nil
	}
	data, unmap, err := mapFile(path)
	if err != nil {
		return nil, nil, cannot(reason(err), "check that the file can be read and fits the address space", err)
	}
	return data, unmap, nil
}

// reason is an error of the operating system without the path, which the line
// has already.
func reason(err error) string {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// split reads how many parts there are (0 for a whole file) and which one, from
// 0, this is.
func (f *File) split() (count, no uint64, err error) {
	if count, err = f.UintOr(keySplitCount, 0); err != nil || count <= 1 {
		return count, 0, err
	}
	if count > 99999 {
		return 0, 0, f.bad(keySplitCount, "at most 99999 parts", fmt.Sprint(count), doDamaged)
	}
	if no, err = f.Uint(keySplitNo); err == nil && no >= count {
		err = f.bad(keySplitNo, fmt.Sprintf("a part from 0 to %d", count-1), fmt.Sprint(no), doDamaged)
	}
	return count, no, err
}

// openSplit opens the parts beside named, which is part no, and joins them.
func openSplit(named *File, count, no uint64) (*File, error) {
	m := partName.FindStringSubmatch(named.Name)
	if m == nil || m[2] != fmt.Sprintf("%05d", no+1) || m[3] != fmt.Sprintf("%05d", count) {
		err := named.bad(keySplitCount, fmt.Sprintf("a file called NAME-%05d-of-%05d.gguf", no+1, count), "this name",
			"give the parts the names they were made with")
		_ = named.Close()
		return nil, err
	}
	parts := make([]*File, 0, 16)
	closeAll := func(err error) (*File, error) {
		_ = named.Close()
		for _, p := range parts {
			_ = p.Close()
		}
		return nil, err
	}
	for i := range count {
		p := named
		if i != no {
			var err error
			if p, err = openPart(fmt.Sprintf("%s-%05d-of-%s.gguf", m[1], i+1, m[3])); err != nil {
				return closeAll(err)
			}
		}
		parts = append(parts, p)
		n, at, err := p.split()
		if err == nil && (n != count || at != i) {
			err = p.bad(keySplitNo, fmt.Sprintf("part %d of %d", i+1, count), fmt.Sprintf("part %d of %d", at+1, n),
				"put the parts of one model together")
		}
		if err != nil {
			return closeAll(err)
		}
	}
	f, err := join(parts)
	if err != nil {
		return closeAll(err)
	}
	return f, nil
}

// join moves the tensors of all parts into the first.
func join(parts []*File) (*File, error) {
	f := parts[0]
	for i, p := range parts[1:] {
		for _, t := range p.tensors {
			if other := f.byName[t.Name]; other != nil {
				return nil, &Error{File: p.Name, Tensor: t.Name, Offset: t.Offset, Wanted: "each tensor in one part",
					Found: "it in part " + strconv.Itoa(other.Part+1) + " too", Do: "put the parts of one model together"}
			}
			t.Part = i + 1
			f.byName[t.Name] = t
			f.tensors = append(f.tensors, t)
		}
		f.Size += p.Size
	}
	want, err := f.UintOr(keySplitTensors, uint64(len(f.tensors)))
	if err != nil {
		return nil, err
	}
	if want != uint64(len(f.tensors)) {
		return nil, f.bad(keySplitTensors, fmt.Sprintf("%d tensors in all parts", want), fmt.Sprint(len(f.tensors)),
			"put the parts of one model together")
	}
	for _, p := range parts[1:] {
		f.parts = append(f.parts, p.parts...)
	}
	return f, nil
}
