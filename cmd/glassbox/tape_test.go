package main

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"testing"

	"glassbox/engine"
	"glassbox/engine/graph"
	"glassbox/trace"
	"glassbox/trace/file"
	"glassbox/trace/query"

	"github.com/stretchr/testify/require"
)

// taped runs one short request with its vectors captured and returns the recording and the ids of prompt and answer.
func taped(t *testing.T, backend string, threads int) (*opened, *file.Recording, []int) {
	f := engineFlags{Model: "builtin", Backend: backend, Threads: threads}
	o, err := f.open()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, o.close()) })
	store, err := file.NewStore(file.StoreOptions{Head: o.head()})
	require.NoError(t, err)
	t.Cleanup(store.Close)
	rec, err := store.Start(trace.Now(), trace.CaptureSpec{Values: true})
	require.NoError(t, err)
	r := engine.Request{ID: "tape", Tokens: []int{504, 5900, 314}, MaxTokens: 3, Logprobs: -1, IgnoreEOS: true, Trace: rec}
	s, err := o.engine.Submit(context.Background(), r)
	ids := r.Tokens
	require.NoError(t, err)
	for {
		ev, err := s.Next(context.Background())
		require.NoError(t, err)
		require.NoError(t, ev.Err)
		for _, tok := range ev.Tokens {
			ids = append(ids, tok.ID)
		}
		if ev.Finish != "" {
			break
		}
	}
	rec.End()
	got, err := store.Wait(t.Context(), rec.ID)
	require.NoError(t, err)
	return o, got, ids
}

// vector returns a captured array; the test fails where it is missing.
func vector(t *testing.T, rec *file.Recording, side string, u engine.WeightUse) []float32 {
	name := fmt.Sprintf("tape_%s/%d/%s", side, u.Layer, u.Op)
	require.Contains(t, rec.Arrays, name)
	v, err := rec.Arrays[name].Float32s()
	require.NoError(t, err)
	return v
}

var (
	runsOf32  = regexp.MustCompile(`^m[vm]Q\d_[01] `)
	runsOf256 = regexp.MustCompile(`^m[vm](Q\d_K|K\d+) `)
)

// inCodes is x as a kernel over quantised weights takes it: codes up to top, in runs that share a scale. Codes of 16 bits
// are kept in two signed bytes, of which the lower is never -128.
func inCodes(x []float32, run, top int) []float64 {
	out := make([]float64, len(x))
	for a := 0; a < len(x); a += run {
		var most float32
		for _, v := range x[a:min(a+run, len(x))] {
			most = max(most, float32(math.Abs(float64(v))))
		}
		scale, inverse := most*(float32(1)/float32(top)), float32(top)/max(most, float32(1e-30))
		for i := a; i < min(a+run, len(x)); i++ {
			n := int(math.RoundToEven(float64(x[i] * inverse)))
			if high := (n + 128) >> 8; top > 127 && n-high<<8 == -128 {
				n++
			}
			out[i] = float64(n) * float64(scale)
		}
	}
	return out
}

// Every number that came out of a matrix in the captured pass is worked out again from the file's bytes and the captured
// input: row · input, in 64 bits. It is the number to float rounding: exactly what the page shows.
func TestTapeNumbersAreTheFiles(t *testing.T) {
	for _, backend := range []string{"cpu", "ref"} {
		o, rec, ids := taped(t, backend, 2)
		at, err := rec.Arrays["tape_pass"].Ints()
		require.NoError(t, err)
		kernels := map[string]string{}
		for _, s := range rec.Spans {
			if s.Op != "" && int64(s.Pass) == at[0] {
				kernels[fmt.Sprintf("%d/%s", s.Layer, s.Op)] = s.Kernel
			}
		}
		matrices, rounded := 0, 0
		for _, u := range o.engine.Weights() {
			out := vector(t, rec, "out", u)
			switch {
			case u.Op == trace.OpEmbed:
				row, err := rowOf(u.W, ids[at[1]])
				require.NoError(t, err)
				require.Equal(t, row, out)
			case u.W.Rows == 1:
				requireNorm(t, u.W, vector(t, rec, "in", u), out, float64(o.engine.Config().Eps))
			default:
				matrices++
				rounded += requireMatrix(t, u, vector(t, rec, "in", u), out, kernels[fmt.Sprintf("%d/%s", u.Layer, u.Op)], rec.Device.InputTop)
			}
		}
		require.Equal(t, 30*7+1, matrices)
		if backend == "cpu" {
			require.Greater(t, rounded, matrices, "the rounded input is seen in the numbers, or this test could not tell it from the input as it is")
		} else {
			require.Zero(t, rounded)
		}
	}
}

func requireNorm(t *testing.T, w *graph.Weight, x, out []float32, eps float64) {
	weight, err := rowOf(w, 0)
	require.NoError(t, err)
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	rms := math.Sqrt(sum/float64(len(x)) + eps)
	for i := range out {
		want := float64(x[i]) / rms * float64(weight[i])
		require.InDelta(t, want, out[i], 2e-6*math.Abs(want)+1e-9, "%s[%d]", w.Name, i)
	}
}

// requireMatrix checks some rows, and returns in how many the input as it is would not have given the number.
func requireMatrix(t *testing.T, u engine.WeightUse, x, out []float32, kernel string, top int) (rounded int) {
	require.Len(t, x, u.W.Cols)
	require.Len(t, out, u.W.Rows)
	kernelX := make([]float64, len(x))
	for i, v := range x {
		kernelX[i] = float64(v)
	}
	switch {
	case top > 0 && runsOf32.MatchString(kernel):
		kernelX = inCodes(x, 32, top)
	case top > 0 && runsOf256.MatchString(kernel):
		kernelX = inCodes(x, 256, top)
	}
	for row := 0; row < u.W.Rows; row += max(1, u.W.Rows/37) {
		w, err := rowOf(u.W, row)
		require.NoError(t, err)
		sum, plain, size := 0.0, 0.0, 0.0
		for c, v := range w {
			sum += float64(v) * kernelX[c]
			plain += float64(v) * float64(x[c])
			size += math.Abs(float64(v) * kernelX[c])
		}
		bound := 1e-6*size + 1e-9
		require.InDelta(t, sum, out[row], bound, "%s row %d", u.W.Name, row)
		if math.Abs(plain-float64(out[row])) > bound {
			rounded++
		}
	}
	return rounded
}

// Ops of a pass follow one another: no two overlap, no worker is busy for longer than its op, every weight has its op, and
// what no op covers is measured. (That it is at most 5 % of a pass is held by make bench, on a quiet machine.)
func TestOpsOfAPassDoNotOverlap(t *testing.T) {
	o, rec, _ := taped(t, "cpu", 2)
	require.Equal(t, o.tensors(), rec.Model.Tensors)
	for _, p := range rec.Passes {
		var last *file.Span
		seen := map[string]bool{}
		for i := range rec.Spans {
			s := &rec.Spans[i]
			if s.Op == "" || s.Pass != p.Index {
				continue
			}
			if last != nil {
				require.GreaterOrEqual(t, s.StartNs, last.EndNs(), "%s after %s", s.ID, last.ID)
			}
			last = s
			seen[fmt.Sprintf("%d/%s", s.Layer, s.Op)] = true
			require.NotEmpty(t, busyOf(s))
			for _, ns := range busyOf(s) {
				require.LessOrEqual(t, ns, s.DurNs, s.ID)
			}
		}
		for _, w := range rec.Model.Tensors {
			require.True(t, seen[fmt.Sprintf("%d/%s", w.Layer, w.Op)], "no span for %s", w.Name)
		}
		e, ok := query.ExplainPass(rec, p.Index)
		require.True(t, ok)
		require.Equal(t, p.DurNs, e.OpsNs+e.GapNs)
		require.Positive(t, e.GapNs)
	}
	u := unexplained(rec)
	require.Len(t, u, 2) // the decode passes
	for _, share := range u {
		require.Greater(t, share, 0.0)
		require.Less(t, share, 1.0)
	}
}
