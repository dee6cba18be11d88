package query

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/trace/file"
)

func op(id, op, kernel string, pass, layer int, start, dur, bytes int64) file.Span {
	return file.Span{ID: id, Step: op, Op: op, Kernel: kernel, Lane: "workers", Pass: pass, Layer: layer, StartNs: start, DurNs: dur, Bytes: bytes, Flops: 2 * bytes}
}

func plain(id, step, lane string, start, dur int64) file.Span {
	return file.Span{ID: id, Step: step, Lane: lane, Pass: file.None, Layer: file.None, StartNs: start, DurNs: dur}
}

// hand is a recording whose sums can be done on paper. Pass 0 is 100..200: ops 100-120, 125-165, 165-190.
func hand() *file.Recording {
	return &file.Recording{
		Lanes:  []file.Lane{{ID: "http", Title: "HTTP"}, {ID: "loop", Title: "Loop"}, {ID: "workers", Title: "Workers"}},
		Passes: []file.Pass{{Index: 0, Kind: "prefill", Tokens: 4, StartNs: 100, DurNs: 100}, {Index: 1, Kind: "decode", Tokens: 1, StartNs: 230, DurNs: 20}},
		Spans: []file.Span{
			plain("a", "receive", "http", 0, 60),   // 0
			plain("b", "decode", "http", 10, 20),   // 1 inside a
			plain("c", "lookup", "http", 15, 5),    // 2 inside b
			plain("d", "decode", "http", 40, 10),   // 3 inside a
			plain("e", "launch", "loop", 90, 115),  // 4
			op("f", "q", "k1", 0, 0, 100, 20, 400), // 5
			op("g", "down", "k2", 0, 0, 125, 40, 800),
			op("h", "q", "k1", 0, 1, 165, 25, 400),
			op("i", "head", "k2", 1, file.None, 232, 18, 1800),
			plain("j", "draw", "loop", 255, 5),
		},
	}
}

func keys(groups []Group) (out []string) {
	for _, g := range groups {
		out = append(out, g.Key)
	}
	return out
}

func TestTotalsHaveTheKnownSums(t *testing.T) {
	rec := hand()
	ops := Totals(rec, ByOp, nil)
	require.Equal(t, []string{"q", "down", "head"}, keys(ops))
	require.Equal(t, Group{Key: "q", Count: 2, TotalNs: 45, SelfNs: 45, MinNs: 20, MedianNs: 22, MaxNs: 25, Bytes: 800, Flops: 1600, Share: 45.0 / 103, Spans: []int{5, 7}}, ops[0])
	require.InDelta(t, 800/45e-9, ops[0].BytesPerS(), 1)
	require.InDelta(t, 1600/45e-9, ops[0].FlopsPerS(), 1)
	require.Equal(t, []string{"k2", "k1"}, keys(Totals(rec, ByKernel, nil)))
	require.Equal(t, []string{"0", "1"}, keys(Totals(rec, ByLayer, nil)))
	require.EqualValues(t, 60, Totals(rec, ByLayer, nil)[0].TotalNs)
	require.EqualValues(t, 18, Totals(rec, ByPass, nil)[1].TotalNs)
	require.Equal(t, []string{"q"}, keys(Totals(rec, ByOp, All(OfPass(0), OfLayer(1)))))
}

func TestSharesCountNothingTwice(t *testing.T) {
	rec := hand()
	require.Equal(t, []int64{30, 15, 5, 10, 115, 20, 40, 25, 18, 5}, Self(rec))
	groups := Totals(rec, ByStep, nil)
	var share float64
	for _, g := range groups {
		share += g.Share
		if g.Key == "decode" {
			require.EqualValues(t, 30, g.TotalNs)
			require.EqualValues(t, 25, g.SelfNs)
			require.EqualValues(t, 15, g.MedianNs)
		}
	}
	require.InDelta(t, 1, share, 1e-12)
}

func TestPassIsItsOpsAndItsGaps(t *testing.T) {
	rec := hand()
	p, ok := ExplainPass(rec, 0)
	require.True(t, ok)
	require.Equal(t, PassTime{Index: 0, Kind: "prefill", PassNs: 100, OpsNs: 85, GapNs: 15, Gaps: []Gap{{190, 10, 7, file.None}, {120, 5, 5, 6}}}, p)
	p, _ = ExplainPass(rec, 1)
	require.Equal(t, []Gap{{230, 2, file.None, 8}}, p.Gaps)
	_, ok = ExplainPass(rec, 9)
	require.False(t, ok)
	rec.Spans = []file.Span{op("x", "q", "", 0, 0, 90, 30, 0), op("y", "q", "", 0, 0, 110, 60, 0), op("z", "q", "", 0, 0, 120, 10, 0), op("v", "q", "", 0, 0, 130, 0, 0), op("w", "q", "", 0, 0, 150, 100, 0)}
	p, _ = ExplainPass(rec, 0) // ops that overlap, one inside another, and beyond both ends
	require.Equal(t, PassTime{Index: 0, Kind: "prefill", PassNs: 100, OpsNs: 100}, p)
	rec.Spans = rec.Spans[:4]
	p, _ = ExplainPass(rec, 0)
	require.Equal(t, []Gap{{170, 30, 1, file.None}}, p.Gaps)
	rec.Spans = nil
	p, _ = ExplainPass(rec, 0)
	require.EqualValues(t, 100, p.GapNs)
}

func TestTimelinesNest(t *testing.T) {
	lanes := Timelines(hand())
	require.Len(t, lanes, 3)
	require.Equal(t, []int{0, 1, 2, 3}, lanes[0].Spans)
	require.Equal(t, []int{0, 1, 2, 1}, lanes[0].Depth)
	require.Equal(t, 3, lanes[0].Deep)
	require.EqualValues(t, 60, lanes[0].BusyNs)
	require.EqualValues(t, 103, lanes[2].BusyNs)
	rec := hand()
	rec.Lanes = rec.Lanes[:1]
	require.Equal(t, "loop", Timelines(rec)[1].Lane.ID)
	require.Empty(t, Timelines(&file.Recording{}))
}

func TestCriticalPathIsTheWholeTime(t *testing.T) {
	rec := hand()
	path := CriticalPath(rec)
	require.Equal(t, []Segment{
		{0, 10, 0}, {10, 5, 1}, {15, 5, 2}, {20, 10, 1}, {30, 10, 0}, {40, 10, 3}, {50, 10, 0}, {60, 30, file.None},
		{90, 10, 4}, {100, 20, 5}, {120, 5, 4}, {125, 40, 6}, {165, 25, 7}, {190, 15, 4}, {205, 27, file.None}, {232, 18, 8}, {250, 5, file.None}, {255, 5, 9},
	}, path)
	sums := CriticalByStep(rec, path)
	require.EqualValues(t, 62, sums[""])
	require.EqualValues(t, 30, sums["launch"])
	require.EqualValues(t, 45, sums["q"])
	require.Empty(t, CriticalPath(&file.Recording{}))
}

// TestCriticalPathAgainstEachNanosecond holds the sweep against the definition, moment by moment.
func TestCriticalPathAgainstEachNanosecond(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		rec := &file.Recording{}
		var start int64
		for range 12 {
			start += rng.Int64N(5)
			rec.Spans = append(rec.Spans, plain("", "s", "l", start, rng.Int64N(20)))
		}
		var now int64
		for _, seg := range CriticalPath(rec) {
			require.Equal(t, now, seg.StartNs)
			for ; now < seg.StartNs+seg.DurNs; now++ {
				want := file.None
				for i, s := range rec.Spans {
					if s.StartNs <= now && now < s.EndNs() && (want < 0 || s.StartNs > rec.Spans[want].StartNs || s.DurNs <= rec.Spans[want].DurNs) {
						want = i
					}
				}
				require.Equal(t, want, seg.Span, now)
			}
		}
		var end int64
		for _, s := range rec.Spans {
			end = max(end, s.EndNs())
		}
		require.Equal(t, end, now)
	}
}
