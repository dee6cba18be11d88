package model_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/backend"
	"glassbox/engine/gguf"
	"glassbox/engine/golden"
	"glassbox/engine/graph"
	"glassbox/engine/model"
	"glassbox/engine/tensor"
	"glassbox/engine/testmodel"
	"glassbox/trace"
)

func TestBuiltinShape(t *testing.T) {
	m := testmodel.Builtin(t)
	c := m.Config
	require.Equal(t, model.Config{Arch: "llama", Name: "Smollm2 135M 8k Lc100K Mix1 Ep2", Quant: "Q4_1", Layers: 30, Width: 576, Heads: 9, KVHeads: 3,
		HeadDim: 64, FFN: 1536, Vocab: 49152, Context: 8192, Eps: 1e-5, RopeBase: 100000, RopeDim: 64}, c)
	require.Len(t, m.Graph.Nodes, 30*17+3)
	require.EqualValues(t, 96576768, m.Bytes)
}

// models are those of every architecture, by its name.
func models(t *testing.T) map[string]*model.Model {
	tiny, err := golden.LoadTiny()
	require.NoError(t, err)
	all := map[string]*model.Model{}
	for _, g := range tiny {
		all[g.Arch] = testmodel.OpenReference(t, g)
	}
	require.Len(t, all, 4)
	all["llama"] = testmodel.Builtin(t)
	return all
}

// Each op that a model asks for is one line of its architecture's own file; and each op of the table is asked for by some
// architecture.
func TestEveryOpOfTheTableIsAskedForOnItsOwnLine(t *testing.T) {
	asked := map[trace.OpID]bool{}
	for arch, m := range models(t) {
		lines, seen := map[trace.OpID]int{}, map[int]trace.OpID{}
		for _, n := range m.Graph.Nodes {
			f, _ := runtime.CallersFrames([]uintptr{n.PC}).Next()
			require.True(t, strings.HasSuffix(f.File, "engine/model/"+arch+".go"), "%s comes from %s", n.Op, f.File)
			require.True(t, strings.HasPrefix(f.Function, "glassbox/engine/model."+arch), f.Function)
			if line, ok := lines[n.Op]; ok {
				require.Equal(t, line, f.Line, n.Op)
				continue
			}
			lines[n.Op], asked[n.Op] = f.Line, true
			require.Zero(t, seen[f.Line], "%s shares its line with %s", n.Op, seen[f.Line])
			seen[f.Line] = n.Op
		}
		// The first layer runs them in the order of the table, which is that of the walk.
		order := make([]trace.OpID, 0, len(lines))
		for _, n := range m.Graph.Nodes {
			if n.Layer <= 0 {
				order = append(order, n.Op)
			}
		}
		require.True(t, slices.IsSorted(order), "%s: %v", arch, order)
	}
	for _, op := range trace.Ops() {
		if op != trace.OpAllReduce { // of a cut graph: engine/tp asks for it
			require.True(t, asked[op], "the op table has %s, no model uses it", op)
		}
	}
}

func TestUntiedHeadIsUsed(t *testing.T) {
	m, err := model.Load(testmodel.Tiny(t, testmodel.Spec{Untied: true}))
	require.NoError(t, err)
	head := m.Graph.Nodes[len(m.Graph.Nodes)-1]
	require.Equal(t, trace.OpLMHead, head.Op)
	require.Equal(t, "output.weight", head.W.Name)
	m, err = model.Load(testmodel.Tiny(t, testmodel.Spec{}))
	require.NoError(t, err)
	require.Equal(t, "token_embd.weight", m.Graph.Nodes[len(m.Graph.Nodes)-1].W.Name)
}

func TestFilesThatAreNotForThisEngineAreRefusedByName(t *testing.T) {
	kv := func(k string, v uint32) []gguf.KV { return []gguf.KV{gguf.NewKV("llama."+k, v)} }
	float := func(k string, v float32) gguf.KV { return gguf.NewKV("llama."+k, v) }
	scaled := func(typ string, more ...gguf.KV) testmodel.Spec {
		return testmodel.Spec{Extra: append(more, gguf.NewKV("llama.rope.scaling.type", typ))}
	}
	for name, c := range map[string]struct {
		spec testmodel.Spec
		want []string
	}{
		"architecture":      {testmodel.Spec{Extra: []gguf.KV{gguf.NewKV("general.architecture", "mamba")}}, []string{"general.architecture", `"mamba"`, "llama"}},
		"no architecture":   {testmodel.Spec{Drop: []string{"general.architecture"}}, []string{"general.architecture"}},
		"no heads":          {testmodel.Spec{Extra: kv("attention.head_count", 0)}, []string{"attention.head_count", "1 to", "found 0"}},
		"huge heads":        {testmodel.Spec{Extra: kv("attention.head_count", 1<<32-1)}, []string{"attention.head_count", "4294967295"}},
		"text for heads":    {testmodel.Spec{Extra: []gguf.KV{gguf.NewKV("llama.attention.head_count", "four")}}, []string{"attention.head_count", "string"}},
		"kv heads":          {testmodel.Spec{Extra: kv("attention.head_count_kv", 3)}, []string{"head_count_kv", "divisor", "found 3"}},
		"no kv heads":       {testmodel.Spec{Extra: kv("attention.head_count_kv", 0)}, []string{"head_count_kv", "found 0"}},
		"no layers":         {testmodel.Spec{Extra: kv("block_count", 0)}, []string{"block_count", "found 0"}},
		"many layers":       {testmodel.Spec{Extra: kv("block_count", 1<<32-1)}, []string{"block_count"}},
		"one layer more":    {testmodel.Spec{Extra: kv("block_count", 3)}, []string{"blk.2.attn_norm.weight", "none of this name"}},
		"one layer less":    {testmodel.Spec{Extra: kv("block_count", 1)}, []string{"blk.1.", "does not use"}},
		"odd width":         {testmodel.Spec{Extra: kv("embedding_length", 65)}, []string{"embedding_length", "multiple", "65"}},
		"other width":       {testmodel.Spec{Extra: kv("embedding_length", 32)}, []string{"token_embd.weight", "wanted 32", "found 64"}},
		"no context":        {testmodel.Spec{Drop: []string{"llama.context_length"}}, []string{"context_length"}},
		"rope dimension":    {testmodel.Spec{Extra: kv("rope.dimension_count", 17)}, []string{"rope.dimension_count", "17"}},
		"rope base":         {testmodel.Spec{Extra: []gguf.KV{gguf.NewKV("llama.rope.freq_base", float32(0))}}, []string{"rope.freq_base", "positive"}},
		"rope scaling":      {scaled("longrope"), []string{"rope.scaling.type", "longrope", "linear"}},
		"no rope factor":    {scaled("yarn"), []string{"rope.scaling.factor"}},
		"rope factor":       {scaled("linear", float("rope.scaling.factor", 0.5)), []string{"rope.scaling.factor", "found 0.5"}},
		"yarn betas":        {scaled("yarn", float("rope.scaling.factor", 4), float("rope.scaling.yarn_beta_fast", 1)), []string{"yarn_beta_fast", "found 1"}},
		"yarn factor":       {scaled("yarn", float("rope.scaling.factor", 4), float("rope.scaling.attn_factor", 0)), []string{"rope.scaling.attn_factor", "found 0"}},
		"yarn log":          {scaled("yarn", float("rope.scaling.factor", 4), float("rope.scaling.yarn_log_multiplier", 0.1)), []string{"yarn_log_multiplier"}},
		"yarn base":         {scaled("yarn", float("rope.scaling.factor", 4), float("rope.freq_base", 1)), []string{"rope.freq_base", "above 1"}},
		"soft cap":          {testmodel.Spec{Extra: []gguf.KV{float("final_logit_softcapping", 30)}}, []string{"final_logit_softcapping", "found 30"}},
		"value length":      {testmodel.Spec{Extra: kv("attention.value_length", 8)}, []string{"attention.value_length", "found 8"}},
		"zero divisor":      {testmodel.Spec{Divisors: []float32{1, 2, 0, 1, 1, 1, 1, 1}}, []string{"rope_freqs.weight", "positive"}},
		"epsilon":           {testmodel.Spec{Extra: []gguf.KV{gguf.NewKV("llama.attention.layer_norm_rms_epsilon", float32(0))}}, []string{"epsilon", "found 0"}},
		"experts":           {testmodel.Spec{Extra: kv("expert_count", 8)}, []string{"expert_count", "found 8"}},
		"missing tensor":    {testmodel.Spec{Drop: []string{"blk.1.ffn_up.weight"}}, []string{"blk.1.ffn_up.weight", "none of this name"}},
		"missing norm":      {testmodel.Spec{Drop: []string{"output_norm.weight"}}, []string{"output_norm.weight"}},
		"missing embedding": {testmodel.Spec{Drop: []string{"token_embd.weight"}}, []string{"token_embd.weight"}},
	} {
		_, err := model.Load(testmodel.Tiny(t, c.spec))
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "\n", name)
		for _, w := range append(c.want, "tiny.gguf") {
			require.Contains(t, err.Error(), w, name)
		}
	}
}

func TestWorkIsDerivedFromShapes(t *testing.T) {
	m := testmodel.Builtin(t)
	s := graph.Shape{Tokens: 1, Out: 1, Keys: 43, KVRead: 43, KeyType: tensor.F16, ValueType: tensor.F16}
	flops, weights := int64(0), int64(0)
	for _, n := range m.Graph.Nodes {
		w := n.Work(m.Graph, s)
		require.Positive(t, w.Bytes, n.Op)
		if n.Kind == graph.MatMul {
			flops += w.Flops
			weights += int64(len(n.W.Data))
			require.EqualValues(t, 2*n.W.Rows*n.W.Cols, w.Flops)
		}
	}
	// 134.5 M weights are multiplied and added once for each token.
	require.InDelta(t, 2*134.5e6, float64(flops), 2e6)
	require.InDelta(t, float64(m.Bytes), float64(weights), 200e3)
	q := m.Graph.Nodes[7] // scores of layer 0
	require.Equal(t, trace.OpScores, q.Op)
	require.EqualValues(t, 2*43*9*64, q.Work(m.Graph, s).Flops)
	require.EqualValues(t, 43*3*64*2+4*43*9+4*9*64, q.Work(m.Graph, s).Bytes)
}

// A layer with a window attends to no more keys than the window has, and reads none older than its first token's window.
func TestWorkOfALayerWithAWindow(t *testing.T) {
	m := models(t)["gemma3"]
	require.Equal(t, 16, m.Graph.Window)
	require.Zero(t, m.Graph.Attn.Window, "the cache keeps every position")
	b := backend.Batch{Pos: []int32{14, 15, 16, 17, 40}, Seq: []int32{0, 0, 0, 0, 1}}
	b.Tokens = make([]int32, len(b.Pos))
	s := b.Shape(backend.KV{Keys: tensor.F16, Values: tensor.F16}, m.Graph.Window)
	require.EqualValues(t, 15+16+17+18+41, s.Keys)
	require.EqualValues(t, 18+41, s.KVRead)
	require.EqualValues(t, 15+16+16+16+16, s.WindowKeys)
	require.EqualValues(t, 18+16, s.WindowRead, "the first token's window holds position 0; the other sequence reads one window")
	windows := []int{}
	for _, n := range m.Graph.Nodes {
		if n.Op != trace.OpScores {
			continue
		}
		windows = append(windows, n.Attn.Window)
		keys := s.Keys
		if n.Attn.Window > 0 {
			keys = s.WindowKeys
		}
		require.EqualValues(t, 2*keys*4*32, n.Work(m.Graph, s).Flops)
	}
	require.Equal(t, []int{16, 16, 16, 16, 16, 0, 16}, windows)
}

// What the architectures' files may say otherwise, and what is refused.
func TestGemmaKeys(t *testing.T) {
	open := func(extra ...gguf.KV) (*model.Model, error) {
		tiny, err := golden.LoadTiny()
		require.NoError(t, err)
		for _, g := range tiny {
			if g.Arch == "gemma3" {
				f, err := gguf.Parse("gemma3.gguf", testmodel.Reference(t, g, extra...))
				require.NoError(t, err)
				return model.Load(f)
			}
		}
		return nil, nil
	}
	m, err := open(gguf.NewKV("gemma3.attention.sliding_window_pattern", uint32(2)), gguf.NewKV("gemma3.rope.freq_base_swa", float32(500)))
	require.NoError(t, err)
	bases := []float64{}
	for _, n := range m.Graph.Nodes {
		if n.Op == trace.OpRope {
			bases = append(bases, n.Rope.Base)
		}
	}
	require.Equal(t, []float64{500, 1e6, 500, 1e6, 500, 1e6, 500}, bases)
	for key, v := range map[string]float32{"rope.freq_base_swa": 0, "final_logit_softcapping": 30, "attn_logit_softcapping": 50} {
		_, err := open(gguf.NewKV("gemma3."+key, v))
		require.ErrorContains(t, err, "gemma3."+key)
	}
}

func TestWorkOfABias(t *testing.T) {
	m := models(t)["qwen2"]
	q := m.Graph.Nodes[2]
	require.Equal(t, trace.OpAttnQ, q.Op)
	require.Equal(t, "blk.0.attn_q.bias", q.Bias.Name)
	w := q.Work(m.Graph, graph.Shape{Tokens: 3})
	require.EqualValues(t, 3*(2*64*64+64), w.Flops)
	require.EqualValues(t, 4*64*64+4*64+3*4*(64+64), w.Bytes)
}
