package trace

// Array is what was copied out of a request's passes, on its way into the recording.
type Array struct {
	Name    string
	Shape   []int
	Axes    []string // one name for each dimension
	Meaning string
	Names   []string // along the first axis, where it is a list of parts
	Data    any      // []float32 or []int32, in C order; not changed any more
}

// Attach hands captured arrays over. They are part of the recording if they come before End.
func (r *Recorder) Attach(arrays ...Array) {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.arrays = append(r.arrays, arrays...)
	r.mu.Unlock()
}

// TakeArrays returns the arrays attached so far and forgets them. Only the collector calls it.
func (r *Recorder) TakeArrays() []Array {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.arrays
	r.arrays = nil
	return a
}
