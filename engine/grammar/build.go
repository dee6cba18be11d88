package grammar

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// maxStates bounds what one schema may cost: 120 bytes a state or so.
const maxStates = 200_000

// builder makes states of expressions: a non-deterministic automaton for each rule (Thompson 1968), whose empty moves are
// taken out at the end.
type builder struct {
	states []state
	eps    [][]int32
	rules  []rule
	ends   []int32 // of each rule
	rule   int32   // whose states are made now
	err    error
}

// expr adds what leads from one state to another. It adds no edge into from and none out of to.
type expr func(b *builder, from, to int32)

// add makes a state.
func (b *builder) add() int32 {
	if len(b.states) >= maxStates {
		if b.err == nil {
			b.err = &SchemaError{Text: fmt.Sprintf("the schema needs more than %d states: lower maxLength, maxItems or the number of values", maxStates)}
		}
		return 0
	}
	b.states = append(b.states, state{rule: b.rule})
	b.eps = append(b.eps, nil)
	return int32(len(b.states) - 1)
}

// declare names a rule and returns its number; define fills it, and may call it.
func (b *builder) declare(name string) int32 {
	b.rules = append(b.rules, rule{name: name})
	b.ends = append(b.ends, 0)
	return int32(len(b.rules) - 1)
}

func (b *builder) define(n int32, e expr) {
	outer := b.rule
	b.rule = n
	from, to := b.add(), b.add()
	b.rules[n].start, b.ends[n] = from, to
	e(b, from, to)
	b.rule = outer
}

func (b *builder) byteEdge(from, to int32, lo, hi byte) {
	b.states[from].edges = append(b.states[from].edges, edge{lo: lo, hi: hi, call: -1, to: to})
}

func (b *builder) empty(from, to int32) {
	if from != to {
		b.eps[from] = append(b.eps[from], to)
	}
}

// text is exactly these bytes.
func text(s string) expr {
	return func(b *builder, from, to int32) {
		if s == "" {
			b.empty(from, to)
			return
		}
		for i := range len(s) {
			next := to
			if i < len(s)-1 {
				next = b.add()
			}
			b.byteEdge(from, next, s[i], s[i])
			from = next
		}
	}
}

// bytesOf is one byte of the ranges: "09" is a digit, "azAZ" a letter.
func bytesOf(ranges string) expr {
	return func(b *builder, from, to int32) {
		for i := 0; i+1 < len(ranges); i += 2 {
			b.byteEdge(from, to, ranges[i], ranges[i+1])
		}
	}
}

func seq(es ...expr) expr {
	return func(b *builder, from, to int32) {
		if len(es) == 0 {
			b.empty(from, to)
		}
		for i, e := range es {
			next := to
			if i < len(es)-1 {
				next = b.add()
			}
			e(b, from, next)
			from = next
		}
	}
}

func alt(es ...expr) expr {
	return func(b *builder, from, to int32) {
		for _, e := range es {
			e(b, from, to)
		}
	}
}

func opt(e expr) expr {
	return func(b *builder, from, to int32) {
		e(b, from, to)
		b.empty(from, to)
	}
}

// rep is e from low to high times; high < 0 is without end.
func rep(e expr, low, high int) expr {
	return func(b *builder, from, to int32) {
		for range low {
			if b.err != nil {
				return
			}
			next := b.add()
			e(b, from, next)
			from = next
		}
		if high < 0 {
			loop := b.add()
			b.empty(from, loop)
			e(b, loop, loop)
			b.empty(loop, to)
			return
		}
		b.empty(from, to)
		for range high - low {
			if b.err != nil {
				return
			}
			next := b.add()
			e(b, from, next)
			b.empty(next, to)
			from = next
		}
	}
}

// call goes through a rule.
func call(n int32) expr {
	return func(b *builder, from, to int32) {
		b.states[from].edges = append(b.states[from].edges, edge{call: n, to: to})
	}
}

// finish takes the empty moves out and returns the grammar.
func (b *builder) finish(name string, root int32) (*Grammar, error) {
	if b.err != nil {
		return nil, b.err
	}
	g := &Grammar{Name: name, rules: b.rules, root: root, masks: map[*Vocab]*masks{}}
	g.states = make([]state, len(b.states))
	seen := make([]int32, len(b.states))
	var list []int32
	for i := range b.states {
		list = append(list[:0], int32(i))
		seen[i] = int32(i) + 1
		s := state{rule: b.states[i].rule}
		for n := 0; n < len(list); n++ {
			at := list[n]
			s.edges = append(s.edges, b.states[at].edges...)
			s.final = s.final || at == b.ends[s.rule]
			for _, to := range b.eps[at] {
				if seen[to] != int32(i)+1 {
					seen[to] = int32(i) + 1
					list = append(list, to)
				}
			}
		}
		width := 0
		for _, e := range s.edges {
			if e.call < 0 {
				width += int(e.hi) - int(e.lo) + 1
			}
		}
		s.wide = width >= 64 && !s.final
		g.states[i] = s
	}
	g.classes()
	return g, g.check()
}

// classes finds the bytes that no edge tells apart.
func (g *Grammar) classes() {
	var starts [257]bool
	for i := range g.states {
		for _, e := range g.states[i].edges {
			if e.call < 0 {
				starts[e.lo], starts[int(e.hi)+1] = true, true
			}
		}
	}
	for c := range 256 {
		if c == 0 || starts[c] {
			g.sample = append(g.sample, byte(c))
		}
		g.class[c] = uint8(len(g.sample) - 1)
	}
}

// check refuses grammars that have no text, or that a machine could not run: a rule that calls itself before any byte.
func (g *Grammar) check() error {
	n := len(g.rules)
	first := make([][]int32, n) // rules that a rule may call before its first byte
	nullable, ends := make([]bool, n), make([]bool, n)
	for changed := true; changed; {
		changed = false
		for r := range g.rules {
			null, done := g.reach(int32(r), nullable, ends, &first[r])
			if null && !nullable[r] || done && !ends[r] {
				nullable[r], ends[r], changed = nullable[r] || null, ends[r] || done, true
			}
		}
	}
	g.prune(ends)
	if !ends[g.root] {
		return &SchemaError{Text: "no value can satisfy the schema: it asks for a value inside a value without end, or for contradicting things"}
	}
	for r := range g.rules {
		seen := make([]bool, n)
		list := slices.Clone(first[r])
		for i := 0; i < len(list); i++ {
			if list[i] == int32(r) {
				return &SchemaError{Text: fmt.Sprintf("%s refers to itself without anything in between", g.rules[r].name)}
			}
			if !seen[list[i]] {
				seen[list[i]] = true
				list = append(list, first[list[i]]...)
			}
		}
	}
	return nil
}

// prune takes out what cannot come to an end, so that every text on the way is the beginning of a whole one.
func (g *Grammar) prune(ends []bool) {
	alive := make([]bool, len(g.states))
	for changed := true; changed; {
		changed = false
		for i := len(g.states) - 1; i >= 0; i-- {
			s := &g.states[i]
			if !alive[i] && (s.final || slices.ContainsFunc(s.edges, func(e edge) bool { return alive[e.to] && (e.call < 0 || ends[e.call]) })) {
				alive[i], changed = true, true
			}
		}
	}
	for i := range g.states {
		g.states[i].edges = slices.DeleteFunc(g.states[i].edges, func(e edge) bool { return !alive[e.to] || e.call >= 0 && !ends[e.call] })
	}
}

// reach tells whether a rule can be empty, and whether its end can be reached at all, as far as is known of the others.
func (g *Grammar) reach(r int32, nullable, ends []bool, first *[]int32) (null, done bool) {
	start := g.rules[r].start
	type at struct {
		state int32
		fresh bool // no byte was read on the way
	}
	seen := map[at]bool{}
	list := []at{{start, true}}
	*first = (*first)[:0]
	for i := 0; i < len(list); i++ {
		s := &g.states[list[i].state]
		done = done || s.final
		null = null || s.final && list[i].fresh
		for _, e := range s.edges {
			next := at{e.to, false}
			if e.call >= 0 {
				if list[i].fresh {
					*first = append(*first, e.call)
				}
				if !ends[e.call] {
					continue
				}
				if list[i].fresh && nullable[e.call] {
					list = appendNew(list, seen, at{e.to, true})
				}
			}
			list = appendNew(list, seen, next)
		}
	}
	return null, done
}

func appendNew[T comparable](list []T, seen map[T]bool, v T) []T {
	if seen[v] {
		return list
	}
	seen[v] = true
	return append(list, v)
}

// runes is one character of a set of code points, given as ranges, in UTF-8.
func runes(ranges ...[2]rune) expr {
	var parts []expr
	for _, r := range ranges {
		for _, seqs := range utf8Ranges(r[0], r[1]) {
			var one []expr
			for _, br := range seqs {
				one = append(one, bytesOf(string([]byte{br[0], br[1]})))
			}
			parts = append(parts, seq(one...))
		}
	}
	return alt(parts...)
}

// utf8Ranges splits a range of code points into sequences of byte ranges: all characters of one sequence have the same
// length, and each of its bytes runs independently through its range. Surrogates have no UTF-8 and are left out.
func utf8Ranges(lo, hi rune) (out [][][2]byte) {
	if lo <= 0xDFFF && hi >= 0xD800 {
		if lo < 0xD800 {
			out = utf8Ranges(lo, 0xD7FF)
		}
		if hi > 0xDFFF {
			out = append(out, utf8Ranges(0xE000, hi)...)
		}
		return out
	}
	for _, most := range []rune{0x7F, 0x7FF, 0xFFFF} {
		if lo <= most && hi > most {
			return append(utf8Ranges(lo, most), utf8Ranges(most+1, hi)...)
		}
	}
	if lo > hi {
		return nil
	}
	for bits := 6; bits <= 18 && hi > 0x7F; bits += 6 { // where the low bits do not run through all values, split
		m := rune(1)<<bits - 1
		if lo&^m != hi&^m {
			if lo&m != 0 {
				return append(utf8Ranges(lo, lo|m), utf8Ranges((lo|m)+1, hi)...)
			}
			if hi&m != m {
				return append(utf8Ranges(lo, hi&^m-1), utf8Ranges(hi&^m, hi)...)
			}
		}
	}
	var a, z [utf8.UTFMax]byte
	n := utf8.EncodeRune(a[:], lo)
	utf8.EncodeRune(z[:], hi)
	one := make([][2]byte, n)
	for i := range one {
		one[i] = [2]byte{a[i], z[i]}
	}
	return [][][2]byte{one}
}
