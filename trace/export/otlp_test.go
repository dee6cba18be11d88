package export

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"glassbox/trace/file"
)

func TestOTLPHoldsTheRequestAndItsParts(t *testing.T) {
	rec := hard()
	rec.Request.Endpoint, rec.Request.TraceParent = "/v1/chat/completions", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	rec.Request.FinishReason, rec.Request.OutputTokens = "stop", []file.Token{{ID: 7, TNs: 104}, {ID: 9, TNs: 114}}
	rec.Spans[0].Step = "queue"
	var b, again bytes.Buffer
	require.NoError(t, OTLP(&b, rec))
	require.NoError(t, OTLP(&again, rec))
	require.Equal(t, b.Bytes(), again.Bytes())
	var d tracepb.TracesData
	require.NoError(t, proto.Unmarshal(b.Bytes(), &d))
	spans := d.ResourceSpans[0].ScopeSpans[0].Spans
	var names []string
	ids := map[string]bool{}
	for _, s := range spans {
		names = append(names, s.Name)
		ids[string(s.SpanId)] = true
		require.Equal(t, "4bf92f3577b34da6a3ce929d0e0e4736", fmt.Sprintf("%x", s.TraceId))
	}
	require.Equal(t, []string{"POST /v1/chat/completions", `chat m\n`, "queue", "prefill", "decode"}, names)
	require.Len(t, ids, 5)
	const began = 1767323045_000000000 // 2026-01-02T03:04:05Z
	require.EqualValues(t, began+5, spans[3].StartTimeUnixNano)
	require.EqualValues(t, began+105, spans[3].EndTimeUnixNano)
	require.EqualValues(t, began+114, spans[4].EndTimeUnixNano)
	require.EqualValues(t, began+104, spans[4].Events[0].TimeUnixNano)
	rec.Started = "yesterday"
	require.ErrorContains(t, OTLP(&b, rec), "yesterday")
}
