package trace

// PassKind says what an engine pass does for a request.
type PassKind uint8

// Kinds of pass. A pass that carries prompt tokens of a request is a prefill pass for that request.
const (
	Prefill PassKind = iota
	Decode
	Verify
	Draft
)

// String returns the kind's name in a recording.
func (k PassKind) String() string { return [...]string{"prefill", "decode", "verify", "draft"}[k] }

// Pass is one run of the whole model over a batch of tokens.
type Pass struct {
	Index    int // counts the passes of this request from 0
	Kind     PassKind
	Tokens   int   // of this request in this pass
	Batch    int   // of all requests in this pass
	Requests int   // in this pass
	Start    int64 // ns, clock of Now
	Dur      int64 // ns
	Capture  int64 // ns of Dur between the ops in which values were copied out or changed, for any request of the pass
	Paused   int64 // ns of Dur between the ops in which the engine stood still at a breakpoint, of any request of the pass
}

// OpTime is the measured run of one op of a pass: from the moment the workers enter it to the moment the last of them is
// done. Ops of a pass follow each other and never overlap.
type OpTime struct {
	Op     OpID
	Layer  int16 // -1 outside the layers
	Kernel KernelID
	Start  int64   // ns, clock of Now
	Dur    int64   // ns
	Bytes  int64   // read and written, derived from shapes
	Flops  int64   // derived from shapes
	PC     uintptr // the line of the model that put the op into the graph
	Fn     uintptr // the backend's function that ran it
}

// PassOps is a pass with the times of its ops. Busy holds, for op i and worker w at [i*Workers+w], the nanoseconds that
// worker spent in the op; the rest of the op's time it waited for the others.
type PassOps struct {
	Pass
	Workers int
	Ops     []OpTime
	Busy    []uint32
	Calls   []Call // to the driver of a device, in order; none where there is no driver
	Clocks  Clocks // with Calls
}

// Reset makes room for n ops of the given number of workers, reusing memory.
func (p *PassOps) Reset(n, workers int) {
	if cap(p.Ops) < n {
		p.Ops = make([]OpTime, n)
	}
	if cap(p.Busy) < n*workers {
		p.Busy = make([]uint32, n*workers)
	}
	p.Ops, p.Busy, p.Workers = p.Ops[:n], p.Busy[:n*workers], workers
	p.Calls, p.Clocks = p.Calls[:0], Clocks{}
}

// Pass hands a copy of a measured pass to the recorder. The loop calls it once a pass and request; when the collector is
// too slow the ops of the pass are dropped and counted.
func (r *Recorder) Pass(src *PassOps, as Pass) {
	if r == nil {
		return
	}
	p, ok := r.free.pop()
	if !ok {
		p = new(PassOps)
	}
	p.Reset(len(src.Ops), src.Workers)
	copy(p.Ops, src.Ops)
	copy(p.Busy, src.Busy)
	p.Calls, p.Clocks = append(p.Calls, src.Calls...), src.Clocks
	p.Pass = as
	if !r.passes.push(p) {
		r.dropped.Add(int64(len(src.Ops)))
	}
	if r.passes.halfFull() {
		r.nudge()
	}
}

// Recycle gives a drained pass back, so that the loop need not allocate the next one.
func (r *Recorder) Recycle(p *PassOps) { r.free.push(p) }
