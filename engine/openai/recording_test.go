package openai

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/trace"
)

// spans drains a finished recording's spans of one lane.
func spans(rec *trace.Recorder, lane trace.Lane) []trace.Span {
	var b trace.Batch
	rec.Drain(&b)
	var out []trace.Span
	for _, s := range b.Spans {
		if s.Lane == lane {
			out = append(out, s)
		}
	}
	return out
}

// attr returns a fact of a span.
func attr(s trace.Span, key string) string {
	for _, a := range s.Attrs {
		if a.Key == key {
			text, _ := a.Value.(string)
			return text
		}
	}
	return ""
}

// Where each step is done: the function in which its span begins.
var symbols = map[trace.StepID]string{
	trace.StepFirstByte: "openai.(*Server).ServeHTTP", trace.StepRoute: "openai.(*Server).ServeHTTP", trace.StepReadBody: "openai.(*call).readBody",
	trace.StepDecodeJSON: "openai.(*call).decodeJSON", trace.StepValidate: "openai.(*Server).validate", trace.StepRequestID: "openai.(*call).newID",
	trace.StepTemplate: "chat.(*Template).Render", trace.StepRender: "chat.(*Template).Render",
	trace.StepSplitMarks: "token.(*Tokenizer).splitMarks", trace.StepPresplit: "token.(*Tokenizer).presplit",
	trace.StepMerge: "token.(*Tokenizer).merge", trace.StepLookup: "token.(*Tokenizer).lookUp",
	trace.StepFitContext: "engine.(*Engine).fit", trace.StepSequence: "engine.(*Engine).sequence", trace.StepSubmit: "engine.(*Engine).enqueue",
	trace.StepChunk: "openai.(*reply).chunk", trace.StepWrite: "openai.(*reply).write", trace.StepFlush: "openai.(*reply).flush",
	trace.StepUsage: "openai.(*reply).usage", trace.StepEnd: "openai.(*reply).end",
}

// A streamed chat leaves every step of the HTTP goroutine, in order, from where the work is done, with what went in and out.
func TestRecordingOfAStream(t *testing.T) {
	tr := &tracer{}
	r := realServer(t, func(c *Config) { c.Tracer = tr })
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	before := trace.Now()
	res := r.send("POST", chatPath, hi("stream", true, "max_tokens", 3, "temperature", 0, "ignore_eos", true, "logit_bias", object{"104": 100},
		"glassbox", object{"trace": true}), "X-Request-Id", "mine", "Traceparent", parent)
	body := readAll(t, res)
	require.Equal(t, "rec-1", res.Header.Get("X-Glassbox-Trace-Id"))
	rec := tr.only(t)
	require.Greater(t, rec.Start, before)
	f := rec.Facts()
	require.Equal(t, []any{"mine", parent, chatPath, "hhh", "length", ""}, []any{f.RequestID, f.TraceParent, f.Endpoint, f.Text, f.Finish, f.Err})
	require.JSONEq(t, `[{"role":"user","content":"Hi"}]`, string(f.Messages))
	require.Equal(t, "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n", f.Rendered)
	require.Len(t, f.PromptToks, 21)
	require.Equal(t, trace.Token{ID: 257, Text: "<|im_start|>", Special: true}, f.PromptToks[0])
	params, err := json.Marshal(f.Params)
	require.NoError(t, err)
	p := parse(t, string(params))
	require.Equal(t, []any{0.0, 3.0, 1.0, true, true, 100.0}, []any{p["temperature"], p["max_tokens"], p["top_p"], p["ignore_eos"], p["stream"], at(t, p, "logit_bias", "104")})
	require.Contains(t, p, "seed", "a seed that was not given is recorded too")

	all := spans(rec, trace.LaneHTTP)
	seen, last := map[trace.StepID]int{}, int64(0)
	for _, s := range all {
		seen[s.Step]++
		want, known := symbols[s.Step]
		require.True(t, known, s.Step)
		frame, _ := runtime.CallersFrames([]uintptr{s.PC}).Next()
		require.Equal(t, want, strings.TrimPrefix(strings.TrimPrefix(frame.Function, "glassbox/"), "engine/"), s.Step)
		require.NotEmpty(t, attr(s, "in"), s.Step)
		require.NotEmpty(t, attr(s, "out"), s.Step)
		require.GreaterOrEqual(t, s.Start, rec.Start)
		last = max(last, s.Start+s.Dur)
	}
	for step := range symbols {
		want := 1
		switch step {
		case trace.StepChunk:
			want = 3
		case trace.StepWrite, trace.StepFlush:
			want = 6 // role, three tokens, finish, [DONE]
		}
		require.Equal(t, want, seen[step], step)
	}
	noHalves(t, all)
	var first trace.Span
	for _, s := range all {
		if s.Step == trace.StepFirstByte {
			first = s
		}
	}
	require.Equal(t, rec.Start, first.Start, "the recording starts with the first byte")
	require.Contains(t, attr(first, "in"), "POST /v1/chat/completions HTTP/1.1")

	lines := events(t, body)
	for n, e := range f.OutputToks {
		found := 0
		for _, s := range all {
			if s.Token != int32(n) {
				continue
			}
			found++
			require.Equal(t, e.Pass, s.Pass)
			require.Greater(t, s.Start, e.TimeNs, "a token is sent after it is drawn")
			if s.Step == trace.StepWrite {
				require.Equal(t, "data: "+lines[n+1], attr(s, "in"))
			}
		}
		require.Equal(t, 3, found, "a token is put into an event, written and flushed")
	}
}

// noHalves checks that spans of a lane follow each other or nest.
func noHalves(t *testing.T, all []trace.Span) {
	t.Helper()
	for i, a := range all {
		for _, b := range all[i+1:] {
			if b.Start < a.Start {
				a, b = b, a
			}
			apart := b.Start >= a.Start+a.Dur
			inside := b.Start+b.Dur <= a.Start+a.Dur
			require.True(t, apart || inside, "%v and %v overlap by halves", a.Step, b.Step)
		}
	}
}

func TestRecordingOfAWholeAnswer(t *testing.T) {
	tr := &tracer{}
	r := realServer(t, func(c *Config) { c.Tracer = tr })
	status, body := r.post(textPath, text("model", "tiny", "prompt", []any{79, 110}, "max_tokens", 2, "ignore_eos", true), "X-Glassbox-Trace", "1")
	require.Equal(t, 200, status, body)
	rec := tr.only(t)
	f := rec.Facts()
	require.Equal(t, []any{"On", "On", textPath, ""}, []any{f.Prompt, f.Rendered, f.Endpoint, f.TraceParent})
	require.Empty(t, f.Messages)
	require.Len(t, f.OutputToks, 2)
	require.Equal(t, at(t, parse(t, body), "id"), f.RequestID)
	seen := map[trace.StepID]int{}
	for _, s := range spans(rec, trace.LaneHTTP) {
		seen[s.Step]++
	}
	require.Equal(t, 1, seen[trace.StepUsage])
	require.Equal(t, 1, seen[trace.StepEnd])
	require.Zero(t, seen[trace.StepChunk], "nothing was streamed")
}

// A recording is ended whatever becomes of its request, and says what went wrong.
func TestRecordingsOfRefusedRequests(t *testing.T) {
	for name, c := range map[string]struct {
		body any
		says string
	}{"broken": {"{", "not valid JSON"}, "refused": {hi("n", 0), "wanted 1"}, "too long": {hi("max_tokens", 5000), "context"}} {
		t.Run(name, func(t *testing.T) {
			tr := &tracer{}
			r := realServer(t, func(c *Config) { c.Tracer = tr })
			res := r.send("POST", chatPath, c.body, "X-Glassbox-Trace", "1")
			require.Equal(t, 400, res.StatusCode)
			require.Equal(t, "rec-1", res.Header.Get("X-Glassbox-Trace-Id"))
			f := tr.only(t).Facts()
			require.Equal(t, "error", f.Finish)
			require.Contains(t, f.Err, c.says)
		})
	}
}

func TestWhoIsRecorded(t *testing.T) {
	tr := &tracer{}
	r := start(t, func(c *Config, _ *fake) { c.Tracer = tr })
	for _, header := range []string{"", "0", "false"} {
		require.Empty(t, r.send("POST", chatPath, hi("glassbox", object{"trace": false}), "X-Glassbox-Trace", header).Header.Get("X-Glassbox-Trace-Id"))
	}
	require.Nil(t, r.fake.last(t).Trace)
	require.Empty(t, r.send("POST", "/tokenize", object{"content": "x"}, "X-Glassbox-Trace", "1").Header.Get("X-Glassbox-Trace-Id"))
	r.send("POST", chatPath, hi("glassbox", object{"trace": true}))
	require.NotNil(t, r.fake.last(t).Trace)
	r = start(t, nil)
	status, body := r.post(chatPath, hi(), "X-Glassbox-Trace", "1")
	require.Equal(t, 400, status)
	require.Contains(t, body, "keeps no recordings")
}

// busy is a tracer that records as many requests as it can already.
type busy struct{}

func (busy) Start(int64, trace.CaptureSpec) (*trace.Recorder, error) { return nil, trace.ErrBusy }

func TestTooManyRecordings(t *testing.T) {
	r := start(t, func(c *Config, _ *fake) { c.Tracer = busy{} })
	res := r.send("POST", chatPath, hi(), "X-Glassbox-Trace", "1")
	require.Equal(t, 429, res.StatusCode)
	require.Equal(t, "1", res.Header.Get("Retry-After"))
	require.Contains(t, readAll(t, res), `"type":"rate_limit_error","param":null,"code":"recordings_busy"`)
	status, _ := r.post(chatPath, hi())
	require.Equal(t, 200, status, "the others are served")
}

func TestCaptureKinds(t *testing.T) {
	_, err := checkCapture([]string{"all"}, trace.CaptureSpec{Logits: true})
	require.ErrorContains(t, err, "attention, lens, values not recorded by this build yet; possible are logits")
	got, err := checkCapture([]string{"logits"}, trace.CaptureSpec{Logits: true})
	require.NoError(t, err)
	require.Equal(t, trace.CaptureSpec{Logits: true}, got)
}

// The clock starts at the first byte: of the first request and of each that follows on the same connection.
func TestFirstByteOnAKeptConnection(t *testing.T) {
	tr := &tracer{}
	r := start(t, func(c *Config, _ *fake) { c.Tracer = tr })
	conn, err := net.Dial("tcp", r.http.Listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	reader := bufio.NewReader(conn)
	var arrivals []int64
	for range 3 {
		time.Sleep(20 * time.Millisecond)
		before := trace.Now()
		_, err := conn.Write([]byte("POST "))
		require.NoError(t, err)
		time.Sleep(30 * time.Millisecond)
		body, err := json.Marshal(hi())
		require.NoError(t, err)
		request(t, conn, body)
		res, err := http.ReadResponse(reader, nil)
		require.NoError(t, err)
		require.Contains(t, readAll(t, res), "Hello there!")
		require.NotEmpty(t, res.Header.Get("X-Glassbox-Trace-Id"))
		tr.mu.Lock()
		rec := tr.recs[len(tr.recs)-1]
		tr.mu.Unlock()
		<-rec.Done()
		require.Less(t, rec.Start-before, int64(25*time.Millisecond), "the clock starts at the first byte, not when the head is whole")
		require.Greater(t, rec.Start, before)
		arrivals = append(arrivals, rec.Start)
		for _, s := range spans(rec, trace.LaneHTTP) {
			if s.Step == trace.StepFirstByte {
				require.Greater(t, s.Dur, int64(25*time.Millisecond))
			}
		}
	}
	require.Less(t, arrivals[0], arrivals[1])
	require.Less(t, arrivals[1], arrivals[2])
}

func TestShorten(t *testing.T) {
	require.Equal(t, "abc", shorten("abc", 3))
	require.Equal(t, "ab…", shorten("abc", 2))
	require.Equal(t, "ää…", shorten("äää", 2))
	require.Equal(t, "\uFFFDx", shorten("\xc3x", 5))
	require.Equal(t, strings.Repeat("x", 10)+"…", shorten(strings.Repeat("x", 99), 10))
}
