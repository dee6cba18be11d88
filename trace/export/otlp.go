package export

import (
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"time"

	"glassbox/trace/file"
	"glassbox/trace/otlp"
)

// OTLP writes a recording as an OpenTelemetry ExportTraceServiceRequest, which a collector takes at POST /v1/traces: the
// server's span, the model call in it, and in that the queue, each prefill pass, and one span for all of decoding, with an
// event a token. Ops and kernels are not in it: a collector is no place for them. Ids follow from the recording, so that
// writing it twice gives the same spans.
func OTLP(w io.Writer, rec *file.Recording) error {
	spans, err := otlpSpans(rec)
	if err != nil {
		return err
	}
	b, err := otlp.Marshal(otlp.Resource{Service: rec.Engine.Name, Version: rec.Engine.Version}, spans)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

func otlpSpans(rec *file.Recording) ([]otlp.Span, error) {
	began, err := time.Parse(time.RFC3339Nano, rec.Started)
	if err != nil {
		return nil, fmt.Errorf("started: wanted a time such as 2026-01-02T03:04:05Z, found %q", rec.Started)
	}
	end := rec.Numbers.E2ENs
	for i := range rec.Spans {
		end = max(end, rec.Spans[i].StartNs+rec.Spans[i].DurNs)
	}
	traceID, parent, _, ok := otlp.Join(rec.Request.TraceParent)
	if !ok {
		traceID, _, _, ok = otlp.Join("00-" + rec.Request.TraceID + "-0000000000000000-01")
	}
	if !ok {
		sum := sha256.Sum256([]byte("trace of " + rec.ID))
		traceID = [16]byte(sum[:16])
	}
	span := func(name string, parent [8]byte, start, dur int64, attrs ...otlp.Attr) otlp.Span {
		sum := sha256.Sum256(fmt.Appendf(nil, "%x %s %s %d", traceID, rec.ID, name, start))
		return otlp.Span{Trace: traceID, ID: [8]byte(sum[:8]), Parent: parent, Name: name, Kind: otlp.Internal,
			Start: began.UnixNano() + start, End: began.UnixNano() + start + dur, Attrs: attrs}
	}
	endpoint, operation := rec.Request.Endpoint, "text_completion"
	if endpoint == "" {
		endpoint = "request"
	}
	if strings.Contains(endpoint, "chat") {
		operation = "chat"
	}
	server := span("POST "+endpoint, parent, 0, end, otlp.Attr{Key: "http.route", Value: endpoint}, otlp.Attr{Key: "glassbox.request.id", Value: rec.Request.ID},
		otlp.Attr{Key: "glassbox.recording.id", Value: rec.ID})
	if !rec.Clocked() {
		server.Attrs = append(server.Attrs, otlp.Attr{Key: "glassbox.times", Value: "not measured: the device is emulated"})
	}
	server.Kind = otlp.Server
	model := span(operation+" "+rec.Model.Name, server.ID, 0, end, otlp.Attr{Key: "gen_ai.operation.name", Value: operation},
		otlp.Attr{Key: "gen_ai.provider.name", Value: rec.Engine.Name}, otlp.Attr{Key: "gen_ai.request.model", Value: rec.Model.Name},
		otlp.Attr{Key: "gen_ai.response.finish_reasons", Value: []string{rec.Request.FinishReason}},
		otlp.Attr{Key: "gen_ai.usage.input_tokens", Value: len(rec.Request.PromptTokens)}, otlp.Attr{Key: "gen_ai.usage.output_tokens", Value: len(rec.Request.OutputTokens)})
	model.Error = rec.Request.Error
	list := []otlp.Span{server, model}
	for i := range rec.Spans {
		if s := &rec.Spans[i]; s.Step == "queue" {
			list = append(list, span("queue", model.ID, s.StartNs, s.DurNs))
		}
	}
	var first, last, passes int64
	for _, p := range rec.Passes {
		switch {
		case p.Kind == "prefill":
			list = append(list, span("prefill", model.ID, p.StartNs, p.DurNs, otlp.Attr{Key: "glassbox.pass", Value: p.Index},
				otlp.Attr{Key: "glassbox.tokens", Value: p.Tokens}, otlp.Attr{Key: "glassbox.sequences", Value: p.Requests}))
		case passes == 0:
			first, last, passes = p.StartNs, p.StartNs+p.DurNs, 1
		default:
			last = max(last, p.StartNs+p.DurNs)
			passes++
		}
	}
	if passes > 0 {
		decode := span("decode", model.ID, first, last-first, otlp.Attr{Key: "glassbox.passes", Value: passes})
		for i, t := range rec.Request.OutputTokens {
			if t.TNs > 0 {
				decode.Events = append(decode.Events, otlp.Event{Name: "glassbox.token", Time: began.UnixNano() + t.TNs,
					Attrs: []otlp.Attr{{Key: "glassbox.token.index", Value: i}, {Key: "glassbox.token.id", Value: t.ID}}})
			}
		}
		list = append(list, decode)
	}
	return list, nil
}
