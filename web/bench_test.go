package web

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// benchDesk keeps what the pages asked for, and shows the state it is given.
type benchDesk struct {
	about   BenchAbout
	st      BenchState
	asked   []BenchAsk
	stopped int
	refuse  error
	runs    []BenchRun
	bad     []string
}

func (d *benchDesk) About() BenchAbout { return d.about }

func (d *benchDesk) Start(a BenchAsk) error {
	if d.refuse == nil {
		d.asked = append(d.asked, a)
	}
	return d.refuse
}

func (d *benchDesk) Stop() bool {
	d.stopped++
	return true
}

func (d *benchDesk) Delete(name string) error {
	for i, r := range d.runs {
		if r.Name == name {
			d.runs = append(d.runs[:i:i], d.runs[i+1:]...)
			return d.refuse
		}
	}
	return fs.ErrNotExist
}

func (d *benchDesk) State() BenchState            { return d.st }
func (d *benchDesk) Runs() ([]BenchRun, []string) { return d.runs, d.bad }
func (d *benchDesk) Gallery() http.Handler        { return http.HandlerFunc(echo) }
func echo(w http.ResponseWriter, r *http.Request) {
	_, _ = w.Write([]byte("gallery " + r.URL.String()))
}
func withDesk(d *benchDesk) func(*Config) { return func(c *Config) { c.Benches = d } }
func newDesk() *benchDesk {
	return &benchDesk{about: BenchAbout{Own: "http://127.0.0.1:8080", Dir: "~/kept", Presets: []BenchPreset{{"small", "TTFT 500 ms"}, {"large", "TTFT 900 ms"}}}}
}
func form(change func(url.Values)) string {
	v := url.Values{"url": {"http://127.0.0.1:8000"}, "concurrency": {"1, 2,4"}, "prompt": {"128"}, "output": {"64"}, "seconds": {"60"}, "prefill": {"1"}}
	if change != nil {
		change(v)
	}
	return v.Encode()
}

// post sends the form as a browser on addr would.
func (r *rig) post(path, body, addr string, headers ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	req.Host, req.RemoteAddr = "127.0.0.1:8080", addr
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	r.site.ServeHTTP(w, req)
	return w
}

const (
	near = "127.0.0.1:5000"
	far  = "192.168.1.7:5000"
)

func TestBenchFormStartsARun(t *testing.T) {
	d := newDesk()
	r := newRig(t, withDesk(d))
	first := r.get("/bench")
	require.Equal(t, http.StatusOK, first.StatusCode)
	require.Contains(t, first.body, `name="url" value="http://127.0.0.1:8080"`)
	require.Contains(t, first.body, "~/kept")
	require.Contains(t, first.body, "No run since this server started")

	w := r.post("/bench", form(func(v url.Values) { v.Set("key", "sk-secret"); v.Set("model", " m "); v.Del("prefill") }), near, "Origin: http://127.0.0.1:8080")
	require.Equal(t, http.StatusSeeOther, w.Code)
	require.Equal(t, "/bench", w.Header().Get("Location"))
	require.Equal(t, []BenchAsk{{URL: "http://127.0.0.1:8000", Model: "m", Concurrency: []int{1, 2, 4}, PromptTokens: 128, OutputTokens: 64, Seconds: 60, NoPrefill: true, Key: "sk-secret"}}, d.asked)
	require.Equal(t, http.StatusSeeOther, r.post("/bench/stop", "", near).Code)
	require.Equal(t, 1, d.stopped)
}

// Each load and kind of limit reaches the desk as it was chosen, and stands in the form again after the run.
func TestBenchFormHasEveryLoadAndLimit(t *testing.T) {
	for name, c := range map[string]struct {
		change func(url.Values)
		want   func(*BenchAsk)
		again  []string
	}{
		"open": {func(v url.Values) { v.Set("load", "open"); v.Set("rates", "0.5; 2") },
			func(a *BenchAsk) { a.Rates = []float64{0.5, 2} }, []string{`value="open" checked`, `name="rates" value="0.5,2"`}},
		"sweep": {func(v url.Values) { v.Set("load", "sweep"); v.Set("sweep", "32"); v.Set("slo", "large") },
			func(a *BenchAsk) { a.Sweep, a.SLO = 32, []string{"large"} }, []string{`value="sweep" checked`, `name="sweep" value="32"`, `<option value="large" selected>large: TTFT 900 ms`}},
		"own beside all": {func(v url.Values) { v.Set("ttft", "500"); v.Set("tpot", " 30.5") },
			func(a *BenchAsk) {
				a.Concurrency, a.SLO = []int{1, 2, 4}, []string{"small", "large", "ttft=500,tpot=30.5"}
			}, []string{`name="ttft" value="500"`, `name="tpot" value="30.5"`, `<option value="" selected>`}},
		"own alone": {func(v url.Values) { v.Set("slo", "own"); v.Set("e2e", "4000") },
			func(a *BenchAsk) { a.Concurrency, a.SLO = []int{1, 2, 4}, []string{"e2e=4000"} }, []string{`name="e2e" value="4000"`, `<option value="own" selected>`}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk()
			r := newRig(t, withDesk(d))
			require.Equal(t, http.StatusSeeOther, r.post("/bench", form(c.change), near).Code)
			want := BenchAsk{URL: "http://127.0.0.1:8000", PromptTokens: 128, OutputTokens: 64, Seconds: 60}
			c.want(&want)
			require.Equal(t, []BenchAsk{want}, d.asked)
			d.st = BenchState{Number: 1, Ask: want, Knee: "Knee: 4 at a time.", Goodput: []BenchGood{{Limits: "large", Rate: new(float64), With: "2 at a time"}, {Limits: "small"}}}
			body := r.get("/bench").body
			for _, s := range append(c.again, "Knee: 4 at a time.", `<th scope="row">large</th>`, "2 at a time", "0 %", "not measured") {
				require.Contains(t, body, s)
			}
		})
	}
}

func TestBenchDeletesARunWhenItIsMeant(t *testing.T) {
	d := newDesk()
	d.runs = []BenchRun{{Name: "bench-b", Model: "<i>m", Started: "2026-11-30T10:00:00Z"}, {Name: "bench-a", Model: "m"}}
	r := newRig(t, withDesk(d))
	list := r.get("/bench").body
	require.Contains(t, list, `href="/bench?delete=bench-b"`)
	require.NotContains(t, list, `action="/bench/delete"`, "nothing is deleted without being asked about")
	require.NotContains(t, r.get("/bench?delete=other").body, `action="/bench/delete"`)
	sure := r.get("/bench?delete=bench-b").body
	require.Contains(t, sure, `name="name" value="bench-b"`)
	require.Contains(t, sure, "Delete the run of &lt;i&gt;m, ")
	require.Contains(t, sure, "autofocus", "the way back has the focus")
	require.Len(t, d.runs, 2)

	require.Equal(t, http.StatusForbidden, r.post("/bench/delete", "name=bench-b", near, "Origin: http://evil.example").Code)
	require.Equal(t, http.StatusForbidden, r.post("/bench/delete", "name=bench-b", near, "Sec-Fetch-Site: cross-site").Code)
	require.Equal(t, http.StatusForbidden, r.post("/bench/delete", "name=bench-b", far).Code)
	require.Equal(t, http.StatusNotFound, r.get("/bench/delete?name=bench-b").StatusCode, "a link deletes nothing")
	require.Len(t, d.runs, 2)
	w := r.post("/bench/delete", "name=bench-b", near, "Origin: http://127.0.0.1:8080")
	require.Equal(t, http.StatusSeeOther, w.Code)
	require.Equal(t, "/bench#b-kept", w.Header().Get("Location"))
	require.Len(t, d.runs, 1)
	gone := r.post("/bench/delete", "name=%3Cb%3Egone", near)
	require.Equal(t, http.StatusNotFound, gone.Code)
	require.Contains(t, gone.Body.String(), "There is no run called &lt;b&gt;gone.")
	d.refuse = errors.New("read-only")
	require.Equal(t, http.StatusInternalServerError, r.post("/bench/delete", "name=bench-a", near).Code)
}

func TestBenchRefusesWhatMayNotBe(t *testing.T) {
	for name, c := range map[string]struct {
		addr, header string
		body         string
		refuse       error
		status       int
		says         string
	}{
		"another site's page":             {addr: near, header: "Origin: http://evil.example", status: 403, says: "another site"},
		"another site, by fetch metadata": {addr: near, header: "Sec-Fetch-Site: cross-site", status: 403, says: "another site"},
		"another machine":                 {addr: far, status: 403, says: "from the machine that the server runs on"},
		"a second run":                    {addr: near, refuse: ErrBenchRunning, status: 409, says: "One run at a time: the one against http://127.0.0.1:9 is under way"},
		"an address":                      {addr: near, refuse: &BenchError{"Address: not here."}, status: 400, says: "Address: not here."},
		"no address":                      {addr: near, body: form(func(v url.Values) { v.Set("url", " ") }), status: 400, says: "Address"},
		"no concurrency":                  {addr: near, body: form(func(v url.Values) { v.Set("concurrency", ",") }), status: 400, says: "at least one number"},
		"too many at a time":              {addr: near, body: form(func(v url.Values) { v.Set("concurrency", "1,65") }), status: 400, says: "1 to 64"},
		"too many levels":                 {addr: near, body: form(func(v url.Values) { v.Set("concurrency", "1,1,1,1,1,1,1,1,1") }), status: 400, says: "up to 8"},
		"no rate":                         {addr: near, body: form(func(v url.Values) { v.Set("load", "open"); v.Set("rates", "1,0") }), status: 400, says: "Requests a second: wanted up to 8 numbers above 0"},
		"not a rate":                      {addr: near, body: form(func(v url.Values) { v.Set("load", "open"); v.Set("rates", "NaN") }), status: 400, says: "found &#34;NaN&#34;"},
		"a flood":                         {addr: near, body: form(func(v url.Values) { v.Set("load", "open"); v.Set("rates", "101") }), status: 400, says: "up to 100"},
		"no rates":                        {addr: near, body: form(func(v url.Values) { v.Set("load", "open") }), status: 400, says: "at least one number, such as 0.5"},
		"a wide sweep":                    {addr: near, body: form(func(v url.Values) { v.Set("load", "sweep"); v.Set("sweep", "128") }), status: 400, says: "Sweep: wanted a whole number from 2 to 64"},
		"another load":                    {addr: near, body: form(func(v url.Values) { v.Set("load", "burst") }), status: 400, says: "Load: wanted closed, open or sweep"},
		"another preset":                  {addr: near, body: form(func(v url.Values) { v.Set("slo", "huge") }), status: 400, says: "no preset called"},
		"no limit":                        {addr: near, body: form(func(v url.Values) { v.Set("slo", "own") }), status: 400, says: "at least one of the three fields"},
		"a limit of nothing":              {addr: near, body: form(func(v url.Values) { v.Set("ttft", "0") }), status: 400, says: "Goodput, TTFT: wanted a limit in ms above 0"},
		"too long":                        {addr: near, body: form(func(v url.Values) { v.Set("seconds", "601") }), status: 400, says: "Time limit: wanted a whole number from 5 to 600, found &#34;601&#34;"},
		"too much to read":                {addr: near, body: form(func(v url.Values) { v.Set("prompt", "1000000") }), status: 400, says: "Prompt tokens"},
		"too much to write":               {addr: near, body: form(func(v url.Values) { v.Set("output", "1e9") }), status: 400, says: "Output tokens"},
		"a huge form":                     {addr: near, body: "url=" + strings.Repeat("x", benchBody), status: 400, says: "longer than 16 kB"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk()
			d.refuse, d.st.Ask.URL = c.refuse, "http://127.0.0.1:9"
			r := newRig(t, withDesk(d))
			body := c.body
			if body == "" {
				body = form(func(v url.Values) { v.Set("key", "sk-secret"); v.Set("model", "<b>mine") })
			}
			header := c.header
			if header == "" {
				header = "Origin: http://127.0.0.1:8080"
			}
			w := r.post("/bench", body, c.addr, header)
			require.Equal(t, c.status, w.Code)
			require.Contains(t, w.Body.String(), c.says)
			require.Empty(t, d.asked)
			require.NotContains(t, w.Body.String(), "sk-secret", "a key is never put back")
			require.NotContains(t, w.Body.String(), "<b>mine")
			if c.refuse != nil {
				require.Contains(t, w.Body.String(), "&lt;b&gt;mine", "what was typed stays")
			}
		})
	}
	d := newDesk()
	r := newRig(t, withDesk(d))
	require.Equal(t, http.StatusForbidden, r.post("/bench/stop", "", far).Code)
	require.Equal(t, http.StatusForbidden, r.post("/bench/stop", "", near, "Origin: null").Code)
	require.Zero(t, d.stopped)
	d.about.Anywhere = true
	require.Equal(t, http.StatusSeeOther, r.post("/bench", form(nil), far).Code, "--allow-bench lets other machines start runs")
	require.Equal(t, http.StatusSeeOther, r.post("/bench/stop", "", far).Code)
}

func TestBenchShowsARunWhileItRuns(t *testing.T) {
	d := newDesk()
	d.st = BenchState{Number: 1, Running: true, Ask: BenchAsk{URL: "http://127.0.0.1:8000", Concurrency: []int{1, 2}, Seconds: 90, Key: "sk-secret"}, Started: time.Unix(0, 0), Elapsed: 75.9, Left: 12,
		Server: "vllm 1", Model: "<i>m", Models: []string{"m", "n"}, Steps: 4, Flying: 2, Requests: 3, Messages: []string{"a <note>"},
		Done:   []BenchStep{{Name: "warm-up"}, {Name: "concurrency 2", Done: 3, Total: 10, Errors: 1, TTFT: 41.27, TPOT: 3.5}},
		Newest: []BenchDot{{At: 1, TTFT: 40, Step: 0}, {At: 2, Step: 1}, {At: 3, TTFT: 41.25, Step: 1}}}
	r := newRig(t, withDesk(d))
	for _, path := range []string{"/bench", "/bench/live"} {
		a := r.get(path)
		require.Equal(t, http.StatusOK, a.StatusCode)
		for _, says := range []string{"1 min 15 s of at most 1 min 30 s, about 12 s left", "3 requests done<", "Step 2 of 4: concurrency 2.", "3 of 10", `title="41.27 ms">41.3 ms`, "not measured", `value="32"`, "a &lt;note&gt;", "stroke from below: failed"} {
			require.Contains(t, a.body, says, path)
		}
		require.NotRegexp(t, inline, a.body, path)
		require.NotContains(t, a.body, "sk-secret")
		require.NotContains(t, a.body, "<i>")
	}
	page := r.get("/bench").body
	require.Contains(t, page, "data-bench-live")
	require.Contains(t, page, `action="/bench/stop"`)
	require.Contains(t, page, `<a href="/bench">Look again</a>`, "without scripts")
	require.Contains(t, page, `<option value="n">`)
	require.Contains(t, page, "disabled>Start")
	var over map[string]any
	require.NoError(t, json.Unmarshal([]byte(r.get("/api/bench").body), &over))
	require.Equal(t, "vllm 1", over["server"])
	require.NotContains(t, r.get("/api/bench").body, "sk-secret")

	d.st.Running, d.st.Kept, d.st.Stopped = false, "bench-1", "interrupted"
	page = r.get("/bench").body
	require.NotContains(t, page, "data-bench-live")
	require.Contains(t, page, `href="/bench/runs/run/bench-1"`)
	require.Contains(t, page, "It ended early: interrupted. What was measured until then is kept.")
}

func TestBenchListsAndComparesRuns(t *testing.T) {
	d := newDesk()
	ttft := 12.345678
	d.runs = []BenchRun{{Name: "b 2", Model: "<u>m", URL: "http://127.0.0.1:8000", Started: "2026-11-29T20:00:00Z", TTFT: &ttft, Warnings: 2, Stopped: "the time limit of 60 s"}, {Name: "b1", Model: "m"}}
	d.bad = []string{"x.json: wanted a result"}
	r := newRig(t, withDesk(d))
	a := r.get("/bench").body
	for _, says := range []string{`href="/bench/runs/run/b%202"`, "&lt;u&gt;m", `title="12.34568 ms">12.3 ms`, "2 warnings; ended early: the time limit of 60 s", "29 Nov 2026, 20:00 UTC",
		"Left out: x.json", `name="a" value="b1" required checked`, `name="b" value="b 2" required checked`, `action="/bench/runs/compare"`} {
		require.Contains(t, a, says)
	}
	g := r.get("/bench/runs/compare?a=b1&b=b2")
	require.Equal(t, "gallery /compare?a=b1&b=b2", g.body)
	require.Empty(t, g.Header.Get("Cross-Origin-Opener-Policy"), "it does not go with a sandbox")
	require.Equal(t, "/bench", r.get("/bench/runs/").Header.Get("Location"))
}

func TestServerWithoutBenchesSaysSo(t *testing.T) {
	r := newRig(t, nil)
	require.Contains(t, r.get("/bench").body, "This server does not measure")
	for _, path := range []string{"/api/bench", "/bench/live", "/bench/runs/run/x"} {
		require.Equal(t, http.StatusNotFound, r.get(path).StatusCode, path)
	}
	require.Equal(t, http.StatusNotFound, r.post("/bench", form(nil), near).Code)
	require.Equal(t, http.StatusNotFound, r.post("/bench/stop", "", near).Code)
}

func FuzzBenchForm(f *testing.F) {
	f.Add(form(nil))
	f.Add("url=x&concurrency=1,,2;3&prompt=-1")
	f.Add(form(func(v url.Values) { v.Set("load", "open"); v.Set("rates", "1e-9,Inf") }))
	f.Add(form(func(v url.Values) {
		v.Set("load", "sweep")
		v.Set("sweep", "9")
		v.Set("slo", "small")
		v.Set("ttft", "1e400")
	}))
	f.Fuzz(func(t *testing.T, body string) {
		v, err := url.ParseQuery(body)
		if err != nil {
			return
		}
		_, ask, err := readBenchForm(v, []BenchPreset{{"small", ""}})
		if err != nil {
			require.IsType(t, &BenchError{}, err)
			return
		}
		require.Equal(t, 1, min(1, len(ask.Concurrency))+min(1, len(ask.Rates))+min(1, ask.Sweep), "one load")
		require.LessOrEqual(t, len(ask.Concurrency)+len(ask.Rates), benchMostLevels)
		require.True(t, ask.Sweep >= 0 && ask.Sweep <= benchMostParallel)
		for _, x := range ask.Rates {
			require.True(t, x > 0 && x <= benchMostRate)
		}
		for _, n := range ask.Concurrency {
			require.True(t, n >= 1 && n <= benchMostParallel)
		}
		require.True(t, ask.Seconds >= 5 && ask.Seconds <= 600 && ask.OutputTokens <= 2048 && ask.PromptTokens <= 16384)
	})
}

func TestBenchPlotStaysInItsFrame(t *testing.T) {
	for _, dots := range [][]BenchDot{nil, {{At: 5, TTFT: 3}}, {{At: 0}, {At: 0}}, {{At: 1, TTFT: 1e-9}, {At: 2, TTFT: 1e9, Step: 1}}} {
		p := benchPlot(&BenchState{Newest: dots, Requests: 99})
		require.Equal(t, len(dots), p.Dots)
		require.NotContains(t, p.Good+p.Bad+p.Edges, "NaN")
		require.NotContains(t, p.Good+p.Bad+p.Edges, "Inf")
		require.NotRegexp(t, `M-|M\d{5}`, p.Good+p.Bad+p.Edges)
	}
	for x, want := range map[float64]float64{0: 1, 1: 1, 1.2: 1.5, 4: 5, 76: 100, 1001: 1500} {
		require.InDelta(t, want, niceAbove(x), want*1e-9)
	}
}
