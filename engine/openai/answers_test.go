package openai

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine"
	"glassbox/engine/sample"
)

func TestChatWhole(t *testing.T) {
	r := start(t, nil)
	res := r.send("POST", chatPath, hi())
	require.Equal(t, "application/json", res.Header.Get("Content-Type"))
	_, body := r.post(chatPath, hi())
	o := parse(t, body)
	id := o["id"].(string)
	require.Regexp(t, `^chatcmpl-[0-9a-f]{24}$`, id)
	require.Greater(t, o["created"], 1.7e9)
	delete(o, "id")
	delete(o, "created")
	prompt := float64(len(r.fake.last(t).Tokens))
	require.Equal(t, object{
		"object": "chat.completion", "model": "smol", "system_fingerprint": "glassbox-1.2.3", "service_tier": nil,
		"choices": []any{object{"index": 0.0, "message": object{"role": "assistant", "content": "Hello there!", "refusal": nil}, "logprobs": nil, "finish_reason": "stop"}},
		"usage": object{"prompt_tokens": prompt, "completion_tokens": 4.0, "total_tokens": prompt + 4,
			"prompt_tokens_details": object{"cached_tokens": 0.0}, "completion_tokens_details": object{"reasoning_tokens": 0.0}},
	}, o)
}

func TestChatStream(t *testing.T) {
	for name, c := range map[string]struct {
		options any
		usage   string // "none", "null" or "counts", of the events before the last
	}{
		"plain": {nil, "none"}, "empty options": {object{}, "none"}, "unasked": {object{"include_usage": false}, "none"},
		"with usage": {object{"include_usage": true}, "null"}, "continuous": {object{"include_usage": true, "continuous_usage_stats": true}, "counts"},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, nil)
			res := r.send("POST", chatPath, hi("stream", true))
			require.Equal(t, "text/event-stream; charset=utf-8", res.Header.Get("Content-Type"))
			require.Equal(t, "no-cache", res.Header.Get("Cache-Control"))
			require.Equal(t, "no", res.Header.Get("X-Accel-Buffering"))
			_, body := r.post(chatPath, hi("stream", true, "stream_options", c.options))
			got := events(t, body)
			require.Equal(t, "[DONE]", got[len(got)-1])
			got = got[:len(got)-1]
			if c.usage != "none" {
				final := parse(t, got[len(got)-1])
				require.Equal(t, []any{}, final["choices"])
				require.Equal(t, 4.0, at(t, final, "usage", "completion_tokens"))
				got = got[:len(got)-1]
			}
			ids, text := map[any]bool{}, ""
			for i, e := range got {
				o := parse(t, e)
				ids[fmt.Sprint(o["id"], o["created"], o["object"], o["model"])] = true
				usage, has := o["usage"]
				require.Equal(t, c.usage != "none", has)
				require.Equal(t, c.usage == "counts", usage != nil)
				require.Len(t, o["choices"], 1)
				choice := at(t, o, "choices", 0).(object)
				require.Contains(t, choice, "finish_reason")
				delta := choice["delta"].(object)
				switch i {
				case 0:
					require.Equal(t, object{"role": "assistant", "content": ""}, delta)
				case len(got) - 1:
					require.Equal(t, object{}, delta)
					require.Equal(t, "stop", choice["finish_reason"])
					continue
				default:
					require.NotContains(t, delta, "role")
					text += delta["content"].(string)
				}
				require.Nil(t, choice["finish_reason"])
			}
			require.Equal(t, "Hello there!", text)
			require.Len(t, ids, 1, "one id, one time, one model in all events")
			require.Len(t, got, 5, "role, three tokens, finish")
		})
	}
}

func TestFinishReasons(t *testing.T) {
	for _, finish := range []string{"stop", "length"} {
		r := start(t, func(_ *Config, f *fake) {
			f.say = func(engine.Request) []engine.Event { return saying(f.tok, "Hi", finish) }
		})
		_, body := r.post(chatPath, hi())
		require.Equal(t, finish, at(t, parse(t, body), "choices", 0, "finish_reason"))
		_, body = r.post(textPath, text())
		require.Equal(t, finish, at(t, parse(t, body), "choices", 0, "finish_reason"))
	}
}

// Several prompts run at once, are answered in order, and their events say whose they are.
func TestSeveralPrompts(t *testing.T) {
	r := start(t, func(_ *Config, f *fake) {
		f.say = func(r engine.Request) []engine.Event {
			prompt, _ := f.tok.Decode(r.Tokens)
			return saying(f.tok, " after "+prompt, "length")
		}
	})
	prompts := []any{"one", "two", "three"}
	_, body := r.post(textPath, text("prompt", prompts, "echo", true))
	o := parse(t, body)
	require.Equal(t, "text_completion", o["object"])
	require.Len(t, o["choices"], 3)
	for i, p := range prompts {
		c := at(t, o, "choices", i).(object)
		require.Equal(t, float64(i), c["index"])
		require.Equal(t, fmt.Sprintf("%s after %s", p, p), c["text"])
	}
	require.Equal(t, 3.0, at(t, o, "usage", "prompt_tokens"))
	ids := map[string]bool{}
	for _, a := range r.fake.asked {
		ids[a.ID] = true
	}
	require.Len(t, ids, 3, "each prompt has its own id in the engine")

	_, body = r.post(textPath, text("prompt", prompts, "stream", true, "stream_options", object{"include_usage": true}))
	texts, finished := map[float64]string{}, map[float64]int{}
	got := events(t, body)
	for _, e := range got[:len(got)-2] {
		c := at(t, parse(t, e), "choices", 0).(object)
		texts[c["index"].(float64)] += c["text"].(string)
		if c["finish_reason"] != nil {
			finished[c["index"].(float64)]++
		}
	}
	require.Equal(t, map[float64]string{0: " after one", 1: " after two", 2: " after three"}, texts)
	require.Equal(t, map[float64]int{0: 1, 1: 1, 2: 1}, finished)
	require.Equal(t, "[DONE]", got[len(got)-1])
}

// Bytes of a token that is part of a character are its own, and two such tokens are two entries.
func TestLogprobsOfBrokenCharacters(t *testing.T) {
	const said = "a 🦙"
	broken := func(f *fake) []int {
		ids := f.tok.Encode(said, nopts)
		require.Greater(t, len(ids), 3, "the llama is more than two tokens")
		return ids
	}
	r := start(t, func(_ *Config, f *fake) {
		f.say = func(engine.Request) []engine.Event {
			evs := saying(f.tok, said, "stop")
			for i := range evs[:len(evs)-1] { // alternatives: the first two parts of the character
				ids := broken(f)
				evs[i].Tokens[0].Top = []sample.Logprob{{ID: int32(ids[2]), Logprob: -1}, {ID: int32(ids[3]), Logprob: -2}}
			}
			return evs
		}
	})
	ids := broken(r.fake)
	for _, stream := range []bool{false, true} {
		_, body := r.post(chatPath, hi("logprobs", true, "top_logprobs", 2, "stream", stream))
		var entries []any
		if stream {
			for _, e := range events(t, body) {
				if e == "[DONE]" {
					continue
				}
				if lp := at(t, parse(t, e), "choices", 0, "logprobs"); lp != nil {
					entries = append(entries, lp.(object)["content"].([]any)...)
				}
			}
		} else {
			require.Equal(t, said, at(t, parse(t, body), "choices", 0, "message", "content"))
			entries = at(t, parse(t, body), "choices", 0, "logprobs", "content").([]any)
		}
		require.Len(t, entries, len(ids), "one entry a token; the end mark is none")
		var all []byte
		for i, e := range entries {
			own := bytesOf(t, e)
			require.Equal(t, r.fake.tok.Piece(ids[i]), own)
			all = append(all, own...)
			require.InDelta(t, -float64(i)-0.5, at(t, e, "logprob"), 1e-12)
			top := at(t, e, "top_logprobs").([]any)
			require.Len(t, top, 2)
			require.NotEqual(t, bytesOf(t, top[0]), bytesOf(t, top[1]))
		}
		require.Equal(t, said, string(all))
	}
	_, body := r.post(textPath, text("logprobs", 2, "prompt", "é", "echo", true))
	lp := at(t, parse(t, body), "choices", 0, "logprobs").(object)
	require.Equal(t, "é"+said, at(t, parse(t, body), "choices", 0, "text"))
	tokens, offsets := lp["tokens"].([]any), lp["text_offset"].([]any)
	require.Len(t, tokens, 1+len(ids))
	require.Equal(t, []any{"é", "a"}, tokens[:2])
	require.Regexp(t, `^bytes:(\\x[0-9a-f]{2})+$`, tokens[3])
	require.Equal(t, []any{0.0, 1.0, 2.0}, offsets[:3], "offsets count characters")
	require.Equal(t, []any{offsets[len(offsets)-2]}, offsets[len(offsets)-1:], "parts of one character begin where it begins")
	require.Nil(t, at(t, lp, "token_logprobs", 0), "an echoed prompt's probabilities are not computed")
	require.Len(t, at(t, lp, "top_logprobs", 1), 3, "the token itself, and two that are not merged")
}

func bytesOf(t *testing.T, entry any) []byte {
	var b []byte
	for _, v := range at(t, entry, "bytes").([]any) {
		b = append(b, byte(v.(float64)))
	}
	return b
}

// The tokens of a stop string are not part of the answer, nor are their log-probabilities.
func TestLogprobsEndWithTheText(t *testing.T) {
	r := start(t, func(_ *Config, f *fake) {
		f.say = func(engine.Request) []engine.Event {
			evs := saying(f.tok, "one two END more", "stop")
			evs = evs[:len(evs)-2] // no end mark: the stop string ended it
			for i := 2; i < len(evs); i++ {
				evs[i].Text = "" // held back, and never certain
			}
			return append(evs, engine.Event{Finish: "stop"})
		}
	})
	_, body := r.post(textPath, text("logprobs", 0))
	require.Equal(t, "one two", at(t, parse(t, body), "choices", 0, "text"))
	require.Equal(t, []any{"one", " two"}, at(t, parse(t, body), "choices", 0, "logprobs", "tokens"))
	require.Equal(t, []any{0.0, 3.0}, at(t, parse(t, body), "choices", 0, "logprobs", "text_offset"))
	_, body = r.post(chatPath, hi("logprobs", true))
	require.Len(t, at(t, parse(t, body), "choices", 0, "logprobs", "content"), 2)
}

func TestHelpers(t *testing.T) {
	r := start(t, nil)
	for name, c := range map[string]struct {
		path string
		body object
		want object
	}{
		"llama.cpp":  {"/tokenize", object{"content": "Hello<|im_end|>"}, object{"tokens": []any{19556.0, 2.0}, "count": 2.0, "max_model_len": 2048.0}},
		"vLLM":       {"/tokenize", object{"prompt": "Hello"}, object{"tokens": []any{19556.0}, "count": 1.0, "max_model_len": 2048.0}},
		"empty":      {"/tokenize", object{"content": ""}, object{"tokens": []any{}, "count": 0.0, "max_model_len": 2048.0}},
		"detokenize": {"/detokenize", object{"tokens": []any{19556, 2}}, object{"content": "Hello<|im_end|>", "prompt": "Hello<|im_end|>"}},
		"no tokens":  {"/detokenize", object{"tokens": []any{}}, object{"content": "", "prompt": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := r.post(c.path, c.body)
			require.Equal(t, 200, status, body)
			require.Equal(t, c.want, parse(t, body))
		})
	}
	_, body := r.post("/tokenize", object{"content": "<|im_end|>", "parse_special": false})
	require.NotContains(t, parse(t, body)["tokens"], 2.0, "a mark that is not looked for is text")
	_, body = r.post("/tokenize", object{"content": "a 🦙<|im_end|>", "with_pieces": true})
	var all []byte
	list := at(t, parse(t, body), "tokens").([]any)
	for _, p := range list {
		switch piece := p.(object)["piece"].(type) {
		case string:
			all = append(all, piece...)
		case []any:
			for _, b := range piece {
				all = append(all, byte(b.(float64)))
			}
		}
	}
	require.Equal(t, "a 🦙<|im_end|>", string(all))
	_, body = r.post("/tokenize", object{"messages": hi()["messages"]})
	r.post(chatPath, hi())
	require.Len(t, parse(t, body)["tokens"], len(r.fake.last(t).Tokens), "tokenize counts what a chat request takes")
}

func TestModelsHealthVersion(t *testing.T) {
	r := start(t, nil)
	get := func(path string) (int, object) {
		res := r.send("GET", path, nil)
		var b strings.Builder
		_, err := fmt.Fprint(&b, readAll(t, res))
		require.NoError(t, err)
		return res.StatusCode, parse(t, b.String())
	}
	status, o := get("/v1/models")
	require.Equal(t, 200, status)
	require.Equal(t, "list", o["object"])
	require.Len(t, o["data"], 2)
	m := at(t, o, "data", 0).(object)
	require.Equal(t, []any{"smol", "model", "glassbox", "smol.gguf", 2048.0}, []any{m["id"], m["object"], m["owned_by"], m["root"], m["max_model_len"]})
	status, o = get("/v1/models/default")
	require.Equal(t, []any{200, "default"}, []any{status, o["id"]})
	status, o = get("/v1/models/none")
	require.Equal(t, []any{404, "model_not_found"}, []any{status, at(t, o, "error", "code")})
	_, o = get("/health")
	require.Equal(t, object{"status": "ok"}, o)
	_, o = get("/version")
	require.Equal(t, object{"version": "1.2.3", "commit": "abc"}, o)
}

func TestMetrics(t *testing.T) {
	r := start(t, nil)
	r.post(chatPath, hi())
	r.post(textPath, text("stream", true))
	r.post(chatPath, hi("n", 0))
	body := readAll(t, r.send("GET", "/metrics", nil))
	for _, want := range []string{
		`gen_ai_server_request_duration_seconds_bucket{error_type="",gen_ai_operation_name="chat",gen_ai_provider_name="glassbox",gen_ai_request_model="smol",le="81.92"} 1`,
		`gen_ai_server_request_duration_seconds_count{error_type="invalid_value",gen_ai_operation_name="chat",gen_ai_provider_name="glassbox",gen_ai_request_model="smol"} 1`,
		`gen_ai_server_time_to_first_token_seconds_bucket{error_type="",gen_ai_operation_name="text_completion",gen_ai_provider_name="glassbox",gen_ai_request_model="smol",le="10"} 1`,
		`gen_ai_server_time_per_output_token_seconds_bucket{error_type="",gen_ai_operation_name="chat",gen_ai_provider_name="glassbox",gen_ai_request_model="smol",le="2.5"} 1`,
		"glassbox_time_per_output_token_seconds_count 2", "glassbox_inter_token_latency_seconds_count 6",
		"glassbox_generation_tokens_total 8", `glassbox_request_success_total{finished_reason="stop"} 2`,
		"glassbox_num_requests_running 0", "glassbox_num_requests_waiting 0", "glassbox_kv_cache_usage_ratio 0.25", "glassbox_passes_total 7",
		"glassbox_spec_decode_num_drafts_total 3", "glassbox_spec_decode_num_draft_tokens_total 12", "glassbox_spec_decode_num_accepted_tokens_total 8",
		`glassbox_build_info{commit="abc",model="smol",version="1.2.3"} 1`,
	} {
		require.Contains(t, body, want+"\n")
	}
}

func TestIDs(t *testing.T) {
	r := start(t, nil)
	for _, path := range []string{chatPath, textPath, "/tokenize"} { // the last two are refused for this body, and answered all the same
		res := r.send("POST", path, hi(), "X-Request-Id", "mine-1")
		require.Equal(t, "mine-1", res.Header.Get("X-Request-Id"))
	}
	own := r.send("POST", chatPath, hi()).Header.Get("X-Request-Id")
	require.Regexp(t, "^chatcmpl-", own)
	for _, bad := range []string{"with blank", strings.Repeat("x", 129), "ä"} {
		require.Regexp(t, "^chatcmpl-", r.send("POST", chatPath, hi(), "X-Request-Id", bad).Header.Get("X-Request-Id"))
	}
}

func TestTraceParent(t *testing.T) {
	id, span := strings.Repeat("ab", 16), strings.Repeat("cd", 8)
	for in, want := range map[string]bool{
		"00-" + id + "-" + span + "-01": true, "00-" + id + "-" + span + "-03": true, "cc-" + id + "-" + span + "-01-more": true,
		"00-" + id + "-" + span + "-01-more": false, "ff-" + id + "-" + span + "-01": false, "00-" + strings.Repeat("0", 32) + "-" + span + "-01": false,
		"00-" + id + "-" + strings.Repeat("0", 16) + "-01": false, "00-" + strings.ToUpper(id) + "-" + span + "-01": false, "": false, "00-x-y-z": false, "junk": false,
	} {
		require.Equal(t, want, traceParent(in) == in && in != "", in)
	}
}
