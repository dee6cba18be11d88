package engine

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/capture"
	"glassbox/engine/spec"
	"glassbox/engine/testmodel"
	"glassbox/engine/tp"
	"glassbox/trace"
)

// A model in shards serves as in one piece: many requests at once, shared pages, pages taken away, guesses.
func TestAnswersAreTheSameInShards(t *testing.T) {
	f := testmodel.Tiny(t, varying)
	one := open(t, f, Options{Slots: 1, Backend: "ref"})
	var want []result
	for _, r := range repetitive()[:7] {
		want = append(want, ask(t, one, r))
	}
	for name, o := range map[string]Options{"together": {Slots: 12, Budget: 48}, "ring, few pages": {Slots: 4, Budget: 16, KVTokens: 208, AllReduce: tp.Ring},
		"guesses": {Slots: 4, Draft: spec.Ngram, DraftAlways: true}} {
		o.Shards, o.Backend = 2, "ref" // whose sums are near enough to exact that no draw changes
		e := open(t, f, o)
		var streams []*Stream
		for _, r := range repetitive()[:7] {
			s, err := e.Submit(context.Background(), r)
			require.NoError(t, err)
			streams = append(streams, s)
		}
		for i, s := range streams {
			got := read(t, s)
			require.Equal(t, want[i].tokens, got.tokens, "%s: request %d", name, i)
			require.Equal(t, want[i].text, got.text)
		}
		settle(t, e)
	}
}

func TestWhatLooksIntoPassesIsRefusedInShards(t *testing.T) {
	e := tiny(t, Options{Shards: 2})
	require.Len(t, e.Shards(), 2)
	require.Equal(t, tp.Range{From: 48, To: 96}, e.Shards()[1].FFN)
	var cut *ShardError
	part, err := capture.ParseAblate([]string{"L0.H1"}, 2, 4)
	require.NoError(t, err)
	for field, r := range map[string]Request{
		"glassbox.ablate":  {Ablate: part},
		"glassbox.capture": {Trace: trace.NewRecorder("x", 0, trace.CaptureSpec{Lens: true})},
	} {
		r.Tokens, r.MaxTokens = ids("hello"), 2
		_, err := e.Submit(context.Background(), r)
		require.ErrorAs(t, err, &cut)
		require.Equal(t, field, cut.Field)
	}
	_, err = Open(testmodel.Tiny(t, testmodel.Spec{}), Options{Shards: 3})
	require.ErrorContains(t, err, "a divisor of this model's 2 KV heads, found 3")
	_, err = Open(testmodel.Tiny(t, testmodel.Spec{}), Options{Shards: 2, AllReduce: "tree"})
	require.ErrorContains(t, err, "wanted direct or ring")
}
