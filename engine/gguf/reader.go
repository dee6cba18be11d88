package gguf

import (
	"fmt"
	"math/bits"

	"glassbox/engine/tensor"
)

// Limits of the specification, and maxDepth of our own: arrays of arrays are
// legal, but each level is a level of recursion here.
const (
	maxKeyBytes  = 65535
	maxNameBytes = 64
	maxDims      = 4
	maxDepth     = 8
	minAlignment = 8
	maxAlignment = 1 << 30
)

// The fewest bytes a metadata pair, a tensor description, a string and an inner
// array can take: they bound every count before it is believed.
const (
	minKVBytes     = 8 + 1 + 4 + 1
	minTensorBytes = 8 + 1 + 4 + 8 + 4 + 8
	minStringBytes = 8
	minArrayBytes  = 4 + 8
)

// reader walks the bytes of one file. key and tensor are the context of errors.
type reader struct {
	file, key, tensor string
	buf               string // the file, or at least its metadata
	pos               int
	size              int64 // bytes of the file
}

func (r *reader) fail(at int, wanted, found, do string) *Error {
	return &Error{File: r.file, Key: r.key, Tensor: r.tensor, Offset: int64(at), Wanted: wanted, Found: found, Do: do}
}

// take gives the next n bytes.
func (r *reader) take(n uint64, what string) (string, error) {
	left := uint64(len(r.buf) - r.pos)
	if n > left {
		return "", r.fail(r.pos, fmt.Sprintf("%d bytes of %s", n, what),
			fmt.Sprintf("%d bytes before the end", left), doAgain)
	}
	b := r.buf[r.pos : r.pos+int(n)]
	r.pos += int(n)
	return b, nil
}

func (r *reader) u32(what string) (uint32, error) {
	b, err := r.take(4, what)
	return uint32(word(b)), err
}

func (r *reader) u64(what string) (uint64, error) {
	b, err := r.take(8, what)
	return word(b), err
}

// count reads a number of things that take at least each bytes.
func (r *reader) count(what string, each int) (int, error) {
	at := r.pos
	n, err := r.u64("the count of " + what)
	if err != nil {
		return 0, err
	}
	return r.checkCount(at, n, what, each)
}

func (r *reader) checkCount(at int, n uint64, what string, each int) (int, error) {
	if left := len(r.buf) - r.pos; n > uint64(left/each) {
		return 0, r.fail(at, fmt.Sprintf("at most %d %s in the %d bytes that follow", left/each, what, left), fmt.Sprint(n), doAgain)
	}
	return int(n), nil
}

// name reads a string that must have 1 to limit bytes.
func (r *reader) name(what string, limit int) (string, error) {
	at := r.pos
	n, err := r.u64("the length of " + what)
	if err != nil {
		return "", err
	}
	if n == 0 || n > uint64(limit) {
		return "", r.fail(at, fmt.Sprintf("%s of 1 to %d bytes", what, limit), fmt.Sprintf("a length of %d", n), doDamaged)
	}
	return r.take(n, what)
}

// value reads a value of type t. depth is the number of arrays around it.
func (r *reader) value(t ValueType, depth int) (Value, error) {
	v := Value{typ: t, off: int64(r.pos)}
	var err error
	switch {
	case t.size() > 0:
		if v.raw, err = r.take(uint64(t.size()), "a "+t.String()); err == nil && t == TypeBool {
			err = r.checkBools(v.raw)
		}
	case t == TypeString:
		var n uint64
		if n, err = r.u64("the length of a string"); err == nil {
			v.off = int64(r.pos)
			v.raw, err = r.take(n, "a string")
		}
	case t == TypeArray:
		err = r.array(&v, depth)
	default:
		err = r.fail(r.pos, "a value type from 0 to 12", fmt.Sprint(uint32(t)), doConvert)
	}
	return v, err
}

func (r *reader) array(v *Value, depth int) error {
	at := r.pos
	if depth >= maxDepth {
		return r.fail(at, fmt.Sprintf("at most %d arrays inside each other", maxDepth), "one more", doDamaged)
	}
	elem, err := r.u32("the type of array elements")
	if err != nil {
		return err
	}
	v.elem = ValueType(elem)
	each := v.elem.size()
	switch {
	case !v.elem.known():
		return r.fail(at, "an array element type from 0 to 12", fmt.Sprint(elem), doConvert)
	case v.elem == TypeString:
		each = minStringBytes
	case v.elem == TypeArray:
		each = minArrayBytes
	}
	if v.n, err = r.count("array elements", each); err != nil {
		return err
	}
	start := r.pos
	v.off = int64(start)
	if v.elem.size() > 0 {
		if v.raw, err = r.take(uint64(v.n)*uint64(each), "array elements"); err == nil && v.elem == TypeBool {
			err = r.checkBools(v.raw)
		}
		return err
	}
	for range v.n {
		if _, err := r.value(v.elem, depth+1); err != nil {
			return err
		}
	}
	v.raw = r.buf[start:r.pos]
	return nil
}

// checkBools holds the just read bytes to the two values the format allows.
func (r *reader) checkBools(raw string) error {
	for i := range len(raw) {
		if raw[i] > 1 {
			return r.fail(r.pos-len(raw)+i, "a bool of 0 or 1", fmt.Sprint(raw[i]), doDamaged)
		}
	}
	return nil
}

// kv reads one metadata pair.
func (r *reader) kv() (KV, error) {
	r.key = ""
	key, err := r.name("a metadata key", maxKeyBytes)
	if err != nil {
		return KV{}, err
	}
	r.key = key
	t, err := r.u32("a value type")
	if err != nil {
		return KV{}, err
	}
	r.pos -= 4 // an unknown type is blamed on its own bytes
	if !ValueType(t).known() {
		return KV{}, r.fail(r.pos, "a value type from 0 to 12", fmt.Sprint(t), doConvert)
	}
	r.pos += 4
	v, err := r.value(ValueType(t), 0)
	return KV{key, v}, err
}

// tensorInfo reads one tensor description. Data is not set, and Offset counts
// from the start of the tensor data.
func (r *reader) tensorInfo() (*Tensor, error) {
	r.tensor = ""
	name, err := r.name("a tensor name", maxNameBytes)
	if err != nil {
		return nil, err
	}
	r.tensor = name
	at := r.pos
	n, err := r.u32("the number of dimensions")
	if err != nil {
		return nil, err
	}
	if n == 0 || n > maxDims {
		return nil, r.fail(at, fmt.Sprintf("1 to %d dimensions", maxDims), fmt.Sprint(n), doDamaged)
	}
	at = r.pos
	var dims [maxDims]uint64
	for i := range dims[:n] {
		if dims[i], err = r.u64("a dimension"); err != nil {
			return nil, err
		}
	}
	typeAt := r.pos
	id, err := r.u32("a tensor type")
	if err != nil {
		return nil, err
	}
	t := &Tensor{Name: name, Type: tensor.Type(id)}
	if err := r.checkType(typeAt, t.Type); err != nil {
		return nil, err
	}
	if t.size, err = r.checkDims(at, t.Type, dims[:n]); err != nil {
		return nil, err
	}
	t.Dims = make([]int, n)
	for i, d := range dims[:n] {
		t.Dims[i] = int(d)
	}
	offset, err := r.u64("a tensor offset")
	if err == nil && offset > uint64(r.size) {
		err = r.fail(r.pos-8, fmt.Sprintf("an offset inside the %d bytes of the file", r.size), fmt.Sprint(offset), doAgain)
	}
	t.Offset = int64(offset)
	return t, err
}

func (r *reader) checkType(at int, t tensor.Type) error {
	switch {
	case t.Removed():
		return r.fail(at, "a tensor type that ggml still has", t.Name()+", which ggml removed", doConvert)
	case !t.Known():
		return r.fail(at, "a known tensor type", fmt.Sprintf("id %d", uint32(t)), "use a file quantized to Q8_0 or Q4_K_M")
	}
	return nil
}

// checkDims gives the bytes of a tensor, with no product allowed to wrap or to
// pass the size of the file.
func (r *reader) checkDims(at int, t tensor.Type, dims []uint64) (int64, error) {
	block := uint64(t.BlockSize())
	if dims[0] == 0 || dims[0]%block != 0 {
		return 0, r.fail(at, fmt.Sprintf("a first dimension of whole %s blocks of %d", t, block), fmt.Sprint(dims[0]), doDamaged)
	}
	size, overflow := dims[0]/block, uint64(0)
	for _, factor := range append([]uint64{uint64(t.BlockBytes())}, dims[1:]...) {
		if factor == 0 {
			return 0, r.fail(at, "dimensions from 1", fmt.Sprint(dims), doDamaged)
		}
		var high uint64
		high, size = bits.Mul64(size, factor)
		overflow |= high
	}
	if overflow != 0 || size > uint64(r.size) {
		found := fmt.Sprintf("dimensions %v that need %d", dims, size)
		if overflow != 0 {
			found = fmt.Sprintf("dimensions %v whose product does not fit 64 bits", dims)
		}
		return 0, r.fail(at, fmt.Sprintf("a %s tensor within the %d bytes of the file", t, r.size), found, doAgain)
	}
	return int64(size), nil
}
