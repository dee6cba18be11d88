package gateway

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/cmd/internal/bench/mock"
	"glassbox/trace/file"
)

// rig is a gateway before an upstream.
type rig struct {
	t     testing.TB
	g     *Gateway
	url   string
	store *file.Store
}

func newRig(t testing.TB, upstream string, change func(*Config)) *rig {
	u, err := url.Parse(upstream)
	require.NoError(t, err)
	store, err := file.NewStore(file.StoreOptions{OnError: func(err error) { t.Error(err) }})
	require.NoError(t, err)
	c := Config{Upstream: u, Store: store, Sample: 1, OnError: func(err error) { t.Error(err) }}
	if change != nil {
		change(&c)
	}
	r := &rig{t: t, g: New(c), store: store}
	s := httptest.NewServer(r.g)
	r.url = s.URL
	t.Cleanup(func() { s.Close(); r.g.Close(); store.Close() })
	return r
}

// serve is an upstream that answers posts; the questions of who it is find nothing.
func serve(t testing.TB, h http.HandlerFunc) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			http.NotFound(w, r)
			return
		}
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func (r *rig) post(path, body string, header ...string) (*http.Response, string) {
	req, err := http.NewRequest(http.MethodPost, r.url+path, strings.NewReader(body))
	require.NoError(r.t, err)
	for _, h := range header {
		k, v, _ := strings.Cut(h, ": ")
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(r.t, err)
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	return res, string(b)
}

// recording waits for the recording of an answer.
func (r *rig) recording(id string) *file.Recording {
	r.t.Helper()
	require.NotEmpty(r.t, id)
	var rec *file.Recording
	require.Eventually(r.t, func() bool {
		var err error
		rec, err = r.store.Get(id)
		return err == nil
	}, 5*time.Second, time.Millisecond)
	var b bytes.Buffer
	require.NoError(r.t, file.WriteGBX(&b, rec), "it can be written")
	return rec
}

func spanOf(rec *file.Recording, step string) *file.Span {
	for i := range rec.Spans {
		if rec.Spans[i].Step == step {
			return &rec.Spans[i]
		}
	}
	return nil
}

const hello = `{"model":"m","messages":[{"role":"user","content":"Hello there"}],"stream":true,"temperature":0.5}`

// What the client sends reaches the upstream to the byte, and the reverse: paths, queries, headers and bodies, with
// every kind of framing.
func TestBytesPassUnchanged(t *testing.T) {
	var got struct {
		path, query string
		header      http.Header
		body        []byte
	}
	answer := make([]byte, 300_000)
	_, _ = rand.Read(answer)
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got.path, got.query, got.header = r.URL.EscapedPath(), r.URL.RawQuery, r.Header.Clone()
		got.body, _ = io.ReadAll(r.Body)
		w.Header()["X-Odd"] = []string{"a", "b"}
		w.Header().Set("Content-Type", "application/octet-stream")
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write(answer)
	})
	r := newRig(t, up+"/v1/", nil)
	for name, size := range map[string]int{"small": 17, "at the limit": maxBody, "above it": maxBody + 1, "huge": 3 * maxBody} {
		body := make([]byte, size)
		_, _ = rand.Read(body)
		for _, chunked := range []bool{false, true} {
			var from io.Reader = bytes.NewReader(body)
			if chunked {
				from = struct{ io.Reader }{from}
			}
			req, err := http.NewRequest(http.MethodPost, r.url+"/v1/chat/completions/a%2Fb?x=1;2&y=%zz", from)
			require.NoError(t, err)
			if size == 17 {
				req.URL.Path, req.URL.RawPath = "/v1/chat/completions", ""
			}
			req.Header["X-Many"] = []string{"1", "2"}
			req.Header.Set("Authorization", "Bearer upstream")
			req.Header.Set("Accept-Encoding", "br, x")
			res, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			back, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			res.Body.Close()
			require.True(t, bytes.Equal(body, got.body), name)
			require.True(t, bytes.Equal(answer, back), name)
			require.Equal(t, req.URL.EscapedPath(), got.path)
			require.Equal(t, "x=1;2&y=%zz", got.query)
			require.Equal(t, []string{"1", "2"}, got.header["X-Many"])
			require.Equal(t, "br, x", got.header.Get("Accept-Encoding"))
			require.Equal(t, "Bearer upstream", got.header.Get("Authorization"))
			require.Empty(t, got.header["Idempotency-Key"])
			require.Equal(t, http.StatusTeapot, res.StatusCode)
			require.Equal(t, []string{"a", "b"}, res.Header["X-Odd"])
			if size == 17 {
				rec := r.recording(res.Header.Get("X-Glassbox-Trace-Id"))
				require.EqualValues(t, len(answer), rec.Request.Params["response_bytes"])
				require.Contains(t, rec.Request.Params["body"], "17 bytes that are no JSON object")
				require.Equal(t, "error", rec.Request.FinishReason)
			} else {
				require.Empty(t, res.Header.Get("X-Glassbox-Trace-Id"), "not a path that is recorded")
			}
		}
	}
}

func TestTheBodyThatIsTooLongIsPassedOnAndNotKept(t *testing.T) {
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, `{"choices":[{"message":{"content":"%d"},"finish_reason":"stop"}]}`, n)
	})
	r := newRig(t, up, nil)
	body := `{"messages":[{"role":"user","content":"` + strings.Repeat("x", 2*maxBody) + `"}]}`
	res, text := r.post("/v1/chat/completions", body)
	require.Contains(t, text, fmt.Sprint(len(body)))
	rec := r.recording(res.Header.Get("X-Glassbox-Trace-Id"))
	require.Contains(t, rec.Request.Params["body"], "passed on, not kept")
	require.EqualValues(t, len(body), rec.Request.Params["request_bytes"])
	require.Empty(t, rec.Request.Messages)
	require.Equal(t, "stop", rec.Request.FinishReason)
}

// Each piece is with the client before the upstream sends the next one.
func TestPiecesAreNotGathered(t *testing.T) {
	next := make(chan bool)
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		for i := 0; <-next; i++ {
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"w%d \"}}]}\n\n", i)
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n")
	})
	r := newRig(t, up, nil)
	res, err := http.Post(r.url+"/v1/chat/completions", "application/json", strings.NewReader(hello))
	require.NoError(t, err) // the head comes before any piece
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)
	for i := range 5 {
		next <- true
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, line, fmt.Sprintf("w%d ", i))
		_, _ = lines.ReadString('\n')
	}
	close(next)
	_, err = io.ReadAll(lines)
	require.NoError(t, err)
	rec := r.recording(res.Header.Get("X-Glassbox-Trace-Id"))
	require.Equal(t, "w0 w1 w2 w3 w4 ", rec.Request.Text)
	require.Equal(t, "length", rec.Request.FinishReason)
	require.Len(t, rec.Request.OutputTokens, 5)
	for i := range 4 {
		require.Greater(t, rec.Request.OutputTokens[i+1].TNs, rec.Request.OutputTokens[i].TNs)
	}
	require.JSONEq(t, `[{"role":"user","content":"Hello there"}]`, string(rec.Request.Messages))
	require.Equal(t, 0.5, rec.Request.Params["temperature"])
	for _, step := range []string{stepHead, stepBody, stepConnect, stepSend, stepFirst, stepStream, stepChunk, stepEnd} {
		require.NotNil(t, spanOf(rec, step), step)
	}
	require.Equal(t, rec.Request.OutputTokens[0].TNs, spanOf(rec, stepFirst).EndNs())
	require.Equal(t, rec.Numbers.TTFTNs, spanOf(rec, stepFirst).EndNs())
	for _, w := range rec.Walk {
		require.Equal(t, w.Source.Path != "", true, w.ID)
		require.NotNil(t, w.Source.Code, "the line that did it: %s", w.ID)
	}
}

// The habits of real servers, as the mock has them: what is true of each is in its script.
func TestHabitsOfServersAreRead(t *testing.T) {
	m := mock.New(mock.Behaviour{})
	defer close(m.Quit)
	r := newRig(t, serve(t, m.ServeHTTP), nil)
	read := 0
	for _, q := range mock.Quirks() {
		hangs := false
		for _, s := range q.Steps {
			hangs = hangs || s.Hang
		}
		if hangs || q.Lines {
			continue // a client that waits for ever is another test's
		}
		t.Run(q.Name, func(t *testing.T) {
			res, _ := r.post("/v1/chat/completions", `{"model":"`+q.Name+`","messages":[{"role":"user","content":"x"}],"stream":true}`)
			rec := r.recording(res.Header.Get("X-Glassbox-Trace-Id"))
			if q.Truth.Error != "" && q.Name != "whole" { // an answer in one piece is fine here
				require.True(t, rec.Request.Error != "" || len(rec.Request.OutputTokens) == 0, "a failed answer does not look whole: %+v", rec.Request)
				return
			}
			require.Empty(t, rec.Request.Error)
			require.NotEmpty(t, rec.Request.OutputTokens)
			if q.Truth.Prompt >= 0 {
				require.Equal(t, q.Truth.Prompt, rec.Numbers.PromptTokens)
			}
			if q.Truth.Output >= 0 {
				require.Equal(t, q.Truth.Output, rec.Numbers.OutputTokens)
			}
			if q.Truth.Finish != "" {
				require.Equal(t, q.Truth.Finish, rec.Request.FinishReason)
			}
			if q.Truth.Cached > 0 {
				require.EqualValues(t, q.Truth.Cached, rec.Request.Params["cached_tokens"])
			}
			if q.Truth.Prefill > 0 {
				require.InDelta(t, q.Truth.Prefill*1e6, float64(spanOf(rec, stepPrefill).DurNs), 1e3)
				require.InDelta(t, q.Truth.Decode*1e6, float64(spanOf(rec, stepDecode).DurNs), float64(rec.Numbers.TTFTNs))
			}
			read++
		})
	}
	require.Greater(t, read, 10)
}

func TestLogprobsBecomeTokens(t *testing.T) {
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/completions" {
			_, _ = io.WriteString(w, `{"choices":[{"index":0,"text":"ab","logprobs":{"tokens":["a","b"],"token_logprobs":[-0.5,null]},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`)
			return
		}
		_, _ = io.WriteString(w, `{"id":"c1","model":"big","choices":[{"index":0,"message":{"content":"é"},"finish_reason":"stop","logprobs":{"content":[
			{"token":"\ufffd","logprob":-1.5,"bytes":[195],"top_logprobs":[{"token":"x","logprob":-9999}]},{"id":7,"token":"\ufffd","logprob":-0.25,"bytes":[169]}]}},
			{"index":1,"message":{"content":"other"}}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`)
	})
	r := newRig(t, up, nil)
	res, _ := r.post("/v1/chat/completions", hello)
	rec := r.recording(res.Header.Get("X-Glassbox-Trace-Id"))
	require.Len(t, rec.Request.OutputTokens, 2)
	a, b := rec.Request.OutputTokens[0], rec.Request.OutputTokens[1]
	require.Equal(t, -1.5, *a.Logprob)
	require.Equal(t, []byte{195}, a.Bytes)
	require.Nil(t, a.Top[0].Logprob, "vLLM's word for minus infinity")
	require.Equal(t, 7, b.ID)
	require.Equal(t, "é", rec.Request.Text)
	require.Equal(t, "big", rec.Model.Name)
	require.EqualValues(t, 1, rec.Request.Params["choices_not_shown"])
	res, _ = r.post("/v1/completions", `{"prompt":"Once","logprobs":1}`)
	rec = r.recording(res.Header.Get("X-Glassbox-Trace-Id"))
	require.Equal(t, "Once", rec.Request.Prompt)
	require.Equal(t, -0.5, *rec.Request.OutputTokens[0].Logprob)
	require.Nil(t, rec.Request.OutputTokens[1].Logprob)
	require.NotNil(t, spanOf(rec, stepUsage))
}

func TestTheUpstreamIsNotThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l.Close()
	r := newRig(t, "http://"+l.Addr().String(), nil)
	res, body := r.post("/v1/chat/completions", hello)
	require.Equal(t, http.StatusBadGateway, res.StatusCode)
	var e struct {
		Error map[string]any `json:"error"`
	}
	require.NoError(t, json.Unmarshal([]byte(body), &e))
	require.Equal(t, "upstream_unreachable", e.Error["code"])
	require.Contains(t, e.Error["message"], "connection refused: is it running, and is --upstream its address?")
	require.Len(t, e.Error, 4)
	rec := r.recording(res.Header.Get("X-Glassbox-Trace-Id"))
	require.Equal(t, "error", rec.Request.FinishReason)
	require.Contains(t, rec.Request.Error, "connection refused")
	require.Nil(t, spanOf(rec, stepFirst))
	get, err := http.Get(r.url + "/v1/models")
	require.NoError(t, err)
	require.Equal(t, http.StatusBadGateway, get.StatusCode)
	get.Body.Close()
}

func TestAnUpstreamThatIsCutInMidStream(t *testing.T) {
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Header.Get("X-When") == "before" {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"half\"}}]}\n\n")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	r := newRig(t, up, nil)
	res, err := http.Post(r.url+"/v1/chat/completions", "application/json", strings.NewReader(hello))
	require.NoError(t, err)
	text, err := io.ReadAll(res.Body)
	require.Error(t, err, "the client sees that it was cut")
	require.Contains(t, string(text), "half")
	rec := r.recording(res.Header.Get("X-Glassbox-Trace-Id"))
	require.True(t, rec.Partial)
	require.Contains(t, rec.Request.Error, "the upstream's answer broke off after")
	require.Equal(t, "half", rec.Request.Text)
	res, body := r.post("/v1/chat/completions", hello, "X-When: before")
	require.Equal(t, http.StatusBadGateway, res.StatusCode)
	require.Contains(t, body, "upstream_broke_off")
}

func TestAClientThatLeavesEndsTheUpstreamsRequest(t *testing.T) {
	ended := make(chan bool, 1)
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
			ended <- true
		case <-time.After(5 * time.Second):
			ended <- false
		}
	})
	r := newRig(t, up, nil)
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"/v1/chat/completions", strings.NewReader(hello))
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	_, err = io.ReadFull(res.Body, make([]byte, 10))
	require.NoError(t, err)
	cancel()
	require.True(t, <-ended)
	rec := r.recording(res.Header.Get("X-Glassbox-Trace-Id"))
	require.Equal(t, "cancelled", rec.Request.FinishReason)
	require.True(t, rec.Partial)
	require.Contains(t, rec.Missing[0], "the client has gone")
}

// A server that closes connections behind each stream, as llama.cpp's does, costs no request.
func TestAConnectionThatHasGoneStale(t *testing.T) {
	var n atomic.Int32
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					n.Add(1)
					_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
				}
				time.Sleep(2 * time.Millisecond) // it looks as if it were kept, then it is closed
			}()
		}
	}()
	r := newRig(t, "http://"+l.Addr().String(), nil)
	for i := range 50 {
		res, body := r.post("/v1/chat/completions", hello)
		require.Equal(t, http.StatusOK, res.StatusCode, "request %d: %s", i, body)
		time.Sleep(time.Duration(i%5) * time.Millisecond)
	}
	require.GreaterOrEqual(t, n.Load(), int32(50))
}

func TestSamplingAndWishes(t *testing.T) {
	m := mock.New(mock.Behaviour{})
	r := newRig(t, serve(t, m.ServeHTTP), func(c *Config) { c.Sample = 0 })
	res, _ := r.post("/v1/chat/completions", hello)
	require.Empty(t, res.Header.Get("X-Glassbox-Trace-Id"))
	res, _ = r.post("/v1/chat/completions", hello, "X-Glassbox-Trace: 1")
	require.NotEmpty(t, res.Header.Get("X-Glassbox-Trace-Id"))
	res, _ = r.post("/v1/chat/completions", `{"glassbox":{"trace":true},`+hello[1:])
	require.NotEmpty(t, res.Header.Get("X-Glassbox-Trace-Id"))
	r.g.c.Sample = 1
	res, _ = r.post("/v1/chat/completions", hello, "X-Glassbox-Trace: 0")
	require.Empty(t, res.Header.Get("X-Glassbox-Trace-Id"))
	r.g.c.Sample = 0.5
	recorded := 0
	for range 200 {
		if res, _ = r.post("/v1/chat/completions", `{"max_tokens":1}`); res.Header.Get("X-Glassbox-Trace-Id") != "" {
			recorded++
		}
	}
	require.InDelta(t, 100, recorded, 50) // seven standard deviations
	r.g.c.Foreign = func(*http.Request) string { return "another site's page" }
	res, body := r.post("/v1/chat/completions", hello)
	require.Equal(t, http.StatusForbidden, res.StatusCode)
	require.Contains(t, body, "another site's page")
}

// Where texts are not kept, no text of prompt, answer, tool or error is anywhere in the file.
func TestRedactedRecordingsHoldNoTexts(t *testing.T) {
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte("fail")) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"message":"cannot read SECRETprompt"}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"SECRETanswer\"},\"logprobs\":{\"content\":[{\"token\":\"SECRETtoken\",\"logprob\":-1,\"bytes\":[83],\"top_logprobs\":[{\"token\":\"SECRETtop\",\"logprob\":-1}]}]}}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n")
	})
	r := newRig(t, up, func(c *Config) { c.Redact = true })
	for _, body := range []string{
		`{"model":"m","messages":[{"role":"user","content":"SECRETprompt"},{"role":"user","content":[{"type":"text","text":"SECRETpart"}]}],"tools":[{"function":{"name":"SECRETtool"}}],"stop":["SECRETstop"],"user":"SECRETuser","temperature":0.5}`,
		`{"model":"m","prompt":"SECRETprompt fail","suffix":"SECRETsuffix"}`, `{"model":"m","prompt":["SECRETlist"],"logit_bias":{"SECRET":1}}`,
	} {
		res, _ := r.post("/v1/chat/completions", body)
		rec := r.recording(res.Header.Get("X-Glassbox-Trace-Id"))
		r.g.Take(exported(rec, 0.001, 0.002, 0.003))
		rec = r.recording(rec.ID)
		var b bytes.Buffer
		require.NoError(t, file.WriteJSON(&b, rec))
		text := b.String()
		for i := range rec.Walk { // the code of this test's own package is not in it
			require.NotContains(t, rec.Walk[i].Source.Path, "_test")
		}
		require.NotContains(t, text, "SECRET")
		require.Equal(t, "m", rec.Request.Params["model"])
	}
}
