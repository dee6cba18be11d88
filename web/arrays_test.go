package web

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/trace"
	"glassbox/web/testrec"
)

// recordWith keeps a finished recording with captured arrays and returns its id.
func (r *rig) recordWith(arrays ...trace.Array) string {
	rec, err := r.store.Start(trace.Now(), trace.CaptureSpec{})
	require.NoError(r.t, err)
	testrec.Whole(rec, "Why is the sky blue?")
	rec.Attach(arrays...)
	rec.End()
	_, err = r.store.Wait(r.t.Context(), rec.ID)
	require.NoError(r.t, err)
	return rec.ID
}

func TestArraysAreServedAsInTheGBX(t *testing.T) {
	r := newRig(t, nil)
	id := r.recordWith(
		trace.Array{Name: "attention", Shape: []int{1, 1, 2, 2}, Axes: []string{"layer", "head", "query", "key"}, Data: []float32{1, 0, 0.25, 0.75}},
		trace.Array{Name: "tape_in/0/attn_q", Shape: []int{3}, Axes: []string{"width"}, Data: []float32{1, 2, 3}})

	packed := r.do("GET", "/api/traces/"+id+".gbx").body
	z, err := zip.NewReader(bytes.NewReader([]byte(packed)), int64(len(packed)))
	require.NoError(t, err)
	for _, name := range []string{"attention", "tape_in/0/attn_q"} {
		f, err := z.Open(name + ".npy")
		require.NoError(t, err)
		want, err := io.ReadAll(f)
		require.NoError(t, err)
		got := r.do("GET", "/api/traces/"+id+"/arrays/"+name)
		require.Equal(t, http.StatusOK, got.StatusCode)
		require.Equal(t, string(want), got.body, name)
		require.Equal(t, "application/octet-stream", got.Header.Get("Content-Type"))
		require.Equal(t, strconv.Itoa(len(want)), got.Header.Get("Content-Length"))

		again := r.do("GET", "/api/traces/"+id+"/arrays/"+name, "If-None-Match: "+got.Header.Get("ETag"))
		require.Equal(t, http.StatusNotModified, again.StatusCode)
		require.Empty(t, again.body)
		head := r.do("HEAD", "/api/traces/"+id+"/arrays/"+name)
		require.Equal(t, got.Header.Get("Content-Length"), head.Header.Get("Content-Length"))
	}
	one, two := r.do("HEAD", "/api/traces/"+id+"/arrays/attention"), r.do("HEAD", "/api/traces/"+id+"/arrays/tape_in/0/attn_q")
	require.NotEqual(t, one.Header.Get("ETag"), two.Header.Get("ETag"))
}

func TestArrayThatIsNotThereIsExplained(t *testing.T) {
	r := newRig(t, nil)
	id := r.recordWith(trace.Array{Name: "logits", Shape: []int{1}, Axes: []string{"vocab"}, Data: []float32{1}})
	for path, want := range map[string]string{
		"/api/traces/" + id + "/arrays/attention":           `has no array \"attention\"; it has logits`,
		"/api/traces/" + r.record("none") + "/arrays/lens":  "has no arrays; ask for them with the request: glassbox trace --capture attention,lens,values",
		"/api/traces/nothing/arrays/attention":              `there is no recording \"nothing\"`,
		"/api/traces/" + firstShipped + "/arrays/attention": "has no arrays",
	} {
		got := r.do("GET", path)
		require.Equal(t, http.StatusNotFound, got.StatusCode, path)
		require.Contains(t, got.body, want)
		require.Contains(t, got.body, `"code":"not_found"`)
	}
	rec, err := r.store.Start(trace.Now(), trace.CaptureSpec{})
	require.NoError(t, err)
	running := r.do("GET", "/api/traces/"+rec.ID+"/arrays/attention")
	require.Equal(t, http.StatusConflict, running.StatusCode)
	require.Equal(t, "1", running.Header.Get("Retry-After"))
	rec.End()
}
