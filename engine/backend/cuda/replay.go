//go:build cuda

package cuda

import "glassbox/engine/backend/cuda/driver"

// shape is what a captured pass's launches depend on: everything else is in memory that stays where it is.
type shape struct{ tokens, out, units, splits int }

// replay is how often a shape came, and its graph from the second time on.
type replay struct {
	seen int
	g    *driver.Graph
}

// mostReplayed is the largest batch that is captured: launching matters in small passes. mostGraphs bounds how many are kept.
const (
	mostReplayed = 32
	mostGraphs   = 64
)

// replay puts the steps into the stream as one graph, if the batch's shape has come before and no other device takes part. It returns false where the steps
// must be launched one by one.
func (b *Backend) replay(steps []step) (bool, error) {
	if b.opts.noGraph || b.opts.unfused || b.sharded() || len(b.batch.Tokens) > mostReplayed {
		return false, nil
	}
	key := shape{len(b.batch.Tokens), len(b.batch.Out), len(b.in.units.host), b.splits()}
	r := b.graphs[key]
	if r == nil {
		if len(b.graphs) >= mostGraphs {
			if err := b.dropGraphs(); err != nil {
				return false, err
			}
		}
		r = &replay{}
		b.graphs[key] = r
	}
	if r.seen++; r.seen == 1 {
		return false, nil // the first pass of a shape takes the memory that it needs, which a capture may not
	}
	if r.g == nil {
		g, err := driver.Capture(b.st, func() error { return b.runSteps(steps) })
		if err != nil {
			return false, err
		}
		r.g = g
	}
	return true, r.g.Launch(b.st)
}

// dropGraphs gives all graphs back, when memory that they name goes.
func (b *Backend) dropGraphs() error {
	for key, r := range b.graphs {
		if r.g != nil {
			if err := r.g.Destroy(); err != nil {
				return err
			}
		}
		delete(b.graphs, key)
	}
	return nil
}
