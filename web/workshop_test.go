package web

import (
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"glassbox/web/room"
)

// The modules of the code against those that another program made of the same text, level and version (testdata/qr.txt says which).
func TestQRCodeIsWhatAnotherEncoderDraws(t *testing.T) {
	raw, err := os.ReadFile("testdata/qr.txt")
	require.NoError(t, err)
	var text string
	var rows []string
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if after, ok := strings.CutPrefix(line, "text "); ok {
			text = after
		} else if line != "" && strings.Trim(line, "01") == "" {
			rows = append(rows, line)
		}
	}
	svg, err := qrSVG(text)
	require.NoError(t, err)
	require.NoError(t, xml.Unmarshal(svg, new(struct{})))
	n := len(rows)
	require.Contains(t, string(svg), `viewBox="0 0 `+strconv.Itoa(n+8)+" "+strconv.Itoa(n+8)+`"`, "four modules of quiet around it")
	drawn := make([][]byte, n)
	for y := range drawn {
		drawn[y] = []byte(strings.Repeat("0", n))
	}
	for _, m := range regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1H(\d+)z`).FindAllStringSubmatch(string(svg), -1) {
		var v [4]int
		for i := range v {
			v[i], _ = strconv.Atoi(m[i+1])
		}
		require.Equal(t, v[0], v[3])
		for x := range v[2] {
			drawn[v[1]-4][v[0]-4+x] = '1'
		}
	}
	for y := range rows {
		require.Equal(t, rows[y], string(drawn[y]), "row %d", y)
	}
}

func TestWorkshopPages(t *testing.T) {
	rm := room.New(room.Config{})
	r := newRig(t, func(c *Config) {
		c.Room, c.Join = rm, []string{"http://192.168.7.5:8080/join", "http://10.0.0.2:8080/join"}
	})
	for path, has := range map[string][]string{
		"/teach": {`data-room="teacher"`, "192.168.7.5:8080/join", "10.0.0.2:8080/join", `/join/qr.svg?n=0`, "prompts"}, "/join": {`data-room="follower"`, "connecting"},
	} {
		a := r.get(path)
		require.Equal(t, http.StatusOK, a.StatusCode)
		for _, text := range append(has, "/static/js/room.js", "Why is the sky blue?") {
			require.Contains(t, a.body, text, path)
		}
		require.NotContains(t, a.body, rm.Key())
		require.NotRegexp(t, `(src|href)="https?:`, a.body, "it works without a network")
	}
	require.Equal(t, "image/svg+xml", r.get("/join/qr.svg").Header.Get("Content-Type"))
	require.NotEqual(t, r.get("/join/qr.svg").body, r.get("/join/qr.svg?n=1").body)
	for _, n := range []string{"2", "-1", "x", "99999999999999999999"} {
		require.Equal(t, http.StatusNotFound, r.get("/join/qr.svg?n="+n).StatusCode, n)
	}

	_, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(r.srv.URL, "http")+"/api/workshop", http.Header{"Origin": {"https://evil.example"}})
	require.Error(t, err)
	require.Equal(t, http.StatusForbidden, resp.StatusCode)

	refused := httptest.NewServer(rm.Guard(r.site))
	defer refused.Close()
	for accept, kind := range map[string]string{"*/*": "application/json", "text/html,*/*": "text/html; charset=utf-8"} {
		req, err := http.NewRequest(http.MethodPost, refused.URL+"/v1/completions", strings.NewReader("prompt=x"))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded") // what curl -d says of anything
		req.Header.Set("Accept", accept)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, http.StatusForbidden, resp.StatusCode)
		require.Equal(t, kind, resp.Header.Get("Content-Type"))
	}

	none := newRig(t, nil)
	require.Equal(t, http.StatusNotFound, none.get("/join").StatusCode)
	require.Contains(t, none.get("/teach").body, "glassbox serve --workshop")
	require.Equal(t, http.StatusNotFound, none.get("/api/workshop").StatusCode)
}
