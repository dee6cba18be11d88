package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestGatewayFlags(t *testing.T) {
	for want, args := range map[string][]string{
		`--upstream: wanted a URL such as http://127.0.0.1:8000, found "localhost:8000"`: {"--upstream", "localhost:8000"},
		"--sample: wanted a share from 0 to 1, found 2":                                  {"--upstream", "http://127.0.0.1:1", "--sample", "2"},
		"--keep-mb and --keep-for: wanted 0 or more":                                     {"--upstream", "http://127.0.0.1:1", "--keep-mb=-1"},
	} {
		_, stderr, code := output(t, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
		require.Equal(t, 2, code, args)
		oneLine(t, want, stderr, want)
	}
}

// The gateway as a program: our pages and recordings are ours, all else is the upstream's, spans are taken, and texts are
// kept on this machine alone.
func TestGatewayServes(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/chat/completions":
			_, _ = io.WriteString(w, `{"model":"up","choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`)
		case "/v1/models":
			_, _ = io.WriteString(w, `{"data":[{"id":"up","owned_by":"vllm"}]}`)
		case "/version":
			_, _ = io.WriteString(w, `{"version":"9.9"}`)
		default:
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	defer up.Close()
	for host, kept := range map[string]bool{"127.0.0.1": true, "": false} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		_, port, _ := net.SplitHostPort(l.Addr().String())
		l.Close()
		addr, url := net.JoinHostPort(host, port), "http://127.0.0.1:"+port
		serving(t, "serve", "--addr", addr, "--upstream", up.URL)
		res, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(`{"messages":[{"role":"user","content":"a secret"}]}`))
		require.NoError(t, err)
		res.Body.Close()
		id := res.Header.Get("X-Glassbox-Trace-Id")
		var text string
		require.Eventually(t, func() bool {
			res, err := http.Get(url + "/api/traces/" + id + ".json")
			require.NoError(t, err)
			defer res.Body.Close()
			b, _ := io.ReadAll(res.Body)
			text = string(b)
			return res.StatusCode == http.StatusOK
		}, 5*time.Second, 10*time.Millisecond)
		require.Equal(t, kept, strings.Contains(text, "a secret"), addr)
		require.Contains(t, text, `"engine": {"name":"vllm","version":"9.9"`)
		for path, want := range map[string]int{"/traces": 200, "/docs/": 200, "/trace/" + id: 200, "/metrics": http.StatusTeapot, "/v1/other": http.StatusTeapot, "/api/generate": http.StatusTeapot} {
			res, err := http.Get(url + path)
			require.NoError(t, err)
			res.Body.Close()
			require.Equal(t, want, res.StatusCode, path)
		}
		res, err = http.Post(url+"/v1/traces", "application/json", strings.NewReader(`{"resourceSpans":[]}`))
		require.NoError(t, err)
		res.Body.Close()
		require.Equal(t, http.StatusOK, res.StatusCode)
	}
}
