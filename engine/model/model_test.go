package model_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/gguf"
	"glassbox/engine/graph"
	"glassbox/engine/model"
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

func TestEveryOpOfTheTableIsAskedForOnItsOwnLine(t *testing.T) {
	m := testmodel.Builtin(t)
	lines := map[trace.OpID]int{}
	for _, n := range m.Graph.Nodes {
		f, _ := runtime.CallersFrames([]uintptr{n.PC}).Next()
		require.True(t, strings.HasSuffix(f.File, "engine/model/llama.go"), "%s comes from %s", n.Op, f.File)
		require.True(t, strings.HasPrefix(f.Function, "glassbox/engine/model.llama"), f.Function)
		if line, ok := lines[n.Op]; ok {
			require.Equal(t, line, f.Line, n.Op)
		}
		lines[n.Op] = f.Line
	}
	seen := map[int]trace.OpID{}
	for _, op := range trace.Ops() {
		line, ok := lines[op]
		require.True(t, ok, "the op table has %s, the model does not use it", op)
		require.Zero(t, seen[line], "%s shares its line with %s", op, seen[line])
		seen[line] = op
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
		"rope scaling":      {testmodel.Spec{Extra: []gguf.KV{gguf.NewKV("llama.rope.scaling.type", "yarn")}}, []string{"rope.scaling.type", "yarn"}},
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
	s := graph.Shape{Tokens: 1, Out: 1, Keys: 43, KVRead: 43, KVBytes: 2}
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
