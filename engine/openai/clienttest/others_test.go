//go:build clients

package clienttest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/engine"
)

const sky = "Why is the sky blue?"

// langchain returns LangChain's client, from the same environment as openai-python.
func langchain(t *testing.T) client {
	t.Helper()
	c := python(t)
	require.NoError(t, exec.Command(c.command[0], "-c", "import langchain_openai").Run(), "%s has no package langchain-openai: run `make test`, which installs it", c.command[0])
	return client{[]string{c.command[0], "langchain_client.py"}}
}

func TestLangChain(t *testing.T) {
	c := langchain(t)
	s := serve(t, engine.Options{Slots: 4})
	c.run(t, s, "answers", nil)
	s.running(t, 0, 0)
	answered := s.engine.Stats().Requests
	c.run(t, s, "errors", nil)
	require.Equal(t, answered, s.engine.Stats().Requests, "a refused request does not reach the engine")
}

// command runs a program and returns what it printed; with fails it has to end with an error, and that is returned.
func command(t *testing.T, fails bool, env []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	require.Equal(t, fails, err != nil, "%s %q: %v: %s%s", name, args, err, out.String(), errs.String())
	if fails {
		return errs.String()
	}
	return out.String()
}

// answer is the part of a chat completion that the tests look at.
type answer struct {
	Choices []struct {
		Message struct {
			Content string `json:"content"`
		} `json:"message"`
		Delta struct {
			Content string `json:"content"`
		} `json:"delta"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	} `json:"usage"`
	Error *struct {
		Code, Param, Message string
	} `json:"error"`
}

// curl asks the server with the command line tool of that name and nothing else.
func curl(t *testing.T, s *server, key, path, body string, flags ...string) string {
	t.Helper()
	_, err := exec.LookPath("curl")
	require.NoError(t, err, "curl is not installed: run `make test`, which installs it")
	args := append([]string{"-sS", "-N", s.url + path, "-H", "Authorization: Bearer " + key}, flags...)
	if body != "" {
		args = append(args, "-H", "Content-Type: application/json", "-d", body)
	}
	return command(t, false, nil, "curl", args...)
}

func TestCurl(t *testing.T) {
	s := serve(t, engine.Options{Slots: 2})
	body := fmt.Sprintf(`"model": "smollm2", "messages": [{"role": "user", "content": %q}], "temperature": 0, "max_tokens": 12`, sky)
	var whole answer
	require.NoError(t, json.Unmarshal([]byte(curl(t, s, apiKey, "/chat/completions", "{"+body+"}")), &whole))
	require.NotEmpty(t, whole.Choices[0].Message.Content)
	require.Equal(t, 12, whole.Usage.Completion)

	var text strings.Builder
	lines := strings.Split(strings.TrimSpace(curl(t, s, apiKey, "/chat/completions", "{"+body+`, "stream": true}`, "--fail")), "\n\n")
	require.Equal(t, "data: [DONE]", lines[len(lines)-1])
	for _, l := range lines[:len(lines)-1] {
		var c answer
		require.NoError(t, json.Unmarshal([]byte(strings.TrimPrefix(l, "data: ")), &c), l)
		text.WriteString(c.Choices[0].Delta.Content)
	}
	require.Equal(t, whole.Choices[0].Message.Content, text.String())

	require.Contains(t, curl(t, s, apiKey, "/models", ""), `"smollm2"`)
	for _, c := range []struct{ key, body, status, code, param string }{
		{"wrong", "{" + body + "}", "401", "invalid_api_key", ""},
		{apiKey, "{" + body, "400", "", ""}, // no end
		{apiKey, "{" + body + `, "tools": [{"type": "function", "function": {"name": "f"}}]}`, "400", "unsupported_parameter", "tools"},
	} {
		got, status, _ := strings.Cut(curl(t, s, c.key, "/chat/completions", c.body, "-w", "\n%{http_code}"), "\n")
		require.Equal(t, c.status, strings.TrimSpace(status), got)
		var e answer
		require.NoError(t, json.Unmarshal([]byte(got), &e), got)
		require.NotNil(t, e.Error, got)
		require.NotEmpty(t, e.Error.Message)
		if c.code != "" {
			require.Equal(t, []string{c.code, c.param}, []string{e.Error.Code, e.Error.Param})
		}
	}
}

// TestLLM holds the server against the command line program llm, which knows it from four lines of its
// extra-openai-models.yaml.
func TestLLM(t *testing.T) {
	path := cmp.Or(os.Getenv("GLASSBOX_PYTHON"), os.Getenv("PYTHON"))
	require.NotEmpty(t, path, "Python is not installed: run `make test`, which installs what is needed and sets PYTHON")
	require.NoError(t, exec.Command(path, "-c", "import llm").Run(), "%s has no package llm: run `make test`, which installs it", path)
	s := serve(t, engine.Options{Slots: 2})
	home := t.TempDir()
	models := fmt.Sprintf("- model_id: glassbox\n  model_name: smollm2\n  api_base: %s\n  api_key_name: glassbox\n  supports_schema: true\n  supports_tools: true\n", s.url)
	require.NoError(t, os.WriteFile(filepath.Join(home, "extra-openai-models.yaml"), []byte(models), 0o600))
	env := []string{"LLM_USER_PATH=" + home}
	llm := func(fails bool, args ...string) string {
		t.Helper()
		return command(t, fails, env, path, append([]string{"-m", "llm"}, args...)...)
	}
	ask := []string{"-m", "glassbox", "--key", apiKey, "-o", "temperature", "0", "-o", "max_tokens"}
	with := func(more ...string) []string { return append(ask[:len(ask):len(ask)], more...) }

	var want answer
	body := fmt.Sprintf(`{"messages": [{"role": "user", "content": %q}], "temperature": 0, "max_tokens": 12}`, sky)
	require.NoError(t, json.Unmarshal([]byte(curl(t, s, apiKey, "/chat/completions", body)), &want))
	text := want.Choices[0].Message.Content
	require.Equal(t, text, strings.TrimSuffix(llm(false, with("12", "--no-stream", sky)...), "\n"))
	require.Equal(t, text, strings.TrimSuffix(llm(false, with("12", sky)...), "\n"), "streamed")

	var logged []struct {
		Model    string `json:"model"`
		Response string `json:"response"`
		In       int    `json:"input_tokens"`
		Out      int    `json:"output_tokens"`
	}
	require.NoError(t, json.Unmarshal([]byte(llm(false, "logs", "-n", "1", "--json")), &logged))
	require.Equal(t, "glassbox", logged[0].Model)
	require.Equal(t, []int{want.Usage.Prompt, 12}, []int{logged[0].In, logged[0].Out}, "the usage of a stream")

	require.NotEmpty(t, strings.TrimSpace(llm(false, with("8", "-c", "And at night?")...)), "a conversation that goes on")
	var made struct {
		City  *string `json:"city"`
		Sunny *bool   `json:"sunny"`
	}
	schema := `{"type": "object", "properties": {"city": {"type": "string", "maxLength": 12}, "sunny": {"type": "boolean"}}, "required": ["city", "sunny"], "additionalProperties": false}`
	require.NoError(t, json.Unmarshal([]byte(llm(false, with("100", "--schema", schema, "The weather?")...)), &made))
	require.NotNil(t, made.City)
	require.NotNil(t, made.Sunny)

	require.Contains(t, llm(true, with("12", "--functions", "def f() -> str:\n  return 'x'\n", sky)...), "tools", "refused by name")
	require.Contains(t, llm(true, "-m", "glassbox", "--key", "wrong", sky), "API key")
	s.running(t, 0, 0)
}
