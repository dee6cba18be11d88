package web

import (
	"net/http"
	"net/http/httptest"
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

// Where code lies on this machine is told to readers on it, and to nobody else.
func TestSourcePlacesStayOnThisMachine(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.SourceRoots, c.Editor = map[string]string{"glassbox": `/srv/me/"code"`}, "vscode://file{path}:{line}"
	})
	require.Contains(t, r.get("/trace/"+firstShipped).body, `<meta name="glassbox-source" content="{&#34;editor&#34;:&#34;vscode://file{path}:{line}&#34;,&#34;roots&#34;:{&#34;glassbox&#34;:&#34;/srv/me/\&#34;code\&#34;&#34;}}">`)
	require.NotContains(t, r.get("/").body, "glassbox-source")
	away := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/trace/"+firstShipped, nil)
	away.RemoteAddr = "192.0.2.7:4000"
	w := httptest.NewRecorder()
	r.site.ServeHTTP(w, away)
	require.Equal(t, http.StatusOK, w.Code)
	require.NotContains(t, w.Body.String(), "glassbox-source")
	require.NotContains(t, w.Body.String(), "/srv/me")
}
