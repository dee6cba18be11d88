package openai

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/engine"
)

// endless talks until its request is dropped.
func endless(every time.Duration) func(*Config, *fake) {
	return func(_ *Config, f *fake) {
		f.every = every
		f.say = func(engine.Request) []engine.Event {
			one := saying(f.tok, " word", "length")[0]
			var evs []engine.Event
			for range 9000 {
				evs = append(evs, one)
			}
			return evs
		}
	}
}

// A client that goes away frees its slot, streamed or not, with one prompt or several.
func TestClientGone(t *testing.T) {
	for name, c := range map[string]struct {
		path string
		body object
	}{
		"chat": {chatPath, hi()}, "chat stream": {chatPath, hi("stream", true)},
		"completion": {textPath, text()}, "several": {textPath, text("prompt", []any{"a", "b", "c"})},
		"several streamed": {textPath, text("prompt", []any{"a", "b", "c"}, "stream", true)},
	} {
		t.Run(name, func(t *testing.T) {
			tr := &tracer{}
			r := start(t, func(c *Config, f *fake) {
				c.Tracer = tr
				endless(2*time.Millisecond)(c, f)
			})
			want := int64(1)
			if strings.HasPrefix(name, "several") {
				want = 3
			}
			b, err := compact(c.body)
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			req, err := http.NewRequestWithContext(ctx, "POST", r.http.URL+c.path, bytes.NewReader(b))
			require.NoError(t, err)
			if want == 1 {
				req.Header.Set("X-Glassbox-Trace", "1")
			}
			failed := make(chan error, 1)
			go func() {
				res, err := r.http.Client().Do(req)
				if err == nil {
					_, err = io.ReadAll(res.Body)
				}
				failed <- err
			}()
			require.Eventually(t, func() bool { return r.fake.running.Load() == want }, 5*time.Second, time.Millisecond)
			time.Sleep(10 * time.Millisecond) // some tokens
			cancel()
			require.ErrorIs(t, <-failed, context.Canceled)
			r.idle()
			if want == 1 {
				require.Equal(t, "cancelled", tr.only(t).Facts().Finish)
			}
		})
	}
}

// A client that stops reading is dropped at the write limit, and its slot is free.
func TestClientThatStopsReading(t *testing.T) {
	r := start(t, func(c *Config, f *fake) {
		c.Limits.WriteTimeout = 200 * time.Millisecond
		big := strings.Repeat("x", 1<<20)
		f.every = time.Millisecond
		f.say = func(engine.Request) []engine.Event {
			var evs []engine.Event
			for range 5000 {
				evs = append(evs, engine.Event{Text: big, Tokens: []engine.TokenLogprob{{ID: 28}}})
			}
			return evs
		}
	})
	conn, err := net.Dial("tcp", r.http.Listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	b, err := compact(hi("stream", true))
	require.NoError(t, err)
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", chatPath, len(b), b)
	require.Eventually(t, func() bool { return r.fake.running.Load() == 1 }, 5*time.Second, time.Millisecond)
	r.idle() // nothing is read; the answer would take hours
}

func TestPing(t *testing.T) {
	r := start(t, func(c *Config, f *fake) {
		c.Limits.Ping = 20 * time.Millisecond
		f.every = 70 * time.Millisecond
	})
	for _, body := range []object{text("stream", true), text("stream", true, "prompt", []any{"a", "b"})} {
		_, answer := r.post(textPath, body)
		require.True(t, strings.HasPrefix(answer, ": ping\n\n"), answer)
		require.Contains(t, answer, `"text":"Hello"`)
		require.Equal(t, "[DONE]", events(t, answer)[len(events(t, answer))-1])
	}
}

// The connection serves the next request after a stream: its write limit does not stay behind.
func TestKeepAliveAfterAStream(t *testing.T) {
	r := start(t, func(c *Config, _ *fake) { c.Limits.WriteTimeout = 50 * time.Millisecond })
	_, body := r.post(chatPath, hi("stream", true))
	require.Contains(t, body, "[DONE]")
	time.Sleep(100 * time.Millisecond)
	require.Contains(t, readAll(t, r.send("GET", "/metrics", nil)), "glassbox_", "a handler that sets no limit has none")
}

// The limit for the body ends with the body: an answer may take longer.
func TestAnswersOutliveTheLimitForTheBody(t *testing.T) {
	r := start(t, func(c *Config, f *fake) { c.Limits.ReadTimeout, f.every = 40*time.Millisecond, 30*time.Millisecond })
	for _, stream := range []bool{false, true} {
		_, body := r.post(chatPath, hi("stream", stream))
		require.Contains(t, body, `"stop"`)
	}
}

func TestErrorsOfTheEngine(t *testing.T) {
	tests := map[string]struct {
		err    error
		status int
		typ    string
		code   string
	}{
		"queue":   {engine.ErrQueueFull, 429, "rate_limit_error", "queue_full"},
		"closed":  {engine.ErrClosed, 503, "server_error", "shutting_down"},
		"context": {&engine.ContextError{Prompt: 5000, Context: 2048}, 400, "invalid_request_error", "context_length_exceeded"},
		"broken":  {errors.New("a pass failed"), 500, "server_error", "internal_error"},
	}
	check := func(t *testing.T, name string, res *http.Response) {
		c := tests[name]
		e := at(t, parse(t, readAll(t, res)), "error").(object)
		require.Equal(t, []any{c.status, c.typ, c.code}, []any{res.StatusCode, e["type"], e["code"]})
		require.Equal(t, map[bool]string{true: "1", false: ""}[c.status == 429], res.Header.Get("Retry-After"))
	}
	for name, c := range tests {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprint(name, stream), func(t *testing.T) {
				r := start(t, func(_ *Config, f *fake) { f.reject = c.err })
				check(t, name, r.send("POST", chatPath, hi("stream", stream)))
				r = start(t, func(_ *Config, f *fake) {
					f.say = func(engine.Request) []engine.Event { return []engine.Event{{Err: c.err}} }
				})
				check(t, name, r.send("POST", chatPath, hi("stream", stream))) // as its first event, still with a status of its own
			})
		}
		t.Run(name+" in the stream", func(t *testing.T) {
			r := start(t, func(_ *Config, f *fake) {
				f.say = func(engine.Request) []engine.Event {
					return append(saying(f.tok, "Hello", "length")[:1], engine.Event{Err: c.err})
				}
			})
			status, body := r.post(chatPath, hi("stream", true))
			require.Equal(t, 200, status)
			got := events(t, body)
			require.NotContains(t, body, "[DONE]")
			e := at(t, parse(t, got[len(got)-1]), "error").(object)
			require.Len(t, e, 4)
			require.Equal(t, []any{c.typ, c.code}, []any{e["type"], e["code"]})
		})
	}
}

// One prompt of several that fails ends the request, and frees the others' slots.
func TestOneOfSeveralFails(t *testing.T) {
	r := start(t, nil)
	slow := saying(r.fake.tok, strings.Repeat(" word", 3000), "length")
	r.fake.every = time.Millisecond
	r.fake.say = func(q engine.Request) []engine.Event {
		if prompt, _ := r.fake.tok.Decode(q.Tokens); prompt == "bad" {
			return []engine.Event{{Err: errors.New("boom")}}
		}
		return slow
	}
	status, body := r.post(textPath, text("prompt", []any{"good", "bad", "fine"}))
	require.Equal(t, 500, status)
	require.Contains(t, body, "boom")
	r.idle()
}

// A prompt that the engine does not take drops those that it took.
func TestOneOfSeveralIsRefused(t *testing.T) {
	r := start(t, endless(time.Millisecond))
	r.server.c.Engine = &refusing{fake: r.fake, after: 3}
	began := time.Now()
	status, _ := r.post(textPath, text("prompt", []any{"a", "b", "c", "d", "e"}))
	require.Equal(t, 429, status)
	r.idle()
	require.Less(t, time.Since(began), 5*time.Second)
}

type refusing struct {
	*fake
	after int
}

func (f *refusing) Submit(ctx context.Context, r engine.Request, _ Answer) (Answer, error) {
	if f.after--; f.after < 0 {
		return nil, engine.ErrQueueFull
	}
	return f.fake.Submit(ctx, r, nil)
}

// Shutdown waits neither for a body that does not come nor for a client that does not read.
func TestShutdownDoesNotWaitForSlowClients(t *testing.T) {
	r := start(t, nil)
	big := strings.Repeat("x", 1<<20)
	r.fake.say = func(engine.Request) []engine.Event {
		var evs []engine.Event
		for range 200 {
			evs = append(evs, engine.Event{Text: big, Tokens: []engine.TokenLogprob{{ID: 28}}})
		}
		return evs
	}
	dial := func(head string) {
		conn, err := net.Dial("tcp", r.http.Listener.Addr().String())
		require.NoError(t, err)
		t.Cleanup(func() { conn.Close() })
		fmt.Fprint(conn, head)
	}
	b, err := compact(hi("stream", true))
	require.NoError(t, err)
	dial(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{", chatPath))
	dial(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", chatPath, len(b), b))
	require.Eventually(t, func() bool { r.fake.mu.Lock(); defer r.fake.mu.Unlock(); return len(r.fake.asked) == 1 }, 5*time.Second, time.Millisecond)
	time.Sleep(50 * time.Millisecond) // the socket's buffers fill up
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	require.NoError(t, r.server.Shutdown(ctx))
}

func TestShutdown(t *testing.T) {
	r := start(t, endless(2*time.Millisecond))
	stream := r.send("POST", chatPath, hi("stream", true))
	b := bufio.NewReader(stream.Body)
	readLine(t, b)
	whole := make(chan *http.Response, 1)
	go func() {
		req, _ := http.NewRequest("POST", r.http.URL+chatPath, strings.NewReader(`{"messages":[{"role":"user","content":"Hi"}]}`))
		res, _ := http.DefaultClient.Do(req)
		whole <- res
	}()
	require.Eventually(t, func() bool { return r.fake.running.Load() == 2 }, 5*time.Second, time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	require.NoError(t, r.server.Shutdown(ctx))
	require.EqualValues(t, 0, r.fake.running.Load(), "when Shutdown returns, the engine has let go of all requests")
	rest, err := io.ReadAll(b)
	require.NoError(t, err, "the stream ends in good order")
	require.NotContains(t, string(rest), "[DONE]")
	lines := strings.Split(strings.TrimSpace(string(rest)), "\n\n")
	e := at(t, parse(t, strings.TrimPrefix(lines[len(lines)-1], "data: ")), "error").(object)
	require.Equal(t, "shutting_down", e["code"])
	res := <-whole
	require.NotNil(t, res)
	defer res.Body.Close()
	require.Equal(t, 503, res.StatusCode)
	require.Contains(t, readAll(t, res), "shutting_down")
	status, body := r.post(chatPath, hi())
	require.Equal(t, 503, status, body)
}

// Shutdown does not wait longer than it may.
func TestShutdownGivesUp(t *testing.T) {
	r := start(t, nil)
	r.fake.say = func(engine.Request) []engine.Event {
		time.Sleep(300 * time.Millisecond)
		return []engine.Event{{Finish: "stop"}}
	}
	done := make(chan int, 1)
	go func() {
		status, _ := r.post(chatPath, hi())
		done <- status
	}()
	require.Eventually(t, func() bool { return r.fake.running.Load() == 1 }, 5*time.Second, time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, r.server.Shutdown(ctx), context.DeadlineExceeded)
	require.Equal(t, 503, <-done)
}

func TestAPIKey(t *testing.T) {
	r := start(t, func(c *Config, _ *fake) { c.APIKey = "secret" })
	for _, header := range [][]string{nil, {"Authorization", "Bearer wrong"}, {"Authorization", "secret"}, {"Authorization", "Bearer "}, {"Authorization", "Basic secret"}} {
		for _, path := range []string{chatPath, textPath, "/tokenize"} {
			res := r.send("POST", path, hi(), header...)
			e := at(t, parse(t, readAll(t, res)), "error").(object)
			require.Equal(t, []any{401, "invalid_api_key"}, []any{res.StatusCode, e["code"]})
			require.NotContains(t, e["message"], "secret")
		}
	}
	for _, header := range []string{"Bearer secret", "bearer secret"} {
		status, _ := r.post(chatPath, hi(), "Authorization", header)
		require.Equal(t, 200, status, header)
	}
	for _, path := range []string{"/health", "/metrics", "/version"} {
		require.Equal(t, 200, r.send("GET", path, nil).StatusCode, "probes need no key")
	}
}

func TestBodyLimit(t *testing.T) {
	r := start(t, func(c *Config, _ *fake) { c.Limits.Body = 1000 })
	long := hi("user", strings.Repeat("x", 3000))
	res := r.send("POST", chatPath, long)
	require.Equal(t, 413, res.StatusCode)
	e := at(t, parse(t, readAll(t, res)), "error").(object)
	require.Len(t, e, 4)
	require.Equal(t, "body_too_large", e["code"])
	require.Contains(t, e["message"], "1000 bytes")
	res = r.send("POST", chatPath, long, "Expect", "100-continue")
	require.Equal(t, 413, res.StatusCode)
	exact := hi("user", "")
	b, err := compact(exact)
	require.NoError(t, err)
	exact["user"] = strings.Repeat("x", 1000-len(b))
	status, _ := r.post(chatPath, exact)
	require.Equal(t, 200, status, "a body of exactly the limit is read")
}

// A body that breaks off, or never comes, ends the request.
func TestBodyThatStops(t *testing.T) {
	r := start(t, func(c *Config, _ *fake) { c.Limits.ReadTimeout = 50 * time.Millisecond })
	conn, err := net.Dial("tcp", r.http.Listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{", chatPath)
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(5*time.Second)))
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, 408, res.StatusCode)
	require.Contains(t, readAll(t, res), "stopped after 1 bytes")

	half, err := net.Dial("tcp", r.http.Listener.Addr().String())
	require.NoError(t, err)
	defer half.Close()
	fmt.Fprintf(half, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{", chatPath)
	require.NoError(t, half.(*net.TCPConn).CloseWrite())
	res, err = http.ReadResponse(bufio.NewReader(half), nil)
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, 400, res.StatusCode)
	require.Contains(t, readAll(t, res), "broke off after 1 bytes")
}

func TestCORS(t *testing.T) {
	r := start(t, func(c *Config, _ *fake) { c.Origins = []string{"https://a.example"} })
	res := r.send("OPTIONS", chatPath, nil, "Origin", "https://a.example", "Access-Control-Request-Headers", "authorization")
	require.Equal(t, 204, res.StatusCode)
	require.Equal(t, "authorization", res.Header.Get("Access-Control-Allow-Headers"))
	res = r.send("POST", chatPath, hi(), "Origin", "https://a.example")
	require.Equal(t, "https://a.example", res.Header.Get("Access-Control-Allow-Origin"))
	res = r.send("POST", chatPath, hi(), "Origin", "https://b.example")
	require.Empty(t, res.Header.Get("Access-Control-Allow-Origin"), "nobody else was opted in")
	require.Equal(t, 403, res.StatusCode)
	require.Equal(t, 403, r.send("OPTIONS", chatPath, nil, "Origin", "https://b.example").StatusCode)
}

// A panic in a handler is a 500 for its client alone, and its recording ends.
func TestPanic(t *testing.T) {
	tr := &tracer{}
	r := start(t, func(c *Config, f *fake) {
		c.Tracer = tr
		f.say = nil
		c.Engine = panicking{f}
	})
	status, body := r.post(chatPath, hi(), "X-Glassbox-Trace", "1")
	require.Equal(t, 500, status)
	require.Contains(t, body, "internal_error")
	require.Equal(t, "error", tr.only(t).Facts().Finish)
	require.Equal(t, 200, r.send("GET", "/health", nil).StatusCode)
}

type panicking struct{ *fake }

func (panicking) Submit(context.Context, engine.Request, Answer) (Answer, error) { panic("boom") }
