package engine

import (
	"glassbox/engine/graph"
	"glassbox/trace"
)

// WeightUse is a weight and the op that reads it.
type WeightUse struct {
	Op    trace.OpID
	Layer int // -1 outside the layers
	W     *graph.Weight
}

// Weights lists the weights in the order in which a pass reads them: one entry for each op that has any, so a tensor that
// two ops read (embedding and head, where they are tied) is there twice. The embedding reads one row a token.
func (e *Engine) Weights() []WeightUse {
	var out []WeightUse
	for _, n := range e.model.Graph.Nodes {
		if n.W != nil {
			out = append(out, WeightUse{n.Op, n.Layer, n.W})
		}
	}
	return out
}
