package kern

import "glassbox/engine/tensor"

// Keys and values are float16 in pages of 16 tokens, for each KV head on its own: keys [dim][16 tokens], values
// [16 tokens][dim]. Kernels take a table of page addresses and a distance in bytes from there, so that one table serves
// all layers and heads. The pages must not move: memory of the operating system, or of Go's heap, kept alive.

// WriteKey rounds one token's key to float16 and writes it into its column: page is the key page from the token on.
func (k *Kernels) WriteKey(page []uint16, key []float32) {
	n := len(key)
	_ = page[PageTokens*(n-1)]
	if n%8 != 0 {
		keyColumnN(page, key)
		return
	}
	k.keyColumn(&page[0], &key[0], n/8)
}

// WriteValue rounds one token's value to float16 and writes it into its row.
func (k *Kernels) WriteValue(row []uint16, value []float32) {
	n := len(value)
	_ = row[n-1]
	if n%16 != 0 {
		for i, f := range value {
			row[i] = tensor.F32ToF16(f)
		}
		return
	}
	k.toHalf(&row[0], &value[0], n/16)
}

// Scores: s[r*lds+j] = scale * q[r*ldq:][:dim] . key j, for rows of queries and whole pages of keys.
func (k *Kernels) Scores(s []float32, lds int, q []float32, ldq int, pages []uintptr, off, rows, dim int, scale float32) {
	n := len(pages)
	if n == 0 || rows == 0 {
		return
	}
	_, _ = s[(rows-1)*lds+n*PageTokens-1], q[(rows-1)*ldq+dim-1]
	if dim%16 != 0 {
		for r := range rows {
			qkRow(s[r*lds:][:n*PageTokens], q[r*ldq:][:dim], &pages[0], off, scale)
		}
		return
	}
	most := len(k.qk) - 1
	for r := 0; r < rows; r += most {
		k.qk[min(most, rows-r)](&s[r*lds], 4*lds, &q[r*ldq], 4*ldq, &pages[0], off, n, dim/16, scale)
	}
}

// Mix: out[r*ldo:][:dims] = sum over tokens j < n of p[r*ldp+j] * value j, for rows of weights, n > 0. off is the distance from
// a page's address to the first of the dims wanted, ldv the bytes from token to token.
func (k *Kernels) Mix(out []float32, ldo int, p []float32, ldp int, pages []uintptr, off, rows, n, dims, ldv int) {
	if n == 0 || rows == 0 {
		return
	}
	_, _, _ = out[(rows-1)*ldo+dims-1], p[(rows-1)*ldp+n-1], pages[(n-1)/PageTokens]
	if dims%16 != 0 {
		for r := range rows {
			pvRow(out[r*ldo:][:dims], p[r*ldp:][:n], &pages[0], off, ldv)
		}
		return
	}
	most := len(k.pv16) - 1
	for r := 0; r < rows; r += most {
		c := min(most, rows-r)
		for d := 0; d < dims; {
			f, w := k.pv16, 16
			switch {
			case k.pv64 != nil && dims-d >= 64:
				f, w = k.pv64, 64
			case k.pv32 != nil && dims-d >= 32:
				f, w = k.pv32, 32
			}
			f[c](&out[r*ldo+d], 4*ldo, &p[r*ldp], 4*ldp, &pages[0], off+2*d, n, ldv)
			d += w
		}
	}
}

// Spin waits until *p differs from old, for at most n looks, and tells whether it does. It is short work for small n: the
// caller must look at *p atomically afterwards, and let others run between calls.
func (k *Kernels) Spin(p *uint32, old uint32, n int) bool { return k.spin(p, old, n) }
