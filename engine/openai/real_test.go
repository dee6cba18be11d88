package openai

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"glassbox/engine"
	"glassbox/engine/chat"
	"glassbox/engine/testmodel"
)

const tinyTemplate = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"

// realRig is a server on the real engine and a tiny random model, whose tokens are single bytes.
type realRig struct {
	*rig
	engine *engine.Engine
}

func realServer(t *testing.T, change func(*Config)) *realRig {
	t.Helper()
	e, err := engine.Open(testmodel.Tiny(t, testmodel.Spec{Context: 200, Untied: true}), engine.Options{Threads: 2, Slots: 8})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	tmpl, err := chat.New(tinyTemplate)
	require.NoError(t, err)
	c := Config{Engine: Wrap(e), Model: "tiny", Aliases: []string{"smol"}, Template: WrapTemplate(tmpl, e.Tokenizer())}
	if change != nil {
		change(&c)
	}
	s := New(c)
	h := httptest.NewUnstartedServer(s)
	h.Listener = Listener(h.Listener)
	Prepare(h.Config)
	h.Start()
	t.Cleanup(h.Close)
	return &realRig{&rig{t, nil, s, h}, e}
}

// Eight requests at once, with seeds, get the answers they get alone, streamed or not.
func TestSameSeedSameAnswerWhateverRunsBeside(t *testing.T) {
	r := realServer(t, nil)
	ask := func(seed int, stream bool) string {
		_, body := r.post(chatPath, hi("seed", seed, "max_tokens", 40, "logit_bias", object{"258": -100, "256": -100}, "stream", stream))
		if !stream {
			return at(t, parse(t, body), "choices", 0, "message", "content").(string)
		}
		text := ""
		for _, e := range events(t, body) {
			if e == "[DONE]" {
				continue
			}
			if c, ok := at(t, parse(t, e), "choices", 0, "delta").(object)["content"]; ok {
				text += c.(string)
			}
		}
		return text
	}
	var alone, together [8]string
	for i := range alone {
		alone[i] = ask(i, false)
		require.NotEmpty(t, alone[i])
	}
	require.NotEqual(t, alone[0], alone[1], "seeds matter")
	var wg sync.WaitGroup
	for i := range together {
		wg.Go(func() { together[i] = ask(i, i%2 == 0) })
	}
	wg.Wait()
	require.Equal(t, alone, together)
	require.Eventually(t, func() bool { return r.engine.Stats().Running == 0 }, 5*time.Second, time.Millisecond)
}

// A model that says any bytes at all never breaks the JSON: not in the middle of a character, nor at the limit.
func TestAnyBytesGiveValidJSON(t *testing.T) {
	r := realServer(t, nil)
	for seed := range 10 {
		for _, stream := range []bool{false, true} {
			_, body := r.post(textPath, text("model", "tiny", "temperature", 2, "seed", seed, "max_tokens", 60, "ignore_eos", true, "logprobs", 2, "stream", stream))
			require.True(t, utf8.ValidString(body))
			if !stream {
				require.True(t, json.Valid([]byte(body)))
				continue
			}
			for _, e := range events(t, body) {
				require.True(t, e == "[DONE]" || json.Valid([]byte(e)), e)
			}
		}
	}
}

// The whole answer and the streamed one are the same in all that they say.
func TestStreamedAndWholeAgree(t *testing.T) {
	r := realServer(t, nil)
	ask := func(stream bool) (string, []any, string) {
		_, body := r.post(textPath, text("model", "tiny", "temperature", 1.5, "seed", 3, "max_tokens", 50, "logprobs", 1, "echo", true, "stop", "q", "stream", stream))
		if !stream {
			c := at(t, parse(t, body), "choices", 0)
			return at(t, c, "text").(string), at(t, c, "logprobs", "text_offset").([]any), at(t, c, "finish_reason").(string)
		}
		text, offsets, finish := "", []any{}, ""
		for _, e := range events(t, body) {
			if e == "[DONE]" {
				continue
			}
			c := at(t, parse(t, e), "choices", 0).(object)
			text += c["text"].(string)
			if c["logprobs"] != nil {
				offsets = append(offsets, at(t, c, "logprobs", "text_offset").([]any)...)
			}
			if c["finish_reason"] != nil {
				finish = c["finish_reason"].(string)
			}
		}
		return text, offsets, finish
	}
	text, offsets, finish := ask(false)
	streamed, streamedOffsets, streamedFinish := ask(true)
	require.Equal(t, []any{text, offsets, finish}, []any{streamed, streamedOffsets, streamedFinish})
	require.Greater(t, len(offsets), 10)
}

func TestLimitsOfTheContext(t *testing.T) {
	r := realServer(t, nil)
	long := fmt.Sprint(make([]int, 200))
	for name, c := range map[string]struct {
		path, param string
		body        object
	}{
		"a limit above the context": {chatPath, "max_tokens", hi("max_tokens", 201)}, "a huge limit": {chatPath, "max_tokens", hi("max_tokens", 1<<40)},
		"a long chat":   {chatPath, "messages", hi("messages", []any{object{"role": "user", "content": long}})},
		"a long prompt": {textPath, "prompt", text("prompt", long)},
	} {
		t.Run(name, func(t *testing.T) {
			status, answer := r.post(c.path, c.body)
			require.Equal(t, 400, status)
			e := at(t, parse(t, answer), "error").(object)
			require.Equal(t, []any{"context_length_exceeded", c.param}, []any{e["code"], e["param"]})
		})
	}
	status, answer := r.post(textPath, text("model", "tiny", "prompt", ""))
	require.Equal(t, 400, status)
	require.Equal(t, "prompt", at(t, parse(t, answer), "error", "param"))
	_, answer = r.post(chatPath, hi("ignore_eos", true))
	require.Equal(t, 200.0, at(t, parse(t, answer), "usage", "total_tokens"), "without a limit the context is one")
	require.Equal(t, "length", at(t, parse(t, answer), "choices", 0, "finish_reason"))
}

// request writes a chat request whose method was written before.
func request(t *testing.T, w io.Writer, body []byte) {
	t.Helper()
	_, err := fmt.Fprintf(w, "%s HTTP/1.1\r\nHost: localhost\r\nX-Glassbox-Trace: 1\r\nContent-Length: %d\r\n\r\n%s", chatPath, len(body), body)
	require.NoError(t, err)
}
