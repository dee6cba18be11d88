package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/steps"
	"glassbox/trace"
	"glassbox/trace/file"
	"glassbox/web/testrec"
)

func sample(t *testing.T, prompt string) *file.Recording {
	r := trace.NewRecorder("sample01", trace.Now(), trace.CaptureSpec{})
	c, err := file.Collect(r, file.Options{Head: file.Head{Engine: file.Engine{Name: "glassbox"}}, Finish: steps.Glassbox(nil).Apply})
	require.NoError(t, err)
	testrec.Whole(r, prompt)
	r.End()
	rec, err := c.Wait()
	require.NoError(t, err)
	return rec
}

func TestOneFileHasEverythingAndAsksForNothing(t *testing.T) {
	evil := "</script><script>alert(1)</script><!-- <script>"
	rec := sample(t, evil)
	var b bytes.Buffer
	require.NoError(t, Write(&b, rec, Options{View: "timeline", Step: "draw"}))
	page := b.String()
	require.NotContains(t, page, "<script>alert")
	require.NotRegexp(t, `(?:src|href)="(?:https?:|/)[^"]*\.(?:js|css)`, page)
	require.Contains(t, page, `view="timeline"`)
	require.Contains(t, page, `step="draw"`)
	require.Contains(t, page, "<noscript>")

	// the recording inside is the recording
	_, after, ok := strings.Cut(page, `<script type="application/json">`)
	require.True(t, ok)
	inside, _, ok := strings.Cut(after, "</script>")
	require.True(t, ok)
	back, err := file.ReadFrom(strings.NewReader(inside), int64(len(inside)), file.DefaultLimits)
	require.NoError(t, err)
	require.Equal(t, rec.Spans, back.Spans)
	require.Contains(t, string(back.Request.Messages), "alert(1)")

	// the policy names the very script and style that are in the page
	policy := regexp.MustCompile(`content="(default-src[^"]*)"`).FindStringSubmatch(page)[1]
	policy = strings.ReplaceAll(policy, "&#39;", "'")
	for _, tag := range []string{"script", "style"} {
		i := strings.Index(page, "<"+tag+">") // the one with type json has an attribute
		body, _, _ := strings.Cut(page[i+len(tag)+2:], "</"+tag+">")
		sum := sha256.Sum256([]byte(body))
		require.Contains(t, policy, tag+"-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
}

func TestUnknownStepIsRefused(t *testing.T) {
	err := Write(&bytes.Buffer{}, sample(t, "Why?"), Options{Step: "nothing"})
	require.ErrorContains(t, err, `no step "nothing"`)
	require.ErrorContains(t, err, "first_byte")
}
