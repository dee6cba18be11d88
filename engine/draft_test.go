package engine

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/gguf"
	"glassbox/engine/sample"
	"glassbox/engine/spec"
	"glassbox/engine/tensor"
	"glassbox/engine/testmodel"
	"glassbox/engine/token"
	"glassbox/trace"
)

// varied is a tiny model with a head of its own: with the embedding as its head it says its last token again and again.
func varied(t *testing.T, o Options) *Engine {
	return open(t, testmodel.Tiny(t, varying), o)
}

var varying = testmodel.Spec{Context: 200, Untied: true}

// other is a smaller model with the same vocabulary that thinks much the same: half the layers.
func other(t *testing.T) *gguf.File {
	s := varying
	s.Layers = 1
	return testmodel.Tiny(t, s)
}

// repetitive requests end in text that was there before, and are drawn in every way.
func repetitive() []Request {
	rs := requests()
	for i := range rs {
		rs[i].Tokens = append(rs[i].Tokens, ids(strings.Repeat("again and ", 2+i%3))...)
		rs[i].MaxTokens = min(rs[i].MaxTokens+20, 200-len(rs[i].Tokens))
		rs[i].Logprobs = i % 4
		if i%4 == 3 {
			rs[i].Sampling.PresencePenalty, rs[i].Sampling.LogitBias = 0.7, map[int32]float32{65: 3}
		}
		if i%5 == 4 {
			rs[i].Stop = []string{"a", "\n"}
		}
	}
	return rs
}

func TestAnswersAreTheSameWithAndWithoutDrafts(t *testing.T) {
	plain := varied(t, Options{Slots: 1})
	var want []result
	for _, r := range repetitive() {
		want = append(want, ask(t, plain, r))
	}
	rejected := int64(0)
	for name, o := range map[string]Options{"alone": {Slots: 1}, "together": {Slots: 12, Budget: 48}, "few pages": {Slots: 4, Budget: 16, KVTokens: 208},
		"one at a time": {Slots: 2, Drafts: 1}, "small passes": {Slots: 3, Budget: 5, Drafts: 16},
		"a model alone": {Slots: 1, DraftFile: other(t)}, "a model": {Slots: 12, Budget: 48, DraftFile: other(t)}, "a model, few pages": {Slots: 4, Budget: 16, KVTokens: 208, DraftFile: other(t)},
		"itself": {Slots: 6, DraftFile: testmodel.Tiny(t, varying)}} {
		if o.Draft = spec.Ngram; o.DraftFile != nil {
			o.Draft = spec.ByModel
		}
		o.DraftAlways = true
		e := varied(t, o)
		var streams []*Stream
		for _, r := range repetitive() {
			s, err := e.Submit(context.Background(), r)
			require.NoError(t, err)
			streams = append(streams, s)
		}
		for i, s := range streams {
			require.Equal(t, want[i], read(t, s), "%s: request %d", name, i)
		}
		settle(t, e)
		st := e.Stats()
		require.Positive(t, st.Accepted, name)
		rejected += st.Drafted - st.Accepted
		require.NoError(t, e.Close())
		require.NoError(t, e.sched.Check())
		if e.small != nil {
			require.Zero(t, e.small.Pages(), "%s: the draft model keeps nothing of requests that are over", name)
		}
	}
	require.Positive(t, rejected, "some guesses are wrong")
}

// A recording has the guesses, what became of each, and the passes that checked them; and the numbers fit each other.
func TestTracedRequestShowsItsDrafts(t *testing.T) {
	e := varied(t, Options{DraftAlways: true, Draft: spec.Ngram})
	r := repetitive()[0] // greedy: it repeats itself, not at once
	r.Trace = trace.NewRecorder("x", trace.Now(), trace.CaptureSpec{})
	got := ask(t, e, r)
	r.Trace.End()
	var b trace.Batch
	r.Trace.Drain(&b)
	seen := map[trace.StepID]int{}
	drafted, accepted := int64(0), int64(0)
	for _, s := range b.Spans {
		seen[s.Step]++
		for _, a := range s.Attrs {
			switch {
			case s.Step == trace.StepVerify && a.Key == "drafted":
				drafted += a.Value.(int64)
			case s.Step == trace.StepVerify && a.Key == "accepted":
				accepted += a.Value.(int64)
			}
		}
	}
	st := e.Stats()
	require.Equal(t, st.Drafted, drafted)
	require.Equal(t, st.Accepted, accepted)
	require.EqualValues(t, accepted, seen[trace.StepAccept])
	require.Positive(t, seen[trace.StepReject])
	require.EqualValues(t, st.Drafts, seen[trace.StepVerify])
	verify, tokens := 0, 0
	for i, p := range b.Passes {
		require.Equal(t, i, p.Index)
		if p.Kind == trace.Verify {
			verify++
			tokens += p.Tokens
		}
	}
	require.EqualValues(t, st.Drafts, verify)
	require.EqualValues(t, st.Drafts+drafted, tokens)
	last := 0
	for _, tok := range r.Trace.Facts().OutputToks {
		require.GreaterOrEqual(t, int(tok.Pass), last)
		last = int(tok.Pass)
	}
	require.Less(t, len(b.Passes), len(got.tokens)+len(r.Tokens)/512+1)
}

func TestBuiltinModelAnswersTheSameWithDrafts(t *testing.T) {
	prompts := []string{
		"Repeat after me: the cat sat on the mat, the cat sat on the mat, the cat sat on the mat, the",
		"func add(a, b int) int { return a + b }\nfunc sub(a, b int) int { return",
	}
	var want []result
	passes := [2]int64{}
	for turn, o := range []Options{{Slots: 1, Context: 256}, {Slots: 1, Context: 256, Draft: spec.Ngram, DraftAlways: true}} {
		e := open(t, testmodel.File(t), o)
		for i, p := range prompts {
			toks := e.tok.Encode(p, token.Options{})
			for j, s := range []sample.Params{{}, {Temperature: 0.8, TopP: 0.9, Seed: 7}} {
				got := ask(t, e, Request{Tokens: toks, MaxTokens: 16, Sampling: s, Logprobs: -1, IgnoreEOS: true})
				if turn == 0 {
					want = append(want, got)
					continue
				}
				require.Equal(t, want[2*i+j], got, "%q", p)
			}
		}
		passes[turn] = e.Stats().Passes
		require.NoError(t, e.Close())
	}
	require.Less(t, passes[1], passes[0]*9/10, "drafts save passes")
}

func TestDraftsCanBeSwitchedOff(t *testing.T) {
	e := tiny(t, Options{DraftAlways: true, Draft: spec.Ngram})
	r := repetitive()[0]
	r.Draft = spec.Off
	ask(t, e, r)
	require.Zero(t, e.Stats().Drafted)
	r.Draft = ""
	ask(t, e, r)
	require.Positive(t, e.Stats().Drafted)
}

// letters are the only tokens that the draws below can give: what is said repeats soon, and is guessed.
var letters = []int32{'a', 'b', 'c'}

// chances returns the probabilities of the letters after a text, from the model's own log-probabilities.
func chances(t *testing.T, e *Engine, text string) []float64 {
	p, sum := make([]float64, len(letters)), 0.0
	for i, id := range letters {
		got := ask(t, e, Request{Tokens: ids(text), MaxTokens: 1, Logprobs: 0, IgnoreEOS: true, Draft: spec.Off,
			Sampling: sample.Params{LogitBias: map[int32]float32{id: 1000}}})
		require.Equal(t, []int{int(id)}, got.tokens)
		p[i] = math.Exp(got.logprobs[0])
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// paths returns the probability of every answer of n letters to a prompt.
func paths(t *testing.T, e *Engine, prompt, answer string, n int, p float64, to map[string]float64) {
	if n == 0 {
		to[answer] = p
		return
	}
	for i, c := range chances(t, e, prompt+answer) {
		paths(t, e, prompt, answer+string(rune(letters[i])), n-1, p*c, to)
	}
}

// chiSquare is the statistic of counts against probabilities, and the value that it exceeds by chance once in a million times
// (Wilson and Hilferty 1931).
func chiSquare(counts map[string]int, total int, want map[string]float64) (stat, bound float64) {
	for answer, p := range want {
		d := float64(counts[answer]) - p*float64(total)
		stat += d * d / (p * float64(total))
	}
	free := float64(len(want) - 1)
	const oneInAMillion = 4.753
	return stat, free * math.Pow(1-2/(9*free)+oneInAMillion*math.Sqrt(2/(9*free)), 3)
}

// What is drawn behind guesses is distributed as without: 20,000 answers against the model's own probabilities.
func TestDrawsBehindGuessesFollowTheDistribution(t *testing.T) {
	const draws, tokens, prompt = 20000, 4, "abcabaccbab"
	f := testmodel.Tiny(t, testmodel.Spec{Context: 64, Layers: 1, Width: 32, Heads: 2, KVHeads: 1, FFN: 32})
	for name, o := range map[string]Options{"text": {Draft: spec.Ngram}, "model": {Draft: spec.ByModel, DraftFile: testmodel.Tiny(t, testmodel.Spec{Context: 64, Layers: 1, Width: 32, Heads: 2, KVHeads: 1, FFN: 32, Type: tensor.Q4_0})}} {
		o.Slots, o.Queue, o.Threads, o.Drafts, o.DraftAlways = 64, 1024, 1, 4, true
		t.Run(name, func(t *testing.T) { distribution(t, open(t, f, o), draws, tokens, prompt) })
	}
}

func distribution(t *testing.T, e *Engine, draws, tokens int, prompt string) {
	want := map[string]float64{}
	paths(t, e, prompt, "", tokens, 1, want)
	require.Len(t, want, 81)
	bias := map[int32]float32{}
	for _, id := range letters {
		bias[id] = 1000
	}
	counts := map[string]int{}
	var streams []*Stream
	for seed := range draws {
		s, err := e.Submit(context.Background(), Request{Tokens: ids(prompt), MaxTokens: tokens, Logprobs: -1, IgnoreEOS: true,
			Sampling: sample.Params{Temperature: 1, LogitBias: bias, Seed: uint64(seed)}})
		require.NoError(t, err)
		if streams = append(streams, s); len(streams) == 500 {
			for _, s := range streams {
				counts[read(t, s).text]++
			}
			streams = streams[:0]
		}
	}
	st := e.Stats()
	require.Greater(t, st.Drafted, int64(draws), "most answers have guesses")
	require.Greater(t, st.Accepted, int64(draws)/10)
	require.Greater(t, st.Drafted-st.Accepted, int64(draws)/10)
	stat, bound := chiSquare(counts, draws, want)
	require.Less(t, stat, bound)
	// The test can tell: one answer in a hundred taken as guessed, though it was not drawn, is too many.
	moved := draws / 100
	counts["cabc"] += moved
	stat, _ = chiSquare(counts, draws+moved, want)
	require.Greater(t, stat, bound)
}

func TestAModelGuessesItself(t *testing.T) {
	e := varied(t, Options{DraftAlways: true, DraftFile: testmodel.Tiny(t, varying), Draft: spec.ByModel})
	for seed := range uint64(8) {
		ask(t, e, Request{Tokens: ids("hello"), MaxTokens: 50, Logprobs: -1, IgnoreEOS: true, Sampling: sample.Params{Temperature: float64(seed) / 4, TopP: 0.9, Seed: seed}})
	}
	st := e.Stats()
	require.Positive(t, st.Drafted)
	require.Equal(t, st.Drafted, st.Accepted, "it has the same logits, and draws with the same random numbers")
	require.Less(t, st.Passes, st.OutputTokens/4)
}

func TestDraftModelsWithAnotherVocabularyAreRefused(t *testing.T) {
	for name, f := range map[string]*gguf.File{"other tokens": testmodel.File(t), "no model": nil} {
		_, err := Open(testmodel.Tiny(t, testmodel.Spec{}), Options{Draft: spec.ByModel, DraftFile: f})
		require.Error(t, err, name)
	}
	_, err := Open(testmodel.Tiny(t, testmodel.Spec{}), Options{Draft: spec.ByModel, DraftFile: testmodel.File(t)})
	require.ErrorContains(t, err, "same vocabulary, of 288 tokens, found one of 49152")
}
