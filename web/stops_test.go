package web

import (
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/trace"
)

// fakeStops is a request that stands still; it notes what it is told.
type fakeStops struct {
	told []string
	err  error
}

func (f *fakeStops) State() (Stop, bool) {
	at := StopPlace{"attn_mix", 17, 7}
	return Stop{ID: "s1", Request: "cmpl-1", Trace: "t1", Paused: true, At: &at, Waiting: 2, LeftMs: 90_000, Out: []StopPart{{"out0", "mix", []int{576}, []string{"width"}}}}, true
}
func (f *fakeStops) Limit() time.Duration { return 2 * time.Minute }
func (f *fakeStops) Values(id, part string) (*StopValues, error) {
	f.told = append(f.told, "values "+id+" "+part)
	return &StopValues{StopPart: StopPart{ID: part, Name: "mix", Shape: []int{3}}, Stats: StopStats{Min: -1, NotFinite: 2}, Values: []float32{0.1, float32(math.NaN()), float32(math.Inf(1))}}, f.err
}
func (f *fakeStops) Edit(id string, c StopChange) (trace.Edit, error) {
	f.told = append(f.told, "edit "+id+" "+c.Part)
	return trace.Edit{Op: trace.OpMix, Layer: 17, Token: 7, Part: "mix", Index: c.Index, How: "zero", Old: []float32{0.5}, New: []float32{0}}, f.err
}
func (f *fakeStops) Resume(id, how string) error {
	f.told = append(f.told, "resume "+id+" "+how)
	return f.err
}
func (f *fakeStops) Hold(id string) error {
	f.told = append(f.told, "hold "+id)
	return f.err
}

func stopRig(t *testing.T) (*rig, *fakeStops) {
	f := &fakeStops{}
	return newRig(t, func(c *Config) { c.Stops = f }), f
}

// send does a request with a body.
func (r *rig) send(path, body string, headers ...string) (status int, text string) {
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.srv.URL+path, strings.NewReader(body))
	require.NoError(r.t, err)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
		if name == "Host" {
			req.Host = value
		}
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(r.t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(r.t, err)
	return res.StatusCode, string(raw)
}

func TestStopsAreTold(t *testing.T) {
	r, f := stopRig(t)
	got := r.get("/api/stops")
	require.Equal(t, http.StatusOK, got.StatusCode)
	require.JSONEq(t, `{"limit_ms":120000,"stops":[{"id":"s1","request":"cmpl-1","trace":"t1","paused":true,"waiting":2,"at":{"op":"attn_mix","layer":17,"token":7},
		"pass":0,"since_ms":0,"left_ms":90000,"edits":0,"out":[{"id":"out0","name":"mix","shape":[576],"axes":["width"]}]}]}`, got.body)
	require.Equal(t, "no-store", got.Header.Get("Cache-Control"))
	require.Contains(t, r.get("/api/stops/s1/values").body, `"values":[0.1,"NaN","+Inf"]`)
	status, body := r.send("/api/stops/s1/edit", `{"part":"out0","index":3,"zero":true}`)
	require.Equal(t, http.StatusOK, status)
	require.JSONEq(t, `{"op":"attn_mix","layer":17,"token":7,"part":"mix","index":3,"count":1,"how":"zero","old":[0.5],"new":[0]}`, body)
	for _, c := range []string{`{"to":"op"}`, ``} {
		status, _ = r.send("/api/stops/s1/resume", c)
		require.Equal(t, http.StatusNoContent, status)
	}
	status, _ = r.send("/api/stops/s1/hold", "")
	require.Equal(t, http.StatusNoContent, status)
	require.Equal(t, []string{"values s1 out0", "edit s1 out0", "resume s1 op", "resume s1 continue", "hold s1"}, f.told)
}

func TestStopsAreTouchedFromHereOnly(t *testing.T) {
	r, f := stopRig(t)
	for _, path := range []string{"edit", "resume", "hold"} {
		for _, header := range []string{"Origin: https://elsewhere.example", "Origin: null", "Sec-Fetch-Site: cross-site", "Host: elsewhere.example"} {
			status, body := r.send("/api/stops/s1/"+path, `{"part":"out0","zero":true}`, header)
			require.Equal(t, http.StatusForbidden, status, "%s %s", path, header)
			require.Contains(t, body, `"error"`)
		}
		req := httptest.NewRequest(http.MethodPost, "http://10.0.0.1/api/stops/s1/"+path, strings.NewReader("{}"))
		req.RemoteAddr = "10.0.0.2:5000"
		w := httptest.NewRecorder()
		r.site.ServeHTTP(w, req)
		require.Equal(t, http.StatusForbidden, w.Code, "another machine")
		require.Contains(t, w.Body.String(), `"code":"not_local"`)
		require.Equal(t, http.StatusNotFound, r.get("/api/stops/s1/"+path).StatusCode, "a link cannot")
	}
	require.Empty(t, f.told)
	status, _ := r.send("/api/stops/s1/hold", "", "Origin: "+r.srv.URL, "Sec-Fetch-Site: same-origin")
	require.Equal(t, http.StatusNoContent, status, "our own page may")
}

func TestWhatCannotBeDoneWithAStop(t *testing.T) {
	r, f := stopRig(t)
	for body, want := range map[string]string{`{"valeus":[1]}`: `unknown field \"valeus\"`, `[1]`: "wanted", `{"index":"x"}`: "index: wanted int, found string", `{} {}`: "more than one", `{`: "unexpected EOF"} {
		status, text := r.send("/api/stops/s1/edit", body)
		require.Equal(t, http.StatusBadRequest, status, body)
		require.Contains(t, text, want)
	}
	require.Empty(t, f.told)
	for err, want := range map[error]int{ErrNoStop: 404, ErrNotPaused: 409, &StopError{"index: wanted 0 to 3, found 4"}: 400, io.ErrClosedPipe: 500} {
		f.err = err
		for _, path := range []string{"edit", "resume", "hold"} {
			status, text := r.send("/api/stops/s1/"+path, "")
			require.Equal(t, want, status)
			require.Equal(t, want < 500, strings.Contains(text, err.Error()), text)
		}
		require.Equal(t, want, r.get("/api/stops/s1/values?part=out0").StatusCode)
	}
	none := newRig(t, nil)
	require.JSONEq(t, `{"stops":[],"limit_ms":0}`, none.get("/api/stops").body)
	require.Equal(t, http.StatusNotFound, none.get("/api/stops/s1/values").StatusCode)
	status, _ := none.send("/api/stops/s1/hold", "")
	require.Equal(t, http.StatusNotFound, status)
}
