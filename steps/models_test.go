package steps

import (
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine"
	"glassbox/engine/gguf"
	"glassbox/engine/golden"
	"glassbox/engine/testmodel"
	"glassbox/trace/file"
)

// tiny returns the file of a tiny model of each architecture.
func tiny(t *testing.T) map[string]*gguf.File {
	models, err := golden.LoadTiny()
	require.NoError(t, err)
	all := map[string]*gguf.File{}
	for _, g := range models {
		f, err := gguf.Parse(g.Name+".gguf", testmodel.Reference(t, g))
		require.NoError(t, err)
		all[g.Arch] = f
	}
	return all
}

// The walk of each architecture has its ops and no others: each is reached, from a line of its own file.
func TestTheWalkOfEveryArchitectureHasItsOps(t *testing.T) {
	c := Glassbox(engine.Sources)
	for arch, f := range tiny(t) {
		for _, backend := range backends() {
			rec := answerOf(t, f, c, backend, everything)
			require.Equal(t, arch, rec.Model.Architecture)
			require.Empty(t, c.CheckSpans(rec), arch)
			for _, w := range rec.Walk {
				if w.Role == "" {
					continue
				}
				require.Positive(t, w.Count, "%s has no %s: its page says so in the key models", arch, w.ID)
				require.Equal(t, "engine/model/"+arch+".go", w.Source.Path, w.ID)
				require.Contains(t, w.Source.Code.Lines[w.Source.Line-w.Source.Code.First], "trace.Op", w.ID)
			}
		}
	}
	for arch, want := range map[string]int{"": stops, "llama": stops, "qwen2": stops, "qwen3": stops + 2, "gemma3": stops + 4} {
		require.Len(t, c.Walk(arch), want, arch)
		require.Len(t, c.Describe(Values{Architecture: arch}), want, arch)
	}
}

// An op's span must come from the functions of its own architecture, and be of an op that the architecture has.
func TestSpansOfAnotherArchitectureAreNotBelieved(t *testing.T) {
	c := Glassbox(engine.Sources)
	rec := answerOf(t, tiny(t)["qwen3"], c, "ref", everything)
	require.Empty(t, c.CheckSpans(rec))
	rec.Model.Architecture = "qwen2"
	bad := c.CheckSpans(rec)
	require.NotEmpty(t, bad)
	require.ErrorContains(t, bad[0], "-attn_q_norm.md says that qwen2 has no such op, only [qwen3 gemma3]")
	require.ErrorContains(t, bad[len(bad)-1], "a span came from glassbox/engine/model.qwen3")
	rec.Model.Architecture = "qwen3"
	rec.RawSources["attn_q"] = []file.SourceRef{{Func: "glassbox/engine/model.gemma3Attention", File: "engine/model/gemma3.go", Line: 120}}
	bad = c.CheckSpans(rec)
	require.Len(t, bad, 1)
	require.ErrorContains(t, bad[0], "-attn_q.md: a span came from glassbox/engine/model.gemma3Attention")
}

func TestSymbolsOfEveryArchitectureExist(t *testing.T) {
	c := Glassbox(ours)
	for arch := range tiny(t) {
		for _, s := range c.Walk(arch) {
			symbol := Values{Architecture: arch}.symbol(s.Symbol)
			_, ok := c.sources.Find(symbol, "", 0)
			require.True(t, ok, "%s:%d: symbol %s is not in the tree", s.File, s.lines["symbol"], symbol)
		}
	}
}
