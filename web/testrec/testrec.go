// Package testrec writes traced requests whose spans and times are known, for the tests of the site: what an engine would
// write, without an engine.
//
// It does not know about recordings, stores or pages: it fills a trace.Recorder.
package testrec

import (
	"encoding/json"
	"fmt"
	"time"

	"glassbox/trace"
)

// Ms is a millisecond in ns.
const Ms = int64(time.Millisecond)

// Head is the start of a request: it arrives, and is found to ask Prompt.
func Head(r *trace.Recorder, prompt string) {
	http, loop := r.Writer(trace.LaneHTTP), r.Writer(trace.LaneLoop)
	span(http, trace.StepFirstByte, 0, 1*Ms)
	span(http, trace.StepDecodeJSON, 2*Ms, 3*Ms)
	span(loop, trace.StepQueue, 5*Ms, 7*Ms)
	r.Update(func(f *trace.Facts) {
		f.RequestID, f.Endpoint = "req-1", "/v1/chat/completions"
		raw, _ := json.Marshal([]map[string]string{{"role": "user", "content": prompt}}) // strings cannot fail
		f.Messages = raw
		f.Params = map[string]any{"temperature": 0.0, "max_tokens": 3}
		f.Rendered = "<|im_start|>user\n" + prompt
		f.PromptToks = []trace.Token{{ID: 1, Text: "<|im_start|>", Special: true}, {ID: 2, Text: prompt}, {ID: 3, Text: " ?"}}
	})
}

// Token is pass i of the request and the token that comes out of it: 2 layers of one op of 1 ms each, from 10 ms times i+1.
func Token(r *trace.Recorder, i int, text string) {
	http, loop := r.Writer(trace.LaneHTTP), r.Writer(trace.LaneLoop)
	at := int64(i+1) * 10 * Ms
	loop.In(i, -1)
	span(loop, trace.StepPlan, at-2*Ms, at-1*Ms)
	kind, tokens := trace.Decode, 1
	if i == 0 {
		kind, tokens = trace.Prefill, 3
	}
	var p trace.PassOps
	p.Reset(3, 2)
	for n := range p.Ops {
		op, layer := trace.OpScores, int16(n)
		if n == 2 {
			op, layer = trace.OpLMHead, -1
		}
		p.Ops[n] = trace.OpTime{Op: op, Layer: layer, Start: r.Start + at + int64(n)*Ms, Dur: Ms, Bytes: 1000, Flops: 2000}
	}
	r.Pass(&p, trace.Pass{Index: i, Kind: kind, Tokens: tokens, Batch: tokens, Requests: 1, Start: r.Start + at, Dur: 3 * Ms})
	loop.In(i, i)
	span(loop, trace.StepDraw, at+5*Ms, at+6*Ms)
	r.AddToken(trace.Token{ID: 10 + i, Text: text, TimeNs: r.Start + at + 6*Ms, Pass: int32(i)})
	http.In(-1, i)
	span(http, trace.StepFlush, at+7*Ms, at+8*Ms)
	http.In(-1, -1)
}

// Whole is a request of three tokens, over after 40 ms. The recorder is not ended.
func Whole(r *trace.Recorder, prompt string) {
	Head(r, prompt)
	for i := range 3 {
		Token(r, i, fmt.Sprintf(" w%d", i))
	}
	span(r.Writer(trace.LaneHTTP), trace.StepEnd, 39*Ms, 40*Ms)
	r.Update(func(f *trace.Facts) { f.Text, f.Finish = " w0 w1 w2", "length" })
}

func span(w *trace.Writer, step trace.StepID, from, to int64) {
	start := w.Recorder().Start
	m := w.BeginAt(step, start+from)
	m.EndAt(start + to)
}
