// Package backend is what a device must do to run a graph: hold the weights and the KV cache, and run a batch.
//
// It does not know about requests, scheduling or sampling.
package backend

import (
	"fmt"

	"glassbox/engine/graph"
	"glassbox/engine/kv"
	"glassbox/trace"
)

// Options is what a backend is opened with.
type Options struct {
	Threads   int     // worker threads, 0 = one a core
	MaxTokens int     // most tokens of one batch
	MaxOut    int     // most rows of one batch whose logits are wanted
	MaxScores int     // most floats of the PerKey buffer in one batch: sum over tokens of heads * keys, see Batch.Scores
	Pages     int     // pages of the KV cache; memory is taken as pages are first written
	KV        *KV     // number formats of the cache, nil = what the backend likes best
	Beside    Backend // cpu: another backend of the same threads, never used at the same time, whose workers this one takes; nil: its own
	Group     Group   // of the shards that compute one model together; nil: this backend has all of it
	AllReduce string  // how devices of a group sum up: direct, ring, nccl, or "" for the device's own choice. Group does it for backends without one
	Features  string  // cpu: kernel variant to use instead of the best one ("avx2", "generic"), "" = best
}

// Device describes what runs the graph.
type Device struct {
	Kind     string   // "cpu", "cuda", "emulated"
	Name     string   // "AMD EPYC"
	Threads  int      // worker threads
	Features []string // such as "avx512-vnni"
	Driver   string   // of a device that is reached through one, as it tells its version
}

// Backend runs batches of one model. Run and Logits are called by one goroutine.
type Backend interface {
	// Name is "ref", "cpu" or "cuda".
	Name() string
	// Device describes the device.
	Device() Device
	// KV returns the number formats of keys and values in the cache.
	KV() KV
	// Run computes the batch: every node of the graph in order. With ops nil it takes no clock. Else it fills ops: the
	// backend calls ops.Reset(len(nodes), workers), and sets for node i ops.Ops[i] Op, Layer, PC (from the node), Fn
	// (entry of its own function for the op), Kernel, Start and Dur (from the moment the workers enter the op to the
	// moment the last is done; one clock read at each boundary and worker), and Busy[i*workers+w]. Bytes and Flops are
	// filled by the caller. It returns an error only for a batch that Check refuses.
	Run(b *Batch, ops *trace.PassOps) error
	// Logits returns row i of the batch's Out rows: Vocab floats, valid until the next Run. The caller may write to it.
	Logits(i int) []float32
	// Head runs the last norm and the head, and nothing else, on rows of the residual stream (Width floats each), with the
	// same code and to the same bits as Run does. out is given each row's logits in order: valid during the call, it may
	// write to them. Rows of the last Run are gone afterwards. Called like Run, between two of them.
	Head(x [][]float32, out func(i int, logits []float32)) error
	// CopyPage copies all keys and values of a page, of every layer, to another. Called like Run, between two of them.
	CopyPage(from, to kv.Page)
	// Close ends the workers and frees memory.
	Close() error
}

// Group is one shard's end of a group of devices that compute a model together, in NCCL's words (a communicator). All
// shards call the same functions in the same order, each from one goroutine; a call returns when the shard's part is done.
// Whoever makes a group hands each shard its end (ncclCommInitRank) and closes them all (ncclCommDestroy).
type Group interface {
	Rank() int
	Size() int
	// AllReduce replaces x by the sum over all shards' x, of equal length: the same bits on every shard.
	AllReduce(x []float32)
	// AllGather fills all with every shard's own, in the order of ranks. Lengths may differ.
	AllGather(all, own []float32)
	// Broadcast replaces x by the root's.
	Broadcast(x []float32, root int)
	Close() error
}

// Opener makes a backend for a graph.
type Opener func(g *graph.Graph, o Options) (Backend, error)

// Seq is one sequence of a batch: its page table. Page i holds positions i*kv.PageTokens and following.
type Seq struct {
	Pages []kv.Page
}

// Batch is the input of one pass. Tokens of one sequence are neighbours, in ascending position without gaps; all keys
// and values of earlier positions are in its pages already.
type Batch struct {
	Tokens []int32 // token ids
	Pos    []int32 // position of each token in its sequence, from 0
	Seq    []int32 // index into Seqs of each token
	Seqs   []Seq
	Out    []int32 // tokens (indices into Tokens, ascending) whose logits are wanted
	// Tap, if set, is called after each node on the goroutine of Run, with the workers at rest: row(b, t) is row t of
	// buffer b (for PerKey: row(b, t*heads+h) = the pos+1 floats of token t and head h). For a PerOut buffer t counts
	// the rows of Out.
	Tap func(n *graph.Node, row func(b graph.Buf, t int) []float32)
}

// HeadBatch prepares what a backend needs for Head: the node that begins it, and batches of at most chunk rows, taken from
// the options. Fill the node's input A and run from it on.
func HeadBatch(g *graph.Graph, o Options) (first *graph.Node, chunk int, err error) {
	for _, n := range g.Nodes {
		if n.Kind == graph.RMSNorm && g.Bufs[n.Out].Kind == graph.PerOut {
			return n, min(o.MaxTokens, o.MaxOut), nil
		}
	}
	return nil, 0, fmt.Errorf("backend: head: wanted a graph with a last norm, found none among %d ops", len(g.Nodes))
}

// RowsBatch is a batch of n rows of which nothing but logits is wanted: one token of id 0 each.
func RowsBatch(n int) *Batch {
	b := &Batch{Tokens: make([]int32, n), Pos: make([]int32, n), Seq: make([]int32, n), Seqs: []Seq{{Pages: []kv.Page{0}}}, Out: make([]int32, n)}
	for i := range b.Out {
		b.Out[i] = int32(i)
	}
	return b
}

// Scores returns how many floats the PerKey buffer needs for the batch: for each token and head its keys, rounded up to
// whole pages.
func (b *Batch) Scores(heads int) int {
	n := 0
	for _, p := range b.Pos {
		n += heads * (int(p)/kv.PageTokens + 1) * kv.PageTokens
	}
	return n
}

// Shape returns what the nodes' Work is derived from; types are the cache's formats, window is the graph's.
func (b *Batch) Shape(types KV, window int) graph.Shape {
	s := graph.Shape{Tokens: len(b.Tokens), Out: len(b.Out), KeyType: types.Keys, ValueType: types.Values}
	first := 0 // position of the sequence's first token
	for i, p := range b.Pos {
		if i == 0 || b.Seq[i-1] != b.Seq[i] {
			first = int(p)
		}
		n := int(p) + 1
		s.Keys += int64(n)
		s.WindowKeys += int64(min(n, window))
		if i+1 == len(b.Pos) || b.Seq[i+1] != b.Seq[i] {
			s.KVRead += int64(n)
			s.WindowRead += int64(n - max(0, first+1-window))
		}
	}
	return s
}

// Check tells what is wrong with the batch, for a graph and options.
func (b *Batch) Check(g *graph.Graph, o Options) error {
	n := len(b.Tokens)
	switch {
	case n == 0 || n > o.MaxTokens:
		return fmt.Errorf("batch: wanted 1 to %d tokens, found %d", o.MaxTokens, n)
	case len(b.Pos) != n || len(b.Seq) != n:
		return fmt.Errorf("batch: %d tokens, but %d positions and %d sequence numbers", n, len(b.Pos), len(b.Seq))
	case len(b.Out) > o.MaxOut:
		return fmt.Errorf("batch: wanted at most %d output rows, found %d", o.MaxOut, len(b.Out))
	case b.Scores(g.Attn.Heads) > o.MaxScores:
		return fmt.Errorf("batch: wanted at most %d scores, found %d", o.MaxScores, b.Scores(g.Attn.Heads))
	}
	for i, t := range b.Tokens {
		if t < 0 || int(t) >= g.Vocab {
			return fmt.Errorf("batch: token %d has id %d, wanted 0 to %d", i, t, g.Vocab-1)
		}
		s := int(b.Seq[i])
		if s < 0 || s >= len(b.Seqs) {
			return fmt.Errorf("batch: token %d is of sequence %d of %d", i, s, len(b.Seqs))
		}
		if p := int(b.Pos[i]); p < 0 || p/kv.PageTokens >= len(b.Seqs[s].Pages) {
			return fmt.Errorf("batch: token %d at position %d, but its sequence has %d pages", i, p, len(b.Seqs[s].Pages))
		}
		if i > 0 && b.Seq[i] == b.Seq[i-1] && b.Pos[i] != b.Pos[i-1]+1 {
			return fmt.Errorf("batch: token %d at position %d follows position %d", i, b.Pos[i], b.Pos[i-1])
		}
	}
	for i, s := range b.Seqs {
		for _, p := range s.Pages {
			if p < 0 || int(p) >= o.Pages {
				return fmt.Errorf("batch: sequence %d has page %d of %d", i, p, o.Pages)
			}
		}
	}
	for i, r := range b.Out {
		if r < 0 || int(r) >= n || i > 0 && r <= b.Out[i-1] {
			return fmt.Errorf("batch: output row %d is token %d, wanted ascending below %d", i, r, n)
		}
	}
	return nil
}
