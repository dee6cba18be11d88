package openai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"glassbox/engine"
)

// formSchemas end by themselves whatever a model of random weights says, or nearly so.
var formSchemas = []string{
	`{"type":"object","properties":{"name":{"type":"string","minLength":1,"maxLength":9},"n":{"type":"integer","minimum":-5,"maximum":99},"tags":{"type":"array","items":{"enum":["a","b"]},"maxItems":3}},"required":["name","n"],"additionalProperties":false}`,
	`{"$ref":"#/$defs/p","$defs":{"p":{"type":"object","properties":{"at":{"type":"string","format":"date"},"ok":{"type":["boolean","null"]}},"required":["at","ok"],"additionalProperties":false}}}`,
	`{"anyOf":[{"type":"array","items":{"type":"number","minimum":0,"maximum":1},"minItems":2,"maxItems":2},{"const":{"x":[1,null]}}]}`,
}

func checker(t *testing.T, schema string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("s.json", doc))
	s, err := c.Compile("s.json")
	require.NoError(t, err)
	return s
}

// A model of random weights keeps to every schema, whole and streamed, greedy and hot, and the answer ends with stop.
func TestAnswersHaveTheFormThatWasAskedFor(t *testing.T) {
	r := realServer(t, nil)
	seen := map[string]bool{}
	for _, text := range formSchemas {
		var doc any
		require.NoError(t, json.Unmarshal([]byte(text), &doc))
		check := checker(t, text)
		for seed := range 6 {
			body := schema(doc.(object))
			body["seed"], body["max_tokens"], body["temperature"], body["stream"] = seed, 150, []float64{0, 1, 2}[seed%3], seed%2 == 1
			status, got := r.post(chatPath, body)
			require.Equal(t, 200, status, got)
			content, finish := answerOf(t, got, seed%2 == 1)
			require.Equal(t, "stop", finish, content)
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(content))
			require.NoError(t, err, content)
			require.NoError(t, check.Validate(v), "%s: %s", text, content)
			seen[content] = true
		}
	}
	require.Greater(t, len(seen), 8, "answers differ with the seed")
	// Half an answer says so.
	body := schema(object{"type": "string", "minLength": 50})
	body["max_tokens"] = 10
	_, got := r.post(chatPath, body)
	content, finish := answerOf(t, got, false)
	require.Equal(t, "length", finish)
	require.True(t, strings.HasPrefix(content, `"`), content)
	// Any object, for completions too, with a bias against what would end it: what the form leaves must come.
	_, got = r.post(textPath, object{"prompt": "a", "max_tokens": 120, "temperature": 0, "response_format": object{"type": "json_object"}, "logit_bias": object{"125": 100, "34": 50, "58": 60}})
	one := at(t, parse(t, got), "choices", 0).(object)
	require.Equal(t, "stop", one["finish_reason"], got)
	require.True(t, json.Valid([]byte(one["text"].(string))) && one["text"].(string)[0] == '{', got)
}

func answerOf(t *testing.T, body string, stream bool) (content, finish string) {
	t.Helper()
	if !stream {
		c := at(t, parse(t, body), "choices", 0).(object)
		return at(t, c, "message", "content").(string), c["finish_reason"].(string)
	}
	for _, e := range events(t, body) {
		if e == "[DONE]" {
			continue
		}
		c := at(t, parse(t, e), "choices", 0).(object)
		if s, ok := at(t, c, "delta").(object)["content"]; ok {
			content += s.(string)
		}
		if c["finish_reason"] != nil {
			finish = c["finish_reason"].(string)
		}
	}
	return content, finish
}

// A form ends an answer also where the client asks to go on past its end, and beside requests without one.
func TestAFormEndsAnAnswerThatIgnoresItsEnd(t *testing.T) {
	r := realServer(t, nil)
	body := schema(object{"enum": []any{"yes", "no"}})
	body["ignore_eos"], body["max_tokens"] = true, 50
	_, got := r.post(chatPath, body)
	content, finish := answerOf(t, got, false)
	require.Contains(t, []string{`"yes"`, `"no"`}, content)
	require.Equal(t, "stop", finish)
}

func TestSeveralAnswersToOnePrompt(t *testing.T) {
	r := realServer(t, nil)
	ask := hi("n", 3, "seed", 5, "max_tokens", 12, "ignore_eos", true)
	_, whole := r.post(chatPath, ask)
	a := parse(t, whole)
	require.Len(t, a["choices"], 3)
	texts := make([]string, 3)
	for i := range texts {
		require.EqualValues(t, i, at(t, a, "choices", i, "index"))
		texts[i] = at(t, a, "choices", i, "message", "content").(string)
		_, alone := r.post(chatPath, hi("seed", 5+i, "max_tokens", 12, "ignore_eos", true))
		one, _ := answerOf(t, alone, false)
		require.Equal(t, one, texts[i], "answer i is that of seed+i alone")
	}
	require.NotEqual(t, texts[0], texts[1])
	require.EqualValues(t, 36, at(t, a, "usage", "completion_tokens"))
	_, alone := r.post(chatPath, hi("max_tokens", 1))
	require.Equal(t, at(t, parse(t, alone), "usage", "prompt_tokens"), at(t, a, "usage", "prompt_tokens"), "one prompt counts once")
	ask["stream"] = true
	_, body := r.post(chatPath, ask)
	streamed := make([]string, 3)
	for _, e := range events(t, body) {
		if e == "[DONE]" {
			continue
		}
		c := at(t, parse(t, e), "choices", 0).(object)
		if s, ok := at(t, c, "delta").(object)["content"]; ok {
			streamed[int(c["index"].(float64))] += s.(string)
		}
	}
	require.Equal(t, texts, streamed)
	_, body = r.post(textPath, object{"prompt": []any{"ab", "c"}, "n": 2, "echo": true, "max_tokens": 3, "ignore_eos": true, "seed": 1})
	for i, want := range []string{"ab", "ab", "c", "c"} {
		require.True(t, strings.HasPrefix(at(t, parse(t, body), "choices", i, "text").(string), want), "prompts times n, in this order")
	}
	status, body := r.post(chatPath, hi("n", 2), "X-Glassbox-Trace", "1")
	require.Equal(t, 400, status, body)
}

// min_tokens holds back the end and the stop texts; what follows is drawn as ever.
func TestLeastLengthOfAnAnswer(t *testing.T) {
	r := realServer(t, nil)
	bias := object{"258": 100, "256": 100} // the ends come at once if they may
	for _, least := range []int{0, 1, 7} {
		_, body := r.post(chatPath, hi("min_tokens", least, "max_tokens", 20, "logit_bias", bias, "temperature", 0))
		require.EqualValues(t, max(least+1, 1), at(t, parse(t, body), "usage", "completion_tokens"), body)
		_, finish := answerOf(t, body, false)
		require.Equal(t, "stop", finish)
	}
	_, body := r.post(chatPath, hi("min_tokens", 5, "max_tokens", 20, "logit_bias", object{"65": 100}, "temperature", 0, "stop", "AA"))
	content, _ := answerOf(t, body, false)
	require.Equal(t, "AAAA", content, "the stop text counts from the fifth token on")
}

// The times add up, and the last event of a stream has them.
func TestTimings(t *testing.T) {
	r := realServer(t, nil)
	_, body := r.post(chatPath, hi("max_tokens", 20, "ignore_eos", true, "cache_prompt", false))
	check := func(tm object, usage object) {
		require.EqualValues(t, 20, tm["predicted_n"])
		require.Equal(t, usage["prompt_tokens"].(float64), tm["prompt_n"].(float64)+tm["cache_n"].(float64))
		for _, k := range []string{"prompt_ms", "prompt_per_second", "predicted_ms", "predicted_per_second", "predicted_per_token_ms"} {
			require.Positive(t, tm[k], k)
		}
		require.InEpsilon(t, 1e3, tm["predicted_per_second"].(float64)*tm["predicted_per_token_ms"].(float64), 1e-9)
		require.InEpsilon(t, tm["predicted_ms"], tm["predicted_per_token_ms"].(float64)*19, 1e-9)
	}
	usage := at(t, parse(t, body), "usage").(object)
	check(at(t, parse(t, body), "timings").(object), usage)
	require.EqualValues(t, 0, at(t, parse(t, body), "timings", "cache_n"), "cache_prompt false computes it all")
	_, body = r.post(chatPath, hi("max_tokens", 20, "ignore_eos", true, "stream", true))
	n := 0
	for _, e := range events(t, body) {
		if strings.Contains(e, `"timings"`) {
			n++
			check(at(t, parse(t, e), "timings").(object), usage)
			require.Equal(t, "length", at(t, parse(t, e), "choices", 0, "finish_reason"))
		}
	}
	require.Equal(t, 1, n)
}

// What the prompt shares with one before it is told, unless another salt keeps them apart.
func TestCachedTokensAreTold(t *testing.T) {
	r := realServer(t, nil)
	long := strings.Repeat("0123456789abcdef", 6)
	cached := func(fields ...any) float64 {
		_, body := r.post(textPath, text(append([]any{"prompt", long, "max_tokens", 2}, fields...)...))
		return at(t, parse(t, body), "usage", "prompt_tokens_details", "cached_tokens").(float64)
	}
	require.Zero(t, cached())
	require.GreaterOrEqual(t, cached(), 64.0)
	require.Zero(t, cached("cache_salt", "mine"))
	require.GreaterOrEqual(t, cached("cache_salt", "mine"), 64.0)
	require.Zero(t, cached("cache_prompt", false))
}

func TestDeadline(t *testing.T) {
	r := start(t, func(_ *Config, f *fake) { f.reject = fmt.Errorf("wrapped: %w", engine.ErrDeadline) })
	status, body := r.post(chatPath, hi("glassbox", object{"within_ms": 5}))
	require.Equal(t, 504, status)
	require.Equal(t, "deadline_exceeded", at(t, parse(t, body), "error", "code"))
	require.False(t, r.fake.last(t).Deadline.IsZero())
}
