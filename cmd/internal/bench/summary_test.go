package bench

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/cmd/internal/bench/client"
)

// row is a request with fixed times, in ms: sent, first token, then n tokens one chunk each at a steady gap.
func row(level int, sent, first, gap float64, n, prompt int) *client.Row {
	at := func(ms float64) int64 { return int64(ms * 1e6) }
	r := &client.Row{Level: level, PromptTokens: &prompt, OutputTokens: &n, FirstChunk: 1, Chunks: n, AskedPrompt: prompt, AskedOutput: n}
	r.Times = client.Times{Scheduled: at(sent), Sent: at(sent), FirstEvent: at(first), FirstToken: at(first), FirstText: at(first), LastToken: at(first + gap*float64(n-1)), End: at(first + gap*float64(n-1) + 1)}
	for i := range n {
		r.Arrivals = append(r.Arrivals, at(first+gap*float64(i)))
	}
	r.Derive()
	return r
}

func failed(sent float64) *client.Row {
	r := &client.Row{}
	r.Times.Sent, r.Times.End = int64(sent*1e6), int64((sent+3)*1e6)
	r.Fail("broken")
	r.Derive()
	return r
}

// Two workers, two requests each, one failure: every sum by hand.
func TestSummaryByHand(t *testing.T) {
	rows := []*client.Row{row(0, 1000, 1100, 10, 11, 50), row(0, 1000, 1200, 20, 11, 50), row(0, 1210, 1310, 10, 11, 50), row(0, 1410, 1510, 20, 11, 50), failed(1300)}
	cut := row(0, 1500, 1600, 10, 11, 50)
	cut.Cancel("by us")
	cut.Derive()
	rows = append(rows, cut)
	v := &Level{Loop: "closed", Concurrency: 2}
	summarise(v, rows, []SLO{{Name: "a", TTFT: 100}, {Name: "b", TPOT: 10}, {Name: "c", TTFT: 100, TPOT: 10}}, 0, 0)
	require.Equal(t, []int{4, 1, 1}, []int{v.OK, v.Errors, v.Cancelled})
	wall := (1510.0 + 200 + 1 - 1000) / 1000
	require.InDelta(t, wall, v.Wall, 1e-9)
	require.InDelta(t, 44/wall, *v.OutputRate, 1e-9)
	require.InDelta(t, (44+200)/wall, *v.TotalRate, 1e-9)
	require.InDelta(t, 4/wall, *v.RequestRate, 1e-9)
	require.InDelta(t, 100, *v.TTFT.P50, 1e-9, "100, 100, 100, 200")
	require.InDelta(t, 125, *v.TTFT.Mean, 1e-9)
	require.InDelta(t, 15, *v.TPOT.P50, 1e-9)
	require.InDelta(t, 250, *v.E2E.P50, 1e-9, "200, 200, 300, 400")
	require.Equal(t, 40, v.ICL.N, "ten gaps of each of four answers")
	require.Nil(t, v.SteadyRate)
	require.Equal(t, []int{3, 2, 2}, []int{v.Goodput[0].Good, v.Goodput[1].Good, v.Goodput[2].Good})
	require.InDelta(t, 0.6, *v.Goodput[0].Share, 1e-9, "the failure is not good, the one cut off does not count")
	require.InDelta(t, 3/wall, *v.Goodput[0].Rate, 1e-9)
}

// An answer without usage makes throughput unknown rather than small.
func TestMissingCountsAreNotZero(t *testing.T) {
	rows := []*client.Row{row(0, 1000, 1100, 10, 11, 50), row(0, 1000, 1100, 10, 11, 50)}
	rows[1].OutputTokens = nil
	v := &Level{Loop: "closed", Concurrency: 2}
	summarise(v, rows, nil, 0, 0)
	require.Nil(t, v.OutputRate)
	require.Nil(t, v.TotalRate)
	require.NotNil(t, v.RequestRate)
}

// Ten tokens a second from each of two streams, while both run; what one does alone before and after is outside.
func TestSteadyWindow(t *testing.T) {
	rows := []*client.Row{row(0, 0.001, 50, 100, 41, 10), row(0, 2000, 2050, 100, 41, 10)}
	rate, window := steady(rows, int64(2000e6), int64(4000e6))
	require.InDelta(t, 2, window, 1e-9)
	require.InDelta(t, 20, *rate, 1.01)
	rate, _ = steady(rows, int64(2000e6), int64(2500e6))
	require.Nil(t, rate, "half a second is no window")
}

func TestPrefillBySlope(t *testing.T) {
	var rows []*client.Row
	for _, n := range []int{100, 200, 400} {
		for i := range 3 {
			r := row(0, 1000, 1000+30+0.5*float64(n)+float64(i-1), 10, 4, n)
			rows = append(rows, r)
		}
	}
	p := prefillLine(rows)
	require.InDelta(t, 2000, *p.TokensPerS, 1e-6, "half a millisecond a token, whatever the 30 ms around it are")
	require.InDelta(t, 30, p.InterceptMS, 1e-6)
	require.InDelta(t, 1, p.R2, 1e-9)
	require.InDelta(t, 100/80.0*1000, *p.Points[0].Naive, 1e-6, "the quotient holds the 30 ms")
	require.Less(t, p.CI[0], 2000.0)
	require.Greater(t, p.CI[1], 2000.0)

	for _, r := range rows { // 60 of each prompt from a cache: only the rest was computed
		cached := 60
		r.CachedTokens = &cached
	}
	require.InDelta(t, 40, prefillLine(rows).Points[0].Tokens, 1e-9)
	require.InDelta(t, 2000, *prefillLine(rows).TokensPerS, 1e-6)

	require.Nil(t, prefillLine(rows[:6]).TokensPerS, "two lengths are no line")
	require.Contains(t, prefillLine(rows[:6]).Note, "three")
	for i, r := range rows {
		x := 50.0 - float64(i)
		r.TTFT = &x
	}
	require.Nil(t, prefillLine(rows).TokensPerS)
	require.Contains(t, prefillLine(rows).Note, "does not grow")
}

func TestKnee(t *testing.T) {
	level := func(c int, rate, e2e float64) Level {
		v := Level{Loop: "closed", Concurrency: c, OutputRate: &rate}
		v.E2E.P50 = &e2e
		return v
	}
	levels := []Level{level(1, 100, 1000), level(2, 190, 1050), level(4, 360, 1110), level(8, 400, 2000)}
	k := knee(levels)
	require.Equal(t, 4, k.Concurrency)
	require.Empty(t, k.Note)
	require.Contains(t, knee(levels[:3]).Note, "beyond")
	require.Nil(t, knee(levels[:2]))
}

func TestMetricsOfServers(t *testing.T) {
	before := readMetrics("# HELP x\n# TYPE vllm:time_to_first_token_seconds histogram\nvllm:time_to_first_token_seconds_bucket{le=\"0.1\",model_name=\"a}b\"} 3\n" +
		"vllm:time_to_first_token_seconds_sum{model_name=\"a}b\"} 1.5\nvllm:time_to_first_token_seconds_count{model_name=\"a}b\"} 10\n")
	after := readMetrics("vllm:time_to_first_token_seconds_sum{m=\"a\"} 2.5 1700000000\nvllm:time_to_first_token_seconds_count{m=\"a\"} 13\n" +
		"vllm:time_to_first_token_seconds_sum{m=\"b\"} 0.5\nvllm:time_to_first_token_seconds_count{m=\"b\"} 2\nbroken line\nx_sum\ny_sum NaN-ish\n")
	v, five := &Level{}, []*client.Row{}
	for range 5 {
		five = append(five, row(0, 1000, 1310, 10, 4, 9))
	}
	summarise(v, five, nil, 0, 0)
	b := beside(v, nil, before, after)
	require.Len(t, b, 1)
	require.Equal(t, "ttft", b[0].Name)
	require.Equal(t, 5, b[0].N, "both label sets, without those before")
	require.InDelta(t, 300, b[0].Server, 1e-9)
	require.InDelta(t, 10, *b[0].Gap, 1e-9)
	summarise(v, five[:2], nil, 0, 0)
	b = beside(v, nil, before, after)
	require.Nil(t, b[0].Gap, "the server counted five, the client two: not the same requests")
	require.Contains(t, b[0].Source, "of 5 requests, 2 of which are the client's")
	require.Empty(t, beside(v, nil, nil, after), "without a reading before there is no difference")
}

// The wall clock is set back by a minute while the monotonic one goes on.
func TestClockJump(t *testing.T) {
	m := &lagMeter{}
	m.note(7*time.Millisecond, 7*time.Millisecond)
	require.Zero(t, m.jump)
	require.InDelta(t, 2, m.late[0], 1e-9, "5 ms were asked for")
	m.note(5*time.Millisecond, 5*time.Millisecond-time.Minute)
	require.InDelta(t, 60000, m.jump, 1e-9)
	r := &Result{Env: Env{ClockJumpMS: m.jump}}
	found := false
	for _, f := range health(r) {
		found = found || f.ID == "clock" && f.Grade == "warn"
	}
	require.True(t, found)
}

func TestUnknownCacheIsSaid(t *testing.T) {
	has := func(r *client.Row) (found bool) {
		for _, f := range health(&Result{Rows: []*client.Row{r}}) {
			found = found || f.ID == "cache"
		}
		return found
	}
	r := row(0, 1000, 1310, 10, 4, 9)
	r.CachedTokens = nil
	require.True(t, has(r))
	none := 0
	r.CachedTokens = &none
	require.False(t, has(r), "none is something said")
}
