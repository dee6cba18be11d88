package export

import (
	"bytes"
	"encoding/csv"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/trace/file"
)

// table reads a view back.
func table(t *testing.T, rec *file.Recording, view string) [][]string {
	var b bytes.Buffer
	require.NoError(t, ViewCSV(&b, rec, view))
	all, err := csv.NewReader(&b).ReadAll()
	require.NoError(t, err)
	return all
}

// captures is a recording of two layers, one head, two tokens.
func captures() *file.Recording {
	lens := func(first int32) []int32 {
		return []int32{first, first + 1, first + 2, first + 3, first + 4, first + 5, first + 6, first + 7}
	}
	lps := []float32{-1, -2, -1.5, -2.5, -1, -2, -0.25, -3}
	return &file.Recording{
		Request: file.Request{PromptTokens: []file.Token{{ID: 1, Text: "a,b"}}, OutputTokens: []file.Token{{ID: 2, Text: "\"\n"}}},
		Passes:  []file.Pass{{Index: 0, Kind: "prefill"}, {Index: 1, Kind: "decode"}},
		Spans: []file.Span{
			{ID: "x", Step: "attn_q", Op: "attn_q", Kernel: "mmQ4_1 avx2", Pass: 0, Layer: 0, Bytes: 10, DurNs: 5},
			{ID: "y", Step: "attn_norm", Op: "attn_norm", Kernel: "rms avx2", Pass: 1, Layer: 0, StartNs: 5, Bytes: 4, DurNs: 1},
			{ID: "z", Step: "attn_q", Op: "attn_q", Kernel: "mvQ4_1 avx2", Pass: 1, Layer: 0, StartNs: 6, Bytes: 100, Flops: 50, DurNs: 50},
			{ID: "w", Step: "lm_head", Op: "lm_head", Kernel: "mvQ8_0 avx2", Pass: 1, Layer: file.None, StartNs: 60, Bytes: 200, DurNs: 20},
		},
		Walk: []file.Step{{ID: "attn_q", Title: "Q", Stage: "compute", Lane: "workers", Count: 2, TimeNs: 55}},
		Arrays: map[string]*file.Array{
			"attention":        file.NewArray([]float32{1, 0, 0.25, 0.75, 1, 0, 0.5, 0.5}, []int{2, 1, 2, 2}, nil, ""),
			"lens_ids":         file.NewArray(lens(10), []int{2, 2, 2}, nil, ""),
			"lens_logprob":     file.NewArray(lps, []int{2, 2, 2}, nil, ""),
			"lens_mid_ids":     file.NewArray(lens(20), []int{2, 2, 2}, nil, ""),
			"lens_mid_logprob": file.NewArray(lps, []int{2, 2, 2}, nil, ""),
		},
	}
}

func TestViewsAsTables(t *testing.T) {
	rec := captures()
	require.Equal(t, [][]string{
		{"layer", "head", "query", "query_token", "key", "key_token", "weight"},
		{"0", "0", "0", "a,b", "0", "a,b", "1"}, {"0", "0", "1", "\"\n", "0", "a,b", "0.25"}, {"0", "0", "1", "\"\n", "1", "\"\n", "0.75"},
		{"1", "0", "0", "a,b", "0", "a,b", "1"}, {"1", "0", "1", "\"\n", "0", "a,b", "0.5"}, {"1", "0", "1", "\"\n", "1", "\"\n", "0.5"},
	}, table(t, rec, "attention"))
	lens := table(t, rec, "lens")
	require.Len(t, lens, 1+16)
	require.Equal(t, []string{"0", "attention", "0", "a,b", "1", "20", "-1"}, lens[1])
	require.Equal(t, []string{"1", "feed-forward", "1", "\"\n", "1", "16", "-0.25"}, lens[15])
	require.Equal(t, [][]string{
		{"number", "pass", "layer", "op", "kernel", "bytes", "start_ns", "dur_ns", "gb_per_s"},
		{"1", "1", "0", "attn_q", "mvQ4_1 avx2", "100", "6", "50", "2"}, {"2", "1", "", "lm_head", "mvQ8_0 avx2", "200", "60", "20", "10"},
	}, table(t, rec, "tape"))
	pass := table(t, rec, "pass")
	require.Equal(t, []string{"attn_q", "2", "55", "5", "27", "50", "110", "50"}, pass[1][:8])
	walk := table(t, rec, "request")
	require.Equal(t, []string{"1", "attn_q", "Q", "compute", "workers", "2", "55"}, walk[1][:7])
	require.Len(t, table(t, rec, "timeline"), 5)
}

func TestViewsSayWhatIsMissing(t *testing.T) {
	rec := captures()
	rec.Arrays = nil
	var b bytes.Buffer
	require.ErrorContains(t, ViewCSV(&b, rec, "attention"), "--capture attention")
	require.ErrorContains(t, ViewCSV(&b, rec, "lens"), "--capture lens")
	require.ErrorContains(t, ViewCSV(&b, rec, "smell"), "request, pass, tape, attention, lens, timeline")
}
