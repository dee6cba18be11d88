//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"math"

	"glassbox/engine/backend"
	"glassbox/engine/backend/cuda/driver"
	"glassbox/engine/graph"
	"glassbox/trace"
)

// Ways of summing up over devices: engine/tp's words.
const (
	sumDirect = "direct"
	sumRing   = "ring"
	sumNCCL   = "nccl"
)

// collective sums numbers up over the devices of a group. All devices call the same in the same order.
type collective interface {
	// allReduce puts into the stream: n floats at p become the sum over all devices' n floats, the same bits on each.
	allReduce(b *Backend, p driver.Ptr, n int) error
	// close leaves the group; nothing is under way.
	close(b *Backend) error
}

// sharded tells whether this backend is one of several.
func (b *Backend) sharded() bool { return b.o.Group != nil && b.o.Group.Size() > 1 }

// chooseSum says how this group will sum up.
func chooseSum(o backend.Options) (string, error) {
	switch o.AllReduce {
	case sumDirect, sumRing:
		return o.AllReduce, nil
	case "":
		if driver.LoadNCCL() != nil {
			return sumDirect, nil
		}
		return sumNCCL, nil
	case sumNCCL:
		if err := driver.LoadNCCL(); err != nil {
			return "", fmt.Errorf("all-reduce: %w: install it, name it in %s, or choose --all-reduce direct", err, driver.NCCLLibrary)
		}
		return sumNCCL, nil
	}
	return "", fmt.Errorf("all-reduce: wanted direct, ring or nccl, found %q", o.AllReduce)
}

// Join meets the other shards. It returns when all have called it.
func (b *Backend) Join() error {
	if !b.sharded() {
		return nil
	}
	return b.dev.Do(func() (err error) {
		if b.sumBy == sumNCCL {
			b.sum, err = b.joinNCCL()
		} else {
			b.sum, err = b.joinPeers()
		}
		return err
	})
}

// allReduce adds up what the shards have.
func allReduce(b *Backend, s *step) error {
	if b.sum == nil {
		return errors.New("all-reduce: wanted a group that has met, found none")
	}
	return b.sum.allReduce(b, b.bufs[s.n.Out], len(b.batch.Tokens)*b.width(s.n.Out))
}

// exchange gives every member what each has, in the order of ranks. The words are told as they are, whatever they mean as floats.
func exchange(g backend.Group, own []uint32) [][]uint32 {
	mine := make([]float32, len(own))
	for i, w := range own {
		mine[i] = math.Float32frombits(w)
	}
	all := make([]float32, len(own)*g.Size())
	g.AllGather(all, mine)
	out := make([][]uint32, g.Size())
	for i, f := range all {
		out[i/len(own)] = append(out[i/len(own)], math.Float32bits(f))
	}
	return out
}

func halves(x uint64) []uint32 { return []uint32{uint32(x), uint32(x >> 32)} }

// whole is the i-th number of two words.
func whole(w []uint32, i int) uint64 { return uint64(w[2*i]) | uint64(w[2*i+1])<<32 }

// ncclSum is NVIDIA's library.
type ncclSum struct{ *driver.Comm }

// joinNCCL tells the others the group's id, made by shard 0, and joins.
func (b *Backend) joinNCCL() (collective, error) {
	g := b.o.Group
	var id driver.NCCLID
	var err error
	words := make([]uint32, 1+len(id)/4) // 1, and the id
	if g.Rank() == 0 {
		if id, err = driver.NewNCCLID(); err == nil {
			words[0] = 1
		}
		for i, c := range id {
			words[1+i/4] |= uint32(c) << (8 * (i % 4))
		}
	}
	words = exchange(g, words)[0]
	if err != nil {
		return nil, err
	}
	if words[0] != 1 {
		return nil, errors.New("NCCL: shard 0 has no id for the group")
	}
	for i := range id {
		id[i] = byte(words[1+i/4] >> (8 * (i % 4)))
	}
	c, err := driver.JoinNCCL(id, g.Rank(), g.Size())
	if err != nil {
		return nil, err
	}
	return ncclSum{c}, nil
}

func (c ncclSum) allReduce(b *Backend, p driver.Ptr, n int) error {
	return b.call(trace.Call{Kind: trace.CallSum, API: "ncclAllReduce", Bytes: int64(4 * n)}, true, func() error { return c.AllReduce(b.st, p, n) })
}

func (c ncclSum) close(*Backend) error { return c.Close() }

// peers are devices of this process that write into each other's memory. Each has room for what the others send it, with an event of
// the sender behind each piece, all of it twice: a piece is written again two sums later, and by then its reader is done, since the
// sender has waited in between for something that came after the reading.
type peers struct {
	g       backend.Group
	ring    bool
	pieces  int // that a device is sent in a sum
	floats  int // of a piece, at most
	room    driver.Ptr
	events  []driver.Event // own, one a piece that is sent
	rooms   []driver.Ptr   // everybody's
	told    [][]uint64     // everybody's events
	reached []int          // devices whose context is held
	turn    int
}

// joinPeers makes room, tells the others where it is, and opens the way to theirs.
func (b *Backend) joinPeers() (collective, error) {
	g := b.o.Group
	p := &peers{g: g, ring: b.sumBy == sumRing, pieces: g.Size()}
	for _, n := range b.g.Nodes {
		if n.Kind == graph.AllReduce {
			p.floats = max(p.floats, b.o.MaxTokens*b.width(n.Out))
		}
	}
	if p.ring {
		p.pieces, p.floats = 2*(g.Size()-1), p.floats/g.Size()+1
	}
	err := p.make()
	words := append(halves(uint64(p.room)), halves(uint64(b.dev.Ordinal))...)
	for i := range 2 * p.pieces {
		h := uint64(0)
		if err == nil {
			h = p.events[i].Handle()
		}
		words = append(words, halves(h)...)
	}
	if err != nil {
		clear(words)
	}
	for r, w := range exchange(g, words) {
		if len(w) == 0 || whole(w, 0) == 0 {
			return p, errors.Join(err, fmt.Errorf("all-reduce: shard %d has no room for what the others send", r))
		}
		p.rooms = append(p.rooms, driver.Ptr(whole(w, 0)))
		events := make([]uint64, 2*p.pieces)
		for i := range events {
			events[i] = whole(w, 2+i)
		}
		p.told = append(p.told, events)
		if other := int(whole(w, 1)); r != g.Rank() && err == nil {
			near := false
			if near, err = b.dev.ReachPeer(other); near {
				p.reached = append(p.reached, other)
			}
		}
	}
	return p, err
}

func (p *peers) make() error {
	var err error
	if p.room, err = driver.Alloc(int64(2 * p.pieces * p.floats * 4)); err != nil {
		return err
	}
	for range 2 * p.pieces {
		e, err := driver.NewEvent()
		if err != nil {
			return err
		}
		p.events = append(p.events, e)
	}
	return nil
}

func (p *peers) close(b *Backend) error {
	var errs []error
	for _, e := range p.events {
		errs = append(errs, e.Destroy())
	}
	if p.room != 0 {
		errs = append(errs, driver.Free(p.room))
	}
	for _, o := range p.reached {
		errs = append(errs, b.dev.EndPeer(o))
	}
	return errors.Join(errs...)
}

// slot is the number of a piece in this turn.
func (p *peers) slot(piece int) int { return p.turn%2*p.pieces + piece }

// in is where a device is sent a piece.
func (p *peers) in(rank, piece int) driver.Ptr {
	return p.rooms[rank] + driver.Ptr(4*p.slot(piece)*p.floats)
}

// send copies n floats into another device's room.
func (p *peers) send(b *Backend, to, piece int, x driver.Ptr, n int) error {
	if n == 0 {
		return nil
	}
	return b.call(trace.Call{Kind: trace.CallCopy, API: "cuMemcpyAsync", Bytes: int64(4 * n)}, true, func() error {
		return driver.CopyAsync(b.st, p.in(to, piece), x, int64(4*n))
	})
}

// meet returns when all shards are here. Events that were recorded before can be waited for after.
func (p *peers) meet() { p.g.Broadcast(make([]float32, 1), 0) }

// wait keeps the stream waiting for a piece that a device has sent.
func (p *peers) wait(b *Backend, from, piece int) error {
	return b.st.WaitFor(p.told[from][p.slot(piece)])
}

func (p *peers) allReduce(b *Backend, x driver.Ptr, n int) error {
	p.turn++
	if p.ring {
		return p.round(b, x, n)
	}
	return p.direct(b, x, n)
}

// direct sends all numbers to all, and each sums up from the first shard to the last. Two shards add the same two numbers whichever
// is first; with more of them the own ones go through the room too.
func (p *peers) direct(b *Backend, x driver.Ptr, n int) error {
	me, size := p.g.Rank(), p.g.Size()
	for r := range size {
		if r == me && size == 2 {
			continue
		}
		if err := p.send(b, r, me, x, n); err != nil {
			return err
		}
	}
	if err := p.events[p.slot(0)].Record(b.st); err != nil {
		return err
	}
	p.meet()
	for r := range size {
		if r == me {
			continue
		}
		if err := p.wait(b, r, 0); err != nil {
			return err
		}
	}
	if size == 2 {
		return b.each("all_reduce_add", 256, n, x, p.in(me, 1-me), n)
	}
	if err := driver.CopyAsync(b.st, x, p.in(me, 0), int64(4*n)); err != nil {
		return err
	}
	for r := 1; r < size; r++ {
		if err := b.each("all_reduce_add", 256, n, x, p.in(me, r), n); err != nil {
			return err
		}
	}
	return nil
}

// round sends parts of the sum round, from each shard to the next, and then the sums (engine/tp has the same in memory).
func (p *peers) round(b *Backend, x driver.Ptr, n int) error {
	me, size := p.g.Rank(), p.g.Size()
	next, before := (me+1)%size, (me+size-1)%size
	part := func(c int) (driver.Ptr, int) {
		c = (c + 2*size) % size
		lo, hi := n*c/size, n*(c+1)/size
		return x + driver.Ptr(4*lo), hi - lo
	}
	for step := range p.pieces {
		sums := step >= size-1
		out, in := me-step, me-step-1
		if sums {
			out, in = me+1-(step-size+1), me-(step-size+1)
		}
		from, k := part(out)
		err := p.send(b, next, step, from, k)
		if err == nil {
			err = p.events[p.slot(step)].Record(b.st)
		}
		if err != nil {
			return err
		}
		p.meet()
		if err := p.wait(b, before, step); err != nil {
			return err
		}
		to, k := part(in)
		switch {
		case k == 0:
		case sums:
			err = driver.CopyAsync(b.st, to, p.in(me, step), int64(4*k))
		default:
			err = b.each("all_reduce_add", 256, k, to, p.in(me, step), k)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
