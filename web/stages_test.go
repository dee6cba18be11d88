package web

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/static"
	"glassbox/steps"
)

// The page names every feature and engine, and leads to every pair that both have steps for.
func TestEveryStagePage(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Static = static.Files })
	a := r.get("/stages")
	require.Equal(t, http.StatusOK, a.StatusCode)
	for _, e := range steps.StageEngines() {
		require.Contains(t, a.body, "<b>"+e[1]+"</b>")
	}
	for _, s := range steps.Stages(nil) {
		for _, f := range s.Features {
			require.Contains(t, a.body, `id="`+s.ID+"-"+f.ID+`"`)
		}
		pair := "/stages/" + s.ID + "/glassbox/vllm"
		require.Contains(t, a.body, `href="`+pair+`"`)
		b := r.get(pair)
		require.Equal(t, http.StatusOK, b.StatusCode)
		require.Contains(t, b.body, `class="pair"`)
	}
	require.Equal(t, http.StatusNotFound, r.get("/stages/compute/vllm/nothing").StatusCode)
}
