package cpu

import (
	"errors"
	"runtime"
	"unsafe"

	"glassbox/engine/backend"
	"glassbox/engine/backend/cpu/kern"
	"glassbox/engine/graph"
	"glassbox/engine/kv"
	"glassbox/trace"
)

// manyTokens is the batch from which work is dealt out dynamically; ops of smaller ones are over too soon for that.
const manyTokens = kern.Few

// Run computes the batch: every worker goes through all steps and does its part of each.
func (b *Backend) Run(batch *backend.Batch, ops *trace.PassOps) error {
	if err := batch.Check(b.g, b.o); err != nil {
		return err
	}
	b.run(batch, ops, 0)
	if b.lost.Swap(false) {
		return errLost
	}
	return nil
}

var errLost = errors.New("the model's file cannot be read any more: it was cut short or replaced in place while it was in use; start again with a whole file, and replace a file by renaming another to its name")

// run does the steps from the given one on.
func (b *Backend) run(batch *backend.Batch, ops *trace.PassOps, from int) {
	b.batch, b.ops, b.from = batch, ops, from
	b.many = len(batch.Tokens) >= manyTokens
	b.active = b.muster()
	b.mayLeave = b.active > 1 && len(batch.Tokens) <= soloTokens && batch.Tap == nil
	b.plan()
	if ops != nil {
		ops.Reset(len(b.steps), b.active)
		b.start = trace.Now()
	}
	if b.active == 1 {
		b.pass(0)
	} else {
		b.team.run(b.passFn)
	}
	b.dismiss()
	runtime.Gosched() // as the other workers do
}

// A small pass is hundreds of ops of a few microseconds. When another program holds a processor, every barrier waits for
// the worker that is not running, and the team is slower than one worker alone. soloAfter is how many workers may give up
// spinning in a pass of up to soloTokens; then worker 0 does the rest of it alone, and the next small passes: first
// soloFirst of them, twice as many each time, up to soloMost. Then the team tries again.
const (
	soloTokens = 16
	soloAfter  = 8
	soloFirst  = 4
	soloMost   = 16
)

// muster returns how many workers take part in the pass.
func (b *Backend) muster() int {
	if b.o.Threads == 1 || len(b.batch.Tokens) > soloTokens {
		return b.o.Threads
	}
	if b.solo > 0 {
		b.solo--
		return 1
	}
	return b.o.Threads
}

// dismiss looks at how a small pass went.
func (b *Backend) dismiss() {
	parks := int(b.team.bar.parks.Swap(0))
	left := b.leaveAt.Swap(0) > 0
	switch {
	case b.active == 1 && !left || len(b.batch.Tokens) > soloTokens:
	case parks > soloAfter || left:
		b.soloNext = min(max(2*b.soloNext, soloFirst), soloMost)
		b.solo = b.soloNext
	default:
		b.soloNext = 0
	}
}

// leaves tells, after the barrier of step i, whether worker w leaves the pass to worker 0. All workers find the same: who
// sees too many give up names the next step, and until its barrier everybody has seen that.
func (b *Backend) leaves(i, w int) bool {
	if !b.mayLeave {
		return false
	}
	if at := b.leaveAt.Load(); at > 0 && at <= int32(i) {
		if w == 0 {
			b.active = 1
		}
		return w > 0
	}
	if b.team.bar.parks.Load() > soloAfter {
		b.leaveAt.CompareAndSwap(0, int32(i+1))
	}
	return false
}

// meet waits for the other workers of the pass.
func (b *Backend) meet() {
	if b.active > 1 {
		b.team.bar.wait()
	}
}

// pass is a worker's way through the graph.
func (b *Backend) pass(w int) {
	start := b.start
	for i := b.from; i < len(b.steps); i++ {
		s := &b.steps[i]
		s.fn(b, s, w)
		switch {
		case b.ops != nil:
			start = b.timed(i, w, start)
		case !s.runOn || b.batch.Tap != nil:
			if b.meet(); b.leaves(i, w) {
				return
			}
		}
		if b.batch.Tap != nil {
			start = b.tap(s, w, start)
		}
	}
}

// timed reads the clock once, waits for the others, and returns when the last of them was done: that is where the next
// op starts for all.
func (b *Backend) timed(i, w int, start int64) int64 {
	now := trace.Now()
	ends := b.ends[i&1] // by parity: a fast worker may leave the next op before a slow one has read this
	ends[w].ns = now
	b.ops.Busy[i*b.active+w] = uint32(now - start)
	b.meet()
	last := now
	for k := range b.active {
		last = max(last, ends[k].ns)
	}
	if w == 0 {
		s := &b.steps[i]
		b.ops.Ops[i] = trace.OpTime{Op: s.n.Op, Layer: int16(s.n.Layer), Kernel: s.kernel[b.size(s)], Start: start, Dur: last - start, PC: s.n.PC, Fn: s.pc}
	}
	return last
}

// tap lets the caller look at the buffers while the workers rest.
func (b *Backend) tap(s *step, w int, start int64) int64 {
	if w == 0 {
		b.batch.Tap(s.n, b.rowFn)
		b.start = trace.Now()
	}
	b.meet()
	if b.ops == nil {
		return start
	}
	return b.start
}

// size is 1 if the step has a batch for the mat-mat, else 0.
func (b *Backend) size(s *step) int {
	if b.rows(s) >= manyTokens {
		return 1
	}
	return 0
}

// rows returns how many rows the step makes.
func (b *Backend) rows(s *step) int {
	if s.n.Out != graph.NoBuf && b.g.Bufs[s.n.Out].Kind == graph.PerOut {
		return len(b.batch.Out)
	}
	return len(b.batch.Tokens)
}

// unit is a piece of attention: rows that read the same keys. Either one token with all the query heads of one KV head,
// or tokens that lie in one page with one head.
type unit struct {
	token, tokens int32
	head, heads   int32
}

// plan lays the batch out: where scores lie, where pages are, how attention is cut up, and what is dealt out anew.
func (b *Backend) plan() {
	tok, heads := len(b.batch.Tokens), b.g.Attn.Heads
	b.offs, b.units = b.offs[:0], b.units[:0]
	off := 0
	for t := range tok {
		b.offs = append(b.offs, off)
		off += heads * b.keyLen(t)
	}
	for t := 0; t < tok; {
		n := 1
		for t+n < tok && b.batch.Seq[t+n] == b.batch.Seq[t] && b.batch.Pos[t+n]/kv.PageTokens == b.batch.Pos[t]/kv.PageTokens {
			n++
		}
		group := heads / max(b.g.Attn.KVHeads, 1)
		if n > 1 {
			group = 1
		}
		for h := 0; h < heads; h += group {
			b.units = append(b.units, unit{int32(t), int32(n), int32(h), int32(group)})
		}
		t += n
	}
	b.pieces = 1
	if len(b.units) < 4*b.active {
		b.pieces = b.active
	}
	b.pageTables()
	for i := range b.steps {
		if s := &b.steps[i]; b.many || s.big {
			s.share.next.Store(0)
		}
	}
}

// pageTables turns page numbers into addresses.
func (b *Backend) pageTables() {
	for len(b.tables) < len(b.batch.Seqs) {
		b.tables = append(b.tables, nil)
	}
	for i, s := range b.batch.Seqs {
		t := b.tables[i][:0]
		for _, p := range s.Pages {
			t = append(t, uintptr(unsafe.Pointer(&b.cache.pool[int(p)*b.cache.page])))
		}
		b.tables[i] = t
	}
}

// first returns the pieces [lo, hi) of total that worker w starts with, next those that it goes on with; lo == hi: none.
// Large work is dealt out dynamically, so that a worker that another program disturbs does less of it.
func (b *Backend) first(s *step, w, total, least int) (lo, hi int) {
	if b.many || s.big {
		return s.share.take(total, b.active, least)
	}
	return split(total, w, b.active)
}

func (b *Backend) next(s *step, total, least int) (lo, hi int) {
	if b.many || s.big {
		return s.share.take(total, b.active, least)
	}
	return 0, 0
}
