package file

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Arrays of at most smallArray bytes lie inside a .json (base64 of their little-endian bytes, in the extra field "data"
// of their entry) as long as all of them stay under smallArrays; larger ones are described there and kept in a .gbx.
const (
	smallArray  = 256 << 10
	smallArrays = 2 << 20
)

// WriteJSON writes the text form: one value a line, and one line for each span, pass, token and step. The text is not
// escaped for HTML: a page that embeds it replaces "<" by "\u003c", which is the same JSON.
func WriteJSON(w io.Writer, rec *Recording) error {
	if err := checkForWrite(rec); err != nil {
		return err
	}
	return encodeJSON(w, rec, true)
}

// encoder writes the top level of a recording and remembers the first error.
type encoder struct {
	w     io.Writer
	b     []byte
	comma bool
	err   error
}

func (e *encoder) key(name string) {
	if e.comma {
		e.b = append(e.b, ",\n"...)
	}
	e.comma = true
	e.b = append(AppendString(append(e.b, ' '), name), ": "...)
}

// field writes any value on one line.
func (e *encoder) field(name string, v any) {
	e.key(name)
	raw, err := marshal(v)
	if err != nil && e.err == nil {
		e.err = fmt.Errorf("%s: %w", name, err)
	}
	e.b = append(e.b, raw...)
	e.flush(64 << 10)
}

// list writes n values, one a line.
func (e *encoder) list(name string, n int, one func(b []byte, i int) []byte) {
	e.key(name)
	e.b = append(e.b, '[')
	for i := range n {
		if i > 0 {
			e.b = append(e.b, ',')
		}
		e.b = one(append(e.b, "\n  "...), i)
		e.flush(64 << 10)
	}
	if n > 0 {
		e.b = append(e.b, "\n "...)
	}
	e.b = append(e.b, ']')
}

func (e *encoder) flush(over int) {
	if len(e.b) < over || e.err != nil {
		return
	}
	_, e.err = e.w.Write(e.b)
	e.b = e.b[:0]
}

// encodeJSON puts the spans last, so that a reader of summaries can stop early.
func encodeJSON(w io.Writer, rec *Recording, withData bool) error {
	e := &encoder{w: w, b: append(make([]byte, 0, 80<<10), "{\n"...)}
	e.field("schema", Schema{SchemaName, SchemaVersion})
	if rec.ID != "" {
		e.field("id", rec.ID)
	}
	e.field("engine", rec.Engine)
	e.field("model", rec.Model)
	device := rec.Device
	device.Features = orEmpty(device.Features)
	e.field("device", device)
	e.field("clock", rec.Clock)
	e.field("started", rec.Started)
	e.field("numbers", rec.Numbers)
	e.field("dropped", rec.Dropped)
	untraced := rec.Untraced
	if untraced == nil {
		untraced = &Untraced{}
	}
	e.field("untraced", untraced)
	if len(rec.Peers) > 0 {
		e.field("peers", rec.Peers)
	}
	if rec.Partial {
		e.field("partial", true)
		e.field("missing", orEmpty(rec.Missing))
	}
	e.request(&rec.Request)
	e.lists(rec, withData)
	e.b = append(e.b, "\n}\n"...)
	e.flush(0)
	return e.err
}

func (e *encoder) lists(rec *Recording, withData bool) {
	if len(rec.Lanes) > 0 {
		e.field("lanes", rec.Lanes)
	}
	if len(rec.Loops) > 0 {
		e.field("loops", rec.Loops)
	}
	e.field("arrays", describeArrays(rec.Arrays, withData))
	e.list("passes", len(rec.Passes), func(b []byte, i int) []byte { return e.item(b, rec.Passes[i]) })
	if len(rec.Calls) > 0 {
		e.list("calls", len(rec.Calls), func(b []byte, i int) []byte { return e.item(b, rec.Calls[i]) })
	}
	if len(rec.Turns) > 0 {
		e.list("turns", len(rec.Turns), func(b []byte, i int) []byte { return e.item(b, rec.Turns[i]) })
	}
	if rec.Memory != nil {
		e.field("memory", rec.Memory)
	}
	if len(rec.Modules) > 0 {
		e.list("modules", len(rec.Modules), func(b []byte, i int) []byte {
			m := rec.Modules[i]
			m.Imports = orEmpty(m.Imports)
			return e.item(b, m)
		})
	}
	e.list("walk", len(rec.Walk), func(b []byte, i int) []byte {
		s := rec.Walk[i]
		s.Spans = orEmpty(s.Spans)
		return e.item(b, s)
	})
	e.list("spans", len(rec.Spans), func(b []byte, i int) []byte { return rec.Spans[i].AppendJSON(b) })
}

// item appends one element of a list.
func (e *encoder) item(b []byte, v any) []byte {
	raw, err := marshal(v)
	if err != nil && e.err == nil {
		e.err = err
	}
	return append(b, raw...)
}

// request writes the request with its tokens one a line.
func (e *encoder) request(r *Request) {
	e.key("request")
	head := *r
	if head.Params == nil {
		head.Params = Attrs{}
	}
	in := &encoder{w: e.w}
	raw, err := marshal(struct {
		Request
		PromptTokens *int `json:"prompt_tokens,omitempty"` // hides the embedded list
		OutputTokens *int `json:"output_tokens,omitempty"`
	}{Request: head})
	if err != nil && e.err == nil {
		e.err = fmt.Errorf("request: %w", err)
		return
	}
	e.b = append(e.b, raw[:max(len(raw)-1, 0)]...)
	in.b, in.comma = append(e.b, ",\n"...), false
	in.list("prompt_tokens", len(r.PromptTokens), func(b []byte, i int) []byte { return in.item(b, r.PromptTokens[i]) })
	in.list("output_tokens", len(r.OutputTokens), func(b []byte, i int) []byte { return in.item(b, r.OutputTokens[i]) })
	e.b = append(in.b, '}')
	if e.err == nil {
		e.err = in.err
	}
}

// arrayJSON is an array's entry in trace.json.
type arrayJSON struct {
	*Array
	Data string `json:"data,omitempty"`
}

func describeArrays(arrays map[string]*Array, withData bool) map[string]arrayJSON {
	out, total := map[string]arrayJSON{}, 0
	for _, name := range slices.Sorted(maps.Keys(arrays)) {
		a := *arrays[name]
		a.Shape, a.Axes = orEmpty(a.Shape), orEmpty(a.Axes)
		entry := arrayJSON{Array: &a}
		if withData && a.Raw != nil {
			if len(a.Raw) <= smallArray && total+len(a.Raw) <= smallArrays {
				entry.Data = base64.StdEncoding.EncodeToString(a.Raw)
				total += len(a.Raw)
			} else if a.Omitted == "" {
				a.Omitted = "too large for the text form; a .gbx keeps it"
			}
		}
		out[name] = entry
	}
	return out
}

// marshal is json.Marshal that leaves < > & readable and makes invalid UTF-8 whole.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	raw := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	return bytes.ToValidUTF8(raw, []byte("\uFFFD")), nil
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func untracedSpeed(rec *Recording) float64 {
	if rec.Untraced == nil {
		return 0
	}
	return rec.Untraced.DecodeTokensPerS
}

// checkForWrite refuses what must not get into a file.
func checkForWrite(rec *Recording) error {
	for name, f := range map[string]float64{
		"numbers.prefill_tokens_per_s": rec.Numbers.PrefillTokensPerS, "numbers.decode_tokens_per_s": rec.Numbers.DecodeTokensPerS,
		"untraced.decode_tokens_per_s": untracedSpeed(rec),
	} {
		if finite(f) == nil {
			return fmt.Errorf("%s: wanted a finite number, found %v", name, f)
		}
	}
	for kind, tokens := range map[string][]Token{"prompt_tokens": rec.Request.PromptTokens, "output_tokens": rec.Request.OutputTokens} {
		for i, t := range tokens {
			if t.Logprob != nil && finite(*t.Logprob) == nil {
				return fmt.Errorf("request.%s[%d].logprob: wanted a finite number, found %v", kind, i, *t.Logprob)
			}
			for k, a := range t.Top {
				if a.Logprob != nil && finite(*a.Logprob) == nil {
					return fmt.Errorf("request.%s[%d].top[%d].logprob: wanted a finite number, found %v", kind, i, k, *a.Logprob)
				}
			}
		}
	}
	for name, a := range rec.Arrays {
		if err := a.check(name); err != nil {
			return err
		}
	}
	return nil
}
