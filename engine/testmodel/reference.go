package testmodel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/gguf"
	"glassbox/engine/golden"
	"glassbox/engine/model"
	"glassbox/engine/tensor"
)

// hf is the part of transformers' config that a GGUF file has keys of.
type hf struct {
	Width   int     `json:"hidden_size"`
	FFN     int     `json:"intermediate_size"`
	Layers  int     `json:"num_hidden_layers"`
	Heads   int     `json:"num_attention_heads"`
	KVHeads int     `json:"num_key_value_heads"`
	HeadDim int     `json:"head_dim"`
	Context int     `json:"max_position_embeddings"`
	Eps     float64 `json:"rms_norm_eps"`
	Window  int     `json:"sliding_window"`
	Rope    struct {
		ropeParameters
		Full ropeParameters `json:"full_attention"`
	} `json:"rope_parameters"`
}

type ropeParameters struct {
	Type        string  `json:"rope_type"`
	Theta       float64 `json:"rope_theta"`
	Factor      float64 `json:"factor"`
	Low         float64 `json:"low_freq_factor"`
	High        float64 `json:"high_freq_factor"`
	OrigContext int     `json:"original_max_position_embeddings"`
}

// Reference returns the file of a tiny model whose logits transformers has computed: its formula worked out anew, and
// converted as transformers' checkpoints are: names, the order of q's and k's rows for llama, the 1 in Gemma's norms,
// divisors of frequencies for Llama 3's scaling. float32 throughout. Further keys may be given.
func Reference(t testing.TB, g *golden.Tiny, extra ...gguf.KV) []byte {
	var c hf
	require.NoError(t, json.Unmarshal(g.Config, &c))
	if c.HeadDim == 0 {
		c.HeadDim = c.Width / c.Heads
	}
	if c.Rope.Full.Type != "" {
		c.Rope.ropeParameters = c.Rope.Full
	}
	var tensors []gguf.Tensor
	add := func(name string, vals []float32, dims ...int) {
		data := make([]byte, 4*len(vals))
		require.NoError(t, tensor.Quantize(tensor.F32, data, vals))
		tensors = append(tensors, gguf.Tensor{Name: name, Type: tensor.F32, Dims: dims, Data: data})
	}
	for _, name := range g.Tensors {
		rows, cols := c.shape(name)
		vals := weights(g.Arch, name, rows*cols)
		switch {
		case g.Arch == "llama" && strings.HasSuffix(name, "q_proj.weight"):
			vals = permute(vals, c.Heads, c.HeadDim, cols)
		case g.Arch == "llama" && strings.HasSuffix(name, "k_proj.weight"):
			vals = permute(vals, c.KVHeads, c.HeadDim, cols)
		case g.Arch == "gemma3" && strings.HasSuffix(name, "norm.weight"):
			for i := range vals {
				vals[i]++
			}
		}
		dims := []int{cols, rows}
		if rows == 1 {
			dims = dims[:1]
		}
		add(ggufName(t, g.Arch, name), vals, dims...)
	}
	if c.Rope.Type == "llama3" {
		add("rope_freqs.weight", c.divisors(), c.HeadDim/2)
	}
	var buf bytes.Buffer
	require.NoError(t, gguf.Write(&buf, append(c.keys(g), extra...), tensors))
	return buf.Bytes()
}

// OpenReference loads the tiny model.
func OpenReference(t testing.TB, g *golden.Tiny) *model.Model {
	f, err := gguf.Parse(g.Name+".gguf", Reference(t, g))
	require.NoError(t, err)
	m, err := model.Load(f)
	require.NoError(t, err)
	return m
}

// shape returns rows and columns of a tensor in transformers' checkpoint; a vector is one row.
func (c *hf) shape(name string) (rows, cols int) {
	q, kv := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	part := name[strings.LastIndexByte(strings.TrimSuffix(strings.TrimSuffix(name, ".weight"), ".bias"), '.')+1:]
	switch part {
	case "embed_tokens.weight", "lm_head.weight":
		return golden.TinyVocab, c.Width
	case "q_proj.weight":
		return q, c.Width
	case "k_proj.weight", "v_proj.weight":
		return kv, c.Width
	case "q_proj.bias":
		return 1, q
	case "k_proj.bias", "v_proj.bias":
		return 1, kv
	case "q_norm.weight", "k_norm.weight":
		return 1, c.HeadDim
	case "o_proj.weight":
		return c.Width, q
	case "gate_proj.weight", "up_proj.weight":
		return c.FFN, c.Width
	case "down_proj.weight":
		return c.Width, c.FFN
	}
	return 1, c.Width // norms
}

// ggufNames by transformers' names, of a block and outside.
var ggufNames = map[string]string{
	"input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
	"self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm", "self_attn.o_proj": "attn_output",
	"post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
	"pre_feedforward_layernorm": "ffn_norm", "post_feedforward_layernorm": "post_ffw_norm",
	"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output",
}

// ggufName turns "model.layers.3.self_attn.q_proj.weight" into "blk.3.attn_q.weight".
func ggufName(t testing.TB, arch, name string) string {
	dot := strings.LastIndexByte(name, '.')
	base, kind, prefix := name[:dot], name[dot:], ""
	if rest, ok := strings.CutPrefix(base, "model.layers."); ok {
		layer, of, _ := strings.Cut(rest, ".")
		base, prefix = of, "blk."+layer+"."
	}
	to := ggufNames[base]
	if arch == "gemma3" && base == "post_attention_layernorm" {
		to = "post_attention_norm" // elsewhere this name is that of the norm before feed-forward
	}
	require.NotEmpty(t, to, name)
	return prefix + to + kind
}

// permute puts the rows of each head, whose pairs are (i, i+dim/2), in the order of adjacent pairs.
func permute(vals []float32, heads, dim, cols int) []float32 {
	out := make([]float32, 0, len(vals))
	for h := range heads {
		for i := range dim / 2 {
			for _, r := range []int{h*dim + i, h*dim + i + dim/2} {
				out = append(out, vals[r*cols:(r+1)*cols]...)
			}
		}
	}
	return out
}

// divisors are those of Llama 3's scaling: 1 for waves that are short against the original context, the factor for long
// ones, a smooth way between (Llama 3.1's model card, rope_scaling).
func (c *hf) divisors() []float32 {
	p := c.Rope.ropeParameters
	out := make([]float32, c.HeadDim/2)
	for i := range out {
		wave := 2 * math.Pi * math.Pow(p.Theta, 2*float64(i)/float64(c.HeadDim))
		smooth := (float64(p.OrigContext)/wave - p.Low) / (p.High - p.Low)
		smooth = min(1, max(0, smooth))
		out[i] = float32(1 / ((1-smooth)/p.Factor + smooth))
	}
	return out
}

// keys are the file's keys, with a vocabulary of the kind that the architecture's files have.
func (c *hf) keys(g *golden.Tiny) []gguf.KV {
	u := func(key string, v int) gguf.KV { return gguf.NewKV(g.Arch+"."+key, uint32(v)) }
	f := func(key string, v float64) gguf.KV { return gguf.NewKV(g.Arch+"."+key, float32(v)) }
	rope := c.Rope.ropeParameters
	kvs := []gguf.KV{
		gguf.NewKV("general.architecture", g.Arch), gguf.NewKV("general.name", "tiny "+g.Name),
		u("block_count", c.Layers), u("context_length", c.Context), u("embedding_length", c.Width),
		u("feed_forward_length", c.FFN), u("attention.head_count", c.Heads), u("attention.head_count_kv", c.KVHeads),
		u("attention.key_length", c.HeadDim), u("attention.value_length", c.HeadDim), u("rope.dimension_count", c.HeadDim),
		f("attention.layer_norm_rms_epsilon", c.Eps), f("rope.freq_base", rope.Theta),
	}
	if c.Window > 0 {
		kvs = append(kvs, u("attention.sliding_window", c.Window))
	}
	if rope.Type == "linear" || rope.Type == "yarn" {
		kvs = append(kvs, gguf.NewKV(g.Arch+".rope.scaling.type", rope.Type), f("rope.scaling.factor", rope.Factor))
	}
	if rope.Type == "yarn" {
		kvs = append(kvs, u("rope.scaling.original_context_length", rope.OrigContext))
	}
	if g.Arch == "gemma3" {
		return append(kvs, sentencePieces()...)
	}
	tokens, types := vocabulary()
	pre := map[string]string{"llama": "llama-bpe", "qwen2": "qwen2", "qwen3": "qwen2"}[g.Arch]
	return append(kvs, gguf.NewKV("tokenizer.ggml.model", "gpt2"), gguf.NewKV("tokenizer.ggml.pre", pre),
		gguf.NewKV("tokenizer.ggml.tokens", tokens), gguf.NewKV("tokenizer.ggml.token_type", types),
		gguf.NewKV("tokenizer.ggml.merges", []string{}), gguf.NewKV("tokenizer.ggml.bos_token_id", uint32(256)),
		gguf.NewKV("tokenizer.ggml.eos_token_id", uint32(258)))
}

// sentencePieces is a vocabulary as Gemma's files have it: SentencePiece with a token for each byte, and no space put in
// front of a text.
func sentencePieces() []gguf.KV {
	tokens, types := []string{"<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "<end_of_turn>"}, []int32{3, 3, 3, 2, 3, 3}
	for b := range 256 {
		tokens, types = append(tokens, fmt.Sprintf("<0x%02X>", b)), append(types, 6)
	}
	for _, p := range strings.Fields("▁ a b c d e h l o r t w th he the ▁th ▁the ll lo llo hello ▁hello or wor ld world") {
		tokens, types = append(tokens, p), append(types, 1)
	}
	scores := make([]float32, len(tokens))
	for i := range scores {
		if types[i] == 1 {
			scores[i] = -float32(i)
		}
	}
	return []gguf.KV{
		gguf.NewKV("tokenizer.ggml.model", "llama"), gguf.NewKV("tokenizer.ggml.pre", "default"),
		gguf.NewKV("tokenizer.ggml.tokens", tokens), gguf.NewKV("tokenizer.ggml.scores", scores), gguf.NewKV("tokenizer.ggml.token_type", types),
		gguf.NewKV("tokenizer.ggml.bos_token_id", uint32(2)), gguf.NewKV("tokenizer.ggml.eos_token_id", uint32(1)),
		gguf.NewKV("tokenizer.ggml.unknown_token_id", uint32(3)), gguf.NewKV("tokenizer.ggml.padding_token_id", uint32(0)),
		gguf.NewKV("tokenizer.ggml.add_bos_token", true), gguf.NewKV("tokenizer.ggml.add_space_prefix", false),
	}
}

// weights works out the formula of tiny.py: see there.
func weights(arch, name string, n int) []float32 {
	seed := uint64(0xCBF29CE484222325)
	for _, c := range []byte(name) {
		seed = (seed ^ uint64(c)) * 0x100000001B3
	}
	spread, mean := float32(0.25), float32(0)
	if strings.HasSuffix(name, "embed_tokens.weight") {
		spread = 1
	} else if strings.HasSuffix(name, "norm.weight") && arch != "gemma3" {
		mean = 1
	}
	out := slices.Repeat([]float32{mean}, n)
	for i := range out {
		z := seed + uint64(i+1)*0x9E3779B97F4A7C15
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		z ^= z >> 31
		out[i] += spread * (float32(z>>40)/(1<<23) - 1)
	}
	return out
}
