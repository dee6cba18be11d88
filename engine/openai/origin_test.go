package openai

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine"
)

// A page of another site cannot drive the server: neither by a form-like request, which browsers send without asking, nor
// by a name of its own that it points here. Programs and our own pages can.
func TestForeignPagesCannotDriveTheServer(t *testing.T) {
	r := start(t, func(c *Config, _ *fake) { c.Hosts, c.Origins = []string{"box.lan"}, []string{"https://friend.example"} })
	ask := func(host string, headers ...string) int {
		b, err := compact(hi())
		require.NoError(t, err)
		req := httptest.NewRequest(http.MethodPost, chatPath, strings.NewReader(string(b)))
		req.Host = host
		req.Header.Set("Content-Type", "text/plain")
		for i := 0; i < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		r.server.ServeHTTP(w, req)
		if w.Code == http.StatusForbidden {
			require.Contains(t, w.Body.String(), `"code":"foreign_origin"`)
		}
		return w.Code
	}
	for _, host := range []string{"127.0.0.1:8080", "[::1]:8080", "localhost", "LOCALHOST:1", "app.localhost", "192.168.1.4", "box.lan:80"} {
		require.Equal(t, 200, ask(host), host)
		require.Equal(t, 200, ask(host, "Origin", "http://"+host, "Sec-Fetch-Site", "same-origin"), host)
	}
	require.Equal(t, 200, ask("127.0.0.1", "Origin", "https://friend.example", "Sec-Fetch-Site", "cross-site"))
	asked := len(r.fake.asked)
	for _, headers := range [][]string{{"Origin", "https://evil.example"}, {"Origin", "null"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"},
		{"Origin", "http://127.0.0.1:9999"}, {"Origin", "%"}} {
		require.Equal(t, 403, ask("127.0.0.1:8080", headers...), headers)
	}
	for _, host := range []string{"evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example"} {
		require.Equal(t, 403, ask(host), host)
		require.Equal(t, 403, ask(host, "Origin", "http://"+host), host)
	}
	require.Len(t, r.fake.asked, asked, "what is refused does not reach the engine")
}

// shelf is a loader with one further model.
type shelf struct {
	server   *Server
	inUse    int
	err      error
	released int
}

func (s *shelf) Names() []string    { return []string{"other"} }
func (s *shelf) Root(string) string { return "other.gguf" }
func (s *shelf) Load(context.Context, string) (*Server, func(), error) {
	if s.err != nil {
		return nil, nil, s.err
	}
	s.inUse++
	return s.server, func() { s.inUse--; s.released++ }, nil
}

func TestTheModelThatARequestNamesAnswers(t *testing.T) {
	one, two := start(t, nil), start(t, func(c *Config, _ *fake) { c.Model = "other" })
	two.fake.say = func(engine.Request) []engine.Event { return saying(two.fake.tok, "I am the other", "stop") }
	s := &shelf{server: two.server}
	r := start(t, func(c *Config, f *fake) { c.Others, f.say = s, one.fake.say })
	for model, want := range map[string]string{"smol": "Hello there!", "other": "I am the other", "default": "Hello there!"} {
		for _, stream := range []bool{false, true} {
			_, body := r.post(chatPath, hi("model", model, "stream", stream))
			content, _ := answerOf(t, body, stream)
			require.Equal(t, want, content)
			require.Contains(t, body, `"model":"`+model+`"`)
		}
	}
	require.Equal(t, []int{0, 2}, []int{s.inUse, s.released})
	list := readAll(t, r.send("GET", "/v1/models", nil))
	require.Contains(t, list, `"id":"other"`)
	require.Contains(t, readAll(t, r.send("GET", "/v1/models/other", nil)), `"root":"other.gguf"`)
	status, body := r.post(chatPath, hi("model", "third"))
	require.Equal(t, 404, status)
	require.Contains(t, body, `other`)
	metrics := readAll(t, r.send("GET", "/metrics", nil))
	require.Contains(t, metrics, `gen_ai_request_model="other"`)
	s.err = ErrNoRoom
	res := r.send("POST", chatPath, hi("model", "other"))
	require.Equal(t, 429, res.StatusCode)
	require.NotEmpty(t, res.Header.Get("Retry-After"))
}
