package file

import (
	"math"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/trace"
)

func pcHere() uintptr {
	var pcs [1]uintptr
	runtime.Callers(2, pcs[:])
	return pcs[0]
}

func entryOf(f any) uintptr { return reflect.ValueOf(f).Pointer() }

func find(t *testing.T, rec *Recording, id string) *Span {
	i := slices.IndexFunc(rec.Spans, func(s Span) bool { return s.ID == id })
	require.GreaterOrEqual(t, i, 0, id)
	return &rec.Spans[i]
}

func TestBuilderGivesPathsTimesAndFacts(t *testing.T) {
	rec := sample(t)
	ids := map[string]bool{}
	for i, s := range rec.Spans {
		require.False(t, ids[s.ID], s.ID)
		ids[s.ID] = true
		require.GreaterOrEqual(t, s.StartNs, int64(0))
		require.True(t, i == 0 || rec.Spans[i-1].StartNs <= s.StartNs)
	}
	require.Equal(t, Span{ID: "decode/1/L1/ffn_down", Step: "ffn_down", Name: "ffn_down", StartNs: 23 * ms, DurNs: ms, Lane: "workers",
		Parent: "schedule/1/launch", Pass: 1, Layer: 1, Op: "ffn_down", Kernel: "mvQ4_1 sample", Bytes: 1000, Flops: 2000, Prov: "measured",
		Attrs: Attrs{"busy_ns": []int64{ms, 3}}}, *find(t, rec, "decode/1/L1/ffn_down"))
	require.Equal(t, None, find(t, rec, "prefill/0/lm_head").Layer)
	require.Equal(t, Attrs{"token": int64(2), "logits": []float64{1, 0.5}}, find(t, rec, "deliver/2/draw").Attrs)
	require.Equal(t, 2, find(t, rec, "deliver/2/draw").Pass)
	require.Equal(t, Attrs{"in": "18 bytes"}, find(t, rec, "receive/decode_json").Attrs)
	require.Equal(t, "receive/validate", find(t, rec, "receive/decode_json").Parent)
	require.Empty(t, find(t, rec, "receive/validate").Parent)
	clocks := &Clocks{40, -3}
	require.Equal(t, []Pass{{0, "prefill", 3, 4, 2, 10 * ms, 5 * ms, 0, 0, clocks}, {1, "decode", 1, 2, 2, 20 * ms, 5 * ms, 0, 0, clocks}, {2, "decode", 1, 2, 2, 30 * ms, 5 * ms, 0, 0, clocks}}, rec.Passes)
	// Calls of pass 1, whose first op is its second call.
	calls := rec.Calls[3:6]
	require.Len(t, rec.Calls, 9)
	require.Equal(t, []Call{
		{What: "upload", API: "cuMemcpyHtoDAsync", Pass: 1, StartNs: 20*ms - 500, DurNs: 100, Device: &OnClock{20*ms - 300, 200}, Bytes: 64},
		{What: "launch", API: "cuLaunchKernel", Pass: 1, Span: "decode/1/L0/attn_q", Kernel: "mat_vec_q4_1", StartNs: 20*ms - 400, DurNs: 100, Device: &OnClock{20 * ms, ms}, Grid: []int{3, 1, 1}, Threads: 128},
		{What: "wait", API: "cuStreamSynchronize", Pass: 1, StartNs: 25 * ms, DurNs: 7},
	}, calls)
}

func TestWhatLiesBeforeTheFirstByteIsCutAndSaid(t *testing.T) {
	s := find(t, sample(t), "receive/first_byte")
	require.Equal(t, []int64{0, ms}, []int64{s.StartNs, s.DurNs})
	require.Equal(t, ms, s.Attrs["before_first_byte_ns"])
}

func TestABrokenOffAnswerEndsWithTheEnginesWork(t *testing.T) {
	spans := []Span{{Lane: "http", StartNs: 0, DurNs: 3 * ms}, {Lane: "loop", StartNs: 4 * ms, DurNs: 5 * ms}}
	for finish, want := range map[string]int64{"stop": 3 * ms, "length": 3 * ms, "cancelled": 9 * ms, "error": 9 * ms} {
		require.Equal(t, want, Measure(&Recording{Request: Request{FinishReason: finish}, Spans: spans}).E2ENs, finish)
	}
}

func TestNumbersFollowTheirFormulas(t *testing.T) {
	rec := sample(t)
	require.Equal(t, Numbers{TTFTNs: 18 * ms, TPOTNs: 10 * ms, E2ENs: 40 * ms, PromptTokens: 3, OutputTokens: 3, PrefillTokensPerS: 600,
		DecodeTokensPerS: 100, QueueNs: 2 * ms, FirstTokenSampleNs: 16 * ms}, rec.Numbers)
	rec.Spans = slices.DeleteFunc(rec.Spans, func(s Span) bool { return s.Step == "sse_flush" })
	require.Equal(t, 16*ms, Measure(rec).TTFTNs)
	rec.Request.OutputTokens = rec.Request.OutputTokens[:1]
	n := Measure(rec)
	require.Zero(t, n.TPOTNs)
	require.Zero(t, n.DecodeTokensPerS)
	require.Equal(t, Numbers{}, Measure(&Recording{}))
}

func TestNumbersOfGuessing(t *testing.T) {
	at := func(n int) *int { return &n }
	rec := &Recording{Request: Request{OutputTokens: []Token{{Pass: at(0)}, {Pass: at(1)}, {Pass: at(3)}, {Pass: at(3)}, {Pass: at(3)}, {Pass: at(4)}}},
		Passes: []Pass{{Index: 0, Kind: "prefill", DurNs: 100 * ms}, {Index: 1, Kind: "decode", DurNs: 10 * ms}, {Index: 2, Kind: "draft", DurNs: 4 * ms},
			{Index: 3, Kind: "verify", DurNs: 14 * ms}, {Index: 4, Kind: "decode", DurNs: 10 * ms}},
		Spans: []Span{{Step: "draft", DurNs: 6 * ms}, {Step: "verify", Attrs: Attrs{"drafted": int64(4), "accepted": int64(2)}}}}
	n := Measure(rec)
	require.Equal(t, []int{4, 2}, []int{n.Drafted, n.Accepted})
	require.InDelta(t, 5.0/3, n.TokensPerPass, 1e-9)
	require.InDelta(t, 5*10.0/(10+14+10+6), n.DraftGain, 1e-9)
	rec.Passes = rec.Passes[:3]
	require.Zero(t, Measure(rec).TokensPerPass, "nothing was checked")
}

func TestRequestIsWhatTheRecorderKnows(t *testing.T) {
	r := sample(t).Request
	require.Equal(t, "req-1", r.ID)
	require.Equal(t, "4bf92f3577b34da6a3ce929d0e0e4736", r.TraceID)
	require.Equal(t, Attrs{"temperature": 0.0, "seed": int64(9007199254740993), "stop": []string{"\n"}, "max_tokens": int64(3)}, r.Params)
	require.Equal(t, []byte{0xf0, 0x9f}, r.OutputTokens[1].Bytes)
	require.Equal(t, 26*ms, r.OutputTokens[1].TNs)
	require.Equal(t, 1, *r.OutputTokens[1].Pass)
	require.Equal(t, -0.5, *r.OutputTokens[1].Logprob)
	require.Equal(t, []Alternative{{11, "x", r.OutputTokens[1].Logprob}, {31, "y\uFFFD", nil}}, r.OutputTokens[1].Top)
	require.Equal(t, "stop", r.FinishReason)
}

func TestParentsAreTheInnermostAround(t *testing.T) {
	s := func(id, lane string, start, dur int64) Span {
		return Span{ID: id, Lane: lane, StartNs: start, DurNs: dur, Pass: None, Layer: None}
	}
	// In the order in which they ended: of twins the inner one first.
	spans := sortSpans([]Span{s("twin in", "a", 10, 5), s("twin out", "a", 10, 5), s("half", "a", 18, 10), s("point", "a", 20, 0), s("point 2", "a", 20, 0), s("after", "a", 28, 2),
		s("all", "a", 0, 20), s("other", "b", 11, 1), s("whole", "a", 0, 40)})
	linkParents(spans)
	got := map[string]string{}
	for i, p := range spans {
		got[p.ID] = p.Parent
		require.True(t, i == 0 || spans[i-1].StartNs <= p.StartNs)
	}
	require.Equal(t, map[string]string{"whole": "", "all": "whole", "twin out": "all", "twin in": "twin out", "half": "whole", "point": "half", "point 2": "half",
		"after": "whole", "other": ""}, got)
}

func TestTraceparentRules(t *testing.T) {
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	for parent, want := range map[string]string{
		"00-" + id + "-00f067aa0ba902b7-01":                       id,
		"cc-" + id + "-00f067aa0ba902b7-01-extra":                 id,
		"ff-" + id + "-00f067aa0ba902b7-01":                       "",
		"00-" + id + "-0000000000000000-01":                       "",
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01": "",
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01": "",
		"": "", "00-" + id: "",
	} {
		require.Equal(t, want, TraceID(parent), parent)
	}
	r := trace.NewRecorder("x", 0, trace.CaptureSpec{})
	require.Regexp(t, "^[0-9a-f]{32}$", NewBuilder(r, Head{}).Request().TraceID)
}

func TestRepeatedPathsAreNumberedAndHostileFactsAreKept(t *testing.T) {
	r := trace.NewRecorder("x", 0, trace.CaptureSpec{})
	w := r.Writer(trace.LaneLoop)
	for range 3 {
		span(w, trace.StepDrain, 5, 9)
	}
	w.In(4, -1)
	span(w, trace.StepLogits, 5, 9, trace.Attr{Key: "x", Value: math.NaN()}, trace.Attr{Key: "y", Value: []float64{1, math.Inf(-1)}}, trace.Attr{Key: "n", Value: 7})
	r.Update(func(f *trace.Facts) { f.Messages = []byte("not json \xff") })
	r.AddToken(trace.Token{Logprob: math.Inf(-1), HasLP: true, Pass: -1})
	b := NewBuilder(r, Head{})
	var batch trace.Batch
	r.Drain(&batch)
	d := b.Append(&batch)
	require.Equal(t, []string{"schedule/drain", "schedule/drain#2", "schedule/drain#3", "deliver/pass4/read_logits"},
		[]string{d.Spans[0].ID, d.Spans[1].ID, d.Spans[2].ID, d.Spans[3].ID})
	for range 2 {
		var p trace.PassOps
		p.Reset(2, 0)
		p.Ops[0], p.Ops[1] = trace.OpTime{Op: trace.OpRope, Layer: 1}, trace.OpTime{Op: trace.OpRope, Layer: 1}
		r.Pass(&p, trace.Pass{Index: 2, Kind: trace.Verify})
	}
	var again trace.Batch
	r.Drain(&again)
	twice := b.Append(&again)
	require.Equal(t, []string{"verify/2/L1/rope", "verify/2/L1/rope#2", "verify/2#2/L1/rope", "verify/2#2/L1/rope#2"},
		[]string{twice.Spans[0].ID, twice.Spans[1].ID, twice.Spans[2].ID, twice.Spans[3].ID})
	require.Nil(t, twice.Spans[0].Attrs)
	require.Equal(t, `{"n":7,"x":"NaN","y":[1.0,"-Inf"]}`, string(d.Spans[3].Attrs.AppendJSON(nil)))
	require.Nil(t, d.Tokens[0].Logprob)
	require.Equal(t, "\"not json \\ufffd\"", string(b.Finish().Request.Messages))
}

func TestDeltasAreNewPartsAndStayAsTheyWere(t *testing.T) {
	r := trace.NewRecorder("x", 0, trace.CaptureSpec{})
	b := NewBuilder(r, Head{})
	var batch trace.Batch
	w := r.Writer(trace.LaneLoop)
	span(w, trace.StepDrain, 50, 60)
	r.Drain(&batch)
	first := b.Append(&batch)
	span(w, trace.StepAdmit, 10, 20)
	r.Drain(&batch)
	second := b.Append(&batch)
	rec := b.Finish()
	require.Equal(t, []string{"schedule/admit", "schedule/drain"}, []string{rec.Spans[0].ID, rec.Spans[1].ID})
	require.Len(t, first.Spans, 1)
	require.Equal(t, "schedule/drain", first.Spans[0].ID)
	require.Len(t, second.Spans, 1)
	require.Equal(t, "schedule/admit", second.Spans[0].ID)
	require.JSONEq(t, `{"spans":[{"id":"schedule/admit","step":"admit","name":"admit","start_ns":10,"dur_ns":10,"lane":"loop","prov":"measured"}],"passes":[],"tokens":[],"dropped":0}`,
		string(second.AppendJSON(nil)))
}

func TestSourcesAreTheLinesAndFunctionsThatRan(t *testing.T) {
	rec := sample(t)
	refs := rec.RawSources["attn_q"]
	require.Len(t, refs, 2)
	require.Equal(t, SourceRef{Symbol: "samplePass", Func: "glassbox/trace/file.samplePass", File: "trace/file/sample_test.go", Line: refs[0].Line}, refs[0])
	require.Equal(t, SourceRef{Symbol: "samplePass", Func: "glassbox/trace/file.samplePass", File: "trace/file/sample_test.go", Line: refs[1].Line, Decl: true}, refs[1])
	require.Greater(t, refs[0].Line, refs[1].Line)
	// One line of the helper wrote all of these spans, however often it ran.
	require.Len(t, rec.RawSources["draw"], 1)
	require.Equal(t, "span", rec.RawSources["draw"][0].Symbol)
	std, ok := FuncSite(entryOf(time.Now))
	require.True(t, ok)
	require.Equal(t, "time/time.go", std.File)
	_, ok = CallSite(0)
	require.False(t, ok)
}

// bigRecorder feeds 100 passes of 600 ops into a builder.
func buildBig() *Recording {
	r := trace.NewRecorder("big", 0, trace.CaptureSpec{})
	b := NewBuilder(r, sampleHead)
	var batch trace.Batch
	var p trace.PassOps
	p.Reset(600, 2)
	ops := trace.Ops()
	for pass := range 100 {
		for i := range p.Ops {
			p.Ops[i] = trace.OpTime{Op: ops[i%20], Layer: int16(i / 20), Kernel: trace.Kernel("mvQ4_1 sample"), Start: int64(pass*600+i) * 1000, Dur: 900, Bytes: 123456, Flops: 654321}
			p.Busy[2*i], p.Busy[2*i+1] = 800, 700
		}
		r.Pass(&p, trace.Pass{Index: pass, Kind: trace.Decode, Tokens: 1, Batch: 1, Requests: 1, Start: int64(pass) * 600_000, Dur: 600_000})
		r.Drain(&batch)
		b.Append(&batch)
		r.Recycle(batch.Passes[0])
	}
	return b.Finish()
}

func BenchmarkBuildAndEncode60000Ops(b *testing.B) {
	for b.Loop() {
		rec := buildBig()
		n := &counter{}
		if err := WriteJSON(n, rec); err != nil || len(rec.Spans) != 60000 {
			b.Fatal(err, len(rec.Spans))
		}
		b.SetBytes(int64(n.n))
	}
}

func BenchmarkWriteGBX60000Ops(b *testing.B) {
	rec := buildBig()
	for b.Loop() {
		if err := WriteGBX(&counter{}, rec); err != nil {
			b.Fatal(err)
		}
	}
}

type counter struct{ n int }

func (c *counter) Write(b []byte) (int, error) { c.n += len(b); return len(b), nil }

// BenchmarkAppendPass is one decode pass of 600 ops after many: what live pays for each token.
func BenchmarkAppendPass(b *testing.B) {
	r := trace.NewRecorder("x", 0, trace.CaptureSpec{})
	builder := NewBuilder(r, sampleHead)
	var p trace.PassOps
	p.Reset(600, 2)
	ops := trace.Ops()
	for i := range p.Ops {
		p.Ops[i] = trace.OpTime{Op: ops[i%20], Layer: int16(i / 20), Start: int64(i) * 1000, Dur: 900}
	}
	var batch trace.Batch
	var buf []byte
	for n := 0; b.Loop(); n++ {
		r.Pass(&p, trace.Pass{Index: n, Kind: trace.Decode})
		r.Drain(&batch)
		d := builder.Append(&batch)
		r.Recycle(batch.Passes[0])
		buf = d.AppendJSON(buf[:0])
	}
}
