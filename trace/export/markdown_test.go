package export

import (
	"bytes"
	"html"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"glassbox/trace/file"
)

// What a reader of GitHub's dialect makes of the table: a row a step, and each text as it was, whatever is in it.
func TestMarkdownIsReadAsOneTable(t *testing.T) {
	nasty := "a|b `code` <script>alert(1)</script> *x* _y_ [l](http://e) \\ & &lt;\nsecond line"
	rec := hard()
	rec.Device = file.Device{Name: "cpu", Threads: 2}
	rec.Walk = []file.Step{
		{ID: "one", Title: nasty, Stage: "receive", Count: 3, TimeNs: 1_234_567, In: nasty, Out: "ok", Source: file.Source{Path: "a/b_c.go", Symbol: "(*T).Do", Line: 7}},
		{ID: "two", Title: "Two", Stage: "compute"},
	}
	var b, page bytes.Buffer
	require.NoError(t, Markdown(&b, rec))
	require.NoError(t, goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert(b.Bytes(), &page))
	var cells []string
	for _, m := range regexp.MustCompile(`(?s)<td[^>]*>(.*?)</td>`).FindAllStringSubmatch(page.String(), -1) {
		cells = append(cells, html.UnescapeString(m[1]))
	}
	flat := "a|b `code` <script>alert(1)</script> *x* _y_ [l](http://e) \\ & &lt; second line"
	require.Equal(t, []string{
		"1", "receive", flat, "3", "1.235", flat, "ok", "a/b_c.go:7 (*T).Do",
		"2", "compute", "Two", "", "not reached", "", "", "",
	}, cells)

	rec.Device.Kind = "emulated"
	b.Reset()
	require.NoError(t, Markdown(&b, rec))
	require.Contains(t, b.String(), "| not measured |")
	require.NotContains(t, b.String(), "1.235")
}
