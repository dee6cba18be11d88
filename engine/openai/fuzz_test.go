package openai

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"glassbox/engine"
)

// Whatever the body is, the answer is valid: a 200, or an error below 500 with the four keys.
func FuzzBodies(f *testing.F) {
	for _, seed := range []string{
		``, `{`, `null`, `[]`, `{"messages":[{"role":"user","content":"Hi"}]}`, `{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"stream":true}`,
		`{"prompt":["a","b"],"stream":true,"echo":true,"logprobs":1}`, `{"prompt":[[1,2],[3]],"max_tokens":1e1}`, `{"prompt":[1,2.5]}`, `{"prompt":[[[1]]]}`,
		`{"stop":[[]],"prompt":"x"}`, `{"prompt":"\ud800","logit_bias":{"1":1e308},"seed":-9223372036854775808}`, `{"messages":{"0":1}}`, `{"messages":[[]]}`,
		`{"prompt":"x","glassbox":{"trace":true,"capture":["all"]}}`, `{"content":"x","with_pieces":true}`, `{"tokens":[1e3,-5]}`, `{"Prompt":"x","PROMPT":3}`,
	} {
		f.Add(seed)
	}
	tok, err := vocabulary()
	require.NoError(f, err)
	fk := &fake{tok: tok, say: func(engine.Request) []engine.Event { return saying(tok, "Hi", "stop") }}
	s := New(Config{Engine: fk, Model: "smol", Template: template(f), Tracer: &tracer{}})
	f.Fuzz(func(t *testing.T, body string) {
		for _, path := range []string{chatPath, textPath, "/tokenize", "/detokenize", "/apply-template"} {
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(body)))
			answer := w.Body.String()
			require.True(t, utf8.ValidString(answer))
			if w.Code == http.StatusOK {
				continue
			}
			require.Less(t, w.Code, 500, answer)
			require.Len(t, at(t, parse(t, answer), "error"), 4)
		}
	})
}
