package engine

import (
	"fmt"

	"glassbox/engine/backend"
	"glassbox/engine/graph"
	"glassbox/engine/tp"
)

// open opens the backend, or one in shards, and returns the graph that it runs.
func (o *Options) open(g *graph.Graph, open backend.Opener, bo backend.Options) (backend.Backend, *graph.Graph, error) {
	if o.Shards == 1 {
		be, err := open(g, bo)
		return be, g, err
	}
	be, err := tp.Open(g, open, bo, tp.Options{Shards: o.Shards, AllReduce: o.AllReduce})
	if err != nil {
		return nil, nil, err
	}
	return be, be.Graph(), nil
}

// ShardError is a request that needs the whole model on one device.
type ShardError struct {
	Field  string // of the request, in its words
	Shards int
}

func (e *ShardError) Error() string {
	return fmt.Sprintf("%s: this server computes the model in %d shards, and no shard has all of a layer to look into: leave the field out, or start the server without --shards", e.Field, e.Shards)
}

// whole refuses what looks into a pass where the model is cut.
func (e *Engine) whole(r *Request) error {
	if e.o.Shards == 1 {
		return nil
	}
	switch {
	case r.Trace != nil && r.Trace.Capture.Any():
		return &ShardError{"glassbox.capture", e.o.Shards}
	case r.Ablate.Any():
		return &ShardError{"glassbox.ablate", e.o.Shards}
	case len(r.Stops) > 0:
		return &ShardError{"glassbox.stop", e.o.Shards}
	}
	return nil
}

// Shard is what one of several shards has of the model.
type Shard struct {
	Threads        int
	Weights        int64    // bytes, its own
	KVToken        int      // bytes of the cache a position, of all layers
	Heads, KVHeads tp.Range // [From, To)
	FFN, Vocab     tp.Range // columns of the feed-forward; rows of the head
}

// Shards tells what each shard has; nil where the model is not cut.
func (e *Engine) Shards() []Shard {
	b, ok := e.be.(*tp.Backend)
	if !ok {
		return nil
	}
	p, n := b.Plan(), e.o.Shards
	out, kv := make([]Shard, n), b.KV()
	for r := range out {
		own, _ := p.Bytes(r)
		g := p.Graphs[r]
		out[r] = Shard{Threads: b.Device().Threads / n, Weights: own, KVToken: g.Layers * g.Attn.KVHeads * (kv.Keys.RowBytes(g.Attn.HeadDim) + kv.Values.RowBytes(g.Attn.HeadDim)),
			Heads: tp.Range{From: r * p.Heads, To: (r + 1) * p.Heads}, KVHeads: tp.Range{From: r * p.KVHeads, To: (r + 1) * p.KVHeads}, FFN: p.FFN[r], Vocab: p.Vocab[r]}
	}
	return out
}
