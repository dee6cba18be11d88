package steps

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/trace/file"
)

func TestTheWalkFromOutside(t *testing.T) {
	c := Gateway(os.DirFS("../cmd/internal/gateway"))
	lane, stage := map[string]bool{}, 0
	for _, s := range c.Steps {
		n := len(strings.Fields(c.Text(s, Values{})))
		require.GreaterOrEqual(t, n, 60, s.File)
		require.LessOrEqual(t, n, 120, s.File)
		require.LessOrEqual(t, len(s.Short), 70, s.File)
		require.True(t, strings.HasPrefix(s.Wrong, "That "), s.File)
		require.Equal(t, s.ID, s.Span)
		for stages[stage] != s.Stage {
			stage++ // in the order of the stages, or this runs out of them
		}
		lane[s.Lane] = true
		src, ok := c.sources.Find(s.Symbol, "", 0)
		require.True(t, ok, "%s: there is no function %s", s.File, s.Symbol)
		require.NotNil(t, src.Code, s.File)
	}
	require.Len(t, lane, 3)
}

func TestStopsInsideStandBesideWhatWasSeen(t *testing.T) {
	e, err := EngineOf("vllm")
	require.NoError(t, err)
	inside, err := e.Catalogue()
	require.NoError(t, err)
	c := Gateway(nil)
	rec := &file.Recording{Spans: []file.Span{{ID: "a", Step: "gw_head", Pass: file.None, Layer: file.None, DurNs: 5}}}
	c.ApplyOutside(rec, inside)
	require.Len(t, rec.Walk, len(c.Steps)+len(inside.Steps))
	at, ids := 0, map[string]bool{}
	for _, w := range rec.Walk {
		require.False(t, ids[w.ID], w.ID)
		ids[w.ID] = true
		for stages[at] != w.Stage {
			at++
		}
		if w.ID == "gw_head" {
			require.EqualValues(t, 5, w.TimeNs)
		} else {
			require.Zero(t, w.Count)
			require.Contains(t, w.Text, "\nNot reached: ")
		}
	}
}
