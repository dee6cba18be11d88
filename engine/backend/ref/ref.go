// Package ref runs a graph in plain Go: float32 values, every sum in float64, one readable function an op. It is the
// truth that other backends are measured against, and it is slow.
//
// It does not know about quantised arithmetic: weights are expanded to float64 a row at a time.
package ref

import (
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"glassbox/engine/backend"
	"glassbox/engine/graph"
	"glassbox/engine/kv"
	"glassbox/engine/tensor"
	"glassbox/trace"
)

// Backend implements backend.Backend.
type Backend struct {
	g      *graph.Graph
	o      backend.Options
	bufs   [][]float32 // PerToken, PerOut: rows of Width; PerKey: see offs
	offs   []int       // of each token of the batch in PerKey buffers
	keys   [][]float32 // by layer*Pages+page, nil until written: KVHeads x PageTokens x HeadDim
	values [][]float32
	kv     backend.KV // what they are rounded to
	fns    map[graph.Kind]op
	pcs    map[graph.Kind]uintptr
	batch  *backend.Batch
}

// op is the function of a kind of node: it does part w of n of the node's work.
type op func(b *Backend, n *graph.Node, part, parts int) // parts are disjoint; each value's sum is of one part

// Open returns the reference backend for a graph.
func Open(g *graph.Graph, o backend.Options) (backend.Backend, error) {
	if o.Threads <= 0 {
		o.Threads = runtime.NumCPU()
	}
	b := &Backend{g: g, o: o, fns: map[graph.Kind]op{
		graph.Embed: embed, graph.RMSNorm: rmsNorm, graph.MatMul: matMul, graph.HeadNorm: headNorm, graph.RoPE: rope, graph.KVWrite: kvWrite,
		graph.Scores: scores, graph.Softmax: softmax, graph.Mix: mix, graph.Add: add, graph.SwiGLU: swiGLU, graph.GeGLU: geGLU, graph.AllReduce: allReduce,
	}, pcs: map[graph.Kind]uintptr{}}
	var err error
	if b.kv, err = o.KV.Or(backend.KV{Keys: tensor.F32, Values: tensor.F32}, g.Attn.HeadDim); err != nil {
		return nil, err
	}
	for k, f := range b.fns {
		b.pcs[k] = reflect.ValueOf(f).Pointer()
	}
	for _, info := range g.Bufs {
		n := 0
		switch info.Kind {
		case graph.PerToken:
			n = o.MaxTokens * info.Width
		case graph.PerOut:
			n = o.MaxOut * info.Width
		case graph.PerKey:
			n = o.MaxScores
		}
		b.bufs = append(b.bufs, make([]float32, n))
	}
	b.keys = make([][]float32, g.Layers*o.Pages)
	b.values = make([][]float32, g.Layers*o.Pages)
	return b, nil
}

// Name is "ref".
func (b *Backend) Name() string { return "ref" }

// Device describes the machine.
func (b *Backend) Device() backend.Device {
	return backend.Device{Kind: "cpu", Name: backend.CPUName(), Threads: b.o.Threads, Features: []string{"plain Go", "float64 sums"}}
}

// KV is what keys and values are rounded to.
func (b *Backend) KV() backend.KV { return b.kv }

// Close frees memory.
func (b *Backend) Close() error { *b = Backend{}; return nil }

// Logits returns a row of the last batch.
func (b *Backend) Logits(i int) []float32 { return b.row(b.g.Logits, i) }

// row returns row t of a buffer that is not PerKey.
func (b *Backend) row(buf graph.Buf, t int) []float32 {
	w := b.g.Bufs[buf].Width
	return b.bufs[buf][t*w : (t+1)*w]
}

// keyRow returns the scores of token t and head h: one float a position up to the token's own.
func (b *Backend) keyRow(buf graph.Buf, t, h int) []float32 {
	pos := int(b.batch.Pos[t])
	off := b.offs[t] + h*kv.PagesFor(pos+1)*kv.PageTokens
	return b.bufs[buf][off : off+pos+1]
}

// Run computes the batch, an op at a time.
func (b *Backend) Run(batch *backend.Batch, ops *trace.PassOps) error {
	if err := batch.Check(b.g, b.o); err != nil {
		return err
	}
	b.batch, b.offs = batch, b.offs[:0]
	off := 0
	for _, p := range batch.Pos {
		b.offs = append(b.offs, off)
		off += b.g.Attn.Heads * kv.PagesFor(int(p)+1) * kv.PageTokens
	}
	busy := make([]int64, b.o.Threads)
	if ops != nil {
		ops.Reset(len(b.g.Nodes), b.o.Threads)
	}
	for i, n := range b.g.Nodes {
		start := int64(0)
		if ops != nil {
			start = trace.Now()
		}
		b.node(n, busy, ops != nil)
		if ops != nil {
			ops.Ops[i] = trace.OpTime{Op: n.Op, Layer: int16(n.Layer), Start: start, Dur: trace.Now() - start, PC: n.PC, Fn: b.pcs[n.Kind]}
			for w, ns := range busy {
				ops.Busy[i*b.o.Threads+w] = uint32(ns)
			}
		}
		if batch.Tap != nil {
			batch.Tap(n, b.tapRow)
		}
	}
	return nil
}

// node runs one op on all threads and notes how long each was busy.
func (b *Backend) node(n *graph.Node, busy []int64, timed bool) {
	f := b.fns[n.Kind]
	var wg sync.WaitGroup
	var broken atomic.Value // what a worker panicked with: a fault of the mapped file must not end the process
	for w := range b.o.Threads {
		wg.Add(1)
		go func() {
			defer wg.Done()
			debug.SetPanicOnFault(true)
			defer func() {
				if p := recover(); p != nil {
					broken.CompareAndSwap(nil, fmt.Sprint(p))
				}
			}()
			if !timed {
				f(b, n, w, b.o.Threads)
				return
			}
			start := trace.Now()
			f(b, n, w, b.o.Threads)
			busy[w] = trace.Now() - start
		}()
	}
	wg.Wait()
	if p := broken.Load(); p != nil {
		panic(p) // the caller makes an error of it
	}
}

func (b *Backend) tapRow(buf graph.Buf, t int) []float32 {
	if b.g.Bufs[buf].Kind == graph.PerKey {
		h := b.g.Bufs[buf].Width
		return b.keyRow(buf, t/h, t%h)
	}
	return b.row(buf, t)
}
