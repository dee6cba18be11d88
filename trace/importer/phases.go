package importer

import (
	"fmt"
	"strings"

	"glassbox/trace/file"
	"glassbox/trace/otlp"
)

// Interval is a part of a request's life, in nanoseconds since 1970. How says how its place was found.
type Interval struct {
	Told       bool
	Start, End int64
	How        string
}

// Phases are the parts of a request's life that an engine's span tells of.
type Phases struct{ Queue, Prefill, Decode Interval }

// Names of vLLM's attributes (vllm/tracing/utils.py); their values are seconds.
const (
	attrQueue   = "gen_ai.latency.time_in_queue"
	attrFirst   = "gen_ai.latency.time_to_first_token"
	attrPrefill = "gen_ai.latency.time_in_model_prefill"
	attrDecode  = "gen_ai.latency.time_in_model_decode"
	attrAll     = "gen_ai.latency.e2e"
)

// PhasesOf reads them: of vLLM's span llm_request, which has lengths only and whose first token came time_to_first_token
// after its start; or of a span that is itself called queue, prefill or decode, as ours are.
func PhasesOf(s *otlp.Received) (p Phases, ok bool) {
	whole := Interval{true, s.Start, s.End, "the span itself"}
	switch strings.ToLower(s.Name) {
	case "queue":
		return Phases{Queue: whole}, true
	case "prefill":
		return Phases{Prefill: whole}, true
	case "decode":
		return Phases{Decode: whole}, true
	}
	queue, hasQueue := s.Seconds(attrQueue)
	prefill, hasPrefill := s.Seconds(attrPrefill)
	decode, hasDecode := s.Seconds(attrDecode)
	if !hasQueue && !hasPrefill && !hasDecode {
		return p, false
	}
	first, hasFirst := s.Seconds(attrFirst)
	at, how := s.Start+first, "its length laid around the first token, "+attrFirst+" after the span's start"
	if !hasFirst {
		at, how = s.Start+queue+prefill, "its length laid behind the span's start"
	}
	if hasQueue {
		p.Queue = Interval{true, at - prefill - queue, at - prefill, how}
	}
	if hasPrefill {
		p.Prefill = Interval{true, at - prefill, at, how}
	}
	if hasDecode {
		p.Decode = Interval{true, at, at + decode, how}
	}
	return p, true
}

// SpanOf is a received span as one of a recording whose first byte came at began, in nanoseconds since 1970. What lies
// before it is cut off and said so. The id is empty.
func SpanOf(s *otlp.Received, began int64) file.Span {
	attrs := file.Attrs{"otlp.span_id": fmt.Sprintf("%x", s.ID)}
	if s.Parent != [8]byte{} {
		attrs["otlp.parent_id"] = fmt.Sprintf("%x", s.Parent)
	}
	if s.Service != "" {
		attrs["service"] = s.Service
	}
	if s.Error != "" {
		attrs["error"] = s.Error
	}
	if len(s.Events) > 0 {
		attrs["events"] = int64(len(s.Events))
	}
	for _, a := range s.Attrs {
		attrs[a.Key] = a.Value
	}
	start, dur := s.Start-began, s.End-s.Start
	if start < 0 {
		attrs["before_first_byte_ns"] = min(-start, dur)
		start, dur = 0, max(dur+start, 0)
	}
	return file.Span{Name: s.Name, StartNs: start, DurNs: dur, Pass: file.None, Layer: file.None, Prov: "measured", Attrs: attrs}
}
