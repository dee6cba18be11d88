package openai

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"glassbox/trace/otlp"
)

// exported runs requests against a server that exports to a receiver, and returns what the receiver got.
func exported(t *testing.T, ask func(r *realRig)) []*tracepb.Span {
	t.Helper()
	got := make(chan []byte, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got <- b
	}))
	defer receiver.Close()
	e, err := otlp.NewExporter(receiver.URL, otlp.Resource{Service: "glassbox", Version: "1"}, func(err error) { t.Error(err) })
	require.NoError(t, err)
	ask(realServer(t, func(c *Config) { c.Spans = e }))
	require.NoError(t, e.Close(context.Background()))
	close(got)
	var spans []*tracepb.Span
	for b := range got {
		var d tracepb.TracesData
		require.NoError(t, proto.Unmarshal(b, &d))
		for _, s := range d.ResourceSpans[0].ScopeSpans {
			spans = append(spans, s.Spans...)
		}
	}
	return spans
}

func attrs(s *tracepb.Span) map[string]*common.AnyValue {
	m := map[string]*common.AnyValue{}
	for _, a := range s.Attributes {
		m[a.Key] = a.Value
	}
	return m
}

// A request's spans reach a collector as children of the caller's own, with the names of the conventions; those of a caller
// that does not record stay here.
func TestSpansOfARequestJoinTheCallersTrace(t *testing.T) {
	const caller = "4bf92f3577b34da6a3ce929d0e0e4736"
	var bodies []string
	spans := exported(t, func(r *realRig) {
		for _, stream := range []bool{false, true} {
			_, body := r.post(chatPath, hi("max_tokens", 6, "ignore_eos", true, "stream", stream, "top_k", 9, "seed", 3), "Traceparent", "00-"+caller+"-00f067aa0ba902b7-01")
			bodies = append(bodies, body)
		}
		r.post(chatPath, hi("max_tokens", 2), "Traceparent", "00-"+caller+"-00f067aa0ba902b7-00") // not sampled
		r.post(textPath, object{"prompt": "a", "max_tokens": 100000})
		r.post("/tokenize", object{"content": "a"})
	})
	require.Len(t, spans, 7+7+3, "two answers with seven spans each; a refusal with its server, model and tokenize spans")
	for n := range 2 {
		one := spans[n*7 : n*7+7]
		names := make([]string, len(one))
		for i, s := range one {
			names[i] = s.Name
			require.Equal(t, caller, fmt.Sprintf("%x", s.TraceId))
			require.LessOrEqual(t, s.StartTimeUnixNano, s.EndTimeUnixNano)
			require.GreaterOrEqual(t, s.StartTimeUnixNano, one[0].StartTimeUnixNano)
			require.LessOrEqual(t, s.EndTimeUnixNano, one[0].EndTimeUnixNano)
		}
		require.Equal(t, []string{"POST /v1/chat/completions", "chat smol", "template", "tokenize", "queue", "prefill", "decode"}, names)
		require.Equal(t, "00f067aa0ba902b7", fmt.Sprintf("%x", one[0].ParentSpanId))
		require.Equal(t, []any{tracepb.Span_SPAN_KIND_SERVER, tracepb.Span_SPAN_KIND_INTERNAL}, []any{one[0].Kind, one[1].Kind})
		require.EqualValues(t, 200, attrs(one[0])["http.response.status_code"].GetIntValue())
		require.Positive(t, attrs(one[0])["server.port"].GetIntValue())
		a := attrs(one[1])
		require.Equal(t, []any{"chat", "glassbox", "smol", "text"}, []any{a["gen_ai.operation.name"].GetStringValue(), a["gen_ai.provider.name"].GetStringValue(),
			a["gen_ai.request.model"].GetStringValue(), a["gen_ai.output.type"].GetStringValue()})
		require.EqualValues(t, 6, a["gen_ai.usage.output_tokens"].GetIntValue())
		require.EqualValues(t, 9, a["gen_ai.request.top_k"].GetIntValue())
		require.Equal(t, "length", a["gen_ai.response.finish_reasons"].GetArrayValue().Values[0].GetStringValue())
		require.Contains(t, bodies[n], a["gen_ai.response.id"].GetStringValue())
		require.Equal(t, one[0].SpanId, one[1].ParentSpanId)
		for _, s := range one[2:] {
			require.Equal(t, one[1].SpanId, s.ParentSpanId, s.Name)
		}
		for i := 3; i < 7; i++ {
			require.LessOrEqual(t, one[i-1].EndTimeUnixNano, one[i].StartTimeUnixNano, one[i].Name)
		}
	}
	refused := spans[14]
	require.NotEqual(t, caller, fmt.Sprintf("%x", refused.TraceId))
	require.Equal(t, "context_length_exceeded", attrs(refused)["error.type"].GetStringValue())
	require.EqualValues(t, 400, attrs(refused)["http.response.status_code"].GetIntValue())
	require.Nil(t, refused.Status, "the client's mistake is no fault of the server's span")
	require.Equal(t, tracepb.Status_STATUS_CODE_ERROR, spans[15].Status.Code)
	for _, s := range spans {
		require.NotContains(t, strings.ToLower(s.String()), "hi<", "no texts of prompts")
	}
}

func TestMetricsOfTheParts(t *testing.T) {
	r := realServer(t, nil)
	long := strings.Repeat("0123456789abcdef", 6)
	for range 2 {
		r.post(textPath, object{"prompt": long, "max_tokens": 3, "ignore_eos": true})
	}
	body := readAll(t, r.send("GET", "/metrics", nil))
	for _, want := range []string{"glassbox_request_queue_time_seconds_count 2", "glassbox_request_prefill_time_seconds_count 2", "glassbox_request_decode_time_seconds_count 2",
		"glassbox_prefix_cache_queries_total 192", "glassbox_num_preemptions_total 0", "glassbox_request_prompt_tokens_sum 192"} {
		require.Contains(t, body, want+"\n")
	}
	require.NotContains(t, body, "glassbox_prefix_cache_hits_total 0\n")
}
