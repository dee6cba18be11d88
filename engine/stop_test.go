package engine

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// feed pushes the pieces one by one and returns everything certain, and the least text ever held back beyond need.
func feed(stops, pieces []string) (text string, stopped bool) {
	m := newStopMatcher(stops)
	for _, p := range pieces {
		certain, hit := m.push(p)
		text += certain
		if hit {
			return text, true
		}
	}
	return text + m.flush(), false
}

func TestStopMatcher(t *testing.T) {
	for _, c := range []struct {
		stops, pieces []string
		text          string
		stopped       bool
	}{
		{nil, []string{"a", "b"}, "ab", false},
		{[]string{""}, []string{"a", "b"}, "ab", false},
		{[]string{"END"}, []string{"one E", "N", "D two"}, "one ", true},
		{[]string{"END"}, []string{"one E", "N", "C two"}, "one ENC two", false},
		{[]string{"END"}, []string{"one EN"}, "one EN", false},
		{[]string{"aab"}, []string{"a", "a", "a", "b"}, "a", true},
		{[]string{"xy", "abcd"}, []string{"ab", "c", "xy"}, "abc", true},
		{[]string{"bc", "abc"}, []string{"abc"}, "", true}, // the earliest beginning wins
		{[]string{"日本"}, []string{"x日", "本"}, "x", true},
	} {
		text, stopped := feed(c.stops, c.pieces)
		require.Equal(t, c.text, text, "%q over %q", c.stops, c.pieces)
		require.Equal(t, c.stopped, stopped)
	}
}

func TestStopMatcherHoldsNoMoreThanItMust(t *testing.T) {
	m := newStopMatcher([]string{"\n\n", "Human:"})
	certain, _ := m.push("hello H")
	require.Equal(t, "hello ", certain)
	certain, _ = m.push("i")
	require.Equal(t, "Hi", certain)
}

func FuzzStopMatcher(f *testing.F) {
	f.Add("hello world", "lo", uint8(3))
	f.Add("aaaaab", "aab", uint8(1))
	f.Fuzz(func(t *testing.T, text, stop string, n uint8) {
		var pieces []string
		for s := text; s != ""; {
			k := min(int(n)%5+1, len(s))
			pieces, s = append(pieces, s[:k]), s[k:]
		}
		got, stopped := feed([]string{stop}, pieces)
		want := text
		if i := strings.Index(text, stop); stop != "" && i >= 0 {
			want = text[:i]
		}
		require.Equal(t, want, got)
		require.Equal(t, stop != "" && strings.Contains(text, stop), stopped)
	})
}
