package grammar

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"
)

// Vocab is the tokens of a model as a trie of their bytes: in the order of a walk, so that a part that does not fit is
// stepped over at once.
type Vocab struct {
	size  int
	trie  []trieNode
	ids   []int32  // tokens by their bytes; those of one trie node lie together
	piece [][]byte // by token
	ends  []int32  // tokens that end an answer
}

// trieNode is a byte of at least one token. Children follow it.
type trieNode struct {
	depth    int32 // bytes up to this one
	skip     int32 // the first node that is not below this one
	from, to int32 // of ids: tokens that end here
	b        byte
}

// NewVocab builds the trie. piece gives a token's bytes, none for marks; ends tells which tokens end an answer.
func NewVocab(size int, piece func(id int) []byte, ends func(id int) bool) *Vocab {
	v := &Vocab{size: size, piece: make([][]byte, size)}
	for id := range size {
		if ends(id) {
			v.ends = append(v.ends, int32(id))
			continue
		}
		if v.piece[id] = piece(id); len(v.piece[id]) > 0 {
			v.ids = append(v.ids, int32(id))
		}
	}
	sort.SliceStable(v.ids, func(i, j int) bool { return bytes.Compare(v.piece[v.ids[i]], v.piece[v.ids[j]]) < 0 })
	var open []int32 // the nodes on the way to the last one
	shut := func(depth int) {
		for len(open) > depth {
			v.trie[open[len(open)-1]].skip = int32(len(v.trie))
			open = open[:len(open)-1]
		}
	}
	var last []byte
	for i, id := range v.ids {
		p := v.piece[id]
		same := 0
		for same < min(len(last), len(p)) && last[same] == p[same] {
			same++
		}
		shut(same)
		for d := same; d < len(p); d++ {
			open = append(open, int32(len(v.trie)))
			v.trie = append(v.trie, trieNode{depth: int32(d + 1), b: p[d], from: int32(i), to: int32(i)})
		}
		v.trie[open[len(open)-1]].to = int32(i + 1)
		last = p
	}
	shut(0)
	return v
}

// masks are what a grammar remembers for one vocabulary.
type masks struct {
	wide map[int32]*wideMask // by state
}

// wideMask is what fits at a state from which most bytes go on, whatever stack is below it.
type wideMask struct {
	fits []uint64 // a bit a token: it stays inside the rule, or ends just with it
	ask  []int32  // tokens that leave the rule on their way: whether they fit depends on the stack
}

// Session follows one answer. It is used by one goroutine at a time.
type Session struct {
	g     *Grammar
	v     *Vocab
	masks *masks
	m     *machine
	at    int32
	known map[int32][]int32 // sets without wide states: the tokens that fit
	fits  []uint64          // of the last Mask
	path  []int32           // scratch: the sets on the way down the trie
	over  bool
}

// maxWide bounds what a grammar remembers: a bit a token for each state.
const maxWide = 512

// maxSets is how many sets a session keeps; each takes some 200 bytes.
const maxSets = 20_000

// Session begins an answer in the words of a vocabulary.
func (g *Grammar) Session(v *Vocab) *Session {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.masks[v] == nil {
		g.masks[v] = &masks{wide: map[int32]*wideMask{}}
	}
	s := &Session{g: g, v: v, masks: g.masks[v], m: newMachine(g), known: map[int32][]int32{}, fits: make([]uint64, (v.size+63)/64)}
	s.at = s.m.begin()
	return s
}

// Mask sets the logits of tokens that may not come next to minus infinity, and returns how many may.
func (s *Session) Mask(logits []float32) int {
	clear(s.fits)
	here := &s.m.sets[s.at]
	if here.accept {
		for _, id := range s.v.ends {
			s.allow(id)
		}
	}
	s.gather()
	n, none := 0, float32(math.Inf(-1))
	for w, word := range s.fits {
		n += bits.OnesCount64(word)
		if word == math.MaxUint64 {
			continue
		}
		for i, end := w*64, min(w*64+64, len(logits)); i < end; i++ {
			if word>>(i&63)&1 == 0 {
				logits[i] = none
			}
		}
	}
	for i := len(s.fits) * 64; i < len(logits); i++ { // rows of the output matrix that no token has
		logits[i] = none
	}
	return n
}

func (s *Session) allow(id int32) { s.fits[id>>6] |= 1 << (id & 63) }

// gather finds the tokens that go on from here.
func (s *Session) gather() {
	list, ok := s.known[s.at]
	if !ok {
		var wide []int32
		narrow := set{}
		for _, t := range s.m.sets[s.at].tops {
			if s.g.states[s.m.nodes[t].state].wide {
				wide = append(wide, t)
			} else {
				narrow.tops = append(narrow.tops, t)
			}
		}
		for _, t := range wide {
			s.inside(t)
		}
		if len(narrow.tops) > 0 {
			list = s.walk(s.m.intern(narrow))
		}
		if len(wide) == 0 {
			s.known[s.at] = list
		}
	}
	for _, id := range list {
		s.allow(id)
	}
}

// inside allows what fits at a wide state: what is remembered of it, and of the tokens that leave its rule those that the
// stack below takes.
func (s *Session) inside(t int32) {
	w := s.g.wideMask(s.m.nodes[t].state, s.v, s.masks)
	for i, word := range w.fits {
		s.fits[i] |= word
	}
	one := s.m.intern(set{tops: []int32{t}})
	for _, id := range w.ask {
		if s.m.run(one, s.v.piece[id]) != nowhere {
			s.allow(id)
		}
	}
}

// walk returns the tokens that fit from a set.
func (s *Session) walk(from int32) (list []int32) {
	s.path = append(s.path[:0], from)
	for i := 0; i < len(s.v.trie); {
		n := &s.v.trie[i]
		at := s.m.step(s.path[n.depth-1], n.b)
		if at == nowhere {
			i = int(n.skip)
			continue
		}
		s.path = append(s.path[:n.depth], at)
		list = append(list, s.v.ids[n.from:n.to]...)
		i++
	}
	return list
}

// wideMask works out what fits at a state, once.
func (g *Grammar) wideMask(state int32, v *Vocab, all *masks) *wideMask {
	g.mu.Lock()
	defer g.mu.Unlock()
	if w := all.wide[state]; w != nil {
		return w
	}
	w := &wideMask{fits: make([]uint64, (v.size+63)/64)}
	m := newMachine(g)
	type step struct {
		at   int32
		left bool // the rule may have ended on the way, before the last byte
	}
	path := []step{{m.of([]int32{m.top(node{state, outside})}), false}}
	for i := 0; i < len(v.trie); {
		n := &v.trie[i]
		above := path[n.depth-1]
		here := step{m.step(above.at, n.b), above.left || m.sets[above.at].left}
		if here.at == nowhere && !here.left {
			i = int(n.skip)
			continue
		}
		path = append(path[:n.depth], here)
		for _, id := range v.ids[n.from:n.to] {
			switch s := &m.sets[here.at]; {
			case len(s.tops) > 0 || s.left:
				w.fits[id>>6] |= 1 << (id & 63)
			case here.left:
				w.ask = append(w.ask, id)
			}
		}
		i++
	}
	if len(all.wide) >= maxWide {
		clear(all.wide)
	}
	all.wide[state] = w
	return w
}

// Accept takes the token that was drawn. False is a token that does not fit, which Mask had forbidden.
func (s *Session) Accept(id int32) bool {
	if s.m.sets[s.at].accept && slices.Contains(s.v.ends, id) {
		s.over = true
		return true
	}
	if int(id) >= s.v.size || len(s.v.piece[id]) == 0 {
		return false
	}
	to := s.m.run(s.at, s.v.piece[id])
	if to == nowhere {
		return false
	}
	s.at = to
	if len(s.m.sets) > maxSets {
		fresh := newMachine(s.g)
		s.at = s.m.copyTo(fresh, s.at)
		s.m, s.known = fresh, map[int32][]int32{}
	}
	return true
}

// Done tells whether the text is whole: it may end here, and nothing but the end may come.
func (s *Session) Done() bool {
	here := &s.m.sets[s.at]
	return s.over || here.accept && len(here.tops) == 0
}

// Whole tells whether the text so far satisfies the schema.
func (s *Session) Whole() bool { return s.m.sets[s.at].accept }

// Where says for a recording where in the grammar the answer is.
func (s *Session) Where() string {
	here := &s.m.sets[s.at]
	if len(here.tops) == 0 {
		return "the value is whole"
	}
	depth := 0
	n := s.m.nodes[here.tops[0]]
	name := s.g.rules[s.g.states[n.state].rule].name
	for ; n.below >= 0; n = s.m.nodes[n.below] {
		depth++
	}
	return fmt.Sprintf("in %s, %d rules deep, %d ways to go on", name, depth, len(here.tops))
}
