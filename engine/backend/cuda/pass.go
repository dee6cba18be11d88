//go:build cuda

package cuda

import (
	"fmt"

	"glassbox/engine/backend"
	"glassbox/engine/backend/cuda/driver"
	"glassbox/engine/graph"
	"glassbox/trace"
)

// Anchors tie the device's clock to the host's for one timed pass.
type Anchors struct {
	Offset   int64 // ns to add to a time since the pass's first event to get a time of trace.Now
	Residual int64 // ns by which that may be wrong: half of the time in which the first event must have happened
	Drift    int64 // ns between the end of the pass by the device's clock and by the host's
}

// Run computes the batch. An untimed pass runs fused steps, or replays them; a timed or tapped one runs a kernel an op.
func (b *Backend) Run(batch *backend.Batch, ops *trace.PassOps) error {
	if err := batch.Check(b.g, b.o); err != nil {
		return err
	}
	if b.lost != nil {
		return b.lost
	}
	var err error
	switch {
	case batch.Tap != nil:
		err = b.tapped(batch, ops)
	case ops != nil:
		err = b.dev.Do(func() error { return b.timed(batch, ops) })
	default:
		err = b.dev.Do(func() error { return b.untimed(batch) })
	}
	return b.loses(err)
}

// loses notes that the device is gone: after an error in a kernel the driver answers every call with it.
func (b *Backend) loses(err error) error {
	if err == nil {
		return nil
	}
	b.lost = fmt.Errorf("cuda: %s: the device failed, and with it all that runs on it: %w: start the program again", b.dev.Name, err)
	return b.lost
}

// untimed runs the pass as fast as it goes.
func (b *Backend) untimed(batch *backend.Batch) error {
	if err := b.ready(batch); err != nil {
		return err
	}
	steps := b.fused
	if b.opts.unfused {
		steps = b.plain
	}
	if done, err := b.replay(steps); err != nil {
		return err
	} else if !done {
		if err := b.runSteps(steps); err != nil {
			return err
		}
	}
	return b.finish()
}

// ready describes the batch on the device, and makes room for what it needs.
func (b *Backend) ready(batch *backend.Batch) error {
	if err := b.prepare(batch); err != nil {
		return err
	}
	if batch.Tap == nil && !b.opts.unfused {
		return nil
	}
	return b.grow(&b.scores, 4*b.in.scores)
}

func (b *Backend) runSteps(steps []step) error {
	for i := range steps {
		if err := steps[i].fn(b, &steps[i]); err != nil {
			return err
		}
	}
	return nil
}

// finish fetches the logits and waits for everything.
func (b *Backend) finish() error {
	if err := driver.DownloadAsync(b.st, b.logits[:len(b.batch.Out)*b.g.Vocab], b.bufs[b.g.Logits]); err != nil {
		return err
	}
	return b.st.Synchronize()
}

// makeEvents makes two events a node: before it, needed where it does not follow another at once, and after it.
func (b *Backend) makeEvents() error {
	for len(b.events) < 2*len(b.plain) {
		e, err := driver.NewEvent()
		if err != nil {
			return err
		}
		b.events = append(b.events, e)
	}
	return nil
}

// anchor reads the host's clock around the first event.
func (b *Backend) anchor() error {
	if err := b.st.Synchronize(); err != nil {
		return err
	}
	t0 := trace.Now()
	if err := b.events[0].Record(b.st); err != nil {
		return err
	}
	if err := b.events[0].Wait(); err != nil {
		return err
	}
	t1 := trace.Now()
	b.anchors = Anchors{Offset: t0 + (t1-t0)/2, Residual: (t1 - t0) / 2}
	return nil
}

// Anchors returns the clocks' relation in the last timed pass.
func (b *Backend) Anchors() Anchors { return b.anchors }

// timed runs a kernel an op with an event after each.
func (b *Backend) timed(batch *backend.Batch, ops *trace.PassOps) error {
	err := b.ready(batch)
	if err == nil {
		err = b.grow(&b.scores, 4*b.in.scores)
	}
	if err == nil {
		err = b.makeEvents()
	}
	if err == nil {
		err = b.anchor()
	}
	if err != nil {
		return err
	}
	for i := range b.plain {
		if err := b.plain[i].fn(b, &b.plain[i]); err != nil {
			return err
		}
		if err := b.events[2*i+1].Record(b.st); err != nil {
			return err
		}
	}
	if err := b.finish(); err != nil {
		return err
	}
	return b.fill(ops, false)
}

// fill turns the events into times of ops. With apart each op has an event before it, else it begins where the one before
// it ended.
func (b *Backend) fill(ops *trace.PassOps, apart bool) error {
	now := trace.Now()
	ops.Reset(len(b.plain), 1)
	end, err := b.events[2*len(b.plain)-1].Since(b.events[0])
	if err != nil {
		return err
	}
	// The last event cannot lie after now: what the anchor is late is taken back.
	b.anchors.Drift = now - (b.anchors.Offset + end)
	offset := min(b.anchors.Offset, now-end)
	at := int64(0)
	for i := range b.plain {
		s := &b.plain[i]
		start := at
		if apart && i > 0 {
			if start, err = b.events[2*i].Since(b.events[0]); err != nil {
				return err
			}
			start = max(start, at)
		}
		end, err := b.events[2*i+1].Since(b.events[0])
		if err != nil {
			return err
		}
		at = max(end, start+1) // events closer than the clock's step: the least there is
		size := 0
		if b.rows(s.n) >= manyTokens {
			size = 1
		}
		ops.Ops[i] = trace.OpTime{Op: s.n.Op, Layer: int16(s.n.Layer), Kernel: s.kernel[size], Start: offset + start, Dur: at - start, PC: s.n.PC, Fn: s.pc}
		ops.Busy[i] = uint32(at - start)
	}
	return nil
}

// Logits returns row i of the last pass.
func (b *Backend) Logits(i int) []float32 { return b.logits[i*b.g.Vocab:][:b.g.Vocab] }

// Head runs the last norm and the head on rows of the residual stream, some at a time.
func (b *Backend) Head(x [][]float32, out func(i int, logits []float32)) error {
	first, chunk, err := backend.HeadBatch(b.g, b.o)
	if err != nil {
		return err
	}
	if b.lost != nil {
		return b.lost
	}
	width := b.width(first.A)
	for lo := 0; lo < len(x); lo += chunk {
		rows := x[lo:min(lo+chunk, len(x))]
		flat := make([]float32, 0, len(rows)*width)
		for i, r := range rows {
			if len(r) != width {
				return fmt.Errorf("cuda: head: row %d: wanted %d floats, found %d", lo+i, width, len(r))
			}
			flat = append(flat, r...)
		}
		if err := b.loses(b.dev.Do(func() error { return b.head(flat, len(rows), first) })); err != nil {
			return err
		}
		for i := range rows {
			out(lo+i, b.Logits(i))
		}
	}
	return nil
}

func (b *Backend) head(x []float32, rows int, first *graph.Node) error {
	if err := b.prepare(backend.RowsBatch(rows)); err != nil {
		return err
	}
	if err := driver.Upload(b.bufs[first.A], x); err != nil {
		return err
	}
	if err := b.runSteps(b.plain[first.Index:]); err != nil {
		return err
	}
	return b.finish()
}
