package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/cmd/internal/bench"
	"glassbox/cmd/internal/bench/client"
	"glassbox/cmd/internal/bench/stats"
)

// made is a run with n requests at each of two levels; tpot scales the times.
func made(n int, tpot float64, seed uint64) *bench.Result {
	r := rand.New(rand.NewPCG(seed, 1))
	f := func(x float64) *float64 { return &x }
	whole := func(n int) *int { return &n }
	res := &bench.Result{Schema: bench.Schema{Name: bench.SchemaName, Version: bench.SchemaVersion}, ID: fmt.Sprintf("20260102-030405-%05d", seed),
		Started: "2026-01-02T03:04:05Z", Seconds: 60, Tool: bench.Tool{Name: "glassbox bench", Version: "0.1.0", Commit: "unknown", Go: "go1.26"},
		Formulas: bench.Formulas, Aliases: bench.Aliases, Rows: []*client.Row{}, Prefill: []*client.Row{}, Warmup: []*client.Row{}}
	res.Config = bench.Config{URL: "http://127.0.0.1:8000", PromptTokens: 128, OutputTokens: 64, SLO: bench.Presets}
	res.Server = client.Endpoint{URL: "http://127.0.0.1:8000", Kind: "vllm", KindBy: "/metrics", Version: "1.2", Model: "org/model-1b", API: "chat"}
	at := int64(1e9)
	for level, c := range []int{1, 4} {
		v := bench.Level{Index: level, Loop: "closed", Concurrency: c, Planned: n, OK: n, Wall: 10, MaxInFlight: c}
		var ttft, tp, e2e []float64
		for i := range n {
			a, b := 40+r.NormFloat64(), tpot*(5+0.1*r.NormFloat64())
			row := &client.Row{ID: fmt.Sprintf("l%d-%04d", level, i), Phase: "load", Level: level, Concurrency: c, Outcome: client.OK, TTFT: f(a), TPOT: f(b), E2E: f(a + 63*b),
				PromptTokens: whole(128), OutputTokens: whole(64), CachedTokens: whole(0), Chunks: 64, Finish: "length", Status: 200, TraceID: fmt.Sprintf("%032x", r.Uint64()),
				RequestID: fmt.Sprintf("%016x", r.Uint64()), CountSource: "usage"}
			row.Times = client.Times{Scheduled: at, Sent: at, FirstToken: at + int64(a*1e6), LastToken: at + int64((a+63*b)*1e6), End: at + int64((a+63*b)*1e6) + 1000}
			at += int64(a * 1e6)
			res.Rows = append(res.Rows, row)
			ttft, tp, e2e = append(ttft, a), append(tp, b), append(e2e, a+63*b)
		}
		v.TTFT, v.TPOT, v.E2E = stats.WithInterval(ttft), stats.WithInterval(tp), stats.WithInterval(e2e)
		v.OutputRate, v.RequestRate = f(float64(64*n)/10), f(float64(n)/10)
		v.Goodput = []bench.Goodput{{SLO: bench.Presets[0], Good: n, Share: f(1), Rate: f(float64(n) / 10)}}
		res.Summary.Levels = append(res.Summary.Levels, v)
	}
	res.Summary.Headline = bench.Headline{TTFT: res.Summary.Levels[0].TTFT.P50, TPOT: res.Summary.Levels[0].TPOT.P50, Peak: f(99.5), PeakAt: 4, Concurrency: 1}
	return res
}

func page0(t *testing.T, r *bench.Result) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, HTML(&b, r))
	return b.String()
}

func TestFourFilesThatBelongTogether(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "runs")
	r := made(12, 1, 1)
	paths, err := Write(dir, r)
	require.NoError(t, err)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 4, "nothing half-written stays")
	for i, ext := range []string{".json", ".csv", ".md", ".html"} {
		require.Equal(t, ext, filepath.Ext(paths[i]))
	}
	back, err := Read(paths[0])
	require.NoError(t, err)
	require.Equal(t, r, back, "the JSON has everything")
	var raw struct {
		Summary map[string]any
		Rows    []map[string]any
	}
	data, err := os.ReadFile(paths[0])
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &raw))
	for _, key := range []string{"ttft_ms", "tpot_ms", "e2e_ms", "prompt_tokens", "output_tokens", "concurrency", "error"} {
		require.Contains(t, raw.Rows[0], key)
	}
	text, err := os.ReadFile(paths[1])
	require.NoError(t, err)
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	require.NoError(t, err)
	require.Len(t, lines, 25)
	require.Equal(t, csvColumns, lines[0])
	md, err := os.ReadFile(paths[2])
	require.NoError(t, err)
	require.Contains(t, string(md), "| org/model-1b | vllm 1.2 |")
	require.Contains(t, string(md), "n<100", "a p99 of 12 has no digits")
}

func TestOtherFilesAreRefused(t *testing.T) {
	for text, want := range map[string]string{`{`: "wanted a result", `{}`: "schema", `{"schema":{"name":"glassbox-bench","version":"2.0"}}`: "newer version",
		`{"schema":{"name":"glassbox-bench","version":"1.9"},"rows":[null]}`: "row 0 is null", `[]`: "wanted a result"} {
		_, err := Parse("x.json", []byte(text))
		require.ErrorContains(t, err, want, text)
		require.NotContains(t, err.Error(), "\n")
	}
	_, err := Parse("x", []byte(`{"schema":{"name":"glassbox-bench","version":"1.9"},"later":1}`))
	require.NoError(t, err, "fields of later minor versions are passed over")
}

// Whatever a server or user writes, it never becomes markup, ends the script element, or starts a formula.
func TestTextStaysText(t *testing.T) {
	const evil = `</script><img src=x onerror=alert(1)><!--<script>"'&`
	r := made(5, 1, 1)
	r.Server.Model, r.Server.Version, r.Server.ModelFile, r.Server.KindBy = evil, evil, evil, evil
	r.Sample, r.Config.Note, r.Config.ServerFlags, r.Env.CPU = evil, evil, evil, evil
	r.Health = []bench.Flag{{ID: "x", Grade: "warn", Text: evil}}
	reason := evil
	r.Rows[0].Error, r.Rows[0].Outcome, r.Rows[0].Finish, r.Rows[1].Recording = &reason, client.Failed, evil, `x" onclick="alert(1)`
	r.Summary.Levels[0].Server = []bench.Beside{{Name: evil, Source: evil}}
	html := page0(t, r)
	require.False(t, strings.Contains(html, "<img"))
	require.False(t, strings.Contains(html, `onclick="`))
	require.Equal(t, 2, strings.Count(html, "</script>"), "the data's and the program's")
	require.Equal(t, 2, strings.Count(html, "<script"))
	back, err := Parse("page", rawOf(t, html))
	require.NoError(t, err)
	require.Equal(t, evil, back.Sample)
	var b bytes.Buffer
	require.NoError(t, Markdown(&b, r))
	require.NotContains(t, b.String(), "<img")
	r.Rows[0].Finish = "=1+1"
	b.Reset()
	require.NoError(t, CSV(&b, r))
	require.Contains(t, b.String(), "'=1+1")
	require.NotContains(t, Name(r), "/")
}

var rawJSON = regexp.MustCompile(`(?s)<script type="application/(json|gzip)" id="(?:raw|packed)">(.*?)</script>`)

// rawOf reads the data out of a page.
func rawOf(t *testing.T, html string) []byte {
	t.Helper()
	m := rawJSON.FindStringSubmatch(html)
	require.NotNil(t, m)
	if m[1] == "json" {
		return []byte(m[2])
	}
	z, err := base64.RawURLEncoding.DecodeString(m[2])
	require.NoError(t, err)
	g, err := gzip.NewReader(bytes.NewReader(z))
	require.NoError(t, err)
	data, err := io.ReadAll(g)
	require.NoError(t, err)
	return data
}

// The page is small, needs no network, and has the data inside, for a few requests and for very many.
func TestPagesAreSmallAndWhole(t *testing.T) {
	for _, n := range []int{0, 1, 20, 400, 4000} {
		html := page0(t, made(n, 1, 1))
		require.Less(t, len(html), MaxPage, "%d requests", 2*n)
		back, err := Parse("page", rawOf(t, html))
		require.NoError(t, err)
		if n <= 400 {
			require.Len(t, back.Rows, 2*n)
		} else {
			require.Greater(t, len(back.Rows), 200)
			require.True(t, strings.Contains(html, "This page holds every"))
		}
		require.True(t, strings.Contains(html, `content="default-src 'none';`), "nothing can be fetched")
		for _, m := range regexp.MustCompile(`(?:src|href|url\()\s*=?\s*["']?([^"'\s>)]+)`).FindAllStringSubmatch(rawJSON.ReplaceAllString(html, ""), -1) {
			require.NotRegexp(t, `^(https?:)?//`, m[1])
		}
		if n >= 20 {
			require.Equal(t, strings.Count(html, "<figcaption>"), strings.Count(html, "<summary>Table</summary>")+1, "each chart has its table; the scatter's is the table of requests")
		}
		require.NotRegexp(t, `NaN|[+-]Inf`, rawJSON.ReplaceAllString(html, ""), "the packed data may spell anything")
	}
}

func TestTokensAreTheSites(t *testing.T) {
	site, err := os.ReadFile("../../../../static/css/tokens.css")
	require.NoError(t, err)
	require.Equal(t, string(site), tokensCSS, "copy static/css/tokens.css here again")
}

func TestNumbers(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 0.00012: "1.2e-04", 0.5: "0.500", 1: "1.00", 9.999: "10.0", 12.34: "12.3", 99.96: "100", 123.4: "123", 999.6: "1\u202f000",
		1234: "1\u202f230", 1234567: "1\u202f230\u202f000", -45.67: "-45.7", -1234: "-1\u202f230"} {
		require.Equal(t, want, sig3(x), x)
	}
	require.Equal(t, "n/m", Num(nil))
}

func TestCompare(t *testing.T) {
	same := Compare(made(60, 1, 1), made(60, 1, 2))
	require.Equal(t, alike, same.Verdict)
	require.Len(t, same.Lines, 6)
	require.Empty(t, same.Warnings)

	slower := Compare(made(60, 1, 1), made(60, 1.1, 2))
	for _, d := range slower.Lines {
		want := bSlower
		if d.Metric == "ttft" {
			want = noDiff
		}
		require.Equal(t, want, d.Verdict, d.Metric)
		if d.Metric == "tpot" {
			require.InDelta(t, 10, d.Percent, 1)
		}
	}
	require.Contains(t, slower.Verdict, "slower in 4 of 6")
	require.Contains(t, Compare(made(60, 1.1, 1), made(60, 1, 2)).Verdict, "faster in 4")
	require.Contains(t, Compare(made(3, 1, 1), made(3, 2, 2)).Verdict, "too few")

	b := made(60, 1, 2)
	b.Server.Model, b.Config.PromptTokens = "other", 256
	require.Len(t, Compare(made(60, 1, 1), b).Warnings, 2)
	b.Summary.Levels = nil
	require.Contains(t, Compare(made(60, 1, 1), b).Verdict, "no load in common")
	var text bytes.Buffer
	require.NoError(t, same.Text(&text))
	require.Contains(t, text.String(), "no difference seen")
}

// One small p-value among several is not a finding: together they are adjusted.
func TestManyTestsAreAdjusted(t *testing.T) {
	lines := make([]Delta, 4)
	for i := range lines {
		lines[i] = Delta{NA: 20, NB: 20, Percent: 50, Shift: 1, Noise: 1}
	}
	decide(lines, []float64{0.012, 0.03, 0.03, 0.04})
	require.Equal(t, []string{bSlower, noDiff, noDiff, noDiff}, []string{lines[0].Verdict, lines[1].Verdict, lines[2].Verdict, lines[3].Verdict})
}

// A significant difference that is no larger than what one run drifts by itself is not named.
func TestDriftIsNoise(t *testing.T) {
	a, b := made(80, 1, 1), made(80, 1.02, 2)
	for i, row := range a.Rows { // the second half of each level of A is 5 % slower
		if i%80 >= 40 {
			x := *row.TPOT * 1.05
			row.TPOT = &x
		}
	}
	for _, d := range Compare(a, b).Lines {
		if d.Metric == "tpot" {
			require.Greater(t, d.Noise, 4.0)
			require.NotContains(t, []string{bSlower, bFaster}, d.Verdict)
		}
	}
}

// Runs of one thing, drawn again and again, hardly ever differ.
func TestFalseAlarmsAreRare(t *testing.T) {
	alarms := 0
	for seed := range uint64(40) {
		if Compare(made(20, 1, 2*seed), made(20, 1, 2*seed+1)).Verdict != alike {
			alarms++
		}
	}
	require.LessOrEqual(t, alarms, 6, "5 % of 40 are 2")
}

func TestGallery(t *testing.T) {
	dir := t.TempDir()
	a, b := made(20, 1, 1), made(20, 1.2, 2)
	for _, r := range []*bench.Result{a, b} {
		_, err := Write(dir, r)
		require.NoError(t, err)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "other.json"), []byte(`{"a":1}`), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(dir), "secret.json"), []byte(`{}`), 0o644))
	get := func(path string) (int, string) {
		w := httptest.NewRecorder()
		Gallery(dir).ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Code, w.Body.String()
	}
	code, text := get("/")
	require.Equal(t, 200, code)
	require.Contains(t, text, Name(a))
	require.Contains(t, text, "other.json: schema", "what is no run is named, not hidden")
	code, text = get("/run/" + Name(a))
	require.Equal(t, 200, code)
	require.Contains(t, text, "org/model-1b")
	code, text = get("/run/" + Name(b) + ".json")
	require.Equal(t, 200, code)
	require.True(t, json.Valid([]byte(text)))
	code, text = get("/compare?a=" + Name(a) + "&b=" + Name(b))
	require.Equal(t, 200, code)
	require.Contains(t, text, "slower in 4 of 6")
	for _, bad := range []string{"/run/none", "/run/..%2fsecret", "/run/%2e%2e%2fsecret.json", "/compare?a=x&b=y", "/compare?a=" + url.QueryEscape("../secret") + "&b=x", "/run/.hidden"} {
		code, _ := get(bad)
		require.Equal(t, 404, code, bad)
	}
	code, _ = get("/run/other")
	require.Equal(t, 422, code)
}

func TestHosted(t *testing.T) {
	r := made(120, 1, 1)
	r.Health = []bench.Flag{{ID: "e", Grade: "warn", Text: "POST http://10.0.0.1/v1 failed"}, {ID: "f", Grade: "ok", Text: "fine"}}
	for range 300 {
		r.Summary.Levels = append(r.Summary.Levels, r.Summary.Levels[1])
	}
	data, err := Hosted(r)
	require.NoError(t, err)
	require.LessOrEqual(t, len(data), MaxHosted)
	require.NotContains(t, string(data), "http")
	var h hosted
	require.NoError(t, json.Unmarshal(data, &h))
	require.Equal(t, "bench.report.v1", h.Schema)
	require.False(t, h.Categories[0].Undersampled)
	require.NotEmpty(t, h.Categories[0].Low)
	require.Len(t, h.Caveats, 1)
	small, err := Hosted(made(20, 1, 1))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(small, &h))
	require.True(t, h.Categories[0].Undersampled)
	require.NotContains(t, string(small), "low_1pct", "a p99 of 20 is left out")
}
