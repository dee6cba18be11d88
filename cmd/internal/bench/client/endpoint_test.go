package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func connect(t *testing.T, pages map[string]string, header http.Header) *Client {
	t.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		for k, v := range header {
			w.Header()[k] = v
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(h.Close)
	c, err := New(h.URL+"/v1/", "", func() int64 { return 1 }, time.Second)
	require.NoError(t, err)
	return c
}

// Servers are told apart by what only they say.
func TestServersAreToldApart(t *testing.T) {
	models := func(owner, more string) string {
		return `{"object":"list","data":[{"id":"m","object":"model","owned_by":"` + owner + `"` + more + `}]}`
	}
	cases := map[string]struct {
		pages  map[string]string
		header http.Header
		check  func(*Endpoint)
	}{
		"glassbox": {map[string]string{"/v1/models": models("glassbox", `,"max_model_len":8192`), "/version": `{"version":"0.1.0","commit":"abc"}`, "/metrics": "# TYPE glassbox_build_info gauge\nglassbox_build_info 1\n"}, nil,
			func(e *Endpoint) {
				require.Equal(t, []any{"0.1.0", "abc", 8192, true}, []any{e.Version, e.Commit, e.Context, e.Metrics})
			}},
		"vllm":       {map[string]string{"/v1/models": models("vllm", `,"max_model_len":4096`), "/version": `{"version":"0.20"}`}, nil, func(e *Endpoint) { require.Equal(t, "0.20", e.Version) }},
		"sglang":     {map[string]string{"/v1/models": models("sglang", ""), "/get_server_info": `{"version":"0.5","model_path":"org/m"}`}, nil, func(e *Endpoint) { require.Equal(t, "0.5", e.Version) }},
		"ollama":     {map[string]string{"/v1/models": models("library", ""), "/api/version": `{"version":"0.30"}`}, nil, func(e *Endpoint) { require.Equal(t, "0.30", e.Version) }},
		"llama-swap": {map[string]string{"/v1/models": models("llama-swap", "")}, nil, func(*Endpoint) {}},
		"llama.cpp": {map[string]string{"/v1/models": models("x", ""), "/props": `{"build_info":"b9","model_path":"/a/b.gguf","total_slots":3,"default_generation_settings":{"n_ctx":2048}}`},
			http.Header{"Server": {"llama.cpp"}}, func(e *Endpoint) {
				require.Equal(t, []any{"b9", "b.gguf", 3, 2048}, []any{e.Version, e.ModelFile, e.Slots, e.Context})
			}},
		"unknown": {map[string]string{"/v1/models": models("someone", "")}, nil, func(e *Endpoint) { require.Empty(t, e.Version) }},
	}
	for kind, c := range cases {
		t.Run(kind, func(t *testing.T) {
			e, err := connect(t, c.pages, c.header).Discover(context.Background(), "")
			require.NoError(t, err)
			require.Equal(t, kind, e.Kind)
			require.Equal(t, "m", e.Model)
			c.check(e)
		})
	}
}

// The body has the fields that were agreed upon, and no other.
func TestBodies(t *testing.T) {
	decode := func(e *Endpoint, prompt any) (path string, b map[string]any) {
		path, raw, err := e.Body(prompt, 7)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(raw, &b))
		return path, b
	}
	message := []any{map[string]any{"role": "user", "content": "hi"}}
	path, b := decode(&Endpoint{Model: "m", API: "chat", Options: extras("vllm")}, "hi")
	require.Equal(t, "/v1/chat/completions", path)
	require.Equal(t, map[string]any{"model": "m", "stream": true, "max_tokens": 7.0, "min_tokens": 7.0, "ignore_eos": true, "temperature": 0.0, "messages": message,
		"stream_options": map[string]any{"include_usage": true, "continuous_usage_stats": true}}, b)
	path, b = decode(&Endpoint{Model: "m", API: "completions", Options: []string{"cache_prompt", "max_completion_tokens"}}, []int{1, 2})
	require.Equal(t, "/v1/completions", path)
	require.Equal(t, map[string]any{"model": "m", "stream": true, "max_completion_tokens": 7.0, "cache_prompt": false, "prompt": []any{1.0, 2.0}, "stream_options": map[string]any{"include_usage": true}}, b)
	path, b = decode(&Endpoint{Model: "m", API: "ollama"}, "hi")
	require.Equal(t, "/api/chat", path)
	require.Equal(t, map[string]any{"model": "m", "stream": true, "messages": message, "options": map[string]any{"num_predict": 7.0, "temperature": 0.0}}, b)
	_, _, err := (&Endpoint{API: "chat"}).Body([]int{1}, 1)
	require.Error(t, err, "a chat takes no ids")
}

// Whatever form the address has, it leads to the same endpoint, and secrets in it are not shown.
func TestAddresses(t *testing.T) {
	for in, want := range map[string]string{"localhost:8000": "http://localhost:8000", "http://h:1/": "http://h:1", "https://h/v1": "https://h", "http://h/x/v1/chat/completions": "http://h/x",
		"http://user:pw@h/v1?key=1": "http://h"} {
		c, err := New(in, "", nil, 0)
		require.NoError(t, err, in)
		require.Equal(t, want, c.Base, in)
	}
	for _, bad := range []string{"", "ftp://h", "http://", "http://[::1"} {
		_, err := New(bad, "", nil, 0)
		require.Error(t, err, bad)
	}
}

// The texts that prompts are made of.
func TestCommonWordsAreFewLetters(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range common {
		require.False(t, seen[w], w)
		require.LessOrEqual(t, len(w), 8, "a long word may be two tokens")
		seen[w] = true
	}
	require.GreaterOrEqual(t, len(common), 64)
	require.Greater(t, len(words), 700)
}
