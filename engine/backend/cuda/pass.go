//go:build cuda

package cuda

import (
	"fmt"

	"glassbox/engine/backend"
	"glassbox/engine/backend/cuda/driver"
	"glassbox/engine/graph"
	"glassbox/trace"
)

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
	if out := b.logits[:len(b.batch.Out)*b.g.Vocab]; len(out) > 0 {
		err := b.call(trace.Call{Kind: trace.CallDownload, API: "cuMemcpyDtoHAsync", Bytes: sizeOfAll(out)}, true, func() error {
			return driver.DownloadAsync(b.st, out, b.bufs[b.g.Logits])
		})
		if err != nil {
			return err
		}
	}
	return b.wait()
}

// timed runs a kernel an op with an event after each.
func (b *Backend) timed(batch *backend.Batch, ops *trace.PassOps) error {
	if err := b.openLog(); err != nil {
		return err
	}
	defer func() { b.log.on = false }()
	err := b.ready(batch)
	if err == nil {
		err = b.grow(&b.scores, 4*b.in.scores)
	}
	for i := 0; i < len(b.plain) && err == nil; i++ {
		b.log.op = int32(i)
		err = b.plain[i].fn(b, &b.plain[i])
	}
	if err != nil {
		return err
	}
	b.log.op = -1
	if err := b.finish(); err != nil {
		return err
	}
	return b.closeLog(ops)
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
