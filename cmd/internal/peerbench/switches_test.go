package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/cmd/internal/bench/client"
)

// asked is what a workload sends.
type asked struct {
	Prompt      []int
	MaxTokens   int `json:"max_tokens"`
	Temperature float64
	Stream      bool
	IgnoreEOS   bool `json:"ignore_eos"`
}

// recorder answers as our server does and keeps what it was asked.
func recorder(t *testing.T) (*client.Client, *[]asked) {
	var mu sync.Mutex
	var got []asked
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var a asked
		b, _ := io.ReadAll(r.Body)
		if json.Unmarshal(b, &a) != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
		mu.Lock()
		got = append(got, a)
		mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range a.MaxTokens {
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"text\":\"w%d \"}]}\n\n", i)
			w.(http.Flusher).Flush()
			time.Sleep(5 * time.Millisecond) // each is read by itself
		}
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"text\":\"\",\"finish_reason\":\"length\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d}}\n\ndata: [DONE]\n\n", len(a.Prompt), a.MaxTokens)
	}))
	t.Cleanup(s.Close)
	begin := time.Now()
	c, err := client.New(s.URL, "", func() int64 { return int64(time.Since(begin)) + 1 }, time.Minute)
	require.NoError(t, err)
	return c, &got
}

func TestLoadsAreWhatTheTableSays(t *testing.T) {
	c, got := recorder(t)
	ask := func(w workload, n int) asked {
		row := w.ask(context.Background(), c, n)
		require.Nil(t, row.Error)
		require.Equal(t, w.output, *row.OutputTokens)
		require.NotNil(t, row.TTFT)
		require.NotNil(t, row.TPOT)
		return (*got)[len(*got)-1]
	}
	plain := workload{prompt: 100, output: 4}
	a, b := ask(plain, 0), ask(plain, 1)
	require.Len(t, a.Prompt, 100)
	require.True(t, a.Stream && a.IgnoreEOS && a.MaxTokens == 4)
	require.NotEqual(t, a.Prompt[0], b.Prompt[0], "no cache knows the second")
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(a.Prompt))), 100)

	alike := workload{prompt: 100, output: 2, alike: 80}
	a, b = ask(alike, 0), ask(alike, 1)
	require.Equal(t, a.Prompt[:80], b.Prompt[:80])
	require.NotEqual(t, a.Prompt[80], b.Prompt[80])

	again := ask(workload{prompt: 40, output: 2, period: 16}, 3)
	require.Equal(t, again.Prompt[:16], again.Prompt[16:32])
	require.EqualValues(t, 1, ask(workload{prompt: 3, output: 2, temperature: 1}, 0).Temperature)
}

func TestSettingsCoverEverySwitch(t *testing.T) {
	count := map[string]int{}
	for _, s := range settings() {
		require.Len(t, s.args, 1, s.name)
		for _, name := range []string{"--slots=", "--chunk=", "--kv-type=", "--draft=", "--shards=", "--prefix-cache="} {
			if len(s.args[0]) > len(name) && s.args[0][:len(name)] == name {
				count[name]++
			}
		}
	}
	require.Equal(t, map[string]int{"--slots=": 4, "--chunk=": 4, "--kv-type=": 4, "--draft=": 4, "--shards=": 2, "--prefix-cache=": 2}, count)
}

func TestTableOfTrades(t *testing.T) {
	b := &bench{config: config{ServeRounds: 1, Model: "m.gguf", Parts: []string{"switches"}}}
	b.traded = make([]traded, len(settings()))
	b.traded[0] = traded{first: sample{10, 30, 20}, each: sample{4}, rate: sample{100, 90, 110}, memory: sample{300}, token: sample{23040}}
	b.failed = []string{"--shards 3: no"}
	text, missed := b.report(1)
	require.Equal(t, 1, missed, "what could not be measured fails")
	require.Contains(t, text, "| `--slots 1` | 20.0 | 4.00 | 100 (90.0–110) | 300 | 23040 |\n")
	require.Contains(t, text, "| `--slots 4` | not measured | not measured | not measured | not measured | not measured |\n")
	require.Contains(t, text, "Not measured: --shards 3: no")
	require.NotContains(t, text, "llama.cpp")
}
