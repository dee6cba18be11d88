package stops

import (
	"context"
	"slices"
	"time"

	"glassbox/engine/capture"
	"glassbox/engine/graph"
	"glassbox/trace"
)

// Session is the side of one request: where it still wants to stop, and what was changed. Its exported methods are called
// by the goroutine that runs the passes.
type Session struct {
	d       *Desk
	g       *graph.Graph
	ctx     context.Context // of the request: it goes on when this ends
	id      string
	request string
	rec     *trace.Recorder // nil: not recorded

	points []Point // not reached yet
	on     step    // from the last stop on
	pass   int
	paused int64                             // ns in this pass
	now    map[int]map[graph.Buf][][]float32 // by position that is looked at: copies of what the ops so far wrote
	edits  []applied

	halt *halt // guarded by the desk's lock: not nil while the engine stands still
}

// step is how far to go after a stop, beside the points: to the next op or layer of the same token, and where its passes
// are done, of the last token of the next pass.
type step struct {
	kind  string // "" no further, "op", "layer"
	from  Point
	same  bool // kind layer: the same op runs in the next layer
	token int  // followed in this pass, -1: none
}

// applied is an edit that is made again when its op runs again: pages that were taken away are computed anew.
type applied struct {
	node, token, pass int
	part, index       int
	new               []float32
}

// Begin says that a pass is about to run, and tells whether Node is to be called after each of its ops.
func (s *Session) Begin(pass int, at capture.Rows) bool {
	s.pass, s.paused, s.now = pass, 0, nil
	last := at.From + at.N - 1
	inside := func(token int) bool { return token >= at.From && token <= last }
	look := map[int]map[graph.Buf][][]float32{}
	for _, p := range s.points {
		if inside(p.Token) {
			look[p.Token] = map[graph.Buf][][]float32{}
		}
	}
	if s.on.kind != "" {
		s.on.token = -1
		if last > s.on.from.Token { // else the pass only computes again what was taken away
			s.on.token = last
			look[s.on.token] = map[graph.Buf][][]float32{}
		}
	}
	if len(look) > 0 {
		s.now = look
	}
	return len(look) > 0 || slices.ContainsFunc(s.edits, func(e applied) bool { return inside(e.token) })
}

// Paused is how long the engine stood still in the pass, in ns.
func (s *Session) Paused() int64 { return s.paused }

// Node is called after a node has run, with the workers at rest. row is what backend.Batch.Tap is given. It returns when
// the pass may go on.
func (s *Session) Node(n *graph.Node, row func(graph.Buf, int) []float32, at capture.Rows) {
	for _, e := range s.edits {
		if e.node == n.Index && e.pass != s.pass && e.token >= at.From && e.token < at.From+at.N {
			if parts := s.wrote(n, row, at, e.token); e.part < len(parts) {
				parts[e.part].write(e.index, e.new)
			}
		}
	}
	for _, token := range s.tokens() {
		s.visit(n, row, at, token)
	}
}

// tokens are the positions of this pass that are looked at, ascending.
func (s *Session) tokens() []int {
	var list []int
	for t := range s.now {
		list = append(list, t)
	}
	slices.Sort(list)
	return list
}

// visit stops at the node if one of the points, or the step, says so, and keeps a copy of what it wrote.
func (s *Session) visit(n *graph.Node, row func(graph.Buf, int) []float32, at capture.Rows, token int) {
	if rowsOfOut(s.g, n) && (at.Out < 0 || token != at.From+at.N-1) {
		return
	}
	wrote := s.wrote(n, row, at, token)
	if s.due(n, token) {
		s.stand(n, token, s.read(n, token), wrote)
	}
	if s.now == nil {
		return
	}
	for _, p := range wrote {
		var kept [][]float32
		for _, r := range p.rows {
			kept = append(kept, slices.Clone(r))
		}
		s.now[token][p.buf] = kept
	}
}

// due tells whether to stop here, and strikes the point off.
func (s *Session) due(n *graph.Node, token int) bool {
	here := Point{n.Op, n.Layer, token}
	if i := slices.Index(s.points, here); i >= 0 {
		s.points = slices.Delete(s.points, i, i+1)
		return true
	}
	if s.on.kind == "" || token != s.on.token || here == s.on.from {
		return false
	}
	switch {
	case s.on.kind == "op":
		return true
	case s.on.same && token == s.on.from.Token:
		return n.Op == s.on.from.Op && n.Layer == s.on.from.Layer+1
	}
	return n.Layer != s.on.from.Layer || token != s.on.from.Token
}

// read returns the node's inputs as the ops before left them: an op may have written over its own.
func (s *Session) read(n *graph.Node, token int) (parts []part) {
	for _, b := range []graph.Buf{n.A, n.B} {
		if rows := s.now[token][b]; b != graph.NoBuf && rows != nil {
			parts = append(parts, s.part(b, rows))
		}
	}
	return parts
}

// wrote returns the node's outputs of a token, in the memory that the next op reads.
func (s *Session) wrote(n *graph.Node, row func(graph.Buf, int) []float32, at capture.Rows, token int) (parts []part) {
	bufs := []graph.Buf{n.Out}
	if n.Kind == graph.RoPE {
		bufs = []graph.Buf{n.A, n.B} // both are turned in place
	}
	t := at.First + token - at.From
	for _, b := range bufs {
		if b == graph.NoBuf {
			continue
		}
		var rows [][]float32
		switch info := s.g.Bufs[b]; info.Kind {
		case graph.PerOut:
			rows = [][]float32{row(b, at.Out)}
		case graph.PerKey:
			for h := range info.Width {
				rows = append(rows, row(b, t*info.Width+h))
			}
		default:
			rows = [][]float32{row(b, t)}
		}
		parts = append(parts, s.part(b, rows))
	}
	return parts
}

// stand is the stop: it waits until someone lets the request go on, its limit is over, or nobody waits for it any more.
func (s *Session) stand(n *graph.Node, token int, in, out []part) {
	h := &halt{at: Point{n.Op, n.Layer, token}, node: n.Index, pass: s.pass, start: trace.Now(), in: in, out: out, end: make(chan struct{}), again: make(chan struct{}, 1)}
	s.d.begin(s, h)
	timer := time.NewTimer(s.d.limit)
	defer timer.Stop()
	why := ""
	for why == "" {
		select {
		case <-h.end:
			why = "asked"
		case <-h.again:
			timer.Reset(s.d.limit)
		case <-timer.C:
			why = "limit"
		case <-s.ctx.Done():
			why = "cancelled"
		case <-s.d.closing:
			why = "closed"
		}
	}
	why = s.d.over(s, h, why)
	took := trace.Now() - h.start
	s.paused += took
	s.rec.Halted(trace.Halt{Op: n.Op, Layer: n.Layer, Token: token, Pass: s.pass, Start: h.start, Dur: took, Ended: why})
	s.goOn(h.at, why)
}

// goOn sets what comes next. Who runs into the limit or is gone is not asked again.
func (s *Session) goOn(from Point, why string) {
	s.on = step{}
	switch why {
	case "op", "layer":
		s.on = step{kind: why, from: from, token: from.Token}
		s.on.same = find(s.g, Point{Op: from.Op, Layer: from.Layer + 1}) != nil && from.Layer >= 0
	case "continue":
	default:
		s.points = nil
	}
	if s.on.kind == "" && len(s.points) == 0 {
		s.now = nil
	}
}
