package chat

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/engine/chat/jinja"
)

// golden is testdata/golden.json: what Jinja2 made (see make_golden.py there).
type golden struct {
	Vars          map[string]json.RawMessage
	Tools         json.RawMessage
	Conversations map[string][]map[string]json.RawMessage
	Snippets      []struct {
		Template string
		outcome
	}
	Builtin   []goldenRender
	Templates map[string][]goldenRender
}

type outcome struct {
	Text   *string
	Error  string
	Python string
}

type goldenRender struct {
	Conversation        string
	Tools               bool
	AddGenerationPrompt bool `json:"add_generation_prompt"`
	outcome
}

var goldenNow = time.Date(2024, 7, 6, 9, 5, 3, 0, time.UTC)

func readGolden(t testing.TB) golden {
	data, err := os.ReadFile("testdata/golden.json")
	require.NoError(t, err)
	var g golden
	require.NoError(t, json.Unmarshal(data, &g))
	return g
}

// class names the kind of an error as make_golden.py does.
func class(err error) string {
	var syntax *SyntaxError
	var raise *RaiseError
	var run *RuntimeError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &syntax):
		return "syntax"
	case errors.As(err, &raise):
		return "raise: " + raise.Msg
	case errors.As(err, &run):
		switch {
		case run.Kind == "UndefinedError":
			return "undefined"
		case run.Kind == "SecurityError":
			return "security"
		case strings.HasPrefix(run.Msg, "No filter"), strings.HasPrefix(run.Msg, "No test"):
			return "filter"
		}
		return "error"
	}
	return "another error: " + err.Error()
}

// TestSnippetsLikeJinja2 compares small templates, one feature or fault each,
// with Jinja2: the text byte for byte, or the class of error.
func TestSnippetsLikeJinja2(t *testing.T) {
	g := readGolden(t)
	require.GreaterOrEqual(t, len(g.Snippets), 250)
	vars := map[string]jinja.Value{}
	for k, v := range g.Vars {
		x, err := jinja.FromJSON(v, false)
		require.NoError(t, err)
		vars[k] = x
	}
	for _, s := range g.Snippets {
		t.Run(s.Template, func(t *testing.T) {
			text := ""
			tmpl, err := jinja.Parse(s.Template, Limits{})
			if err == nil {
				var out jinja.Output
				out, err = tmpl.Render(context.Background(), vars, jinja.Options{Now: goldenNow})
				text = out.Text
			}
			if s.Text == nil {
				require.Equal(t, s.Error, class(err), "Jinja2: %s\nhere: %v, text %q", s.Python, err, text)
				return
			}
			require.NoError(t, err)
			require.Equal(t, *s.Text, text)
		})
	}
}

func (g golden) messages(t testing.TB, name string) []Message {
	var out []Message
	for _, m := range g.Conversations[name] {
		msg := Message{Extra: map[string]any{}}
		for k, v := range m {
			switch k {
			case "role":
				require.NoError(t, json.Unmarshal(v, &msg.Role))
			case "content":
				require.NoError(t, json.Unmarshal(v, &msg.Content))
			default:
				msg.Extra[k] = v
			}
		}
		out = append(out, msg)
	}
	return out
}

func (g golden) compare(t *testing.T, source string, renders []goldenRender) {
	tmpl, err := New(source)
	require.NoError(t, err)
	for _, r := range renders {
		t.Run(r.Conversation, func(t *testing.T) {
			o := Options{AddGenerationPrompt: r.AddGenerationPrompt, BOS: "<s>", EOS: "</s>", Now: goldenNow, Extra: map[string]any{}}
			if r.Tools {
				o.Extra["tools"] = g.Tools
			}
			out, err := tmpl.Render(context.Background(), g.messages(t, r.Conversation), o)
			if r.Text == nil {
				require.Equal(t, r.Error, class(err), r.Python)
				return
			}
			require.NoError(t, err)
			require.Equal(t, *r.Text, out.Text)
			checkRanges(t, out)
		})
	}
}

func checkRanges(t *testing.T, r Rendered) {
	end := -1
	for _, c := range r.Content {
		require.Greater(t, c.Start, end, "ranges touch or are out of order")
		require.Greater(t, c.End, c.Start)
		end = c.End
	}
	require.LessOrEqual(t, end, len(r.Text))
}

// builtinTemplate reads the string tokenizer.chat_template from the GGUF file:
// key, type 8, length as 64 bits, bytes.
func builtinTemplate(t testing.TB) string {
	f, err := os.Open("../builtin/SmolLM2-135M-Instruct.Q4_1.gguf")
	require.NoError(t, err)
	defer f.Close()
	head := make([]byte, 8<<20)
	n, err := f.ReadAt(head, 0)
	require.NoError(t, err)
	_, rest, found := bytes.Cut(head[:n], []byte("tokenizer.chat_template"))
	require.True(t, found)
	require.EqualValues(t, 8, binary.LittleEndian.Uint32(rest))
	return string(rest[12 : 12+binary.LittleEndian.Uint64(rest[4:])])
}

func TestBuiltinTemplateLikeJinja2(t *testing.T) {
	g := readGolden(t)
	require.GreaterOrEqual(t, len(g.Conversations), 20)
	require.GreaterOrEqual(t, len(g.Builtin), 2*len(g.Conversations))
	g.compare(t, builtinTemplate(t), g.Builtin)
}

// TestFamiliesLikeJinja2 runs templates in the manner of the common families.
func TestFamiliesLikeJinja2(t *testing.T) {
	g := readGolden(t)
	require.GreaterOrEqual(t, len(g.Templates), 8)
	for name, renders := range g.Templates {
		source, err := os.ReadFile(filepath.Join("testdata/templates", name))
		require.NoError(t, err)
		t.Run(name, func(t *testing.T) { g.compare(t, string(source), renders) })
	}
}
