package steps

import (
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine"
	"glassbox/engine/testmodel"
)

// The walk of a model in shards has the all-reduce, with its time and bytes; that of a model in one piece has not.
func TestTheWalkOfAShardedModelHasTheAllReduce(t *testing.T) {
	f := testmodel.Tiny(t, testmodel.Spec{})
	c := Glassbox(engine.Sources)
	for _, backend := range backends() {
		for shards, want := range map[int]int{1: 0, 2: 1} {
			rec := answerWith(t, f, c, engine.Options{Backend: backend, Shards: shards}, everything, "Why is the sky blue?", 6)
			require.Empty(t, c.CheckSpans(rec))
			require.Len(t, rec.Walk, stops+want)
			for i := range rec.Walk {
				if w := &rec.Walk[i]; w.ID == "all_reduce" {
					require.Equal(t, 2*2*len(rec.Passes), w.Count, "after attention and feed-forward of two layers")
					require.Positive(t, w.TimeNs)
					require.Contains(t, w.Source.Code.Lines[w.Source.Line-w.Source.Code.First], "runtime.Callers")
					for _, n := range w.Spans {
						require.Positive(t, rec.Spans[n].Bytes)
						require.Positive(t, rec.Spans[n].DurNs)
					}
				}
			}
		}
	}
}
