package engine

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/trace"
)

// A recording names every word of its lens, so that nobody needs the model's file to read it.
func TestCapturedWordsHaveTheirTexts(t *testing.T) {
	e := tiny(t, Options{Slots: 1})
	rec := trace.NewRecorder("r", trace.Now(), trace.CaptureSpec{Lens: true})
	require.Equal(t, "length", ask(t, e, Request{Tokens: ids("some prompt"), MaxTokens: 4, Logprobs: -1, IgnoreEOS: true, Trace: rec}).finish)
	arrays := rec.TakeArrays()
	at := slices.IndexFunc(arrays, func(a trace.Array) bool { return a.Name == "lens_words" })
	require.GreaterOrEqual(t, at, 0)
	named := arrays[at].Data.([]int32)
	require.True(t, slices.IsSorted(named))
	require.Len(t, slices.Compact(slices.Clone(named)), len(named))
	require.Equal(t, []int{len(named)}, arrays[at].Shape)
	require.Len(t, arrays[at].Names, len(named))
	seen := 0
	for _, a := range arrays {
		if !slices.Contains(wordArrays, a.Name) {
			continue
		}
		for _, id := range a.Data.([]int32) {
			k, ok := slices.BinarySearch(named, id)
			require.True(t, ok, "%s: id %d has no text", a.Name, id)
			require.Equal(t, wordText(e.tok, int(id)), arrays[at].Names[k])
			seen++
		}
	}
	require.Positive(t, seen)
	require.Nil(t, words([]trace.Array{{Name: "attention", Data: []float32{1}}}, e.tok))
}
