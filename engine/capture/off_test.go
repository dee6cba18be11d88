package capture_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/engine"
	"glassbox/engine/backend"
	"glassbox/engine/backend/backendtest"
	"glassbox/engine/backend/cpu"
	"glassbox/engine/backend/ref"
	"glassbox/engine/capture"
	"glassbox/engine/graph"
	"glassbox/engine/model"
	"glassbox/engine/testmodel"
	"glassbox/trace"
)

// Only the request's own rows are touched: others in the same passes give the bits that they give alone.
func TestWhoIsNotSwitchedOffIsNotTouched(t *testing.T) {
	for _, backend := range backends {
		f := tiny(t, deep)
		alone := open(t, f, engine.Options{Backend: backend, Slots: 1})
		var asked []engine.Request
		for i := range 6 {
			r := request(prompt(20+3*i, i), 24, trace.CaptureSpec{}, capture.Ablation{})
			switch i {
			case 1:
				r.Ablate = off(t, alone, "L0.H1", "L2.ffn")
			case 3:
				r.Ablate = off(t, alone, "L1=mean", "L3.H5=mean")
			case 4:
				r = request(r.Tokens, 24, everything, off(t, alone, "L3"))
			}
			asked = append(asked, r)
		}
		var want []*answer
		for _, r := range asked {
			want = append(want, ask(t, alone, r))
		}
		asked[4].Trace = trace.NewRecorder("r", trace.Now(), everything)
		together := open(t, f, engine.Options{Backend: backend, Slots: 8, Budget: 33})
		var streams []*engine.Stream
		for _, r := range asked {
			s, err := together.Submit(context.Background(), r)
			require.NoError(t, err)
			streams = append(streams, s)
		}
		for i, s := range streams {
			got := read(t, s, asked[i].Trace)
			require.Equal(t, want[i].lps, got.lps, "%s: request %d", backend, i)
			for name, a := range want[i].arrays {
				if name != "tape_pass" { // the prompt came in chunks
					require.Equal(t, a.Data, got.arrays[name].Data, name)
				}
			}
		}
		whole := ask(t, alone, request(asked[1].Tokens, 24, trace.CaptureSpec{}, capture.Ablation{}))
		require.NotEqual(t, whole.lps, want[1].lps, "a part less is another answer")
	}
}

// A head that is off is 0 in the mix and leaves no share; its neighbours are what they are. All heads off is attention off.
func TestHeadsAreSwitchedOffBeforeTheProjection(t *testing.T) {
	for _, backend := range backends {
		e := open(t, tiny(t, deep), engine.Options{Backend: backend})
		spec := trace.CaptureSpec{Values: true, Lens: true, Logits: true}
		whole := ask(t, e, request(prompt(15, 1), 1, spec, capture.Ablation{}))
		one := ask(t, e, request(prompt(15, 1), 1, spec, off(t, e, "L1.H2")))
		const dim = 96 / 6
		x, y := whole.f4(t, "tape_out/1/attn_mix", 96), one.f4(t, "tape_out/1/attn_mix", 96)
		for i := range x {
			if i/dim == 2 {
				require.NotZero(t, x[i])
				require.Zero(t, y[i])
			} else {
				require.Equal(t, x[i], y[i])
			}
		}
		require.Equal(t, y, one.f4(t, "tape_in/1/attn_out", 96), "the projection reads what was left")
		at := 1 + 1*7 + 2
		require.Equal(t, "L1.H2", one.arrays["attr"].Names[at])
		require.Zero(t, one.f4(t, "attr", 29, 1)[at])

		heads := ask(t, e, request(prompt(15, 1), 1, spec, off(t, e, "L1.H0,L1.H1,L1.H2,L1.H3,L1.H4,L1.H5")))
		attn := ask(t, e, request(prompt(15, 1), 1, spec, off(t, e, "L1.attn")))
		require.Equal(t, heads.f4(t, "logits", 288), attn.f4(t, "logits", 288))
		for name, rest := range map[string]bool{"L1.attn": false, "L1.attn=mean": true} {
			a := ask(t, e, request(prompt(15, 1), 1, spec, off(t, e, name)))
			shares := a.f4(t, "attr", 30, 1)
			for h := range 6 {
				require.Zero(t, shares[8+h], "%s: head %d does not reach the stream", name, h)
			}
			require.Equal(t, "L1.attn", a.arrays["attr"].Names[14])
			require.Equal(t, rest, shares[14] != 0, "only a mean stands in for the branch")
		}
		layer := ask(t, e, request(prompt(15, 1), 1, spec, off(t, e, "L1")))
		require.Equal(t, layer.f4(t, "tape_out/0/ffn_residual", 96), layer.f4(t, "tape_out/1/ffn_residual", 96), "a layer that is off adds nothing")
	}
}

// A mean is that of the part's output over the prompt, in a run in which all parts are on, however the prompt is cut.
func TestMeansAreThoseOfACleanPrompt(t *testing.T) {
	const n = 37
	m, err := model.Load(tiny(t, deep))
	require.NoError(t, err)
	for name, open1 := range map[string]backend.Opener{"ref": ref.Open, "cpu": cpu.Open} {
		be, err := open1(m.Graph, backend.Options{Threads: 1, MaxTokens: 64, MaxOut: 4, MaxScores: 1 << 20, Pages: 8})
		require.NoError(t, err)
		ids := make([]int32, n)
		for i, id := range prompt(n, 6) {
			ids[i] = int32(id)
		}
		b := backendtest.Batch(backendtest.Part{Seq: backendtest.Pages(0, n), IDs: ids})
		var mean [96]float64
		b.Tap = func(node *graph.Node, row func(graph.Buf, int) []float32) {
			for i := 0; i < n && node.Layer == 2 && node.Op == trace.OpDown; i++ {
				for j, v := range row(node.Out, i) {
					mean[j] += float64(v) / n
				}
			}
		}
		require.NoError(t, be.Run(b, nil))
		require.NoError(t, be.Close())
		var first []float32
		for _, o := range []engine.Options{{}, {Budget: 5}, {Budget: 16, Threads: 1}} {
			o.Backend = name
			e := open(t, tiny(t, deep), o)
			a := ask(t, e, request(prompt(n, 6), 9, everything, off(t, e, "L0.H3", "L2.ffn=mean")))
			got := a.f4(t, "tape_out/2/ffn_down", 96)
			for j := range mean {
				require.InDelta(t, mean[j], got[j], 1e-6*max(1, math.Abs(mean[j])))
			}
			logits := a.f4(t, "logits", 288)
			if first == nil {
				first = logits
			}
			require.Equal(t, first, logits, "%s, %+v", name, o)
		}
	}
}

// A prompt of one token, and an answer that is taken up again after its pages were given away, with means.
func TestMeansOfShortPromptsAndOfFewPages(t *testing.T) {
	for _, backend := range backends {
		f := tiny(t, deep)
		e := open(t, f, engine.Options{Backend: backend})
		one := ask(t, e, request([]int{65}, 3, everything, off(t, e, "L1.ffn=mean")))
		whole := ask(t, e, request([]int{65}, 3, everything, capture.Ablation{}))
		require.Equal(t, whole.f4(t, "logits", 288), one.f4(t, "logits", 288), "the mean of one row is the row")
		require.Equal(t, "length", one.finish)

		few := open(t, f, engine.Options{Backend: backend, Slots: 3, KVTokens: 208, Budget: 16})
		asked := func() engine.Request {
			return request(prompt(60, 3), 40, trace.CaptureSpec{}, off(t, e, "L1.attn=mean", "L3.H0"))
		}
		want := ask(t, e, asked())
		var streams []*engine.Stream
		for range 3 {
			s, err := few.Submit(context.Background(), asked())
			require.NoError(t, err)
			streams = append(streams, s)
		}
		for _, s := range streams {
			require.Equal(t, want.lps, read(t, s, nil).lps)
		}
	}
}

// With nothing asked the runner taps no op, and a request's way through the engine allocates nothing for captures.
func TestNothingAskedNothingDone(t *testing.T) {
	m := testmodel.Builtin(t)
	s, err := capture.New(m.Graph, trace.CaptureSpec{}, capture.Ablation{}, 10, 10, capture.Limit)
	require.NoError(t, err)
	require.Nil(t, s)
	require.Zero(t, testing.AllocsPerRun(10, func() {
		_, _ = capture.New(m.Graph, trace.CaptureSpec{}, capture.Ablation{}, 10, 10, capture.Limit)
	}))
}

// A client that leaves while its captures are worked out, and an engine that closes then, end the stream.
func TestCapturesThatNobodyWaitsForAreDropped(t *testing.T) {
	e := open(t, testmodel.File(t), engine.Options{Context: 256})
	ctx, cancel := context.WithCancel(context.Background())
	r := request(prompt(60, 1), 2, everything, capture.Ablation{})
	s, err := e.Submit(ctx, r)
	require.NoError(t, err)
	for range 2 {
		ev, err := s.Next(context.Background())
		require.NoError(t, err)
		require.Len(t, ev.Tokens, 1)
	}
	cancel()
	ev, err := s.Next(context.Background())
	require.NoError(t, err)
	require.ErrorIs(t, ev.Err, context.Canceled)
	require.Empty(t, r.Trace.TakeArrays())

	other, err := e.Submit(context.Background(), request(prompt(60, 2), 1, everything, capture.Ablation{}))
	require.NoError(t, err)
	_, err = other.Next(context.Background())
	require.NoError(t, err)
	start := time.Now()
	require.NoError(t, e.Close())
	ev, err = other.Next(context.Background())
	require.NoError(t, err)
	require.ErrorIs(t, ev.Err, engine.ErrClosed)
	require.Less(t, time.Since(start), 10*time.Second)
}
