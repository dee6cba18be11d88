package client

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Nothing that a server sends may panic, and no row comes out half decided.
func FuzzStream(f *testing.F) {
	for _, s := range []string{
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n",
		"data: {\"error\":7}\n\n", "data: {\"choices\":[{}],\"message\":[]}\n\n", "data: {\"usage\":{\"completion_tokens\":-5}}\n\n",
		"{\"message\":{\"content\":\"x\"},\"done\":true,\"eval_count\":1}\n", "data: {\"choices\":[{\"delta\":{\"content\":[{\"text\":\"x\"}]}}],\"timings\":{\"predicted_n\":1}}\n\n",
		"data: null\n\n", "data: []\n\n", "data: {\"choices\":null,\"usage\":[],\"timings\":null}\n\n",
	} {
		f.Add([]byte(s), byte(5), false)
		f.Add([]byte(s), byte(200), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, step byte, lines bool) {
		row := &Row{Status: 200}
		row.Times.Sent = 1
		s := NewStream(row, lines)
		at := int64(1)
		for rest := data; len(rest) > 0; at++ {
			n := min(int(step)+1, len(rest))
			if s.Read(rest[:n], at) != nil {
				break
			}
			rest = rest[n:]
		}
		s.Close(at, nil)
		require.Contains(t, []string{OK, Failed}, row.Outcome)
		require.Equal(t, row.Outcome == Failed, row.Error != nil)
		if row.Outcome == OK {
			require.Positive(t, row.Chunks)
			require.NotNil(t, row.TTFT)
		} else {
			require.Nil(t, row.TTFT)
		}
		require.LessOrEqual(t, len(row.Sample), sampleBytes+4)
	})
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for in, want := range map[string]time.Duration{"2": 2 * time.Second, "0.5": 500 * time.Millisecond, now.Add(9 * time.Second).Format(http.TimeFormat): 9 * time.Second,
		now.Add(-time.Hour).Format(http.TimeFormat): 0} {
		got, ok := retryAfter(in, now)
		require.True(t, ok, in)
		require.Equal(t, want, got, in)
	}
	for _, bad := range []string{"", "soon", "-3", "1e99"} {
		_, ok := retryAfter(bad, now)
		require.False(t, ok, bad)
	}
}

// The tokens of a chunk that only has a part of a character still count; an empty one never does.
func TestClipKeepsCharactersWhole(t *testing.T) {
	require.Equal(t, "aé…", clip([]byte("aéö"), 4))
	require.Equal(t, "aéö", clip([]byte("aéö"), 5))
}
