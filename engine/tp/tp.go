// Package tp computes one model on several devices at once (tensor parallelism: Shoeybi et al. 2019, Megatron-LM). Split
// cuts a graph: each shard has some of the attention heads with their KV heads, some of the feed-forward's columns, and some
// rows of the vocabulary. After the attention's output and the feed-forward's down projection each shard has a sum over its
// part alone; an all-reduce adds them up. Open runs the shards as one backend, each with its own workers, weights and KV cache.
//
// The order of summation: within a shard as the backend sums, over its own columns; then over the shards, direct from the
// first to the last, ring from the one after the place's own round to it. All shards get the same bits. They differ from one
// device's in rounding, because the columns are summed in other groups.
//
// It does not know about requests, files or what connects devices: a group of shards is behind backend.Group, which one
// process fulfils in memory here; GPUs meet through it and then sum up among themselves (engine/backend/cuda).
package tp

import (
	"errors"
	"fmt"
	"sync"

	"glassbox/engine/backend"
	"glassbox/engine/graph"
	"glassbox/engine/kv"
	"glassbox/trace"
)

// Options is how shards work together.
type Options struct {
	Shards    int
	AllReduce string // Direct or Ring, NCCL between devices; "": Direct, or what the devices like best
}

// Backend implements backend.Backend over shards.
type Backend struct {
	plan   *Plan
	o      backend.Options
	shards []backend.Backend
	groups []backend.Group
	rows   [][]float32     // whole rows of logits, put together when they are read
	ops    []trace.PassOps // of the shards but the first
}

// Open cuts the graph and opens a backend for each part. Threads are dealt out; each shard has one at least.
func Open(g *graph.Graph, open backend.Opener, o backend.Options, t Options) (*Backend, error) {
	plan, err := Split(g, t.Shards)
	if err != nil {
		return nil, err
	}
	how := t.AllReduce
	if how == NCCL { // the devices' own; they meet in memory first
		how = Direct
	}
	groups, err := NewGroup(t.Shards, how)
	if err != nil {
		return nil, err
	}
	b := &Backend{plan: plan, groups: groups, rows: make([][]float32, o.MaxOut), ops: make([]trace.PassOps, t.Shards), o: o}
	o.Threads, o.AllReduce = max(1, o.Threads/t.Shards), t.AllReduce
	for r, part := range plan.Graphs {
		o.Group = groups[r]
		be, err := open(part, o)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("shard %d: %w", r, err), b.Close())
		}
		b.shards = append(b.shards, be)
	}
	if t.AllReduce == NCCL && b.shards[0].Name() != "cuda" {
		return nil, errors.Join(fmt.Errorf("all-reduce: wanted %s or %s, found %s: that is for --backend cuda", Direct, Ring, NCCL), b.Close())
	}
	if n := b.shards[0].Name(); n == "cpu" || n == "cuda" {
		plan.forgetCopies() // they are packed, or on the device
	}
	if err := b.join(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// joiner is a backend that has to meet the others of its group before the first batch, all at once.
type joiner interface{ Join() error }

// aborter is an end of a group that can say that its shard failed and will not come.
type aborter interface{ Abort() }

// all runs f for every shard at once. A shard that fails keeps the others waiting for no longer.
func (b *Backend) all(f func(r int) error) error {
	errs := make([]error, len(b.shards))
	one := func(r int) {
		if errs[r] = f(r); errs[r] != nil {
			if a, ok := b.groups[r].(aborter); ok {
				a.Abort()
			}
			errs[r] = fmt.Errorf("shard %d: %w", r, errs[r])
		}
	}
	var wg sync.WaitGroup
	for r := range b.shards[1:] {
		wg.Go(func() { one(r + 1) })
	}
	one(0)
	wg.Wait()
	return errors.Join(errs...)
}

func (b *Backend) join() error {
	return b.all(func(r int) error {
		if j, ok := b.shards[r].(joiner); ok {
			return j.Join()
		}
		return nil
	})
}

// Graph is the first shard's: what exec and recordings see of the model.
func (b *Backend) Graph() *graph.Graph { return b.plan.Graphs[0] }

// Plan tells who has what.
func (b *Backend) Plan() *Plan { return b.plan }

// Name is the shards' own.
func (b *Backend) Name() string { return b.shards[0].Name() }

// Device is that of a shard, with the threads of all.
func (b *Backend) Device() backend.Device {
	d := b.shards[0].Device()
	d.Threads *= len(b.shards)
	d.Features = append(d.Features, fmt.Sprintf("%d shards", len(b.shards)))
	return d
}

// KV returns the number formats of the cache.
func (b *Backend) KV() backend.KV { return b.shards[0].KV() }

// Run computes the batch on all shards. The times in ops are the first shard's, which meets the others at every all-reduce.
func (b *Backend) Run(batch *backend.Batch, ops *trace.PassOps) error {
	if batch.Tap != nil {
		return fmt.Errorf("shards: wanted a batch that nobody looks into, found one with a tap: captures and stops need --shards 1")
	}
	if err := batch.Check(b.Graph(), b.o); err != nil { // by all or by none: an error below is a device that failed
		return err
	}
	return b.all(func(r int) error {
		if r == 0 {
			return b.shards[0].Run(batch, ops)
		}
		own := *batch
		if ops == nil {
			return b.shards[r].Run(&own, nil)
		}
		return b.shards[r].Run(&own, &b.ops[r])
	})
}

// Logits puts row i together from the shards' parts of the vocabulary.
func (b *Backend) Logits(i int) []float32 {
	if b.rows[i] == nil {
		b.rows[i] = make([]float32, b.Graph().Vocab)
	}
	for r, s := range b.shards {
		copy(b.rows[i][b.plan.Vocab[r].From:b.plan.Vocab[r].To], s.Logits(i))
	}
	return b.rows[i]
}

// Head is not done by shards: only captures need it.
func (b *Backend) Head([][]float32, func(int, []float32)) error {
	return fmt.Errorf("shards: wanted no captures, found some: they need --shards 1")
}

// CopyPage copies a page in every shard's cache.
func (b *Backend) CopyPage(from, to kv.Page) {
	for _, s := range b.shards {
		s.CopyPage(from, to)
	}
}

// Work is what all shards together read, write and compute for node i of Graph.
func (b *Backend) Work(i int, s graph.Shape) graph.Work {
	var sum graph.Work
	for _, g := range b.plan.Graphs {
		w := g.Nodes[i].Work(g, s)
		if g.Nodes[i].Kind == graph.AllReduce {
			return w // it is the group's
		}
		sum.Bytes, sum.Flops = sum.Bytes+w.Bytes, sum.Flops+w.Flops
	}
	return sum
}

// Close closes the shards, then their group.
func (b *Backend) Close() error {
	errs := make([]error, len(b.shards))
	var wg sync.WaitGroup
	for r, s := range b.shards { // all at once: leaving a group of NCCL waits for the others
		wg.Go(func() { errs[r] = s.Close() })
	}
	wg.Wait()
	err := errors.Join(errs...)
	for _, g := range b.groups {
		err = errors.Join(err, g.Close())
	}
	b.shards, b.groups = nil, nil
	return err
}
