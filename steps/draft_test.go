package steps

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine"
	"glassbox/engine/sample"
	"glassbox/engine/spec"
	"glassbox/engine/tensor"
	"glassbox/engine/testmodel"
	"glassbox/trace/file"
)

// A request whose text repeats is guessed ahead: its walk has the guess, the check, and what became of it.
func TestTheWalkOfADraftedRequestHasItsSteps(t *testing.T) {
	f := testmodel.Tiny(t, testmodel.Spec{Untied: true})
	for _, backend := range backends() {
		c := Glassbox(engine.Sources)
		o := engine.Options{Backend: backend, Draft: spec.Ngram, DraftAlways: true}
		rec := answerWith(t, f, c, o, sample.Params{}, "one and two and one and two and one and", 120)
		require.Empty(t, c.CheckSpans(rec))
		for _, id := range []string{"draft", "verify", "accept", "reject"} {
			for i := range rec.Walk {
				w := &rec.Walk[i]
				if w.ID != id {
					continue
				}
				require.Positive(t, w.Count, "%s: %s", backend, id)
				require.NotEmpty(t, w.In, id)
				require.NotEmpty(t, w.Out, id)
				require.Contains(t, w.Source.Code.Lines[w.Source.Line-w.Source.Code.First], "Begin", id)
			}
		}
		o.Draft, o.DraftFile = spec.ByModel, testmodel.Tiny(t, testmodel.Spec{Untied: true, Type: tensor.Q8_0})
		rec = answerWith(t, f, c, o, sample.Params{}, "one and two and one and two and one and", 60)
		require.Empty(t, c.CheckSpans(rec), "with a draft model")
		require.True(t, slices.ContainsFunc(rec.Passes, func(p file.Pass) bool { return p.Kind == "draft" && p.DurNs > 0 }))
		require.Positive(t, rec.Numbers.Drafted)
		require.Positive(t, rec.Numbers.Accepted)
		require.Positive(t, rec.Numbers.TokensPerPass)
	}
}
