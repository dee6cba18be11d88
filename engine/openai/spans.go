package openai

import (
	"net"
	"net/http"

	"glassbox/trace"
	"glassbox/trace/otlp"
)

// SpanSink takes the spans of requests; *otlp.Exporter is one.
type SpanSink interface{ Add(spans []otlp.Span) }

// part is a measured part of a request, on the clock of trace.Now.
type part struct {
	name       string
	start, end int64
	attrs      []otlp.Attr
}

// spans tells what became of a request: the server's span, the model call below it in the names of OpenTelemetry's
// conventions for generative AI, and below that the parts of its life, for which there are no conventions.
func (s *Server) spans(c *call) {
	if s.c.Spans == nil || c.route == nil || !c.route.trace {
		return
	}
	traceID, parent, sampled, ok := otlp.Join(traceParent(c.r.Header.Get("Traceparent")))
	switch {
	case !ok:
		traceID = otlp.NewTrace()
	case !sampled:
		return // the caller has decided against it
	}
	end := trace.Now()
	wall := func(ns int64) int64 { return trace.Wall(ns).UnixNano() }
	server := otlp.Span{Trace: traceID, ID: otlp.NewID(), Parent: parent, Name: c.r.Method + " " + c.r.URL.Path, Kind: otlp.Server, Start: wall(c.first), End: wall(end),
		Attrs: []otlp.Attr{{Key: "http.request.method", Value: c.r.Method}, {Key: "http.route", Value: c.r.URL.Path}, {Key: "url.path", Value: c.r.URL.Path},
			{Key: "glassbox.request.id", Value: c.requestID}}}
	if c.status != 0 {
		server.Attrs = append(server.Attrs, otlp.Attr{Key: "http.response.status_code", Value: c.status})
	}
	address := c.local()
	server.Attrs = append(server.Attrs, address...)
	errorType, message := c.errorType(), ""
	if c.err != nil {
		message = explain(c.err).Message
	}
	if errorType != "" {
		server.Attrs = append(server.Attrs, otlp.Attr{Key: "error.type", Value: errorType})
		if c.status >= http.StatusInternalServerError || c.sent && c.status == http.StatusOK {
			server.Error = message
		}
	}
	list := []otlp.Span{server}
	if c.job != nil {
		model := otlp.Span{Trace: traceID, ID: otlp.NewID(), Parent: server.ID, Name: c.route.name + " " + c.job.model, Kind: otlp.Internal,
			Start: server.Start, End: server.End, Attrs: append(c.job.attributes(), address...), Error: message}
		if errorType != "" {
			model.Attrs = append(model.Attrs, otlp.Attr{Key: "error.type", Value: errorType})
		}
		list = append(list, model)
		for _, p := range c.parts() {
			list = append(list, otlp.Span{Trace: traceID, ID: otlp.NewID(), Parent: model.ID, Name: p.name, Kind: otlp.Internal, Start: wall(p.start), End: wall(p.end), Attrs: p.attrs})
		}
	}
	s.c.Spans.Add(list)
}

// local is the address the request came in at.
func (c *call) local() []otlp.Attr {
	addr, ok := c.r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return nil
	}
	return []otlp.Attr{{Key: "server.address", Value: addr.IP.String()}, {Key: "server.port", Value: addr.Port}}
}

// attributes are the gen_ai.* facts of the model call. Texts of prompts and answers are not among them.
func (j *job) attributes() []otlp.Attr {
	p, f := &j.request.Sampling, &j.c.facts
	list := []otlp.Attr{{Key: "gen_ai.operation.name", Value: j.c.route.name}, {Key: "gen_ai.provider.name", Value: provider},
		{Key: "gen_ai.request.model", Value: j.model}, {Key: "gen_ai.request.choice.count", Value: j.n}, {Key: "gen_ai.request.stream", Value: j.stream},
		{Key: "gen_ai.request.seed", Value: int64(p.Seed)}, {Key: "gen_ai.request.temperature", Value: p.Temperature}, {Key: "gen_ai.request.top_p", Value: p.TopP},
		{Key: "gen_ai.request.frequency_penalty", Value: p.FrequencyPenalty}, {Key: "gen_ai.request.presence_penalty", Value: p.PresencePenalty},
		{Key: "gen_ai.response.id", Value: j.c.id}, {Key: "gen_ai.response.model", Value: j.model},
		{Key: "gen_ai.usage.input_tokens", Value: f.prompt}, {Key: "gen_ai.usage.output_tokens", Value: f.output}, {Key: "gen_ai.usage.cache_read.input_tokens", Value: f.cached}}
	if p.TopK > 0 {
		list = append(list, otlp.Attr{Key: "gen_ai.request.top_k", Value: p.TopK})
	}
	if j.request.MaxTokens > 0 {
		list = append(list, otlp.Attr{Key: "gen_ai.request.max_tokens", Value: j.request.MaxTokens})
	}
	if len(j.request.Stop) > 0 {
		list = append(list, otlp.Attr{Key: "gen_ai.request.stop_sequences", Value: []string(j.request.Stop)})
	}
	kind := "text"
	if j.request.Grammar != nil {
		kind = "json"
	}
	list = append(list, otlp.Attr{Key: "gen_ai.output.type", Value: kind})
	if f.finishes != nil {
		list = append(list, otlp.Attr{Key: "gen_ai.response.finish_reasons", Value: f.finishes})
	}
	if f.firstToken != 0 {
		list = append(list, otlp.Attr{Key: "gen_ai.response.time_to_first_chunk", Value: seconds(f.firstToken - j.c.first)})
	}
	return list
}

// parts are the stretches of a request's life that were measured.
func (c *call) parts() []part {
	f := &c.facts
	list := c.before
	if f.submitted == 0 || f.started == 0 {
		return list
	}
	list = append(list, part{"queue", f.submitted, f.started, nil})
	if f.first == 0 {
		return list
	}
	list = append(list, part{"prefill", f.started, f.first, []otlp.Attr{{Key: "glassbox.tokens", Value: f.prompt - f.cached}, {Key: "glassbox.cached_tokens", Value: f.cached}}})
	if f.lastToken > f.first {
		list = append(list, part{"decode", f.first, f.lastToken, []otlp.Attr{{Key: "glassbox.tokens", Value: f.output}, {Key: "glassbox.sequences", Value: f.choices}}})
	}
	return list
}
