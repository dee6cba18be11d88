package steps

import (
	"strings"

	"glassbox/trace/file"
)

// rule is a function whose spans belong to a step; with within only those that ran inside another function, with node only
// those that computed a node of the graph of this name.
type rule struct{ path, symbol, within, node string }

func (r rule) String() string {
	s := r.path + ":" + r.symbol
	if r.node != "" {
		s += "[" + r.node + "]"
	}
	if r.within != "" {
		s += "@" + r.within
	}
	return s
}

// rules returns what the page's match says, or its symbol where it says nothing. An entry is SYMBOL, PATH:SYMBOL, either
// with [NODE] behind it: only for that node of the graph, in any layer; and with @SYMBOL: only inside a call of that function.
func (s *Step) rules() []rule {
	list := s.Match
	if len(list) == 0 {
		list = []string{s.Symbol}
	}
	var out []rule
	for _, entry := range list {
		out = append(out, s.rule(entry))
	}
	return out
}

func (s *Step) rule(entry string) rule {
	entry, within, _ := strings.Cut(entry, "@")
	entry, node, _ := strings.Cut(strings.TrimSuffix(entry, "]"), "[")
	r := rule{path: s.Path, symbol: entry, within: within, node: node}
	if i := strings.IndexByte(entry, ':'); i > 0 && !strings.HasPrefix(entry[i:], "::") {
		r.path, r.symbol = entry[:i], entry[i+1:]
	}
	return r
}

// Attributes of another engine's span: the file and line where its function begins, and the node of the graph that it computes.
const (
	AttrFile = "file"
	AttrLine = "line"
	AttrNode = "node"
)

// Match says of each span of another engine's recording which step it is, and which pass and layer it is part of. A
// native function's file may be unknown; then its name alone decides. Of two rules that differ in the function around, the
// nearer one is taken.
func (c *Catalogue) Match(rec *file.Recording) { c.match(rec, inLane) }

// match is Match where same tells which lanes can be a step's: a profile names threads in its own way.
func (c *Catalogue) match(rec *file.Recording, same func(lane, step string) bool) {
	type owned struct {
		rule
		step *Step
	}
	rules := map[string][]owned{} // by symbol
	for _, s := range c.Steps {
		for _, r := range s.rules() {
			rules[r.symbol] = append(rules[r.symbol], owned{r, s})
		}
	}
	at := byID(rec)
	for i := range rec.Spans {
		s := &rec.Spans[i]
		s.Step = ""
		best := 0
		node, _ := nodeOf(s)
		for _, r := range rules[s.Name] {
			if !sameFile(s, r.path) || !same(s.Lane, r.step.Lane) || r.node != "" && r.node != node {
				continue
			}
			d := depth(rec, at, s, r.within)
			if r.node != "" && d == everywhere {
				d-- // a rule that names the node goes before one that does not
			}
			if d > 0 && (best == 0 || d < best) {
				s.Step, best = r.step.ID, d
			}
		}
	}
	if c.foreign != nil {
		c.passes(rec, at)
	}
}

// inLane tells whether a lane is a step's, or that of another thread of the same process: "api.threads" is in "api".
func inLane(lane, step string) bool { return lane == step || strings.HasPrefix(lane, step+".") }

func sameFile(s *file.Span, path string) bool {
	have, ok := s.Attrs[AttrFile].(string)
	return !ok || have == path || strings.HasSuffix(have, "/"+path)
}

// everywhere is the depth of a rule that asks for no function around: any other goes before it.
const everywhere = 1 << 30

// depth tells how many calls above a span the function is that a rule wants around it, 0 where it is not there.
func depth(rec *file.Recording, at map[string]int, s *file.Span, within string) int {
	if within == "" {
		return everywhere
	}
	for d := 1; s.Parent != ""; d++ {
		i, ok := at[s.Parent]
		if !ok {
			return 0
		}
		if s = &rec.Spans[i]; s.Name == within {
			return d
		}
	}
	return 0
}

// passes numbers the calls of the engine's pass and layer, and gives every span the pass it belongs to: those inside it
// theirs; what comes before the forward pass in the walk the next one, what comes behind it the last one.
func (c *Catalogue) passes(rec *file.Recording, at map[string]int) {
	e := c.foreign
	of := map[string]bool{}
	rec.Passes = nil
	for i := range rec.Spans {
		s := &rec.Spans[i]
		s.Pass, s.Layer = file.None, file.None
		if named(s, e.Pass) && !of[s.Parent] {
			of[s.ID] = true
			s.Pass = len(rec.Passes)
			rec.Passes = append(rec.Passes, file.Pass{Index: s.Pass, Kind: "decode", Tokens: 1, Requests: 1, StartNs: s.StartNs, DurNs: s.DurNs})
		}
	}
	layers := map[int]int{} // of a pass, so far
	for i := range rec.Spans {
		s := &rec.Spans[i]
		if p, ok := at[s.Parent]; ok && s.Parent != "" && s.Pass == file.None { // parents come first
			s.Pass, s.Layer = rec.Spans[p].Pass, rec.Spans[p].Layer
		}
		if s.Pass != file.None && named(s, e.Layer) && s.Layer == file.None {
			s.Layer = layers[s.Pass]
			layers[s.Pass]++
		}
	}
	c.drop(rec, layers)
	c.around(rec)
	layersOfNodes(rec)
	kinds(rec)
}

// drop takes out the passes in which no layer ran: an engine may turn once more to tell its workers that a request is over.
func (c *Catalogue) drop(rec *file.Recording, layers map[int]int) {
	number := map[int]int{}
	kept := rec.Passes[:0]
	for _, p := range rec.Passes {
		if c.foreign.Layer != "" && layers[p.Index] == 0 {
			continue
		}
		number[p.Index] = len(kept)
		p.Index = len(kept)
		kept = append(kept, p)
	}
	rec.Passes = kept
	for i := range rec.Spans {
		s := &rec.Spans[i]
		if n, ok := number[s.Pass]; ok {
			s.Pass = n
		} else {
			s.Pass = file.None
		}
	}
}

func named(s *file.Span, symbol string) bool {
	path, name, ok := strings.Cut(symbol, ":")
	if !ok || strings.HasPrefix(name, ":") { // C++ names have colons of their own
		return symbol != "" && s.Name == symbol
	}
	return s.Name == name && sameFile(s, path)
}

// around gives passes to the steps of the token loop that are not inside one.
func (c *Catalogue) around(rec *file.Recording) {
	first, last := len(c.Steps), -1
	for _, s := range c.Steps {
		if over, to := cutPair(s.Loop); over == "tokens" {
			first, last = c.byID[to].Number, s.Number
		}
	}
	deliver := last
	for _, s := range c.Steps {
		if s.Stage == "deliver" {
			deliver = min(deliver, s.Number)
		}
	}
	for i := range rec.Spans {
		s := &rec.Spans[i]
		step := c.byID[s.Step]
		if step == nil || s.Pass != file.None || step.Number < first || step.Number > last && step.Stage != "deliver" {
			continue
		}
		s.Pass = nearest(rec.Passes, s, step.Number < deliver)
	}
}

// nearest is the pass that a span runs beside, leads to, or comes from.
func nearest(passes []file.Pass, s *file.Span, before bool) int {
	found := file.None
	for _, p := range passes {
		if p.StartNs <= s.StartNs && s.EndNs() <= p.StartNs+p.DurNs {
			return p.Index
		}
	}
	for _, p := range passes {
		if before && p.StartNs >= s.StartNs {
			return p.Index
		}
		if !before && p.StartNs <= s.StartNs {
			found = p.Index
		}
	}
	return found
}

// kinds tells prefill from decode: with one request each pass but those of the prompt makes one token.
func kinds(rec *file.Recording) {
	if len(rec.Passes) == 0 {
		return
	}
	prefill := len(rec.Passes) - (len(rec.Request.OutputTokens) - 1)
	if len(rec.Request.OutputTokens) == 0 {
		prefill = len(rec.Passes)
	}
	prefill = max(prefill, min(1, len(rec.Passes)))
	for i := range prefill {
		rec.Passes[i].Kind, rec.Passes[i].Tokens = "prefill", 0
	}
	if prefill == 1 {
		rec.Passes[0].Tokens = len(rec.Request.PromptTokens)
		if rec.Passes[0].Tokens == 0 {
			rec.Passes[0].Tokens = rec.Numbers.PromptTokens
		}
	}
	for k := range rec.Request.OutputTokens {
		if p := prefill - 1 + k; p < len(rec.Passes) {
			rec.Request.OutputTokens[k].Pass = &rec.Passes[p].Index
		}
	}
}

// Symbols are all functions that the catalogue knows of, by their names without path: what has to be recorded.
func (c *Catalogue) Symbols() map[string]bool {
	out := map[string]bool{}
	for _, s := range c.Steps {
		out[s.Symbol] = true
		for _, r := range s.rules() {
			out[r.symbol] = true
			if r.within != "" {
				out[r.within] = true
			}
		}
	}
	if c.foreign != nil {
		for _, s := range []string{c.foreign.Pass, c.foreign.Layer} {
			if i := strings.IndexByte(s, ':'); i > 0 && !strings.HasPrefix(s[i:], "::") {
				s = s[i+1:]
			}
			out[s] = true
		}
	}
	delete(out, "")
	return out
}
