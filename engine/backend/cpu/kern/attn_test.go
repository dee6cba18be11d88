package kern

import (
	"fmt"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"glassbox/engine/tensor"
)

// cache is a few pages of keys and values of one head, not in order in memory.
type cache struct {
	dim    int
	mem    []uint16
	pages  []uintptr
	keys   int // bytes from a page's address
	values int
}

func newCache(kn *Kernels, dim, tokens int, seed uint64) *cache {
	n := (tokens + 15) / 16
	c := &cache{dim: dim, mem: make([]uint16, n*2*16*dim+64), keys: 32, values: 32 + 32*dim}
	for i := range n {
		at := (i*7 + 3) % n
		if n%7 == 0 {
			at = n - 1 - i
		}
		c.pages = append(c.pages, uintptr(unsafe.Pointer(&c.mem[at*2*16*dim])))
	}
	rnd := newRand(seed)
	for t := range tokens {
		kv := randomX(2, dim, dim, rnd)
		base := (int(c.pages[t/16]) - int(uintptr(unsafe.Pointer(&c.mem[0])))) / 2
		kn.WriteKey(c.mem[base+c.keys/2+t%16:], kv[:dim])
		kn.WriteValue(c.mem[base+c.values/2+t%16*dim:], kv[dim:])
	}
	return c
}

// attend runs scores, softmax and mix for rows of queries, with n(r) keys each.
func (c *cache) attend(k *Kernels, q []float32, rows int, keys func(r int) int) (s, out []float32) {
	lds := len(c.pages) * 16
	s, out = make([]float32, rows*lds), make([]float32, rows*c.dim)
	most := 0
	for r := range rows {
		most = max(most, keys(r))
	}
	k.Scores(s, lds, q, c.dim, c.pages[:(most+15)/16], c.keys, rows, c.dim, 0.125)
	for r := range rows {
		k.Softmax(s[r*lds:(r+1)*lds], 0, keys(r))
	}
	k.Mix(out, c.dim, s, lds, c.pages, c.values, rows, most, c.dim, 2*c.dim)
	runtime.KeepAlive(c)
	return s, out
}

// TestAttentionIsBitEqual: one row at a time in plain Go is the truth for every variant and number of rows.
func TestAttentionIsBitEqual(t *testing.T) {
	for _, dim := range []int{8, 16, 24, 48, 64, 80, 128, 256} {
		const tokens, most = 83, 13
		keys := func(r int) int { return tokens - most + 1 + r }
		q := randomX(most, dim, dim, newRand(uint64(dim)))
		c := newCache(plain(t), dim, tokens, 9)
		var wantS, wantOut []float32
		for r := range most {
			s, o := c.attend(plain(t), q[r*dim:(r+1)*dim], 1, func(int) int { return keys(r) })
			wantS, wantOut = append(wantS, s...), append(wantOut, o...)
		}
		for _, k := range all(t) {
			c2 := newCache(k, dim, tokens, 9)
			require.Equal(t, c.mem, c2.mem, "%s: keys and values", k.name)
			for rows := 1; rows <= most; rows++ {
				s, o := c2.attend(k, q[:rows*dim], rows, keys)
				sameBits(t, wantS[:len(s)], s, fmt.Sprintf("%s dim %d rows %d weights", k.name, dim, rows))
				sameBits(t, wantOut[:len(o)], o, fmt.Sprintf("%s dim %d rows %d mix", k.name, dim, rows))
			}
			runtime.KeepAlive(c2)
		}
	}
}

// TestAttentionIsRight holds scores and mixes to float64 on the same rounded keys and values.
func TestAttentionIsRight(t *testing.T) {
	eachVariant(t, func(t *testing.T, k *Kernels) {
		const dim, tokens, rows = 64, 50, 3
		c := newCache(k, dim, tokens, 1)
		q := randomX(rows, dim, dim, newRand(2))
		lds := len(c.pages) * 16
		s := make([]float32, rows*lds)
		k.Scores(s, lds, q, dim, c.pages, c.keys, rows, dim, 0.125)
		out := make([]float32, rows*dim)
		k.Mix(out, dim, s, lds, c.pages, c.values, rows, tokens, dim, 2*dim)
		base := uintptr(unsafe.Pointer(&c.mem[0]))
		for r := range rows {
			mix := make([]float64, dim)
			for j := range tokens {
				page := c.mem[(c.pages[j/16]-base)/2:]
				var f float64
				for d := range dim {
					f += float64(q[r*dim+d]) * float64(tensor.F16ToF32(page[c.keys/2+16*d+j%16]))
					mix[d] += float64(s[r*lds+j]) * float64(tensor.F16ToF32(page[c.values/2+j%16*dim+d]))
				}
				require.InDelta(t, f*0.125, s[r*lds+j], 1e-5)
			}
			for d := range dim {
				require.InDelta(t, mix[d], out[r*dim+d], 1e-4)
			}
		}
	})
}
