//go:build cuda

package cuda

import (
	"glassbox/engine/backend"
	"glassbox/engine/backend/cuda/driver"
	"glassbox/engine/kv"
)

// chunkKeys and unitPairs are kernels/attention.cu's: keys of a chunk, pairs of token and head of a unit.
const (
	chunkKeys = 128
	unitPairs = 8
)

// region is a piece of a batch's description: page-locked host memory and its copy on the device.
type region[T any] struct {
	host []T // filled to len
	dev  driver.Ptr
}

func newRegion[T any](b *Backend, n int, width int64) (r region[T], err error) {
	if r.host, err = pinnedOf[T](b, n); err == nil {
		r.host = r.host[:0]
		r.dev, err = b.alloc(int64(n) * width)
	}
	return r, err
}

// unit is a piece of attention: tokens of one sequence and heads of one KV head.
type unit struct{ token, tokens, head, heads int32 }

// input is what the kernels need to know of a batch. Its regions stay where they are, so that a captured graph finds the
// next batch there.
type input struct {
	tokens, pos, tableAt, out region[int32]
	offs                      region[int64] // of each token in the PerKey buffer
	units                     region[unit]
	tables                    grown
	pages                     []int32 // of all sequences, one after the other
	scores                    int64   // floats of the PerKey buffer
	last                      int     // the largest position
}

func (b *Backend) makeInput() (err error) {
	in := &b.in
	for _, r := range []*region[int32]{&in.tokens, &in.pos, &in.tableAt} {
		if *r, err = newRegion[int32](b, b.o.MaxTokens, 4); err != nil {
			return err
		}
	}
	if in.out, err = newRegion[int32](b, b.o.MaxOut, 4); err != nil {
		return err
	}
	if in.offs, err = newRegion[int64](b, b.o.MaxTokens, 8); err != nil {
		return err
	}
	in.units, err = newRegion[unit](b, b.o.MaxTokens*b.unitsOfToken(), 16)
	return err
}

// unitsOfToken is the most units that one token makes.
func (b *Backend) unitsOfToken() int {
	a := b.g.Attn
	group := a.Heads / a.KVHeads
	return a.KVHeads * ((group + unitPairs - 1) / unitPairs)
}

// prepare describes the batch and copies that to the device.
func (b *Backend) prepare(batch *backend.Batch) error {
	b.batch = batch
	in, a := &b.in, b.g.Attn
	in.tokens.host = append(in.tokens.host[:0], batch.Tokens...)
	in.pos.host = append(in.pos.host[:0], batch.Pos...)
	in.out.host = append(in.out.host[:0], batch.Out...)
	in.pages, in.offs.host, in.tableAt.host, in.scores, in.last = in.pages[:0], in.offs.host[:0], in.tableAt.host[:0], 0, 0
	starts := make([]int32, len(batch.Seqs))
	for i, s := range batch.Seqs {
		starts[i] = int32(len(in.pages))
		for _, p := range s.Pages {
			in.pages = append(in.pages, int32(p))
		}
	}
	for t, p := range batch.Pos {
		in.offs.host = append(in.offs.host, in.scores)
		in.scores += int64(a.Heads * kv.PagesFor(int(p)+1) * kv.PageTokens)
		in.tableAt.host = append(in.tableAt.host, starts[batch.Seq[t]])
		in.last = max(in.last, int(p))
	}
	b.cutUnits()
	return b.send()
}

// cutUnits cuts attention into units.
func (b *Backend) cutUnits() {
	in, a := &b.in, b.g.Attn
	group := a.Heads / a.KVHeads
	heads := min(group, unitPairs)
	most := unitPairs / heads
	in.units.host = in.units.host[:0]
	for t := 0; t < len(b.batch.Tokens); {
		n := 1
		for n < most && t+n < len(b.batch.Tokens) && b.batch.Seq[t+n] == b.batch.Seq[t] {
			n++
		}
		for g := 0; g < a.Heads; g += group {
			for h := g; h < g+group; h += heads {
				in.units.host = append(in.units.host, unit{int32(t), int32(n), int32(h), int32(min(heads, g+group-h))})
			}
		}
		t += n
	}
}

// send copies the description to the device.
func (b *Backend) send() error {
	in := &b.in
	for _, r := range []*region[int32]{&in.tokens, &in.pos, &in.tableAt, &in.out} {
		if err := upload(b, r.dev, r.host); err != nil {
			return err
		}
	}
	if err := upload(b, in.offs.dev, in.offs.host); err != nil {
		return err
	}
	if err := upload(b, in.units.dev, in.units.host); err != nil {
		return err
	}
	if err := b.grow(&in.tables, int64(4*max(len(in.pages), 1))); err != nil {
		return err
	}
	return uploadNow(b, in.tables.p, in.pages)
}
