package kern

import (
	"fmt"
	"testing"
	"time"
	"unsafe"

	"glassbox/engine/tensor"
)

var benchTypes = []tensor.Type{tensor.Q4_0, tensor.Q4_1, tensor.Q8_0, tensor.Q4_K, tensor.Q6_K, tensor.F16, tensor.Q5_K}

// BenchmarkMatVec multiplies one token from L2 (1 MiB and less), and from memory (64 MiB); BenchmarkReadRoof says what
// reading alone can do there.
func BenchmarkMatVec(b *testing.B) {
	for _, k := range all(b) {
		for _, ty := range benchTypes {
			for _, rows := range []int{256, 65536} {
				if rows > 256 && (k.name == "generic") {
					continue // the point of the big one is memory
				}
				b.Run(fmt.Sprintf("%s/%v/rows=%d", k.name, ty, rows), func(b *testing.B) { benchMul(b, k, ty, rows, 2048, 1) })
			}
		}
	}
}

// BenchmarkMatMat multiplies batches.
func BenchmarkMatMat(b *testing.B) {
	for _, k := range all(b) {
		for _, ty := range benchTypes {
			for _, n := range []int{4, 8, 12, 48} {
				if k.name == "generic" && n != 8 {
					continue
				}
				b.Run(fmt.Sprintf("%s/%v/n=%d", k.name, ty, n), func(b *testing.B) { benchMul(b, k, ty, 1536, 576/ty.BlockSize()*ty.BlockSize(), n) })
			}
		}
	}
}

// BenchmarkPrompt multiplies 512 tokens by the matrices of a model of 1.5B: up, down.
func BenchmarkPrompt(b *testing.B) {
	k := all(b)[0] // the best one here
	for _, ty := range []tensor.Type{tensor.Q4_0, tensor.Q8_0, tensor.Q4_K, tensor.Q6_K} {
		b.Run(fmt.Sprintf("%s/%v/up", k.name, ty), func(b *testing.B) { benchMul(b, k, ty, 8960, 1536, 512) })
		b.Run(fmt.Sprintf("%s/%v/down", k.name, ty), func(b *testing.B) { benchMul(b, k, ty, 1536, 8960, 512) })
	}
}

func benchMul(b *testing.B, k *Kernels, ty tensor.Type, rows, cols, n int) {
	rnd := newRand(1)
	src := make([]byte, rows*ty.RowBytes(cols))
	one := randomRows(ty, 1, cols, rnd)
	for r := range rows {
		copy(src[r*len(one):], one)
	}
	m := pack(b, k, ty, rows, cols, src)
	ld := padTo(cols, 256)
	x, y, scratch := randomX(n, cols, ld, rnd), make([]float32, n*m.Pairs*Pair), make([]byte, m.Scratch())
	q := m.Quant()
	in := Input{F: x, LD: ld, N: n, Q: make([]byte, k.Room(q, cols, n))}
	if q != AsFloat {
		k.Quantise(q, in.Q, x, ld, cols, n, 0, k.Tiles(n), make([]byte, MaxT*q.Size(cols)))
	}
	best := time.Hour
	for b.Loop() {
		start := time.Now()
		m.Mul(y, m.Pairs*Pair, in, 0, m.Pairs, scratch)
		best = min(best, time.Since(start))
	}
	// The best run, because others use the machine too.
	b.ReportMetric(2*float64(rows*cols*n)/best.Seconds()/1e12, "TOP/s")
	b.ReportMetric(float64(len(src))/best.Seconds()/1e9, "GB/s")
}

// BenchmarkQuantise rounds one token of 2048 values.
func BenchmarkQuantise(b *testing.B) {
	for _, k := range all(b) {
		for q, name := range map[Quant]string{Per32: "32", Per256: "256"} {
			x, dst := randomX(1, 2048, 2048, newRand(1)), make([]byte, q.Size(2048))
			b.Run(k.name+"/per="+name, func(b *testing.B) {
				for b.Loop() {
					k.Quantise(q, dst, x, 2048, 2048, 1, 0, 1, nil)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2048, "ns/value")
			})
		}
	}
}

func BenchmarkReadRoof(b *testing.B) {
	for _, size := range []int{256 << 10, 64 << 20} {
		buf := make([]byte, size)
		for i := range buf {
			buf[i] = 1
		}
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(ReadRoof(buf)))
			for b.Loop() {
				ReadRoof(buf)
			}
		})
	}
}

// BenchmarkAttention reads 1024 tokens of keys, or values, of one head for 3 rows (decode) and 6 (prefill).
func BenchmarkAttention(b *testing.B) {
	for _, k := range all(b) {
		const dim, tokens = 64, 1024
		c := newCache(k, dim, tokens, 1)
		for _, rows := range []int{3, 6} {
			q, s, out := randomX(rows, dim, dim, newRand(1)), make([]float32, rows*tokens), make([]float32, rows*dim)
			b.Run(fmt.Sprintf("%s/scores/rows=%d", k.name, rows), func(b *testing.B) {
				for b.Loop() {
					k.Scores(s, tokens, q, dim, c.pages, c.keys, rows, dim, 0.125)
				}
				b.ReportMetric(2*float64(rows*dim*tokens)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gflop/s")
			})
			b.Run(fmt.Sprintf("%s/mix/rows=%d", k.name, rows), func(b *testing.B) {
				for b.Loop() {
					k.Mix(out, dim, s, tokens, c.pages, c.values, rows, tokens, dim, 2*dim)
				}
				b.ReportMetric(2*float64(rows*dim*tokens)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gflop/s")
			})
		}
		s := make([]float32, tokens)
		b.Run(k.name+"/softmax", func(b *testing.B) {
			b.SetBytes(tokens * int64(unsafe.Sizeof(s[0])))
			for b.Loop() {
				k.Softmax(s, 0, tokens)
			}
		})
	}
}
