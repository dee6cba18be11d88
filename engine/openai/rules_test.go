package openai

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine"
	"glassbox/engine/chat"
	"glassbox/engine/sample"
)

const chatPath, textPath = "/v1/chat/completions", "/v1/completions"

// text is a small completion request with extra fields.
func text(fields ...any) object {
	o := object{"model": "smol", "prompt": "Once"}
	for i := 0; i < len(fields); i += 2 {
		o[fields[i].(string)] = fields[i+1]
	}
	return o
}

func message(m any) object { return hi("messages", []any{m}) }

func content(c any) object { return message(object{"role": "user", "content": c}) }

// Every refusal: status, param, code, and a word of its message.
func TestRefusals(t *testing.T) {
	image := []any{object{"type": "image_url", "image_url": object{"url": "data:"}}}
	cases := map[string]struct {
		path   string
		body   any
		status int
		param  any
		code   any
		says   string
	}{
		"no body":                   {chatPath, "", 400, nil, "invalid_json", "no body"},
		"broken JSON":               {chatPath, `{"model": "smol", `, 400, nil, "invalid_json", "at byte 18 of 18"},
		"broken JSON inside":        {chatPath, `{"model": smol}`, 400, nil, "invalid_json", "at byte 11 of 15"},
		"two values":                {chatPath, `{} {}`, 400, nil, "invalid_json", "at byte 4"},
		"a list":                    {chatPath, `[1]`, 400, nil, "invalid_type", "wanted a JSON object, found a JSON array"},
		"null":                      {chatPath, `null`, 400, nil, "invalid_type", "wanted a JSON object, found a JSON null"},
		"deep JSON":                 {chatPath, `{"x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}", 400, nil, "invalid_json", "depth"},
		"unknown model":             {chatPath, hi("model", "gpt-4"), 404, "model", "model_not_found", `wanted "smol", found "gpt-4"`},
		"model of the wrong type":   {chatPath, hi("model", 4), 400, "model", "invalid_type", "wanted a string, found number"},
		"no messages":               {chatPath, object{"model": "smol"}, 400, "messages", "invalid_value", "at least one"},
		"messages is a string":      {chatPath, hi("messages", "Hi"), 400, "messages", "invalid_type", "a list of messages"},
		"a message is a string":     {chatPath, message("Hi"), 400, "messages[0]", "invalid_type", "an object"},
		"a message is null":         {chatPath, message(nil), 400, "messages[0]", "invalid_type", "found null"},
		"no role":                   {chatPath, message(object{"content": "x"}), 400, "messages[0].role", "invalid_value", "role"},
		"unknown role":              {chatPath, message(object{"role": "boss", "content": "x"}), 400, "messages[0].role", "invalid_value", `"boss"`},
		"role is a number":          {chatPath, message(object{"role": 1, "content": "x"}), 400, "messages[0].role", "invalid_type", "a string"},
		"no content":                {chatPath, message(object{"role": "user"}), 400, "messages[0].content", "invalid_value", "found nothing"},
		"content is a number":       {chatPath, content(1), 400, "messages[0].content", "invalid_type", "found the number 1"},
		"content is an object":      {chatPath, content(object{}), 400, "messages[0].content", "invalid_type", "an object"},
		"a part is a string":        {chatPath, content([]any{"x"}), 400, "messages[0].content[0]", "invalid_type", "a part"},
		"an image":                  {chatPath, content(image), 400, "messages[0].content", "unsupported_value", "image_url"},
		"audio":                     {chatPath, content([]any{object{"type": "input_audio"}}), 400, "messages[0].content", "unsupported_value", "input_audio"},
		"a text part without text":  {chatPath, content([]any{object{"type": "text"}}), 400, "messages[0].content", "invalid_value", "no text"},
		"tools":                     {chatPath, hi("tools", []any{object{"type": "function"}}), 400, "tools", "unsupported_parameter", "tools"},
		"tools auto":                {chatPath, hi("tools", []any{object{}}, "tool_choice", "auto"), 400, "tools", "unsupported_parameter", "tools"},
		"functions":                 {chatPath, hi("functions", []any{object{}}), 400, "functions", "unsupported_parameter", "functions"},
		"json_schema":               {chatPath, hi("response_format", object{"type": "json_schema"}), 400, "response_format", "invalid_value", "json_schema"},
		"form of no kind":           {chatPath, hi("response_format", object{"type": "xml"}), 400, "response_format", "unsupported_value", "xml"},
		"no schema":                 {chatPath, hi("response_format", object{"type": "json_schema", "json_schema": object{"name": "a"}}), 400, "response_format", "invalid_value", "schema"},
		"keyword":                   {chatPath, schema(object{"type": "object", "properties": object{"a": object{"type": "array", "uniqueItems": true}}}), 400, "response_format", "unsupported_value", "schema.properties.a.uniqueItems"},
		"wrong schema":              {chatPath, schema(object{"type": "strin"}), 400, "response_format", "invalid_value", "schema.type"},
		"min_tokens":                {chatPath, hi("min_tokens", 9, "max_tokens", 8), 400, "min_tokens", "invalid_value", "found 9"},
		"priority":                  {chatPath, hi("priority", 5000), 400, "priority", "invalid_value", "5000"},
		"within_ms":                 {chatPath, hi("glassbox", object{"within_ms": 0}), 400, "glassbox.within_ms", "invalid_value", "found 0"},
		"guided_json":               {chatPath, hi("guided_json", object{}), 400, "guided_json", "unsupported_parameter", "response_format"},
		"reasoning_effort":          {chatPath, hi("reasoning_effort", "high"), 400, "reasoning_effort", "unsupported_parameter", "reasoning"},
		"store":                     {chatPath, hi("store", true), 400, "store", "unsupported_parameter", "keeps no answers"},
		"audio field":               {chatPath, hi("audio", object{"voice": "x"}), 400, "audio", "unsupported_parameter", "text"},
		"audio out":                 {chatPath, hi("modalities", []any{"text", "audio"}), 400, "modalities", "unsupported_value", "audio"},
		"n is 65":                   {chatPath, hi("n", 65), 400, "n", "invalid_value", "wanted 1 to 64, found 65"},
		"n times prompts":           {textPath, text("n", 33, "prompt", []any{"a", "b"}), 400, "prompt", "invalid_value", "found 66"},
		"n is 0":                    {chatPath, hi("n", 0), 400, "n", "invalid_value", "wanted 1 to 64, found 0"},
		"max_tokens 0":              {chatPath, hi("max_tokens", 0), 400, "max_tokens", "invalid_value", "1 or more, found 0"},
		"max_tokens below 0":        {chatPath, hi("max_tokens", -1), 400, "max_tokens", "invalid_value", "found -1"},
		"max_completion_tokens 0":   {chatPath, hi("max_completion_tokens", 0), 400, "max_completion_tokens", "invalid_value", "found 0"},
		"max_tokens with fraction":  {chatPath, hi("max_tokens", 1.5), 400, "max_tokens", "invalid_type", "an integer"},
		"max_tokens of 400 digits":  {chatPath, `{"messages":[],"max_tokens":1` + strings.Repeat("0", 400) + "}", 400, "max_tokens", "invalid_type", "an integer"},
		"max_tokens is a string":    {chatPath, hi("max_tokens", "5"), 400, "max_tokens", "invalid_type", `wanted an integer, found the string "5"`},
		"temperature is a string":   {chatPath, hi("temperature", "hot"), 400, "temperature", "invalid_type", "wanted a number, found string"},
		"temperature 2.1":           {chatPath, hi("temperature", 2.1), 400, "temperature", "invalid_value", "0 to 2, found 2.1"},
		"temperature below 0":       {chatPath, hi("temperature", -1), 400, "temperature", "invalid_value", "found -1"},
		"top_p 1.5":                 {chatPath, hi("top_p", 1.5), 400, "top_p", "invalid_value", "0 to 1"},
		"min_p 2":                   {chatPath, hi("min_p", 2), 400, "min_p", "invalid_value", "0 to 1"},
		"top_k -2":                  {chatPath, hi("top_k", -2), 400, "top_k", "invalid_value", "found -2"},
		"presence_penalty 3":        {chatPath, hi("presence_penalty", 3), 400, "presence_penalty", "invalid_value", "-2 to 2"},
		"frequency_penalty -3":      {chatPath, hi("frequency_penalty", -3), 400, "frequency_penalty", "invalid_value", "-2 to 2"},
		"repeat_penalty 0":          {chatPath, hi("repeat_penalty", 0), 400, "repeat_penalty", "invalid_value", "more than 0"},
		"repetition_penalty -1":     {chatPath, hi("repetition_penalty", -1), 400, "repetition_penalty", "invalid_value", "more than 0"},
		"five stops":                {chatPath, hi("stop", []any{"1", "2", "3", "4", "5"}), 400, "stop", "invalid_value", "at most 4"},
		"stop is a number":          {chatPath, hi("stop", 1), 400, "stop", "invalid_type", "a string or a list of strings"},
		"stop holds null":           {chatPath, hi("stop", []any{nil}), 400, "stop", "invalid_type", "a list of strings"},
		"stream is a string":        {chatPath, hi("stream", "yes"), 400, "stream", "invalid_type", "true or false"},
		"include_usage is a number": {chatPath, hi("stream_options", object{"include_usage": 1}), 400, "stream_options.include_usage", "invalid_type", "true or false"},
		"seed is a string":          {chatPath, hi("seed", "x"), 400, "seed", "invalid_type", "an integer"},
		"logprobs is a number":      {chatPath, hi("logprobs", 3), 400, "logprobs", "invalid_type", "true or false"},
		"top_logprobs 21":           {chatPath, hi("logprobs", true, "top_logprobs", 21), 400, "top_logprobs", "invalid_value", "0 to 20"},
		"top_logprobs alone":        {chatPath, hi("top_logprobs", 2), 400, "top_logprobs", "invalid_value", "needs logprobs"},
		"bias of a word":            {chatPath, hi("logit_bias", object{"the": 1}), 400, "logit_bias", "invalid_value", `"the"`},
		"bias of no token":          {chatPath, hi("logit_bias", object{"49152": 1}), 400, "logit_bias", "invalid_value", "0 to 49151"},
		"bias below 0":              {chatPath, hi("logit_bias", object{"-1": 1}), 400, "logit_bias", "invalid_value", "-1"},
		"bias of 101":               {chatPath, hi("logit_bias", object{"5": 101}), 400, "logit_bias", "invalid_value", "-100 to 100"},
		"bias is a list":            {chatPath, hi("logit_bias", []any{}), 400, "logit_bias", "invalid_type", "an object"},
		"unknown sampler":           {chatPath, hi("samplers", []any{"dry"}), 400, "samplers", "invalid_value", "dry"},
		"a sampler twice":           {chatPath, hi("samplers", []any{"top_k", "top_k"}), 400, "samplers", "invalid_value", "at most once"},
		"unknown capture":           {chatPath, hi("glassbox", object{"capture": []any{"dreams"}}), 400, "glassbox.capture", "invalid_value", `"dreams"`},
		"capture of attention":      {chatPath, hi("glassbox", object{"trace": true, "capture": []any{"attention"}}), 400, "glassbox.capture", "unsupported_value", "attention not recorded by this build yet"},
		"draft by a request":        {chatPath, hi("glassbox", object{"draft": "ngram"}), 400, "glassbox.draft", "invalid_value", `wanted "off"`},
		"draft is a number":         {chatPath, hi("glassbox", object{"draft": 1}), 400, "glassbox.draft", "invalid_type", "a string"},
		"no prompt":                 {textPath, object{"model": "smol"}, 400, "prompt", "invalid_value", "found none"},
		"prompt is null":            {textPath, text("prompt", nil), 400, "prompt", "invalid_value", "found none"},
		"prompt is an empty list":   {textPath, text("prompt", []any{}), 400, "prompt", "invalid_value", "found none"},
		"prompt is an object":       {textPath, text("prompt", object{}), 400, "prompt", "invalid_type", "an object"},
		"prompt mixes":              {textPath, text("prompt", []any{"a", 1}), 400, "prompt", "invalid_type", "the list"},
		"prompt holds null":         {textPath, text("prompt", []any{1, nil}), 400, "prompt", "invalid_type", "the list"},
		"prompt id too large":       {textPath, text("prompt", []any{1, 49152}), 400, "prompt", "invalid_value", "49152"},
		"prompt id below 0":         {textPath, text("prompt", []any{[]any{-1}}), 400, "prompt", "invalid_value", "-1"},
		"65 prompts":                {textPath, text("prompt", make([]string, 65)), 400, "prompt", "invalid_value", "at most 64"},
		"suffix":                    {textPath, text("suffix", "end"), 400, "suffix", "unsupported_parameter", "suffix"},
		"best_of":                   {textPath, text("best_of", 3), 400, "best_of", "unsupported_parameter", "best_of"},
		"logprobs 21":               {textPath, text("logprobs", 21), 400, "logprobs", "invalid_value", "0 to 20"},
		"logprobs true":             {textPath, text("logprobs", true), 400, "logprobs", "invalid_type", "an integer"},
		"two prompts, recorded":     {textPath, text("prompt", []any{"a", "b"}, "glassbox", object{"trace": true}), 400, "glassbox", "unsupported_value", "one prompt"},
		"tokenize nothing":          {"/tokenize", object{}, 400, "content", "invalid_value", "found none of them"},
		"detokenize nothing":        {"/detokenize", object{}, 400, "tokens", "invalid_value", "found none"},
		"detokenize no token":       {"/detokenize", object{"tokens": []any{49152}}, 400, "tokens", "invalid_value", "49152"},
		"detokenize a word":         {"/detokenize", object{"tokens": []any{"x"}}, 400, "tokens", "invalid_type", "an integer"},
		"a template of nothing":     {"/apply-template", object{}, 400, "messages", "invalid_value", "at least one"},
		"nothing there":             {"/v1/embeddings", object{}, 404, nil, "not_found", "/v1/embeddings"},
		"wrong method":              {"/v1/models", object{}, 405, nil, "method_not_allowed", "wanted GET, found POST"},
	}
	r := start(t, func(c *Config, _ *fake) { c.Tracer = &tracer{} })
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			status, body := r.post(c.path, c.body)
			require.Equal(t, c.status, status, body)
			e := at(t, parse(t, body), "error").(object)
			require.Len(t, e, 4, "the four keys are always there")
			require.Contains(t, e["message"], c.says)
			require.NotContains(t, e["message"], "byte 0)", "a place that is not known is not told")
			require.Equal(t, c.param, e["param"])
			require.Equal(t, c.code, e["code"])
			require.Equal(t, "invalid_request_error", e["type"])
		})
	}
	require.Empty(t, r.fake.asked, "a refused request does not reach the engine")
}

// What is accepted, and what the engine then gets.
func TestWhatTheEngineIsAsked(t *testing.T) {
	type request = engine.Request
	cases := map[string]struct {
		path string
		body object
		ok   func(t *testing.T, r request)
	}{
		"defaults of a chat": {chatPath, hi(), func(t *testing.T, r request) {
			s := r.Sampling
			seed := s.Seed
			require.Equal(t, sample.Params{Temperature: 1, TopP: 1, RepeatPenalty: 1, Seed: seed}, s)
			require.Less(t, seed, uint64(1)<<53)
			require.Equal(t, []any{0, -1, false}, []any{r.MaxTokens, r.Logprobs, r.IgnoreEOS})
			require.Nil(t, r.Trace)
		}},
		"defaults of a completion": {textPath, text(), func(t *testing.T, r request) { require.Equal(t, 16, r.MaxTokens) }},
		"nulls are defaults": {chatPath, hi("temperature", nil, "top_p", nil, "seed", nil, "stop", nil, "n", nil, "tools", nil, "logit_bias", nil, "max_tokens", nil,
			"response_format", nil, "stream_options", nil, "logprobs", nil, "top_logprobs", nil, "glassbox", nil, "tool_choice", nil, "user", nil),
			func(t *testing.T, r request) { require.Equal(t, 1.0, r.Sampling.Temperature) }},
		"everything": {chatPath, hi("temperature", 0.5, "top_p", 0.9, "top_k", 40, "min_p", 0.05, "repeat_penalty", 1.1, "presence_penalty", 0.1,
			"frequency_penalty", -0.2, "seed", 7, "stop", "END", "max_tokens", 9, "ignore_eos", true, "samplers", []any{"top_k", "temperature"},
			"logit_bias", object{"5": -100, "6": 1.5}, "logprobs", true, "top_logprobs", 3, "service_tier", "auto", "unknown", object{"a": []any{1}}),
			func(t *testing.T, r request) {
				require.Equal(t, sample.Params{Temperature: 0.5, TopP: 0.9, TopK: 40, MinP: 0.05, RepeatPenalty: 1.1, PresencePenalty: 0.1, FrequencyPenalty: -0.2,
					Seed: 7, LogitBias: map[int32]float32{5: -100, 6: 1.5}, Order: []string{"top_k", "temperature"}}, r.Sampling)
				require.Equal(t, []any{9, 3, true, []string{"END"}}, []any{r.MaxTokens, r.Logprobs, r.IgnoreEOS, r.Stop})
			}},
		"max_completion_tokens wins": {chatPath, hi("max_tokens", 9, "max_completion_tokens", 4), func(t *testing.T, r request) { require.Equal(t, 4, r.MaxTokens) }},
		"10.0 is an integer":         {chatPath, hi("max_tokens", 1e1), func(t *testing.T, r request) { require.Equal(t, 10, r.MaxTokens) }},
		"top_p 0 is the likeliest":   {chatPath, hi("top_p", 0), func(t *testing.T, r request) { require.Equal(t, 1e-9, r.Sampling.TopP) }},
		"top_k -1 is all":            {chatPath, hi("top_k", -1), func(t *testing.T, r request) { require.Equal(t, 0, r.Sampling.TopK) }},
		"vLLM's repetition_penalty":  {chatPath, hi("repetition_penalty", 1.2), func(t *testing.T, r request) { require.Equal(t, 1.2, r.Sampling.RepeatPenalty) }},
		"a negative seed":            {chatPath, hi("seed", -1), func(t *testing.T, r request) { require.Equal(t, ^uint64(0), r.Sampling.Seed) }},
		"logprobs alone":             {chatPath, hi("logprobs", true), func(t *testing.T, r request) { require.Equal(t, 0, r.Logprobs) }},
		"four stops":                 {chatPath, hi("stop", []any{"a", "b", "c", "d"}), func(t *testing.T, r request) { require.Len(t, r.Stop, 4) }},
		"tools that are not used":    {chatPath, hi("tools", []any{object{}}, "tool_choice", "none"), func(t *testing.T, r request) {}},
		"no tools":                   {chatPath, hi("tools", []any{}, "response_format", object{"type": "text"}, "modalities", []any{"text"}, "n", 1), func(t *testing.T, r request) {}},
		"no model":                   {chatPath, object{"messages": hi()["messages"]}, func(t *testing.T, r request) {}},
		"an alias":                   {chatPath, hi("model", "default"), func(t *testing.T, r request) {}},
		"a text":                     {textPath, text("prompt", "Hello<|im_end|>"), func(t *testing.T, r request) { require.Equal(t, []int{19556, 2}, r.Tokens) }},
		"ids":                        {textPath, text("prompt", []any{19556, 2}), func(t *testing.T, r request) { require.Equal(t, []int{19556, 2}, r.Tokens) }},
		"a list of ids":              {textPath, text("prompt", []any{[]any{19556, 2}}), func(t *testing.T, r request) { require.Equal(t, []int{19556, 2}, r.Tokens) }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := start(t, nil)
			status, body := r.post(c.path, c.body)
			require.Equal(t, http.StatusOK, status, body)
			c.ok(t, r.fake.last(t))
		})
	}
}

// The prompt of a chat, by the text that its ids stand for.
func TestChatPrompts(t *testing.T) {
	parts := []any{object{"type": "text", "text": "one"}, object{"type": "text", "text": "two"}}
	const system = "<|im_start|>system\nBe kind<|im_end|>\n"
	const open = "<|im_start|>assistant\n"
	for name, c := range map[string]struct {
		messages []any
		want     string
	}{
		"parts are joined by a newline": {[]any{object{"role": "system", "content": "Be kind"}, object{"role": "user", "content": parts}},
			system + "<|im_start|>user\none\ntwo<|im_end|>\n" + open},
		"developer is system": {[]any{object{"role": "developer", "content": "Be kind"}, object{"role": "user", "content": "Hi"}},
			system + "<|im_start|>user\nHi<|im_end|>\n" + open},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, nil)
			status, body := r.post(chatPath, hi("messages", c.messages))
			require.Equal(t, 200, status, body)
			text, err := r.fake.tok.Decode(r.fake.last(t).Tokens)
			require.NoError(t, err)
			require.Equal(t, c.want, text)
			status, body = r.post("/apply-template", object{"messages": c.messages})
			require.Equal(t, 200, status)
			require.Equal(t, c.want, parse(t, body)["prompt"])
		})
	}
}

// A user who writes a mark writes text.
func TestMarksInMessagesAreText(t *testing.T) {
	r := start(t, nil)
	r.post(chatPath, hi("messages", []any{object{"role": "system", "content": "s"}, object{"role": "user", "content": "a<|im_end|>b"}}))
	ends := 0
	for _, id := range r.fake.last(t).Tokens {
		if id == 2 {
			ends++
		}
	}
	require.Equal(t, 2, ends, "only the template's own marks are tokens")
}

func TestTemplates(t *testing.T) {
	tok, err := vocabulary()
	require.NoError(t, err)
	for name, c := range map[string]struct {
		template, code, says string
	}{
		"no template":       {"", "no_chat_template", "--chat-template"},
		"raise_exception":   {"{{ raise_exception('roles must alternate') }}", "template_refused", "roles must alternate"},
		"without end":       {"{% for i in range(99999999) %}x{% endfor %}", "template_limit", "chat template"},
		"an unknown method": {"{{ messages.nope() }}", "template_error", "chat template"},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, func(c2 *Config, _ *fake) {
				c2.Template = nil
				if c.template != "" {
					parsed, err := chat.New(c.template)
					require.NoError(t, err)
					c2.Template = WrapTemplate(parsed, tok)
				}
			})
			for path, body := range map[string]object{chatPath: hi(), "/apply-template": hi(), "/tokenize": {"messages": hi()["messages"]}} {
				status, text := r.post(path, body)
				require.Equal(t, 400, status, text)
				e := at(t, parse(t, text), "error").(object)
				require.Equal(t, []any{c.code, "messages"}, []any{e["code"], e["param"]})
				require.Contains(t, e["message"], c.says)
			}
			status, _ := r.post(textPath, text())
			require.Equal(t, 200, status, "completions need no template")
		})
	}
}

// schema is a chat request for an answer of a form.
func schema(s object) object {
	return hi("response_format", object{"type": "json_schema", "json_schema": object{"name": "a", "schema": s, "strict": true}})
}
