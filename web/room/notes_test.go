package room

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNotesAreKeptInAFileThatPeopleCanEdit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deeper", "notes.md")
	n, err := OpenNotes(path)
	require.NoError(t, err)
	texts := map[string]string{
		"attn_q": "Say why there are three matrices.\n\n## attn_k\nis no heading here\n\\ backslash", "sse_write": "ä ö <script>alert(1)</script>", "queue": "one line",
	}
	for step, text := range texts {
		require.NoError(t, n.Set(step, text))
	}
	again, err := OpenNotes(path)
	require.NoError(t, err)
	got, err := again.All()
	require.NoError(t, err)
	require.Equal(t, texts, got)

	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte("My class of Monday\r\n"+string(raw)+"\n## lens\r\nby hand\r\n"), 0o600))
	require.NoError(t, again.Set("queue", "  "))
	got, err = again.All()
	require.NoError(t, err)
	require.Equal(t, "by hand", got["lens"])
	require.NotContains(t, got, "queue", "an empty note is none")
	raw, err = os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(raw), "My class of Monday\n"), "what stands before the first heading stays: %q", raw)
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1, "nothing lies beside it")
}

func TestNotesAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.md")
	n, err := OpenNotes(path)
	require.NoError(t, err)
	require.ErrorContains(t, n.Set("../etc", "x"), "wanted an id")
	require.ErrorContains(t, n.Set("", "x"), "wanted an id")
	require.ErrorContains(t, n.Set("a", strings.Repeat("x", maxNote+1)), "at most 8192 bytes")
	require.NoError(t, os.WriteFile(path, make([]byte, maxFile+1), 0o600))
	_, err = OpenNotes(path)
	require.ErrorContains(t, err, "notes of at most")
	_, err = OpenNotes(t.TempDir())
	require.Error(t, err, "a folder")
}

func TestNotesAreTheTeachers(t *testing.T) {
	n, err := OpenNotes(filepath.Join(t.TempDir(), "notes.md"))
	require.NoError(t, err)
	r := newRig(t, Config{Notes: n, Loud: true})
	do := func(method, path, body, cookie string) (int, string) {
		req, err := http.NewRequest(method, r.srv.URL+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Cookie", cookie)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		b := new(strings.Builder)
		_ = resp.Write(b)
		return resp.StatusCode, b.String()
	}
	code, _ := do("PUT", "/api/workshop/notes/attn_q", "mine", "")
	require.Equal(t, http.StatusForbidden, code)
	code, _ = do("GET", "/api/workshop/notes", "", "")
	require.Equal(t, http.StatusForbidden, code)
	code, _ = do("PUT", "/api/workshop/notes/attn_q", "mine", r.cookie())
	require.Equal(t, http.StatusNoContent, code)
	code, _ = do("PUT", "/api/workshop/notes/attn_q", strings.Repeat("x", maxNote+1), r.cookie())
	require.Equal(t, http.StatusForbidden, code)
	code, body := do("GET", "/api/workshop/notes", "", r.cookie())
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, body, `"attn_q":"mine"`)
}
