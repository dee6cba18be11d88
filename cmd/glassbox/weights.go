package main

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"glassbox/engine"
	"glassbox/engine/graph"
	"glassbox/engine/tensor"
	"glassbox/trace/file"
	"glassbox/web"
)

// tensors lists the weights in reading order, for recordings and pages.
func (o *opened) tensors() []file.ModelTensor {
	var out []file.ModelTensor
	for _, u := range o.engine.Weights() {
		out = append(out, file.ModelTensor{Op: u.Op.String(), Layer: u.Layer, Name: u.W.Name, Type: u.W.Type.Name(), Rows: u.W.Rows, Cols: u.W.Cols, Bytes: int64(len(u.W.Data))})
	}
	return out
}

// weights implements web.Weights over the mapped file. What it hands out is computed from the stored bytes anew, not from
// what a backend has packed.
type weights struct {
	list   []file.ModelTensor
	byName map[string]*graph.Weight

	mu     sync.Mutex // one image at a time: a large one takes all the memory bandwidth
	images []keptImage
}

type keptImage struct {
	name   string
	region web.WeightRegion
	image  *web.WeightImage
}

// mostImages is how many images are kept.
const mostImages = 64

func newWeights(list []file.ModelTensor, uses []engine.WeightUse) *weights {
	w := &weights{list: list, byName: map[string]*graph.Weight{}}
	for _, u := range uses {
		w.byName[u.W.Name] = u.W
	}
	return w
}

// Tensors implements web.Weights.
func (w *weights) Tensors() []file.ModelTensor { return w.list }

// floatBlock is how many weights of a format without blocks are shown as one.
const floatBlock = 32

// Block implements web.Weights.
func (w *weights) Block(name string, row, block int) (*web.WeightBlock, error) {
	t, err := w.at(name, row)
	if err != nil {
		return nil, err
	}
	size, bytes := t.Type.BlockSize(), t.Type.BlockBytes()
	if size == 1 {
		size, bytes = floatBlock, bytes*floatBlock
	}
	b := &web.WeightBlock{Name: name, Type: t.Type.Name(), Row: row, Block: block, Blocks: (t.Cols + size - 1) / size, First: block * size}
	if block >= b.Blocks {
		return nil, &web.RangeError{Text: fmt.Sprintf("block: wanted 0 to %d of a row of %s, found %d", b.Blocks-1, name, block)}
	}
	rowBytes := t.Type.RowBytes(t.Cols)
	first := row*rowBytes + block*bytes
	b.Offset = int64(first)
	b.Bytes = slices.Clone(t.Data[first:min(first+bytes, (row+1)*rowBytes)])
	b.Values = make([]float32, min(size, t.Cols-b.First))
	if err := tensor.Dequant(t.Type, b.Values, b.Bytes); err != nil {
		return nil, err
	}
	b.Group, b.Formula = len(b.Values), "w, as stored"
	b.Parts = []web.WeightPart{{Name: "w", Bytes: len(b.Bytes), Kind: t.Type.Name()}}
	if t.Type.BlockSize() == 1 {
		return b, nil
	}
	p, err := tensor.Apart(t.Type, b.Bytes)
	if err != nil {
		return nil, err
	}
	b.Parts = nil
	for _, q := range p.Parts {
		b.Parts = append(b.Parts, web.WeightPart(q))
	}
	b.Formula, b.Group, b.Zero, b.Codes, b.Scale, b.Min = p.Formula, p.Group, p.Zero, p.Codes, p.Scale, p.Min
	return b, nil
}

// at finds a tensor that has the row.
func (w *weights) at(name string, row int) (*graph.Weight, error) {
	t := w.byName[name]
	if t == nil {
		return nil, web.ErrUnknownTensor
	}
	if row >= t.Rows {
		return nil, &web.RangeError{Text: fmt.Sprintf("row: wanted 0 to %d of %s, found %d", t.Rows-1, name, row)}
	}
	return t, nil
}

// Row implements web.Weights.
func (w *weights) Row(name string, row int) ([]float32, error) {
	t, err := w.at(name, row)
	if err != nil {
		return nil, err
	}
	return rowOf(t, row)
}

func rowOf(t *graph.Weight, row int) ([]float32, error) {
	n := t.Type.RowBytes(t.Cols)
	v := make([]float32, t.Cols)
	return v, tensor.Dequant(t.Type, v, t.Data[row*n:(row+1)*n])
}

// Image implements web.Weights. Every weight of the region goes into exactly one pixel.
func (w *weights) Image(name string, g web.WeightRegion) (*web.WeightImage, error) {
	t, err := w.at(name, g.Row)
	if err != nil {
		return nil, err
	}
	if g.Col >= t.Cols {
		return nil, &web.RangeError{Text: fmt.Sprintf("col: wanted 0 to %d of %s, found %d", t.Cols-1, name, g.Col)}
	}
	if g.Rows == 0 {
		g.Rows = t.Rows - g.Row
	}
	if g.Cols == 0 {
		g.Cols = t.Cols - g.Col
	}
	if g.Rows > t.Rows-g.Row || g.Cols > t.Cols-g.Col { // not the sums: they may not fit an int
		return nil, &web.RangeError{Text: fmt.Sprintf("wanted a region inside %d rows and %d columns of %s, found %d rows from %d and %d columns from %d",
			t.Rows, t.Cols, name, g.Rows, g.Row, g.Cols, g.Col)}
	}
	g.Width, g.Height = min(g.Width, g.Cols), min(g.Height, g.Rows)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range w.images {
		if k.name == name && k.region == g {
			return k.image, nil
		}
	}
	m, err := imageOf(t, g)
	if err != nil {
		return nil, err
	}
	if len(w.images) == mostImages {
		w.images = slices.Delete(w.images, 0, 1)
	}
	w.images = append(w.images, keptImage{name, g, m})
	return m, nil
}

// imageOf goes through the rows once. A pixel of absolute values is the largest of its weights, so that a single large
// weight stays visible; a pixel of means is their sum by their number.
func imageOf(t *graph.Weight, g web.WeightRegion) (*web.WeightImage, error) {
	acc, row := make([]float64, g.Width*g.Height), make([]float32, t.Cols)
	n := t.Type.RowBytes(t.Cols)
	for y := range g.Height {
		line := acc[y*g.Width : (y+1)*g.Width]
		lo, hi := g.Row+y*g.Rows/g.Height, g.Row+(y+1)*g.Rows/g.Height
		for r := lo; r < hi; r++ {
			if err := tensor.Dequant(t.Type, row, t.Data[r*n:(r+1)*n]); err != nil {
				return nil, err
			}
			for x := range line {
				for _, v := range row[g.Col+x*g.Cols/g.Width : g.Col+(x+1)*g.Cols/g.Width] {
					if g.Mean {
						line[x] += float64(v)
					} else {
						line[x] = max(line[x], math.Abs(float64(v)))
					}
				}
			}
		}
		if g.Mean {
			for x := range line {
				line[x] /= float64((hi - lo) * ((x+1)*g.Cols/g.Width - x*g.Cols/g.Width))
			}
		}
	}
	m := &web.WeightImage{Row: g.Row, Rows: g.Rows, Col: g.Col, Cols: g.Cols, Width: g.Width, Height: g.Height, Mean: g.Mean, Levels: make([]uint8, len(acc))}
	top := 0.0
	for _, v := range acc {
		top = max(top, math.Abs(v))
	}
	m.Top = float32(top)
	for i, v := range acc {
		switch {
		case top == 0 && g.Mean:
			m.Levels[i] = 128
		case top == 0:
		case g.Mean:
			m.Levels[i] = uint8(128 + math.Round(v/top*127))
		default:
			m.Levels[i] = uint8(math.Round(v / top * 255))
		}
	}
	return m, nil
}
