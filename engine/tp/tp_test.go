package tp

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/backend"
	"glassbox/engine/backend/backendtest"
	"glassbox/engine/backend/cpu"
	"glassbox/engine/backend/ref"
	"glassbox/engine/golden"
	"glassbox/engine/graph"
	"glassbox/engine/model"
	"glassbox/engine/tensor"
	"glassbox/engine/testmodel"
	"glassbox/trace"
)

// each runs f on every shard of a group at once.
func each(t *testing.T, n int, how string, f func(g backend.Group)) {
	groups, err := NewGroup(n, how)
	require.NoError(t, err)
	var wg sync.WaitGroup
	for r, g := range groups {
		require.Equal(t, []int{r, n}, []int{g.Rank(), g.Size()})
		wg.Go(func() { f(g) })
	}
	wg.Wait()
	for _, g := range groups {
		require.NoError(t, g.Close())
	}
}

func TestCollectivesGiveEveryShardTheSame(t *testing.T) {
	for _, how := range []string{Direct, Ring} {
		for n := 1; n <= 5; n++ {
			for _, length := range []int{1, n + 1, 64, 577} {
				in := make([][]float32, n)
				for r := range in {
					g := rand.New(rand.NewPCG(uint64(r), uint64(length)))
					in[r] = make([]float32, length)
					for i := range in[r] {
						in[r][i] = float32(g.NormFloat64())
					}
				}
				out, all, cast := make([][]float32, n), make([][]float32, n), make([][]float32, n)
				each(t, n, how, func(g backend.Group) {
					r := g.Rank()
					for range 3 { // again and again on the same group
						out[r] = append([]float32(nil), in[r]...)
						g.AllReduce(out[r])
						all[r] = make([]float32, n*length)
						g.AllGather(all[r], in[r])
						cast[r] = append([]float32(nil), in[r]...)
						g.Broadcast(cast[r], n-1)
					}
				})
				for r := range n {
					require.Equal(t, out[0], out[r], "%s: the same bits on every shard", how)
					require.Equal(t, in[n-1], cast[r])
					for i := range length {
						sum, size := 0.0, 0.0
						for k := range in {
							sum += float64(in[k][i])
							size += math.Abs(float64(in[k][i]))
							require.Equal(t, in[k][i], all[r][k*length+i])
						}
						require.InDelta(t, sum, float64(out[r][i]), 1e-6*size)
					}
				}
			}
		}
	}
	_, err := NewGroup(2, "tree")
	require.ErrorContains(t, err, `wanted direct or ring, or nccl between GPUs, found "tree"`)
}

// The order of summation is the stated one, to the bit.
func TestOrderOfSummation(t *testing.T) {
	in := [][]float32{{1e8, 1e8, 1e8}, {1, 1, 1}, {-1e8, -1e8, -1e8}}
	for how, want := range map[string][]float32{
		Direct: {in[0][0] + in[1][0] + in[2][0], 0, 0},
		Ring:   {in[0][0] + in[1][0] + in[2][0], in[1][0] + in[2][0] + in[0][0], in[2][0] + in[0][0] + in[1][0]},
	} {
		if how == Direct {
			want[1], want[2] = want[0], want[0]
		}
		got := [3][]float32{}
		each(t, 3, how, func(g backend.Group) {
			got[g.Rank()] = append([]float32(nil), in[g.Rank()]...)
			g.AllReduce(got[g.Rank()])
		})
		require.Equal(t, want, got[0], how)
	}
}

// greedy decodes n tokens and returns them with the logits behind each.
func greedy(t *testing.T, be backend.Backend, vocab int, prompt []int32, n int) (ids []int32, rows [][]float32) {
	pages := backendtest.Pages(0, len(prompt)+n)
	at := 0
	next := prompt
	for len(ids) < n {
		b := &backend.Batch{Seqs: []backend.Seq{pages}}
		for _, id := range next {
			b.Tokens, b.Pos, b.Seq = append(b.Tokens, id), append(b.Pos, int32(at)), append(b.Seq, 0)
			at++
		}
		b.Out = []int32{int32(len(next) - 1)}
		var ops trace.PassOps
		require.NoError(t, be.Run(b, &ops))
		row := append([]float32(nil), be.Logits(0)...)
		require.Len(t, row, vocab)
		best := 0
		for i, v := range row {
			if v > row[best] {
				best = i
			}
		}
		ids, rows = append(ids, int32(best)), append(rows, row)
		next = ids[len(ids)-1:]
	}
	return ids, rows
}

// same holds shards to one device: the same tokens, and logits near to rounding.
func same(t *testing.T, m *model.Model, open backend.Opener, o backend.Options, near float64, n int, shards ...int) {
	prompt := []int32{1, 5, 9, 200 % int32(m.Graph.Vocab), 17, 3, 44, 2, 60, 7, 12, 31, 8, 19, 25, 4, 11, 6, 2}
	one, err := open(m.Graph, o)
	require.NoError(t, err)
	want, rows := greedy(t, one, m.Graph.Vocab, prompt, n)
	require.NoError(t, one.Close())
	for _, s := range shards {
		for _, how := range []string{Direct, Ring} {
			be, err := Open(m.Graph, open, o, Options{s, how})
			require.NoError(t, err)
			got, gotRows := greedy(t, be, m.Graph.Vocab, prompt, n)
			require.Equal(t, want, got, "%s in %d, %s", m.Config.Arch, s, how)
			for i := range rows {
				require.LessOrEqual(t, golden.MaxAbs(rows[i], gotRows[i]), near, "%s in %d, %s", m.Config.Arch, s, how)
			}
			require.NoError(t, be.Close())
		}
	}
}

func TestTinyModelsOfEveryArchitectureSayTheSameInShards(t *testing.T) {
	models, err := golden.LoadTiny()
	require.NoError(t, err)
	o := backend.Options{Threads: 2, MaxTokens: 64, MaxOut: 4, MaxScores: 1 << 16, Pages: 8}
	seen := map[string]bool{}
	for _, g := range models {
		m := testmodel.OpenReference(t, g)
		var shards []int
		for n := 1; n <= m.Config.KVHeads; n++ {
			if m.Config.KVHeads%n == 0 {
				shards = append(shards, n)
			}
		}
		t.Logf("%s: %d KV heads, in %v", g.Name, m.Config.KVHeads, shards)
		seen[g.Arch] = seen[g.Arch] || len(shards) > 1
		same(t, m, ref.Open, o, 1e-4, 12, shards...)
		same(t, m, cpu.Open, o, 1e-2, 12, shards...)
	}
	for _, arch := range []string{"llama", "qwen2", "qwen3", "gemma3"} {
		require.True(t, seen[arch], "%s was cut", arch)
	}
}

func TestBuiltinModelSaysTheSameInThreeShards(t *testing.T) {
	o := backend.Options{Threads: 2, MaxTokens: 64, MaxOut: 4, MaxScores: 1 << 16, Pages: 8}
	same(t, testmodel.Builtin(t), cpu.Open, o, 0.05, 6, 3)
}

func TestSingleShardIsTheSameToTheBit(t *testing.T) {
	m, err := model.Load(testmodel.Tiny(t, testmodel.Spec{}))
	require.NoError(t, err)
	same(t, m, cpu.Open, backend.Options{Threads: 1, MaxTokens: 64, MaxOut: 4, MaxScores: 1 << 16, Pages: 8}, 0, 8, 1)
}

// Blocks of quantised columns are cut at their borders, or the cut is refused.
func TestQuantisedColumnsAreCutAtBlocks(t *testing.T) {
	o := backend.Options{Threads: 1, MaxTokens: 64, MaxOut: 4, MaxScores: 1 << 16, Pages: 8}
	// Five blocks of feed-forward in two shards: two and three.
	m, err := model.Load(testmodel.Tiny(t, testmodel.Spec{Width: 128, Heads: 4, KVHeads: 2, FFN: 160, Type: tensor.Q4_0}))
	require.NoError(t, err)
	same(t, m, cpu.Open, o, 1e-2, 8, 2)
	plan, err := Split(m.Graph, 2)
	require.NoError(t, err)
	require.Equal(t, []Range{{0, 64}, {64, 160}}, plan.FFN)
	own, shared := plan.Bytes(0)
	require.Positive(t, own)
	require.EqualValues(t, 288*128/32*18, shared)

	for want, s := range map[string]testmodel.Spec{
		"attn_output.weight: wanted cuts at blocks of 32 columns (Q4_0), found one that gives a shard columns 0 to 15": {Width: 64, Heads: 8, KVHeads: 4, FFN: 128, Type: tensor.Q4_0},
		"a divisor of this model's 2 KV heads, found 4":                                                                {},
		"wanted at most 1, found 4: the feed-forward has 32 columns in blocks of 32":                                   {Width: 256, Heads: 8, KVHeads: 4, FFN: 32, Type: tensor.Q8_0},
	} {
		m, err := model.Load(testmodel.Tiny(t, s))
		require.NoError(t, err)
		_, err = Split(m.Graph, 4)
		require.ErrorContains(t, err, want)
	}
}

// Each op of a cut graph is timed, an all-reduce follows every product over a part of the columns, and its bytes are known.
func TestAllReduceIsAnOpWithTimeAndBytes(t *testing.T) {
	m, err := model.Load(testmodel.Tiny(t, testmodel.Spec{}))
	require.NoError(t, err)
	be, err := Open(m.Graph, cpu.Open, backend.Options{Threads: 2, MaxTokens: 8, MaxOut: 4, MaxScores: 1 << 16, Pages: 8}, Options{Shards: 2})
	require.NoError(t, err)
	defer be.Close()
	b := &backend.Batch{Tokens: []int32{1, 2, 3}, Pos: []int32{0, 1, 2}, Seq: []int32{0, 0, 0}, Seqs: []backend.Seq{backendtest.Pages(0, 3)}, Out: []int32{2}}
	var ops trace.PassOps
	require.NoError(t, be.Run(b, &ops))
	require.Len(t, ops.Ops, len(m.Graph.Nodes)+2*m.Graph.Layers)
	shape, found := b.Shape(be.KV(), 0), 0
	for i, op := range ops.Ops {
		if op.Op != trace.OpAllReduce {
			continue
		}
		found++
		require.Contains(t, []trace.OpID{trace.OpAttnOut, trace.OpDown}, ops.Ops[i-1].Op)
		require.Equal(t, ops.Ops[i-1].Layer, op.Layer)
		require.Positive(t, op.Dur)
		require.EqualValues(t, 3*64*4*2, be.Work(i, shape).Bytes, "two shards: each place there and back once")
	}
	require.Equal(t, 2*m.Graph.Layers, found)
	// What is cut is computed once in all; what is not, by every shard.
	whole := map[trace.OpID]int64{}
	for _, n := range m.Graph.Nodes {
		whole[n.Op] += n.Work(m.Graph, shape).Flops
	}
	parts := map[trace.OpID]int64{}
	for i, n := range be.Graph().Nodes {
		parts[n.Op] += be.Work(i, shape).Flops
	}
	for _, op := range []trace.OpID{trace.OpAttnQ, trace.OpAttnV, trace.OpScores, trace.OpMix, trace.OpAttnOut, trace.OpGate, trace.OpDown, trace.OpLMHead} {
		require.Equal(t, whole[op], parts[op], op)
	}
	require.Equal(t, 2*whole[trace.OpFFNNorm], parts[trace.OpFFNNorm])
	b.Tap = func(*graph.Node, func(graph.Buf, int) []float32) {}
	require.ErrorContains(t, be.Run(b, nil), "captures and stops need --shards 1")
}
