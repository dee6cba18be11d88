// Package exec runs what the scheduler planned: it fills a batch from the plan's sequences, runs it on the backend, and
// hands the measured times to the requests that are traced. Whether a pass is timed is decided once, before it.
//
// It does not know about sampling, queues or HTTP.
package exec

import (
	"fmt"

	"glassbox/engine/backend"
	"glassbox/engine/capture"
	"glassbox/engine/graph"
	"glassbox/engine/kv"
	"glassbox/engine/sched"
	"glassbox/engine/stops"
	"glassbox/trace"
)

// Runner runs passes on one backend. It is used by the engine loop only.
type Runner struct {
	g     *graph.Graph
	be    backend.Backend
	batch backend.Batch
	ops   trace.PassOps
	marks []trace.Mark // open spans of the traced sequences, scratch

	taps   []tap // of the sequences whose values are looked at
	halts  []halt
	tapNs  int64 // spent on that in the pass
	paused int64 // ns of the pass in which a request stood still
	tapFn  func(n *graph.Node, row func(graph.Buf, int) []float32)
}

// Captured is an owner of a sequence whose values may be looked at or changed while a pass runs.
type Captured interface {
	Capture() *capture.Session // nil: not this one
}

// Stopped is an owner of a sequence that may stand still while a pass runs.
type Stopped interface {
	Stops() *stops.Session // nil: not this one
}

// halt is a sequence that may stand still in the pass.
type halt struct {
	s  *stops.Session
	at capture.Rows
}

// tap is where a session's rows are.
type tap struct {
	s  *capture.Session
	at capture.Rows
}

// sharded is a backend whose graph is one of several that run together.
type sharded interface {
	Work(i int, s graph.Shape) graph.Work
}

// New returns a runner for a graph that the backend was opened with.
func New(g *graph.Graph, be backend.Backend) *Runner {
	r := &Runner{g: g, be: be}
	r.tapFn = r.node
	return r
}

// Run copies pages, in order, and computes the items in one pass. The rows of Logits then belong to the items in
// turn, as many to each as its Rows tells. An error means that the batch was refused and nothing was computed.
func (r *Runner) Run(items []sched.Item, copies ...kv.Copy) error {
	for _, c := range copies {
		r.be.CopyPage(c.From, c.To)
	}
	r.fill(items)
	r.look(items)
	traced := false
	for _, it := range items {
		traced = traced || it.Seq.Trace.On()
	}
	if !traced {
		return r.be.Run(&r.batch, nil)
	}
	return r.timed(items)
}

// Logits returns row i of the last pass: vocab floats, valid until the next, the caller may write to it.
func (r *Runner) Logits(i int) []float32 { return r.be.Logits(i) }

// Head is the backend's: between two passes, after the last one's logits were read.
func (r *Runner) Head(x [][]float32, out func(i int, logits []float32)) error {
	return r.be.Head(x, out)
}

// look finds the sequences that something is captured of, or changed in. Without any, no op of the pass is tapped.
func (r *Runner) look(items []sched.Item) {
	r.taps, r.halts, r.tapNs, r.paused, r.batch.Tap = r.taps[:0], r.halts[:0], 0, 0, nil
	first, out := 0, 0
	for _, it := range items {
		at := capture.Rows{First: first, From: it.From, N: it.N, Out: -1}
		first += it.N
		if it.Logits {
			at.Out = out
			out += it.Rows()
		}
		if o, ok := it.Seq.Owner.(Captured); ok {
			if s := o.Capture(); s != nil {
				s.Begin(it.Kind(), it.Seq.Passes, at)
				r.taps, r.batch.Tap = append(r.taps, tap{s, at}), r.tapFn
			}
		}
		if o, ok := it.Seq.Owner.(Stopped); ok {
			if s := o.Stops(); s != nil && s.Begin(it.Seq.Passes, at) {
				r.halts, r.batch.Tap = append(r.halts, halt{s, at}), r.tapFn
			}
		}
	}
}

// node is called after each op, with the workers at rest. What is changed at a stop is there for the captures.
func (r *Runner) node(n *graph.Node, row func(graph.Buf, int) []float32) {
	start := trace.Now()
	for _, h := range r.halts {
		before := h.s.Paused()
		h.s.Node(n, row, h.at)
		stood := h.s.Paused() - before
		r.paused += stood
		start += stood
	}
	for _, t := range r.taps {
		t.s.Node(n, row, t.at)
	}
	r.tapNs += trace.Now() - start
}

// fill lays the items' tokens out in a batch.
func (r *Runner) fill(items []sched.Item) {
	r.marks = r.marks[:0]
	for _, it := range items {
		if it.Seq.Trace.On() {
			r.marks = append(r.marks, it.Seq.Trace.Begin(trace.StepBatch))
		}
	}
	b := &r.batch
	b.Tokens, b.Pos, b.Seq, b.Seqs, b.Out = b.Tokens[:0], b.Pos[:0], b.Seq[:0], b.Seqs[:0], b.Out[:0]
	for i, it := range items {
		b.Seqs = append(b.Seqs, backend.Seq{Pages: it.Seq.Pages})
		for p := it.From; p < it.From+it.N; p++ {
			b.Tokens = append(b.Tokens, it.Token(p))
			b.Pos = append(b.Pos, int32(p))
			b.Seq = append(b.Seq, int32(i))
		}
		for i := it.Rows(); i > 0; i-- {
			b.Out = append(b.Out, int32(len(b.Tokens)-i))
		}
	}
	for i := range r.marks {
		r.marks[i].Set("in", fmt.Sprintf("sequences: %d", len(items)))
		r.marks[i].Set("out", fmt.Sprintf("tokens: %d, rows of logits wanted: %d", len(b.Tokens), len(b.Out)))
		r.marks[i].End()
	}
}

// timed runs the batch with a clock read at every op, and gives each traced sequence the pass.
func (r *Runner) timed(items []sched.Item) error {
	start := trace.Now()
	if err := r.be.Run(&r.batch, &r.ops); err != nil {
		return err
	}
	r.work()
	end := trace.Now()
	pass := trace.Pass{Batch: len(r.batch.Tokens), Requests: len(items), Start: start}
	first, last := r.ops.Ops[0], r.ops.Ops[len(r.ops.Ops)-1]
	pass.Dur, pass.Capture, pass.Paused = last.Start+last.Dur-start, r.tapNs, r.paused
	for _, it := range items {
		w := it.Seq.Trace
		if !w.On() {
			continue
		}
		launch := w.BeginAt(trace.StepLaunch, start)
		launch.Set("in", fmt.Sprintf("tokens: %d, sequences: %d", pass.Batch, pass.Requests))
		launch.Set("out", fmt.Sprintf("%d ops for %d workers", len(r.ops.Ops), r.ops.Workers))
		launch.EndAt(first.Start)
		pass.Index, pass.Kind, pass.Tokens = it.Seq.Passes, it.Kind(), it.N
		w.Recorder().Pass(&r.ops, pass)
		done := w.BeginAt(trace.StepPassDone, last.Start+last.Dur)
		done.Set("in", fmt.Sprintf("%d workers at the last barrier", r.ops.Workers))
		done.Set("out", fmt.Sprintf("%d rows of %d logits", len(r.batch.Out), r.g.Vocab))
		done.EndAt(end)
	}
	return nil
}

// work fills what each op moved and computed, derived from its shapes.
func (r *Runner) work() {
	shape := r.batch.Shape(r.be.KV(), r.g.Window)
	shards, _ := r.be.(sharded)
	for i, n := range r.g.Nodes {
		w := n.Work(r.g, shape)
		if shards != nil {
			w = shards.Work(i, shape)
		}
		r.ops.Ops[i].Bytes, r.ops.Ops[i].Flops = w.Bytes, w.Flops
	}
}
