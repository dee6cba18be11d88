//go:build cuda

package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"glassbox/engine/backend"
	"glassbox/engine/backend/cuda"
	"glassbox/engine/backend/cuda/driver"
	"glassbox/engine/backend/ref"
	"glassbox/engine/graph"
	"glassbox/engine/kv"
	"glassbox/engine/tensor"
	"glassbox/trace"
	"glassbox/trace/file"
)

// plan is how much is done.
type plan struct {
	Shape      shape
	Prompt     int   // tokens of a prefill
	Context    int   // positions before decode
	Steps      int   // decode passes measured
	Concurrent []int // sequences decoded at once
	Copy       int64 // bytes copied for the roof
}

var (
	fullPlan  = plan{llama8B, 512, 256, 24, []int{1, 8, 32}, 1 << 30}
	smallPlan = plan{shape{2, 256, 512, 8, 2, 32, 512}, 40, 20, 3, []int{1, 3, 9}, 1 << 16}
)

// result is what was found of one format. Times are ns; 0 is not measured.
type result struct {
	Format      string       `json:"format"`
	Shape       shape        `json:"shape"`
	WeightBytes int64        `json:"weight_bytes_per_pass"`
	LoadNs      int64        `json:"load_ns"`
	PrefillNs   int64        `json:"prefill_ns"`
	Prompt      int          `json:"prompt_tokens"`
	Decode      []decodeTime `json:"decode"`
	TracedNs    int64        `json:"traced_decode_ns"` // one sequence, a kernel an op with events
	ResidualNs  int64        `json:"clock_residual_ns"`
	DriftNs     int64        `json:"clock_drift_ns"`
	Ops         []opTime     `json:"ops"` // of the traced pass, summed over layers
}

type decodeTime struct {
	Sequences int     `json:"sequences"`
	Ns        int64   `json:"ns_per_pass"` // median
	LeastNs   int64   `json:"least_ns"`
	Bytes     int64   `json:"bytes_per_pass"`
	Share     float64 `json:"share_of_copy_bandwidth"`
}

type opTime struct {
	Op     string `json:"op"`
	Kernel string `json:"kernel"`
	Count  int    `json:"count"`
	Ns     int64  `json:"ns"`
	Bytes  int64  `json:"bytes"`
}

// batchOf has tokens [from, from+n) of seqs sequences, each with pages of its own; the last logits of each are wanted.
func batchOf(seqs, from, n, context, vocab int) *backend.Batch {
	b, per := &backend.Batch{}, kv.PagesFor(context)
	for s := range seqs {
		var q backend.Seq
		for p := range kv.PagesFor(from + n) {
			q.Pages = append(q.Pages, kv.Page(s*per+p))
		}
		b.Seqs = append(b.Seqs, q)
		for p := from; p < from+n; p++ {
			b.Tokens = append(b.Tokens, int32((s*31+p*7+1)%vocab))
			b.Pos, b.Seq = append(b.Pos, int32(p)), append(b.Seq, int32(s))
		}
		b.Out = append(b.Out, int32(len(b.Tokens)-1))
	}
	return b
}

// workOf sums the bytes that a pass must move.
func workOf(g *graph.Graph, b *backend.Batch, types backend.KV) (total int64, by []int64) {
	s := b.Shape(types, g.Window)
	for _, n := range g.Nodes {
		w := n.Work(g, s).Bytes
		by = append(by, w)
		total += w
	}
	return total, by
}

// correct compares a small model with the reference, and a token alone with the same beside others.
func correct(f *filler, ty tensor.Type, s shape) (cosine float64, err error) {
	g := f.build(s, ty)
	o := backend.Options{MaxTokens: 64, MaxOut: 8, MaxScores: 1 << 20, Pages: 16}
	b := batchOf(2, 0, 20, 64, s.Vocab)
	run := func(open backend.Opener, b *backend.Batch) (rows [][]float32, err error) {
		be, err := open(g, o)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, be.Close()) }()
		if err = be.Run(b, nil); err != nil {
			return nil, err
		}
		for i := range b.Out {
			rows = append(rows, slices.Clone(be.Logits(i)))
		}
		return rows, nil
	}
	got, err := run(cuda.Open, b)
	if err != nil {
		return 0, err
	}
	want, err := run(ref.Open, b)
	if err != nil {
		return 0, err
	}
	alone, err := run(cuda.Open, batchOf(1, 0, 20, 64, s.Vocab))
	if err != nil {
		return 0, err
	}
	if !slices.Equal(alone[0], got[0]) {
		return 0, fmt.Errorf("%v: a sequence's logits differ when another is beside it", ty)
	}
	cosine = 1
	for i := range want {
		cosine = min(cosine, cosineOf(want[i], got[i]))
	}
	if !(cosine >= 0.999) {
		return cosine, fmt.Errorf("%v: cosine to the reference: wanted at least 0.999, found %.6f", ty, cosine)
	}
	return cosine, nil
}

func cosineOf(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

// copyBandwidth is bytes read and written each second by each of five copies within the device, ascending.
func copyBandwidth(n int64) (rates []float64, err error) {
	d, err := driver.Open(0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	err = d.Do(func() error {
		st, e1 := driver.NewStream()
		a, e2 := driver.Alloc(n)
		b, e3 := driver.Alloc(n)
		from, e4 := driver.NewEvent()
		to, e5 := driver.NewEvent()
		if err := errors.Join(e1, e2, e3, e4, e5); err != nil {
			return err
		}
		for range 5 {
			err := errors.Join(from.Record(st), driver.CopyAsync(st, b, a, n), to.Record(st), st.Synchronize())
			if err != nil {
				return err
			}
			ns, err := to.Since(from)
			if err != nil {
				return err
			}
			rates = append(rates, 2*float64(n)/float64(max(ns, 1))*1e9)
		}
		return errors.Join(driver.Free(a), driver.Free(b), from.Destroy(), to.Destroy(), st.Destroy())
	})
	slices.Sort(rates)
	return rates, err
}

// measure runs one format of the large model, and keeps a recording of it in folder out.
func measure(f *filler, ty tensor.Type, p plan, roof *file.Roof, out string) (r result, err error) {
	g := f.build(p.Shape, ty)
	most := slices.Max(p.Concurrent)
	context := max(p.Prompt, p.Context+p.Steps+8)
	o := backend.Options{MaxTokens: max(p.Prompt, most), MaxOut: most, MaxScores: 64 << 20, Pages: most * kv.PagesFor(context)}
	start := trace.Now()
	be, err := cuda.Open(g, o)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, be.Close()) }()
	r = result{Format: ty.String(), Shape: p.Shape, LoadNs: trace.Now() - start, Prompt: p.Prompt}
	for i, n := range g.Nodes {
		if n.Kind == graph.MatMul {
			r.WeightBytes += int64(len(g.Nodes[i].W.Data))
		}
	}
	if r.PrefillNs, _, err = times(3, func(int) error { return be.Run(batchOf(1, 0, p.Prompt, context, p.Shape.Vocab), nil) }); err != nil {
		return r, err
	}
	for _, n := range p.Concurrent {
		d, err := decode(be, g, p, n, context, roof)
		if err != nil {
			return r, err
		}
		r.Decode = append(r.Decode, d)
	}
	for _, x := range be.Logits(0) {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return r, fmt.Errorf("%v: logits that are no numbers", ty)
		}
	}
	if err := r.traced(be, g, p, context); err != nil {
		return r, err
	}
	return r, record(be, g, p, ty, context, roof, out)
}

// times runs f once to warm up and n times, and returns the median and the least time.
func times(n int, f func(i int) error) (median, least int64, err error) {
	var all []int64
	for i := range n + 1 {
		start := trace.Now()
		if err := f(i); err != nil {
			return 0, 0, err
		}
		if i > 0 {
			all = append(all, trace.Now()-start)
		}
	}
	slices.Sort(all)
	return all[len(all)/2], all[0], nil
}

// decode fills n sequences and measures passes of one token each.
func decode(be backend.Backend, g *graph.Graph, p plan, n, context int, roof *file.Roof) (d decodeTime, err error) {
	for s := range n { // prompts, one after the other
		b := batchOf(n, 0, p.Context, context, p.Shape.Vocab)
		one := &backend.Batch{Seqs: b.Seqs[s : s+1]}
		for i := range p.Context {
			one.Tokens, one.Pos, one.Seq = append(one.Tokens, b.Tokens[s*p.Context+i]), append(one.Pos, int32(i)), append(one.Seq, 0)
		}
		if err := be.Run(one, nil); err != nil {
			return d, err
		}
	}
	d.Sequences = n
	d.Ns, d.LeastNs, err = times(p.Steps, func(i int) error { return be.Run(batchOf(n, p.Context+i, 1, context, p.Shape.Vocab), nil) })
	d.Bytes, _ = workOf(g, batchOf(n, p.Context+p.Steps/2, 1, context, p.Shape.Vocab), be.KV())
	if roof != nil {
		d.Share = float64(d.Bytes) / float64(d.Ns) / roof.Reads[0].GBPerS.Max // bytes a ns are GB/s
	}
	return d, err
}

// traced measures passes with an event after each op.
func (r *result) traced(be backend.Backend, g *graph.Graph, p plan, context int) error {
	b := batchOf(1, p.Context, 1, context, p.Shape.Vocab)
	var ops trace.PassOps
	var err error
	if r.TracedNs, _, err = times(5, func(int) error { return be.Run(b, &ops) }); err != nil {
		return err
	}
	r.ResidualNs, r.DriftNs = ops.Clocks.Residual, ops.Clocks.Drift
	_, bytes := workOf(g, b, be.KV())
	sums := map[trace.OpID]*opTime{}
	for i, o := range ops.Ops {
		s := sums[o.Op]
		if s == nil {
			s = &opTime{Op: o.Op.String(), Kernel: o.Kernel.String()}
			sums[o.Op] = s
		}
		s.Count, s.Ns, s.Bytes = s.Count+1, s.Ns+o.Dur, s.Bytes+bytes[i]
	}
	for _, s := range sums {
		r.Ops = append(r.Ops, *s)
	}
	slices.SortFunc(r.Ops, func(a, b opTime) int { return cmp.Or(cmp.Compare(b.Ns, a.Ns), cmp.Compare(a.Op, b.Op)) })
	return nil
}
