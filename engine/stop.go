package engine

import "strings"

// stopMatcher ends an answer before the first stop string, and holds back text that may be the beginning of one.
type stopMatcher struct {
	stops []string
	held  string
}

// newStopMatcher leaves empty strings out: they would end every answer at once.
func newStopMatcher(stops []string) *stopMatcher {
	m := &stopMatcher{}
	for _, s := range stops {
		if s != "" {
			m.stops = append(m.stops, s)
		}
	}
	return m
}

// push takes new text and returns what is certain to be part of the answer, and whether a stop string came up.
func (m *stopMatcher) push(text string) (certain string, stopped bool) {
	if len(m.stops) == 0 {
		return text, false
	}
	m.held += text
	first := -1
	for _, s := range m.stops {
		if i := strings.Index(m.held, s); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	if first >= 0 {
		certain, m.held = m.held[:first], ""
		return certain, true
	}
	keep := 0
	for _, s := range m.stops {
		for n := min(len(s)-1, len(m.held)); n > keep; n-- {
			if strings.HasSuffix(m.held, s[:n]) {
				keep = n
			}
		}
	}
	cut := len(m.held) - keep
	certain, m.held = m.held[:cut], m.held[cut:]
	return certain, false
}

// flush returns what was held back, at the end of an answer that no stop string ended.
func (m *stopMatcher) flush() string {
	s := m.held
	m.held = ""
	return s
}
