package stops_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/engine"
	"glassbox/engine/capture"
	"glassbox/engine/stops"
	"glassbox/trace"
)

var everything = trace.CaptureSpec{Attention: true, Lens: true, Values: true, Logits: true}

func TestStandingStillChangesNothing(t *testing.T) {
	for _, backend := range backends {
		e := open(t, engine.Options{Backend: backend})
		want := whole(t, submit(t, e, request(20, 8)))
		for _, p := range []stops.Point{at(trace.OpEmbed, -1, 0), at(trace.OpScores, 1, 7), at(trace.OpRope, 2, 19), at(trace.OpKVWrite, 0, 3), at(trace.OpLMHead, -1, 21), at(trace.OpDown, 2, 26)} {
			s := submit(t, e, recorded(request(20, 8, p), everything))
			st := paused(t, e)
			require.Equal(t, p, st.At)
			require.Equal(t, "rec", st.Trace)
			for _, part := range append(st.In, st.Out...) {
				_, v, _, err := e.Stops().Values(st.ID, part.ID)
				require.NoError(t, err)
				n := 1
				for _, d := range part.Shape {
					n *= d
				}
				require.Len(t, v, n, part.Name)
				require.Len(t, part.Axes, len(part.Shape))
			}
			resume(t, e, st, "run")
			require.Equal(t, want, whole(t, s), "%s: %v", backend, p)
			_, any := e.Stops().State()
			require.False(t, any, "who is done has no stops any more")
		}
	}
}

// What is read at a stop is what the captures of the same place hold, bit for bit, before and after.
func TestValuesAreThoseOfTheTape(t *testing.T) {
	for _, backend := range backends {
		e := open(t, engine.Options{Backend: backend})
		whole := map[string][]float32{}
		r := recorded(request(20, 3), everything)
		read(t, submit(t, e, r))
		for _, a := range r.Trace.TakeArrays() {
			if v, ok := a.Data.([]float32); ok {
				whole[a.Name] = v
			}
		}
		// The tape is of the first decode pass: position 20, all ops of it one after the other.
		s := submit(t, e, request(20, 3, at(trace.OpEmbed, -1, 20)))
		seen := 0
		for {
			st := paused(t, e)
			if st.At.Token != 20 {
				resume(t, e, st, "run")
				break
			}
			for side, parts := range map[string][]stops.Part{"tape_in": st.In, "tape_out": st.Out} {
				var got []float32
				for _, part := range parts {
					_, v, figures, err := e.Stops().Values(st.ID, part.ID)
					require.NoError(t, err)
					require.Zero(t, figures.NotFinite)
					got = append(got, v...)
				}
				name := strings.Join([]string{side, num(st.At.Layer), st.At.Op.String()}, "/")
				require.Equal(t, whole[name], got, "%s: %s", backend, name)
				seen += len(got)
			}
			resume(t, e, st, "op")
		}
		read(t, s)
		require.Greater(t, seen, 10000)
	}
}

func num(layer int) string {
	if layer < 0 {
		return "-1"
	}
	return string(rune('0' + layer))
}

// Zeroing a head's piece of the mix at every position is what the ablation of the head does, to the bit.
func TestAnEditIsTheAblationOfTheSame(t *testing.T) {
	for _, backend := range backends {
		e := open(t, engine.Options{Backend: backend})
		plain := whole(t, submit(t, e, request(12, 6)))
		off := request(12, 6)
		off.Ablate = ablation(t, e, "L1.H2", "L2.ffn")
		want := whole(t, submit(t, e, off))
		require.NotEqual(t, plain, want)
		var points []stops.Point
		for token := range 12 + 6 - 1 {
			points = append(points, at(trace.OpMix, 1, token), at(trace.OpDown, 2, token))
		}
		r := recorded(request(12, 6, points...), trace.CaptureSpec{})
		s := submit(t, e, r)
		for range points {
			st := paused(t, e)
			c := stops.Change{Part: "out0", Zero: true}
			if st.At.Op == trace.OpMix {
				c.Index, c.Count = 2*16, 16
			}
			edit, err := e.Stops().Edit(st.ID, c)
			require.NoError(t, err)
			require.Equal(t, st.At, at(edit.Op, edit.Layer, edit.Token))
			resume(t, e, st, "continue")
		}
		require.Equal(t, want, whole(t, s), backend)
		facts := r.Trace.Facts()
		require.Len(t, facts.Edits, len(points))
		require.Len(t, facts.Halts, len(points))
		for _, edit := range facts.Edits {
			require.Equal(t, make([]float32, len(edit.Old)), edit.New)
			require.NotEqual(t, edit.Old, edit.New)
			require.Equal(t, map[trace.OpID]int{trace.OpMix: 32, trace.OpDown: 0}[edit.Op], edit.Index)
		}
	}
}

// The same edit gives the same answer, another gives another; of the head it gives the word.
func TestEditsAreDeterministic(t *testing.T) {
	e := open(t, engine.Options{})
	answer := func(c stops.Change, p stops.Point) []engine.TokenLogprob {
		s := submit(t, e, request(15, 5, p))
		st := paused(t, e)
		_, err := e.Stops().Edit(st.ID, c)
		require.NoError(t, err)
		part, v, _, err := e.Stops().Values(st.ID, c.Part)
		require.NoError(t, err)
		require.Equal(t, "out0", part.ID)
		if len(c.Set) == 1 {
			require.Equal(t, float32(c.Set[0]), v[c.Index])
		}
		resume(t, e, st, "continue")
		return whole(t, s)
	}
	half, p := 0.5, at(trace.OpFFNResidual, 0, 14)
	plain := whole(t, submit(t, e, request(15, 5)))
	one := answer(stops.Change{Part: "out0", Scale: &half}, p)
	require.Equal(t, one, answer(stops.Change{Part: "out0", Scale: &half}, p))
	require.NotEqual(t, plain, one)
	require.NotEqual(t, one, answer(stops.Change{Part: "out0", Index: 5, Set: []float64{-7}}, p))
	require.Equal(t, plain, whole(t, submit(t, e, request(15, 5))), "nothing is left of it")
	head := answer(stops.Change{Part: "out0", Index: 77, Count: 1, Set: []float64{1e6}}, at(trace.OpLMHead, -1, 14))
	require.Equal(t, 77, head[0].ID)
	require.InDelta(t, 0, head[0].Logprob, 1e-9)
	require.NotEqual(t, 77, plain[0].ID)
	weights := answer(stops.Change{Part: "out0", Index: 0, Count: 15, Set: append([]float64{1}, make([]float64, 14)...)}, at(trace.OpSoftmax, 1, 14))
	require.NotEqual(t, plain, weights)
}

// What every op wrote is what the next one reads: none keeps a copy of its own that a change would miss.
func TestEveryOpCanBeChanged(t *testing.T) {
	for _, backend := range backends {
		e := open(t, engine.Options{Backend: backend})
		plain := whole(t, submit(t, e, request(15, 4)))
		for _, op := range trace.Ops() {
			points, err := e.ParseStops([]stops.Asked{{Op: op.String()}})
			if err != nil {
				continue // not an op of this model
			}
			for part := 0; ; part++ {
				s := submit(t, e, request(15, 4, points...))
				st := paused(t, e)
				last := part >= len(st.Out)
				if !last {
					_, err = e.Stops().Edit(st.ID, stops.Change{Part: st.Out[part].ID, Zero: true})
					require.NoError(t, err)
				}
				resume(t, e, st, "continue")
				got := whole(t, s)
				if last {
					require.Equal(t, plain, got, "%s: %s", backend, op)
					break
				}
				require.NotEqual(t, plain, got, "%s: nothing read what %s wrote into %s", backend, op, st.Out[part].Name)
			}
		}
	}
}

func TestSteps(t *testing.T) {
	for _, backend := range backends {
		e := open(t, engine.Options{Backend: backend})
		ops := walk(t, e, submit(t, e, request(10, 3, at(trace.OpGate, 2, 9))), "op", 7)
		require.Equal(t, []stops.Point{at(trace.OpGate, 2, 9), at(trace.OpUp, 2, 9), at(trace.OpSwiGLU, 2, 9), at(trace.OpDown, 2, 9), at(trace.OpFFNResidual, 2, 9),
			at(trace.OpOutNorm, -1, 9), at(trace.OpLMHead, -1, 9), at(trace.OpEmbed, -1, 10)}, ops)
		layers := walk(t, e, submit(t, e, request(10, 3, at(trace.OpMix, 0, 9))), "layer", 4)
		require.Equal(t, []stops.Point{at(trace.OpMix, 0, 9), at(trace.OpMix, 1, 9), at(trace.OpMix, 2, 9), at(trace.OpOutNorm, -1, 9), at(trace.OpEmbed, -1, 10)}, layers)
		// A token in the middle of the prompt has no logits; the next pass is that of the first word.
		inside := walk(t, e, submit(t, e, request(10, 3, at(trace.OpDown, 2, 4))), "op", 2)
		require.Equal(t, []stops.Point{at(trace.OpDown, 2, 4), at(trace.OpFFNResidual, 2, 4), at(trace.OpEmbed, -1, 10)}, inside)
		two := walk(t, e, submit(t, e, request(10, 3, at(trace.OpMix, 1, 11), at(trace.OpMix, 1, 2), at(trace.OpMix, 0, 5))), "continue", 2)
		require.Equal(t, []stops.Point{at(trace.OpMix, 0, 5), at(trace.OpMix, 1, 2), at(trace.OpMix, 1, 11)}, two)
	}
}

func TestItGoesOnByItself(t *testing.T) {
	e := open(t, engine.Options{StopLimit: 30 * time.Millisecond})
	r := recorded(request(10, 4, at(trace.OpMix, 0, 5), at(trace.OpMix, 1, 11)), trace.CaptureSpec{})
	want := whole(t, submit(t, e, request(10, 4)))
	require.Equal(t, want, whole(t, submit(t, e, r)))
	halts := r.Trace.Facts().Halts
	require.Len(t, halts, 1, "who ran into the limit is not stopped again")
	require.Equal(t, "limit", halts[0].Ended)
	require.GreaterOrEqual(t, halts[0].Dur, (30 * time.Millisecond).Nanoseconds())
}

func TestHoldStartsTheLimitAnew(t *testing.T) {
	e := open(t, engine.Options{StopLimit: 400 * time.Millisecond})
	s := submit(t, e, request(10, 4, at(trace.OpMix, 0, 5)))
	st := paused(t, e)
	for range 6 {
		time.Sleep(100 * time.Millisecond)
		require.NoError(t, e.Stops().Hold(st.ID))
	}
	now, _ := e.Stops().State()
	require.True(t, now.Paused, "600 ms after it began")
	require.Greater(t, now.Left, 200*time.Millisecond)
	resume(t, e, st, "run")
	whole(t, s)
}

func TestACancelledRequestLetsTheOthersGoOn(t *testing.T) {
	e := open(t, engine.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	r := recorded(request(10, 4, at(trace.OpMix, 0, 5)), trace.CaptureSpec{})
	s, err := e.Submit(ctx, r)
	require.NoError(t, err)
	st := paused(t, e)
	other := recorded(request(8, 3), trace.CaptureSpec{})
	waits := submit(t, e, other)
	require.Equal(t, 1, e.Stats().Waiting, "others wait and are counted")
	require.True(t, e.Stats().Paused)
	time.Sleep(20 * time.Millisecond)
	cancel()
	_, end := read(t, s)
	require.ErrorIs(t, end.Err, context.Canceled)
	require.Len(t, whole(t, waits), 3)
	require.Equal(t, "cancelled", r.Trace.Facts().Halts[0].Ended)
	require.ErrorIs(t, e.Stops().Resume(st.ID, "run"), stops.ErrUnknown)
	require.False(t, e.Stats().Paused)
	var b trace.Batch
	other.Trace.Drain(&b)
	for _, span := range b.Spans {
		if span.Step == trace.StepQueue {
			require.Greater(t, span.Dur, (15 * time.Millisecond).Nanoseconds())
			require.Contains(t, span.Attrs[len(span.Attrs)-1].Value, "stood still")
			return
		}
	}
	t.Fatal("the other's recording has no wait")
}

func TestCloseWhileItStandsStill(t *testing.T) {
	e := open(t, engine.Options{})
	s := submit(t, e, request(10, 4, at(trace.OpMix, 0, 5)))
	paused(t, e)
	done := make(chan struct{})
	go func() { _ = e.Close(); close(done) }()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Fatal("the engine hangs")
	}
	_, end := read(t, s)
	require.ErrorIs(t, end.Err, engine.ErrClosed)
}

func TestOneRequestAtATime(t *testing.T) {
	e := open(t, engine.Options{})
	s := submit(t, e, request(10, 4, at(trace.OpMix, 0, 5)))
	st := paused(t, e)
	_, err := e.Submit(t.Context(), request(5, 2, at(trace.OpMix, 0, 1)))
	var busy *stops.BusyError
	require.ErrorAs(t, err, &busy)
	require.ErrorContains(t, err, "paused at attn_mix, layer 0, token 5")
	resume(t, e, st, "run")
	whole(t, s)
	s = submit(t, e, request(5, 2, at(trace.OpMix, 0, 1)))
	resume(t, e, paused(t, e), "continue")
	whole(t, s)
	// A request that is refused for another reason does not keep the stops.
	_, err = e.Submit(t.Context(), engine.Request{ID: "r", Tokens: prompt(5), MaxTokens: 2, Stops: []stops.Point{at(trace.OpMix, 0, 1)},
		Trace: trace.NewRecorder("x", 0, everything), Ablate: capture.Ablation{}, Sampling: request(1, 1).Sampling})
	require.NoError(t, err)
	st = paused(t, e)
	require.NotEmpty(t, st.ID)
	resume(t, e, st, "run")
}

// Others of the same pass, and edits of a request whose pages are taken away, come out as they would without.
func TestBesideOthersWithFewPages(t *testing.T) {
	alone := open(t, engine.Options{Slots: 1})
	half := 0.5
	change := func(e *engine.Engine) {
		st := paused(t, e)
		_, err := e.Stops().Edit(st.ID, stops.Change{Part: "out0", Scale: &half})
		require.NoError(t, err)
		resume(t, e, st, "continue")
	}
	s := submit(t, alone, request(40, 30, at(trace.OpMix, 1, 10)))
	change(alone)
	want := whole(t, s)
	plain := whole(t, submit(t, alone, request(33, 30)))
	for name, o := range map[string]engine.Options{"together": {Slots: 6, Budget: 24}, "few pages": {Slots: 4, Budget: 16, KVTokens: 208}} {
		e := open(t, o)
		var others []*engine.Stream
		for range 3 {
			others = append(others, submit(t, e, request(33, 30)))
		}
		s := submit(t, e, request(40, 30, at(trace.OpMix, 1, 10)))
		for range 3 {
			others = append(others, submit(t, e, request(33, 30)))
		}
		change(e)
		require.Equal(t, want, whole(t, s), name)
		for _, o := range others {
			require.Equal(t, plain, whole(t, o), name)
		}
	}
}

func TestPlacesThatThereAreNot(t *testing.T) {
	e := open(t, engine.Options{})
	n := func(v int) *int { return &v }
	for want, asked := range map[string]stops.Asked{
		"embed, attn_norm, attn_q":           {Op: "attn"},
		"wanted 0 to 2 for attn_q, found 3":  {Op: "attn_q", Layer: n(3)},
		"lm_head runs outside the layers":    {Op: "lm_head", Layer: n(0)},
		"wanted a position from 0 on":        {Op: "attn_q", Token: n(-2)},
		"stop[0].op: wanted one of embed, a": {},
	} {
		_, err := e.ParseStops([]stops.Asked{asked})
		var wrong *stops.PointError
		require.ErrorAs(t, err, &wrong)
		require.ErrorContains(t, err, want)
	}
	_, err := e.ParseStops(make([]stops.Asked, 65))
	require.ErrorContains(t, err, "at most 64 places, found 65")
	points, err := e.ParseStops([]stops.Asked{{Op: "attn_mix"}, {Op: "out_norm", Layer: n(-1)}, {Op: "ffn_up", Layer: n(2), Token: n(4)}})
	require.NoError(t, err)
	require.Equal(t, []stops.Point{at(trace.OpMix, 0, stops.AtPrompt), at(trace.OpOutNorm, -1, stops.AtPrompt), at(trace.OpUp, 2, 4)}, points)
	for want, p := range map[string]stops.Point{
		"attn_mix runs for positions 0 to 12":   at(trace.OpMix, 0, 13), // the last word is never read
		"lm_head runs for positions 9 to 12":    at(trace.OpLMHead, -1, 3),
		"(a prompt of 10 tokens, at most 4 of ": at(trace.OpDown, 0, 99),
	} {
		_, err := e.Submit(t.Context(), request(10, 4, p))
		require.ErrorContains(t, err, want)
	}
	s := submit(t, e, request(10, 4, at(trace.OpMix, 0, stops.AtPrompt)))
	st := paused(t, e)
	require.Equal(t, 9, st.At.Token)
	resume(t, e, st, "run")
	whole(t, s)
}

func TestChangesThatCannotBeMade(t *testing.T) {
	e := open(t, engine.Options{})
	s := submit(t, e, request(10, 4, at(trace.OpKVWrite, 0, 5), at(trace.OpMix, 0, 5)))
	st := paused(t, e)
	_, err := e.Stops().Edit(st.ID, stops.Change{Part: "out0", Zero: true})
	require.ErrorContains(t, err, "part: wanted one of in0, in1")
	resume(t, e, st, "continue")
	st = paused(t, e)
	huge, half := 1e39, 0.5
	for want, c := range map[string]stops.Change{
		"in0, out0, found \"out1\"":           {Part: "out1", Zero: true},
		"attn_mix has run already":            {Part: "in0", Zero: true},
		"index: wanted 0 to 95, found 96":     {Part: "out0", Index: 96, Zero: true},
		"index: wanted 0 to 95, found -1":     {Part: "out0", Index: -1, Zero: true},
		"count: wanted 1 to 6 from index 90":  {Part: "out0", Index: 90, Count: 7, Zero: true},
		"wanted one of them, found 0":         {Part: "out0"},
		"wanted one of them, found 2":         {Part: "out0", Zero: true, Scale: &half},
		"values: wanted 1 value or 3":         {Part: "out0", Count: 3, Set: []float64{1, 2}},
		"scale: wanted a number that a float": {Part: "out0", Scale: &huge},
		"values: wanted numbers that a float": {Part: "out0", Set: []float64{math.NaN()}},
	} {
		_, err := e.Stops().Edit(st.ID, c)
		var change *stops.ChangeError
		require.ErrorAs(t, err, &change, want)
		require.ErrorContains(t, err, want)
	}
	_, _, _, err = e.Stops().Values("s99", "out0")
	require.ErrorIs(t, err, stops.ErrUnknown)
	require.ErrorContains(t, e.Stops().Resume(st.ID, "back"), "to: wanted one of continue, op, layer, run, found \"back\"")
	_, v, figures, err := e.Stops().Values(st.ID, "out0")
	require.NoError(t, err)
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	require.InDelta(t, math.Sqrt(sum), figures.Norm, 1e-9)
	resume(t, e, st, "run")
	require.Error(t, e.Stops().Resume(st.ID, "run"), "it runs, or is over")
	require.Equal(t, whole(t, submit(t, e, request(10, 4))), whole(t, s), "nothing was changed")
}
