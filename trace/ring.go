package trace

import "sync/atomic"

// ring is a bounded queue for one writer and one reader, without locks.
type ring[T any] struct {
	buf  []T
	head atomic.Uint64 // next to read
	tail atomic.Uint64 // next to write
}

// init sizes the ring; n must be a power of two.
func (r *ring[T]) init(n int) { r.buf = make([]T, n) }

// push appends v, or returns false when the ring is full.
func (r *ring[T]) push(v T) bool {
	t := r.tail.Load()
	if t-r.head.Load() == uint64(len(r.buf)) {
		return false
	}
	r.buf[t&uint64(len(r.buf)-1)] = v
	r.tail.Store(t + 1)
	return true
}

// halfFull tells whether the reader should hurry.
func (r *ring[T]) halfFull() bool { return r.tail.Load()-r.head.Load() >= uint64(len(r.buf)/2) }

// pop takes the oldest value.
func (r *ring[T]) pop() (v T, ok bool) {
	h := r.head.Load()
	if h == r.tail.Load() {
		return v, false
	}
	i := h & uint64(len(r.buf)-1)
	v = r.buf[i]
	var zero T
	r.buf[i] = zero // let the collector's garbage go
	r.head.Store(h + 1)
	return v, true
}
