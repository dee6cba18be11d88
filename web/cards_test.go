package web

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/static"
	"glassbox/trace/file"
	"glassbox/web/view"
)

// What the cards say was counted by the client's code when the site was built; here it is counted again, from the Go form.
func TestCardsSayWhatTheRecordingsHold(t *testing.T) {
	s := New(Config{Store: noStore{}})
	cards := s.readCards()
	require.GreaterOrEqual(t, len(cards), 7)
	engines := map[string]bool{}
	for _, c := range cards {
		rec, err := s.shipped.get(c.Recording).decode()
		require.NoError(t, err)
		require.True(t, slices.ContainsFunc(rec.Walk, func(w file.Step) bool { return w.ID == c.Step }), c.ID)
		if want := count(rec, c); want != "" {
			require.Equal(t, want, c.Facts, c.ID)
		}
		engines[rec.Engine.Name] = true
		isPicture(t, c)
	}
	for _, id := range s.shipped.names() {
		rec, err := s.shipped.get(id).decode()
		require.NoError(t, err)
		require.True(t, engines[rec.Engine.Name], "a recording of %s ships, and there is no card of it: make gen", rec.Engine.Name)
	}
}

// isPicture holds a close-up to what may stand in a page: well-formed, no script, no style attribute, not large.
func isPicture(t *testing.T, c view.Card) {
	t.Helper()
	require.Less(t, len(c.SVG), 40_000, c.ID)
	require.NotRegexp(t, inline, c.SVG, c.ID)
	drawn := 0
	for d := xml.NewDecoder(strings.NewReader(c.SVG)); ; {
		tok, err := d.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err, c.ID)
		if e, ok := tok.(xml.StartElement); ok {
			require.Contains(t, []string{"svg", "g", "path", "rect", "circle", "line", "text", "tspan", "clipPath"}, e.Name.Local, c.ID)
			drawn++
		}
	}
	require.Greater(t, drawn, 10, "%s: the picture is empty", c.ID)
}

// count is what a card of a kind says of a recording.
func count(rec *file.Recording, c view.Card) string {
	shape := func(name string) []int { return rec.Arrays[name].Shape }
	switch c.ID {
	case "request":
		return fmt.Sprintf("%d steps, %d lanes", len(rec.Walk), len(rec.Lanes))
	case "pass":
		var times []int64
		for _, p := range rec.Passes {
			if p.Kind == "decode" {
				times = append(times, p.DurNs)
			}
		}
		slices.Sort(times)
		ops := map[string]bool{}
		for _, sp := range rec.Spans {
			if sp.Op != "" && sp.Pass == rec.Passes[len(rec.Passes)-1].Index {
				ops[sp.Op] = true
			}
		}
		return fmt.Sprintf("%d ops, %s a token", len(ops), view.Duration(times[len(times)/2], "", "").Text())
	case "tape":
		var bytes int64
		for _, w := range rec.Model.Tensors {
			if w.Op == "embed" {
				bytes += w.Bytes / int64(w.Rows)
			} else {
				bytes += w.Bytes
			}
		}
		return fmt.Sprintf("%d matrices, %s a token", len(rec.Model.Tensors), view.Bytes(bytes, "", "").Text())
	case "attention":
		return fmt.Sprintf("%d layers, %d heads, %d positions", rec.Model.Layers, rec.Model.Heads, shape("attention")[2])
	case "lens":
		return fmt.Sprintf("%d layers, %d positions, %d words each", rec.Model.Layers, shape("lens_ids")[1], shape("lens_ids")[2])
	case "memory":
		return fmt.Sprintf("%s pages of %d positions, %d changes", view.Count(int64(rec.Memory.Pages)), rec.Memory.PageTokens, len(rec.Memory.Changes))
	case "modules":
		raw, err := fs.ReadFile(static.Files, "modmaps/"+rec.Engine.Name+".json")
		if err != nil {
			return err.Error()
		}
		var m struct {
			Title   string
			Modules []struct{ State string }
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			return err.Error()
		}
		ran := 0
		for _, q := range m.Modules {
			if q.State == "ran" || q.State == "by_name" {
				ran++
			}
		}
		return fmt.Sprintf("%s: %d modules, %d ran", m.Title, len(m.Modules), ran)
	case "vllm", "llamacpp", "sglang":
		return fmt.Sprintf("%d steps, %s, %s", len(rec.Walk), view.Plural(len(lanes(rec)), "lane"), view.Plural(len(rec.Spans), "span"))
	}
	return ""
}

func lanes(rec *file.Recording) map[string]bool {
	out := map[string]bool{}
	for _, w := range rec.Walk {
		out[w.Lane] = true
	}
	return out
}

// noStore is a Store without recordings.
type noStore struct{ Store }

func (noStore) List() []file.Summary { return nil }
