package otlp

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Received is a span as a collector gets it, with the name of the program that made it.
type Received struct {
	Span
	Service string // resource attribute service.name; "" = not said
	Scope   string // name of the instrumentation scope
}

// Attr returns the value of an attribute, nil where there is none.
func (s *Received) Attr(key string) any {
	for _, a := range s.Attrs {
		if a.Key == key {
			return a.Value
		}
	}
	return nil
}

// Seconds reads an attribute that is a number of seconds as nanoseconds. Numbers that are no time (negative, not finite,
// more than a year) are not there.
func (s *Received) Seconds(key string) (ns int64, ok bool) {
	var f float64
	switch v := s.Attr(key).(type) {
	case float64:
		f = v
	case int64:
		f = float64(v)
	default:
		return 0, false
	}
	if !(f >= 0 && f <= 366*24*3600) {
		return 0, false
	}
	return int64(math.Round(f * 1e9)), true
}

// Parse reads the spans of an ExportTraceServiceRequest in binary protobuf. Spans whose ids or times are no ids or times
// are left out and counted in refused.
func Parse(body []byte) (spans []Received, refused int, err error) {
	var d tracepb.TracesData
	if err := proto.Unmarshal(body, &d); err != nil {
		return nil, 0, fmt.Errorf("otlp: wanted an ExportTraceServiceRequest in protobuf: %w", err)
	}
	spans, refused = received(&d)
	return spans, refused, nil
}

func received(d *tracepb.TracesData) (spans []Received, refused int) {
	for _, rs := range d.GetResourceSpans() {
		service := ""
		for _, kv := range rs.GetResource().GetAttributes() {
			if kv.GetKey() == "service.name" {
				service = kv.GetValue().GetStringValue()
			}
		}
		for _, ss := range rs.GetScopeSpans() {
			for _, p := range ss.GetSpans() {
				s, ok := spanOf(p)
				if !ok {
					refused++
					continue
				}
				spans = append(spans, Received{Span: s, Service: text(service), Scope: text(ss.GetScope().GetName())})
			}
		}
	}
	return spans, refused
}

// spanOf is the reverse of Span.proto. A trace id of zeros, an id of another length and a time beyond the year 2262 are
// refused; a span that ends before it begins has no length.
func spanOf(p *tracepb.Span) (s Span, ok bool) {
	t, id, parent := p.GetTraceId(), p.GetSpanId(), p.GetParentSpanId()
	start, end := p.GetStartTimeUnixNano(), p.GetEndTimeUnixNano()
	if len(t) != 16 || len(id) != 8 || len(parent) != 0 && len(parent) != 8 || start > math.MaxInt64 || end > math.MaxInt64 {
		return s, false
	}
	s = Span{Trace: [16]byte(t), ID: [8]byte(id), Name: text(p.GetName()), Kind: p.GetKind(), Start: int64(start), End: max(int64(end), int64(start)), Attrs: attrsOf(p.GetAttributes())}
	if len(parent) == 8 {
		s.Parent = [8]byte(parent)
	}
	for _, e := range p.GetEvents() {
		if e.GetTimeUnixNano() <= math.MaxInt64 {
			s.Events = append(s.Events, Event{Name: text(e.GetName()), Time: int64(e.GetTimeUnixNano()), Attrs: attrsOf(e.GetAttributes())})
		}
	}
	if st := p.GetStatus(); st.GetCode() == tracepb.Status_STATUS_CODE_ERROR {
		if s.Error = text(st.GetMessage()); s.Error == "" {
			s.Error = "error"
		}
	}
	return s, s.Trace != [16]byte{} && s.ID != [8]byte{}
}

func attrsOf(list []*common.KeyValue) []Attr {
	out := make([]Attr, 0, len(list))
	for _, kv := range list {
		out = append(out, Attr{text(kv.GetKey()), plain(kv.GetValue(), 3)})
	}
	return out
}

// plain turns a value into a string, bool, int64, float64 or list of strings; deeper things become text.
func plain(v *common.AnyValue, depth int) any {
	switch x := v.GetValue().(type) {
	case *common.AnyValue_StringValue:
		return text(x.StringValue)
	case *common.AnyValue_BoolValue:
		return x.BoolValue
	case *common.AnyValue_IntValue:
		return x.IntValue
	case *common.AnyValue_DoubleValue:
		return x.DoubleValue
	case *common.AnyValue_BytesValue:
		return base64.StdEncoding.EncodeToString(x.BytesValue)
	case *common.AnyValue_ArrayValue:
		list := []string{}
		for _, e := range x.ArrayValue.GetValues() {
			if depth > 0 {
				list = append(list, fmt.Sprint(plain(e, depth-1)))
			}
		}
		return list
	case *common.AnyValue_KvlistValue:
		list := []string{}
		for _, kv := range x.KvlistValue.GetValues() {
			if depth > 0 {
				list = append(list, text(kv.GetKey())+"="+fmt.Sprint(plain(kv.GetValue(), depth-1)))
			}
		}
		return list
	}
	return ""
}

// ParseJSON reads the spans of an ExportTraceServiceRequest in OTLP's JSON: ids in hexadecimal, 64-bit numbers as strings
// or numbers, enumerations as numbers, unknown keys ignored (OTLP 1.x, "JSON Protobuf Encoding").
func ParseJSON(body []byte) (spans []Received, refused int, err error) {
	var d jsonData
	if err := json.Unmarshal(body, &d); err != nil {
		return nil, 0, fmt.Errorf("otlp: wanted an ExportTraceServiceRequest in JSON: %w", err)
	}
	if d.ResourceSpans == nil {
		return nil, 0, errors.New(`otlp: wanted an object with "resourceSpans", found none`)
	}
	spans, refused = received(d.proto())
	return spans, refused, nil
}

type jsonData struct {
	ResourceSpans []struct {
		Resource struct {
			Attributes []jsonKeyValue `json:"attributes"`
		} `json:"resource"`
		ScopeSpans []struct {
			Scope struct {
				Name string `json:"name"`
			} `json:"scope"`
			Spans []jsonSpan `json:"spans"`
		} `json:"scopeSpans"`
	} `json:"resourceSpans"`
}

type jsonSpan struct {
	TraceID hexID          `json:"traceId"`
	SpanID  hexID          `json:"spanId"`
	Parent  hexID          `json:"parentSpanId"`
	Name    string         `json:"name"`
	Kind    jsonInt        `json:"kind"`
	Start   jsonInt        `json:"startTimeUnixNano"`
	End     jsonInt        `json:"endTimeUnixNano"`
	Attrs   []jsonKeyValue `json:"attributes"`
	Events  []jsonEvent    `json:"events"`
	Status  jsonStatus     `json:"status"`
}

type jsonStatus struct {
	Code    jsonInt `json:"code"`
	Message string  `json:"message"`
}

type jsonEvent struct {
	Name  string         `json:"name"`
	Time  jsonInt        `json:"timeUnixNano"`
	Attrs []jsonKeyValue `json:"attributes"`
}

type jsonKeyValue struct {
	Key   string    `json:"key"`
	Value jsonValue `json:"value"`
}

type jsonValue struct {
	String *string  `json:"stringValue"`
	Bool   *bool    `json:"boolValue"`
	Int    *jsonInt `json:"intValue"`
	Double *float64 `json:"doubleValue"`
	Bytes  *string  `json:"bytesValue"`
	Array  *struct {
		Values []jsonValue `json:"values"`
	} `json:"arrayValue"`
	List *struct {
		Values []jsonKeyValue `json:"values"`
	} `json:"kvlistValue"`
}

// hexID is an id; one that is not hexadecimal is nil, which spanOf refuses.
type hexID []byte

// UnmarshalJSON never fails: one bad id must not cost the other spans.
func (h *hexID) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) != nil {
		s = "?"
	}
	*h = nil
	if s == "" {
		return nil
	}
	id, err := hex.DecodeString(s)
	if err != nil {
		id = []byte{0} // of no length that is an id's
	}
	*h = id
	return nil
}

// jsonInt is a whole number, as a JSON number or a string; anything else is the largest number, which no time is.
type jsonInt uint64

// UnmarshalJSON never fails.
func (n *jsonInt) UnmarshalJSON(b []byte) error {
	s := string(b)
	if len(s) > 1 && s[0] == '"' {
		s = s[1 : len(s)-1]
	}
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		*n = jsonInt(v)
		return nil
	}
	v, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		v = math.MaxUint64
	}
	*n = jsonInt(v)
	return nil
}

func (d *jsonData) proto() *tracepb.TracesData {
	out := &tracepb.TracesData{}
	for _, rs := range d.ResourceSpans {
		r := &tracepb.ResourceSpans{Resource: &resource.Resource{Attributes: keyValues(rs.Resource.Attributes, 0)}}
		for _, ss := range rs.ScopeSpans {
			s := &tracepb.ScopeSpans{Scope: &common.InstrumentationScope{Name: ss.Scope.Name}}
			for i := range ss.Spans {
				s.Spans = append(s.Spans, ss.Spans[i].proto())
			}
			r.ScopeSpans = append(r.ScopeSpans, s)
		}
		out.ResourceSpans = append(out.ResourceSpans, r)
	}
	return out
}

func (s *jsonSpan) proto() *tracepb.Span {
	p := &tracepb.Span{TraceId: s.TraceID, SpanId: s.SpanID, ParentSpanId: s.Parent, Name: s.Name, Kind: tracepb.Span_SpanKind(s.Kind),
		StartTimeUnixNano: uint64(s.Start), EndTimeUnixNano: uint64(s.End), Attributes: keyValues(s.Attrs, 0),
		Status: &tracepb.Status{Code: tracepb.Status_StatusCode(s.Status.Code), Message: s.Status.Message}}
	for _, e := range s.Events {
		p.Events = append(p.Events, &tracepb.Span_Event{Name: e.Name, TimeUnixNano: uint64(e.Time), Attributes: keyValues(e.Attrs, 0)})
	}
	return p
}

// deepest bounds how far lists inside lists are followed.
const deepest = 16

func keyValues(list []jsonKeyValue, depth int) []*common.KeyValue {
	var out []*common.KeyValue
	for _, kv := range list {
		out = append(out, &common.KeyValue{Key: kv.Key, Value: kv.Value.proto(depth)})
	}
	return out
}

func (v *jsonValue) proto(depth int) *common.AnyValue {
	switch {
	case depth > deepest:
		return &common.AnyValue{}
	case v.String != nil:
		return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: *v.String}}
	case v.Bool != nil:
		return &common.AnyValue{Value: &common.AnyValue_BoolValue{BoolValue: *v.Bool}}
	case v.Int != nil:
		return &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: int64(*v.Int)}}
	case v.Double != nil:
		return &common.AnyValue{Value: &common.AnyValue_DoubleValue{DoubleValue: *v.Double}}
	case v.Bytes != nil:
		return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: *v.Bytes}}
	case v.Array != nil:
		a := &common.ArrayValue{}
		for i := range v.Array.Values {
			a.Values = append(a.Values, v.Array.Values[i].proto(depth+1))
		}
		return &common.AnyValue{Value: &common.AnyValue_ArrayValue{ArrayValue: a}}
	case v.List != nil:
		return &common.AnyValue{Value: &common.AnyValue_KvlistValue{KvlistValue: &common.KeyValueList{Values: keyValues(v.List.Values, depth+1)}}}
	}
	return &common.AnyValue{}
}
