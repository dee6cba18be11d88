package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"net/http/httptest"

	"glassbox/engine/testmodel"
)

// folder has three tiny models that say different things.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for i, name := range []string{"One.gguf", "two.gguf", "three.gguf"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), testmodel.Bytes(t, testmodel.Spec{Seed: uint64(i + 1), Untied: true}), 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "broken.gguf"), []byte("GGUF, not really"), 0o644))
	return dir
}

func postTo(t *testing.T, url, body string) (int, string) {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(b)
}

// A name in the folder is a model; the server starts with one, lists all, and switches to the one that a request names.
func TestServerSwitchesBetweenTheModelsOfAFolder(t *testing.T) {
	dir := folder(t)
	_, url, _ := serving(t, "serve", "--addr", "127.0.0.1:0", "--models", dir, "--model", "one", "--threads", "1")
	res, err := http.Get(url + "/v1/models")
	require.NoError(t, err)
	var list struct{ Data []struct{ ID, Root string } }
	require.NoError(t, json.NewDecoder(res.Body).Decode(&list))
	res.Body.Close()
	var ids []string
	for _, m := range list.Data {
		ids = append(ids, m.ID)
	}
	require.Equal(t, []string{"one", "broken", "three", "two"}, ids)
	require.Equal(t, "One.gguf", list.Data[0].Root)
	say := func(model string) string {
		status, body := postTo(t, url+"/v1/completions", `{"model":"`+model+`","prompt":"abc","max_tokens":12,"temperature":0,"ignore_eos":true,"glassbox":{"trace":true}}`)
		require.Equal(t, 200, status, body)
		var a struct {
			Model   string
			Choices []struct{ Text string }
		}
		require.NoError(t, json.Unmarshal([]byte(body), &a))
		require.Equal(t, model, a.Model)
		return a.Choices[0].Text
	}
	one, two, three := say("one"), say("two"), say("three") // the last makes room for itself
	require.NotEqual(t, one, two)
	require.NotEqual(t, two, three)
	require.Equal(t, []string{two, one}, []string{say("two"), say("one")}, "switching back gives the same")
	status, body := postTo(t, url+"/v1/completions", `{"model":"broken","prompt":"abc"}`)
	require.Equal(t, 503, status)
	require.Contains(t, body, "broken.gguf")
	status, body = postTo(t, url+"/v1/completions", `{"model":"four","prompt":"abc"}`)
	require.Equal(t, 404, status)
	require.Contains(t, body, `\"three\"`)
	// Recordings say which model they are of.
	res, err = http.Post(url+"/v1/completions", "application/json", strings.NewReader(`{"model":"two","prompt":"abc","max_tokens":2,"glassbox":{"trace":true}}`))
	require.NoError(t, err)
	_, err = io.ReadAll(res.Body)
	require.NoError(t, err)
	res.Body.Close()
	require.Eventually(t, func() bool {
		rec, err := http.Get(url + "/api/traces/" + res.Header.Get("X-Glassbox-Trace-Id") + ".json")
		require.NoError(t, err)
		defer rec.Body.Close()
		b, err := io.ReadAll(rec.Body)
		require.NoError(t, err)
		return rec.StatusCode == 200 && strings.Contains(string(b), `"two.gguf"`)
	}, 10*time.Second, 20*time.Millisecond)
}

// While a model answers it is not put away for another: that request is told to come back.
func TestBusyModelsAreNotPutAway(t *testing.T) {
	_, url, _ := serving(t, "serve", "--addr", "127.0.0.1:0", "--models", folder(t), "--threads", "1")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/completions",
		strings.NewReader(`{"model":"two","prompt":"abc","max_tokens":240,"ignore_eos":true,"stream":true,"logprobs":20}`))
	require.NoError(t, err)
	running, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer running.Body.Close()
	_, err = io.ReadFull(running.Body, make([]byte, 10))
	require.NoError(t, err)
	status, body := postTo(t, url+"/v1/completions", `{"model":"three","prompt":"abc","max_tokens":2}`)
	rest, err := io.ReadAll(running.Body)
	require.NoError(t, err)
	require.Contains(t, string(rest), "[DONE]", "the running answer is whole")
	if status != 200 { // 200 where the first had just ended
		require.Equal(t, 429, status, body)
		require.Contains(t, body, "models_busy")
	}
	require.Eventually(t, func() bool {
		status, _ := postTo(t, url+"/v1/completions", `{"model":"three","prompt":"abc","max_tokens":2}`)
		return status == 200
	}, 10*time.Second, 20*time.Millisecond)
}

func TestServeExportsSpansAndSendsTheLastOnesWhenItStops(t *testing.T) {
	got := make(chan []byte, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got <- b
	}))
	defer collector.Close()
	cmd, url, stderr := serving(t, "serve", "--addr", "127.0.0.1:0", "--otlp-endpoint", collector.URL)
	status, body := postTo(t, url+"/v1/completions", `{"prompt":"abc","max_tokens":2}`)
	require.Equal(t, 200, status, body)
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	require.NoError(t, cmd.Wait(), stderr.String())
	var d tracepb.TracesData
	require.NoError(t, proto.Unmarshal(<-got, &d))
	require.Equal(t, "POST /v1/completions", d.ResourceSpans[0].ScopeSpans[0].Spans[0].Name)
	_, text, code := output(t, "serve", "--otlp-endpoint", "nowhere")
	require.Equal(t, 2, code)
	oneLine(t, "endpoint", text, "--otlp-endpoint", "wanted a URL")
	_, text, code = output(t, "serve", "--models", "nowhere-at-all")
	require.Equal(t, 1, code)
	oneLine(t, "models", text, "--models nowhere-at-all", "wanted a folder")
}
