package main

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/engine"
	"glassbox/engine/stops"
	"glassbox/engine/testmodel"
	"glassbox/trace"
	"glassbox/web"
)

// What the pages are told is what the engine says, and its errors keep their meaning.
func TestPagesReachTheStop(t *testing.T) {
	e, err := engine.Open(testmodel.Tiny(t, testmodel.Spec{Context: 100}), engine.Options{Threads: 1, StopLimit: time.Minute})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	d := desk{e}
	require.Equal(t, time.Minute, d.Limit())
	_, any := d.State()
	require.False(t, any)
	require.ErrorIs(t, d.Hold("s1"), web.ErrNoStop)
	s, err := e.Submit(t.Context(), engine.Request{ID: "r", Tokens: []int{5, 6, 7}, MaxTokens: 3, Logprobs: -1, IgnoreEOS: true,
		Stops: []stops.Point{{Op: trace.OpMix, Layer: 1, Token: 2}, {Op: trace.OpLMHead, Layer: -1, Token: 3}}})
	require.NoError(t, err)
	_, err = e.Submit(t.Context(), engine.Request{ID: "other", Tokens: []int{5}, MaxTokens: 1, Logprobs: -1})
	require.NoError(t, err)
	var st web.Stop
	require.Eventually(t, func() bool { st, _ = d.State(); return st.Paused && st.Waiting == 1 }, 5*time.Second, time.Millisecond)
	require.Equal(t, &web.StopPlace{Op: "attn_mix", Layer: 1, Token: 2}, st.At)
	require.Equal(t, []web.StopPlace{{Op: "lm_head", Layer: -1, Token: 3}}, st.Next)
	require.Equal(t, []string{"in0", "out0"}, []string{st.In[0].ID, st.Out[0].ID})
	require.Greater(t, st.LeftMs, int64(50_000))
	v, err := d.Values(st.ID, "out0")
	require.NoError(t, err)
	require.Len(t, v.Values, st.Out[0].Shape[0])
	edit, err := d.Edit(st.ID, web.StopChange{Part: "out0", Index: 1, Count: 2, Values: []float64{3, 4}})
	require.NoError(t, err)
	require.Equal(t, []float32{3, 4}, edit.New)
	require.EqualValues(t, v.Values[1:3], edit.Old)
	var wrong *web.StopError
	_, err = d.Edit(st.ID, web.StopChange{Part: "out9", Zero: true})
	require.ErrorAs(t, err, &wrong)
	_, err = d.Values("s9", "out0")
	require.True(t, errors.Is(err, web.ErrNoStop))
	require.ErrorIs(t, said(stops.ErrRunning), web.ErrNotPaused)
	require.NoError(t, d.Hold(st.ID))
	require.ErrorAs(t, d.Resume(st.ID, "home"), &wrong)
	require.NoError(t, d.Resume(st.ID, "run"))
	for {
		ev, err := s.Next(t.Context())
		require.NoError(t, err)
		require.NoError(t, ev.Err)
		if ev.Finish != "" {
			return
		}
	}
}
