package file

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/trace"
)

const ms = int64(time.Millisecond)

var sampleHead = Head{
	Engine: Engine{"glassbox", "0.1.0", "unknown"},
	Model:  Model{Name: "tiny", File: "tiny.gguf", SHA256: "00", Architecture: "llama", Quantization: "Q4_1", Layers: 2, Heads: 4, KVHeads: 2, Width: 8, Vocab: 32},
	Device: Device{Kind: "cpu", Name: "a processor", Threads: 2, Features: []string{"avx2"}},
	Clock:  Clock{"monotonic", 30},
	Memory: &Memory{PageTokens: 16, Pages: 4, PageBytes: 4096, BytesPerToken: 256, Keys: "F16", Values: "F16", PrefixCache: true},
}

// span writes a span with times relative to the first byte.
func span(w *trace.Writer, step trace.StepID, from, to int64, attrs ...trace.Attr) {
	start := w.Recorder().Start
	m := w.BeginAt(step, start+from)
	for _, a := range attrs {
		m.Set(a.Key, a.Value)
	}
	m.EndAt(start + to)
}

// samplePass writes a pass of n layers, one op each of attn_q and ffn_down, from start; every op lasts 1 ms. It calls a driver three times.
func samplePass(r *trace.Recorder, index int, kind trace.PassKind, tokens, layers int, start int64) {
	var p trace.PassOps
	p.Reset(2*layers+1, 2)
	at := r.Start + start
	for i := range p.Ops {
		op, layer := trace.OpLMHead, int16(-1)
		if i < 2*layers {
			op, layer = []trace.OpID{trace.OpAttnQ, trace.OpDown}[i%2], int16(i/2)
		}
		p.Ops[i] = trace.OpTime{Op: op, Layer: layer, Kernel: trace.Kernel("mvQ4_1 sample"), Start: at, Dur: ms, Bytes: 1000, Flops: 2000, PC: pcHere(), Fn: entryOf(samplePass)}
		p.Busy[2*i], p.Busy[2*i+1] = uint32(ms), uint32(i)
		at += ms
	}
	start += r.Start
	p.Calls = []trace.Call{
		{Kind: trace.CallUpload, API: "cuMemcpyHtoDAsync", Op: -1, Start: start - 500, Dur: 100, Began: start - 300, Took: 200, Bytes: 64},
		{Kind: trace.CallLaunch, API: "cuLaunchKernel", Kernel: trace.Kernel("mat_vec_q4_1"), Op: 0, Start: start - 400, Dur: 100, Began: start, Took: ms, Grid: [3]int32{3, 1, 1}, Threads: 128},
		{Kind: trace.CallWait, API: "cuStreamSynchronize", Op: -1, Start: at, Dur: 7},
	}
	p.Clocks = trace.Clocks{Residual: 40, Drift: -3}
	r.Pass(&p, trace.Pass{Index: index, Kind: kind, Tokens: tokens, Batch: tokens + 1, Requests: 2, Start: start, Dur: int64(len(p.Ops)) * ms})
}

// sampleRequest writes a request of 3 prompt and 3 output tokens whose numbers are known: queued 2 ms, prefill of 5 ms from 10
// ms, decodes from 20 and 30 ms, tokens sampled at 16, 26 and 36 ms, flushed 2 ms later, the end at 40 ms.
func sampleRequest(r *trace.Recorder) {
	http, loop := r.Writer(trace.LaneHTTP), r.Writer(trace.LaneLoop)
	span(http, trace.StepFirstByte, -1*ms, 1*ms)
	span(http, trace.StepDecodeJSON, 2*ms, 3*ms, trace.Attr{Key: "in", Value: "18 bytes"})
	span(http, trace.StepValidate, 1*ms, 4*ms)
	span(loop, trace.StepQueue, 5*ms, 7*ms)
	r.Update(func(f *trace.Facts) {
		f.Number = 4
		f.RequestID, f.TraceParent = "req-1", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
		f.Endpoint, f.Messages = "/v1/chat/completions", json.RawMessage(`[{"role":"user","content":"Say <hi> & \"bye\""}]`)
		f.Params = map[string]any{"temperature": 0.0, "seed": int64(9007199254740993), "stop": []string{"\n"}, "max_tokens": 3}
		f.Rendered = "<|im_start|>user\nSay hi"
		f.PromptToks = []trace.Token{{ID: 1, Text: "<|im_start|>", Special: true}, {ID: 2, Text: "Say"}, {ID: 3, Text: " hi"}}
	})
	for i := range 3 {
		at := int64(i+1) * 10 * ms
		loop.In(i, -1)
		span(loop, trace.StepPlan, at-2*ms, at-1*ms)
		span(loop, trace.StepLaunch, at-1*ms, at+5*ms)
		kind, tokens := trace.Decode, 1
		if i == 0 {
			kind, tokens = trace.Prefill, 3
		}
		samplePass(r, i, kind, tokens, 2, at)
		r.AddTurn(trace.Turn{Start: r.Start + at, Dur: 5 * ms, Waiting: i, Parts: []trace.Part{{Request: 3, Kind: trace.Decode, Tokens: 1, From: 20 + i}, {Request: 4, Kind: kind, Tokens: tokens}}})
		r.AddPages(trace.PageChange{At: r.Start + at, What: []trace.PageWhat{trace.PageHold, trace.PageTake, trace.PageCopy}[i], Request: 4, Pages: []int32{int32(i)}, From: [][]int32{nil, nil, {0}}[i]})
		loop.In(i, i)
		span(loop, trace.StepDraw, at+5*ms, at+6*ms, trace.Attr{Key: "logits", Value: []float64{1, 0.5}})
		tok := trace.Token{ID: 10 + i, Text: "x", TimeNs: r.Start + at + 6*ms, Pass: int32(i), Logprob: -0.5, HasLP: true}
		if i == 1 {
			tok.Text, tok.Bytes = "\uFFFD", []byte{0xf0, 0x9f}
		}
		tok.Top = []trace.Alternative{{ID: 10 + i, Text: "x", Logprob: -0.5}, {ID: 31, Text: "y\xff", Logprob: math.Inf(-1)}}
		r.AddToken(tok)
		http.In(-1, i)
		span(http, trace.StepFlush, at+7*ms, at+8*ms)
	}
	http.In(-1, -1)
	span(http, trace.StepEnd, 39*ms, 40*ms)
	r.Update(func(f *trace.Facts) { f.Text, f.Finish = "x\uFFFDx", "stop" })
}

// sampleArrays are two captures, one of them with parts of a name.
func sampleArrays() map[string]*Array {
	return map[string]*Array{
		"attention":        NewArray([]float32{1, 0, 0.25, 0.75}, []int{1, 1, 2, 2}, []string{"layer", "head", "query", "key"}, "softmax rows"),
		"tape_in/0/attn_q": NewArray([]float32{1, -2}, []int{2}, []string{"width"}, "what the op read"),
		"lens_ids":         NewArray([]int32{3, 1, 2}, []int{1, 1, 3}, []string{"layer", "position", "rank"}, "token ids"),
	}
}

// sample returns the finished recording of sampleRequest.
func sample(t testing.TB) *Recording {
	r := trace.NewRecorder("sample01", trace.Now()+2*ms, trace.CaptureSpec{})
	sampleRequest(r)
	r.End()
	b := NewBuilder(r, sampleHead)
	var batch trace.Batch
	r.Drain(&batch)
	b.Append(&batch)
	rec := b.Finish()
	require.Len(t, rec.Spans, 5+3*4+3*5)
	rec.Arrays = sampleArrays()
	src := Source{Repo: "glassbox", Commit: "unknown", Path: "trace/file/x.go", Symbol: "f", Line: 3, Code: &Code{First: 2, Lines: []string{"a", "b"}}}
	rec.Walk = []Step{{ID: "queue", Title: "Wait", Stage: "schedule", Text: "It waits.", Lane: "loop", Source: src, Sources: []Source{src}, Spans: []int{3}, TimeNs: 2 * ms, Count: 1}}
	return rec
}
