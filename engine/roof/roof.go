// Package roof measures what this machine can do, for kernels to be held against: how fast the threads together read
// memory, and how fast they multiply 8-bit integers and floats. It keeps the result in the user's cache folder, under the
// machine's name, number of threads and kernels, with the date.
//
// The figures are roofs in the sense of Williams, Waterman and Patterson (2009): no kernel of this program can be faster
// than the one of them that it runs into first, as long as what it reads comes from that level of memory.
//
// It does not know about models, kernels of the engine, recordings, or how a roof is drawn.
package roof

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"glassbox/engine/backend/cpu/kern"
	"glassbox/trace/file"
)

// Options says what is measured.
type Options struct {
	Machine string  // name of the machine, for the result
	Threads int     // that work at the same time; 0 = one a core
	Kernels string  // variant of kernels that the engine uses here, for the result
	Runs    int     // of each figure, 0 = 15
	Reads   []int64 // working sets in bytes, 0 < each; nil = 2 MiB a thread, 32 MiB and 512 MiB
	// Progress, if not nil, is told what is measured next.
	Progress func(what string)
}

const (
	// least is how long one run of arithmetic is to take: long against starting the threads.
	least       = 20 * time.Millisecond
	defaultRuns = 15
	mib         = 1 << 20
)

// Measure takes a few seconds and uses all threads asked for; it is only worth something on a machine that is otherwise
// idle, and the spread tells whether it was.
func Measure(ctx context.Context, o Options) (*file.Roof, error) {
	if o.Threads <= 0 {
		o.Threads = runtime.NumCPU()
	}
	if o.Runs <= 0 {
		o.Runs = defaultRuns
	}
	if o.Reads == nil {
		o.Reads = []int64{2 * mib * int64(o.Threads), 32 * mib, 512 * mib}
	}
	say := o.Progress
	if say == nil {
		say = func(string) {}
	}
	r := &file.Roof{Machine: o.Machine, Threads: o.Threads, Kernels: o.Kernels, Measured: time.Now().UTC().Format(time.RFC3339)}
	mem, err := newMemory(int(slices.Max(o.Reads)))
	if err != nil {
		return nil, err
	}
	defer mem.free()
	for _, n := range o.Reads {
		say(fmt.Sprintf("reading %d MiB", n/mib))
		rate, err := read(ctx, mem.b[:n], o.Threads, o.Runs)
		if err != nil {
			return nil, err
		}
		r.Reads = append(r.Reads, file.ReadRoof{Bytes: n, GBPerS: rate})
	}
	say("multiplying 8-bit integers")
	dot, name := int8Peak()
	if r.Int8, err = arithmetic(ctx, dot, o.Threads, o.Runs); err != nil {
		return nil, err
	}
	r.Int8.How = name
	say("multiplying floats")
	fma, name := floatPeak()
	if r.Float32, err = arithmetic(ctx, fma, o.Threads, o.Runs); err != nil {
		return nil, err
	}
	r.Float32.How = name
	return r, nil
}

// Memory measures one of Measure's figures alone: GB/s (10^9 bytes) of the threads reading a working set of n bytes.
func Memory(ctx context.Context, threads, runs, n int) (file.Spread, error) {
	mem, err := newMemory(n)
	if err != nil {
		return file.Spread{}, err
	}
	defer mem.free()
	return read(ctx, mem.b[:n], threads, runs)
}

// read measures GB/s (10^9 bytes) of the threads together, each reading its own part of b from end to end. A working set
// that fits a cache is read several times in a run.
func read(ctx context.Context, b []byte, threads, runs int) (file.Spread, error) {
	part := len(b) / threads / 4096 * 4096
	if part == 0 {
		return file.Spread{}, fmt.Errorf("roof: wanted at least 4096 bytes a thread to read, found %d for %d threads", len(b), threads)
	}
	again := max(1, 128*mib/(part*threads))
	how := "two streams with prefetch"
	if kern.ReadRoof(b[:4096]) == 0 {
		how = "plain Go"
	}
	s, err := spread(ctx, runs, func() float64 {
		d := together(threads, func(t int) {
			mine := b[t*part : (t+1)*part]
			for range again {
				if kern.ReadRoof(mine) == 0 {
					sum(mine)
				}
			}
		})
		return float64(part) * float64(threads*again) / float64(d.Nanoseconds())
	})
	s.How = how
	return s, err
}

// work is a loop of arithmetic: run does n rounds of ops operations, where a multiply and an add count 2.
type work struct {
	run func(n int)
	ops int
}

// arithmetic measures 10^9 operations a second of the threads together.
func arithmetic(ctx context.Context, w work, threads, runs int) (file.Spread, error) {
	n := 1024
	for ; n < 1<<40; n *= 2 { // until a run is long enough
		if together(threads, func(int) { w.run(n) }) >= least {
			break
		}
	}
	return spread(ctx, runs, func() float64 {
		d := together(threads, func(int) { w.run(n) })
		return float64(w.ops) * float64(n) * float64(threads) / float64(d.Nanoseconds())
	})
}

// together runs f on n threads of the system at once and returns how long the slowest took.
func together(n int, f func(t int)) time.Duration {
	var ready, done sync.WaitGroup
	start := make(chan time.Time)
	took := make([]time.Duration, n)
	for t := range n {
		ready.Add(1)
		done.Add(1)
		go func() {
			defer done.Done()
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			ready.Done()
			<-start
			began := time.Now()
			f(t)
			took[t] = time.Since(began)
		}()
	}
	ready.Wait()
	close(start)
	done.Wait()
	return max(slices.Max(took), 1)
}

// spread repeats a measurement, after one run that does not count.
func spread(ctx context.Context, runs int, one func() float64) (file.Spread, error) {
	one()
	v := make([]float64, runs)
	for i := range v {
		if err := ctx.Err(); err != nil {
			return file.Spread{}, err
		}
		v[i] = one()
	}
	slices.Sort(v)
	return file.Spread{Min: round(v[0]), Median: round(v[runs/2]), Max: round(v[runs-1]), Runs: runs}, nil
}

// round keeps what a measurement of this kind can carry: a hundredth.
func round(v float64) float64 { return float64(int64(v*100+0.5)) / 100 }
