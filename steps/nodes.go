package steps

import (
	"regexp"
	"strconv"
	"strings"

	"glassbox/trace/file"
)

// layered is the name of a graph's node with its layer: "Qcur-12", "cache_k_l12 (view)".
var layered = regexp.MustCompile(`^(.+?)(?:-|_l)(\d+)(?: \(.*\))?$`)

// nodeOf is the node of the graph that a span computes, without its layer, and the layer, file.None where its name has none.
func nodeOf(s *file.Span) (name string, layer int) {
	name, _ = s.Attrs[AttrNode].(string)
	if m := layered.FindStringSubmatch(name); m != nil {
		if n, err := strconv.Atoi(m[2]); err == nil {
			return m[1], n
		}
	}
	return name, file.None
}

// layersOfNodes gives spans the layer that the name of their node says. Nodes that were never named, which ggml numbers
// (node_7), belong to the layer of the node before them in their thread.
func layersOfNodes(rec *file.Recording) {
	type place struct {
		lane string
		pass int
	}
	last := map[place]int{}
	for i := range rec.Spans {
		s := &rec.Spans[i]
		name, layer := nodeOf(s)
		if name == "" || s.Pass == file.None {
			continue
		}
		at := place{s.Lane, s.Pass}
		if before, ok := last[at]; ok && layer == file.None && strings.HasPrefix(name, "node_") {
			layer = before
		}
		if layer != file.None {
			s.Layer, last[at] = layer, layer
		}
	}
}
