// Package gguf reads and writes GGUF model files, versions 2 and 3: metadata,
// tensor descriptions and the tensors' bytes, from one file or several parts.
// A file is treated as hostile: every count, length, offset and product is
// checked before it is used or allocated for. Source: docs/gguf.md of ggml-org/ggml.
//
// It does not know about architectures, what a key means (except those that
// describe the file itself: general.alignment, split.*), or arithmetic on weights.
package gguf

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"glassbox/engine/tensor"
)

// File is an open GGUF file. Its methods may be called from many goroutines;
// Close only when no tensor's Data is in use any more.
type File struct {
	Name    string // as given to Open or Parse
	Version uint32 // 2 or 3, of the first part
	Size    int64  // bytes of all parts

	kvs     []KV
	index   map[string]int
	tensors []*Tensor
	byName  map[string]*Tensor
	parts   []part

	mu  sync.Mutex
	sum string
}

// part is one file on disk, or the bytes given to Parse.
type part struct {
	name  string
	data  []byte
	unmap func() error
}

// Tensor is one tensor of a file.
type Tensor struct {
	Name   string
	Type   tensor.Type
	Dims   []int  // ggml order: Dims[0] is the contiguous one, the columns
	Data   []byte // Rows() rows of Type.RowBytes(Cols()) bytes; read-only, gone after Close
	Offset int64  // of Data in its part
	Part   int    // which part of a split file, from 0

	size int64 // bytes that Type and Dims need
}

// Cols is the number of weights of a row.
func (t *Tensor) Cols() int { return t.Dims[0] }

// Rows is the number of rows: the product of all dimensions but the first.
func (t *Tensor) Rows() int {
	n := 1
	for _, d := range t.Dims[1:] {
		n *= d
	}
	return n
}

// Parse reads a whole file from memory, without copying: data must not change
// as long as the File, its values or strings are in use. name is for errors.
// A part of a split file is refused; Open finds the others. Errors are *Error.
func Parse(name string, data []byte) (*File, error) {
	p, err := parsePart(name, data, false)
	if err != nil {
		return nil, err
	}
	if n, _, err := p.split(); err != nil {
		return nil, err
	} else if n > 1 {
		return nil, &Error{File: name, Key: keySplitCount, Offset: -1, Wanted: "a whole model",
			Found: fmt.Sprintf("one of %d parts", n), Do: "open the first part by its path, with the other parts beside it"}
	}
	return p, nil
}

// Keys are all metadata pairs in the order of the file; of a split file, those
// of the first part. Do not change the slice.
func (f *File) Keys() []KV { return f.kvs }

// Value finds a metadata value.
func (f *File) Value(key string) (Value, bool) {
	i, ok := f.index[key]
	if !ok {
		return Value{}, false
	}
	return f.kvs[i].Value, true
}

// Tensors are all tensors in the order of the file. Do not change the slice.
func (f *File) Tensors() []*Tensor { return f.tensors }

// Tensor finds a tensor by name.
func (f *File) Tensor(name string) (*Tensor, bool) {
	t, ok := f.byName[name]
	return t, ok
}

// SHA256 is the hash, in hex, of the file's bytes, or of all parts of a split
// file one after the other. It is computed at the first call, which reads
// everything, and kept; after Close, if never computed, it is "".
func (f *File) SHA256() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sum == "" && len(f.parts) > 0 {
		h := sha256.New()
		for _, p := range f.parts {
			h.Write(p.data)
		}
		f.sum = hex.EncodeToString(h.Sum(nil))
	}
	return f.sum
}

// Close gives the mapped memory back. Metadata and strings stay valid; the Data
// of every tensor becomes nil, and slices kept of it must not be read again.
// Closing twice is fine.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range f.tensors {
		t.Data = nil
	}
	var first error
	for _, p := range f.parts {
		if p.unmap == nil {
			continue
		}
		if err := p.unmap(); err != nil && first == nil {
			first = fmt.Errorf("gguf: %s: cannot unmap: %w", p.name, err)
		}
	}
	f.parts = nil
	return first
}

// parsePart reads one file. With own set, metadata is copied out of data, so
// that it outlives the mapping.
func parsePart(name string, data []byte, own bool) (*File, error) {
	f := &File{Name: name, Size: int64(len(data)), index: map[string]int{}, byName: map[string]*Tensor{},
		parts: []part{{name: name, data: data}}}
	r := &reader{file: name, buf: unsafe.String(unsafe.SliceData(data), len(data)), size: f.Size}
	if err := f.header(r); err != nil {
		return nil, err
	}
	for _, t := range f.tensors {
		t.Data = data[t.Offset:][:t.size:t.size]
	}
	if own {
		f.detach(r.pos, r.buf)
	}
	return f, nil
}

// detach moves the metadata, the first n bytes of buf, to memory of its own.
func (f *File) detach(n int, buf string) {
	head := strings.Clone(buf[:n])
	index := make(map[string]int, len(f.kvs))
	for i := range f.kvs {
		kv := &f.kvs[i]
		kv.Key = strings.Clone(kv.Key)
		kv.Value.raw = head[kv.Value.off:][:len(kv.Value.raw)]
		index[kv.Key] = i
	}
	byName := make(map[string]*Tensor, len(f.tensors))
	for _, t := range f.tensors {
		t.Name = strings.Clone(t.Name)
		byName[t.Name] = t
	}
	f.index, f.byName = index, byName
}

// header reads everything but the weights, and places each tensor.
func (f *File) header(r *reader) error {
	var err error
	if f.Version, err = r.magic(); err != nil {
		return err
	}
	tensors, err := r.count("tensors", minTensorBytes)
	if err != nil {
		return err
	}
	kvs, err := r.count("metadata pairs", minKVBytes)
	if err != nil {
		return err
	}
	for range kvs {
		at := r.pos
		kv, err := r.kv()
		if err != nil {
			return err
		}
		if _, twice := f.index[kv.Key]; twice {
			return r.fail(at, "each key once", "it a second time", doDamaged)
		}
		f.index[kv.Key] = len(f.kvs)
		f.kvs = append(f.kvs, kv)
	}
	r.key = ""
	for range tensors {
		at := r.pos
		t, err := r.tensorInfo()
		if err != nil {
			return err
		}
		if f.byName[t.Name] != nil {
			return r.fail(at, "each tensor once", "it a second time", doDamaged)
		}
		f.byName[t.Name] = t
		f.tensors = append(f.tensors, t)
	}
	r.tensor = ""
	return f.place(r)
}

// place checks where each tensor lies and makes its Offset count from the start
// of the file.
func (f *File) place(r *reader) error {
	align, err := f.alignment()
	if err != nil {
		return err
	}
	start := (int64(r.pos) + align - 1) / align * align
	for _, t := range f.tensors {
		r.tensor = t.Name
		if t.Offset%align != 0 {
			return r.fail(-1, fmt.Sprintf("an offset that is a multiple of %d", align), fmt.Sprint(t.Offset), doDamaged)
		}
		// Neither can wrap: start is near the file's size, and both terms were
		// held to the file's size before.
		at := start + t.Offset
		if at+t.size > r.size {
			return r.fail(int(at), fmt.Sprintf("%d bytes of weights", t.size),
				fmt.Sprintf("%d before the end of the file", max(0, r.size-at)), doAgain)
		}
		t.Offset = at
	}
	byOffset := slices.Clone(f.tensors)
	slices.SortFunc(byOffset, func(a, b *Tensor) int { return cmp.Compare(a.Offset, b.Offset) })
	for i, t := range byOffset[min(1, len(byOffset)):] {
		if prev := byOffset[i]; prev.Offset+prev.size > t.Offset {
			r.tensor = t.Name
			return r.fail(int(t.Offset), "weights that belong to one tensor", "an overlap with "+quote(prev.Name), doDamaged)
		}
	}
	return nil
}

// alignment is the alignment of tensor data in bytes.
func (f *File) alignment() (int64, error) {
	a, err := f.UintOr("general.alignment", 32)
	if err != nil {
		return 0, err
	}
	if a < minAlignment || a > maxAlignment || a&(a-1) != 0 {
		return 0, f.bad("general.alignment", fmt.Sprintf("a power of two from %d to %d", minAlignment, maxAlignment), fmt.Sprint(a), doDamaged)
	}
	return int64(a), nil
}
