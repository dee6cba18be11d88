package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/engine/testmodel"
	"glassbox/trace/file"
)

// serving starts the program and returns its address.
func serving(t *testing.T, args ...string) (cmd *exec.Cmd, url string, stderr *bytes.Buffer) {
	cmd = program(args...)
	stderr = &bytes.Buffer{}
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_, _ = cmd.Process.Kill(), cmd.Wait() // stderr is whole only then
		require.NoError(t, err, stderr.String())
	}
	go io.Copy(io.Discard, out)
	url = regexp.MustCompile(`http://[0-9.:]+`).FindString(line)
	require.NotEmpty(t, url, line)
	return cmd, url, stderr
}

func TestTakenPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, stderr, code := output(t, "serve", "--addr", l.Addr().String())
	require.Equal(t, 1, code)
	oneLine(t, "taken port", stderr, l.Addr().String(), "taken")
	// With no address asked for, the next free port is taken.
	_, one, _ := serving(t, "serve")
	_, two, _ := serving(t)
	require.NotEqual(t, one, two)
	for _, url := range []string{one, two} {
		resp, err := http.Get(url + "/health")
		require.NoError(t, err)
		require.Equal(t, 200, resp.StatusCode)
		resp.Body.Close()
	}
}

func TestCtrlCEndsRunningAnswersWithAnErrorAndKeepsRecordings(t *testing.T) {
	traces := t.TempDir()
	cmd, url, stderr := serving(t, "serve", "--addr", "127.0.0.1:0", "--traces", traces)
	ask := func(tokens int) *http.Response {
		body := fmt.Sprintf(`{"messages":[{"role":"user","content":"Tell me a long story."}],"stream":true,"ignore_eos":true,"max_tokens":%d,"glassbox":{"trace":true}}`, tokens)
		resp, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body))
		require.NoError(t, err)
		require.Equal(t, 200, resp.StatusCode)
		return resp
	}
	done := ask(4)
	_, err := io.ReadAll(done.Body)
	require.NoError(t, err)
	id := done.Header.Get("X-Glassbox-Trace-Id")
	running := ask(8000)
	events := bufio.NewReader(running.Body)
	for range 6 {
		_, err := events.ReadString('\n')
		require.NoError(t, err)
	}
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	rest, err := io.ReadAll(events)
	require.NoError(t, err)
	require.Contains(t, string(rest), `"error":{`)
	require.NotContains(t, string(rest), "[DONE]")
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		require.NoError(t, err, stderr.String())
	case <-time.After(10 * time.Second):
		t.Fatal("the server does not stop")
	}
	rec, err := file.Read(filepath.Join(traces, id+".gbx"))
	require.NoError(t, err)
	require.Equal(t, "length", rec.Request.FinishReason)
	// The broken one is there as well, and says that it is not whole.
	broken, err := file.Read(filepath.Join(traces, running.Header.Get("X-Glassbox-Trace-Id")+".gbx"))
	require.NoError(t, err)
	require.Equal(t, "error", broken.Request.FinishReason)
}

func TestCtrlCStopsTraceWithoutAFile(t *testing.T) {
	out := filepath.Join(t.TempDir(), "x.gbx")
	cmd := program("trace", "Tell me a long story.", "--max-tokens", "8000", "--temp", "1", "-o", out)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = io.ReadFull(stdout, make([]byte, 20))
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	go io.Copy(io.Discard, stdout)
	err = cmd.Wait()
	require.Error(t, err)
	require.Equal(t, 1, cmd.ProcessState.ExitCode())
	require.NoFileExists(t, out)
	require.NoFileExists(t, out+".part")
}

func TestKilledServerLeavesAJournalThatOpens(t *testing.T) {
	traces := t.TempDir()
	cmd, url, _ := serving(t, "serve", "--addr", "127.0.0.1:0", "--traces", traces)
	body := `{"messages":[{"role":"user","content":"Tell me a long story."}],"stream":true,"ignore_eos":true,"max_tokens":8000,"glassbox":{"trace":true}}`
	resp, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body))
	require.NoError(t, err)
	_, err = io.ReadFull(resp.Body, make([]byte, 8000))
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	parts, err := filepath.Glob(filepath.Join(traces, "*.part"))
	require.NoError(t, err)
	require.Len(t, parts, 1)
	rec, err := file.Read(parts[0])
	require.NoError(t, err)
	require.True(t, rec.Partial)
	require.NotEmpty(t, rec.Missing)
	require.Greater(t, len(rec.Spans), 1000)
}

func TestModelWithoutATemplateServesCompletionsAndSaysSoForChat(t *testing.T) {
	dir := t.TempDir()
	model, tmpl := filepath.Join(dir, "tiny.gguf"), filepath.Join(dir, "chat.jinja")
	require.NoError(t, os.WriteFile(model, testmodel.Bytes(t, testmodel.Spec{}), 0o644))
	require.NoError(t, os.WriteFile(tmpl, []byte("{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"), 0o644))
	post := func(url, path, body string) (int, string) {
		resp, err := http.Post(url+path, "application/json", strings.NewReader(body))
		require.NoError(t, err)
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(b)
	}
	chat := `{"messages":[{"role":"user","content":"Hi"}],"max_tokens":2}`
	_, url, _ := serving(t, "serve", "--addr", "127.0.0.1:0", "--model", model)
	code, body := post(url, "/v1/chat/completions", chat)
	require.Equal(t, 400, code)
	require.Contains(t, body, "--chat-template")
	code, body = post(url, "/v1/completions", `{"prompt":"Hi","max_tokens":2}`)
	require.Equal(t, 200, code, body)
	_, url, _ = serving(t, "serve", "--addr", "127.0.0.1:0", "--model", model, "--chat-template", tmpl)
	code, body = post(url, "/v1/chat/completions", chat)
	require.Equal(t, 200, code, body)
	require.NoError(t, os.WriteFile(tmpl, []byte("{% for %}"), 0o644))
	_, stderr, exit := output(t, "serve", "--addr", "127.0.0.1:0", "--model", model, "--chat-template", tmpl)
	require.Equal(t, 1, exit)
	oneLine(t, "broken template", stderr, tmpl, "line 1")
}

func TestKeyGuardsRecordingsAndPagesToo(t *testing.T) {
	cmd := program("serve", "--addr", "127.0.0.1:0", "--api-key", "s3cret")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	url := regexp.MustCompile(`http://[0-9.:]+`).FindString(line)
	code := func(method, path, how string) int {
		req, err := http.NewRequest(method, url+path, nil)
		require.NoError(t, err)
		switch how {
		case "bearer":
			req.Header.Set("Authorization", "Bearer s3cret")
		case "browser":
			req.SetBasicAuth("me", "s3cret")
		case "wrong":
			req.SetBasicAuth("me", "guess")
		}
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		resp.Body.Close()
		return resp.StatusCode
	}
	for _, path := range []string{"/", "/traces", "/api/traces", "/api/traces/why-is-the-sky-blue.json", "/trace/why-is-the-sky-blue", "/v1/models"} {
		require.Equal(t, 401, code("GET", path, ""), path)
		require.Equal(t, 401, code("GET", path, "wrong"), path)
		require.Equal(t, 200, code("GET", path, "bearer"), path)
		require.Equal(t, 200, code("GET", path, "browser"), path)
	}
	require.Equal(t, 401, code("GET", "/api/live", ""))
	require.Equal(t, 401, code("DELETE", "/api/traces/x", ""))
	require.Equal(t, 200, code("GET", "/health", ""))
	require.Equal(t, 200, code("GET", "/static/js/glassbox.js", ""))
}
