package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/engine/gguf"
	"glassbox/engine/grammar"
	"glassbox/engine/sample"
	"glassbox/engine/testmodel"
	"glassbox/trace"
)

// tiny opens an engine on a tiny random model.
func tiny(t *testing.T, o Options) *Engine {
	return open(t, testmodel.Tiny(t, testmodel.Spec{Context: 200}), o)
}

func open(t *testing.T, f *gguf.File, o Options) *Engine {
	if o.Threads == 0 {
		o.Threads = 2
	}
	e, err := Open(f, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

func ids(text string) []int {
	var out []int
	for _, b := range []byte(text) {
		out = append(out, int(b))
	}
	return out
}

// result is a finished answer.
type result struct {
	tokens   []int
	logprobs []float64
	text     string
	finish   string
	err      error
}

func read(t *testing.T, s *Stream) (r result) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for {
		ev, err := s.Next(ctx)
		require.NoError(t, err)
		for _, tok := range ev.Tokens {
			r.tokens = append(r.tokens, tok.ID)
			r.logprobs = append(r.logprobs, tok.Logprob)
		}
		r.text += ev.Text
		if r.finish, r.err = ev.Finish, ev.Err; r.finish != "" || r.err != nil {
			return r
		}
	}
}

func ask(t *testing.T, e *Engine, r Request) result {
	s, err := e.Submit(context.Background(), r)
	require.NoError(t, err)
	return read(t, s)
}

// requests are of many lengths and ways of drawing.
func requests() []Request {
	var rs []Request
	for i := range 12 {
		r := Request{ID: fmt.Sprint(i), Tokens: ids(strings.Repeat(fmt.Sprintf("prompt %d, ", i), 1+i)), MaxTokens: 8 + 5*i%23, Logprobs: -1, IgnoreEOS: true}
		if i%3 > 0 {
			r.Sampling = sample.Params{Temperature: 0.9, TopP: 0.95, Seed: uint64(i), RepeatPenalty: 1.1}
		}
		rs = append(rs, r)
	}
	return rs
}

func TestAnswersAreTheSameAloneAndTogether(t *testing.T) {
	alone := tiny(t, Options{Slots: 1})
	var want []result
	for _, r := range requests() {
		want = append(want, ask(t, alone, r))
	}
	// Few pages: some are preempted and computed again.
	for name, o := range map[string]Options{"together": {Slots: 12, Budget: 48}, "few pages": {Slots: 4, Budget: 16, KVTokens: 208}} {
		e := tiny(t, o)
		var streams []*Stream
		for _, r := range requests() {
			s, err := e.Submit(context.Background(), r)
			require.NoError(t, err)
			streams = append(streams, s)
		}
		for i, s := range streams {
			require.Equal(t, want[i], read(t, s), "%s: request %d", name, i)
		}
		settle(t, e)
	}
}

// settle waits until the loop has nothing left, and checks that nothing is held.
func settle(t *testing.T, e *Engine) {
	require.Eventually(t, func() bool {
		s := e.Stats()
		return s.Running == 0 && s.Waiting == 0 && s.FreePages == s.Pages
	}, 5*time.Second, time.Millisecond, "%+v", e.Stats())
}

func TestLimitsOfLength(t *testing.T) {
	e := tiny(t, Options{Context: 64})
	r := ask(t, e, Request{Tokens: ids("hello"), MaxTokens: 7, Logprobs: -1, IgnoreEOS: true})
	require.Equal(t, "length", r.finish)
	require.Len(t, r.tokens, 7)
	r = ask(t, e, Request{Tokens: ids("hello"), Logprobs: -1, IgnoreEOS: true})
	require.Equal(t, "length", r.finish)
	require.Len(t, r.tokens, 59, "the answer ends where the context does")
	var ce *ContextError
	for _, bad := range []Request{{Tokens: ids(strings.Repeat("x", 64))}, {Tokens: ids("x"), MaxTokens: 64}, {}} {
		_, err := e.Submit(context.Background(), bad)
		require.True(t, errors.As(err, &ce), "%v", err)
	}
	r = ask(t, e, Request{Tokens: ids(strings.Repeat("x", 63)), Logprobs: -1, IgnoreEOS: true})
	require.Len(t, r.tokens, 1)
	settle(t, e)
}

func TestBadRequestsAreRefusedAndHurtNobody(t *testing.T) {
	e := tiny(t, Options{})
	var te *TokenError
	for _, id := range []int{-1, testmodel.Vocab, 1 << 40} {
		_, err := e.Submit(context.Background(), Request{Tokens: []int{1, id}})
		require.True(t, errors.As(err, &te))
		require.Equal(t, 1, te.Index)
	}
	var pe *sample.ParamError
	_, err := e.Submit(context.Background(), Request{Tokens: ids("a"), Sampling: sample.Params{LogitBias: map[int32]float32{testmodel.Vocab: 1}}})
	require.True(t, errors.As(err, &pe))
	require.Equal(t, "length", ask(t, e, Request{Tokens: ids("a"), MaxTokens: 2, Logprobs: -1, IgnoreEOS: true}).finish)
}

func TestCancelFreesSlotAndPages(t *testing.T) {
	e := tiny(t, Options{Slots: 1})
	ctx, cancel := context.WithCancel(context.Background())
	s, err := e.Submit(ctx, Request{Tokens: ids("a"), Logprobs: -1, IgnoreEOS: true})
	require.NoError(t, err)
	waiting, err := e.Submit(ctx, Request{Tokens: ids("b"), Logprobs: -1, IgnoreEOS: true})
	require.NoError(t, err)
	_, err = s.Next(context.Background())
	require.NoError(t, err)
	cancel()
	require.ErrorIs(t, read(t, s).err, context.Canceled)
	require.ErrorIs(t, read(t, waiting).err, context.Canceled)
	settle(t, e)
}

func TestQueueIsBounded(t *testing.T) {
	e := tiny(t, Options{Slots: 1, Queue: 3})
	full := 0
	for range 50 {
		if _, err := e.Submit(context.Background(), Request{Tokens: ids("a"), Logprobs: -1, IgnoreEOS: true}); err != nil {
			require.ErrorIs(t, err, ErrQueueFull)
			full++
		}
	}
	require.Positive(t, full)
}

func TestCloseEndsRunningRequests(t *testing.T) {
	e := tiny(t, Options{Slots: 1})
	var streams []*Stream
	for range 3 {
		s, err := e.Submit(context.Background(), Request{Tokens: ids("a"), Logprobs: -1, IgnoreEOS: true})
		require.NoError(t, err)
		streams = append(streams, s)
	}
	require.NoError(t, e.Close())
	for _, s := range streams {
		r := read(t, s)
		require.True(t, errors.Is(r.err, ErrClosed) || r.finish != "", "%+v", r)
	}
	_, err := e.Submit(context.Background(), Request{Tokens: ids("a")})
	require.ErrorIs(t, err, ErrClosed)
	require.NoError(t, e.Close())
}

func TestStopStringsEndTheAnswer(t *testing.T) {
	e := tiny(t, Options{})
	whole := ask(t, e, Request{Tokens: ids("hello"), MaxTokens: 60, Logprobs: -1, IgnoreEOS: true})
	require.Greater(t, len([]rune(whole.text)), 20)
	stop := string([]rune(whole.text)[9:12])
	r := ask(t, e, Request{Tokens: ids("hello"), MaxTokens: 60, Logprobs: -1, IgnoreEOS: true, Stop: []string{stop, "never there"}})
	require.Equal(t, "stop", r.finish)
	require.Equal(t, whole.text[:strings.Index(whole.text, stop)], r.text)
	// What is held back for a stop string that never comes is part of the answer.
	last := []rune(whole.text)
	r = ask(t, e, Request{Tokens: ids("hello"), MaxTokens: 60, Logprobs: -1, IgnoreEOS: true, Stop: []string{string(last[len(last)-1]) + "and more"}})
	require.Equal(t, whole, r)
}

func TestLogprobsAreOfTheModelNotTheSampler(t *testing.T) {
	e := tiny(t, Options{})
	get := func(p sample.Params) Event {
		s, err := e.Submit(context.Background(), Request{Tokens: ids("q"), MaxTokens: 1, Logprobs: 3, Sampling: p})
		require.NoError(t, err)
		ev, err := s.Next(context.Background())
		require.NoError(t, err)
		return ev
	}
	plain := get(sample.Params{})
	require.Len(t, plain.Tokens[0].Top, 3)
	require.Equal(t, plain.Tokens[0].Logprob, plain.Tokens[0].Top[0].Logprob)
	biased := get(sample.Params{LogitBias: map[int32]float32{int32(plain.Tokens[0].ID): -1000}, Temperature: 0.5})
	require.NotEqual(t, plain.Tokens[0].ID, biased.Tokens[0].ID)
	require.Equal(t, plain.Tokens[0].Top, biased.Tokens[0].Top)
}

// elsewhere are steps that this request does not come to; other tests have requests that do.
var elsewhere = map[trace.StepID]bool{trace.StepDraft: true, trace.StepVerify: true, trace.StepAccept: true, trace.StepReject: true}

func TestTracedRequestLeavesEveryStepOfItsPath(t *testing.T) {
	e := tiny(t, Options{Budget: 16})
	rec := trace.NewRecorder("x", trace.Now(), trace.CaptureSpec{})
	p := sample.Params{Temperature: 0.8, TopK: 40, TopP: 0.9, MinP: 0.01, RepeatPenalty: 1.1, Seed: 1}
	form, err := grammar.FromSchema("long", []byte(`{"type":"string","minLength":30}`))
	require.NoError(t, err)
	traced := Request{Tokens: ids(strings.Repeat("x", 40)), MaxTokens: 5, Logprobs: 2, IgnoreEOS: true, Grammar: form, Sampling: p}
	plain := traced
	traced.Trace = rec
	got := ask(t, e, traced)
	require.Equal(t, ask(t, e, plain), got, "tracing changes no answer")
	rec.End()
	var b trace.Batch
	rec.Drain(&b)
	require.Zero(t, b.Dropped)
	seen := map[trace.StepID]int{}
	for _, s := range b.Spans {
		seen[s.Step]++
		require.GreaterOrEqual(t, s.Dur, int64(0))
	}
	for s := trace.StepFitContext; s <= trace.StepFreePages; s++ {
		if s.Info().Lane == trace.LaneWorkers || elsewhere[s] {
			continue
		}
		require.Positive(t, seen[s], "no span of step %s", s)
	}
	require.Equal(t, 5, seen[trace.StepDraw])
	// 40 prompt tokens in chunks of 16: three prefill passes, then four decode passes.
	require.Len(t, b.Passes, 7)
	for i, p := range b.Passes {
		require.Equal(t, i, p.Index)
		require.Equal(t, i >= 3, p.Kind == trace.Decode)
		require.Len(t, p.Ops, 2*17+3)
		for _, o := range p.Ops {
			require.Positive(t, o.Bytes, o.Op)
		}
	}
	f := rec.Facts()
	require.Equal(t, got.text, f.Text)
	require.Equal(t, "length", f.Finish)
	require.Len(t, f.OutputToks, 5)
	require.Len(t, f.OutputToks[0].Top, 2)
}

func TestSubmitRacingCloseAlwaysGetsAnEnd(t *testing.T) {
	for range 30 {
		e := tiny(t, Options{Slots: 2})
		streams := make(chan *Stream, 64)
		go func() {
			defer close(streams)
			for range 64 {
				s, err := e.Submit(context.Background(), Request{Tokens: ids("a"), MaxTokens: 2, Logprobs: -1, IgnoreEOS: true})
				if errors.Is(err, ErrClosed) {
					return
				}
				require.NoError(t, err)
				streams <- s
			}
		}()
		require.NoError(t, e.Close())
		for s := range streams {
			read(t, s) // fails after 30 s if no end comes
		}
	}
}

func TestWeightsThatAreNoNumbersFailTheRequest(t *testing.T) {
	f := testmodel.Tiny(t, testmodel.Spec{})
	norm, ok := f.Tensor("output_norm.weight")
	require.True(t, ok)
	for i := range norm.Data {
		norm.Data[i] = 0xff // every float32 is NaN
	}
	e := open(t, f, Options{})
	for _, p := range []sample.Params{{}, {Temperature: 1, TopP: 0.9}} {
		r := ask(t, e, Request{Tokens: ids("hello"), MaxTokens: 5, Logprobs: 2, Sampling: p})
		require.ErrorContains(t, r.err, "wanted logits that are numbers")
		require.Empty(t, r.tokens)
	}
	require.Zero(t, e.Stats().Running)
}
