//go:build cuda

package cuda

import (
	"fmt"

	"glassbox/engine/backend/cuda/driver"
	"glassbox/trace"
)

// callLog notes what a timed pass asks of the driver, with an event behind each piece of work in the stream: event 0 is before
// all of them. Without a log calls are made and nothing else is done.
type callLog struct {
	on     bool
	op     int32 // what the next calls are made for, an index into Backend.plain; -1: none
	calls  []trace.Call
	events []int // of each call: its event, 0 for none
	used   int   // events
	start  reading
}

// reading is a moment of the device's clock between two readings of the host's.
type reading struct{ mid, half int64 }

// event takes the next event of the pool and puts it into the stream.
func (b *Backend) event() (int, error) {
	n := b.log.used
	if n == len(b.events) {
		e, err := driver.NewEvent()
		if err != nil {
			return 0, err
		}
		b.events = append(b.events, e)
	}
	b.log.used++
	return n, b.events[n].Record(b.st)
}

// read reads both clocks: the host's before and after an event has happened.
func (b *Backend) read() (n int, r reading, err error) {
	t0 := trace.Now()
	if n, err = b.event(); err == nil {
		err = b.events[n].Wait()
	}
	t1 := trace.Now()
	return n, reading{t0 + (t1-t0)/2, (t1 - t0 + 1) / 2}, err
}

// openLog begins a timed pass.
func (b *Backend) openLog() error {
	l := &b.log
	l.calls, l.events, l.used, l.op = l.calls[:0], l.events[:0], 0, -1
	if err := b.st.Synchronize(); err != nil {
		return err
	}
	var err error
	if _, l.start, err = b.read(); err != nil {
		return err
	}
	l.on = true
	return nil
}

// call makes a call. queued says that its work stands in the stream when it returns.
func (b *Backend) call(c trace.Call, queued bool, f func() error) error {
	l := &b.log
	if !l.on {
		return f()
	}
	c.Op, c.Start = l.op, trace.Now()
	err := f()
	c.Dur = trace.Now() - c.Start
	n := 0
	if err == nil && queued {
		n, err = b.event()
	}
	l.calls, l.events = append(l.calls, c), append(l.events, n)
	return err
}

// launch runs a kernel on a grid of blocks.
func (b *Backend) launch(name string, grid [3]int, threads, shared int, args ...any) error {
	k := b.k[name]
	if k == nil {
		return fmt.Errorf("kernel %s: wanted an entry of the PTX, found none of that name", name)
	}
	shape := driver.Shape{Grid: grid, Block: threads, Shared: shared}
	if !b.log.on {
		return k.Launch(b.st, shape, args...)
	}
	c := trace.Call{Kind: trace.CallLaunch, API: "cuLaunchKernel", Kernel: b.names[name], Threads: int32(threads)}
	c.Grid = [3]int32{int32(grid[0]), int32(max(grid[1], 1)), int32(max(grid[2], 1))}
	return b.call(c, true, func() error { return k.Launch(b.st, shape, args...) })
}

// upload copies page-locked memory to the device; the stream goes on from there.
func upload[T any](b *Backend, p driver.Ptr, s []T) error {
	if len(s) == 0 {
		return nil
	}
	return b.call(trace.Call{Kind: trace.CallUpload, API: "cuMemcpyHtoDAsync", Bytes: sizeOfAll(s)}, true, func() error { return driver.UploadAsync(b.st, p, s) })
}

// uploadNow copies to the device and waits.
func uploadNow[T any](b *Backend, p driver.Ptr, s []T) error {
	return b.call(trace.Call{Kind: trace.CallUpload, API: "cuMemcpyHtoD", Bytes: sizeOfAll(s)}, false, func() error { return driver.Upload(p, s) })
}

// downloadNow copies from the device and waits.
func downloadNow[T any](b *Backend, s []T, p driver.Ptr) error {
	return b.call(trace.Call{Kind: trace.CallDownload, API: "cuMemcpyDtoH", Bytes: sizeOfAll(s)}, false, func() error { return driver.Download(s, p) })
}

// wait waits for the stream.
func (b *Backend) wait() error {
	return b.call(trace.Call{Kind: trace.CallWait, API: "cuStreamSynchronize"}, false, b.st.Synchronize)
}

// closeLog reads the clocks again and turns the events into times of calls and ops. The device's clock is laid onto the host's
// by the line through the two readings.
func (b *Backend) closeLog(ops *trace.PassOps) error {
	l := &b.log
	l.on = false
	last, end, err := b.read()
	if err != nil {
		return err
	}
	span, err := b.events[last].Since(b.events[0])
	if err != nil {
		return err
	}
	host := end.mid - l.start.mid
	ops.Reset(len(b.plain), 1)
	ops.Clocks = trace.Clocks{Residual: max(l.start.half, end.half), Drift: host - span}
	at := l.start.mid // where the work before ended
	for i := range l.calls {
		c := &l.calls[i]
		if l.events[i] == 0 {
			continue
		}
		ns, err := b.events[l.events[i]].Since(b.events[0])
		if err != nil {
			return err
		}
		done := l.start.mid + int64(float64(ns)*float64(host)/float64(max(span, 1)))
		done = max(done, at+1) // events closer than the clock's step: the least there is
		c.Began = min(max(at, c.Start), done-1)
		c.Took = done - c.Began
		at = done
	}
	ops.Calls = append(ops.Calls, l.calls...)
	b.fillOps(ops)
	return nil
}

// fillOps gives each op the time from the start of its first piece of work on the device to the end of its last.
func (b *Backend) fillOps(ops *trace.PassOps) {
	at, i := b.log.start.mid, 0
	for n := range b.plain {
		s := &b.plain[n]
		start, end := at, at+1 // an op without work, such as the head where no logits are wanted
		first := true
		for ; i < len(ops.Calls) && ops.Calls[i].Op <= int32(n); i++ {
			c := &ops.Calls[i]
			if c.Op != int32(n) || c.Took == 0 {
				continue
			}
			if first {
				start, first = max(at, c.Began), false
			}
			end = max(c.Began+c.Took, start+1)
		}
		size := 0
		if b.rows(s.n) >= manyTokens {
			size = 1
		}
		ops.Ops[n] = trace.OpTime{Op: s.n.Op, Layer: int16(s.n.Layer), Kernel: s.kernel[size], Start: start, Dur: end - start, PC: s.n.PC, Fn: s.pc}
		ops.Busy[n] = uint32(end - start)
		at = end
	}
}
