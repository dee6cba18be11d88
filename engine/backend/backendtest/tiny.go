package backendtest

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/backend"
	"glassbox/engine/golden"
	"glassbox/engine/testmodel"
	"glassbox/trace"
)

// Near is how near a backend is to transformers on one tiny model, over all positions.
type Near struct {
	MaxAbs float64 // of a logit
	Cosine float64 // of the logits of a position, the least
	Same   int     // positions with the same best word
}

// Tiny runs each tiny model of the golden data, checks that every op of every layer is timed, and returns the distances.
func Tiny(t *testing.T, open backend.Opener, o backend.Options) map[string]Near {
	models, err := golden.LoadTiny()
	require.NoError(t, err)
	o.MaxTokens, o.MaxOut, o.MaxScores, o.Pages = 64, 64, 1<<16, 8
	out := map[string]Near{}
	for _, g := range models {
		m := testmodel.OpenReference(t, g)
		be, err := open(m.Graph, o)
		require.NoError(t, err)
		var ops trace.PassOps
		before := trace.Now()
		require.NoError(t, be.Run(Batch(Part{Seq: Pages(0, len(g.IDs)), IDs: g.IDs, All: true}), &ops))
		Times(t, m.Graph, &ops, before, trace.Now())
		near := Near{Cosine: 1}
		for i, want := range g.Logits {
			got := be.Logits(i)
			near.MaxAbs = max(near.MaxAbs, golden.MaxAbs(want, got))
			near.Cosine = min(near.Cosine, cosine(want, got))
			if best(want) == best(got) {
				near.Same++
			}
		}
		require.NoError(t, be.Close())
		out[g.Name] = near
		t.Logf("%-7s against transformers: max |Δlogit| %.2g, least cosine %.7f, same best word %d of %d", g.Name, near.MaxAbs, near.Cosine, near.Same, len(g.IDs))
	}
	require.Len(t, out, 5)
	return out
}

// TinyWitness compares a backend with llama.cpp on the same files: the log-probabilities of its five leading words.
func TinyWitness(t *testing.T, open backend.Opener, o backend.Options) map[string]float64 {
	models, err := golden.LoadTiny()
	require.NoError(t, err)
	out := map[string]float64{}
	for _, g := range models {
		m := testmodel.OpenReference(t, g)
		rows := Rows(t, m, open, o, Batch(Part{Seq: Pages(0, len(g.IDs)), IDs: g.IDs, All: true}))
		worst := 0.0
		for i, row := range rows {
			lse := logSumExp(row)
			for j, id := range g.Witness.TopIDs[i] {
				worst = max(worst, math.Abs(float64(row[id])-lse-float64(g.Witness.TopLogprobs[i][j])))
			}
		}
		require.Len(t, rows, len(g.Witness.TopIDs))
		out[g.Name] = worst
		t.Logf("%-7s against llama.cpp: max |Δlogprob| %.2g of its five leading words at %d positions", g.Name, worst, len(rows))
	}
	return out
}

func logSumExp(x []float32) float64 {
	most, sum := float64(slices.Max(x)), 0.0
	for _, v := range x {
		sum += math.Exp(float64(v) - most)
	}
	return most + math.Log(sum)
}

func best(x []float32) int { return slices.Index(x, slices.Max(x)) }

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

// TinySameBits holds each tiny model to SameBits: windows and norms, too, do not depend on chunks and neighbours.
func TinySameBits(t *testing.T, open backend.Opener, o backend.Options) {
	models, err := golden.LoadTiny()
	require.NoError(t, err)
	for _, g := range models {
		SameBits(t, testmodel.OpenReference(t, g), open, o, g.IDs[:37])
	}
}
