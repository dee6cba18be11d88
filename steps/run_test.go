package steps

import (
	"bytes"
	"context"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine"
	"glassbox/engine/gguf"
	"glassbox/engine/kv"
	"glassbox/engine/sample"
	"glassbox/engine/testmodel"
	"glassbox/engine/token"
	"glassbox/trace"
	"glassbox/trace/file"
)

// What is embedded must be what is in the tree: a folder that the patterns of engine.Sources do not reach fails here.
func TestSourcesInTheBinaryAreThoseOfTheTree(t *testing.T) {
	files := 0
	require.NoError(t, fs.WalkDir(ours, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, "_test.go") || path.Ext(name) != ".go" && path.Ext(name) != ".s" {
			return err
		}
		want, err := fs.ReadFile(ours, name)
		require.NoError(t, err)
		got, err := engine.Sources.ReadFile(name)
		require.NoError(t, err, "engine.Sources lacks a file: add its folder to the patterns")
		require.True(t, bytes.Equal(want, got), "%s: the binary has another text than the tree", name)
		files++
		return nil
	}))
	require.Greater(t, files, 40)
}

func TestPagesOfTheCacheHoldWhatTheTextsSay(t *testing.T) {
	require.Equal(t, kv.PageTokens, pageTokens)
}

// answer runs one traced request through an engine on a tiny model, and returns its recording with the catalogue laid
// over it. HTTP is not part of it: the steps of the http lane before fit_context and after emit are not reached.
func answer(t *testing.T, c *Catalogue, backend string, p sample.Params) *file.Recording {
	return answerOf(t, testmodel.Tiny(t, testmodel.Spec{}), c, backend, p)
}

// answerOf is answer on a model of one's own.
func answerOf(t *testing.T, f *gguf.File, c *Catalogue, backend string, p sample.Params) *file.Recording {
	return answerWith(t, f, c, engine.Options{Backend: backend}, p, "Why is the sky blue, and the evening red?", 20)
}

// answerWith is answerOf with options, a prompt and a length.
func answerWith(t *testing.T, f *gguf.File, c *Catalogue, o engine.Options, p sample.Params, text string, tokens int) *file.Recording {
	o.Threads, o.Budget = 2, 16
	e, err := engine.Open(f, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	m := e.Config()
	rec := trace.NewRecorder("r", trace.Now(), trace.CaptureSpec{})
	col, err := file.Collect(rec, file.Options{
		Head: file.Head{
			Engine: file.Engine{Name: "glassbox"},
			Model: file.Model{Architecture: m.Arch, Layers: m.Layers, Heads: m.Heads, KVHeads: m.KVHeads, Width: m.Width,
				HeadDim: m.HeadDim, FFN: m.FFN, Vocab: m.Vocab},
			Device: file.Device{Kind: e.Device().Kind, Threads: e.Device().Threads},
		},
		Finish: c.Apply,
	})
	require.NoError(t, err)
	prompt := e.Tokenizer().Encode(text, token.Options{Trace: rec.Writer(trace.LaneHTTP)})
	s, err := e.Submit(context.Background(), engine.Request{ID: "r", Tokens: prompt, MaxTokens: tokens, Sampling: p, Logprobs: -1, IgnoreEOS: true, Trace: rec})
	require.NoError(t, err)
	for {
		ev, err := s.Next(context.Background())
		require.NoError(t, err)
		require.NoError(t, ev.Err)
		if ev.Finish != "" {
			break
		}
	}
	require.NoError(t, e.Close())
	rec.End()
	out, err := col.Wait()
	require.NoError(t, err)
	return out
}

// stops is the length of the walk over a model of the plainest architecture: all steps but the ops that only others have.
const stops = 68

// elsewhere are steps that an ordinary request does not come to; the tests of what they belong to have requests that do.
var elsewhere = map[string]bool{"draft": true, "verify": true, "accept": true, "reject": true}

var everything = sample.Params{Temperature: 0.8, TopK: 40, TopP: 0.95, MinP: 0.01, FrequencyPenalty: 0.1, Seed: 1}

func backends() []string { return []string{"ref", "cpu"} }

func TestEverySpanCameFromInsideTheFunctionItsPageNames(t *testing.T) {
	for _, backend := range backends() {
		c := Glassbox(engine.Sources)
		rec := answer(t, c, backend, everything)
		require.Empty(t, c.CheckSpans(rec))
		require.Len(t, rec.Walk, stops)
		for i := range rec.Walk {
			w := &rec.Walk[i]
			if !elsewhere[w.ID] && w.ID != "grammar" && (w.Stage == "compute" || w.Lane == "loop" || w.ID == "submit") {
				require.Positive(t, w.Count, w.ID)
				require.NotEmpty(t, w.In, w.ID)
				require.NotEmpty(t, w.Out, w.ID)
			}
			if w.Count == 0 {
				require.Contains(t, w.Text, "Not reached: ", w.ID)
				require.Zero(t, w.TimeNs)
				continue
			}
			require.NotContains(t, w.Text, "Not reached: ", w.ID)
			require.NotNil(t, w.Source.Code, w.ID)
			lit := w.Source.Code.Lines[w.Source.Line-w.Source.Code.First]
			want := "Begin" // the lit line is the one that begins the span, or puts the op into the graph
			if s := c.Step(w.ID); s.Op != "" {
				want = "b."
			}
			require.Contains(t, lit, want, "%s: %s:%d", w.ID, w.Source.Path, w.Source.Line)
			sum := int64(0)
			for _, n := range w.Spans {
				require.Equal(t, w.ID, rec.Spans[n].Step)
				sum += rec.Spans[n].DurNs
			}
			require.Equal(t, sum, w.TimeNs, w.ID)
		}
	}
}

func TestOpShowsTheModelsLineThenTheBackendsFunction(t *testing.T) {
	for _, backend := range backends() {
		rec := answer(t, Glassbox(engine.Sources), backend, everything)
		for _, w := range rec.Walk {
			if w.Role == "" {
				continue
			}
			require.GreaterOrEqual(t, len(w.Sources), 2, w.ID)
			require.Equal(t, "engine/model/llama.go", w.Source.Path, w.ID)
			require.Contains(t, w.Source.Code.Lines[w.Source.Line-w.Source.Code.First], "trace.Op", w.ID)
			require.Equal(t, "engine/backend/"+backend, path.Dir(w.Sources[1].Path), w.ID)
			require.Contains(t, w.Sources[1].Code.Lines[w.Sources[1].Line-w.Sources[1].Code.First], "func ", w.ID)
		}
	}
}
