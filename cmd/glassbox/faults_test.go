package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/testmodel"
)

// A model's file that is cut short in place while it is mapped would end the process with a bus error. Here the requests
// that need it end with an error that says so, and the server lives.
func TestAModelFileThatIsCutShortEndsRequestsAndNotTheServer(t *testing.T) {
	require.NotEqual(t, "windows", runtime.GOOS, "the file is mapped on Unix systems alone")
	for _, backend := range []string{"cpu", "ref"} {
		t.Run(backend, func(t *testing.T) {
			model := filepath.Join(t.TempDir(), "tiny.gguf")
			require.NoError(t, os.WriteFile(model, testmodel.Bytes(t, testmodel.Spec{}), 0o644))
			_, url, stderr := serving(t, "serve", "--addr", "127.0.0.1:0", "--model", model, "--backend", backend, "--threads", "2")
			status, body := postTo(t, url+"/v1/completions", `{"prompt":"abc","max_tokens":2}`)
			require.Equal(t, 200, status, body)
			require.NoError(t, os.Truncate(model, 0))
			for range 2 {
				status, body = postTo(t, url+"/v1/completions", `{"prompt":"abd","max_tokens":2}`)
				require.Equal(t, 500, status, body)
				if backend == "cpu" {
					require.Contains(t, body, "cut short or replaced in place")
				}
			}
			res, err := http.Get(url + "/api/weights")
			require.NoError(t, err, "pages that read weights do not end it either")
			res.Body.Close()
			res, err = http.Get(url + "/api/weights/block?tensor=token_embd.weight&row=1&block=0")
			require.NoError(t, err)
			res.Body.Close()
			res, err = http.Get(url + "/health")
			require.NoError(t, err, stderr.String())
			require.Equal(t, 200, res.StatusCode)
			res.Body.Close()
		})
	}
}

// Replacing a model's file by renaming another to its name, as package managers do, disturbs nothing.
func TestAModelFileThatIsRenamedOverGoesOn(t *testing.T) {
	dir := t.TempDir()
	model := filepath.Join(dir, "tiny.gguf")
	require.NoError(t, os.WriteFile(model, testmodel.Bytes(t, testmodel.Spec{}), 0o644))
	_, url, _ := serving(t, "serve", "--addr", "127.0.0.1:0", "--model", model, "--threads", "1")
	ask := func() string {
		status, body := postTo(t, url+"/v1/completions", `{"prompt":"abc","max_tokens":8,"temperature":0,"ignore_eos":true}`)
		require.Equal(t, 200, status, body)
		_, text, _ := strings.Cut(body, `"text":`)
		text, _, _ = strings.Cut(text, `"logprobs"`)
		return text
	}
	before := ask()
	require.NoError(t, os.WriteFile(model+".new", []byte("something else"), 0o644))
	require.NoError(t, os.Rename(model+".new", model))
	require.Equal(t, before, ask())
}

// Where recordings cannot be written the request is answered all the same, the fault is told once in one line, and a
// folder that cannot be used is told before anything is served.
func TestTracesThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	blocked := filepath.Join(dir, "a file")
	require.NoError(t, os.WriteFile(blocked, nil, 0o644))
	_, text, code := output(t, "serve", "--addr", "127.0.0.1:0", "--traces", filepath.Join(blocked, "traces"))
	require.Equal(t, 1, code)
	oneLine(t, "traces", text, "traces", "not a directory")
	traces := filepath.Join(dir, "traces")
	_, url, stderr := serving(t, "serve", "--addr", "127.0.0.1:0", "--traces", traces)
	require.NoError(t, os.RemoveAll(traces)) // as good as a folder that was made unwritable, also for root
	require.NoError(t, os.WriteFile(traces, nil, 0o644))
	for range 2 {
		res, err := http.Post(url+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"abc","max_tokens":3,"glassbox":{"trace":true}}`))
		require.NoError(t, err)
		b, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		res.Body.Close()
		require.NotEmpty(t, b)
		if res.StatusCode != 200 { // refused with the reason, and not half answered
			require.Contains(t, string(b), "recording")
			require.Contains(t, string(b), "traces")
		}
	}
	status, body := postTo(t, url+"/v1/completions", `{"prompt":"abc","max_tokens":3}`)
	require.Equal(t, 200, status, body+stderr.String())
}
