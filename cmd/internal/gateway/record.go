package gateway

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"

	"glassbox/steps"
	"glassbox/trace"
	"glassbox/trace/file"
	"glassbox/trace/otlp"
)

// Lanes of a recording.
const (
	laneGateway  = "gateway"
	laneUpstream = "upstream"
	laneEngine   = "engine"
)

// Steps of the walk from outside; their pages are in steps/catalog/gateway.
const (
	stepHead    = "gw_head"
	stepBody    = "gw_body"
	stepConnect = "gw_connect"
	stepSend    = "gw_send"
	stepFirst   = "gw_first"
	stepQueue   = "gw_queue"
	stepPrefill = "gw_prefill"
	stepStream  = "gw_stream"
	stepDecode  = "gw_decode"
	stepChunk   = "gw_chunk"
	stepUsage   = "gw_usage"
	stepEnd     = "gw_end"
)

// maxChunks bounds the spans of chunks in a recording.
const maxChunks = 50_000

// keep makes the recording of a request that is over, and hands it to the store.
func (g *Gateway) keep(x *exchange) {
	a := x.read()
	rec := g.recording(x, a)
	g.span(x, rec)
	early := g.joins.done(x, rec.ID)
	if len(early) > 0 {
		g.addSpans(rec, early)
	}
	g.lay(rec)
	if err := g.c.Store.Put(rec); err != nil {
		g.c.OnError(err)
	}
	if x.live != nil {
		x.live.stop(rec)
	}
}

// lay puts the walk over a recording: the stops from outside, and those of the engine behind it where it is known.
func (g *Gateway) lay(rec *file.Recording) {
	file.Finish(rec)
	g.numbers(rec)
	if g.c.Redact {
		redact(rec)
	}
	g.Lay(rec)
}

// Lay lays the walk over a recording of a gateway, running or whole.
func (g *Gateway) Lay(rec *file.Recording) {
	var inside *steps.Catalogue
	if e, err := steps.EngineOf(rec.Engine.Name); err == nil {
		inside, _ = e.Catalogue()
	}
	g.catalogue.ApplyOutside(rec, inside)
}

// read reads the answer's body.
func (x *exchange) read() *answer {
	r := newReader(x.header.Get("Content-Type"))
	if enc := x.header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return &r.a // compressed for the client: its times are known, its text is not
	}
	at := 0
	for _, p := range x.reads {
		r.feed(x.kept[at:at+p.kept], p.at, cmp.Or(p.flushed, p.at))
		at += p.kept
	}
	if x.cut {
		r.stream = false
		return &r.a
	}
	r.end(x.kept, x.reads, cmp.Or(x.eof, x.ended))
	return &r.a
}

// head is the recording before its first span.
func (g *Gateway) head(x *exchange) *file.Recording {
	e := g.engine.get()
	if e.engine == "" {
		x.mu.Lock() // a request that is watched may have no answer yet
		e.engine = engineOf("", x.header.Get("Server"))
		x.mu.Unlock()
	}
	return &file.Recording{
		ID: x.id, Schema: file.Schema{Name: file.SchemaName, Version: file.SchemaVersion}, Started: trace.Wall(x.first).UTC().Format(startedForm),
		Engine: file.Engine{Name: cmp.Or(e.engine, "unknown"), Version: cmp.Or(e.version, "unknown"), Commit: "unknown"},
		Model:  file.Model{Name: e.model},
		Device: file.Device{Kind: "unknown", Name: "not seen from outside", Features: []string{}},
		Clock:  file.Clock{Name: "monotonic, of the gateway", ResolutionNs: resolution()},
		Lanes: []file.Lane{{ID: laneGateway, Title: "Gateway", Note: "this process"}, {ID: laneUpstream, Title: "Upstream", Note: "as seen from here"},
			{ID: laneEngine, Title: "Engine", Note: "by its own account"}},
	}
}

// startedForm has all nine digits, so that started times sort as text.
const startedForm = "2006-01-02T15:04:05.000000000Z07:00"

// request is what was asked.
func (g *Gateway) request(x *exchange) file.Request {
	r := file.Request{ID: x.requestID, TraceID: fmt.Sprintf("%x", x.trace), TraceParent: x.traceState, Endpoint: x.path,
		PromptTokens: []file.Token{}, OutputTokens: []file.Token{}}
	params := file.Attrs{}
	if x.whole && json.Unmarshal(x.body, &params) != nil {
		params = file.Attrs{}
		if len(x.body) > 0 {
			params["body"] = fmt.Sprintf("%d bytes that are no JSON object", len(x.body))
		}
	} else if !x.whole {
		params["body"] = fmt.Sprintf("longer than %d bytes: passed on, not kept", maxBody)
	}
	if params == nil { // the body was "null"
		params = file.Attrs{}
	}
	if m, ok := params["messages"]; ok {
		var raw struct {
			Messages json.RawMessage `json:"messages"`
		}
		if json.Unmarshal(x.body, &raw) == nil {
			r.Messages = raw.Messages
		}
		_ = m
		delete(params, "messages")
	}
	for _, key := range []string{"prompt", "input"} {
		if s, ok := params[key].(string); ok && r.Prompt == "" {
			r.Prompt = s
			delete(params, key)
		}
	}
	for k, v := range params {
		if raw, err := json.Marshal(v); err != nil || len(raw) > 64<<10 {
			params[k] = "longer than 65536 bytes: not kept"
		}
	}
	params["recorded_by"] = "glassbox serve --upstream"
	params["upstream"] = g.c.Upstream.Redacted()
	params["request_bytes"] = max(int64(len(x.body)), x.claimed)
	r.Params = params
	return r
}

// recording makes spans and tokens of what was noted.
func (g *Gateway) recording(x *exchange, a *answer) *file.Recording {
	rec := g.head(x)
	r := g.request(x)
	if a.model != "" {
		rec.Model.Name = a.model
	} else if m, ok := r.Params["model"].(string); ok && m != "" {
		rec.Model.Name = m
	}
	if r.ID == "" {
		r.ID = cmp.Or(x.header.Get("X-Request-Id"), a.id)
	}
	r.Text, r.FinishReason = a.text.String(), a.finish
	r.OutputTokens = append(r.OutputTokens, a.tokens...)
	for i := range r.OutputTokens {
		r.OutputTokens[i].TNs -= x.first
	}
	r.Params["response_status"], r.Params["response_bytes"] = int64(x.status), x.bytes
	r.Params["chunks"] = int64(len(a.pieces))
	if a.choices > 0 {
		r.Params["choices_not_shown"] = int64(a.choices)
	}
	if a.unread > 0 {
		r.Params["chunks_not_read"] = int64(a.unread)
	}
	if enc := x.header.Get("Content-Encoding"); enc != "" {
		r.Params["answer_encoding"] = enc
	}
	if x.cut {
		rec.Missing = append(rec.Missing, fmt.Sprintf("the text of the answer behind %d bytes", len(x.kept)))
	}
	if u := a.usage; u != nil {
		countInto(r.Params, "prompt_tokens", u.Prompt, u.Input)
		countInto(r.Params, "completion_tokens", u.Output, u.Out)
		if u.Details.Cached > 0 {
			r.Params["cached_tokens"] = int64(u.Details.Cached)
		}
	}
	if t := a.timings; t != nil && t.CacheN > 0 && r.Params["cached_tokens"] == nil {
		r.Params["cached_tokens"] = int64(t.CacheN)
	}
	rec.Request = r
	g.ending(x, a, rec)
	x.spans(rec, a)
	g.timings(x, a, rec)
	return rec
}

func countInto(p file.Attrs, key string, values ...*int) {
	for _, v := range values {
		if v != nil && *v >= 0 {
			p[key] = int64(*v)
			return
		}
	}
}

// ending says how the request ended.
func (g *Gateway) ending(x *exchange, a *answer, rec *file.Recording) {
	r := &rec.Request
	said := func(text string) string {
		if g.c.Redact {
			return "the upstream answered with an error; its text may repeat the prompt and is not kept"
		}
		return text
	}
	switch {
	case x.left:
		r.FinishReason, r.Error = "cancelled", ""
		rec.Partial, rec.Missing = true, append(rec.Missing, "the end of the answer: the client has gone")
	case x.broken != "":
		r.FinishReason, r.Error = "error", x.broken
		if x.bytes > 0 {
			rec.Partial, rec.Missing = true, append(rec.Missing, "the end of the answer: "+x.broken)
		}
	case a.err != "":
		r.FinishReason, r.Error = "error", said(a.err)
	case x.status >= 400:
		r.FinishReason, r.Error = "error", said(fmt.Sprintf("status %d: %s", x.status, shorten(string(x.kept), 300)))
	case a.events && !a.done && a.finish == "" && len(a.pieces) > 0 && !x.cut:
		r.Error = "the stream ended without finish_reason and without [DONE]"
		rec.Partial, rec.Missing = true, append(rec.Missing, "the end of the answer: "+r.Error)
	}
}

// place is the interval from one moment to another, if both are known.
func (x *exchange) place(rec *file.Recording, step, lane, name string, from, to int64, attrs file.Attrs) {
	if from == 0 || to == 0 {
		return
	}
	from = max(from, x.first)
	rec.Spans = append(rec.Spans, file.Span{ID: stageOf(step) + "/" + step, Step: step, Name: name, Lane: lane, StartNs: from - x.first, DurNs: max(to-from, 0),
		Pass: file.None, Layer: file.None, Prov: "measured", Attrs: attrs})
}

func stageOf(step string) string {
	switch step {
	case stepHead, stepBody, stepConnect, stepSend:
		return "receive"
	case stepFirst, stepQueue:
		return "schedule"
	case stepPrefill, stepDecode:
		return "compute"
	}
	return "deliver"
}

// spans are what was seen.
func (x *exchange) spans(rec *file.Recording, a *answer) {
	x.place(rec, stepHead, laneGateway, "head", x.first, x.headed, file.Attrs{"in": "bytes on the socket", "out": x.method + " " + x.path, "client": x.remote})
	x.place(rec, stepBody, laneGateway, "body", x.headed, x.bodied, file.Attrs{"out": bytesText(int64(len(x.body))), "bytes": int64(len(x.body)), "whole": x.whole})
	x.place(rec, stepConnect, laneGateway, "connection", x.asked, x.connected, file.Attrs{"reused": x.reused, "address": x.address})
	sent := cmp.Or(x.sent, x.responded) // an answer may begin before the request has been written
	x.place(rec, stepSend, laneGateway, "send", x.connected, sent, file.Attrs{"in": bytesText(int64(len(x.body))), "traceparent": x.traceparent()})
	var first, last int64
	for _, p := range a.pieces {
		if p.added > 0 {
			if first == 0 {
				first = p.at
			}
			last = p.at
		}
	}
	if first == 0 && len(x.reads) > 0 {
		first, last = x.reads[0].at, x.reads[len(x.reads)-1].at
	}
	wait := file.Attrs{"status": int64(x.status)}
	if x.responded > 0 {
		wait["headers_after_ns"] = max(x.responded-sent, 0)
	}
	x.place(rec, stepFirst, laneUpstream, "first token", sent, first, wait)
	if last > first {
		x.place(rec, stepStream, laneUpstream, "stream", first, last, file.Attrs{"chunks": int64(len(a.pieces)), "tokens": int64(len(a.tokens)), "bytes": x.bytes})
	}
	x.chunks(rec, a)
	over := cmp.Or(x.eof, x.ended)
	x.place(rec, stepEnd, laneGateway, "end", over, max(x.ended, over), file.Attrs{"out": fmt.Sprintf("status %d, %s", x.status, bytesText(x.bytes))})
}

// chunks are the pieces of the answer: what came in one read is a span, from the read to when it was on the client's
// connection.
func (x *exchange) chunks(rec *file.Recording, a *answer) {
	list := a.pieces
	if len(list) == 0 { // not an event stream: the reads themselves
		for _, r := range x.reads {
			list = append(list, piece{at: r.at, flushed: r.flushed, bytes: r.n})
		}
	}
	x.pieces(rec, list, 0)
}

// pieces adds spans for pieces behind the first nth of an answer.
func (x *exchange) pieces(rec *file.Recording, list []piece, nth int) {
	made := 0
	for i := 0; i < len(list); {
		n := i + 1
		for n < len(list) && list[n].at == list[i].at {
			n++
		}
		if made++; made > maxChunks {
			rec.Dropped.Spans++
			rec.Dropped.Why = fmt.Sprintf("a recording of the gateway has at most %d chunks", maxChunks)
		} else {
			x.chunk(rec, list[i:n], nth+i)
		}
		i = n
	}
}

// chunk adds the pieces of one read; nth is how many pieces came before.
func (x *exchange) chunk(rec *file.Recording, list []piece, nth int) {
	attrs := file.Attrs{"events": int64(len(list))}
	var bytes, added, unread int
	for _, p := range list {
		if p.added > 0 && added == 0 {
			attrs["token"] = int64(p.tokens - p.added)
		}
		bytes, added = bytes+p.bytes, added+p.added
		if p.unread {
			unread++
		}
	}
	attrs["bytes"], attrs["tokens"] = int64(bytes), int64(added)
	if unread > 0 {
		attrs["unread"] = int64(unread)
	}
	at, to := list[0].at, cmp.Or(list[0].flushed, list[0].at)
	one := func(step, name string, n int, dur int64, attrs file.Attrs) {
		rec.Spans = append(rec.Spans, file.Span{ID: "deliver/" + strconv.Itoa(n) + "/" + step, Step: step, Name: name, Lane: laneGateway, StartNs: max(at-x.first, 0),
			DurNs: max(dur, 0), Pass: file.None, Layer: file.None, Prov: "measured", Attrs: attrs})
	}
	one(stepChunk, "chunk", nth, to-at, attrs)
	for i, p := range list {
		if p.usage && (p.added == 0 || !x.streams()) {
			one(stepUsage, "usage", nth+i, 0, file.Attrs{"bytes": int64(p.bytes)})
		}
	}
}

// streams tells whether the answer is a stream of events.
func (x *exchange) streams() bool { return newReader(x.header.Get("Content-Type")).stream }

func bytesText(n int64) string { return strconv.FormatInt(n, 10) + " bytes" }

// timings are the engine's own figures where its answer has them, as llama.cpp's server's does. They have no place in time:
// decoding ends with the last piece that has a token.
func (g *Gateway) timings(x *exchange, a *answer, rec *file.Recording) {
	t := a.timings
	if t == nil || len(a.tokens) == 0 || !(t.PromptMS >= 0 && t.PredictedMS >= 0 && t.PromptMS+t.PredictedMS < 1e9) {
		return
	}
	last := a.tokens[len(a.tokens)-1].TNs
	first := last - int64(t.PredictedMS*1e6)
	begun := first - int64(t.PromptMS*1e6)
	how := "timings of the answer, laid back from its last token"
	derived(rec, stepPrefill, "prefill", begun-x.first, int64(t.PromptMS*1e6), file.Attrs{"from": how, "tokens": int64(t.PromptN), "cached_tokens": int64(t.CacheN)})
	derived(rec, stepDecode, "decode", first-x.first, int64(t.PredictedMS*1e6), file.Attrs{"from": how, "tokens": int64(t.PredictedN)})
}

// derived adds a span of the engine whose length is the engine's and whose place is worked out.
func derived(rec *file.Recording, step, name string, start, dur int64, attrs file.Attrs) {
	if start < 0 {
		attrs["before_first_byte_ns"] = min(-start, dur)
		dur, start = max(dur+start, 0), 0
	}
	rec.Spans = append(rec.Spans, file.Span{ID: stageOf(step) + "/" + step, Step: step, Name: name, Lane: laneEngine, StartNs: start, DurNs: dur, Pass: file.None,
		Layer: file.None, Prov: "derived", Attrs: attrs})
}

// numbers are the figures of a request as its client has them.
func (g *Gateway) numbers(rec *file.Recording) {
	p, tokens := rec.Request.Params, rec.Request.OutputTokens
	n := file.Numbers{PromptTokens: intOf(p, "prompt_tokens"), OutputTokens: intOf(p, "completion_tokens")}
	if n.OutputTokens == 0 {
		n.OutputTokens = len(tokens)
	}
	var prefill int64
	for i := range rec.Spans {
		s := &rec.Spans[i]
		switch s.Step {
		case stepFirst:
			if len(tokens) > 0 {
				n.TTFTNs = s.EndNs()
			}
		case stepEnd:
			n.E2ENs = s.EndNs()
		case stepQueue:
			n.QueueNs += s.DurNs
		case stepPrefill:
			prefill += s.DurNs
		}
	}
	if prefill > 0 && n.PromptTokens > 0 {
		n.PrefillTokensPerS = float64(max(n.PromptTokens-intOf(p, "cached_tokens"), 0)) / (float64(prefill) / 1e9)
	}
	if k := int64(n.OutputTokens - 1); k > 0 && len(tokens) > 1 {
		if d := tokens[len(tokens)-1].TNs - tokens[0].TNs; d > 0 {
			n.TPOTNs, n.DecodeTokensPerS = (d+k/2)/k, float64(k)/(float64(d)/1e9)
		}
	}
	if rec.Partial {
		n.E2ENs = 0
	}
	rec.Numbers = n
}

func intOf(p file.Attrs, key string) int {
	n, _ := p.Int(key)
	return int(n)
}

// span exports a span for the request: below its caller's, and above the engine's.
func (g *Gateway) span(x *exchange, rec *file.Recording) {
	if g.c.Spans == nil || !x.sampled {
		return
	}
	wall := func(ns int64) int64 { return trace.Wall(ns).UnixNano() }
	r := &rec.Request
	s := otlp.Span{Trace: x.trace, ID: x.span, Parent: x.parent, Name: x.method + " " + x.path, Kind: otlp.Server, Start: wall(x.first), End: wall(x.ended), Error: r.Error,
		Attrs: []otlp.Attr{{Key: "http.request.method", Value: x.method}, {Key: "http.route", Value: x.path}, {Key: "http.response.status_code", Value: x.status},
			{Key: "glassbox.recording.id", Value: x.id}, {Key: "gen_ai.provider.name", Value: rec.Engine.Name}, {Key: "gen_ai.request.model", Value: rec.Model.Name},
			{Key: "gen_ai.response.finish_reasons", Value: []string{r.FinishReason}}}}
	for key, from := range map[string]string{"gen_ai.usage.input_tokens": "prompt_tokens", "gen_ai.usage.output_tokens": "completion_tokens"} {
		if n, ok := r.Params.Int(from); ok {
			s.Attrs = append(s.Attrs, otlp.Attr{Key: key, Value: n})
		}
	}
	if x.sent > 0 {
		s.Events = append(s.Events, otlp.Event{Name: "glassbox.sent", Time: wall(x.sent)})
	}
	for i := range rec.Spans {
		if p := &rec.Spans[i]; p.Step == stepFirst {
			s.Events = append(s.Events, otlp.Event{Name: "glassbox.first_token", Time: wall(x.first + p.EndNs())})
		}
	}
	g.c.Spans.Add([]otlp.Span{s})
}
