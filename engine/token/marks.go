package token

// markTrie finds the tokens that are looked for in raw text. A node is a number; 0 is the root.
type markTrie struct {
	next  map[uint64]int32 // node<<8 | byte → node
	ends  []markEnd        // by node
	first [256]bool        // bytes that begin a mark
}

type markEnd struct {
	id    int32 // -1: no mark ends here
	gated bool  // a control mark: only where the options allow
}

func (m *markTrie) add(text string, id int32, gated bool) {
	if m.next == nil {
		m.next = make(map[uint64]int32)
		m.ends = []markEnd{{id: -1}}
	}
	node := int32(0)
	for i := range len(text) {
		key := uint64(node)<<8 | uint64(text[i])
		child, ok := m.next[key]
		if !ok {
			child = int32(len(m.ends))
			m.ends = append(m.ends, markEnd{id: -1})
			m.next[key] = child
		}
		node = child
	}
	m.first[text[0]] = true
	m.ends[node] = markEnd{id: id, gated: gated}
}

// longest returns the longest mark at text[i:] and its length in bytes, 0 for none. Control marks count only if
// special is set and they touch none of the plain ranges, of which those that end before i are already gone.
func (m *markTrie) longest(text string, i int, special bool, plain []Span) (id int32, n int) {
	if !m.first[text[i]] {
		return -1, 0
	}
	border := len(text) // a control mark must end here at the latest
	if !special {
		border = i
	}
	for _, p := range plain {
		if p.Start < p.End { // an empty range holds nothing
			border = min(border, max(p.Start, i))
			break
		}
	}
	id = -1
	node := int32(0)
	for j := i; j < len(text); j++ {
		next, ok := m.next[uint64(node)<<8|uint64(text[j])]
		if !ok {
			break
		}
		node = next
		if e := m.ends[node]; e.id >= 0 && (!e.gated || j < border) {
			id, n = e.id, j+1-i
		}
	}
	return id, n
}
