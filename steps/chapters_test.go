package steps

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestChapters(t *testing.T) {
	all := Chapters()
	require.Len(t, all, 10, "nine chapters and the three numbers")
	tries, figures := map[string]bool{}, map[string]bool{}
	for _, ch := range all {
		require.False(t, tries[ch.Try], "%s: each chapter has a thing of its own to try", ch.File)
		tries[ch.Try], figures[ch.Figure] = true, true
		require.Contains(t, ch.HTML, "<p>")
		require.Empty(t, findVague(ch.Body), ch.File)
	}
	require.Len(t, tries, len(Tries), "a thing to try that no chapter has")
	require.Len(t, figures, len(Figures), "a figure that no chapter has")
}

// findVague finds words that praise rather than say.
func findVague(text string) []string {
	var found []string
	for _, w := range []string{"simply", "powerful", "seamless", "blazing", "cutting-edge", "revolution"} {
		if strings.Contains(strings.ToLower(text), w) {
			found = append(found, w)
		}
	}
	return found
}

func TestBrokenChaptersAreRefused(t *testing.T) {
	raw, err := os.ReadFile("chapters/01-request.md")
	require.NoError(t, err)
	good := string(raw)
	for name, c := range map[string]struct{ file, text, want string }{
		"as it is":      {"01-request.md", good, ""},
		"a gap":         {"02-request.md", good, "wanted the name 01-request.md"},
		"another name":  {"01-reqest.md", good, "wanted the name 01-request.md"},
		"no figure":     {"01-request.md", strings.Replace(good, "figure: path", "figure: pie", 1), "key figure: wanted one of path"},
		"no such try":   {"01-request.md", strings.Replace(good, "try: refuse", "try: luck", 1), "key try: wanted one of refuse"},
		"no such step":  {"01-request.md", strings.Replace(good, "from: first_byte", "from: nowhere", 1), `key from: wanted the id of a step, found "nowhere"`},
		"missing key":   {"01-request.md", strings.Replace(good, "hands_on:", "hands_off:", 1), `found "hands_off:`},
		"a key twice":   {"01-request.md", strings.Replace(good, "try: refuse", "try: refuse\ntry: stop", 1), `found "try: stop"`},
		"too short":     {"01-request.md", good[:strings.Index(good, "A chat request")] + "Short.", "wanted 120 to 250 words, found 1"},
		"raw HTML":      {"01-request.md", good + "<b>x</b>", "raw HTML"},
		"no front end":  {"01-request.md", "---\nid: request", "wanted \"---\" at the end"},
		"wrong is weak": {"01-request.md", strings.Replace(good, "wrong: That", "wrong: Maybe", 1), "key wrong: wanted \"That …\""},
	} {
		_, err := LoadChapters(fstest.MapFS{"chapters/" + c.file: {Data: []byte(c.text)}}, Glassbox(nil))
		if c.want == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, c.want, name)
	}
}
