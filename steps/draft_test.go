package steps

import (
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine"
	"glassbox/engine/sample"
	"glassbox/engine/spec"
	"glassbox/engine/testmodel"
)

// A request whose text repeats is guessed ahead: its walk has the guess, the check, and what became of it.
func TestTheWalkOfADraftedRequestHasItsSteps(t *testing.T) {
	f := testmodel.Tiny(t, testmodel.Spec{Untied: true})
	for _, backend := range backends() {
		c := Glassbox(engine.Sources)
		o := engine.Options{Backend: backend, Draft: spec.Ngram}
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
		require.Positive(t, rec.Numbers.Drafted)
		require.Positive(t, rec.Numbers.Accepted)
		require.Greater(t, rec.Numbers.TokensPerPass, 1.0)
	}
}
