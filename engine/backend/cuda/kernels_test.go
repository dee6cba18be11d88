//go:build cuda

package cuda

import (
	"fmt"
	"math"
	"testing"

	"glassbox/engine/backend/cuda/driver"
	"glassbox/engine/tensor"
)

var (
	quants = []tensor.Type{tensor.Q8_0, tensor.Q4_0, tensor.Q4_1, tensor.Q5_0, tensor.Q5_1, tensor.Q4_K, tensor.Q5_K, tensor.Q6_K}
	plains = []tensor.Type{tensor.F32, tensor.F16, tensor.BF16}
)

func TestKernelEmbeddingHasTheBitsOfTheFile(t *testing.T) {
	onRig(t, func(r *rig) {
		for _, ty := range append(quants, plains...) {
			const rows, cols = 5, 512
			data, vals := r.weight(ty, rows, cols)
			ids := []int32{4, 0, 4, 3}
			out := r.room(len(ids) * cols)
			r.must(r.launch("embed_"+format(ty), [3]int{len(ids)}, 128, 0, out, up(r, data), up(r, ids), cols, float32(2)))
			var want []float32
			for _, id := range ids {
				for _, v := range vals[int(id)*cols:][:cols] {
					want = append(want, 2*v)
				}
			}
			r.same("embed "+format(ty), down[float32](r, out, len(want)), want)
		}
	})
}

// dot64 is w · x in float64, for all tokens and rows.
func dot64(w, x, bias []float32, rows, cols, tokens int) []float32 {
	y := make([]float32, tokens*rows)
	for t := range tokens {
		for i := range rows {
			sum := float64(bias[i])
			for c := range cols {
				sum += float64(w[i*cols+c]) * float64(x[t*cols+c])
			}
			y[t*rows+i] = float32(sum)
		}
	}
	return y
}

// products runs a product on each of its paths.
func (r *rig) products(ty tensor.Type, w, x, bias driver.Ptr, x8, xm driver.Ptr, rows, cols, tokens int) map[string][]float32 {
	name := format(ty)
	out := map[string][]float32{}
	run := func(kernel string, grid [3]int, threads int) {
		y := r.room(tokens * rows)
		args := []any{y, w, x8, xm, bias, rows, cols, tokens}
		if !quantised(ty) {
			args = []any{y, w, x, bias, rows, cols, tokens}
		}
		r.must(r.launch(kernel, grid, threads, 0, args...))
		out[kernel] = down[float32](r, y, tokens*rows)
	}
	run("mat_vec_"+name, [3]int{(rows + 3) / 4, tokens}, 128)
	run("mat_vec_"+name+"_x4", [3]int{(rows + 3) / 4, (tokens + 3) / 4}, 128)
	if quantised(ty) {
		run("mat_mat_"+name, [3]int{(rows + 31) / 32, (tokens + 31) / 32}, 256)
	}
	return out
}

// Quantised products are those of the integers that quantize_q14 makes; all paths have the same bits.
func TestKernelProducts(t *testing.T) {
	for _, ty := range append(quants, plains...) {
		t.Run(format(ty), func(t *testing.T) {
			onRig(t, func(r *rig) {
				for _, c := range []struct{ rows, cols, tokens int }{{1, 256, 1}, {33, 512, 3}, {7, 768, 34}, {40, 2304, 5}} {
					if ty.BlockSize() <= 32 && c.rows == 7 {
						c.cols = 96
						if ty.BlockSize() == 1 {
							c.cols = 97
						}
					}
					r.product(ty, c.rows, c.cols, c.tokens)
				}
			})
		})
	}
}

func (r *rig) product(ty tensor.Type, rows, cols, tokens int) {
	data, vals := r.weight(ty, rows, cols)
	x, bias := r.normals(tokens*cols), r.normals(rows)
	clear(x[:32]) // a group of zeros has no scale
	dx := up(r, x)
	used, x8, xm := x, driver.Ptr(0), driver.Ptr(0)
	if quantised(ty) {
		x8, xm = r.room(tokens*cols/2), r.room(tokens*cols/32*2)
		r.must(r.launch("quantize_q14", [3]int{(cols/32 + 3) / 4, tokens}, 128, 0, x8, xm, dx, cols))
		used = r.rounded(x, down[int8](r, x8, 2*tokens*cols), down[[2]int32](r, xm, tokens*cols/32))
	}
	want := dot64(vals, used, bias, rows, cols, tokens)
	first := ""
	got := r.products(ty, up(r, data), dx, up(r, bias), x8, xm, rows, cols, tokens)
	for name, y := range got {
		r.near(fmt.Sprintf("%s %dx%d, %d tokens", name, rows, cols, tokens), y, want, 2e-6*math.Sqrt(float64(cols)/32))
		if first == "" {
			first = name
		}
		r.same(name+" beside "+first, y, got[first])
	}
	if quantised(ty) {
		r.gateUp(ty, x8, xm, rows, cols)
	}
}

// rounded checks the integers and returns the numbers it stands for.
func (r *rig) rounded(x []float32, q []int8, meta [][2]int32) []float32 {
	used := make([]float32, len(x))
	for g, m := range meta {
		d, sum := math.Float32frombits(uint32(m[0])), int32(0)
		for i := 32 * g; i < 32*g+32; i++ {
			c := 256*int32(q[i+32*g]) + int32(q[i+32*g+32])
			used[i] = float32(c) * d
			sum += c
			if math.Abs(float64(x[i]-used[i])) > 0.501*float64(d) {
				panic(fmt.Sprintf("quantize_q14: %g became %d times %g", x[i], c, d))
			}
		}
		if sum != m[1] {
			panic(fmt.Sprintf("quantize_q14: sum %d, wanted %d", m[1], sum))
		}
	}
	return used
}

// gateUp checks that the fused kernel has the bits of its parts.
func (r *rig) gateUp(ty tensor.Type, x8, xm driver.Ptr, rows, cols int) {
	a, _ := r.weight(ty, rows, cols)
	b, _ := r.weight(ty, rows, cols)
	gate, upw := up(r, a), up(r, b)
	y, g, u := r.room(rows), r.room(rows), r.room(rows)
	grid := [3]int{(rows + 3) / 4, 1}
	r.must(r.launch("gate_up_swiglu_"+format(ty), grid, 128, 0, y, gate, upw, x8, xm, rows, cols))
	r.must(r.launch("mat_vec_"+format(ty), grid, 128, 0, g, gate, x8, xm, driver.Ptr(0), rows, cols, 1))
	r.must(r.launch("mat_vec_"+format(ty), grid, 128, 0, u, upw, x8, xm, driver.Ptr(0), rows, cols, 1))
	r.must(r.each("swiglu", 256, rows, g, u, rows))
	r.same("gate_up_swiglu "+format(ty), down[float32](r, y, rows), down[float32](r, g, rows))
}

func TestKernelNorms(t *testing.T) {
	onRig(t, func(r *rig) {
		for _, n := range []int{1, 16, 33, 576, 4096} {
			const rows = 3
			x, b, w := r.normals(rows*n), r.normals(rows*n), r.normals(n)
			norm := func(x []float32) []float32 {
				y := make([]float32, len(x))
				for i := 0; i < len(x); i += n {
					sum := 0.0
					for _, v := range x[i : i+n] {
						sum += float64(v) * float64(v)
					}
					for j, v := range x[i : i+n] {
						y[i+j] = float32(float64(v) / math.Sqrt(sum/float64(n)+1e-5) * float64(w[j]))
					}
				}
				return y
			}
			dx, db, dw, y, z := up(r, x), up(r, b), up(r, w), r.room(rows*n), r.room(rows*n)
			r.must(r.launch("rms_norm", [3]int{rows}, normThreads(n), 0, y, dx, dw, driver.Ptr(0), n, float32(1e-5)))
			r.near("rms_norm", down[float32](r, y, rows*n), norm(x), 2e-6)
			// Gathered rows.
			r.must(r.launch("rms_norm", [3]int{2}, normThreads(n), 0, y, dx, dw, up(r, []int32{2, 0}), n, float32(1e-5)))
			all := norm(x)
			r.near("rms_norm of rows", down[float32](r, y, 2*n), append(append([]float32{}, all[2*n:]...), all[:n]...), 2e-6)
			// With the add before it: the bits of the two.
			other := up(r, x)
			r.must(r.launch("add_rms_norm", [3]int{rows}, normThreads(n), 0, z, other, db, dw, n, float32(1e-5)))
			r.must(r.each("add", 256, rows*n, dx, db, rows*n))
			r.must(r.launch("rms_norm", [3]int{rows}, normThreads(n), 0, y, dx, dw, driver.Ptr(0), n, float32(1e-5)))
			sum := down[float32](r, dx, rows*n)
			for i := range x {
				x[i] += b[i]
			}
			r.same("add", sum, x)
			r.same("add_rms_norm, the sum", down[float32](r, other, rows*n), sum)
			r.same("add_rms_norm", down[float32](r, z, rows*n), down[float32](r, y, rows*n))
		}
	})
}

func TestKernelGates(t *testing.T) {
	onRig(t, func(r *rig) {
		const n = 1000
		g, u := r.normals(n), r.normals(n)
		g[0], g[1] = 90, -90
		silu, gelu := make([]float32, n), make([]float32, n)
		for i := range g {
			z := float64(g[i])
			silu[i] = float32(z / (1 + math.Exp(-z)) * float64(u[i]))
			gelu[i] = float32(z / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(z+0.044715*z*z*z))) * float64(u[i]))
		}
		a, b, du := up(r, g), up(r, g), up(r, u)
		r.must(r.each("swiglu", 256, n, a, du, n))
		r.must(r.each("geglu", 256, n, b, du, n))
		r.near("swiglu", down[float32](r, a, n), silu, 1e-6)
		r.near("geglu", down[float32](r, b, n), gelu, 1e-6)
	})
}

func TestKernelRope(t *testing.T) {
	onRig(t, func(r *rig) {
		for _, halves := range []int{0, 1} {
			const n, heads, kvHeads, dim, half = 3, 3, 1, 24, 10
			pos := []int32{0, 7, 131071}
			freq := make([]float64, half)
			for i := range freq {
				freq[i] = math.Pow(10000, -2*float64(i)/(2*half))
			}
			q, k := r.normals(n*heads*dim), r.normals(n*kvHeads*dim)
			want := func(x []float32, heads int) []float32 {
				out := append([]float32(nil), x...)
				for t := range n {
					for h := range heads {
						for i := range half {
							a, b := 2*i, 2*i+1
							if halves == 1 {
								a, b = i, i+half
							}
							at := (t*heads + h) * dim
							sin, cos := math.Sincos(float64(pos[t]) * freq[i])
							u, v := float64(x[at+a]), float64(x[at+b])
							out[at+a], out[at+b] = float32(1.5*(u*cos-v*sin)), float32(1.5*(u*sin+v*cos))
						}
					}
				}
				return out
			}
			dq, dk, cs := up(r, q), up(r, k), r.room(2*n*half)
			r.must(r.each("rope_table", 128, n*half, cs, up(r, pos), up(r, freq), n, half, 1.5))
			r.must(r.each("rope", 128, n*half*(heads+kvHeads), dq, dk, cs, n, heads, kvHeads, dim, half, halves))
			r.near("queries", down[float32](r, dq, len(q)), want(q, heads), 1e-6)
			r.near("keys", down[float32](r, dk, len(k)), want(k, kvHeads), 1e-6)
		}
	})
}

func TestKernelPickingWords(t *testing.T) {
	onRig(t, func(r *rig) {
		const rows, n, k = 3, 1000, 7
		x := r.normals(rows * n)
		x[2*n+5], x[2*n+900], x[2*n+17] = 50, 50, 49 // a tie: the first leads
		ids, vals, dx := r.room(rows*k), r.room(rows*k), up(r, x)
		r.must(r.launch("arg_max", [3]int{rows}, 256, 0, ids, vals, dx, n))
		best := down[int32](r, ids, rows)
		r.must(r.launch("top_k", [3]int{rows}, 256, 0, ids, vals, dx, n, k))
		top, of := down[int32](r, ids, rows*k), down[float32](r, vals, rows*k)
		for i := range rows {
			row := x[i*n : (i+1)*n]
			if best[i] != top[i*k] {
				panic(fmt.Sprintf("row %d: arg_max %d, top_k begins with %d", i, best[i], top[i*k]))
			}
			for j := range k {
				above := 0
				for at, v := range row {
					if v > of[i*k+j] || v == of[i*k+j] && at < int(top[i*k+j]) {
						above++
					}
				}
				if above != j || row[top[i*k+j]] != of[i*k+j] {
					panic(fmt.Sprintf("row %d: word %d in place %d has %d before it", i, top[i*k+j], j, above))
				}
			}
		}
	})
}
