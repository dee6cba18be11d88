package ref

import (
	"fmt"

	"glassbox/engine/backend"
)

// Head runs the last norm and the head on rows of the residual stream, some at a time.
func (b *Backend) Head(x [][]float32, out func(i int, logits []float32)) error {
	first, chunk, err := backend.HeadBatch(b.g, b.o)
	if err != nil {
		return err
	}
	width := b.g.Bufs[first.A].Width
	busy := make([]int64, b.o.Threads)
	for lo := 0; lo < len(x); lo += chunk {
		rows := x[lo:min(lo+chunk, len(x))]
		b.batch = backend.RowsBatch(len(rows))
		for i, r := range rows {
			if len(r) != width {
				return fmt.Errorf("ref: head: row %d: wanted %d floats, found %d", lo+i, width, len(r))
			}
			copy(b.row(first.A, i), r)
		}
		for _, n := range b.g.Nodes[first.Index:] {
			b.node(n, busy, false)
		}
		for i := range rows {
			out(lo+i, b.Logits(i))
		}
	}
	return nil
}
