package trace

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func work(w *Writer) {
	m := w.Begin(StepPlan)
	if m.On() {
		m.Set("tokens", 3)
	}
	m.End()
}

func TestOffCostsNoAllocation(t *testing.T) {
	var r *Recorder
	w := r.Writer(LaneLoop)
	require.Zero(t, testing.AllocsPerRun(1000, func() { work(w); w.In(1, 2); r.AddToken(Token{}); r.Pass(nil, Pass{}) }))
}

func TestSpanKeepsCallerLaneAndAttributes(t *testing.T) {
	r := NewRecorder("x", Now(), CaptureSpec{})
	w := r.Writer(LaneLoop)
	w.In(4, 2)
	work(w)
	var b Batch
	r.Drain(&b)
	require.Len(t, b.Spans, 1)
	s := b.Spans[0]
	f, _ := runtime.CallersFrames([]uintptr{s.PC}).Next()
	require.Equal(t, "glassbox/trace.work", f.Function)
	require.True(t, strings.HasSuffix(f.File, "recorder_test.go"))
	require.Equal(t, 12, f.Line)
	require.Equal(t, Span{Step: StepPlan, Lane: LaneLoop, Pass: 4, Token: 2, Start: s.Start, Dur: s.Dur, PC: s.PC,
		Attrs: []Attr{{"tokens", int64(3)}}}, s)
	require.GreaterOrEqual(t, s.Start, r.Start)
}

func TestFullRingDropsAndCounts(t *testing.T) {
	r := NewRecorder("x", 0, CaptureSpec{})
	w := r.Writer(LaneHTTP)
	for range spanRing + 10 {
		work(w)
	}
	var b Batch
	r.Drain(&b)
	require.Len(t, b.Spans, spanRing)
	require.EqualValues(t, 10, b.Dropped)
	work(w)
	r.Drain(&b)
	require.Len(t, b.Spans, 1)
}

func TestPassIsCopiedAndRecycled(t *testing.T) {
	r := NewRecorder("x", 0, CaptureSpec{})
	var src PassOps
	src.Reset(2, 2)
	src.Ops[1].Op = OpDown
	src.Busy[3] = 7
	r.Pass(&src, Pass{Index: 5, Kind: Decode})
	src.Busy[3] = 8
	var b Batch
	r.Drain(&b)
	require.Len(t, b.Passes, 1)
	p := b.Passes[0]
	require.Equal(t, 5, p.Index)
	require.Equal(t, OpDown, p.Ops[1].Op)
	require.EqualValues(t, 7, p.Busy[3])
	r.Recycle(p)
	require.Zero(t, testing.AllocsPerRun(20, func() { r.Pass(&src, Pass{}); r.Drain(&b); r.Recycle(b.Passes[0]) }))
	for range passRing + 1 {
		r.Pass(&src, Pass{})
	}
	r.Drain(&b)
	require.EqualValues(t, 2, b.Dropped)
}

func TestWriterAndCollectorMayRunTogether(t *testing.T) {
	r := NewRecorder("x", 0, CaptureSpec{})
	go func() {
		w := r.Writer(LaneLoop)
		for i := range 5000 {
			work(w)
			r.AddToken(Token{ID: i})
		}
		r.End()
	}()
	var b Batch
	spans, tokens := 0, 0
	for over := false; !over; {
		select {
		case <-r.Done():
			over = true
		default:
		}
		r.Drain(&b)
		spans += len(b.Spans)
		tokens += len(b.Tokens)
	}
	require.Equal(t, 5000, tokens)
	require.Equal(t, 5000, spans+int(b.Dropped))
}

func TestTablesAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Steps() {
		require.NotEmpty(t, s.String())
		require.False(t, seen[s.String()], s)
		seen[s.String()] = true
	}
	require.GreaterOrEqual(t, len(seen), 55)
	for _, o := range Ops() {
		require.Equal(t, Compute, o.Step().Info().Stage, o)
		require.NotZero(t, o.Family())
	}
}

func BenchmarkSpanOff(b *testing.B) {
	var w *Writer
	for b.Loop() {
		work(w)
	}
}

func BenchmarkSpanOn(b *testing.B) {
	r := NewRecorder("x", 0, CaptureSpec{})
	w := r.Writer(LaneLoop)
	var batch Batch
	for b.Loop() {
		work(w)
		if w.spans.tail.Load()&2047 == 0 {
			r.Drain(&batch)
		}
	}
}
