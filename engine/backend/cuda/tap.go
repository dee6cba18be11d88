//go:build cuda

package cuda

import (
	"slices"

	"glassbox/engine/backend"
	"glassbox/engine/backend/cuda/driver"
	"glassbox/engine/graph"
	"glassbox/engine/kv"
	"glassbox/trace"
)

// mirror are copies of the device's buffers in host memory, made when Tap asks for a row and put back when it returns.
type mirror struct {
	bufs [][]float32 // by graph.Buf
	was  [][]float32 // what they were when they were read
	have []bool      // those read since the last op
	err  error       // of the first copy that failed
	// The scores of the attention at hand, or the weights, were changed: the mix must take those, and cannot start anew
	// from queries and keys.
	changed bool
}

// tapped runs a kernel an op and calls Tap after each, on the caller's goroutine.
func (b *Backend) tapped(batch *backend.Batch, ops *trace.PassOps) error {
	if b.mirror.bufs == nil {
		n := len(b.g.Bufs)
		b.mirror = mirror{bufs: make([][]float32, n), was: make([][]float32, n), have: make([]bool, n)}
	}
	b.mirror.err = nil
	err := b.dev.Do(func() error {
		if ops != nil {
			if err := b.openLog(); err != nil {
				return err
			}
		}
		return b.ready(batch)
	})
	defer func() { b.log.on = false }()
	for i := 0; i < len(b.plain) && err == nil; i++ {
		if err = b.dev.Do(func() error { return b.tappedStep(i, ops != nil) }); err != nil {
			break
		}
		batch.Tap(b.plain[i].n, b.tapRow)
		err = b.putBack()
	}
	if err != nil {
		return err
	}
	return b.dev.Do(func() error {
		b.log.op = -1
		if err := b.finish(); err != nil || ops == nil {
			return err
		}
		return b.closeLog(ops)
	})
}

func (b *Backend) tappedStep(i int, timed bool) error {
	s := &b.plain[i]
	fn := s.fn
	switch {
	case s.n.Kind == graph.Scores:
		b.mirror.changed = false
	case s.n.Kind == graph.Mix && !timed && !b.mirror.changed && !b.opts.unfused:
		// With the bits of a pass that nobody looks at. A timed pass times the mix itself.
		fn, s = attention, b.fusedAt[i]
	}
	b.log.op = int32(i)
	if err := fn(b, s); err != nil {
		return err
	}
	return b.wait()
}

// bufOf returns where a buffer of the graph is on the device, and how many floats of it the batch uses.
func (b *Backend) bufOf(buf graph.Buf) (driver.Ptr, int) {
	info := b.g.Bufs[buf]
	switch info.Kind {
	case graph.PerKey:
		return b.scores.p, int(b.in.scores)
	case graph.PerOut:
		return b.bufs[buf], len(b.batch.Out) * info.Width
	}
	return b.bufs[buf], len(b.batch.Tokens) * info.Width
}

// tapRow is what Tap reads with.
func (b *Backend) tapRow(buf graph.Buf, t int) []float32 {
	m := &b.mirror
	p, n := b.bufOf(buf)
	if !m.have[buf] {
		m.have[buf] = true
		if cap(m.bufs[buf]) < n {
			m.bufs[buf] = make([]float32, n)
		}
		m.bufs[buf] = m.bufs[buf][:n]
		if err := b.dev.Do(func() error { return downloadNow(b, m.bufs[buf], p) }); err != nil && m.err == nil {
			m.err = err
		}
		m.was[buf] = append(m.was[buf][:0], m.bufs[buf]...)
	}
	info := b.g.Bufs[buf]
	if info.Kind != graph.PerKey {
		return m.bufs[buf][t*info.Width:][:info.Width]
	}
	h, t := t%info.Width, t/info.Width
	keys := int(b.batch.Pos[t]) + 1
	return m.bufs[buf][int(b.in.offs.host[t])+h*kv.PagesFor(keys)*kv.PageTokens:][:keys]
}

// putBack copies what Tap may have changed to the device.
func (b *Backend) putBack() error {
	m := &b.mirror
	for buf, have := range m.have {
		if !have {
			continue
		}
		m.have[buf] = false
		if slices.Equal(m.bufs[buf], m.was[buf]) {
			continue
		}
		m.changed = m.changed || b.g.Bufs[buf].Kind == graph.PerKey
		p, _ := b.bufOf(graph.Buf(buf))
		if err := b.dev.Do(func() error { return uploadNow(b, p, m.bufs[buf]) }); err != nil && m.err == nil {
			m.err = err
		}
	}
	return m.err
}
