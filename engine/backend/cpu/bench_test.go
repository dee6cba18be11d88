package cpu

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/engine/backend"
	"glassbox/engine/backend/cpu/kern"
	"glassbox/engine/kv"
	"glassbox/engine/testmodel"
	"glassbox/trace"
)

// prompt is a batch of n tokens of one sequence from position from on, with the last row's logits wanted.
func prompt(from, n int) *backend.Batch {
	b := &backend.Batch{Out: []int32{int32(n - 1)}}
	for i := range n {
		b.Tokens = append(b.Tokens, int32((from+i)*37%4000+5))
		b.Pos = append(b.Pos, int32(from+i))
		b.Seq = append(b.Seq, 0)
	}
	var s backend.Seq
	for p := range kv.PagesFor(from + n) {
		s.Pages = append(s.Pages, kv.Page(p))
	}
	b.Seqs = []backend.Seq{s}
	return b
}

func benchOptions(features string, threads int) backend.Options {
	return backend.Options{Threads: threads, MaxTokens: 512, MaxOut: 8, MaxScores: 1 << 24, Pages: 256, Features: features}
}

// BenchmarkBuiltin measures the whole graph of the built-in model: one token after 128 and after 1024, and prompts of 512.
func BenchmarkBuiltin(b *testing.B) {
	m := testmodel.Builtin(b)
	for _, v := range []string{"amx-bf16", "avx512-vnni", "avx2"} {
		for _, threads := range []int{1, 2} {
			if !slices.Contains(kern.Features(), v) {
				continue
			}
			be, err := Open(m.Graph, benchOptions(v, threads))
			require.NoError(b, err)
			run := func(name string, batch *backend.Batch, ops *trace.PassOps) {
				b.Run(fmt.Sprintf("%s/threads=%d/%s", v, threads, name), func(b *testing.B) {
					best := time.Hour
					for b.Loop() {
						start := time.Now()
						require.NoError(b, be.Run(batch, ops))
						best = min(best, time.Since(start))
					}
					b.ReportMetric(float64(len(batch.Tokens)*b.N)/b.Elapsed().Seconds(), "tok/s")
					b.ReportMetric(float64(len(batch.Tokens))/best.Seconds(), "best-tok/s")
				})
			}
			run("decode at 128", prompt(128, 1), nil)
			run("decode at 128 timed", prompt(128, 1), new(trace.PassOps))
			run("decode at 1024", prompt(1024, 1), nil)
			run("prefill 512", prompt(0, 512), nil)
			require.NoError(b, be.Close())
		}
	}
}

// BenchmarkOpen measures from the mapped file to the first pass.
func BenchmarkOpen(b *testing.B) {
	m := testmodel.Builtin(b)
	for b.Loop() {
		be, err := Open(m.Graph, benchOptions("", 2))
		require.NoError(b, err)
		require.NoError(b, be.Close())
	}
}
