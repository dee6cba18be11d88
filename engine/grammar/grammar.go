// Package grammar makes sampled text keep to a form: a JSON Schema, or any JSON object. The schema becomes a grammar over
// bytes (rules that call each other, so that values may nest); a Session follows one answer through it and tells before each
// draw which tokens of the vocabulary may come next.
//
// schema.go turns a schema into rules, build.go rules into states; machine.go runs the states with their stacks, as a
// deterministic automaton that is built as far as it is walked; mask.go walks it over a trie of all tokens at once.
//
// It does not know about models, logits, requests or HTTP.
package grammar

import "sync"

// Grammar is a compiled schema. It may be used by many requests at once.
type Grammar struct {
	Name   string // for people: "json_object" or the schema's name
	states []state
	rules  []rule
	root   int32
	class  [256]uint8 // bytes that no edge tells apart have the same class
	sample []byte     // one byte of each class

	mu    sync.Mutex
	masks map[*Vocab]*masks
}

// rule is a named part that others call.
type rule struct {
	name  string
	start int32
}

// state is a place inside a rule: what may come next, and whether the rule may end here.
type state struct {
	edges []edge
	final bool
	rule  int32
	wide  bool // most bytes go on here, as inside a string: what fits is remembered for all requests
}

// edge leads on: with a byte from lo to hi, or (call >= 0) through all of another rule.
type edge struct {
	lo, hi byte
	call   int32
	to     int32
}

// States is the number of states, a measure of the grammar's size.
func (g *Grammar) States() int { return len(g.states) }
