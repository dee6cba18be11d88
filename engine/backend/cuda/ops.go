//go:build cuda

package cuda

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"glassbox/engine/backend/cuda/driver"
	"glassbox/engine/graph"
	"glassbox/engine/tensor"
	"glassbox/trace"
)

// op launches the kernels of a step.
type op func(b *Backend, s *step) error

// step is a node, or several, made ready.
type step struct {
	n      *graph.Node
	also   []*step // further nodes that the step does, as steps of their own
	fn     op
	pc     uintptr           // entry of fn
	kernel [2]trace.KernelID // for few and for many rows
	freq   driver.Ptr        // RoPE: frequencies, float64
	table  driver.Ptr        // RoPE: cosine and sine of each token's pairs
	fresh  bool              // MatMul: the input must be quantised; RoPE: the table must be filled
}

// ops has the function of each kind, and the kernel it runs.
var ops = map[graph.Kind]struct {
	fn     op
	kernel string
}{
	graph.Embed: {embed, "embed_"}, graph.RMSNorm: {rmsNorm, "rms_norm"}, graph.MatMul: {matMul, "mat_"}, graph.HeadNorm: {headNorm, "rms_norm"},
	graph.RoPE: {rope, "rope"}, graph.KVWrite: {kvWrite, "kv_write_"}, graph.Scores: {scores, "attn_scores_"}, graph.Softmax: {softmax, "attn_softmax"},
	graph.Mix: {mix, "attn_mix_"}, graph.Add: {add, "add"}, graph.SwiGLU: {swiGLU, "swiglu"}, graph.GeGLU: {geGLU, "geglu"}, graph.AllReduce: {allReduce, "all_reduce_add"},
}

// manyTokens is the batch from which products go to the tensor cores.
const manyTokens = 9

// format is a weight's format in the names of kernels.
func format(t tensor.Type) string { return strings.ToLower(t.Name()) }

// quantised tells formats whose products take int8 inputs.
func quantised(t tensor.Type) bool { return t != tensor.F32 && t != tensor.F16 && t != tensor.BF16 }

// kernelNames returns the kernels of a node for few and many rows; name is that of its kind.
func (b *Backend) kernelNames(n *graph.Node, name string) (few, many string) {
	switch n.Kind {
	case graph.Embed:
		name += format(n.W.Type)
	case graph.KVWrite, graph.Scores, graph.Mix:
		name += b.kvName()
	case graph.MatMul:
		few, many = "mat_vec_"+format(n.W.Type), "mat_mat_"+format(n.W.Type)
		if !quantised(n.W.Type) || b.opts.noMMA {
			many = few + "_x4"
		}
		return few, many
	}
	return name, name
}

// makeSteps gives each node its function, kernels and tables.
func (b *Backend) makeSteps() error {
	ropes := map[*graph.Rope]*step{}
	writes := make([]int, len(b.g.Bufs)) // of each buffer so far
	type input struct {
		buf     graph.Buf
		version int
	}
	last := input{buf: graph.NoBuf}
	for _, n := range b.g.Nodes {
		o, ok := ops[n.Kind]
		if !ok {
			return fmt.Errorf("op %s of layer %d: wanted a kind that this backend has, found %v: choose --backend ref", n.Op, n.Layer, n.Kind)
		}
		s := step{n: n, fn: o.fn, pc: reflect.ValueOf(o.fn).Pointer()}
		few, many := b.kernelNames(n, o.kernel)
		for i, name := range []string{few, many} {
			if b.k[name] == nil {
				return fmt.Errorf("op %s of layer %d: wanted kernel %s, found none of that name: choose --backend cpu", n.Op, n.Layer, name)
			}
			s.kernel[i] = trace.Kernel(name)
		}
		switch n.Kind {
		case graph.MatMul:
			if quantised(n.W.Type) {
				in := input{n.A, writes[n.A]}
				s.fresh, last = in != last, in
			}
		case graph.RoPE:
			if err := b.makeRope(&s, ropes); err != nil {
				return err
			}
			writes[n.B]++
		}
		if n.Out != graph.NoBuf {
			writes[n.Out]++
		}
		b.plain = append(b.plain, s)
	}
	b.fuse()
	return nil
}

// makeRope computes the frequencies: pair i turns by Base^(-2i/Dim), divided by its factor (Su et al. 2021).
func (b *Backend) makeRope(s *step, seen map[*graph.Rope]*step) error {
	r := s.n.Rope
	if first := seen[r]; first != nil {
		s.freq, s.table = first.freq, first.table
		return nil
	}
	freq := make([]float64, r.Dim/2)
	for i := range freq {
		freq[i] = math.Pow(r.Base, -2*float64(i)/float64(r.Dim))
		if r.Factors != nil {
			freq[i] /= r.Factors[i]
		}
	}
	var err error
	if s.freq, err = b.alloc(int64(8 * len(freq))); err != nil {
		return err
	}
	if s.table, err = b.alloc(int64(8 * len(freq) * b.o.MaxTokens)); err != nil {
		return err
	}
	s.fresh = true
	keep := *s
	seen[r] = &keep
	return driver.Upload(s.freq, freq)
}

// each runs a kernel with a thread for each of n elements.
func (b *Backend) each(name string, threads, n int, args ...any) error {
	return b.launch(name, [3]int{(n + threads - 1) / threads}, threads, 0, args...)
}

// rows returns how many rows a node makes.
func (b *Backend) rows(n *graph.Node) int {
	if n.Out != graph.NoBuf && b.g.Bufs[n.Out].Kind == graph.PerOut {
		return len(b.batch.Out)
	}
	return len(b.batch.Tokens)
}

func (b *Backend) width(buf graph.Buf) int { return b.g.Bufs[buf].Width }

// embed expands the tokens' rows of the embedding matrix.
func embed(b *Backend, s *step) error {
	scale := s.n.Scale
	if scale == 0 {
		scale = 1
	}
	return b.launch("embed_"+format(s.n.W.Type), [3]int{len(b.batch.Tokens)}, 128, 0, b.bufs[s.n.Out], b.weights[s.n.W], b.in.tokens.dev, s.n.W.Cols, scale)
}

// normThreads is the block of a norm of n numbers.
func normThreads(n int) int { return min(1024, max(32, (n+127)/128*32)) }

// rmsNorm divides each row by its root mean square and multiplies by the weight. The last one takes only the rows whose
// logits are wanted.
func rmsNorm(b *Backend, s *step) error {
	gather := driver.Ptr(0)
	if b.g.Bufs[s.n.Out].Kind == graph.PerOut && b.g.Bufs[s.n.A].Kind == graph.PerToken {
		gather = b.in.out.dev
	}
	n := b.width(s.n.A)
	return b.norm(b.rows(s.n), n, b.bufs[s.n.Out], b.bufs[s.n.A], b.weights[s.n.W], gather, n, s.n.Eps)
}

func (b *Backend) norm(rows, n int, args ...any) error {
	if rows == 0 {
		return nil
	}
	return b.launch("rms_norm", [3]int{rows}, normThreads(n), 0, args...)
}

// headNorm is rmsNorm of each head for itself.
func headNorm(b *Backend, s *step) error {
	d := s.n.Attn.HeadDim
	return b.norm(b.rows(s.n)*b.width(s.n.A)/d, d, b.bufs[s.n.Out], b.bufs[s.n.A], b.weights[s.n.W], driver.Ptr(0), d, s.n.Eps)
}

// matMul multiplies each row by the weight and adds the bias.
func matMul(b *Backend, s *step) error {
	n, w := b.rows(s.n), s.n.W
	if n == 0 {
		return nil
	}
	bias := driver.Ptr(0)
	if s.n.Bias != nil {
		bias = b.weights[s.n.Bias]
	}
	few, many := b.kernelNames(s.n, "")
	grid, threads, name := [3]int{(w.Rows + 3) / 4, n}, 128, few
	switch {
	case n >= manyTokens && strings.HasPrefix(many, "mat_mat"):
		grid, threads, name = [3]int{(w.Rows + 31) / 32, (n + 31) / 32}, 256, many
	case n > 1:
		grid[1], name = (n+3)/4, few+"_x4"
	}
	if !quantised(w.Type) {
		return b.launch(name, grid, threads, 0, b.bufs[s.n.Out], b.weights[w], b.bufs[s.n.A], bias, w.Rows, w.Cols, n)
	}
	if err := b.quantise(s, n); err != nil {
		return err
	}
	return b.launch(name, grid, threads, 0, b.bufs[s.n.Out], b.weights[w], b.x8, b.xm, bias, w.Rows, w.Cols, n)
}

// quantise makes the integers that a product takes. Several products of one input share it.
func (b *Backend) quantise(s *step, n int) error {
	if !s.fresh && b.batch.Tap == nil {
		return nil
	}
	cols := s.n.W.Cols
	return b.launch("quantize_q14", [3]int{(cols/32 + 3) / 4, n}, 128, 0, b.x8, b.xm, b.bufs[s.n.A], cols)
}

// rope turns queries and keys by their positions. The first one of a pass fills the table of its tokens.
func rope(b *Backend, s *step) error {
	r, a, n := s.n.Rope, s.n.Attn, len(b.batch.Tokens)
	half := r.Dim / 2
	if s.fresh {
		scale := r.Scale
		if scale == 0 {
			scale = 1
		}
		if err := b.each("rope_table", 128, n*half, s.table, b.in.pos.dev, s.freq, n, half, scale); err != nil {
			return err
		}
	}
	halves := 0
	if r.Halves {
		halves = 1
	}
	return b.each("rope", 128, n*half*(a.Heads+a.KVHeads), b.bufs[s.n.A], b.bufs[s.n.B], s.table, n, a.Heads, a.KVHeads, a.HeadDim, half, halves)
}

// add puts the branch back onto the residual stream.
func add(b *Backend, s *step) error { return b.pairwise(s, "add") }

// swiGLU multiplies silu(gate) with up.
func swiGLU(b *Backend, s *step) error { return b.pairwise(s, "swiglu") }

// geGLU multiplies gelu(gate) with up.
func geGLU(b *Backend, s *step) error { return b.pairwise(s, "geglu") }

func (b *Backend) pairwise(s *step, name string) error {
	n := b.rows(s.n) * b.width(s.n.Out)
	return b.each(name, 256, n, b.bufs[s.n.A], b.bufs[s.n.B], n)
}
