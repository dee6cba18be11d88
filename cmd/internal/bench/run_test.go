package bench_test

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/cmd/internal/bench"
	"glassbox/cmd/internal/bench/client"
	"glassbox/cmd/internal/bench/mock"
)

// fast answers at once, so that runs over it test counts and plans, never times.
var fast = mock.Behaviour{Base: 200 * time.Microsecond, PerToken: 100 * time.Microsecond, Template: 7, Running: true}

func serve(t *testing.T, b mock.Behaviour) (*mock.Server, string) {
	t.Helper()
	s := mock.New(b)
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return s, h.URL
}

func measure(t *testing.T, c bench.Config) *bench.Result {
	t.Helper()
	r, err := bench.Run(context.Background(), c, nil)
	require.NoError(t, err)
	return r
}

func TestRunMeasuresWhatWasAsked(t *testing.T) {
	for name, b := range map[string]mock.Behaviour{"counting by usage": fast,
		"counting by /tokenize": {Base: fast.Base, PerToken: fast.PerToken, Template: 7, Tokenize: true}} {
		t.Run(name, func(t *testing.T) {
			server, url := serve(t, b)
			var last bench.Progress
			r, err := bench.Run(context.Background(), bench.Config{URL: url, Concurrency: []int{1, 3}, PromptTokens: 200, OutputTokens: 12, Requests: 7, Prefill: []int{60, 130, 300}},
				func(p bench.Progress) { last = p })
			require.NoError(t, err)
			require.Equal(t, "mock", r.Server.Model)
			require.Len(t, r.Rows, 14)
			require.Len(t, r.Prefill, 12)
			ids := map[string]bool{}
			for _, row := range r.Rows {
				require.Nil(t, row.Error)
				require.Equal(t, 200, *row.PromptTokens, "exactly as long as asked")
				require.Equal(t, 12, *row.OutputTokens)
				require.NotNil(t, row.TTFT)
				require.Equal(t, row.Times.LastToken > row.Times.FirstToken, row.TPOT != nil, "chunks that all came at once have no pace")
				log, ok := server.Log(row.RequestID)
				require.True(t, ok)
				require.Regexp(t, "^00-"+row.TraceID+"-[0-9a-f]{16}-01$", log.Parent)
				require.Equal(t, true, log.Body["ignore_eos"])
				ids[row.TraceID] = true
			}
			require.Len(t, ids, 14, "each request has a trace id of its own")
			for _, row := range r.Prefill {
				require.Equal(t, row.AskedPrompt, *row.PromptTokens)
			}
			require.Equal(t, []int{1, 3}, []int{r.Summary.Levels[0].Concurrency, r.Summary.Levels[1].Concurrency})
			require.Equal(t, 3, r.Summary.Levels[1].MaxInFlight)
			require.Equal(t, 7, last.Done)
			require.Empty(t, r.Stopped)
		})
	}
}

// Two prompts never begin alike, so that no prefix cache can answer for the server.
func TestPromptsBeginDifferently(t *testing.T) {
	server, url := serve(t, fast)
	r := measure(t, bench.Config{URL: url, Concurrency: []int{4}, Requests: 40, NoPrefill: true, OutputTokens: 2})
	seen := map[string]bool{}
	for _, row := range r.Rows {
		log, _ := server.Log(row.RequestID)
		text := log.Body["messages"].([]any)[0].(map[string]any)["content"].(string)
		start := strings.Join(strings.Fields(text)[:6], " ")
		require.False(t, seen[start], start)
		seen[start] = true
	}
	require.Len(t, seen, 40)
}

func TestTokenIDsForCompletions(t *testing.T) {
	server, url := serve(t, mock.Behaviour{Base: fast.Base, PerToken: fast.PerToken, Tokenize: true})
	r := measure(t, bench.Config{URL: url, API: "completions", Concurrency: []int{1}, Requests: 2, NoPrefill: true, PromptTokens: 77})
	require.Equal(t, "ids", r.Server.Tokenize)
	log, _ := server.Log(r.Rows[0].RequestID)
	require.Len(t, log.Body["prompt"], 77)
	require.Equal(t, 77, *r.Rows[0].PromptTokens)
}

// The server's refusals take fields away until it accepts.
func TestNegotiation(t *testing.T) {
	b := fast
	inner := mock.New(b)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/completions") {
			var body map[string]any
			raw := new(strings.Builder)
			require.NoError(t, json.NewDecoder(teeReader(r, raw)).Decode(&body))
			for _, field := range []string{"temperature", "max_tokens"} {
				if _, ok := body[field]; ok {
					w.WriteHeader(http.StatusBadRequest)
					text := "Unrecognized request argument: " + field
					if field == "max_tokens" {
						text = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
					}
					_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": text}})
					return
				}
			}
			r.Body = reader(raw.String())
		}
		inner.ServeHTTP(w, r)
	}))
	defer h.Close()
	r := measure(t, bench.Config{URL: h.URL, Concurrency: []int{1}, Requests: 1, NoPrefill: true})
	require.Equal(t, []string{"temperature"}, r.Server.Dropped)
	require.Contains(t, r.Server.Options, "max_completion_tokens")
	require.Contains(t, r.Server.Options, "ignore_eos", "what was not refused stays")
}

func TestHealthFlags(t *testing.T) {
	cases := map[string]struct {
		b     mock.Behaviour
		c     bench.Config
		flags []string
	}{
		"early ends":       {mock.Behaviour{Early: 5}, bench.Config{OutputTokens: 9}, []string{"short"}},
		"truncated prompt": {mock.Behaviour{Context: 100}, bench.Config{PromptTokens: 400}, []string{"truncated"}},
		"several a chunk":  {mock.Behaviour{PerChunk: 3}, bench.Config{OutputTokens: 12}, []string{"chunks"}},
		"failures": {mock.Behaviour{Fail: func(n int64) (int, string) {
			if n > 12 && n%2 == 0 {
				return 500, "out of luck"
			}
			return 0, ""
		}}, bench.Config{Requests: 20}, []string{"errors"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.b.Base, c.b.PerToken = fast.Base, fast.PerToken
			_, url := serve(t, c.b)
			c.c.URL, c.c.NoPrefill, c.c.Concurrency = url, true, []int{2}
			if c.c.Requests == 0 {
				c.c.Requests = 6
			}
			r := measure(t, c.c)
			for _, id := range c.flags {
				require.True(t, flagged(r, id), "%s in %+v", id, r.Health)
			}
			require.True(t, flagged(r, "small"))
		})
	}
}

func flagged(r *bench.Result, id string) bool {
	for _, f := range r.Health {
		if f.ID == id && f.Grade != "ok" {
			return true
		}
	}
	return false
}

// A level ends when most of its requests fail; there are no retries.
func TestTooManyErrorsEndALevel(t *testing.T) {
	b := fast
	var after atomic.Int64
	b.Fail = func(n int64) (int, string) {
		if n > 12 {
			after.Add(1)
			return 500, "broken"
		}
		return 0, ""
	}
	_, url := serve(t, b)
	r, err := bench.Run(context.Background(), bench.Config{URL: url, Concurrency: []int{2}, Requests: 500, NoPrefill: true, MaxErrors: 6}, nil)
	require.NoError(t, err, "some requests had succeeded")
	require.Less(t, len(r.Rows), 40)
	require.Contains(t, r.Summary.Levels[0].Stopped, "failed")
	require.EqualValues(t, r.Summary.Levels[0].Errors, after.Load(), "each failure was one request")
}

// Ctrl-C keeps what was measured; requests in flight are neither successes nor errors.
func TestInterruptKeepsWhatWasMeasured(t *testing.T) {
	_, url := serve(t, mock.Behaviour{Base: time.Millisecond, PerToken: 2 * time.Millisecond, Running: true})
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	r, err := bench.Run(ctx, bench.Config{URL: url, Concurrency: []int{2}, Requests: 100000, OutputTokens: 8, NoPrefill: true}, func(p bench.Progress) {
		if p.Row != nil {
			if n++; n == 5 {
				cancel()
			}
		}
	})
	require.NoError(t, err)
	require.Equal(t, "interrupted", r.Stopped)
	v := r.Summary.Levels[0]
	require.GreaterOrEqual(t, v.OK, 4)
	require.Zero(t, v.Errors)
	require.Equal(t, len(r.Rows), v.OK+v.Cancelled)
	require.True(t, flagged(r, "stopped"))
	require.NotNil(t, v.TTFT.P50)
}

// An open loop sends at the times drawn beforehand, however slow the server is.
func TestOpenLoop(t *testing.T) {
	b := fast
	b.Slots, b.Base = 1, 5*time.Millisecond
	_, url := serve(t, b)
	r := measure(t, bench.Config{URL: url, Rates: []float64{400}, Requests: 40, OutputTokens: 4, NoPrefill: true, Seed: 5})
	require.Len(t, r.Rows, 40)
	v := r.Summary.Levels[0]
	require.Equal(t, "open", v.Loop)
	require.Greater(t, v.MaxInFlight, 2, "the server does one at a time, the arrivals do not wait")
	for _, row := range r.Rows {
		require.Positive(t, row.Times.Scheduled)
		require.GreaterOrEqual(t, *row.Wait, 0.0)
		require.InDelta(t, float64(row.Times.FirstToken-row.Times.Scheduled)/1e6, *row.TTFT, 1e-9)
	}
	again := measure(t, bench.Config{URL: url, Rates: []float64{400}, Requests: 40, OutputTokens: 4, NoPrefill: true, Seed: 5})
	gap := func(r *bench.Result) (d []int64) {
		slices.SortFunc(r.Rows, func(a, b *client.Row) int { return int(a.Times.Scheduled - b.Times.Scheduled) })
		for i := 1; i < len(r.Rows); i++ {
			d = append(d, (r.Rows[i].Times.Scheduled-r.Rows[0].Times.Scheduled)/1000)
		}
		return d
	}
	require.InDeltaSlice(t, gap(r), gap(again), 2, "the same seed gives the same schedule")
}

func TestSweepStopsWhenThroughputStands(t *testing.T) {
	b := mock.Behaviour{Base: time.Millisecond, PerToken: 300 * time.Microsecond, Slots: 1, Running: true}
	_, url := serve(t, b)
	r := measure(t, bench.Config{URL: url, Sweep: 64, Requests: 12, OutputTokens: 8, NoPrefill: true})
	require.Less(t, len(r.Summary.Levels), 6, "one slot: no concurrency helps for long")
}

func TestErrorsAreExplained(t *testing.T) {
	html := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html>hello</html>"))
	}))
	defer html.Close()
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":{"message":"bad key ` + strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") + `"}}`))
	}))
	defer locked.Close()
	_, models := serve(t, fast)
	for name, c := range map[string]struct {
		c    bench.Config
		want string
	}{
		"nothing listens": {bench.Config{URL: "http://127.0.0.1:1"}, "nothing listens there"},
		"not OpenAI":      {bench.Config{URL: html.URL}, "is this an OpenAI-compatible endpoint?"},
		"no such model":   {bench.Config{URL: models, Model: "other"}, "the server has mock"},
		"key":             {bench.Config{URL: locked.URL, Key: "s3cret"}, "--key-env"},
		"address":         {bench.Config{URL: "ftp://x"}, "wanted an address"},
		"concurrency":     {bench.Config{URL: models, Concurrency: []int{0}}, "wanted 1 to 10000"},
		"rate":            {bench.Config{URL: models, Rates: []float64{math.NaN()}}, "wanted more than 0"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := bench.Run(context.Background(), c.c, nil)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "s3cret")
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

// A key reaches the server and nothing else.
func TestKeysStayOut(t *testing.T) {
	b := fast
	inner := mock.New(b)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "Bearer s3cret-key", r.Header.Get("Authorization"))
		if strings.HasSuffix(r.URL.Path, "/completions") && inner.Requests() > 10 {
			http.Error(w, `{"error":{"message":"invalid key s3cret-key"}}`, http.StatusForbidden)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	defer h.Close()
	r, _ := bench.Run(context.Background(), bench.Config{URL: h.URL, Key: "s3cret-key", Note: "with s3cret-key", Concurrency: []int{1}, Requests: 9, NoPrefill: true}, nil)
	require.NotNil(t, r)
	data, err := json.Marshal(r)
	require.NoError(t, err)
	require.NotContains(t, string(data), "s3cret")
	require.Contains(t, string(data), "invalid key [key]")
}

func TestSLO(t *testing.T) {
	s, err := bench.ParseSLO("ttft=500, tpot=30")
	require.NoError(t, err)
	require.Equal(t, bench.SLO{Name: "ttft=500, tpot=30", TTFT: 500, TPOT: 30}, s)
	p, err := bench.ParseSLO("llama3.1-8b-interactive")
	require.NoError(t, err)
	require.Equal(t, 500.0, p.TTFT)
	for _, bad := range []string{"", "fast", "ttft", "ttft=x", "tpot=-1", "speed=3"} {
		_, err := bench.ParseSLO(bad)
		require.Error(t, err, bad)
	}
	f := func(x float64) *float64 { return &x }
	one := 1
	require.True(t, s.Meets(&client.Row{Outcome: client.OK, TTFT: f(500), TPOT: f(30)}))
	require.False(t, s.Meets(&client.Row{Outcome: client.OK, TTFT: f(500.1), TPOT: f(30)}))
	require.False(t, s.Meets(&client.Row{Outcome: client.OK, TTFT: f(5)}), "a limited number that is missing is not met")
	require.True(t, s.Meets(&client.Row{Outcome: client.OK, TTFT: f(5), OutputTokens: &one}), "one token has no TPOT")
	require.False(t, s.Meets(&client.Row{Outcome: client.Failed, TTFT: f(5), TPOT: f(5)}))
}
