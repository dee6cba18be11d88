package steps

import (
	"path"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine"
	"glassbox/trace/file"
)

func stepOf(t *testing.T, rec *file.Recording, id string) file.Step {
	for _, w := range rec.Walk {
		if w.ID == id {
			return w
		}
	}
	require.Fail(t, "no step "+id)
	return file.Step{}
}

func TestApplyAddsUpTheSpansOfAStep(t *testing.T) {
	rec := &file.Recording{
		Engine: file.Engine{Name: "glassbox"}, Device: file.Device{Kind: "cpu", Threads: 2},
		Model: file.Model{Layers: 30, Heads: 9, KVHeads: 3, Width: 576, Vocab: 49152, FFN: 1536},
		Spans: []file.Span{
			{Step: "route", DurNs: 5, Attrs: file.Attrs{"in": "a", "out": "b"}},
			{Step: "attn_q", Op: "attn_q", DurNs: 7}, {Step: "attn_q", Op: "attn_q", DurNs: 8},
			{Step: "route", DurNs: 6, Attrs: file.Attrs{"in": "later"}},
			{Step: "draft", DurNs: 100},
		},
	}
	Glassbox(engine.Sources).Apply(rec)
	route := stepOf(t, rec, "route")
	require.Equal(t, []int{0, 3}, route.Spans)
	require.Equal(t, int64(11), route.TimeNs)
	require.Equal(t, 2, route.Count)
	require.Equal(t, []string{"a", "b"}, []string{route.In, route.Out})

	q := stepOf(t, rec, "attn_q")
	require.Equal(t, int64(15), q.TimeNs)
	require.Equal(t, "the normed copy, 576 numbers a token", q.In)
	require.Equal(t, "q, 9 x 64 numbers a token", q.Out, "the head's width follows from model width and heads")
	require.Equal(t, []string{"op", "qkv", "vector", "q"}, []string{q.Role, q.Group, q.Form, q.Label})
	require.Equal(t, "engine/model/llama.go", q.Source.Path)
	require.Len(t, q.Source.Commit, len(commit()))

	require.Equal(t, &file.Hand{Name: "queue", By: "channel"}, stepOf(t, rec, "submit").Hand)
	require.Equal(t, []file.Loop{{Over: "layers", From: "ffn_residual", To: "attn_norm"}, {Over: "tokens", From: "emit", To: "plan_pass"}}, rec.Loops)
}

func TestStepThatWasNotReachedSaysWhy(t *testing.T) {
	c := Glassbox(nil)
	rec := &file.Recording{}
	c.Apply(rec)
	require.Contains(t, stepOf(t, rec, "temperature").Text, "\nNot reached: At temperature 0")
	require.Contains(t, stepOf(t, rec, "route").Text, "\nNot reached: This request did not come here.")
	rec.Request.Error = "the client has gone"
	c.Apply(rec)
	require.Contains(t, stepOf(t, rec, "route").Text, "\nNot reached: The request failed before this step.")
	rec.Partial = true
	c.Apply(rec)
	require.Contains(t, stepOf(t, rec, "route").Text, "\nNot reached: The recording ends before this step.")
	require.Len(t, rec.Walk, stops)
	for _, w := range rec.Walk {
		require.Zero(t, w.Count)
		require.NotEmpty(t, w.Source.Symbol)
	}
}

func TestTheWalkIsDescribedWithoutARecording(t *testing.T) {
	walk := Glassbox(engine.Sources).Describe(smol)
	require.Len(t, walk, stops)
	for _, w := range walk {
		require.NotContains(t, w.Text, "Not reached", w.ID)
		require.NotNil(t, w.Source.Code, w.ID)
		if w.Role != "" {
			require.Equal(t, "engine/backend/cpu", path.Dir(w.Sources[1].Path), w.ID)
		}
	}
}

func TestKernelsAreFoundInTheAssemblyOfTheirVariant(t *testing.T) {
	c := Glassbox(engine.Sources)
	rec := &file.Recording{Device: file.Device{Kind: "cpu"}}
	for _, k := range []string{"softmax generic", "softmax avx2", "softmax avx2", "attnQK avx2", ""} {
		rec.Spans = append(rec.Spans, file.Span{Step: "attn_softmax", Op: "attn_softmax", Kernel: k})
	}
	found := map[string]string{}
	for _, s := range c.kernels(c.Step("attn_softmax"), ValuesOf(rec), rec, []int{0, 1, 2, 3, 4}) {
		found[s.Symbol] = path.Base(s.Path)
	}
	want := map[string]string{"softmaxGo": "gofloat.go"}
	if runtime.GOARCH == "amd64" {
		want["softmaxavx2"] = "kern_amd64.s"
	}
	require.Equal(t, want, found)
}

// A model or backend may do an op in another function than the page names: then what ran is shown, and not the page's.
func TestWhatRanIsShownInPlaceOfWhatThePageNames(t *testing.T) {
	rec := &file.Recording{Device: file.Device{Kind: "cpu"}, RawSources: map[string][]file.SourceRef{"ffn_swiglu": {
		{Func: "glassbox/engine/backend/ref.mix", File: "engine/backend/ref/ops.go", Line: 1},
		{Func: "glassbox/engine/model.llamaMap", File: "engine/model/llama.go", Line: 1},
	}}}
	Glassbox(engine.Sources).Apply(rec)
	var got []string
	for _, s := range stepOf(t, rec, "ffn_swiglu").Sources {
		got = append(got, s.Symbol)
	}
	require.Equal(t, []string{"llamaMap", "mix"}, got)
}

func TestTheBackendIsTheOneThatRan(t *testing.T) {
	for want, rec := range map[string]*file.Recording{
		"ref":  {Device: file.Device{Kind: "cpu"}, RawSources: map[string][]file.SourceRef{"embed": {{File: "engine/model/llama.go"}, {File: "engine/backend/ref/ops.go"}}}},
		"cpu":  {Device: file.Device{Kind: "cpu"}},
		"cuda": {Device: file.Device{Kind: "emulated"}},
	} {
		require.Equal(t, want, backendOf(rec))
	}
	require.Empty(t, backendIn("glassbox/engine/backend.(*Batch).Check"))
	require.Empty(t, backendIn("engine/backend/backend.go"))
	require.Equal(t, "cpu", backendIn("engine/backend/cpu/kern/mul.go"))
}

func TestCheckSpansFindsWhatThePagesGetWrong(t *testing.T) {
	c := Glassbox(engine.Sources)
	rec := answer(t, c, "ref", everything)
	require.Empty(t, c.CheckSpans(rec))
	for name, change := range map[string]struct {
		do   func()
		want string
	}{
		"symbol":  {func() { c.Step("draw").Symbol = "glassbox/engine/sample.(*Sampler).minP" }, "-draw.md: a span came from glassbox/engine/sample.(*Sampler).draw"},
		"backend": {func() { c.Step("rope").Also = []string{"glassbox/engine/backend/{backend}.add"} }, "-rope.md: a span came from glassbox/engine/backend/ref.rope"},
		"lane":    {func() { c.Step("emit").Lane = "http" }, "-emit.md says http"},
		"no page": {func() { delete(c.byID, "emit") }, `step "emit" has no page`},
		"no line": {func() { delete(rec.RawSources, "emit") }, "does not say which line began it"},
		"sources": {func() {
			refs := rec.RawSources["merge"]
			refs[0].Line += 300
		}, "the sources are not those of this binary"},
	} {
		t.Run(name, func(t *testing.T) {
			old, oldRec := c, rec
			c, rec = Glassbox(engine.Sources), answer(t, old, "ref", everything)
			change.do()
			bad := c.CheckSpans(rec)
			require.Len(t, bad, 1)
			require.ErrorContains(t, bad[0], change.want)
			c, rec = old, oldRec
		})
	}
}
