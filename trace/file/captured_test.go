package file

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/trace"
)

func TestCapturedArraysAreInTheRecording(t *testing.T) {
	out := filepath.Join(t.TempDir(), "x.gbx")
	r := trace.NewRecorder("x", trace.Now(), trace.CaptureSpec{Lens: true})
	c, err := Collect(r, Options{Out: out})
	require.NoError(t, err)
	words, shares := []int32{7, -1, 1 << 30}, []float32{0.5, -1e-30, 3e38, 0, 1, 2}
	r.Attach(trace.Array{Name: "lens_ids", Shape: []int{3}, Axes: []string{"rank"}, Meaning: "words", Data: words})
	r.Attach(
		trace.Array{Name: "attr", Shape: []int{2, 3}, Axes: []string{"component", "output_token"}, Names: []string{"embed", "L0.ffn"}, Meaning: "shares", Data: shares},
		trace.Array{Name: "tape_out/-1/embed", Shape: []int{0}, Axes: []string{"width"}, Meaning: "nothing", Data: []float32{}})
	r.Update(func(f *trace.Facts) { f.CaptureNs = 123 })
	r.End()
	_, err = c.Wait()
	require.NoError(t, err)
	rec, err := Read(out)
	require.NoError(t, err)
	require.Len(t, rec.Arrays, 3)
	require.EqualValues(t, 123, rec.Request.CaptureNs)
	a := rec.Arrays["attr"]
	require.Equal(t, []any{[]int{2, 3}, "f4", []string{"embed", "L0.ffn"}, "shares"}, []any{a.Shape, a.DType, a.AttrNames, a.Meaning})
	got, err := a.Float32s()
	require.NoError(t, err)
	require.Equal(t, shares, got)
	ids, err := rec.Arrays["lens_ids"].Ints()
	require.NoError(t, err)
	require.Equal(t, []int64{7, -1, 1 << 30}, ids)
	require.Empty(t, r.TakeArrays(), "they are handed over once")
}

func TestACapturedArrayThatCannotBeKeptIsSaidAndCostsNoOther(t *testing.T) {
	out := filepath.Join(t.TempDir(), "x.gbx")
	r := trace.NewRecorder("x", trace.Now(), trace.CaptureSpec{Logits: true})
	c, err := Collect(r, Options{Out: out})
	require.NoError(t, err)
	r.Attach(trace.Array{Name: "logits", Shape: []int{2}, Axes: []string{"vocab"}, Data: []float32{1, 2}},
		trace.Array{Name: "short", Shape: []int{3}, Axes: []string{"vocab"}, Data: []float32{1, 2}},
		trace.Array{Name: "wide", Shape: []int{1}, Axes: []string{"vocab"}, Data: []float64{1}})
	r.End()
	rec, err := c.Wait()
	require.NoError(t, err)
	require.Contains(t, rec.Arrays, "logits")
	require.Len(t, rec.Arrays, 1)
	require.True(t, rec.Partial)
	require.Len(t, rec.Missing, 2)
	require.Contains(t, rec.Missing[0], `arrays["short"]: shape [3] of f4 wants 12 bytes, found 8`)
	require.Contains(t, rec.Missing[1], `arrays["wide"]`)
}

func TestTheTimeOfCapturesIsTold(t *testing.T) {
	r := trace.NewRecorder("x", 0, trace.CaptureSpec{Attention: true})
	b := NewBuilder(r, Head{})
	b.Append(&trace.Batch{Passes: []*trace.PassOps{{Pass: trace.Pass{Kind: trace.Decode, Start: 10, Dur: 30, Capture: 12}}}})
	require.Equal(t, []Pass{{Kind: "decode", StartNs: 10, DurNs: 30, CaptureNs: 12}}, b.Finish().Passes)
}
