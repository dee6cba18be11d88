package cpu

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/backend"
	"glassbox/engine/backend/cpu/kern"
	"glassbox/engine/graph"
	"glassbox/engine/kv"
	"glassbox/engine/tensor"
	"glassbox/trace"
)

// shape is a small model.
type shape struct {
	types                [3]tensor.Type // of embedding and head, attention, feed-forward
	layers, width, ffn   int
	heads, kvHeads, dim  int
	vocab, window, turns int
	halves, bias         bool
}

// small is like the built-in model: its types, three heads a KV head, rows that fill no whole group.
var small = shape{types: [3]tensor.Type{tensor.Q8_0, tensor.Q4_1, tensor.Q4_1}, layers: 2, width: 96, ffn: 160, heads: 6, kvHeads: 2, dim: 16, vocab: 107, turns: 16}

// shapes cover every type, grouping, head sizes with and without kernels, windows, biases and both kinds of RoPE.
func shapes() map[string]shape {
	with := func(f func(s *shape)) shape { s := small; f(&s); return s }
	all := func(t tensor.Type) [3]tensor.Type { return [3]tensor.Type{t, t, t} }
	m := map[string]shape{
		"built-in types": small,
		"f32":            with(func(s *shape) { s.types = all(tensor.F32) }),
		"f16 and bf16":   with(func(s *shape) { s.types = [3]tensor.Type{tensor.F16, tensor.BF16, tensor.F16} }),
		"q4_0":           with(func(s *shape) { s.types = all(tensor.Q4_0) }),
		"q5":             with(func(s *shape) { s.types = [3]tensor.Type{tensor.Q8_0, tensor.Q5_0, tensor.Q5_1} }),
		"window":         with(func(s *shape) { s.window = 21; s.types = all(tensor.F32) }),
		"halves, bias":   with(func(s *shape) { s.halves, s.bias, s.dim, s.turns = true, true, 32, 32; s.types = all(tensor.F32) }),
		"one head a key": with(func(s *shape) { s.kvHeads = 6 }),
		"one KV head":    with(func(s *shape) { s.kvHeads, s.dim = 1, 64; s.turns = 64 }),
		"odd head":       with(func(s *shape) { s.dim, s.turns = 24, 10; s.types = all(tensor.F16) }),
		"k types": with(func(s *shape) {
			s.types, s.width, s.ffn, s.dim, s.heads, s.turns = [3]tensor.Type{tensor.Q6_K, tensor.Q4_K, tensor.Q5_K}, 256, 512, 64, 4, 64
		}),
	}
	if testShapes != nil {
		maps.DeleteFunc(m, func(name string, _ shape) bool { return !slices.Contains(testShapes, name) })
	}
	return m
}

// weight makes a random matrix whose products keep the scale of what goes in.
func weight(t testing.TB, name string, ty tensor.Type, rows, cols int, rnd *rand.Rand) *graph.Weight {
	t.Helper()
	w := &graph.Weight{Name: name, Type: ty, Rows: rows, Cols: cols, Data: make([]byte, rows*ty.RowBytes(cols))}
	x := make([]float32, rows*cols)
	for i := range x {
		x[i] = float32(rnd.NormFloat64() / math.Sqrt(float64(cols)))
	}
	if ty != tensor.Q4_K && ty != tensor.Q5_K && ty != tensor.Q6_K {
		require.NoError(t, tensor.Quantize(ty, w.Data, x))
		return w
	}
	// There is no quantiser for these: random bytes with small scales are as good.
	for i := range w.Data {
		w.Data[i] = byte(rnd.Uint32())
	}
	put := func(at int, f float64) {
		h := tensor.F32ToF16(float32(f / math.Sqrt(float64(cols))))
		w.Data[at], w.Data[at+1] = byte(h), byte(h>>8)
	}
	for o := 0; o < len(w.Data); o += ty.BlockBytes() {
		switch ty {
		case tensor.Q6_K:
			put(o+208, 0.0008)
		case tensor.Q4_K:
			put(o, 0.004)
			put(o+2, 0.03)
		default:
			put(o, 0.002)
			put(o+2, 0.03)
		}
	}
	return w
}

// build makes the graph of a shape, with random weights.
func build(t testing.TB, s shape) *graph.Graph {
	t.Helper()
	rnd := rand.New(rand.NewPCG(7, uint64(s.dim)))
	b := graph.NewBuilder()
	norm := func(n int) *graph.Weight {
		w := weight(t, "norm", tensor.F32, 1, n, rnd)
		one := make([]float32, n)
		for i := range one {
			one[i] = 1 + float32(rnd.NormFloat64()/10)
		}
		require.NoError(t, tensor.Quantize(tensor.F32, w.Data, one))
		return w
	}
	bias := func(n int) *graph.Weight {
		if !s.bias {
			return nil
		}
		return weight(t, "bias", tensor.F32, 1, n, rnd)
	}
	attn := &graph.Attention{Heads: s.heads, KVHeads: s.kvHeads, HeadDim: s.dim, Scale: float32(1 / math.Sqrt(float64(s.dim))), Window: s.window}
	rope := &graph.Rope{Base: 10000, Dim: s.turns, Halves: s.halves}
	embedding := weight(t, "embedding", s.types[0], s.vocab, s.width, rnd)
	mat := func(ty tensor.Type, rows, cols int) *graph.Weight { return weight(t, "matrix", ty, rows, cols, rnd) }
	x := b.Embed(trace.OpEmbed, embedding)
	qw, kvw := s.heads*s.dim, s.kvHeads*s.dim
	for i := range s.layers {
		b.Layer(i)
		n := b.Norm(trace.OpAttnNorm, x, norm(s.width), 1e-5)
		q := b.MatMul(trace.OpAttnQ, n, mat(s.types[1], qw, s.width), bias(qw))
		k := b.MatMul(trace.OpAttnK, n, mat(s.types[1], kvw, s.width), bias(kvw))
		v := b.MatMul(trace.OpAttnV, n, mat(s.types[1], kvw, s.width), bias(kvw))
		b.RoPE(trace.OpRope, q, k, attn, rope)
		b.KVWrite(trace.OpKVWrite, k, v, attn)
		m := b.Mix(trace.OpMix, b.Softmax(trace.OpSoftmax, b.Scores(trace.OpScores, q, attn), attn), attn)
		x = b.Add(trace.OpAttnResidual, x, b.MatMul(trace.OpAttnOut, m, mat(s.types[1], s.width, qw), nil))
		n = b.Norm(trace.OpFFNNorm, x, norm(s.width), 1e-5)
		gate := b.MatMul(trace.OpGate, n, mat(s.types[2], s.ffn, s.width), nil)
		up := b.MatMul(trace.OpUp, n, mat(s.types[2], s.ffn, s.width), nil)
		x = b.Add(trace.OpFFNResidual, x, b.MatMul(trace.OpDown, b.SwiGLU(trace.OpSwiGLU, gate, up), mat(s.types[2], s.width, s.ffn), nil))
	}
	b.Layer(-1)
	b.LMHead(trace.OpLMHead, b.OutNorm(trace.OpOutNorm, x, norm(s.width), 1e-5), embedding)
	return b.Graph()
}

func options(features string, threads int) backend.Options {
	return backend.Options{Threads: threads, MaxTokens: 64, MaxOut: 64, MaxScores: 64 * 8 * 96, Pages: 32, Features: features}
}

func open(t testing.TB, g *graph.Graph, o backend.Options) *Backend {
	t.Helper()
	be, err := Open(g, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, be.Close()) })
	return be.(*Backend)
}

// slice is tokens [from, from+n) of a sequence.
type slice struct{ seq, from, n int }

// token is the id of a sequence's token at a position.
func token(seq, pos, vocab int) int32 { return int32((seq*31 + pos*pos*7 + pos*3 + 1) % vocab) }

// batchOf lays slices out in a batch; all rows of logits are wanted. Sequence s has every third page from s on, so that
// pages of a sequence are apart.
func batchOf(vocab int, parts ...slice) *backend.Batch {
	b := &backend.Batch{}
	for i, s := range parts {
		for p := s.from; p < s.from+s.n; p++ {
			b.Out = append(b.Out, int32(len(b.Tokens)))
			b.Tokens = append(b.Tokens, token(s.seq, p, vocab))
			b.Pos = append(b.Pos, int32(p))
			b.Seq = append(b.Seq, int32(i))
		}
		var q backend.Seq
		for p := range kv.PagesFor(s.from + s.n) {
			q.Pages = append(q.Pages, kv.Page(s.seq+3*p))
		}
		b.Seqs = append(b.Seqs, q)
	}
	return b
}

// logits runs batches and returns the logits of one sequence's positions.
func logits(t testing.TB, be backend.Backend, seq int, batches ...*backend.Batch) [][]float32 {
	t.Helper()
	var rows [][]float32
	for _, b := range batches {
		require.NoError(t, be.Run(b, nil))
		for i, o := range b.Out {
			if int(b.Seqs[b.Seq[o]].Pages[0])%3 == seq {
				rows = append(rows, append([]float32(nil), be.Logits(i)...))
			}
		}
	}
	return rows
}

// testVariants are the kernel variants to test, testShapes the shapes (nil: all).
var (
	testVariants = kern.Features()
	testShapes   []string
)
