package cpu

import (
	"fmt"
	"math"
	"reflect"
	"sync"
	"sync/atomic"

	"glassbox/engine/backend/cpu/kern"
	"glassbox/engine/graph"
	"glassbox/engine/tensor"
	"glassbox/trace"
)

// op is the function of a kind of node: it does worker w's part.
type op func(b *Backend, s *step, w int)

// step is a node, made ready.
type step struct {
	n      *graph.Node
	fn     op
	pc     uintptr           // entry of fn
	kernel [2]trace.KernelID // for few and for many rows
	mat    *kern.Mat         // MatMul
	bias   []float32         // MatMul, padded, may be nil
	norm   []float32         // RMSNorm, HeadNorm, padded
	turns  *turns            // RoPE
	fresh  bool              // MatMul: the input must be quantised; RoPE: the tables must be filled
	big    bool              // MatMul: the weights are worth dealing out even for one token
	least  int               // MatMul: pairs of rows to deal out at least
	share  *share
	runOn  bool // the next step needs nothing of what the others do in this one: no barrier between them
}

// turns are the rotation tables of the batch's tokens, for one Rope: Dim floats a token.
type turns struct {
	freq     []float64
	cos, sin []float32
}

// ops has the function of each kind, and the kernel it calls most.
var ops = map[graph.Kind]struct {
	fn     op
	kernel string
}{
	graph.Embed: {embed, ""}, graph.RMSNorm: {rmsNorm, "scaleMul"}, graph.MatMul: {matMul, ""}, graph.RoPE: {rope, "rope"},
	graph.KVWrite: {kvWrite, "keyColumn"}, graph.Scores: {scores, "attnQK"}, graph.Softmax: {softmax, "softmax"},
	graph.Mix: {mix, "attnPV"}, graph.Add: {add, "addVec"}, graph.SwiGLU: {swiGLU, "siluMul"},
	graph.HeadNorm: {headNorm, "scaleMul"}, graph.GeGLU: {geGLU, "geluMul"},
	graph.AllReduce: {allReduce, ""},
}

// bigWeights and leastWeights are bytes: from where on weights are dealt out for one token, and how much at a time.
const (
	bigWeights   = 2 << 20
	leastWeights = 32 << 10
)

// makeSteps gives each node its function and its weights, packed.
func (b *Backend) makeSteps() error {
	mats := map[*graph.Weight]*kern.Mat{}
	var order []*graph.Weight
	ropes := map[*graph.Rope]*turns{}
	writes := make([]int, len(b.g.Bufs)) // of each buffer so far
	type input struct {
		buf     graph.Buf
		version int
		quant   kern.Quant
	}
	last := input{buf: graph.NoBuf}
	for _, n := range b.g.Nodes {
		o, ok := ops[n.Kind]
		if !ok {
			return fmt.Errorf("cpu: op %s of layer %d: wanted a kind that this backend has, found %v: choose --backend ref", n.Op, n.Layer, n.Kind)
		}
		s := step{n: n, fn: o.fn, pc: reflect.ValueOf(o.fn).Pointer(), share: new(share)}
		id := trace.Kernel("")
		if o.kernel != "" {
			id = trace.Kernel(b.k.Name(o.kernel))
		}
		s.kernel = [2]trace.KernelID{id, id}
		var err error
		switch n.Kind {
		case graph.MatMul:
			if mats[n.W] == nil {
				if mats[n.W], err = b.k.NewMat(n.W.Type, n.W.Rows, n.W.Cols); err != nil {
					return fmt.Errorf("tensor %s: %w", n.W.Name, err)
				}
				order = append(order, n.W)
			}
			s.mat = mats[n.W]
			in := input{n.A, writes[n.A], s.mat.Quant()}
			s.fresh = in != last && in.quant != kern.AsFloat
			if in.quant != kern.AsFloat {
				last = in
			}
			s.kernel = [2]trace.KernelID{trace.Kernel(s.mat.Kernel(1)), trace.Kernel(s.mat.Kernel(manyTokens))}
			s.big = len(n.W.Data) >= bigWeights
			s.least = max(1, leastWeights*s.mat.Pairs/max(len(n.W.Data), 1))
			if n.Bias != nil {
				s.bias, err = vector(n.Bias)
			}
		case graph.RMSNorm, graph.HeadNorm:
			s.norm, err = vector(n.W)
		case graph.RoPE:
			if s.fresh = ropes[n.Rope] == nil; s.fresh {
				ropes[n.Rope] = newTurns(n.Rope, b.o.MaxTokens)
			}
			s.turns = ropes[n.Rope]
			writes[n.B]++
		}
		if err != nil {
			return err
		}
		if n.Out != graph.NoBuf {
			writes[n.Out]++
		}
		b.steps = append(b.steps, s)
	}
	b.runsOn()
	return b.pack(order, mats)
}

// vector expands a weight of one row, padded with zeros.
func vector(w *graph.Weight) ([]float32, error) {
	n := w.Rows * w.Cols
	v := make([]float32, (n+kern.Pad-1)/kern.Pad*kern.Pad)
	if err := tensor.Dequant(w.Type, v[:n], w.Data); err != nil {
		return nil, fmt.Errorf("cpu: tensor %s: %w", w.Name, err)
	}
	return v, nil
}

// newTurns computes the frequencies: pair i turns by Base^(-2i/Dim), divided by its factor (Su et al. 2021).
func newTurns(r *graph.Rope, tokens int) *turns {
	t := &turns{cos: make([]float32, tokens*r.Dim), sin: make([]float32, tokens*r.Dim)}
	for i := range r.Dim / 2 {
		f := math.Pow(r.Base, -2*float64(i)/float64(r.Dim))
		if r.Factors != nil {
			f /= r.Factors[i]
		}
		t.freq = append(t.freq, f)
	}
	return t
}

// pack lays all matrices out in one piece of large pages, on all threads.
func (b *Backend) pack(order []*graph.Weight, mats map[*graph.Weight]*kern.Mat) error {
	type job struct {
		m      *kern.Mat
		src    []byte
		p0, p1 int
	}
	var jobs []job
	total := 0
	const page = 4096
	for _, w := range order {
		m := mats[w]
		if want := w.Rows * w.Type.RowBytes(w.Cols); len(w.Data) != want || want == 0 {
			return fmt.Errorf("cpu: tensor %s: wanted %d bytes for %d rows of %d columns of %v, found %d: the file is damaged", w.Name, want, w.Rows, w.Cols, w.Type, len(w.Data))
		}
		total += (m.Size() + page - 1) / page * page
		step := max(1, m.Pairs*(512<<10)/len(w.Data)) // some 512 KiB a job
		for p := 0; p < m.Pairs; p += step {
			jobs = append(jobs, job{m, w.Data, p, min(p+step, m.Pairs)})
		}
	}
	var err error
	if b.weights, err = allocate(total, true); err != nil {
		return err
	}
	off := 0
	for _, w := range order {
		m := mats[w]
		m.Data = b.weights.b[off : off+m.Size() : off+m.Size()]
		off += (m.Size() + page - 1) / page * page
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range b.o.Threads {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := next.Add(1) - 1; i < int64(len(jobs)); i = next.Add(1) - 1 {
				j := jobs[i]
				j.m.PackPairs(j.src, j.p0, j.p1)
			}
		}()
	}
	wg.Wait()
	return nil
}
