package term

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/cmd/internal/bench"
	"glassbox/cmd/internal/bench/client"
)

func steps() []bench.Progress {
	e := &client.Endpoint{Kind: "vllm", Version: "1.2", Model: "m\x1b[31m", URL: "http://x"}
	return []bench.Progress{
		{Phase: "warm-up", Step: 1, Steps: 3, Endpoint: e},
		{Phase: "concurrency 1", Step: 2, Steps: 3, Endpoint: e},
		{Phase: "concurrency 1", Step: 2, Steps: 3, Done: 1, Total: 2, TTFT: 123.4, TPOT: 5.678, Rate: 99, Left: 65 * time.Second, Elapsed: 61 * time.Second, Endpoint: e},
		{Message: "careful \x1b[2J", Endpoint: e},
		{Phase: "concurrency 1", Step: 2, Steps: 3, Done: 2, Total: 2, TTFT: 120, TPOT: 5.678, Rate: 99, Errors: 1, Endpoint: e},
	}
}

// Without a terminal there is one line a step and no control character, whatever the server calls its model.
func TestPlain(t *testing.T) {
	var b bytes.Buffer
	v := NewOn(&b, false)
	for _, p := range steps() {
		v.Show(p)
	}
	v.Close()
	v.Show(steps()[0])
	require.NotContains(t, b.String(), "\x1b")
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	require.Len(t, lines, 4, b.String())
	require.Contains(t, lines[0], "vllm 1.2, model m [31m, at http://x")
	require.Regexp(t, `concurrency 1 +2/2 +TTFT 120 ms  TPOT 5.68 ms  99.0 tok/s  1 failed`, lines[3])
}

// On a terminal the view is redrawn in place: what stays on the screen is the same.
func TestLive(t *testing.T) {
	var b bytes.Buffer
	v := NewOn(&b, true)
	for _, p := range steps() {
		v.Show(p)
		v.last = time.Time{}
	}
	require.Contains(t, b.String(), "about 1:05 left")
	require.Contains(t, b.String(), "step 2 of 3, 1:01 so far")
	v.Close()
	var screen []string
	text := b.String()
	for _, line := range strings.SplitAfter(text, "\n") {
		for strings.HasPrefix(line, "\x1b[1A\x1b[2K") {
			line = strings.TrimPrefix(line, "\x1b[1A\x1b[2K")
			screen = screen[:len(screen)-1]
		}
		if line != "" {
			screen = append(screen, line)
		}
	}
	var plain bytes.Buffer
	p := NewOn(&plain, false)
	for _, s := range steps() {
		p.Show(s)
	}
	p.Close()
	require.Equal(t, plain.String(), strings.Join(screen, ""))
}
