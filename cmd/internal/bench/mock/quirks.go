package mock

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Quirks are the habits of servers and networks that a client must survive, one script each.
func Quirks() []Script {
	return append(append(streamQuirks(), countQuirks()...), failureQuirks()...)
}

// Find returns a script by its name.
func Find(name string) (Script, bool) {
	for _, s := range Quirks() {
		if s.Name == name {
			return s, true
		}
	}
	return Script{}, false
}

var sseHeader = http.Header{"Content-Type": {"text/event-stream"}}

// streamQuirks are about how events are written and cut.
func streamQuirks() []Script {
	role := Step{After: 5 * ms, Data: sse(delta(`"role":"assistant","content":""`))}
	four := words(4, 20*ms, 3*ms, say)
	lines := func(s string, change func(string) string) []Step {
		out := join([]Step{{After: 5 * ms, Data: sse(delta(`"role":"assistant"`))}}, words(4, 20*ms, 3*ms, func(int) string { return sse(s) }), done("4"))
		for i := range out {
			out[i].Data = change(out[i].Data)
		}
		return out
	}
	word := content(" wörd")
	return []Script{
		{Name: "plain", Says: "as OpenAI documents it", Steps: join([]Step{role}, four, done("4")), Truth: plain},
		{Name: "role-only", Says: "vLLM: the role chunk comes long before the first token", Before: 2 * ms, Steps: join([]Step{{After: ms, Data: role.Data}}, words(4, 40*ms, 3*ms, say), done("4")), Truth: plain},
		{Name: "slow-headers", Says: "headers only come with the first token", Before: 30 * ms, Steps: join(words(4, 0, 3*ms, say), done("4")), Truth: plain},
		{Name: "crlf", Says: "lines end in CRLF", Steps: lines(word, func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }), Truth: plain},
		{Name: "cr", Says: "lines end in CR", Steps: lines(word, func(s string) string { return strings.ReplaceAll(s, "\n", "\r") }), Truth: plain},
		{Name: "no-blank", Says: "data: without a blank", Steps: lines(word, func(s string) string { return strings.Replace(s, "data: ", "data:", 1) }), Truth: plain},
		{Name: "multi-line", Says: "an event of several data lines", Steps: lines(word, func(s string) string { return strings.Replace(s, `"choices"`, "\ndata: \"choices\"", 1) }), Truth: plain},
		{Name: "comments", Says: "llama.cpp, OpenRouter: comments while the prompt is computed", Steps: join([]Step{{After: 2 * ms, Data: ": ping\n\n"}, {After: 2 * ms, Data: ":\n\n"}}, []Step{role}, four, done("4")),
			Truth: with(func(t *Truth) { t.Marks = []string{"comments"} })},
		{Name: "bytes", Says: "the network delivers one byte at a time, cutting characters in two", Scatter: 1, Steps: lines(word, func(s string) string { return s }), Truth: plain},
		{Name: "sevens", Says: "the network delivers seven bytes at a time", Scatter: 7, Steps: lines(word, func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }), Truth: plain},
		{Name: "buffering-proxy", Says: "a proxy collects everything and sends it at once", Steps: []Step{{After: 60 * ms, Tokens: 4, Events: 4, Data: role.Data + strings.Repeat(say(0), 4) + flat(done("4"))}},
			Truth: with(func(t *Truth) { t.Joined = 3 })},
		{Name: "no-done", Says: "no [DONE]", Steps: join(four, done("4")[:2]), Truth: with(func(t *Truth) { t.Marks = []string{"no [DONE]"} })},
		{Name: "no-finish", Says: "vLLM: finish_reason stays null", Steps: join(four, done("4")[1:]), Truth: with(func(t *Truth) { t.Finish, t.Marks = "", []string{"no finish_reason"} })},
		{Name: "empty-finish", Says: `SGLang, Ollama: finish_reason "" until the end`, Steps: join(words(4, 20*ms, 3*ms, func(int) string {
			return sse(`{"choices":[{"index":0,"delta":{"role":null,"content":" a"},"finish_reason":""}]}`)
		}), done("4")), Truth: plain},
		{Name: "finish-then-none", Says: "a last chunk after the one with finish_reason, with none again", Steps: join(four, []Step{{Data: sse(finish(`"length"`)), Finish: true},
			{Data: sse(finish(`""`))}, {Data: sse(finish("null"))}}, done("4")[1:]), Truth: plain},
		{Name: "null-fields", Says: "SGLang: null role and content", Steps: join([]Step{{After: ms, Data: sse(delta(`"role":null,"content":null,"tool_calls":null,"reasoning_content":null`))}}, four, done("4")), Truth: plain},
		{Name: "token-in-finish", Says: "vLLM: the last token rides in the chunk with finish_reason", Steps: join(words(3, 20*ms, 3*ms, say), []Step{{After: 3 * ms, Tokens: 1, Finish: true,
			Data: sse(`{"choices":[{"index":0,"delta":{"content":" d"},"finish_reason":"length"}]}`)}}, done("4")[1:]), Truth: plain},
		{Name: "after-done", Says: "events after [DONE]", Steps: join(four, done("4"), []Step{{After: 30 * ms, Data: say(0)}}), Truth: with(func(t *Truth) { t.Marks = []string{"events after the end"} })},
		{Name: "no-last-blank", Says: "the last line has no end", Steps: join(four, done("4")[:2], []Step{{Data: "data: [DONE]"}}), Truth: plain},
		{Name: "obfuscation", Says: "OpenAI: random padding in each chunk", Steps: join(words(4, 20*ms, 3*ms, func(i int) string {
			return sse(strings.TrimSuffix(content(" w"), "}") + `,"obfuscation":"` + strings.Repeat("x", 3*i) + `"}`)
		}), done("4")), Truth: plain},
		{Name: "reasoning_content", Says: "llama.cpp, SGLang, older vLLM: delta.reasoning_content", Steps: thinking(`"reasoning_content":"hm"`), Truth: with(reasoned)},
		{Name: "reasoning", Says: `vLLM, Ollama: delta.reasoning with content ""`, Steps: thinking(`"reasoning":"hm","content":""`), Truth: with(reasoned)},
		{Name: "tool-calls", Says: "the answer is a tool call", Steps: join([]Step{role}, words(4, 20*ms, 3*ms, func(int) string {
			return sse(delta(`"content":null,"tool_calls":[{"index":0,"function":{"arguments":"{"}}]`))
		}), done("4")), Truth: plain},
		{Name: "completions", Says: "/v1/completions: choices[].text", Steps: join(words(4, 20*ms, 3*ms, func(int) string {
			return sse(`{"object":"text_completion","choices":[{"index":0,"text":" w","finish_reason":null,"logprobs":null}]}`)
		}), []Step{{Data: sse(`{"object":"text_completion","choices":[{"index":0,"text":"","finish_reason":"length"}]}`)}}, done("4")[1:]), Truth: plain},
	}
}

func flat(steps []Step) (s string) {
	for _, x := range steps {
		s += x.Data
	}
	return s
}

func reasoned(t *Truth) { t.Output, t.Marks = 6, []string{"reasoning"} }

// thinking is two tokens of reasoning, then four of text.
func thinking(fields string) []Step {
	first := words(2, 10*ms, 4*ms, func(int) string { return sse(delta(fields)) })
	for i := range first {
		first[i].Reasoning = true
	}
	return join(first, words(4, 20*ms, 3*ms, say), done("6"))
}

// running writes chunks of so many tokens with the counts so far in each, as vLLM does with continuous_usage_stats.
func running(sizes ...int) []Step {
	var out []Step
	sum := 0
	for _, n := range sizes {
		sum += n
		out = append(out, Step{After: 6 * ms, Tokens: n, Data: sse(strings.TrimSuffix(content(" several words"), "}") +
			fmt.Sprintf(`,"usage":{"prompt_tokens":9,"completion_tokens":%d,"total_tokens":%d}}`, sum, 9+sum))})
	}
	return join(out, done(fmt.Sprint(sum)))
}

// countQuirks are about where and how tokens are counted.
func countQuirks() []Script {
	three := func(int) string { return sse(content(" three whole words")) }
	grouped := words(4, 20*ms, 9*ms, three)
	for i := range grouped {
		grouped[i].Tokens = 3
	}
	four := words(4, 20*ms, 3*ms, say)
	null := words(4, 20*ms, 3*ms, func(int) string { return sse(strings.TrimSuffix(content(" w"), "}") + `,"usage":null}`) })
	end := func(data string) []Step {
		return []Step{{Data: sse(finish(`"length"`))}, {Data: sse(data)}, {Data: "data: [DONE]\n\n"}}
	}
	stop := []Step{{Data: sse(finish(`"stop"`))}, {Data: "data: [DONE]\n\n"}}
	return []Script{
		{Name: "several-a-chunk", Says: "speculation, stream intervals: three tokens in each chunk", Steps: join(grouped, done("12")), Truth: with(func(t *Truth) { t.Output = 12 })},
		{Name: "running-usage", Says: "vLLM: counts so far in each chunk, of 3, 1, 2 and 2 tokens; the last is the sum, they are not to be added", Steps: running(3, 1, 2, 2),
			Truth: with(func(t *Truth) { t.Output, t.FirstChunk = 8, 3 })},
		{Name: "usage-null", Says: "OpenAI: usage null in all chunks but the last", Steps: join(null, done("4")), Truth: plain},
		{Name: "no-usage", Says: "no usage at all: nothing may be counted", Steps: join(four, stop), Truth: with(func(t *Truth) { t.Prompt, t.Output, t.Finish = -1, -1, "stop" })},
		{Name: "usage-in-message", Says: "llama-swap: message.usage", Steps: join(four, end(`{"choices":[],"message":{"usage":{"prompt_tokens":9,"completion_tokens":4}}}`)), Truth: plain},
		{Name: "usage-in-response", Says: "llama-swap: response.usage", Steps: join(four, end(`{"choices":[],"response":{"usage":{"prompt_tokens":9,"completion_tokens":4}}}`)), Truth: plain},
		{Name: "cached", Says: "prompt tokens from a cache", Steps: join(four, end(`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":7}}}`)),
			Truth: with(func(t *Truth) { t.Cached = 7 })},
		{Name: "details-null", Says: "vLLM: prompt_tokens_details null", Steps: join(four, end(`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":null}}`)), Truth: plain},
		{Name: "usage-garbage", Says: "counts that are no numbers", Steps: join(four, end(`{"choices":[],"usage":{"prompt_tokens":"many"}}`)),
			Truth: with(func(t *Truth) { t.Prompt, t.Output, t.Marks = -1, -1, []string{"usage that cannot be read"} })},
		{Name: "one-token", Says: "an answer of one token has no TPOT", Steps: join(words(1, 20*ms, 0, say), done("1")), Truth: with(func(t *Truth) { t.Output = 1 })},
		{Name: "llama.cpp-timings", Says: "llama.cpp: its own times in the last chunk", Steps: join(four, []Step{{Data: sse(`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4},` +
			`"timings":{"cache_n":2,"prompt_n":7,"prompt_ms":14.5,"predicted_n":4,"predicted_ms":9.3,"draft_n":3,"draft_n_accepted":2}}`)}, {Data: sse(finish(`"length"`))}, {Data: "data: [DONE]\n\n"}}),
			Truth: with(func(t *Truth) { t.Cached, t.Prefill, t.Decode = 2, 14.5, 9.3 })},
		{Name: "ollama", Says: "Ollama's own API: a JSON object a line, durations in ns", Lines: true, Header: http.Header{"Content-Type": {"application/x-ndjson"}}, Steps: join(
			words(4, 20*ms, 3*ms, func(int) string {
				return `{"model":"m","message":{"role":"assistant","content":" w"},"done":false}` + "\n"
			}),
			[]Step{{Data: `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"length","total_duration":40000000,"load_duration":1000000,` +
				`"prompt_eval_count":9,"prompt_eval_duration":14500000,"eval_count":4,"eval_duration":9300000}` + "\n"}}),
			Truth: with(func(t *Truth) { t.Prefill, t.Decode = 14.5, 9.3 })},
	}
}

// failureQuirks are answers that must not count as successes.
func failureQuirks() []Script {
	two := words(2, 20*ms, 3*ms, say)
	status := func(code int, after, body string) (int, http.Header, []Step) {
		h := http.Header{"Content-Type": {"application/json"}}
		if after != "" {
			h.Set("Retry-After", after)
		}
		return code, h, []Step{{Data: body}}
	}
	refusal := func(name, says string, code int, after, body string, t Truth) Script {
		s := Script{Name: name, Says: says, Truth: t}
		s.Status, s.Header, s.Steps = status(code, after, body)
		return s
	}
	limited := failing("HTTP 429: slow down")
	limited.RetryAfter = 2 * time.Second
	return []Script{
		{Name: "error-in-stream", Says: "vLLM: an error inside a 200 stream", Steps: join(two, []Step{{After: ms, Data: sse(`{"error":{"message":"out of memory","type":"x","param":null,"code":500}}`)}, {Data: "data: [DONE]\n\n"}}), Truth: failing("out of memory (500)")},
		{Name: "error-flat", Says: "older vLLM: a flat error object", Steps: join(two, []Step{{After: ms, Data: sse(`{"object":"error","message":"went wrong","type":"x","code":400}`)}}), Truth: failing("went wrong")},
		{Name: "error-text", Says: "an error that is a text", Steps: []Step{{After: ms, Data: sse(`{"error":"no such thing"}`)}}, Truth: failing("no such thing")},
		{Name: "error-event", Says: "an event named error", Steps: []Step{{After: ms, Data: "event: error\ndata: {\"message\":\"too long\"}\n\n"}}, Truth: failing("too long")},
		{Name: "no-token", Says: "a stream without a token", Steps: join([]Step{{After: ms, Data: sse(delta(`"role":"assistant","content":""`))}}, done("0")), Truth: with(func(t *Truth) {
			t.Error, t.Output = "no token", 0
		})},
		{Name: "empty", Says: "a 200 without a byte", Steps: []Step{}, Truth: failing("no events")},
		{Name: "not-json", Says: "an event that is not JSON", Steps: join(two, []Step{{After: ms, Data: "data: <html>bad gateway</html>\n\n"}}), Truth: failing("not JSON")},
		{Name: "cut-off", Says: "the stream ends in the middle, in good order", Steps: two, Truth: failing("without finish_reason and without [DONE]")},
		{Name: "broken", Says: "the connection breaks in the middle", Steps: join(two, []Step{{Break: true}}), Truth: failing("the stream broke")},
		{Name: "dead", Says: "the server falls silent with the connection open", Steps: join(two, []Step{{Hang: true}}), Truth: failing("no byte for")},
		{Name: "whole", Says: "the server ignores stream:true", Header: http.Header{"Content-Type": {"application/json"}}, Steps: []Step{{After: 20 * ms, Data: `{"choices":[{"message":{"content":"all"}}],"usage":{"prompt_tokens":9,"completion_tokens":4}}`}}, Truth: failing("instead of streaming")},
		refusal("429", "rate limit with Retry-After", 429, "2", `{"error":{"message":"slow down","type":"rate_limit","param":null,"code":null}}`, limited),
		refusal("503", "llama.cpp while it loads the model", 503, "", `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, failing("HTTP 503: Loading model (503)")),
		refusal("400-context", "llama.cpp: the prompt is longer than the context", 400, "", `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}`, failing("exceeds the available context")),
		refusal("detail", "FastAPI's own refusals", 422, "", `{"detail":"field required"}`, failing("HTTP 422: field required")),
		{Name: "gateway-page", Says: "a proxy's page in HTML", Status: 502, Header: http.Header{"Content-Type": {"text/html"}}, Steps: []Step{{Data: "<html><h1>Bad gateway</h1></html>"}}, Truth: failing("HTTP 502: <html>")},
	}
}
