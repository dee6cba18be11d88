//go:build cuda

package cuda

import (
	"fmt"
	"unsafe"

	"glassbox/engine/backend/cuda/driver"
	"glassbox/engine/graph"
	"glassbox/engine/tensor"
)

// alloc takes device memory that Close gives back.
func (b *Backend) alloc(n int64) (driver.Ptr, error) {
	p, err := driver.Alloc(max(n, 4))
	if err == nil {
		b.held = append(b.held, p)
	}
	return p, err
}

// grow makes room for n bytes; what was there is lost. Captured graphs hold the old address, so they go.
func (b *Backend) grow(g *grown, n int64) error {
	if n <= g.n {
		return nil
	}
	n = max(n, 2*g.n)
	if g.p != 0 {
		if err := b.dropGraphs(); err != nil {
			return err
		}
		if err := driver.Free(g.p); err != nil {
			return err
		}
		*g = grown{}
	}
	p, err := driver.Alloc(n)
	if err == nil {
		*g = grown{p, n}
	}
	return err
}

// pinnedOf takes page-locked host memory for n values.
func pinnedOf[T any](b *Backend, n int) ([]T, error) {
	var z T
	p, err := driver.Pinned(max(n, 1) * int(unsafe.Sizeof(z)))
	if err != nil {
		return nil, err
	}
	b.pinned = append(b.pinned, p)
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(p))), n), nil
}

// sizeOfAll is the size in bytes.
func sizeOfAll[T any](s []T) int64 { var z T; return int64(len(s)) * int64(unsafe.Sizeof(z)) }

// matrices calls f for each weight once: those that products or the embedding use as stored, and the vectors that become
// float32.
func (b *Backend) matrices(f func(w *graph.Weight, vector bool) error) error {
	seen := map[*graph.Weight]bool{}
	for _, n := range b.g.Nodes {
		for _, w := range []*graph.Weight{n.W, n.Bias} {
			if w == nil || seen[w] {
				continue
			}
			seen[w] = true
			if err := f(w, w == n.Bias || n.Kind == graph.RMSNorm || n.Kind == graph.HeadNorm); err != nil {
				return err
			}
		}
	}
	return nil
}

// fits compares what will be needed with the device's free memory, before anything is taken.
func (b *Backend) fits() error {
	var weights, bufs int64
	err := b.matrices(func(w *graph.Weight, vector bool) error {
		if want := w.Rows * w.Type.RowBytes(w.Cols); len(w.Data) != want || want == 0 {
			return fmt.Errorf("tensor %s: wanted %d bytes for %d rows of %d columns of %v, found %d: the file is damaged", w.Name, want, w.Rows, w.Cols, w.Type, len(w.Data))
		}
		weights += int64(len(w.Data))
		return nil
	})
	if err != nil {
		return err
	}
	for i := range b.g.Bufs {
		bufs += b.bufBytes(graph.Buf(i))
	}
	bufs += int64(b.maxRows() * b.maxCols() * 9 / 4)
	cache := b.layerBytes() * int64(b.g.Layers)
	free, total, err := driver.MemInfo()
	if err != nil {
		return err
	}
	if need := weights + bufs + cache; need > free {
		return fmt.Errorf("device memory: wanted %d MiB (weights %d, KV cache %d, activations %d), found %d MiB free of %d: choose a smaller --context or fewer --slots, or a smaller model",
			need>>20, weights>>20, cache>>20, bufs>>20, free>>20, total>>20)
	}
	return nil
}

// bufBytes is the size of a buffer that is not PerKey.
func (b *Backend) bufBytes(i graph.Buf) int64 {
	info := b.g.Bufs[i]
	switch info.Kind {
	case graph.PerToken:
		return int64(b.o.MaxTokens) * int64(info.Width) * 4
	case graph.PerOut:
		return int64(b.o.MaxOut) * int64(info.Width) * 4
	}
	return 0
}

func (b *Backend) maxRows() int { return max(b.o.MaxTokens, b.o.MaxOut) }

// maxCols is the widest input of a product.
func (b *Backend) maxCols() int {
	n := 32
	for _, node := range b.g.Nodes {
		if node.Kind == graph.MatMul {
			n = max(n, node.W.Cols)
		}
	}
	return n
}

// loadWeights copies the weights into device memory, as stored.
func (b *Backend) loadWeights() error {
	return b.matrices(func(w *graph.Weight, vector bool) error {
		data := w.Data
		if vector {
			v := make([]float32, w.Rows*w.Cols)
			if err := tensor.Dequant(w.Type, v, w.Data); err != nil {
				return fmt.Errorf("tensor %s: %w", w.Name, err)
			}
			data = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
		}
		p, err := b.alloc(int64(len(data)))
		if err == nil {
			err = driver.Upload(p, data)
		}
		if err != nil {
			return fmt.Errorf("tensor %s: %w", w.Name, err)
		}
		b.weights[w] = p
		return nil
	})
}

// makeBuffers takes memory for activations, the KV cache and what a batch says.
func (b *Backend) makeBuffers() (err error) {
	take := func(n int64) driver.Ptr {
		if err != nil {
			return 0
		}
		var p driver.Ptr
		p, err = b.alloc(n)
		return p
	}
	for i := range b.g.Bufs {
		b.bufs = append(b.bufs, take(b.bufBytes(graph.Buf(i))))
	}
	rows, cols := int64(b.maxRows()), int64(b.maxCols())
	b.x8, b.xm = take(2*rows*cols), take(rows*(cols+31)/32*8)
	b.cache = take(b.layerBytes() * int64(b.g.Layers))
	if err != nil {
		return err
	}
	if b.logits, err = pinnedOf[float32](b, b.o.MaxOut*b.g.Vocab); err != nil {
		return err
	}
	return b.makeInput()
}
