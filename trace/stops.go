package trace

// Halt is a moment in which the engine stood still in a pass, at a request's breakpoint: after an op had run and before
// the next one began.
type Halt struct {
	Op    OpID
	Layer int // -1 outside the layers
	Token int // position in the sequence, from 0
	Pass  int // of the request
	Start int64
	Dur   int64
	Ended string // what made it go on: "continue", "op", "layer", "run", "limit", "cancelled" or "closed"
}

// Edit is a change of values that an op had written, made while the engine stood still. Old and New have the values from
// Index on, of the op's output as one list.
type Edit struct {
	Op     OpID
	Layer  int // -1 outside the layers
	Token  int // position in the sequence, from 0
	Pass   int // of the request
	Part   string
	Index  int
	How    string  // "set", "scale" or "zero"
	Factor float64 // of How "scale"
	Old    []float32
	New    []float32
	At     int64 // clock of Now
}

// Halted notes a stand-still that is over.
func (r *Recorder) Halted(h Halt) { r.Update(func(f *Facts) { f.Halts = append(f.Halts, h) }) }

// Edited notes a change. The lists must not be changed afterwards.
func (r *Recorder) Edited(e Edit) { r.Update(func(f *Facts) { f.Edits = append(f.Edits, e) }) }

// ParseOp finds an op by its name.
func ParseOp(name string) (OpID, bool) {
	for o := OpNone + 1; o < opEnd; o++ {
		if o.String() == name {
			return o, true
		}
	}
	return OpNone, false
}
