package web

import (
	"cmp"
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var relativeLink = regexp.MustCompile(`<[a-z][^>]*? (?:href|src|open|home|data-array|data-src)="([^"]*)"`)

// Every link of every page of the copy leads to a file of it, none to the root of a host, and no page asks for a server.
func TestSiteAsFiles(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Files = true })
	id := r.record("Why <b>is</b> the sky blue?")
	files := map[string]string{}
	require.NoError(t, r.site.Write(func(name string, data []byte) error {
		require.Equal(t, path.Clean(name), name)
		require.NotContains(t, files, name, "written twice")
		files[name] = string(data)
		return nil
	}))
	for _, name := range []string{"index.html", "walk/index.html", "film/index.html", "modules/index.html", "static/modmaps/vllm.json", "traces/index.html", "docs/index.html", "docs/keys/index.html", "docs/trace.schema.json",
		"trace/" + id + "/index.html", "trace/" + id + "/print/index.html", "embed/" + id + "/index.html", "api/traces/index.json", "api/traces/" + id + ".gbx", "api/traces/" + firstShipped + ".gbx",
		"static/js/tracer.js", "static/css/tokens.css", "static/favicon.svg"} {
		require.Contains(t, files, name)
	}
	pages := 0
	for name, text := range files {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		if strings.Contains(text, `http-equiv="refresh"`) {
			continue
		}
		pages++
		require.Contains(t, text, ` data-root="`+cmp.Or(strings.Repeat("../", strings.Count(name, "/")), "./")+`"`, name)
		require.Contains(t, text, `<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self';`, name)
		require.NotRegexp(t, inline, text, name)
		require.NotContains(t, text, `method="post"`, name)
		for _, m := range relativeLink.FindAllStringSubmatch(text, -1) {
			u, err := url.Parse(strings.ReplaceAll(m[1], "&amp;", "&"))
			require.NoError(t, err, "%s: %s", name, m[1])
			if u.Host != "" || u.Scheme != "" || u.Path == "" {
				continue
			}
			require.False(t, strings.HasPrefix(u.Path, "/"), "%s links to %s", name, m[1])
			to := path.Join(path.Dir(name), u.Path)
			if strings.HasSuffix(u.Path, "/") || to == "." {
				to = path.Join(to, "index.html")
			}
			require.Contains(t, files, to, "%s links to %s", name, m[1])
		}
	}
	require.Greater(t, pages, 14)
	require.NotContains(t, files["index.html"], `href="live`)
	require.NotContains(t, files["index.html"], "bench")
	require.Contains(t, files["traces/index.html"], "Why &lt;b&gt;is&lt;/b&gt;")
}
