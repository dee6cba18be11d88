package file

import (
	"encoding/json"
	"strconv"
)

// None stands in Span.Pass and Span.Layer for "belongs to none"; such a field is left out of the file.
const None = -1

// Span is one interval of the request. Made by hand, set Pass and Layer to None where they do not apply: 0 is the first
// pass and the first layer.
type Span struct {
	ID      string `json:"id"` // path, unique in the recording
	Step    string `json:"step"`
	Name    string `json:"name"`
	StartNs int64  `json:"start_ns"`
	DurNs   int64  `json:"dur_ns"`
	Lane    string `json:"lane"`
	Parent  string `json:"parent"`
	Pass    int    `json:"pass"`
	Layer   int    `json:"layer"`
	Op      string `json:"op"`
	Kernel  string `json:"kernel"`
	Bytes   int64  `json:"bytes"` // moved; 0 = not known
	Flops   int64  `json:"flops"` // 0 = not known
	Prov    string `json:"prov"`  // of the times: "measured", "derived" or "declared"
	Attrs   Attrs  `json:"attrs"`
}

// EndNs is where the span ends.
func (s *Span) EndNs() int64 { return s.StartNs + s.DurNs }

// AppendJSON appends the span as one line of JSON without the newline.
func (s *Span) AppendJSON(b []byte) []byte {
	b = appendKeyString(b, `{"id":`, s.ID)
	b = appendKeyString(b, `,"step":`, s.Step)
	b = appendKeyString(b, `,"name":`, s.Name)
	b = appendKeyInt(b, `,"start_ns":`, s.StartNs)
	b = appendKeyInt(b, `,"dur_ns":`, s.DurNs)
	b = appendKeyString(b, `,"lane":`, s.Lane)
	if s.Parent != "" {
		b = appendKeyString(b, `,"parent":`, s.Parent)
	}
	if s.Pass >= 0 {
		b = appendKeyInt(b, `,"pass":`, int64(s.Pass))
	}
	if s.Layer >= 0 {
		b = appendKeyInt(b, `,"layer":`, int64(s.Layer))
	}
	if s.Op != "" {
		b = appendKeyString(b, `,"op":`, s.Op)
	}
	if s.Kernel != "" {
		b = appendKeyString(b, `,"kernel":`, s.Kernel)
	}
	if s.Bytes != 0 {
		b = appendKeyInt(b, `,"bytes":`, s.Bytes)
	}
	if s.Flops != 0 {
		b = appendKeyInt(b, `,"flops":`, s.Flops)
	}
	b = appendKeyString(b, `,"prov":`, s.Prov)
	if len(s.Attrs) > 0 {
		b = append(b, `,"attrs":`...)
		b = s.Attrs.AppendJSON(b)
	}
	return append(b, '}')
}

// MarshalJSON writes the span as AppendJSON does.
func (s Span) MarshalJSON() ([]byte, error) { return s.AppendJSON(make([]byte, 0, 320)), nil }

// UnmarshalJSON reads a span; a pass or layer that is not given is None.
func (s *Span) UnmarshalJSON(b []byte) error {
	type plain Span
	p := plain{Pass: None, Layer: None}
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	*s = Span(p)
	return nil
}

func appendKeyString(b []byte, key, v string) []byte { return AppendString(append(b, key...), v) }

func appendKeyInt(b []byte, key string, v int64) []byte {
	return strconv.AppendInt(append(b, key...), v, 10)
}
