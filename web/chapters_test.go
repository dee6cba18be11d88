package web

import (
	"encoding/binary"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/steps"
	"glassbox/web/view"
)

// The chapters are drawn from what ships: each figure is there or says what would make it appear, and its numbers are those
// of the recording.
func TestTheWalkIsDrawnFromShippedRecordings(t *testing.T) {
	s := newRig(t, func(c *Config) { c.Static = nil }).site
	all := s.walkthrough()
	require.Len(t, all, len(steps.Chapters()))
	by := map[string]view.Chapter{}
	for _, c := range all {
		f := c.Figure
		drawn := len(f.Bars) + len(f.Tokens) + len(f.Pages) + len(f.Passes) + len(f.Sums)
		if f.Draw != nil {
			drawn += len(f.Draw.Rows)
		}
		require.Equal(t, f.Missing == "", drawn > 0, "%s: a figure, or why there is none", c.ID)
		by[c.ID] = c
	}
	rec, _, _ := s.drawn()
	tokens := len(rec.Request.PromptTokens) + len(rec.Request.OutputTokens) - 1
	written, free := 0, 0
	for _, p := range by["kv-cache"].Figure.Pages {
		written, free = written+len(p.Chips), free+p.Free
		require.Equal(t, p.Size, len(p.Chips)+p.Free)
	}
	require.Equal(t, tokens, written, "every token but the last has its key and value in a page")
	require.Less(t, free, by["kv-cache"].Figure.Pages[0].Size, "no page is empty")
	require.Len(t, by["tokenize"].Figure.Tokens, len(rec.Request.PromptTokens))
	require.Len(t, by["decode-loop"].Figure.Passes, len(rec.Passes))

	d := by["sample"].Figure.Draw
	require.NotNil(t, d)
	shown, err := s.shipped.get(by["sample"].Figure.ID).decode()
	require.NoError(t, err)
	logits, sum := shown.Arrays["logits"], 0.0
	for i := range logits.Shape[0] {
		v := float64(math.Float32frombits(binary.LittleEndian.Uint32(logits.Raw[4*i:])))
		require.False(t, v > d.Rows[0].Logit, "the first row leads")
		sum += math.Exp(v - d.Rows[0].Logit)
	}
	require.InDelta(t, 100/sum, d.Rows[0].Share, 1e-9)
	for _, row := range d.Rows {
		require.NotEmpty(t, row.Text, "id %d has a text in the recording", row.ID)
	}
}

func TestTheWalkPage(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Static = nil })
	got := r.get("/walk")
	require.Equal(t, http.StatusOK, got.StatusCode)
	body := got.body
	for _, c := range steps.Chapters() {
		require.Contains(t, body, `id="`+c.ID+`"`)
		require.Contains(t, body, `data-try="`+c.Try+`"`)
	}
	require.NotContains(t, body, " style=", "the content security policy forbids it")
	require.Equal(t, len(steps.Chapters()), strings.Count(body, "<figure"))
}
