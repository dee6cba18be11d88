package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/cmd/internal/bench"
	"glassbox/cmd/internal/bench/client"
	"glassbox/cmd/internal/bench/mock"
	"glassbox/cmd/internal/bench/report"
	"glassbox/web"
)

var listening = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 18080}

// ended waits until no run runs.
func ended(t *testing.T, b *benches) web.BenchState {
	require.Eventually(t, func() bool { return !b.State().Running }, 60*time.Second, 5*time.Millisecond)
	return b.State()
}

func short(url string) web.BenchAsk {
	return web.BenchAsk{URL: url, Concurrency: []int{1, 2}, PromptTokens: 40, OutputTokens: 4, Seconds: 3, NoPrefill: true}
}

func TestBenchPageRunIsKeptWithoutItsKey(t *testing.T) {
	var wrongKeys atomic.Int32
	m := mock.New(mock.Behaviour{Base: time.Millisecond, PerToken: time.Millisecond, Template: 7, Running: true})
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer sk-very-secret" {
			wrongKeys.Add(1)
		}
		m.ServeHTTP(w, r)
	}))
	defer h.Close()
	dir := filepath.Join(t.TempDir(), "not there yet")
	b := newBenches(dir, false, listening, "own-key")
	ask := short(strings.TrimPrefix(h.URL, "http://") + "/v1?debug=1")
	ask.Key = "sk-very-secret"
	require.NoError(t, b.Start(ask))
	require.ErrorIs(t, b.Start(ask), web.ErrBenchRunning)
	st := ended(t, b)
	require.Empty(t, st.Failed)
	require.Zero(t, wrongKeys.Load(), "each request has the key")
	require.Equal(t, []string{"warm-up", "concurrency 1", "concurrency 2"}, []string{st.Done[0].Name, st.Done[1].Name, st.Done[2].Name})
	require.Equal(t, st.Done[1].Done+st.Done[2].Done, st.Requests)
	require.Positive(t, st.Done[2].TTFT)
	require.Len(t, st.Newest, st.Requests)
	require.Equal(t, "mock", st.Model)

	r, err := report.Read(filepath.Join(dir, st.Kept+".json"))
	require.NoError(t, err)
	require.Len(t, r.Rows, st.Requests)
	for _, ext := range []string{".json", ".html", ".csv", ".md"} {
		data, err := os.ReadFile(filepath.Join(dir, st.Kept+ext))
		require.NoError(t, err)
		require.NotContains(t, string(data), "sk-very", ext)
	}
	state, err := json.Marshal(b.State())
	require.NoError(t, err)
	require.NotContains(t, string(state), "sk-very")
	require.NotContains(t, string(state), "debug=1")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "other.json"), []byte(`{"a":1}`), 0o600))
	runs, bad := b.Runs()
	require.Len(t, runs, 1)
	require.Len(t, bad, 1)
	require.Contains(t, bad[0], "other.json")
	require.Equal(t, st.Kept, runs[0].Name)
	require.Equal(t, r.Summary.Headline.TTFT, runs[0].TTFT)
	require.Equal(t, "1, 2", runs[0].Loads)
	w := httptest.NewRecorder()
	b.Gallery().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/run/"+st.Kept, nil))
	require.Equal(t, http.StatusOK, w.Code)
	require.Contains(t, w.Body.String(), `href="../"`, "the gallery can be mounted anywhere")
	require.Contains(t, w.Header().Get("Content-Security-Policy"), "sandbox allow-scripts")
}

// The address is looked at when it is typed, and again, after names are resolved, whenever a connection is made.
func TestBenchPageMeasuresThisMachineOnly(t *testing.T) {
	b := newBenches(t.TempDir(), false, listening, "")
	for _, a := range []string{"http://10.1.2.3:8000", "http://0.0.0.0:8000", "http://[::]:80", "http://169.254.169.254/latest", "http://[::ffff:10.0.0.1]:80", "https://8.8.8.8",
		"http://me:pw@127.0.0.1:8000", "http://127.0.0.1@10.1.2.3", "ftp://127.0.0.1", "http://", "file:///etc/passwd"} {
		var wrong *web.BenchError
		require.ErrorAs(t, b.Start(short(a)), &wrong, a)
		require.NotContains(t, wrong.Text, "pw")
	}
	for a, ok := range map[string]bool{"127.0.0.1:1": true, "127.8.8.8:80": true, "[::1]:80": true, "10.0.0.1:80": false, "0.0.0.0:80": false, "169.254.169.254:80": false, "192.168.7.7:18080": false} {
		require.Equal(t, ok, b.allow(netip.MustParseAddrPort(a)) == nil, a)
	}
	lan := newBenches(t.TempDir(), false, &net.TCPAddr{IP: net.IPv4(192, 168, 7, 7), Port: 18080}, "")
	require.Equal(t, "http://192.168.7.7:18080", lan.About().Own)
	require.NoError(t, lan.allow(netip.MustParseAddrPort("192.168.7.7:18080")), "this server itself")
	require.Error(t, lan.allow(netip.MustParseAddrPort("192.168.7.7:22")))
	require.Equal(t, "http://127.0.0.1:9", newBenches("", false, &net.TCPAddr{IP: net.IPv6zero, Port: 9}, "").About().Own)

	for anywhere, want := range map[bool]bool{false: true, true: false} {
		open := newBenches(t.TempDir(), anywhere, listening, "")
		var got bench.Config
		open.measure = func(_ context.Context, c bench.Config, _ func(bench.Progress)) (*bench.Result, error) {
			got = c
			return nil, context.Canceled
		}
		require.NoError(t, open.Start(short("http://some.example:8000")))
		ended(t, open)
		require.Equal(t, want, got.Allow != nil)
		require.LessOrEqual(t, got.Silence, 60.0)
	}
}

func TestBenchPageGivesTheServersKeyToTheServerOnly(t *testing.T) {
	for address, want := range map[string]string{"http://127.0.0.1:18080": "own-key", "127.0.0.1:18080/v1": "own-key", "http://127.0.0.1:18081": "", "http://localhost:18080": "", "https://127.0.0.1:18080": ""} {
		b := newBenches(t.TempDir(), false, listening, "own-key")
		var got string
		b.measure = func(_ context.Context, c bench.Config, _ func(bench.Progress)) (*bench.Result, error) {
			got = c.Key
			return nil, context.Canceled
		}
		require.NoError(t, b.Start(short(address)))
		ended(t, b)
		require.Equal(t, want, got, address)
	}
}

func TestBenchPageSaysWhatFailedInItsOwnWords(t *testing.T) {
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }))
	defer locked.Close()
	empty := httptest.NewServer(http.NotFoundHandler())
	gone := empty.URL
	empty.Close()
	for address, says := range map[string]string{locked.URL: "put its key into the form", gone: "nothing listens there"} {
		b := newBenches(t.TempDir(), false, listening, "")
		require.NoError(t, b.Start(short(address)))
		st := ended(t, b)
		require.Contains(t, st.Failed, says)
		require.NotContains(t, st.Failed, "--key-env")
		require.NotContains(t, st.Failed, "bench:")
		require.Empty(t, st.Kept)
	}
	elsewhere := newBenches(t.TempDir(), false, listening, "")
	elsewhere.measure = func(ctx context.Context, c bench.Config, tell func(bench.Progress)) (*bench.Result, error) {
		ask := c.Allow
		c.Allow = func(a netip.AddrPort) error { // as if the name led to another machine
			return ask(netip.AddrPortFrom(netip.MustParseAddr("10.1.2.3"), a.Port()))
		}
		return bench.Run(ctx, c, tell)
	}
	require.NoError(t, elsewhere.Start(short(strings.Replace(locked.URL, "127.0.0.1", "localhost", 1))))
	require.Contains(t, ended(t, elsewhere).Failed, "10.1.2.3 is not on this machine; start the server with --allow-bench")
	b := newBenches(filepath.Join(os.Args[0], "under a file"), false, listening, "")
	require.ErrorContains(t, b.Start(short(gone)), "--bench-dir")
	require.False(t, b.State().Running)
}

// A run that is stopped, by its button or with the server, keeps what it measured.
func TestBenchPageStopKeepsWhatWasMeasured(t *testing.T) {
	h := httptest.NewServer(mock.New(mock.Behaviour{Base: 5 * time.Millisecond, PerToken: time.Millisecond, Template: 7, Running: true}))
	defer h.Close()
	for name, stop := range map[string]func(*benches){"stop": func(b *benches) { require.True(t, b.Stop()) }, "close": (*benches).Close} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			b := newBenches(dir, false, listening, "")
			ask := short(h.URL)
			ask.Seconds = 500
			require.NoError(t, b.Start(ask))
			require.Eventually(t, func() bool { return b.State().Requests > 3 }, 20*time.Second, time.Millisecond)
			stop(b)
			st := ended(t, b)
			require.Equal(t, bench.Interrupted, st.Stopped)
			require.Empty(t, st.Failed)
			r, err := report.Read(filepath.Join(dir, st.Kept+".json"))
			require.NoError(t, err)
			require.GreaterOrEqual(t, len(r.Rows), 4)
			require.False(t, b.Stop())
			again := b.Start(ask)
			if name == "close" {
				require.ErrorContains(t, again, "stopping")
				return
			}
			require.NoError(t, again)
			b.Close()
		})
	}
}

// What a state holds does not grow with the run.
func TestBenchPageStateIsBounded(t *testing.T) {
	b := newBenches(t.TempDir(), false, listening, "")
	b.measure = func(_ context.Context, _ bench.Config, tell func(bench.Progress)) (*bench.Result, error) {
		for i := range 3 * benchDots {
			tell(bench.Progress{Message: "again"})
			tell(bench.Progress{Phase: "step"})
			tell(bench.Progress{Phase: "step", Done: i, Row: row(float64(i))})
		}
		return nil, context.Canceled
	}
	require.NoError(t, b.Start(short("127.0.0.1:1")))
	st := ended(t, b)
	require.Equal(t, []int{benchDots, benchSteps, benchMessages, 3 * benchDots}, []int{len(st.Newest), len(st.Done), len(st.Messages), st.Requests})
	require.Equal(t, float64(3*benchDots-1), st.Newest[benchDots-1].TTFT, "the newest stay")
	require.Contains(t, st.Failed, "nothing to keep")
}

// The whole program: a run against the server itself, started over the page, and Ctrl-C in the middle of it.
func TestCtrlCKeepsARunOfTheBenchPage(t *testing.T) {
	dir := t.TempDir()
	cmd, base, stderr := serving(t, "serve", "--addr", "127.0.0.1:0", "--bench-dir", dir)
	form := url.Values{"url": {base}, "concurrency": {"2"}, "prompt": {"40"}, "output": {"64"}, "seconds": {"300"}}
	resp, err := http.PostForm(base+"/bench", form)
	require.NoError(t, err)
	page, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode, string(page))
	require.Contains(t, string(page), "Stop and keep")
	require.Eventually(t, func() bool {
		resp, err := http.Get(base + "/api/bench")
		require.NoError(t, err)
		defer resp.Body.Close()
		var st web.BenchState
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&st))
		require.Empty(t, st.Failed)
		return st.Requests >= 3
	}, 60*time.Second, 20*time.Millisecond)
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	err = cmd.Wait()
	require.NoError(t, err, stderr.String())
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1, stderr.String())
	r, err := report.Read(files[0])
	require.NoError(t, err)
	require.Equal(t, bench.Interrupted, r.Stopped)
	require.GreaterOrEqual(t, r.Summary.Levels[0].OK, 3)
	require.Zero(t, r.Summary.Levels[0].Errors, "what was cut off by Ctrl-C is no fault of the server")
	require.Contains(t, stderr.String(), strings.TrimSuffix(files[0], ".json")+".html")
	require.False(t, bytes.Contains(stderr.Bytes(), []byte("goroutine")))
}

func row(ttft float64) *client.Row { return &client.Row{TTFT: &ttft, Outcome: client.OK} }
