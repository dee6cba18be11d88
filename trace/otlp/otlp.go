// Package otlp hands spans to an OpenTelemetry collector: OTLP over HTTP, binary protobuf (POST /v1/traces). A request
// becomes a few spans (server, model call, queue, prefill, decode); what happens for each token or op stays in recordings.
//
// Exporter sends in the background and never holds up whoever adds spans: a full queue drops, and counts. Receiver is the
// other end: it takes what other programs export, over HTTP or gRPC.
//
// It does not know about engines, their requests or what a span is about.
package otlp

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Kinds of spans.
const (
	Internal = tracepb.Span_SPAN_KIND_INTERNAL
	Server   = tracepb.Span_SPAN_KIND_SERVER
)

// Span is a named interval. Times are nanoseconds since 1970. Attribute values are strings, bools, ints, int64s, float64s
// and lists of strings; others are written as text.
type Span struct {
	Trace  [16]byte
	ID     [8]byte
	Parent [8]byte // zero: none
	Name   string
	Kind   tracepb.Span_SpanKind
	Start  int64
	End    int64
	Attrs  []Attr
	Events []Event
	Error  string // what went wrong; "" = nothing
}

// Attr is a fact of a span.
type Attr struct {
	Key   string
	Value any
}

// Event is a moment in a span.
type Event struct {
	Name  string
	Time  int64
	Attrs []Attr
}

// Resource says who makes the spans.
type Resource struct{ Service, Version string }

// NewTrace returns a random trace id.
func NewTrace() (id [16]byte) { _, _ = rand.Read(id[:]); return id }

// NewID returns a random span id.
func NewID() (id [8]byte) { _, _ = rand.Read(id[:]); return id }

// Join reads a W3C traceparent that is known to be well formed: the trace to go on with, the caller's span, and whether the
// caller records. ok is false for an empty header.
func Join(traceparent string) (trace [16]byte, parent [8]byte, sampled, ok bool) {
	f := strings.Split(traceparent, "-")
	if len(f) < 4 {
		return trace, parent, false, false
	}
	t, err1 := hex.DecodeString(f[1])
	p, err2 := hex.DecodeString(f[2])
	flags, err3 := hex.DecodeString(f[3])
	if err1 != nil || err2 != nil || err3 != nil || len(t) != 16 || len(p) != 8 || len(flags) != 1 {
		return trace, parent, false, false
	}
	return [16]byte(t), [8]byte(p), flags[0]&1 != 0, true
}

// Marshal writes spans as an ExportTraceServiceRequest, whose bytes are those of TracesData.
func Marshal(r Resource, spans []Span) ([]byte, error) {
	list := make([]*tracepb.Span, len(spans))
	for i := range spans {
		list[i] = spans[i].proto()
	}
	b, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource: &resource.Resource{Attributes: attributes([]Attr{{"service.name", r.Service}, {"service.version", r.Version}})},
		ScopeSpans: []*tracepb.ScopeSpans{{
			Scope: &common.InstrumentationScope{Name: "glassbox", Version: r.Version}, Spans: list,
		}},
	}}})
	if err != nil {
		return nil, fmt.Errorf("otlp: %w", err)
	}
	return b, nil
}

func (s *Span) proto() *tracepb.Span {
	p := &tracepb.Span{TraceId: s.Trace[:], SpanId: s.ID[:], Name: text(s.Name), Kind: s.Kind, StartTimeUnixNano: uint64(max(s.Start, 0)),
		EndTimeUnixNano: uint64(max(s.End, s.Start, 0)), Attributes: attributes(s.Attrs), Flags: 1}
	if s.Parent != [8]byte{} {
		p.ParentSpanId = s.Parent[:]
	}
	for _, e := range s.Events {
		p.Events = append(p.Events, &tracepb.Span_Event{Name: text(e.Name), TimeUnixNano: uint64(max(e.Time, 0)), Attributes: attributes(e.Attrs)})
	}
	if s.Error != "" {
		p.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: text(s.Error)}
	}
	return p
}

func attributes(list []Attr) []*common.KeyValue {
	out := make([]*common.KeyValue, len(list))
	for i, a := range list {
		out[i] = &common.KeyValue{Key: text(a.Key), Value: value(a.Value)}
	}
	return out
}

func value(v any) *common.AnyValue {
	switch v := v.(type) {
	case string:
		return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: text(v)}}
	case bool:
		return &common.AnyValue{Value: &common.AnyValue_BoolValue{BoolValue: v}}
	case int:
		return &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: int64(v)}}
	case int64:
		return &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: v}}
	case float64:
		return &common.AnyValue{Value: &common.AnyValue_DoubleValue{DoubleValue: v}}
	case []string:
		a := &common.ArrayValue{}
		for _, s := range v {
			a.Values = append(a.Values, value(s))
		}
		return &common.AnyValue{Value: &common.AnyValue_ArrayValue{ArrayValue: a}}
	}
	return value(fmt.Sprint(v))
}

// text is UTF-8: protobuf takes nothing else.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
