package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/steps"
	"glassbox/trace"
	"glassbox/trace/file"
	"glassbox/web/testrec"
)

// sample is a finished recording with the catalogue laid over it.
func sample(t *testing.T) *file.Recording {
	walk := steps.Glassbox(nil)
	r := trace.NewRecorder("sample01", trace.Now(), trace.CaptureSpec{})
	c, err := file.Collect(r, file.Options{Head: file.Head{Engine: file.Engine{Name: "glassbox", Commit: "0123456789abcdef0123456789abcdef01234567"},
		Model: file.Model{Name: "tiny", Layers: 2, Heads: 4, KVHeads: 2, Width: 8}, Device: file.Device{Name: "a processor", Threads: 2}}, Finish: walk.Apply})
	require.NoError(t, err)
	testrec.Whole(r, "Why?")
	r.End()
	rec, err := c.Wait()
	require.NoError(t, err)
	return rec
}

func TestNumbersHaveThreeDigitsAndTheirUnit(t *testing.T) {
	for want, ns := range map[string]int64{
		"0 ns": 0, "999 ns": 999, "1.00 µs": 1000, "10.0 µs": 9_996, "100 µs": 99_960, "999 µs": 999_499, "1.00 ms": 999_500, "416 ms": 415_842_795, "1.23 s": 1_234_000_000, "12,345 s": 12_345_000_000_000,
	} {
		require.Equal(t, want, Duration(ns, "measured", "").Text())
	}
	for want, v := range map[string]float64{"0": 0, "0.00123": 0.00123, "0.123": 0.1234, "1.00": 0.9996, "12.3": 12.34, "123": 123.4, "1,235": 1234.6, "10.0": 9.996} {
		require.Equal(t, want, Sig3(v))
	}
	require.Equal(t, "1.01 MB", Bytes(1_006_171, "measured", "").Text())
	require.Equal(t, "1.00 MB", Bytes(999_999, "measured", "").Text())
	require.Equal(t, "999 B", Bytes(999, "measured", "").Text())
	require.Equal(t, "-1,234,567", Count(-1234567))
	require.Equal(t, "1 step, 2 steps", Plural(1, "step")+", "+Plural(2, "step"))
}

func TestWhatIsNotMeasuredSaysSo(t *testing.T) {
	require.Equal(t, "not measured", durationOr(0, "derived", "").Text())
	require.False(t, rateOr(0, "tokens/s", "").Known())
	require.False(t, Share(1, 0).Known())
	for part, want := range map[int64]string{0: "0 %", 1: "<0.1 %", 84_00: "8.4 %", 12_345: "12 %"} {
		require.Equal(t, want, Share(part, 100_000).Text())
	}
}

func TestTokensAreNeverBlank(t *testing.T) {
	for in, want := range map[string]string{"": "∅", " sky": "·sky", "  ": "··", "\n": "↵", "a\tb ": "a⇥b·", "\x00": "<00>", "é": "é", " a b": "·a b"} {
		require.Equal(t, want, Signs(in))
	}
	require.Equal(t, "<F0><9F>", Piece(file.Token{Text: "\uFFFD", Bytes: []byte{0xf0, 0x9f}}))
	require.Equal(t, "a long…", Cut("a long\nprompt", 7))
}

func TestListHasTheNumbersOfTheSummary(t *testing.T) {
	rec := sample(t)
	sum := file.Summarize(rec)
	running := file.Summary{ID: "b", Running: true}
	rows := List([]file.Summary{sum, running})
	require.Equal(t, "Why?", rows[0].Prompt)
	require.Equal(t, "3 + 3", rows[0].Tokens)
	require.Equal(t, "18.0 ms", rows[0].TTFT.Text(), "the first flush ends 18 ms after the first byte")
	require.Equal(t, "40.0 ms", rows[0].Total.Text())
	require.Equal(t, "100 tokens/s", rows[0].Rate.Text(), "two tokens in 20 ms")
	require.Equal(t, "(no prompt yet)", rows[1].Prompt)
	require.False(t, rows[1].TTFT.Known())
}

func TestHomeCountsWhatIsThere(t *testing.T) {
	rec := sample(t)
	h := HomeOf(rec)
	h.SetRows(List(make([]file.Summary, 7)))
	require.Equal(t, "attn_scores", h.Step)
	require.Equal(t, "7 recordings", h.Held)
	require.Len(t, h.Recent, recent)
	h.SetCards([]Card{{ID: "lens", View: "lens", Number: 5}, {ID: "memory", View: "memory", Number: 7}, {ID: "vllm", View: "request", Number: 1, Recording: "chat", Step: "gate"}})
	require.Len(t, h.Inside, 1)
	require.Len(t, h.Others, 2)
	require.Equal(t, "/trace/chat?view=request&step=gate", h.Others[1].Href())
	require.True(t, h.Others[1].Other())
	require.Equal(t, Plural(len(rec.Spans), "span")+", 40.0 ms", h.Timeline.Facts)
	require.Equal(t, "attn_scores", h.Source.Step)
	src := func(path, symbol string) file.Source { return file.Source{Path: path, Symbol: symbol, Line: 1} }
	rec.Walk[0].Source, rec.Walk[0].Sources = src("a.go", "f"), []file.Source{src("a.go", "f"), src("b.go", "f")}
	rec.Walk = append(rec.Walk[:1], file.Step{ID: "x", Source: src("b.go", "g")}, file.Step{ID: "y"})
	require.Equal(t, "3 functions in 2 files", HomeOf(rec).Source.Facts, "each once; a step without source adds none")

	require.Empty(t, HomeOf(nil).Step)
	require.Empty(t, HomeOf(&file.Recording{}).Timeline.Rows)
}

// The close-up is around the end of a decode pass: of the second of three here, at 33 ms. The third has as many lanes.
func TestCloseUpIsTrueTime(t *testing.T) {
	rec := sample(t)
	rec.Passes = append(rec.Passes, file.Pass{Index: 3, Kind: "decode", StartNs: 50 * testrec.Ms, DurNs: testrec.Ms})
	p := CloseUp(rec, 300, 144)
	require.Equal(t, 2, p.Pass)
	require.Equal(t, "900 µs", p.Span)
	require.Len(t, p.Rows, 3)
	require.Equal(t, 33*testrec.Ms-360_000, p.FromNs)
	workers := p.Rows[2]
	require.Equal(t, "Workers", workers.Name)
	require.Len(t, workers.Bars, 1, "the last op of the pass")
	require.InDelta(t, 0, workers.Bars[0].X, 1e-9)
	require.InDelta(t, 120, workers.Bars[0].W, 1e-6, "360 of 900 µs")
	require.Equal(t, "C", workers.Bars[0].Stage)
	require.Equal(t, "lm head", workers.Bars[0].Text)
	for _, r := range p.Rows {
		for _, b := range r.Bars {
			require.GreaterOrEqual(t, b.X, 0.0)
			require.LessOrEqual(t, b.X+b.W, 300.0+leastBar)
		}
	}
	rec.Passes = nil
	whole := CloseUp(rec, 300, 144)
	require.Equal(t, "40.0 ms", whole.Span, "without decode passes it is the whole request")
}

func TestSourceShowsTheLitLine(t *testing.T) {
	src := file.Source{Path: "a.go", Symbol: "f", Line: 12, Code: &file.Code{First: 10, Lines: []string{"func f() {", "\tif x {", "\t\tg()", "", "\t}", "}"}}}
	got := around(src, 3)
	require.Equal(t, []CodeLine{{11, "if x {", false}, {12, "\tg()", true}, {13, "", false}}, got)
	require.Len(t, around(src, 50), 6)
	require.Empty(t, around(file.Source{}, 3))
	src.Line = 900 // outside of the code: nothing is lit, nothing breaks
	for _, l := range around(src, 3) {
		require.False(t, l.Lit)
	}
}

func TestWalkHasEveryStepInOrder(t *testing.T) {
	rec := sample(t)
	w := WalkOf(rec)
	n := 0
	for _, s := range w.Stages {
		var ns int64
		for _, st := range s.Steps {
			require.Equal(t, rec.Walk[n].ID, st.ID)
			require.Equal(t, n+1, st.Number)
			require.NotEmpty(t, st.Text)
			require.NotEmpty(t, st.Sources)
			if rec.Walk[n].Count == 0 {
				require.False(t, st.Reached)
				require.NotEmpty(t, st.WhyNot)
				require.False(t, st.Time.Known())
			} else {
				require.Equal(t, Duration(rec.Walk[n].TimeNs, "", "").Text(), st.Time.Text())
			}
			ns += rec.Walk[n].TimeNs
			n++
		}
		require.Equal(t, Duration(ns, "", "").Text(), s.Time.Text())
	}
	require.Equal(t, len(rec.Walk), n)
	require.Equal(t, "Why?", w.Title)
	require.Equal(t, []string{"·w0", "·w1", "·w2"}, w.Pieces)
	require.Contains(t, w.Facts, Fact{Name: "engine", Text: "glassbox, 0123456789ab"})
	require.Contains(t, w.Facts, Fact{Name: "shape", Text: "2 layers, 4 heads, 2 KV heads, width 8"})
	require.False(t, numberOf(t, w, "the same, untraced").Known())
	require.Equal(t, "10.0 ms", numberOf(t, w, "TPOT").Text())

	rec.Untraced = &file.Untraced{DecodeTokensPerS: 123.4}
	rec.Partial, rec.Missing = true, []string{"the end"}
	rec.Dropped = file.Dropped{Spans: 7, Why: "a ring was full"}
	w = WalkOf(rec)
	require.Equal(t, "123 tokens/s", numberOf(t, w, "the same, untraced").Text())
	require.Equal(t, []string{"the end"}, w.Partial)
	require.Equal(t, "7 spans", w.Dropped)
}

func numberOf(t *testing.T, w Walk, name string) Number {
	for _, f := range w.Numbers {
		if f.Name == name {
			return f.Number
		}
	}
	require.Fail(t, "there is no number "+name)
	return Number{}
}

func TestCodeMarksBecomeRuns(t *testing.T) {
	require.Equal(t, []Paragraph{{{"a ", false}, {"b < c", true}, {" d", false}}, {{"e", false}}}, paragraphs("a `b < c` d\n\ne\nNot reached: f"))
}

func TestEmptyRecordingMakesADocument(t *testing.T) {
	w := WalkOf(&file.Recording{ID: "x"})
	require.Equal(t, "x", w.Title)
	require.Empty(t, w.Stages)
}

// The seam is where most lanes take part, not simply the first.
func TestCloseUpPrefersAllLanes(t *testing.T) {
	ms := testrec.Ms
	rec := &file.Recording{Walk: []file.Step{{ID: "a", Lane: "http"}, {ID: "b", Lane: "workers"}}}
	for i := range 5 {
		start := int64(i) * 10 * ms
		rec.Passes = append(rec.Passes, file.Pass{Index: i, Kind: "decode", StartNs: start, DurNs: ms})
		rec.Spans = append(rec.Spans, file.Span{Step: "b", Lane: "workers", StartNs: start + ms - 100_000, DurNs: 100_000})
		if i == 2 {
			rec.Spans = append(rec.Spans, file.Span{Step: "a", Lane: "http", StartNs: start + ms, DurNs: 50_000})
		}
	}
	require.Equal(t, 2, CloseUp(rec, 300, 144).Pass)
}
