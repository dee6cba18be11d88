package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// receiving is a server that takes spans, over HTTP/1 and HTTP/2 without TLS.
func receiving(t *testing.T, rc *Receiver) string {
	s := httptest.NewUnstartedServer(rc)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

func send(t *testing.T, c *http.Client, url string, body []byte, headers ...string) (*http.Response, []byte) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, bytes.NewReader(body))
	require.NoError(t, err)
	for _, h := range headers {
		if k, v, ok := strings.Cut(h, ": "); ok {
			req.Header.Set(k, v)
		}
	}
	res, err := c.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res, b
}

func zipped(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(b)
	_ = z.Close()
	return out.Bytes()
}

// framed is a message of gRPC.
func framed(flag byte, b []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{flag}, uint32(len(b))), b...)
}

func overHTTP2() *http.Client {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: &http.Transport{Protocols: p}}
}

// The same span, as OpenTelemetry's Python exporter wrote it, by every way in.
func TestARealExportIsTaken(t *testing.T) {
	raw, err := os.ReadFile("testdata/python.pb")
	require.NoError(t, err)
	var got []Received
	forwarded := 0
	url := receiving(t, &Receiver{Take: func(s []Received) { got = append(got, s...) }, Forward: func(_ string, b []byte, n int) { forwarded += n }})
	h2 := overHTTP2()
	res, _ := send(t, http.DefaultClient, url+HTTPPath, raw, "Content-Type: "+protobuf)
	require.Equal(t, 200, res.StatusCode)
	send(t, http.DefaultClient, url+HTTPPath, zipped(raw), "Content-Type: "+protobuf, "Content-Encoding: gzip")
	for _, message := range [][]byte{framed(0, raw), framed(1, zipped(raw))} {
		res, body := send(t, h2, url+GRPCPath, message, "Content-Type: application/grpc", "Grpc-Encoding: gzip", "Te: trailers")
		require.Equal(t, 2, res.ProtoMajor)
		require.Equal(t, "0", res.Trailer.Get("Grpc-Status"), res.Trailer)
		require.Equal(t, make([]byte, 5), body)
	}
	require.Len(t, got, 4)
	require.Equal(t, 4, forwarded)
	for _, s := range got {
		require.Equal(t, "vllm", s.Service)
		require.Equal(t, "vllm.llm_engine", s.Scope)
		require.Equal(t, "llm_request", s.Name)
		require.Equal(t, Server, s.Kind)
		require.Equal(t, "4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7", fmt.Sprintf("%x %x", s.Trace, s.Parent))
		require.EqualValues(t, 1_767_323_045_000_000_000, s.Start)
		require.EqualValues(t, 35_000_000, s.End-s.Start)
		queue, ok := s.Seconds("gen_ai.latency.time_in_queue")
		require.True(t, ok)
		require.EqualValues(t, 4_000_000, queue)
		require.Equal(t, int64(11), s.Attr("gen_ai.usage.prompt_tokens"))
		require.Equal(t, []Attr{{"n", int64(1)}, {"list", []string{"1", "2"}}, {"yes", true}}, s.Events[0].Attrs)
	}
}

// The example of the specification's JSON encoding, with the odd things that it allows.
func TestJSONIsTaken(t *testing.T) {
	text := `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"my.service"}}]},"unknown":{"x":[1]},"scopeSpans":[{"scope":{"name":"my.library"},"spans":[
		{"traceId":"5B8EFFF798038103D269B633813FC60C","spanId":"EEE19B7EC3C1B174","parentSpanId":"EEE19B7EC3C1B173","name":"I'm a server span","startTimeUnixNano":"1544712660000000000","endTimeUnixNano":1544712661000000000,"kind":2,
		 "attributes":[{"key":"my.span.attr","value":{"stringValue":"some value"}},{"key":"i","value":{"intValue":"-3"}},{"key":"d","value":{"doubleValue":0.5}},{"key":"l","value":{"arrayValue":{"values":[{"boolValue":true}]}}}],"status":{"code":2,"message":"bad"}},
		{"traceId":"zz","spanId":"EEE19B7EC3C1B174","name":"no id"},
		{"traceId":"5B8EFFF798038103D269B633813FC60C","spanId":"EEE19B7EC3C1B175","name":"no time","startTimeUnixNano":"soon"},
		{"traceId":"5B8EFFF798038103D269B633813FC60C","spanId":"EEE19B7EC3C1B176","parentSpanId":"","name":"back in time","startTimeUnixNano":"10","endTimeUnixNano":"5"}]}]}]}`
	spans, refused, err := ParseJSON([]byte(text))
	require.NoError(t, err)
	require.Equal(t, 2, refused)
	require.Len(t, spans, 2)
	s := spans[0]
	require.Equal(t, "5b8efff798038103d269b633813fc60c", fmt.Sprintf("%x", s.Trace))
	require.EqualValues(t, 1e9, s.End-s.Start)
	require.Equal(t, "bad", s.Error)
	require.Equal(t, []Attr{{"my.span.attr", "some value"}, {"i", int64(-3)}, {"d", 0.5}, {"l", []string{"true"}}}, s.Attrs)
	require.Equal(t, spans[1].Start, spans[1].End, "no span has a negative length")
}

func TestHostilePostsAreRefusedWithAReason(t *testing.T) {
	url := receiving(t, &Receiver{Take: func([]Received) { t.Error("taken") }})
	raw, err := os.ReadFile("testdata/python.pb")
	require.NoError(t, err)
	huge := bytes.Repeat([]byte{0}, MaxBody+1)
	for name, c := range map[string]struct {
		body   []byte
		kind   string
		header string
		status int
		want   string
	}{
		"cut":              {raw[:len(raw)/2], protobuf, "", 400, "wanted an ExportTraceServiceRequest"},
		"another type":     {raw, "text/plain", "", 415, "wanted application/x-protobuf or application/json"},
		"not JSON":         {raw, jsonText, "", 400, "in JSON"},
		"other JSON":       {[]byte(`{"a":NaN}`), jsonText, "", 400, "in JSON"},
		"JSON of no spans": {[]byte(`{"a":1}`), jsonText, "", 400, "resourceSpans"},
		"wrong types":      {[]byte(`{"resourceSpans":7}`), jsonText, "", 400, "in JSON"},
		"too large":        {huge, protobuf, "", 413, "more than"},
		"a zip bomb":       {zipped(huge), protobuf, "Content-Encoding: gzip", 413, "more than"},
		"no gzip":          {raw, protobuf, "Content-Encoding: gzip", 400, "wanted gzip"},
		"odd encoding":     {raw, protobuf, "Content-Encoding: br", 400, "wanted gzip or none"},
	} {
		res, body := send(t, http.DefaultClient, url+HTTPPath, c.body, "Content-Type: "+c.kind, c.header)
		require.Equal(t, c.status, res.StatusCode, "%s: %s", name, body)
		require.Contains(t, string(body), c.want, name)
	}
	h2 := overHTTP2()
	for name, c := range map[string]struct {
		body []byte
		path string
		code string
	}{
		"nothing":        {nil, GRPCPath, "3"},
		"a short prefix": {[]byte{0, 0}, GRPCPath, "3"},
		"cut":            {framed(0, raw)[:60], GRPCPath, "3"},
		"a claim":        {[]byte{0, 255, 255, 255, 255}, GRPCPath, "8"},
		"not protobuf":   {framed(0, []byte("no message")), GRPCPath, "3"},
		"not gzip":       {framed(1, raw), GRPCPath, "3"},
		"metrics":        {framed(0, raw), "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export", "12"},
	} {
		res, _ := send(t, h2, url+c.path, c.body, "Content-Type: application/grpc", "Grpc-Encoding: gzip")
		require.Equal(t, c.code, res.Trailer.Get("Grpc-Status")+res.Header.Get("Grpc-Status"), name)
		require.NotEmpty(t, res.Trailer.Get("Grpc-Message")+res.Header.Get("Grpc-Message"), name)
	}
}

func FuzzReceived(f *testing.F) {
	raw, err := os.ReadFile("testdata/python.pb")
	require.NoError(f, err)
	f.Add(raw)
	f.Add([]byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5B8EFFF798038103D269B633813FC60C","spanId":"EEE19B7EC3C1B176","attributes":[{"key":"k","value":{"arrayValue":{"values":[{}]}}}]}]}]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, parse := range []func([]byte) ([]Received, int, error){Parse, ParseJSON} {
			spans, _, err := parse(b)
			if err != nil && len(spans) > 0 {
				t.Fatal("spans beside an error")
			}
			for i := range spans {
				if spans[i].End < spans[i].Start {
					t.Fatalf("a span that ends before it begins: %+v", spans[i])
				}
				spans[i].Seconds("gen_ai.latency.time_in_queue")
			}
		}
	})
}

// What came from an engine goes on to the collector as it came, between our own spans.
func TestPostsOfOthersGoOnAsTheyCame(t *testing.T) {
	raw, err := os.ReadFile("testdata/python.pb")
	require.NoError(t, err)
	c := collect(t)
	e, err := NewExporter(c.URL, Resource{"glassbox", "1"}, func(err error) { t.Error(err) })
	require.NoError(t, err)
	e.Add([]Span{{Trace: NewTrace(), ID: NewID(), Name: "ours"}})
	e.Forward(protobuf, raw, 1)
	e.Add([]Span{{Trace: NewTrace(), ID: NewID(), Name: "ours too"}})
	require.NoError(t, e.Close(t.Context()))
	var names []string
	for _, s := range c.spans {
		names = append(names, s.Name)
	}
	require.Equal(t, []string{"ours", "llm_request", "ours too"}, names)
	require.EqualValues(t, 3, e.Sent.Load())
}
