package tp

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"glassbox/engine/backend"
)

// Ways of an all-reduce in memory. Both move 2 (n-1) times the row between shards; direct meets twice, ring 2 (n-1) times.
const (
	Direct = "direct" // each shard sums its part of the places over all shards, and writes it to all
	NCCL   = "nccl"   // NVIDIA's library, between devices alone
	Ring   = "ring"   // parts of the sum go round, from each shard to the next, and then the sums (Patarasuk and Yuan 2009)
)

// group is what the shards of one process share.
type group struct {
	ring    bool
	bufs    [][]float32 // what each shard has given to the collective at hand
	members []backend.Group

	gone   atomic.Bool   // a shard failed: nobody waits for it any more
	gen    atomic.Uint32 // of the barrier
	count  atomic.Int32
	parked atomic.Int32
	mu     sync.Mutex
	cond   *sync.Cond
}

// member is one shard's end.
type member struct {
	g    *group
	rank int
}

// NewGroup makes a group of n shards of this process and returns their ends. how is Direct, Ring, or "" for Direct.
func NewGroup(n int, how string) ([]backend.Group, error) {
	if how != "" && how != Direct && how != Ring {
		return nil, fmt.Errorf("all-reduce: wanted %s or %s, or %s between GPUs, found %q", Direct, Ring, NCCL, how)
	}
	g := &group{ring: how == Ring, bufs: make([][]float32, n)}
	g.cond = sync.NewCond(&g.mu)
	for r := range n {
		g.members = append(g.members, &member{g, r})
	}
	return g.members, nil
}

// Rank is the shard's number, from 0.
func (m *member) Rank() int { return m.rank }

// Size is the number of shards.
func (m *member) Size() int { return len(m.g.bufs) }

// Close leaves the group.
func (m *member) Close() error { return nil }

// Abort ends all collectives of the group, those at hand and those to come, with whatever is in their buffers: for a shard that
// failed and will not come.
func (m *member) Abort() {
	m.g.gone.Store(true)
	m.g.mu.Lock()
	m.g.cond.Broadcast()
	m.g.mu.Unlock()
}

// looks is how often a shard looks whether the others have come before it parks; in between it lets others run.
const looks = 2000

// meet returns when all shards have called it.
func (g *group) meet() {
	gen := g.gen.Load()
	if int(g.count.Add(1)) == len(g.bufs) {
		g.count.Store(0)
		g.gen.Store(gen + 1)
		if g.parked.Load() > 0 {
			g.mu.Lock()
			g.cond.Broadcast()
			g.mu.Unlock()
		}
		return
	}
	for i := range looks {
		if g.gen.Load() != gen || g.gone.Load() {
			return
		}
		if i%16 == 15 {
			runtime.Gosched()
		}
	}
	g.mu.Lock()
	g.parked.Add(1)
	for g.gen.Load() == gen && !g.gone.Load() {
		g.cond.Wait()
	}
	g.parked.Add(-1)
	g.mu.Unlock()
}

// part is the shard's share of n places.
func (g *group) part(n, rank int) (int, int) {
	return n * rank / len(g.bufs), n * (rank + 1) / len(g.bufs)
}

// AllReduce replaces x by the sum over the shards' x.
func (m *member) AllReduce(x []float32) {
	if m.Size() == 1 || m.g.gone.Load() {
		return
	}
	m.g.bufs[m.rank] = x
	if m.g.meet(); m.g.gone.Load() {
		return
	}
	if m.g.ring {
		m.ring(x)
	} else {
		m.direct(x)
	}
}

// direct sums the shard's part over all, from the first shard to the last, and writes it to all. Nobody else touches that
// part, so there is nothing to wait for in between.
func (m *member) direct(x []float32) {
	g := m.g
	lo, hi := g.part(len(x), m.rank)
	for i := lo; i < hi; i++ {
		sum := g.bufs[0][i]
		for _, b := range g.bufs[1:] {
			sum += b[i]
		}
		for _, b := range g.bufs {
			b[i] = sum
		}
	}
	g.meet()
}

// ring takes what the shard before has of one part and adds its own, a part further each time; after n-1 rounds each shard
// has the sum of one part, and these go round once more. Part c is summed from shard c on, round to the shard before it.
func (m *member) ring(x []float32) {
	g, n := m.g, m.Size()
	before := g.bufs[(m.rank+n-1)%n]
	for step := range n - 1 {
		c := (m.rank - step - 1 + 2*n) % n
		lo, hi := g.part(len(x), c)
		for i := lo; i < hi; i++ {
			x[i] = before[i] + x[i]
		}
		g.meet()
	}
	for step := range n - 1 {
		c := (m.rank - step + n) % n
		lo, hi := g.part(len(x), c)
		copy(x[lo:hi], before[lo:hi])
		g.meet()
	}
}

// AllGather fills all with what the shards have, one after the other.
func (m *member) AllGather(all, own []float32) {
	g := m.g
	if g.gone.Load() {
		return
	}
	g.bufs[m.rank] = own
	if g.meet(); g.gone.Load() {
		return
	}
	at := 0
	for _, b := range g.bufs {
		at += copy(all[at:], b)
	}
	g.meet()
}

// Broadcast fills x with the root's x.
func (m *member) Broadcast(x []float32, root int) {
	g := m.g
	if g.gone.Load() {
		return
	}
	g.bufs[m.rank] = x
	if g.meet(); g.gone.Load() {
		return
	}
	if m.rank != root {
		copy(x, g.bufs[root])
	}
	g.meet()
}
