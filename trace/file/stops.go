package file

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"glassbox/trace"
)

// Halt is where the engine stood still in a pass: after the op, for the request's token at a position.
type Halt struct {
	Op      string `json:"op"`
	Layer   int    `json:"layer"` // -1 outside the layers
	Token   int    `json:"token"` // position in the sequence, from 0
	Pass    int    `json:"pass"`
	StartNs int64  `json:"start_ns"`
	DurNs   int64  `json:"dur_ns"`
	Ended   string `json:"ended"` // continue, op, layer, run, limit, cancelled or closed
}

// Edit is a change of what the op had written, values Index to Index+Count-1 of its output.
type Edit struct {
	Op     string  `json:"op"`
	Layer  int     `json:"layer"`
	Token  int     `json:"token"`
	Pass   int     `json:"pass"`
	Part   string  `json:"part"`
	Index  int     `json:"index"`
	Count  int     `json:"count"`
	How    string  `json:"how"` // set, scale or zero
	Factor float64 `json:"factor,omitempty"`
	Old    Floats  `json:"old"`
	New    Floats  `json:"new"`
	TNs    int64   `json:"t_ns"`
}

// Floats are float32 values that JSON shows with the digits that tell them apart; a value that is not finite is the
// string "NaN", "+Inf" or "-Inf".
type Floats []float32

// MarshalJSON implements json.Marshaler.
func (f Floats) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i, v := range f {
		if i > 0 {
			b = append(b, ',')
		}
		if x := float64(v); math.IsNaN(x) || math.IsInf(x, 0) {
			b = append(strconv.AppendFloat(append(b, '"'), x, 'g', -1, 32), '"')
		} else {
			b = strconv.AppendFloat(b, x, 'g', -1, 32)
		}
	}
	return append(b, ']'), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *Floats) UnmarshalJSON(b []byte) error {
	var list []any
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	out := make(Floats, len(list))
	for i, v := range list {
		switch v := v.(type) {
		case float64:
			out[i] = float32(v)
		case string:
			x, err := strconv.ParseFloat(v, 32)
			if err != nil || !math.IsNaN(x) && !math.IsInf(x, 0) {
				return fmt.Errorf("value %d: wanted a number, NaN, +Inf or -Inf, found %.40q", i, v)
			}
			out[i] = float32(x)
		default:
			return fmt.Errorf("value %d: wanted a number, found %.40v", i, v)
		}
	}
	*f = out
	return nil
}

// stops turns what happened at breakpoints into the form of the file.
func (b *Builder) stops(r *Request, f *trace.Facts) {
	for _, h := range f.Halts {
		r.Stops = append(r.Stops, Halt{Op: h.Op.String(), Layer: h.Layer, Token: h.Token, Pass: h.Pass,
			StartNs: max(h.Start-b.rec.Start, 0), DurNs: h.Dur, Ended: h.Ended})
	}
	for _, e := range f.Edits {
		r.Edits = append(r.Edits, Edit{Op: e.Op.String(), Layer: e.Layer, Token: e.Token, Pass: e.Pass, Part: e.Part, Index: e.Index,
			Count: len(e.New), How: e.How, Factor: e.Factor, Old: e.Old, New: e.New, TNs: max(e.At-b.rec.Start, 0)})
	}
}
