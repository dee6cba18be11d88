// Package cpu runs a graph on the processor: weights packed for the kernels of package kern, a float16 KV cache in pages,
// and a team of workers that meets at a barrier after every op.
//
// It does not know about requests, sampling or model files; nor about instructions, which package kern has.
package cpu

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"

	"glassbox/engine/backend"
	"glassbox/engine/backend/cpu/kern"
	"glassbox/engine/graph"
	"glassbox/engine/kv"
	"glassbox/trace"
)

// Backend implements backend.Backend.
type Backend struct {
	g        *graph.Graph
	o        backend.Options
	k        *kern.Kernels
	team     *team
	borrowed bool // the team is another backend's
	steps    []step
	weights  *memory
	cache    *cache
	lost     atomic.Bool // a worker could not read the model's file

	mem     *memory     // of bufs
	bufs    [][]float32 // by graph.Buf: rows of ld floats, padded with zeros; PerKey: see offs
	ld      []int
	xq      []byte // the quantised input of the matrix products at hand, shared
	workers []worker
	passFn  func(w int)                          // b.pass, kept: taking it anew would allocate
	rowFn   func(buf graph.Buf, t int) []float32 // b.tapRow

	// of the pass at hand
	batch  *backend.Batch
	ops    *trace.PassOps
	from   int           // the first step to do
	start  int64         // ns, when the pass started or the last Tap ended
	ends   [2][]lineTime // when each worker left the op, by parity of the op
	offs   []int         // of each token in PerKey buffers
	tables [][]uintptr   // addresses of each sequence's pages
	units  []unit        // pieces of attention
	pieces int           // that each unit is split into
	many   bool          // the batch is large enough for the mat-mat
	active int           // workers that take part

	solo, soloNext int          // small passes still to be done by one worker; how many the last time
	mayLeave       bool         // the pass may be left to worker 0
	leaveAt        atomic.Int32 // step from whose barrier on it is, 0 = none
}

// worker is what a worker has for itself.
type worker struct {
	scratch []byte    // of a matrix product, or of quantising
	xq      []byte    // the quantised input when there is one token
	row     []byte    // of a key whose format has blocks
	wide    []float32 // pages of keys or values, expanded
	part    []float32 // of a mix, to be added
	at      []uintptr // addresses in wide
	_       [64]byte
}

// lineTime is a time with a cache line for itself.
type lineTime struct {
	ns int64
	_  [56]byte
}

// Open packs the weights and starts the workers. Errors say what to choose instead.
func Open(g *graph.Graph, o backend.Options) (backend.Backend, error) {
	k, err := kern.Select(o.Features)
	if err != nil {
		return nil, err
	}
	if o.Threads <= 0 {
		o.Threads = runtime.NumCPU()
	}
	b := &Backend{g: g, o: o, k: k}
	if b.cache, err = newCache(g, o.Pages, o.KV); err != nil {
		return nil, err
	}
	if err = b.makeSteps(); err == nil {
		err = b.makeBuffers()
	}
	if err != nil {
		b.freeAll()
		return nil, err
	}
	b.passFn, b.rowFn = b.pass, b.tapRow
	if other, ok := o.Beside.(*Backend); ok && other.team != nil && other.team.n == o.Threads {
		b.team, b.borrowed = other.team, true // two teams would spin against each other
		return b, nil
	}
	b.team = newTeam(k, o.Threads)
	return b, nil
}

// makeBuffers takes memory for activations; it is first touched when used.
func (b *Backend) makeBuffers() error {
	total := 0
	sizes := make([]int, len(b.g.Bufs))
	for i, info := range b.g.Bufs {
		ld := (info.Width + kern.Pad - 1) / kern.Pad * kern.Pad
		switch info.Kind {
		case graph.PerToken:
			sizes[i] = b.o.MaxTokens * ld
		case graph.PerOut:
			sizes[i] = b.o.MaxOut * ld
		case graph.PerKey:
			ld, sizes[i] = 0, (b.o.MaxScores+15)/16*16
		}
		b.ld = append(b.ld, ld)
		total += sizes[i]
	}
	var err error
	if b.mem, err = allocate(4*total, false); err != nil {
		return err
	}
	off := 0
	for _, n := range sizes {
		var f []float32
		if n > 0 {
			f = unsafe.Slice((*float32)(unsafe.Pointer(&b.mem.b[4*off])), n)
		}
		b.bufs = append(b.bufs, f)
		off += n
	}
	one, room, scratch := 0, 0, 0
	for i := range b.steps {
		if m := b.steps[i].mat; m != nil {
			one, scratch = max(one, m.Quant().Size(m.NCols)), max(scratch, m.Scratch())
			room = max(room, b.k.Room(m.Quant(), m.NCols, max(b.o.MaxTokens, b.o.MaxOut)))
		}
	}
	b.xq = aligned(room)
	for range b.o.Threads {
		b.workers = append(b.workers, worker{scratch: aligned(max(scratch, kern.MaxT*one)), xq: make([]byte, one)})
	}
	b.expanding()
	b.ends[0], b.ends[1] = make([]lineTime, b.o.Threads), make([]lineTime, b.o.Threads)
	b.offs = make([]int, 0, b.o.MaxTokens)
	b.units = make([]unit, 0, b.o.MaxTokens*b.g.Attn.Heads)
	return nil
}

// aligned returns n bytes that start at a cache line.
func aligned(n int) []byte {
	b := make([]byte, n+64)
	off := int(-uintptr(unsafe.Pointer(&b[0])) & 63)
	return b[off : off+n]
}

// Name is "cpu".
func (b *Backend) Name() string { return "cpu" }

// Device describes the processor. Features are the kernel variants it has; the first is the one in use.
func (b *Backend) Device() backend.Device {
	features := []string{b.k.Variant()}
	for _, f := range kern.Features() {
		if f != b.k.Variant() {
			features = append(features, f)
		}
	}
	return backend.Device{Kind: "cpu", Name: backend.CPUName(), Threads: b.o.Threads, Features: features}
}

// KV is what the cache was made for.
func (b *Backend) KV() backend.KV { return b.cache.kv }

// Close ends the workers and frees memory. Run and Logits must not be called any more.
func (b *Backend) Close() error {
	if b.team == nil {
		return nil
	}
	if !b.borrowed {
		b.team.close()
	}
	b.team = nil
	return b.freeAll()
}

func (b *Backend) freeAll() error {
	var first error
	for _, m := range []*memory{b.weights, b.mem, b.cache.mem} {
		if err := m.free(); err != nil && first == nil {
			first = fmt.Errorf("cpu: giving memory back: %w", err)
		}
	}
	b.bufs, b.steps, b.cache.pool = nil, nil, nil
	return first
}

// Logits returns a row of the last batch.
func (b *Backend) Logits(i int) []float32 { return b.row(b.g.Logits, i) }

// row returns row t of a buffer that is not PerKey.
func (b *Backend) row(buf graph.Buf, t int) []float32 {
	off := t * b.ld[buf]
	return b.bufs[buf][off : off+b.g.Bufs[buf].Width]
}

// padded returns row t of a buffer with its padding.
func (b *Backend) padded(buf graph.Buf, t int) []float32 {
	return b.bufs[buf][t*b.ld[buf] : (t+1)*b.ld[buf]]
}

// keyLen returns the floats of one row of scores of token t: its keys in whole pages.
func (b *Backend) keyLen(t int) int { return kv.PagesFor(int(b.batch.Pos[t])+1) * kv.PageTokens }

// keyRow returns the scores of token t and head h, in whole pages.
func (b *Backend) keyRow(buf graph.Buf, t, h int) []float32 {
	n := b.keyLen(t)
	return b.bufs[buf][b.offs[t]+h*n:][:n]
}

// tapRow is what Tap reads with.
func (b *Backend) tapRow(buf graph.Buf, t int) []float32 {
	if b.g.Bufs[buf].Kind == graph.PerKey {
		h := b.g.Bufs[buf].Width
		return b.keyRow(buf, t/h, t%h)[:b.batch.Pos[t/h]+1]
	}
	return b.row(buf, t)
}
