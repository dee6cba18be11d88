package file

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/trace"
)

func TestStopsAndEditsAreInTheRecording(t *testing.T) {
	rec := trace.NewRecorder("r", trace.Now(), trace.CaptureSpec{})
	sampleRequest(rec)
	rec.Edited(trace.Edit{Op: trace.OpMix, Layer: 1, Token: 7, Pass: 2, Part: "mix", Index: 3, How: "scale", Factor: 0.1,
		Old: []float32{1, float32(math.NaN()), 0.1}, New: []float32{0.1, float32(math.Inf(-1)), 1e-30}, At: rec.Start + 5*ms})
	rec.Halted(trace.Halt{Op: trace.OpMix, Layer: 1, Token: 7, Pass: 2, Start: rec.Start + 4*ms, Dur: 9 * ms, Ended: "limit"})
	var ops trace.PassOps
	ops.Reset(0, 1)
	rec.Pass(&ops, trace.Pass{Index: 3, Kind: trace.Decode, Start: rec.Start, Dur: 20 * ms, Paused: 9 * ms})
	c, err := Collect(rec, Options{Head: sampleHead})
	require.NoError(t, err)
	rec.End()
	whole, err := c.Wait()
	require.NoError(t, err)
	for _, form := range []string{".json", ".gbx"} {
		back, err := read(write(t, whole, form))
		require.NoError(t, err)
		require.Equal(t, []Halt{{"attn_mix", 1, 7, 2, 4 * ms, 9 * ms, "limit"}}, back.Request.Stops)
		require.Equal(t, 9*ms, back.Numbers.PausedNs)
		require.Equal(t, 9*ms, back.Passes[len(back.Passes)-1].PausedNs)
		require.Len(t, back.Request.Edits, 1)
		e := back.Request.Edits[0]
		require.True(t, math.IsNaN(float64(e.Old[1])))
		e.Old[1] = 0
		require.Equal(t, Edit{"attn_mix", 1, 7, 2, "mix", 3, 3, "scale", 0.1, Floats{1, 0, 0.1}, Floats{0.1, float32(math.Inf(-1)), 1e-30}, 5 * ms}, e)
	}
	var f Floats
	for _, wrong := range []string{`{}`, `["1"]`, `[[1]]`, `["x"]`, `[null]`} {
		require.Error(t, json.Unmarshal([]byte(wrong), &f), wrong)
	}
}
