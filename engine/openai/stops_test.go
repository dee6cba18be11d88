package openai

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/engine/stops"
	"glassbox/trace/file"
)

// stopHere asks for a stop at a place.
func stopHere(place object, more ...any) object {
	return text(append([]any{"prompt", "Hello there", "max_tokens", 5, "temperature", 0, "ignore_eos", true, "glassbox", object{"stop": []any{place}}}, more...)...)
}

func (r *realRig) paused(t *testing.T) stops.State {
	t.Helper()
	var st stops.State
	require.Eventually(t, func() bool { st, _ = r.engine.Stops().State(); return st.Paused }, 10*time.Second, time.Millisecond)
	return st
}

func TestARequestStandsStillAndItsRecordingSaysSo(t *testing.T) {
	store, err := file.NewStore(file.StoreOptions{})
	require.NoError(t, err)
	t.Cleanup(store.Close)
	r := realServer(t, func(c *Config) { c.Tracer, c.Limits.Ping = store, 20*time.Millisecond })
	_, plain := r.post(textPath, text("prompt", "Hello there", "max_tokens", 5, "temperature", 0, "ignore_eos", true))
	res := r.send("POST", textPath, stopHere(object{"op": "attn_mix", "layer": 1, "token": 7}, "stream", true), "X-Glassbox-Trace", "1")
	id := res.Header.Get("X-Glassbox-Trace-Id")
	require.NotEmpty(t, id, "it is there while the request stands still")
	st := r.paused(t)
	require.Equal(t, id, st.Trace)
	health := readAll(t, r.send("GET", "/health", nil))
	require.Contains(t, health, `"status":"ok","paused":"the engine stands still at attn_mix, layer 1, token 7 of request cmpl-`)
	require.Contains(t, readAll(t, r.send("GET", "/metrics", nil)), "glassbox_paused 1")
	other := make(chan string)
	go func() {
		other <- readAll(t, r.send("POST", textPath, text("prompt", "Hello there", "max_tokens", 5, "temperature", 0, "ignore_eos", true, "stream", true)))
	}()
	lines := bufio.NewReader(res.Body)
	for {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		if strings.HasPrefix(line, ": the engine stands still at attn_mix, layer 1, token 7") {
			break
		}
	}
	status, busy := r.post(textPath, stopHere(object{"op": "embed"}))
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, busy, `"code":"stop_busy"`)
	require.Contains(t, busy, "paused at attn_mix, layer 1, token 7")
	time.Sleep(50 * time.Millisecond) // for the other's comment
	ctx, stop := (&generation{j: &job{c: &call{s: r.server}}}).drain()
	defer stop()
	until, _ := ctx.Deadline()
	require.Greater(t, time.Until(until), stops.DefaultLimit, "whoever leaves meanwhile is let go of when the stop is over")
	require.NoError(t, r.engine.Stops().Resume(st.ID, "continue"))
	require.Contains(t, readAll(t, res), "[DONE]")
	waited := <-other
	require.Contains(t, waited, ": the engine stands still", "who waits is told why")
	rec, err := store.Wait(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, at(t, parse(t, plain), "choices", 0, "text"), rec.Request.Text)
	require.Len(t, rec.Request.Stops, 1)
	require.Equal(t, []any{"attn_mix", 1, 7, "continue"}, []any{rec.Request.Stops[0].Op, rec.Request.Stops[0].Layer, rec.Request.Stops[0].Token, rec.Request.Stops[0].Ended})
	require.Equal(t, []string{"attn_mix, layer 1, token 7"}, rec.Request.Params["stops"])
	require.GreaterOrEqual(t, rec.Numbers.PausedNs, rec.Request.Stops[0].DurNs)
	for _, p := range rec.Passes {
		require.LessOrEqual(t, p.CaptureNs+p.PausedNs, p.DurNs)
		require.Less(t, p.CaptureNs, rec.Request.Stops[0].DurNs, "looking is told apart from standing still")
	}
	for _, s := range rec.Spans {
		require.True(t, s.Op == "" || s.DurNs < rec.Request.Stops[0].DurNs, "no op's time holds the stop: %s", s.ID)
	}
	require.Equal(t, `{"status":"ok"}`, readAll(t, r.send("GET", "/health", nil)))
}

func TestStopsAreForThisMachine(t *testing.T) {
	r := realServer(t, nil)
	for _, headers := range [][]string{{"Origin", "https://elsewhere.example"}, {"Sec-Fetch-Site", "cross-site"}, {"Origin", "null"}} {
		status, body := r.post(textPath, stopHere(object{"op": "embed"}), headers...)
		require.Equal(t, http.StatusForbidden, status, headers)
		require.Contains(t, body, `"code":"foreign_origin"`)
	}
	for remote, local := range map[string]bool{"127.0.0.1:5": true, "192.168.1.9:80": false, "[::1]:90": true, "127.0.0.9:1": true, "@": false, "[fe80::1]:5": false} {
		for host, ours := range map[string]bool{"localhost:8080": true, "[::1]:8080": true, "10.0.0.1": true, "x.localhost": true, "elsewhere.example": false, "localhost.example:1": false} {
			req := httptest.NewRequest(http.MethodPost, textPath, nil)
			req.RemoteAddr, req.Host = remote, host
			require.Equal(t, local && ours, distant(req) == "", "%s to %s", remote, host)
		}
	}
}

func TestWrongStopsAreRefusedWithTheRightNames(t *testing.T) {
	r := realServer(t, nil)
	for want, place := range map[string]any{
		"glassbox.stop[0].op: wanted one of embed, attn_norm, attn_q, ":    object{"op": "attention"},
		"stop[0].layer: wanted 0 to 1 for attn_mix, found 2":               object{"op": "attn_mix", "layer": 2},
		"attn_mix runs for positions 0 to 14 of this request (a prompt of": object{"op": "attn_mix", "layer": 1, "token": 15},
		"wanted 0 to 1 for attn_mix, found 2147483647":                     object{"op": "attn_mix", "layer": 5e15},
	} {
		status, body := r.post(textPath, stopHere(place.(object)))
		require.Equal(t, 400, status, body)
		require.Contains(t, body, want)
		require.Contains(t, body, `"param":"glassbox.stop"`)
	}
	status, body := r.post(textPath, text("prompt", []any{"a", "b"}, "glassbox", object{"stop": []any{object{"op": "embed"}}}))
	require.Equal(t, 400, status)
	require.Contains(t, body, "wanted one answer, found 2")
	status, body = r.post(textPath, text("prompt", "a", "glassbox", object{"stop": []any{object{"op": 7}}}))
	require.Equal(t, 400, status, body)
	status, body = start(t, nil).post(chatPath, hi("glassbox", object{"stop": []any{object{"op": "embed"}}}))
	require.Equal(t, 400, status)
	require.Contains(t, body, "cannot stand still")
}

func TestAClientThatLeavesAndAServerThatStopsEndTheStop(t *testing.T) {
	r := realServer(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.http.URL+textPath, strings.NewReader(`{"prompt": "Hello", "glassbox": {"stop": [{"op": "ffn_up", "layer": 1}]}}`))
		if err == nil {
			_, err = http.DefaultClient.Do(req)
		}
		gone <- err
	}()
	r.paused(t)
	cancel()
	require.ErrorIs(t, <-gone, context.Canceled)
	require.Eventually(t, func() bool { _, any := r.engine.Stops().State(); return !any }, 5*time.Second, time.Millisecond)

	res := r.send("POST", textPath, stopHere(object{"op": "ffn_up", "layer": 1}, "stream", true))
	r.paused(t)
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
	defer stop()
	require.NoError(t, r.server.Shutdown(ctx))
	require.Contains(t, readAll(t, res), "shutting down")
}
