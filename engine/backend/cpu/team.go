package cpu

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"glassbox/engine/backend/cpu/kern"
)

// looks is how often one call of kern's Spin looks: less than a microsecond, because its assembly cannot be preempted
// and the collector waits for it.
const looks = 16

// barrier lets n workers through when all have come. They spin first and then park, so that a late worker costs the
// others no processor that something else could use.
type barrier struct {
	_     [64]byte
	gen   atomic.Uint32
	_     [60]byte
	count atomic.Int32
	_     [60]byte
	n     int32
	spins int
	k     *kern.Kernels
	slept atomic.Int32
	parks atomic.Int32 // how often a worker gave up spinning
	mu    sync.Mutex
	cond  *sync.Cond
}

func newBarrier(k *kern.Kernels, n, spins int) *barrier {
	b := &barrier{n: int32(n), spins: spins, k: k}
	b.cond = sync.NewCond(&b.mu)
	return b
}

// wait blocks until all workers have called it.
func (b *barrier) wait() {
	if b.n == 1 {
		return
	}
	g := b.gen.Load()
	if b.count.Add(1) == b.n {
		b.count.Store(0)
		b.gen.Store(g + 1)
		if b.slept.Load() != 0 {
			b.mu.Lock()
			b.cond.Broadcast()
			b.mu.Unlock()
		}
		return
	}
	p := (*uint32)(unsafe.Pointer(&b.gen))
	for range b.spins {
		if b.k.Spin(p, g, looks) {
			b.gen.Load() // the edge that the memory model knows: Spin's assembly is none
			return
		}
	}
	b.parks.Add(1)
	b.mu.Lock()
	b.slept.Add(1)
	for b.gen.Load() == g {
		b.cond.Wait()
	}
	b.slept.Add(-1)
	b.mu.Unlock()
}

// gateSpins is how much longer workers spin between passes than between ops. Sampling, detokenizing and sending take 100 to
// 300 us when they are traced; a worker that parked meanwhile comes late to the next pass, which then goes on with fewer.
const gateSpins = 10

// team is n workers; the caller of run is worker 0. They are plain goroutines, neither locked to threads nor pinned: on
// two cores a pinned worker keeps the goroutine that streams the answer from running.
type team struct {
	n    int
	bar  *barrier // between ops
	gate *barrier // before and after a job
	job  func(w int)
	done sync.WaitGroup
}

func newTeam(k *kern.Kernels, n int) *team {
	spins := 200 // some 100 us
	if n > runtime.GOMAXPROCS(0) {
		spins = 1 // whoever one waits for may not be running
	}
	t := &team{n: n, bar: newBarrier(k, n, spins), gate: newBarrier(k, n, gateSpins*spins)}
	for w := 1; w < n; w++ {
		t.done.Add(1)
		go t.work(w)
	}
	return t
}

func (t *team) work(w int) {
	defer t.done.Done()
	for {
		t.gate.wait()
		f := t.job
		if f == nil {
			return
		}
		f(w)
		t.gate.wait()
		runtime.Gosched() // once a pass: others that want this processor get it now, not after a 10 ms preemption
	}
}

// run calls f on every worker and returns when all are done.
func (t *team) run(f func(w int)) {
	if t.n == 1 {
		f(0)
		return
	}
	t.job = f
	t.gate.wait()
	f(0)
	t.gate.wait()
}

// close ends the workers.
func (t *team) close() {
	t.job = nil
	if t.n > 1 {
		t.gate.wait()
	}
	t.done.Wait()
}

// share deals the pieces of one op out to workers.
type share struct {
	next atomic.Int32
	_    [60]byte
}

// take returns the next pieces [a, b) for one of n workers: half of a fair share of what is left, at least least. a == b
// when nothing is left.
func (s *share) take(total, n, least int) (a, b int) {
	for {
		p := int(s.next.Load())
		if p >= total {
			return total, total
		}
		k := min(max((total-p)/(2*n), least), total-p)
		if s.next.CompareAndSwap(int32(p), int32(p+k)) {
			return p, p + k
		}
	}
}

// split gives worker w of n its fixed part of total.
func split(total, w, n int) (int, int) { return total * w / n, total * (w + 1) / n }
