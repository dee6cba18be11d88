package gateway

import (
	"encoding/hex"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/trace/file"
	"glassbox/trace/otlp"
)

// exported is what vLLM exports for a request: one span with lengths in seconds.
func exported(rec *file.Recording, queue, prefill, decode float64) []otlp.Received {
	began, _ := time.Parse(time.RFC3339Nano, rec.Started)
	s := otlp.Received{Service: "vllm", Span: otlp.Span{ID: otlp.NewID(), Name: "llm_request", Kind: otlp.Server}}
	id, _ := hex.DecodeString(rec.Request.TraceID)
	s.Trace = [16]byte(id)
	s.Start = began.UnixNano() + rec.Numbers.TTFTNs/10
	for i := range rec.Spans {
		if rec.Spans[i].Step == stepSend {
			s.Start = began.UnixNano() + rec.Spans[i].EndNs()
		}
	}
	s.End = s.Start + int64((queue+prefill+decode)*1e9)
	s.Attrs = []otlp.Attr{{Key: "gen_ai.latency.time_in_queue", Value: queue}, {Key: "gen_ai.latency.time_in_model_prefill", Value: prefill}, {Key: "gen_ai.latency.time_in_model_decode", Value: decode},
		{Key: "gen_ai.latency.time_to_first_token", Value: queue + prefill}, {Key: "gen_ai.usage.prompt_tokens", Value: int64(11)}, {Key: "gen_ai.prompt", Value: "SECRETspan"}}
	return []otlp.Received{s}
}

// slow is an upstream that takes 30 ms for the first piece and 20 ms for another.
func slow(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	for _, p := range []struct {
		after time.Duration
		text  string
	}{{30 * time.Millisecond, `data: {"choices":[{"index":0,"delta":{"content":"a"}}]}`}, {20 * time.Millisecond, `data: {"choices":[{"index":0,"delta":{"content":"b"},"finish_reason":"stop"}]}`}, {0, "data: [DONE]"}} {
		time.Sleep(p.after)
		_, _ = io.WriteString(w, p.text+"\n\n")
		_ = http.NewResponseController(w).Flush()
	}
}

func TestTheEnginesSpansFillTheStages(t *testing.T) {
	var parent string
	r := newRig(t, serve(t, func(w http.ResponseWriter, q *http.Request) {
		parent = q.Header.Get("Traceparent")
		slow(w, q)
	}), func(c *Config) { c.Engine = "vllm" })
	res, _ := r.post("/v1/chat/completions", hello, "Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	rec := r.recording(res.Header.Get("X-Glassbox-Trace-Id"))
	require.Equal(t, "4bf92f3577b34da6a3ce929d0e0e4736", rec.Request.TraceID)
	require.Contains(t, parent, "00-4bf92f3577b34da6a3ce929d0e0e4736-")
	require.NotContains(t, parent, "00f067aa0ba902b7", "the engine's span goes below ours")
	require.Nil(t, spanOf(rec, stepQueue))
	require.Zero(t, rec.Numbers.QueueNs)
	r.g.Take(exported(rec, 0.004, 0.010, 0.020))
	again := r.recording(rec.ID)
	require.NotSame(t, rec, again)
	queue, prefill, decode := spanOf(again, stepQueue), spanOf(again, stepPrefill), spanOf(again, stepDecode)
	require.EqualValues(t, 4e6, queue.DurNs)
	require.EqualValues(t, 10e6, prefill.DurNs)
	require.EqualValues(t, 20e6, decode.DurNs)
	require.Equal(t, queue.EndNs(), prefill.StartNs)
	require.Equal(t, prefill.EndNs(), decode.StartNs)
	require.Equal(t, "derived", queue.Prov)
	require.EqualValues(t, 4e6, again.Numbers.QueueNs)
	require.InDelta(t, 1100, again.Numbers.PrefillTokensPerS, 0.1)
	byStage := map[string]int64{}
	for _, w := range again.Walk {
		byStage[w.Stage] += w.TimeNs
	}
	require.EqualValues(t, 30e6, byStage["compute"])
	inside := 0
	for _, w := range again.Walk {
		if w.ID == "prefix_lookup" {
			inside++
			require.Zero(t, w.Count)
			require.Contains(t, w.Text, "recorded from outside")
		}
	}
	require.Equal(t, 1, inside, "the engine's own stops are in the walk")
	r.g.Take(exported(rec, 0.004, 0.010, 0.020)) // another span, of the same trace: the phases are put in once
	require.EqualValues(t, 4e6, r.recording(rec.ID).Numbers.QueueNs)
	r.g.Take([]otlp.Received{{Span: otlp.Span{Trace: otlp.NewTrace(), ID: otlp.NewID()}}})
	require.EqualValues(t, 1, r.g.joins.Strange)
}

// Requests of one trace get the spans that name them as their parent; spans that come while a request runs are kept for it.
func TestSpansFindTheirRequest(t *testing.T) {
	var take func(parent string)
	r := newRig(t, serve(t, func(w http.ResponseWriter, q *http.Request) {
		p := q.Header.Get("Traceparent")
		take(p)
		slow(w, q)
	}), nil)
	name := "first"
	take = func(p string) {
		id, parent, _, _ := otlp.Join(p)
		r.g.Take([]otlp.Received{{Span: otlp.Span{Trace: id, Parent: parent, ID: otlp.NewID(), Name: name, Start: time.Now().UnixNano(), End: time.Now().UnixNano() + 1e6}}})
	}
	var ids []string
	for _, name = range []string{"first", "second"} {
		res, _ := r.post("/v1/chat/completions", hello, "Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
		ids = append(ids, res.Header.Get("X-Glassbox-Trace-Id"))
	}
	for i, want := range []string{"first", "second"} {
		rec := r.recording(ids[i])
		var names []string
		for _, s := range rec.Spans {
			if s.Lane == laneEngine {
				names = append(names, s.Name)
			}
		}
		require.Equal(t, []string{want}, names)
	}
}

// Another machine's clock may be hours off: its spans are moved to where they can have been, and say so.
func TestClocksThatDisagree(t *testing.T) {
	r := newRig(t, serve(t, slow), nil)
	res, _ := r.post("/v1/chat/completions", hello)
	rec := r.recording(res.Header.Get("X-Glassbox-Trace-Id"))
	list := exported(rec, 0.004, 0.010, 0.020)
	list[0].Start -= 3600e9
	list[0].End -= 3600e9
	r.g.Take(list)
	again := r.recording(rec.ID)
	require.InDelta(t, spanOf(again, stepSend).StartNs, spanOf(again, stepQueue).StartNs, 1)
	require.EqualValues(t, 10e6, spanOf(again, stepPrefill).DurNs)
	for _, s := range again.Spans {
		if s.Name == "llm_request" {
			require.Contains(t, s.Attrs, "clock_shift_ns")
		}
	}
}
