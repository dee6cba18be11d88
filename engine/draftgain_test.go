package engine

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/engine/sample"
	"glassbox/engine/spec"
	"glassbox/engine/testmodel"
	"glassbox/engine/token"
)

// leastDraft is the least part of plain decoding's speed that drafting may leave where no guess is right.
const leastDraft = 0.97

// draftCase is a text whose answer is timed with and without guesses.
type draftCase struct {
	name, prompt string
	sampling     sample.Params
	least        float64 // of drafted to plain speed
}

var draftCases = []draftCase{
	{"code, a pattern repeated", "func add(a, b int) int { return a + b }\nfunc sub(a, b int) int { return a - b }\nfunc mul(a, b int) int { return a * b }\nfunc div(a, b int) int {", sample.Params{}, 1.2},
	{"a paragraph to say again", "The river rises in the hills north of the town. It turns east at the mill, and it meets the sea below the old lighthouse.\nThe same again: The river rises", sample.Params{}, 1.2},
	{"a list to go on with", "1. apples\n2. pears\n3. plums\n4. cherries\n5. grapes\n6.", sample.Params{}, leastDraft},
	{"a story, drawn at temperature 1", "Once upon a time", sample.Params{Temperature: 1}, leastDraft},
}

// BenchmarkDraft prints what guessing ahead gains and loses: by n-grams on texts that repeat themselves and on one that does
// not. Plain and drafted answers take turns on one engine and must be the same. make bench runs it.
func BenchmarkDraft(b *testing.B) {
	const rounds, answer = 9, 128
	e, err := Open(testmodel.File(b), Options{Threads: 2, Draft: spec.Ngram})
	require.NoError(b, err)
	defer e.Close()
	for range b.N {
		for _, c := range draftCases {
			draftGain(b, e, "n-grams", c, rounds, answer)
		}
	}
}

// draftGain times pairs of answers and holds the median of their ratios to the case's bound.
func draftGain(b *testing.B, e *Engine, how string, c draftCase, rounds, answer int) {
	toks := e.tok.Encode(c.prompt, token.Options{})
	one := func(draft string, seed int) (float64, []int) {
		r := Request{Tokens: toks, MaxTokens: answer, Sampling: c.sampling, Logprobs: -1, IgnoreEOS: true, Draft: draft}
		r.Sampling.Seed = uint64(seed)
		s, err := e.Submit(context.Background(), r)
		require.NoError(b, err)
		var first time.Time
		var got []int
		for {
			ev, err := s.Next(context.Background())
			require.NoError(b, err)
			require.NoError(b, ev.Err)
			if ev.Finish != "" {
				return float64(len(got)-1) / time.Since(first).Seconds(), got
			}
			if first.IsZero() {
				first = time.Now()
			}
			for _, t := range ev.Tokens {
				got = append(got, t.ID)
			}
		}
	}
	var plain, drafted, gain []float64
	one("", 99) // so that what a pass takes is known
	before := e.Stats()
	for i := range rounds {
		var speed [2]float64
		var said [2][]int
		for turn := range 2 {
			with := (i + turn) % 2
			speed[with], said[with] = one([]string{spec.Off, ""}[with], i)
		}
		require.Equal(b, said[0], said[1], "%s: guessing changed the answer", c.name)
		plain, drafted, gain = append(plain, speed[0]), append(drafted, speed[1]), append(gain, speed[1]/speed[0])
	}
	st := e.Stats()
	n, ok := st.Drafted-before.Drafted, st.Accepted-before.Accepted
	per := float64(rounds*answer) / float64(max(int64(rounds*answer)-ok, 1))
	g := quantile(gain, .5)
	b.Logf("%s, %s: plain %.0f, drafted %.0f tokens/s, gain %.2f (%.2f to %.2f in %d pairs); %d of %d guesses accepted, %.2f tokens a pass", how, c.name,
		quantile(plain, .5), quantile(drafted, .5), g, slices.Min(gain), slices.Max(gain), rounds, ok, n, per)
	if g < c.least {
		b.Errorf("%s, %s: wanted %.2f times plain decoding or more, found %.2f", how, c.name, c.least, g)
	}
}
