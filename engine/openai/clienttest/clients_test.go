//go:build clients

package clienttest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/engine"
	"glassbox/engine/chat"
	"glassbox/engine/openai"
	"glassbox/engine/testmodel"
)

const apiKey = "sk-of-the-test"

// client is a command that runs a script with one of the official clients: SCRIPT PART URL KEY.
type client struct{ command []string }

// python returns the client of openai-python.
func python(t *testing.T) client {
	t.Helper()
	path := cmp.Or(os.Getenv("GLASSBOX_PYTHON"), os.Getenv("PYTHON"))
	require.NotEmpty(t, path, "the Python client is not installed: run `make test`, which installs it and sets GLASSBOX_PYTHON")
	require.NoError(t, exec.Command(path, "-c", "import openai").Run(), "%s has no package openai: run `make test`, which installs it", path)
	return client{[]string{path, "client.py"}}
}

// node returns the client of openai-node. A script finds its packages beside itself, so it is run from where they lie.
func node(t *testing.T) client {
	t.Helper()
	dir := cmp.Or(os.Getenv("GLASSBOX_NODE_DIR"), ".")
	_, err := os.Stat(filepath.Join(dir, "node_modules", "openai", "package.json"))
	require.NoError(t, err, "the Node client is not installed in %s: run `make test`, which installs it", dir)
	script := "client.mjs"
	if dir != "." {
		text, err := os.ReadFile(script)
		require.NoError(t, err)
		script = filepath.Join(dir, fmt.Sprintf("client-%d.mjs", os.Getpid()))
		require.NoError(t, os.WriteFile(script, text, 0o644))
		t.Cleanup(func() { os.Remove(script) })
	}
	return client{[]string{"node", script}}
}

// server is the API over the built-in model.
type server struct {
	url    string
	engine *engine.Engine
	api    *openai.Server
}

func serve(t *testing.T, o engine.Options) *server {
	t.Helper()
	f := testmodel.File(t)
	e, err := engine.Open(f, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	text, err := f.StringOr("tokenizer.chat_template", "")
	require.NoError(t, err)
	tmpl, err := chat.New(text)
	require.NoError(t, err)
	s := openai.New(openai.Config{Engine: openai.Wrap(e), Model: "smollm2", APIKey: apiKey, Template: openai.WrapTemplate(tmpl, e.Tokenizer())})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	h := &http.Server{Handler: s}
	openai.Prepare(h)
	go func() { _ = h.Serve(openai.Listener(l)) }()
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	return &server{"http://" + l.Addr().String() + "/v1", e, s}
}

// running waits until so many requests run and wait.
func (s *server) running(t *testing.T, running, waiting int) {
	t.Helper()
	require.Eventually(t, func() bool { st := s.engine.Stats(); return st.Running == running && st.Waiting == waiting },
		20*time.Second, 5*time.Millisecond, "wanted %d running and %d waiting", running, waiting)
}

// run runs a part of the client's script. When the script prints a line that begins with "now:", do is called, and then
// the script goes on.
func (c client) run(t *testing.T, s *server, part string, do func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.command[0], append(c.command[1:], part, s.url, apiKey)...)
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var said []string
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		said = append(said, lines.Text())
		if strings.HasPrefix(lines.Text(), "now:") && do != nil {
			do()
			_, err := io.WriteString(in, "go on\n")
			require.NoError(t, err)
		}
	}
	err = cmd.Wait()
	require.NoError(t, err, "%s %s:\n%s\n%s", c.command, part, strings.Join(said, "\n"), stderr.String())
	require.Contains(t, said, "done: "+part, "the script did not reach its end")
}

func TestOfficialClients(t *testing.T) {
	for name, find := range map[string]func(*testing.T) client{"python": python, "node": node} {
		t.Run(name, func(t *testing.T) {
			c := find(t)
			t.Run("answers", func(t *testing.T) {
				s := serve(t, engine.Options{Slots: 4})
				c.run(t, s, "answers", nil)
				s.running(t, 0, 0)
			})
			t.Run("errors", func(t *testing.T) {
				s := serve(t, engine.Options{Slots: 4})
				c.run(t, s, "errors", nil)
				require.Zero(t, s.engine.Stats().Requests, "a refused request does not reach the engine")
			})
			t.Run("leaving", func(t *testing.T) {
				s := serve(t, engine.Options{Slots: 4})
				asked := 0
				c.run(t, s, "leaving", func() { // the client has left its stream and is still alive
					asked++
					s.running(t, 0, 0)
				})
				require.Equal(t, 1, asked)
			})
			t.Run("full", func(t *testing.T) {
				s := serve(t, engine.Options{Slots: 1, Queue: 1})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				for i := range 2 {
					go endless(ctx, s.url)
					s.running(t, 1, i)
				}
				c.run(t, s, "full", nil)
				cancel()
				s.running(t, 0, 0)
			})
			t.Run("stopping", func(t *testing.T) {
				s := serve(t, engine.Options{Slots: 4})
				c.run(t, s, "stopping", func() { // the client is in the middle of a stream
					ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
					defer cancel()
					require.NoError(t, s.api.Shutdown(ctx))
				})
			})
		})
	}
}

// endless keeps a slot, or a place in the queue, until ctx ends.
func endless(ctx context.Context, url string) {
	body := `{"prompt":"Once upon a time","max_tokens":1500,"ignore_eos":true}`
	req, err := http.NewRequestWithContext(ctx, "POST", url+"/completions", strings.NewReader(body))
	if err != nil {
		return
	}
	req.Header.Set("Authorization", "Bearer "+apiKey)
	if res, err := http.DefaultClient.Do(req); err == nil {
		res.Body.Close()
	}
}
