package main

import (
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/cmd/internal/bench/client"
)

const stream = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n" +
	"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n\n" +
	"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n"

// The proxy changes no byte of what passes, tells the server nothing it should not know, and reads along in streams only.
func TestProxyPassesAndListens(t *testing.T) {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/models" {
			_, _ = io.WriteString(w, `{"data":[]}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, stream)
	}))
	defer h.Close()
	p, err := newProxy(h.URL)
	require.NoError(t, err)
	defer p.close()
	get := func(path string) string {
		res, err := http.Get(p.url + path)
		require.NoError(t, err)
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return string(b)
	}
	require.Equal(t, `{"data":[]}`, get("/v1/models"))
	require.Zero(t, p.count())
	require.Equal(t, stream, get("/v1/chat/completions"))
	require.Equal(t, stream, get("/v1/chat/completions"))
	require.Equal(t, 2, p.count())
	row := p.last(1)[0]
	require.Equal(t, client.OK, row.Outcome)
	require.Equal(t, []int{9, 2, 2}, []int{*row.PromptTokens, *row.OutputTokens, row.Chunks})
	require.Positive(t, row.Times.Sent)
	require.GreaterOrEqual(t, row.Times.FirstEvent, row.Times.Sent)
}

// One answer with known moments (ms): sent 0, role event 10, tokens 20 to 50, finish 60, end 70; four tokens.
func TestFormulasOfPeers(t *testing.T) {
	n, prompt := 4, 9
	ms := func(x float64) int64 { return int64(x*1e6) + 1 }
	r := &client.Row{Outcome: client.OK, OutputTokens: &n, PromptTokens: &prompt, FirstChunk: 1, Chunks: 4, Arrivals: []int64{ms(20), ms(30), ms(40), ms(50)}}
	r.Times = client.Times{Scheduled: ms(0), Sent: ms(0), Headers: ms(9), FirstEvent: ms(10), FirstToken: ms(20), FirstText: ms(20), LastToken: ms(50), Finish: ms(60), End: ms(70)}
	r.Derive()
	rows := []*client.Row{r, {Outcome: client.Failed}}
	want := map[string]float64{"ttft": 20, "tpot": 10, "icl": 10, "e2e": 50, "output tok/s": 4 / 0.07,
		"mean_ttft_ms": 10, "mean_tpot_ms": 50.0 / 3, "mean_e2el_ms": 60, "output_throughput": 4 / 0.07,
		"time_to_first_token_ms": 20, "inter_token_latency_ms": 10, "time_per_output_token_ms": 12.5, "request_latency_ms": 70}
	for _, list := range [][]formula{ourFormulas, vllmFormulas, guidellmFormulas} {
		for _, f := range list {
			require.InDelta(t, want[f.name], f.of(rows), 1e-6, f.name)
			require.True(t, math.IsNaN(f.of(nil)), f.name)
			if f.ours != "" {
				require.NotNil(t, ourFormula(f.ours))
			}
		}
	}
}

func TestGuidellmReport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"benchmarks":[{"metrics":{"request_latency":{"successful":{"mean":0.25}},"time_to_first_token_ms":{"successful":{"mean":50}},"text":"x","request_totals":{"successful":5}}}]}`), 0o600))
	m, err := guidellmMeans(path)
	require.NoError(t, err)
	require.Equal(t, map[string]float64{"request_latency": 0.25, "request_latency_ms": 250, "time_to_first_token_ms": 50}, m)
	require.NoError(t, os.WriteFile(path, []byte(`{"benchmarks":[]}`), 0o600))
	_, err = guidellmMeans(path)
	require.ErrorContains(t, err, "wanted a report of guidellm")
	require.NotContains(t, strings.ToLower(err.Error()), "%!")
}
