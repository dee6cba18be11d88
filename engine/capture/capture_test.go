package capture_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine"
	"glassbox/engine/capture"
	"glassbox/engine/gguf"
	"glassbox/engine/golden"
	"glassbox/engine/sample"
	"glassbox/engine/tensor"
	"glassbox/engine/testmodel"
	"glassbox/trace"
)

var backends = []string{"ref", "cpu"}

// prompt is n ids of the tiny vocabulary.
func prompt(n, seed int) []int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = (i*37 + seed*11 + i*i%7) % 256
	}
	return ids
}

func tiny(t testing.TB, s testmodel.Spec) *gguf.File {
	s.Context = 200
	return testmodel.Tiny(t, s)
}

// deep is a tiny model with more layers, and heads that share keys by three.
var deep = testmodel.Spec{Layers: 4, Width: 96, Heads: 6, KVHeads: 2, FFN: 64}

// What is captured does not change the answer, nor depend on how the prompt is cut, on who else runs, or on pages that
// were taken away in between.
func TestCapturesAreTheSameHoweverTheRequestRuns(t *testing.T) {
	for _, backend := range backends {
		f := tiny(t, deep)
		plain := ask(t, open(t, f, engine.Options{Backend: backend}), request(prompt(50, 1), 12, trace.CaptureSpec{}, capture.Ablation{}))
		want := ask(t, open(t, f, engine.Options{Backend: backend}), request(prompt(50, 1), 12, everything, capture.Ablation{}))
		require.Equal(t, plain.lps, want.lps, "captures change nothing")
		for name, o := range map[string]engine.Options{"in chunks": {Budget: 7}, "few pages": {Slots: 4, Budget: 16, KVTokens: 208}} {
			o.Backend = backend
			e := open(t, f, o)
			var others []*engine.Stream
			for i := range 5 {
				s, err := e.Submit(context.Background(), request(prompt(40+i, 5+i), 30, trace.CaptureSpec{}, capture.Ablation{}))
				require.NoError(t, err)
				others = append(others, s)
			}
			got := ask(t, e, request(prompt(50, 1), 12, everything, capture.Ablation{}))
			for _, s := range others {
				require.Len(t, read(t, s, nil).tokens, 30)
			}
			require.Equal(t, want.lps, got.lps, "%s, %s", backend, name)
			require.Len(t, got.arrays, len(want.arrays))
			for key, a := range want.arrays {
				if key != "tape_pass" && (name != "few pages" || key[:4] != "tape") {
					require.Equal(t, a.Data, got.arrays[key].Data, "%s, %s: %s", backend, name, key)
				}
			}
		}
	}
}

func TestAttentionIsCausalAndSumsToOne(t *testing.T) {
	for _, backend := range backends {
		e := open(t, tiny(t, deep), engine.Options{Backend: backend})
		a := ask(t, e, request(prompt(30, 2), 9, trace.CaptureSpec{Attention: true}, capture.Ablation{}))
		require.Equal(t, []string{"layer", "head", "query", "key"}, a.arrays["attention"].Axes)
		const n = 30 + 9 - 1
		att := a.f4(t, "attention", 4, 6, n, n)
		for i := 0; i < len(att); i += n {
			sum, q := 0.0, i/n%n
			for k, v := range att[i : i+n] {
				require.True(t, v >= 0 && (k <= q || v == 0))
				sum += float64(v)
			}
			require.InDelta(t, 1, sum, 1e-4)
		}
		// Heads of one group read the same keys with queries of their own: no two maps are the same.
		for h := 1; h < 6; h++ {
			require.NotEqual(t, att[:n*n], att[h*n*n:(h+1)*n*n])
		}
	}
}

// The last row of the lens is what the engine said: the same words, and log-probabilities to the bit.
func TestTheLastRowOfTheLensIsTheOutput(t *testing.T) {
	for _, backend := range backends {
		e := open(t, tiny(t, deep), engine.Options{Backend: backend})
		const p, most = 20, 14
		a := ask(t, e, request(prompt(p, 3), most, everything, capture.Ablation{}))
		const n = p + most - 1
		ids, lps := a.i4(t, "lens_ids", 4, n, 5), a.f4(t, "lens_logprob", 4, n, 5)
		rank, entropy := a.i4(t, "lens_rank", 4, n), a.f4(t, "lens_entropy", 4, n)
		for i, said := range a.lps {
			at := 3*n + p - 1 + i
			require.Len(t, said.Top, 5)
			for r, top := range said.Top {
				require.Equal(t, top.ID, ids[5*at+r])
				require.Equal(t, float32(top.Logprob), lps[5*at+r], "%s: token %d, rank %d", backend, i, r)
			}
			require.EqualValues(t, 1, rank[at])
		}
		for i := range rank {
			require.Positive(t, rank[i])
			require.True(t, entropy[i] >= 0 && float64(entropy[i]) <= math.Log(testmodel.Vocab))
			if ids[5*i] == ids[5*(3*n+i%n)] {
				require.EqualValues(t, 1, rank[i])
			}
		}
		logits := a.f4(t, "logits", testmodel.Vocab)
		for r, top := range a.lps[0].Top[1:] {
			require.InDelta(t, top.Logprob-a.lps[0].Top[0].Logprob, logits[top.ID]-logits[a.lps[0].Top[0].ID], 1e-5, r)
		}
		a.i4(t, "lens_mid_ids", 4, n, 5)
		a.f4(t, "lens_mid_logprob", 4, n, 5)
		closeUp(t, a, n, logits)
	}
}

// closeUp checks that the last stage of each output token's close-up is the output, and that its words lead there.
func closeUp(t *testing.T, a *answer, n int, logits []float32) {
	answer := len(a.lps)
	words, stages := a.i4(t, "lens_close_ids", answer, 10), a.f4(t, "lens_close", answer, 5, 10)
	require.Len(t, a.arrays["lens_close"].Names, 5)
	for j, id := range words[:10] {
		require.Equal(t, logits[id], stages[4*10+j])
	}
	for k := range answer {
		words, stages := words[10*k:10*(k+1)], stages[50*k:50*(k+1)]
		for j, id := range words {
			require.True(t, j == 0 || stages[40+j] <= stages[40+j-1])
			if j < len(a.lps[k].Top) {
				require.EqualValues(t, a.lps[k].Top[j].ID, id, "what leads the close-up is what the sampler saw")
				require.InDelta(t, a.lps[k].Top[j].Logprob-a.lps[k].Top[0].Logprob, stages[40+j]-stages[40], 1e-5)
			}
		}
		for s := range 4 {
			require.NotEqual(t, stages[s*10:(s+1)*10], stages[(s+1)*10:(s+2)*10], "a layer writes something")
		}
	}
}

// Embedding, heads and feed-forwards add up to the logit, with parts switched off too.
func TestWritersAddUpToTheLogit(t *testing.T) {
	for backend, near := range map[string]float64{"ref": 1e-3, "cpu": 0.01} {
		scale := map[string]func(float64) float64{"ref": absolute, "cpu": share}[backend]
		for _, file := range map[string]*gguf.File{"floats": tiny(t, deep), "quants": tiny(t, testmodel.Spec{Type: tensor.Q8_0, Layers: 3, Untied: true}), "two layers": tiny(t, testmodel.Spec{})} {
			e := open(t, file, engine.Options{Backend: backend})
			for _, names := range [][]string{nil, {"L0.H1"}, {"L1.attn"}, {"L0.attn=mean", "L1.ffn=mean"}, {"L1"}, {"L0.H2=mean"}} {
				a := ask(t, e, request(prompt(17, 4), 6, trace.CaptureSpec{Lens: true}, off(t, e, names...)))
				addUp(t, a, 6, near, scale, fmt.Sprintf("%s without %v", backend, names))
			}
		}
	}
	set := ask(t, open(t, testmodel.File(t), engine.Options{}), request([]int{504, 6330, 282, 4649, 314}, 5, trace.CaptureSpec{Lens: true}, capture.Ablation{}))
	addUp(t, set, 5, 0.01, share, "the built-in model on cpu")
}

// A word that was drawn need not lead: then the best word beside it does.
func TestWritersOfADrawnWord(t *testing.T) {
	e := open(t, tiny(t, deep), engine.Options{Backend: "ref"})
	r := request(prompt(17, 4), 12, trace.CaptureSpec{Lens: true}, capture.Ablation{})
	r.Sampling = sample.Params{Temperature: 30, Seed: 5}
	a := ask(t, e, r)
	n := len(a.arrays["attr"].Names)
	ids, top, attr, second := a.i4(t, "attr_ids", 2, 12), a.i4(t, "attr_top_ids", 12, 5), a.f4(t, "attr", n, 12), a.f4(t, "attr_second", n, 12)
	drawn := 0
	for i := range 12 {
		require.EqualValues(t, a.tokens[i], ids[i])
		said, beside := 0.0, 0.0
		for c := range n {
			said, beside = said+float64(attr[12*c+i]), beside+float64(second[12*c+i])
		}
		logits := a.f4(t, "attr_logit", 2, 12)
		require.InDelta(t, logits[i], said, 1e-3)
		require.InDelta(t, logits[12+i], beside, 1e-3)
		if ids[i] != top[5*i] {
			drawn++
			require.Equal(t, top[5*i], ids[12+i])
		} else {
			require.Equal(t, top[5*i+1], ids[12+i])
		}
	}
	require.Positive(t, drawn)
}

// The shares add up in every architecture: with branches that are normed before they are added, and with a scaled embedding.
func TestWritersAddUpInEveryArchitecture(t *testing.T) {
	models, err := golden.LoadTiny()
	require.NoError(t, err)
	require.NotEmpty(t, models)
	for _, g := range models {
		f, err := gguf.Parse(g.Name+".gguf", testmodel.Reference(t, g))
		require.NoError(t, err)
		for _, names := range [][]string{nil, {"L0.H1"}, {"L1.attn"}, {"L0.attn=mean", "L1.ffn=mean"}} {
			for backend, near := range map[string]float64{"ref": 1e-3, "cpu": 0.01} {
				e := open(t, f, engine.Options{Backend: backend})
				a := ask(t, e, request(wide(g.IDs[:9]), 4, trace.CaptureSpec{Lens: true}, off(t, e, names...)))
				addUp(t, a, 4, near, absolute, fmt.Sprintf("%s on %s without %v", g.Name, backend, names))
			}
		}
	}
}

// absolute and share say what a distance from a logit is measured in: 1, or the logit.
func absolute(float64) float64 { return 1 }

func share(logit float64) float64 { return max(1, math.Abs(logit)) }

// addUp checks that columns sum to the engine's logits, for the word that was said, the best beside it, and the five
// leading words, and to their difference for any two of these.
func addUp(t *testing.T, a *answer, tokens int, near float64, scale func(float64) float64, what string) {
	names := a.arrays["attr"].Names
	require.Equal(t, "embed", names[0])
	ids, logits := a.i4(t, "attr_ids", 2, tokens), a.f4(t, "attr_logit", 2, tokens)
	worst := 0.0
	column := func(v []float32, i int) (sum float64) {
		for c := range names {
			sum += float64(v[c*tokens+i])
		}
		return sum
	}
	holds := func(sum, logit float64, name string, i int) {
		off := math.Abs(sum-logit) / scale(logit)
		worst = max(worst, off)
		require.LessOrEqual(t, off, near, "%s: %s of token %d", what, name, i)
	}
	for w, name := range []string{"attr", "attr_second"} {
		v := a.f4(t, name, len(names), tokens)
		for i := range tokens {
			holds(column(v, i), float64(logits[w*tokens+i]), name, i)
		}
	}
	top, topIDs, topLogits := a.f4(t, "attr_top", 5, len(names), tokens), a.i4(t, "attr_top_ids", tokens, 5), a.f4(t, "attr_top_logit", tokens, 5)
	rank := func(r int) []float32 { return top[r*len(names)*tokens : (r+1)*len(names)*tokens] }
	for i := range tokens {
		require.EqualValues(t, a.tokens[i], ids[i])
		require.Equal(t, a.lps[i].Top[1].ID, ids[tokens+i])
		for r := range 5 {
			require.Equal(t, a.lps[i].Top[r].ID, topIDs[5*i+r])
			require.InDelta(t, a.lps[i].Top[r].Logprob-a.lps[i].Top[0].Logprob, topLogits[5*i+r]-topLogits[5*i], 1e-5)
			holds(column(rank(r), i), float64(topLogits[5*i+r]), fmt.Sprintf("rank %d", r), i)
			for other := range r {
				holds(column(rank(other), i)-column(rank(r), i), float64(topLogits[5*i+other]-topLogits[5*i+r]), fmt.Sprintf("rank %d against %d", other, r), i)
			}
		}
		for c := range names { // a greedy answer says the first, and has the second beside it
			require.Equal(t, a.arrays["attr"].Data.([]float32)[c*tokens+i], rank(0)[c*tokens+i])
			require.Equal(t, a.arrays["attr_second"].Data.([]float32)[c*tokens+i], rank(1)[c*tokens+i])
		}
	}
	t.Logf("%s: off by %.1e at most", what, worst)
}
