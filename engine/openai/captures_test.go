package openai

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/capture"
	"glassbox/trace"
	"glassbox/trace/file"
)

var allKinds = trace.CaptureSpec{Attention: true, Lens: true, Values: true, Logits: true}

// A request that asks for captures has them in its file, whole, by the names that programs rely on.
func TestCapturesAreInTheFile(t *testing.T) {
	dir := t.TempDir()
	store, err := file.NewStore(file.StoreOptions{Dir: dir})
	require.NoError(t, err)
	t.Cleanup(store.Close)
	r := realServer(t, func(c *Config) { c.Tracer, c.Captures = store, allKinds })
	for _, stream := range []bool{false, true} {
		res := r.send("POST", textPath, text("prompt", "Hello there", "max_tokens", 4, "temperature", 0, "ignore_eos", true, "stream", stream,
			"glassbox", object{"capture": []any{"all"}, "ablate": []any{"L1.H3", "L0.ffn=mean"}}))
		body := readAll(t, res)
		require.Equal(t, 200, res.StatusCode, body)
		id := res.Header.Get("X-Glassbox-Trace-Id")
		require.NotEmpty(t, id)
		rec, err := store.Wait(t.Context(), id)
		require.NoError(t, err)
		onDisk, err := file.Read(filepath.Join(dir, id+".gbx"))
		require.NoError(t, err)
		const n = 11 + 4 - 1
		for name, shape := range map[string][]int{"attention": {2, 4, n, n}, "lens_ids": {2, n, 5}, "lens_logprob": {2, n, 5}, "lens_mid_ids": {2, n, 5},
			"lens_mid_logprob": {2, n, 5}, "lens_entropy": {2, n}, "lens_rank": {2, n}, "attr": {1 + 2*5, 4}, "attr_second": {1 + 2*5, 4}, "attr_top": {5, 1 + 2*5, 4}, "attr_top_ids": {4, 5}, "attr_top_logit": {4, 5}, "logits": {288},
			"tape_in/0/attn_q": {64}, "tape_out/-1/embed": {64}, "tape_out/-1/lm_head": {288}, "tape_out/1/attn_softmax": {4, 12}} {
			a := onDisk.Arrays[name]
			require.NotNil(t, a, name)
			require.Equal(t, shape, a.Shape, name)
			require.Len(t, a.Axes, len(shape), name)
			require.Equal(t, rec.Arrays[name].Raw, a.Raw, name)
			want, err := a.Len()
			require.NoError(t, err)
			require.Len(t, a.Raw, int(want))
		}
		require.Equal(t, []string{"embed", "L0.H0", "L0.H1"}, onDisk.Arrays["attr"].AttrNames[:3])
		require.Len(t, onDisk.Arrays["attr"].AttrNames, 11)
		require.Equal(t, []string{"L1.H3", "L0.ffn=mean"}, onDisk.Request.Params["ablate"])
		require.Positive(t, onDisk.Request.CaptureNs)
		require.Len(t, onDisk.Passes, 5, "the prompt once for the mean, once more, then three tokens")
		for _, p := range onDisk.Passes {
			require.Positive(t, p.CaptureNs)
			require.Less(t, p.CaptureNs, p.DurNs)
		}
		require.False(t, onDisk.Partial)
	}
}

// Parts are switched off with or without a recording, and the answer is another one.
func TestAblation(t *testing.T) {
	r := realServer(t, nil)
	said := func(fields ...any) string {
		status, body := r.post(textPath, text(append([]any{"temperature", 0, "max_tokens", 12, "ignore_eos", true}, fields...)...))
		require.Equal(t, 200, status, body)
		return at(t, parse(t, body), "choices", 0, "text").(string)
	}
	whole := said()
	require.NotEqual(t, whole, said("glassbox", object{"ablate": []any{"L0", "L1"}}))
	require.Equal(t, whole, said("glassbox", object{"ablate": []any{}}))
}

// What cannot be captured or switched off is refused before anything runs, with what can.
func TestRefusalsOfCapturesAndAblation(t *testing.T) {
	tr := &tracer{}
	r := realServer(t, func(c *Config) { c.Tracer, c.Captures = tr, allKinds })
	for name, c := range map[string]struct {
		asked object
		param string
		says  string
	}{
		"unknown kind":     {object{"capture": []any{"dreams"}}, "glassbox.capture", "wanted attention, lens, values, logits or all"},
		"no such layer":    {object{"ablate": []any{"L2", "L1.H4", "L0.ffn"}}, "glassbox.ablate", `found "L2", "L1.H4": wanted a layer from L0 to L1, alone or with .H0 to .H3, .attn or .ffn`},
		"not a list":       {object{"ablate": "L1"}, "glassbox.ablate", "a list"},
		"an unknown = way": {object{"ablate": []any{"L1=median"}}, "glassbox.ablate", "=mean"},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := r.post(textPath, text("glassbox", c.asked))
			require.Equal(t, 400, status, body)
			e := at(t, parse(t, body), "error").(object)
			require.Equal(t, c.param, e["param"])
			require.Contains(t, e["message"], c.says)
		})
	}
	large := start(t, func(_ *Config, f *fake) {
		f.reject = &capture.SizeError{Bytes: 3e9, Limit: 2e9, Prompt: 5, Answer: 900, Fits: 700, Kinds: []capture.KindSize{{Kind: "attention", Bytes: 3e9}}}
	})
	status, body := large.post(textPath, text())
	require.Equal(t, 400, status)
	require.Equal(t, "glassbox.capture", at(t, parse(t, body), "error", "param"))
	require.Contains(t, body, "would take 3000 MB (attention 3000 MB), wanted at most 2000 MB: set max_tokens to 700 or less, or leave out attention")

	fake := start(t, nil)
	status, body = fake.post(textPath, text("glassbox", object{"ablate": []any{"L0"}}))
	require.Equal(t, 400, status)
	require.Contains(t, body, "cannot switch parts")
}
