package sse

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// parse feeds the pieces, the first at time 0, the next at 1, and so on.
func parse(t testing.TB, lines bool, pieces ...string) (out []string, p *Parser) {
	t.Helper()
	p = &Parser{Lines: lines}
	note := func(e Event) { out = append(out, fmt.Sprintf("%d.%d %s|%s", e.At, e.Nth, e.Name, e.Data)) }
	for i, s := range pieces {
		require.NoError(t, p.Feed([]byte(s), int64(i), note))
	}
	p.Close(int64(len(pieces)), note)
	return out, p
}

func TestEvents(t *testing.T) {
	cases := map[string]struct{ in, want []string }{
		"plain":                {[]string{"data: a\n\n", "data: b\n\n"}, []string{"0.0 |a", "1.0 |b"}},
		"no blank":             {[]string{"data:a\n\n"}, []string{"0.0 |a"}},
		"two blanks":           {[]string{"data:  a\n\n"}, []string{"0.0 | a"}},
		"CRLF":                 {[]string{"data: a\r\n\r\ndata: b\r\n\r\n"}, []string{"0.0 |a", "0.1 |b"}},
		"CR":                   {[]string{"data: a\r\rdata: b\r\r"}, []string{"0.0 |a", "0.1 |b"}},
		"CRLF cut in the pair": {[]string{"data: a\r", "\n\r", "\ndata: b\r\n", "\r\n"}, []string{"1.0 |a", "3.0 |b"}},
		"several data lines":   {[]string{"data: {\"a\":\ndata: 1}\n\n"}, []string{"0.0 |{\"a\":\n1}"}},
		"comments":             {[]string{": ping\n\n", ":\n", "data: a\n: in the middle\n\n"}, []string{"2.0 |a"}},
		"fields":               {[]string{"event: error\nid: 7\nretry: 3\nnonsense\ndata: a\n\n"}, []string{"0.0 error|a"}},
		"event without data":   {[]string{"event: ping\n\ndata: a\n\n"}, []string{"0.0 |a"}},
		"empty data":           {[]string{"data:\n\ndata\n\n"}, []string{"0.0 |", "0.1 |"}},
		"time of completion":   {[]string{"da", "ta: ", "a", "\n", "\n"}, []string{"4.0 |a"}},
		"several in one read":  {[]string{"data: a\n\ndata: b\n\nda", "ta: c\n\n"}, []string{"0.0 |a", "0.1 |b", "1.0 |c"}},
		"character cut in two": {[]string{"data: \xc3", "\xa9\n\n"}, []string{"1.0 |é"}},
		"no blank line at end": {[]string{"data: a\n\ndata: b\n"}, []string{"0.0 |a", "1.0 |b"}},
		"no newline at end":    {[]string{"data: a"}, []string{"1.0 |a"}},
		"byte order mark":      {[]string{"\xef\xbb\xbfdata: a\n\n"}, []string{"0.0 |a"}},
		"nothing":              {[]string{"", "\n\n\r\n"}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, _ := parse(t, false, c.in...)
			require.Equal(t, c.want, got)
		})
	}
}

func TestLines(t *testing.T) {
	got, _ := parse(t, true, "{\"a\":1}\n{\"b\"", ":2}\r\n\n", "{\"c\":3}")
	require.Equal(t, []string{`0.0 |{"a":1}`, `1.0 |{"b":2}`, `3.0 |{"c":3}`}, got)
}

func TestCommentsAreCounted(t *testing.T) {
	_, p := parse(t, false, ": a\n\n: b\n\ndata: x\n\n")
	require.Equal(t, 2, p.Comments)
}

func TestTooLargeEvents(t *testing.T) {
	piece := []byte(strings.Repeat("x", 1<<20))
	for name, nl := range map[string]string{"one line": "", "many lines": "\ndata: "} {
		t.Run(name, func(t *testing.T) {
			p := &Parser{}
			err := p.Feed([]byte("data: "), 0, func(Event) {})
			for i := 0; i < 10 && err == nil; i++ {
				err = p.Feed(append(piece, nl...), 0, func(Event) {})
			}
			require.ErrorContains(t, err, "8388608")
		})
	}
}

// However the network cuts a stream, the events are the same; only times may differ, and they never run backwards.
func FuzzCuts(f *testing.F) {
	f.Add([]byte("data: a\r\n\r\n: c\ndata: b\n\n"), byte(3))
	f.Add([]byte("\xef\xbb\xbfdata: \xc3\xa9\rdata:x\r\revent: e\ndata\n\n"), byte(1))
	f.Add([]byte("{\"a\":1}\n{}\r\n"), byte(2))
	f.Fuzz(func(t *testing.T, in []byte, step byte) {
		for _, lines := range []bool{false, true} {
			whole, cut := collect(t, in, len(in), lines), collect(t, in, int(step), lines)
			require.Equal(t, whole, cut)
		}
	})
}

func collect(t *testing.T, in []byte, step int, lines bool) (out []string) {
	p, last := &Parser{Lines: lines}, int64(-1)
	note := func(e Event) {
		require.GreaterOrEqual(t, e.At, last)
		last = e.At
		out = append(out, e.Name+"|"+string(bytes.Clone(e.Data)))
	}
	for at, rest := int64(0), in; len(rest) > 0; at++ {
		n := min(max(step, 1), len(rest))
		require.NoError(t, p.Feed(rest[:n], at, note))
		rest = rest[n:]
	}
	p.Close(int64(len(in)), note)
	return out
}
