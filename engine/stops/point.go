// Package stops pauses a request in the middle of a pass: after an op of a layer has run for one of its tokens the engine
// stands still, what the op read and wrote can be looked at and changed, and the request goes on. One request at a time
// may do so; the others wait.
//
// A Desk belongs to an engine, a Session to a request that has stops. The runner calls Begin and Node while a pass runs;
// whoever looks and changes calls the Desk, from any goroutine.
//
// It does not know about HTTP, pages, scheduling or how a model computes.
package stops

import (
	"fmt"
	"slices"
	"strings"

	"glassbox/engine/graph"
	"glassbox/trace"
)

// AtPrompt is the Token of a point that means the last token of the prompt: the one from which the answer begins.
const AtPrompt = -1

// mostPoints bounds the stops of a request.
const mostPoints = 64

// Asked is a stop as a request names it. A nil Layer is layer 0, or none for an op outside the layers; a nil Token is
// the last of the prompt.
type Asked struct {
	Op           string
	Layer, Token *int
}

// Point is where a request stops: after the op of a layer (-1 outside the layers) has run for its token at a position.
type Point struct {
	Op    trace.OpID
	Layer int
	Token int
}

// String says the point in words.
func (p Point) String() string {
	where := p.Op.String()
	if p.Layer >= 0 {
		where += fmt.Sprintf(", layer %d", p.Layer)
	}
	if p.Token == AtPrompt {
		return where + ", last token of the prompt"
	}
	return where + fmt.Sprintf(", token %d", p.Token)
}

// PointError is a stop at a place that there is not. Its text begins with "stop".
type PointError struct{ text string }

func (e *PointError) Error() string { return e.text }

func wrong(i int, format string, args ...any) error {
	return &PointError{fmt.Sprintf("stop[%d].", i) + fmt.Sprintf(format, args...)}
}

// Parse finds the ops of a model that a request wants to stop at. The error is a *PointError that lists the names there
// are. Whether a token will be there is seen by Fit.
func Parse(g *graph.Graph, list []Asked) ([]Point, error) {
	if len(list) > mostPoints {
		return nil, &PointError{fmt.Sprintf("stop: wanted at most %d places, found %d", mostPoints, len(list))}
	}
	var out []Point
	for i, a := range list {
		op, known := trace.ParseOp(a.Op)
		layers := layersOf(g, op)
		if !known || len(layers) == 0 {
			return nil, wrong(i, "op: wanted one of %s, found %.40q", strings.Join(opNames(g), ", "), a.Op)
		}
		p := Point{Op: op, Layer: layers[0], Token: AtPrompt}
		if a.Layer != nil {
			p.Layer = *a.Layer
		}
		switch {
		case layers[0] < 0 && p.Layer != -1:
			return nil, wrong(i, "layer: %s runs outside the layers: wanted -1 or none, found %d", op, p.Layer)
		case !slices.Contains(layers, p.Layer):
			return nil, wrong(i, "layer: wanted %d to %d for %s, found %d", layers[0], layers[len(layers)-1], op, p.Layer)
		}
		if a.Token != nil {
			if *a.Token < 0 {
				return nil, wrong(i, "token: wanted a position from 0 on, or none for the last token of the prompt, found %d", *a.Token)
			}
			p.Token = *a.Token
		}
		out = append(out, p)
	}
	return out, nil
}

// Fit checks that the tokens of the points will be there, for a prompt and an answer of at most so many tokens, and puts
// positions in where none were given. The last token of an answer is drawn and never read.
func Fit(g *graph.Graph, points []Point, prompt, answer int) ([]Point, error) {
	out := slices.Clone(points)
	last := prompt + answer - 2
	for i := range out {
		p := &out[i]
		if p.Token == AtPrompt {
			p.Token = prompt - 1
		}
		first := 0
		if n := find(g, *p); n != nil && rowsOfOut(g, n) {
			first = prompt - 1 // only tokens that a word follows go through the head
		}
		if p.Token < first || p.Token > last {
			return nil, wrong(i, "token: %s runs for positions %d to %d of this request (a prompt of %d tokens, at most %d of the answer), found %d", p.Op, first, last, prompt, answer, p.Token)
		}
	}
	return out, nil
}

// find returns the node of a point.
func find(g *graph.Graph, p Point) *graph.Node {
	for _, n := range g.Nodes {
		if n.Op == p.Op && n.Layer == p.Layer {
			return n
		}
	}
	return nil
}

// rowsOfOut tells whether a node runs only for tokens whose logits are wanted.
func rowsOfOut(g *graph.Graph, n *graph.Node) bool {
	return n.Out != graph.NoBuf && g.Bufs[n.Out].Kind == graph.PerOut
}

func layersOf(g *graph.Graph, op trace.OpID) (layers []int) {
	for _, n := range g.Nodes {
		if n.Op == op {
			layers = append(layers, n.Layer)
		}
	}
	return layers
}

// opNames lists the model's ops in the order in which they run.
func opNames(g *graph.Graph) (names []string) {
	for _, n := range g.Nodes {
		if !slices.Contains(names, n.Op.String()) {
			names = append(names, n.Op.String())
		}
	}
	return names
}
