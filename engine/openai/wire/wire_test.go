package wire

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPromptForms(t *testing.T) {
	for in, want := range map[string]Prompt{
		`"a"`: {Texts: []string{"a"}}, `["a"]`: {Texts: []string{"a"}}, `["a","b"]`: {Texts: []string{"a", "b"}}, ` [ ] `: {Texts: []string{}}, `null`: {},
		`[1,2]`: {IDs: [][]int{{1, 2}}}, `[[1,2]]`: {IDs: [][]int{{1, 2}}}, `[[1],[2,3]]`: {IDs: [][]int{{1}, {2, 3}}}, `[[]]`: {IDs: [][]int{{}}}, `[1.0]`: {IDs: [][]int{{1}}},
	} {
		var p Prompt
		require.NoError(t, p.UnmarshalJSON([]byte(in)), in)
		require.Equal(t, want, p, in)
		if in == `null` {
			continue
		}
		out, err := json.Marshal(p)
		require.NoError(t, err)
		var again Prompt
		require.NoError(t, json.Unmarshal(out, &again))
		require.Equal(t, p, again, "what is written reads the same")
	}
	for _, in := range []string{`1`, `true`, `{}`, `["a",1]`, `[1,"a"]`, `[[1],2]`, `[[1],"a"]`, `[null]`, `["a",null]`, `[1,null]`, `[[1,null]]`, `[1.5]`, `[[[1]]]`, `[{}]`, `[99999999999999999999]`} {
		var p Prompt
		var e *FieldError
		require.ErrorAs(t, p.UnmarshalJSON([]byte(in)), &e, in)
		require.Equal(t, "prompt", e.Param)
	}
}

func TestStopForms(t *testing.T) {
	for in, want := range map[string]Stop{`"a"`: {"a"}, `["a","b"]`: {"a", "b"}, `null`: nil, `[]`: {}} {
		s := Stop{"old"}
		require.NoError(t, s.UnmarshalJSON([]byte(in)))
		require.Equal(t, want, s, in)
	}
	for _, in := range []string{`1`, `[1]`, `[null]`, `{}`, `true`} {
		var s Stop
		require.Error(t, s.UnmarshalJSON([]byte(in)), in)
	}
}

func TestIntForms(t *testing.T) {
	for in, want := range map[string]Int{`5`: 5, `-5`: -5, `5.0`: 5, `1e2`: 100, `9223372036854775807`: 1<<63 - 1, `-9223372036854775808`: -1 << 63} {
		var n Int
		require.NoError(t, json.Unmarshal([]byte(in), &n), in)
		require.Equal(t, want, n, in)
	}
	for _, in := range []string{`1.5`, `"1"`, `1e300`, `9223372036854775808`, `true`, `[]`, `{}`} {
		var n Int
		require.Error(t, json.Unmarshal([]byte(in), &n), in)
	}
}

// A client of ours writes requests that our server reads the same.
func TestRequestsReadAsWritten(t *testing.T) {
	text, limit, temperature, yes := "Hi", Int(5), 0.0, true
	in := ChatRequest{Messages: Messages{{Role: "user", Content: Content{Text: &text}}, {Role: "user", Content: Content{Parts: []Part{{Type: "text", Text: &text}}}}},
		Common: Common{Model: "m", MaxTokens: &limit, Temperature: &temperature, Stop: Stop{"x"}, Stream: &yes, StreamOptions: &StreamOptions{IncludeUsage: &yes},
			Glassbox: &Glassbox{Trace: true, Capture: []string{"lens"}}}}
	b, err := json.Marshal(in)
	require.NoError(t, err)
	require.JSONEq(t, `{"model":"m","messages":[{"role":"user","content":"Hi"},{"role":"user","content":[{"type":"text","text":"Hi"}]}],"max_tokens":5,
		"temperature":0,"stop":["x"],"stream":true,"stream_options":{"include_usage":true},"glassbox":{"trace":true,"capture":["lens"]}}`, string(b))
	var out ChatRequest
	require.NoError(t, json.Unmarshal(b, &out))
	require.Equal(t, in, out)
}

// Usage is left out, null or counts: three things that clients tell apart.
func TestOptionalUsage(t *testing.T) {
	for want, u := range map[string]*OptionalUsage{`{}`: nil, `{"usage":null}`: {}, `{"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,
		"prompt_tokens_details":null,"completion_tokens_details":null}}`: {Usage: &Usage{PromptTokens: 1, CompletionTokens: 2, TotalTokens: 3}}} {
		b, err := json.Marshal(struct {
			Usage *OptionalUsage `json:"usage,omitempty"`
		}{u})
		require.NoError(t, err)
		require.JSONEq(t, want, string(b))
	}
	var c ChatChunk
	require.NoError(t, json.Unmarshal([]byte(`{"usage":{"total_tokens":3},"choices":[]}`), &c))
	require.Equal(t, 3, c.Usage.TotalTokens)
}

func TestDescribe(t *testing.T) {
	for in, want := range map[string]string{`"a"`: `the string "a"`, `[1]`: "the list [1]", `{"a":1}`: "an object", `true`: "the boolean true", `null`: "null", `1`: "the number 1", ``: "nothing",
		`"ääääääääääääääääääääääääääääää"`: `the string "äääääääääääääääääää...`} {
		require.Equal(t, want, Describe([]byte(in)))
	}
}
