package grammar

import (
	"encoding/binary"
	"slices"
)

// machine runs a grammar: where it can be is a set of stacks, each a state with the states to which its rule and the ones
// that called it return. Stacks share their lower parts, and sets that were met before are found again, so that a step is
// a look-up in most cases.
type machine struct {
	g     *Grammar
	nodes []node
	node  map[node]int32
	sets  []set
	set   map[string]int32
	key   []byte  // scratch
	seen  []int32 // scratch: nodes of the closure at work
}

// node is the top of a stack: a state, and below it the node to go on at when the rule ends; done or outside at the bottom.
type node struct{ state, below int32 }

const (
	done    = -1 // the whole text ends here
	outside = -2 // a part of the grammar is walked on its own: its rule ends, and what follows is not known here
)

// set is where a machine can be.
type set struct {
	tops   []int32 // nodes whose state has a byte to go on with
	accept bool    // the text may end here
	left   bool    // the part that is walked on its own may end here
	next   []int32 // by class of byte: the set after it, 0 = none, -1 = not worked out yet
}

// nowhere is the set without stacks.
const nowhere = 0

func newMachine(g *Grammar) *machine {
	m := &machine{g: g, node: map[node]int32{}, set: map[string]int32{}}
	m.intern(set{}) // nowhere
	return m
}

// begin returns the set before the first byte.
func (m *machine) begin() int32 {
	return m.of([]int32{m.top(node{m.g.rules[m.g.root].start, done})})
}

func (m *machine) top(n node) int32 {
	id, ok := m.node[n]
	if !ok {
		id = int32(len(m.nodes))
		m.nodes, m.node[n] = append(m.nodes, n), id
	}
	return id
}

// of returns the set that these stacks are, with all that they can become before the next byte.
func (m *machine) of(from []int32) int32 {
	var s set
	m.seen = append(m.seen[:0], from...)
	slices.Sort(m.seen)
	m.seen = slices.Compact(m.seen)
	visit := func(id int32) {
		if !slices.Contains(m.seen, id) {
			m.seen = append(m.seen, id)
		}
	}
	for i := 0; i < len(m.seen); i++ {
		id := m.seen[i]
		n := m.nodes[id]
		at := &m.g.states[n.state]
		if at.final {
			switch n.below {
			case done:
				s.accept = true
			case outside:
				s.left = true
			default:
				visit(n.below)
			}
		}
		reads := false
		for _, e := range at.edges {
			if e.call < 0 {
				reads = true
				continue
			}
			back := n.below
			if to := &m.g.states[e.to]; !to.final || len(to.edges) > 0 { // else what is called ends the rule too
				back = m.top(node{e.to, n.below})
			}
			visit(m.top(node{m.g.rules[e.call].start, back}))
		}
		if reads {
			s.tops = append(s.tops, id)
		}
	}
	slices.Sort(s.tops)
	return m.intern(s)
}

// intern finds a set, or adds it.
func (m *machine) intern(s set) int32 {
	m.key = m.key[:0]
	if s.accept {
		m.key = append(m.key, 'a')
	}
	if s.left {
		m.key = append(m.key, 'l')
	}
	for _, t := range s.tops {
		m.key = binary.LittleEndian.AppendUint32(m.key, uint32(t))
	}
	id, ok := m.set[string(m.key)]
	if !ok {
		id = int32(len(m.sets))
		s.next = make([]int32, len(m.g.sample))
		for i := range s.next {
			s.next[i] = -1
		}
		m.sets, m.set[string(m.key)] = append(m.sets, s), id
	}
	return id
}

// step returns the set after a byte.
func (m *machine) step(at int32, c byte) int32 {
	class := m.g.class[c]
	if to := m.sets[at].next[class]; to >= 0 {
		return to
	}
	c = m.g.sample[class]
	var to []int32
	for _, id := range m.sets[at].tops {
		n := m.nodes[id]
		for _, e := range m.g.states[n.state].edges {
			if e.call < 0 && e.lo <= c && c <= e.hi {
				to = append(to, m.top(node{e.to, n.below}))
			}
		}
	}
	next := int32(nowhere)
	if len(to) > 0 {
		next = m.of(to)
	}
	m.sets[at].next[class] = next
	return next
}

// run returns the set after all bytes.
func (m *machine) run(at int32, text []byte) int32 {
	for _, c := range text {
		if at = m.step(at, c); at == nowhere {
			return nowhere
		}
	}
	return at
}

// copyTo brings a set into another machine of the grammar, which then holds no more than that.
func (m *machine) copyTo(o *machine, at int32) int32 {
	var stack func(id int32) int32
	stack = func(id int32) int32 {
		if id < 0 {
			return id
		}
		return o.top(node{m.nodes[id].state, stack(m.nodes[id].below)})
	}
	s := set{accept: m.sets[at].accept, left: m.sets[at].left}
	for _, t := range m.sets[at].tops {
		s.tops = append(s.tops, stack(t))
	}
	slices.Sort(s.tops)
	return o.intern(s)
}
