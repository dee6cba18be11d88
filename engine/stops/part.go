package stops

import (
	"math"

	"glassbox/engine/graph"
)

// part is one input or output of an op, for one token: a row, or for scores and weights a row of keys for each head.
type part struct {
	buf  graph.Buf
	name string
	axes []string
	rows [][]float32
}

func (s *Session) part(b graph.Buf, rows [][]float32) part {
	p := part{buf: b, name: s.g.Bufs[b].Name, axes: []string{"width"}, rows: rows}
	if s.g.Bufs[b].Kind == graph.PerKey {
		p.axes = []string{"head", "key"}
	}
	return p
}

func (p part) size() (n int) {
	for _, r := range p.rows {
		n += len(r)
	}
	return n
}

// shape has one entry for each axis.
func (p part) shape() []int {
	if len(p.axes) == 2 {
		return []int{len(p.rows), len(p.rows[0])}
	}
	return []int{p.size()}
}

// values copies n values from index on.
func (p part) values(index, n int) []float32 {
	out := make([]float32, 0, n)
	for _, r := range p.rows {
		lo, hi := min(max(index, 0), len(r)), min(max(index+n, 0), len(r))
		out = append(out, r[lo:hi]...)
		index -= len(r)
	}
	return out
}

// write puts values in from index on.
func (p part) write(index int, v []float32) {
	for _, r := range p.rows {
		if len(v) == 0 {
			return
		}
		if index >= len(r) {
			index -= len(r)
			continue
		}
		v = v[copy(r[index:], v):]
		index = 0
	}
}

// Stats are figures of a vector, in float64. Values that are not finite are counted and left out of the rest.
type Stats struct {
	Min, Max, Mean, Norm float64 // Norm is the square root of the sum of squares
	Zeros, NotFinite     int
}

func statsOf(v []float32) Stats {
	s := Stats{Min: math.Inf(1), Max: math.Inf(-1)}
	sum, squares, n := 0.0, 0.0, 0
	for _, f := range v {
		x := float64(f)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			s.NotFinite++
			continue
		}
		if x == 0 {
			s.Zeros++
		}
		n++
		s.Min, s.Max = min(s.Min, x), max(s.Max, x)
		sum += x
		squares += x * x
	}
	if n == 0 {
		return Stats{NotFinite: s.NotFinite}
	}
	s.Mean, s.Norm = sum/float64(n), math.Sqrt(squares)
	return s
}
